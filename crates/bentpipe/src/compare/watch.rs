//! A comparison that is watched while it runs.

use super::answer::Answer;
use super::result::RunResult;

/// A run of a comparison that ended, and its place in the answer.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Ran<'a> {
    /// Index into [`Answer::rows`].
    pub row: usize,
    /// Index into [`Answer::sizes`].
    pub size: usize,
    /// True if it belongs to [`Cell::shared`](super::Cell::shared), false if to
    /// [`Cell::runs`](super::Cell::runs).
    pub shared: bool,
    /// Its index there. Runs of a cell may end in another order.
    pub index: usize,
    /// What it showed.
    pub result: &'a RunResult,
}

/// Sees a comparison while it runs: [`Comparison::run_watched`](super::Comparison::run_watched).
///
/// It changes no result. Its methods are called on the threads of the comparison, which
/// wait until they return; [`ran`](Watch::ran) and [`progress`](Watch::progress) may be
/// called on several threads at the same time.
pub trait Watch: Sync {
    /// Before the first run: the rows, which have no runs, and the link.
    fn begins(&self, answer: &Answer) {
        let _ = answer;
    }

    /// A run has ended.
    fn ran(&self, run: Ran<'_>) {
        let _ = run;
    }

    /// After each run: how many runs have ended, of all that are known to be needed.
    fn progress(&self, done: usize, total: usize) {
        let _ = (done, total);
    }

    /// After a round of runs: all runs so far. [`decide`](super::decide) says what the verdict
    /// on them is, which may change.
    fn round(&self, answer: &Answer) {
        let _ = answer;
    }
}

/// Sees how far it is, and nothing else.
pub(super) struct Counted<'a>(pub(super) &'a (dyn Fn(usize, usize) + Sync));

impl Watch for Counted<'_> {
    fn progress(&self, done: usize, total: usize) {
        (self.0)(done, total);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Answer, Comparison, Ran, Watch};
    use bentpipe_units::{Bytes, Rate};
    use std::sync::Mutex;

    /// Fills an answer of its own with what it sees.
    #[derive(Default)]
    struct Seen {
        answer: Mutex<Option<Answer>>,
        verdicts: Mutex<usize>,
    }

    impl Watch for Seen {
        fn begins(&self, answer: &Answer) {
            *self.answer.lock().unwrap() = Some(answer.clone());
        }

        fn ran(&self, run: Ran<'_>) {
            let mut answer = self.answer.lock().unwrap();
            let cell = &mut answer.as_mut().unwrap().rows[run.row].cells[run.size];
            let runs = match run.shared {
                true => &mut cell.shared,
                false => &mut cell.runs,
            };
            runs.push(run.result.clone());
            runs.sort_by_key(|run| run.seed);
        }

        fn round(&self, answer: &Answer) {
            let mut seen = self.answer.lock().unwrap();
            let seen = seen.as_mut().unwrap();
            assert_eq!(super::super::decide(seen), super::super::decide(answer));
            *self.verdicts.lock().unwrap() += 1;
        }
    }

    #[test]
    fn who_watches_sees_all_runs_and_each_verdict_and_changes_nothing() {
        let question = Comparison::new()
            .rate(Rate::from_mbps(2))
            .sizes([Bytes::new(30_000), Bytes::new(200_000)])
            .transports(["cubic", "bbr", "hybla"])
            .threads(3);
        let seen = Seen::default();
        let watched = question.run_watched(&seen).unwrap();
        let alone = question.threads(1).run().unwrap();
        let seen_answer = seen.answer.into_inner().unwrap().unwrap();
        for (i, row) in alone.rows.iter().enumerate() {
            for (j, cell) in row.cells.iter().enumerate() {
                for other in [&watched, &seen_answer] {
                    let other = &other.rows[i].cells[j];
                    assert_eq!((&cell.runs, &cell.shared), (&other.runs, &other.shared));
                }
            }
        }
        assert_eq!(alone.verdict, watched.verdict);
        assert!(seen.verdicts.into_inner().unwrap() >= 2);
    }
}
