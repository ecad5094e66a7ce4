//! Answers that are kept, so that what is asked about one needs no second race.

use super::Question;
use super::live::Live;
use crate::Problem;
use crate::app::App;
use bentpipe::compare::Answer;
use bentpipe::sim::Stop;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Answers that are kept at most.
const MOST_ANSWERS: usize = 64;

/// Bytes that they take together at most, about. The last is kept whatever it takes.
const MOST_BYTES: u64 = 256 << 20;

/// The answers that were given last, and the comparisons that go on. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers(Arc<Mutex<Store>>);

#[derive(Debug, Default)]
struct Store {
    /// By the name of the question, the one that was used last first.
    kept: VecDeque<(String, Arc<Answer>)>,
    running: Vec<(String, Arc<Live>)>,
}

/// A comparison goes on until this is dropped.
pub(super) struct Running {
    answers: Answers,
    live: Arc<Live>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut store = self.answers.store();
        store
            .running
            .retain(|(_, live)| !Arc::ptr_eq(live, &self.live));
    }
}

impl Answers {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to the question of that name, if it is kept.
    pub(crate) fn kept(&self, id: &str) -> Option<Arc<Answer>> {
        let mut store = self.store();
        let place = store.kept.iter().position(|(name, _)| name == id)?;
        let found = store.kept.remove(place)?;
        let answer = Arc::clone(&found.1);
        store.kept.push_front(found);
        Some(answer)
    }

    /// Keeps an answer, whose runs nothing stops any more.
    pub(super) fn keep(&self, id: &str, answer: Answer) -> Arc<Answer> {
        let answer = Arc::new(answer.stop(Stop::default()));
        let mut store = self.store();
        store.kept.retain(|(name, _)| name != id);
        store.kept.push_front((id.to_owned(), Arc::clone(&answer)));
        store.kept.truncate(MOST_ANSWERS);
        let mut bytes = 0;
        let mut fits = |answer: &Answer| {
            bytes += answer.memory().get();
            bytes <= MOST_BYTES
        };
        let count = store.kept.iter().take_while(|(_, a)| fits(a)).count();
        store.kept.truncate(count.max(1));
        answer
    }

    /// Notes that the comparison of that name goes on, for as long as what is returned
    /// lives.
    pub(super) fn running(&self, id: &str, live: &Arc<Live>) -> Running {
        let live = Arc::clone(live);
        self.store()
            .running
            .push((id.to_owned(), Arc::clone(&live)));
        Running {
            answers: self.clone(),
            live,
        }
    }

    /// The answer to a question: the one that is kept, the one that is being found as far
    /// as it goes if each row has a run, or one that is found now. It blocks meanwhile.
    ///
    /// # Errors
    /// Those of the question; and if `stop` is thrown.
    pub(crate) fn of(
        &self,
        app: &App,
        question: &Question,
        stop: &Stop,
    ) -> Result<Arc<Answer>, Problem> {
        let id = question.id();
        if let Some(kept) = self.kept(&id) {
            return Ok(kept);
        }
        let running = self
            .store()
            .running
            .iter()
            .find(|(name, _)| *name == id)
            .cloned();
        if let Some(now) = running.and_then(|(_, live)| live.now()) {
            return Ok(Arc::new(now));
        }
        self.whole(app, question, stop)
    }

    /// The same, and never one that is not whole yet.
    ///
    /// # Errors
    /// As [`of`](Answers::of).
    pub(crate) fn whole(
        &self,
        app: &App,
        question: &Question,
        stop: &Stop,
    ) -> Result<Arc<Answer>, Problem> {
        let id = question.id();
        if let Some(kept) = self.kept(&id) {
            return Ok(kept);
        }
        let answer = Live::new(stop.clone()).find(question.comparison(app)?)?;
        Ok(self.keep(&id, answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe::Comparison;
    use bentpipe::units::Bytes;

    fn answer() -> Answer {
        let question = Comparison::new().size(Bytes::new(3_000)).runs(1);
        question.transports(["cubic"]).run().unwrap()
    }

    #[test]
    fn the_answers_used_last_are_kept() {
        let (answers, answer) = (Answers::default(), answer());
        for i in 0..MOST_ANSWERS {
            answers.keep(&i.to_string(), answer.clone());
        }
        assert!(answers.kept("0").is_some());
        answers.keep("new", answer);
        assert!(answers.kept("0").is_some() && answers.kept("1").is_none());
        assert_eq!(answers.store().kept.len(), MOST_ANSWERS);
    }

    #[test]
    fn a_large_answer_makes_room_for_itself() {
        let (answers, mut large) = (Answers::default(), answer());
        answers.keep("small", large.clone());
        let cell = &mut large.rows[0].cells[0];
        let run = cell.runs[0].clone();
        let count = MOST_BYTES as usize / size_of_val(&run);
        cell.runs = vec![run; count];
        answers.keep("large", large);
        assert!(answers.kept("small").is_none() && answers.kept("large").is_some());
    }

    /// What stopped the race stops no later run of its rows.
    #[test]
    fn a_kept_answer_can_run_again() {
        let stop = Stop::switch();
        let question = Comparison::new().size(Bytes::new(3_000)).runs(1);
        let answer = question.transports(["cubic"]).stop(stop.clone()).run();
        let kept = Answers::default().keep("a", answer.unwrap());
        stop.stop();
        assert!(kept.rerun(&kept.rows[0], 0, &[7]).is_ok());
    }
}
