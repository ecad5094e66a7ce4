//! A comparison that is sent while it runs.
//!
//! The comparison has threads of its own, which put what they find into [`Live`]. The
//! thread of the request looks there at intervals and sends what has changed, so that a
//! slow client holds up no run.

use super::{Answers, Question, lines};
use crate::Problem;
use crate::app::App;
use crate::work::Results;
use bentpipe::compare::{Answer, Build, Comparison, Ran, RunResult, Watch, decide};
use bentpipe::sim::Stop;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time between lines at least; the first go out at once.
const BETWEEN: Duration = Duration::from_millis(100);

/// Lines of rows between two verdicts within a round of runs.
const LINES_PER_VERDICT: usize = 10;

/// Results of users that a comparison has at most: about a gigabyte.
const MOST_RESULTS: usize = 5_000_000;

/// A comparison as it stands.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// Stops its runs.
    stop: Stop,
    state: Mutex<State>,
    /// Something changed.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The runs so far; `None` before the comparison begins.
    answer: Option<Answer>,
    /// Runs that ended before others of their cell that come first.
    early: BTreeMap<Place, RunResult>,
    /// Rows and sizes with runs that were not sent.
    changed: BTreeSet<(usize, usize)>,
    progress: (usize, usize),
    /// Rounds of runs since the last verdict was sent.
    rounds: usize,
    /// Lines of rows since the last verdict was sent.
    lines: usize,
    /// The first line was sent.
    has_begun: bool,
    is_over: bool,
    /// Results of users, of all runs.
    results: usize,
}

/// Row, size, shared, and index among the runs of these.
type Place = (usize, usize, bool, usize);

impl State {
    /// Puts a run in its place, and those that waited for it.
    fn add(&mut self, row: usize, size: usize, shared: bool, index: usize, run: &RunResult) {
        let rows = self.answer.as_mut().and_then(|a| a.rows.get_mut(row));
        let Some(cell) = rows.and_then(|row| row.cells.get_mut(size)) else {
            return;
        };
        let runs = match shared {
            true => &mut cell.shared,
            false => &mut cell.runs,
        };
        self.results += run.own.len() + run.others.len();
        let place = |index| (row, size, shared, index);
        self.early.insert(place(index), run.clone());
        while let Some(next) = self.early.remove(&place(runs.len())) {
            runs.push(next);
        }
        self.changed.insert((row, size));
    }

    /// What has changed since this was asked last.
    fn take_news(&mut self) -> Option<News> {
        let is_comparable = self.is_comparable();
        let answer = self.answer.as_ref()?;
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let changed = std::mem::take(&mut self.changed);
        self.lines += usize::from(!changed.is_empty());
        let changed = affected(answer, &changed);
        let is_due = self.rounds > 0 || self.lines >= LINES_PER_VERDICT;
        let has_verdict = is_due && is_comparable && !self.is_over;
        if has_verdict {
            (self.rounds, self.lines) = (0, 0);
        }
        Some(News {
            answer: answer.clone(),
            is_first,
            changed,
            progress: self.progress,
            has_verdict,
        })
    }

    /// True if there is something to send.
    fn has_news(&self) -> bool {
        let has_begun = self.answer.is_some() && !self.has_begun;
        has_begun || self.rounds > 0 || !self.changed.is_empty()
    }

    /// True once what gains are held against has a run of each size: some rows may never
    /// have one.
    fn is_comparable(&self) -> bool {
        let has_runs = |answer: &Answer| {
            let cells = &answer.baseline().cells;
            cells.iter().all(|cell| !cell.runs.is_empty())
        };
        self.answer.as_ref().is_some_and(has_runs)
    }
}

/// What has changed, with a copy of the answer: it is put into words while runs go on.
struct News {
    answer: Answer,
    is_first: bool,
    changed: BTreeSet<(usize, usize)>,
    progress: (usize, usize),
    has_verdict: bool,
}

impl News {
    fn lines(mut self, build: Build, id: &str) -> Vec<Value> {
        let mut sent = Vec::new();
        if self.is_first {
            sent.push(lines::begin(build, &self.answer, id));
        }
        if !self.changed.is_empty() {
            sent.push(lines::rows(&self.answer, &self.changed, self.progress));
        }
        if self.has_verdict {
            self.answer.verdict = decide(&self.answer);
            sent.push(lines::verdict(build, &self.answer, false));
        }
        sent
    }
}

impl Live {
    /// A comparison that `stop` stops.
    pub(super) fn new(stop: Stop) -> Live {
        Live {
            stop,
            ..Live::default()
        }
    }

    /// Finds the answer, and no longer than it has room for the results.
    ///
    /// # Errors
    /// Those of the comparison.
    pub(super) fn find(&self, comparison: Comparison) -> Result<Answer, Problem> {
        let found = comparison.stop(self.stop.clone()).run_watched(self);
        if self.state().results > MOST_RESULTS {
            return Err(Problem::limit(
                "these are more runs of more users than the page keeps; ask for fewer, or \
                 `bentpipe compare` in a terminal",
            ));
        }
        Ok(found?)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    /// The answer as it stands, once the baseline has a run.
    pub(super) fn now(&self) -> Option<Answer> {
        let state = self.state();
        let answer = state.answer.clone().filter(|_| state.is_comparable())?;
        drop(state);
        let mut answer = answer.stop(Stop::default());
        answer.verdict = decide(&answer);
        Some(answer)
    }

    /// Waits until something changed, or the comparison is over.
    fn wait(&self) -> MutexGuard<'_, State> {
        let is_same = |state: &mut State| !state.is_over && !state.has_news();
        let waited = self.changed.wait_while(self.state(), is_same);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the comparison is over, and no longer than lines are apart.
    fn pause(&self) {
        let goes_on = |state: &mut State| !state.is_over;
        drop(
            self.changed
                .wait_timeout_while(self.state(), BETWEEN, goes_on),
        );
    }
}

impl Watch for Live {
    fn begins(&self, answer: &Answer) {
        self.change(|state| state.answer = Some(answer.clone()));
    }

    fn ran(&self, run: Ran<'_>) {
        self.change(|state| {
            state.add(run.row, run.size, run.shared, run.index, run.result);
            if state.results > MOST_RESULTS {
                self.stop.stop();
            }
        });
    }

    fn progress(&self, done: usize, total: usize) {
        let mut state = self.state();
        // Runs end on several threads; the numbers may overtake each other.
        state.progress = (state.progress.0.max(done), total);
    }

    fn round(&self, _: &Answer) {
        self.change(|state| state.rounds += 1);
    }
}

/// The comparison is over, also where it ends by a panic.
struct Over<'a>(&'a Live);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.is_over = true);
    }
}

/// Answers `question` line by line.
pub(super) fn answer(
    app: &App,
    question: &Question,
    comparison: Comparison,
    results: &Results,
) -> Result<(), Problem> {
    let id = question.id();
    let answers: Answers = app.kept();
    if let Some(kept) = answers.kept(&id) {
        results.send(&lines::begin(app.build, &kept, &id));
        let (cells, runs) = (every_cell(&kept), runs_of(&kept));
        results.send(&lines::rows(&kept, &cells, runs));
        send_answer(app, &kept, &id, results);
        return Ok(());
    }
    let live = Arc::new(Live::new(results.stop()));
    let _running = answers.running(&id, &live);
    let answer = std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let _over = Over(&live);
            live.find(comparison)
        });
        send_changes(app, &live, &id, results);
        run.join()
    });
    let Ok(answer) = answer else {
        return Err(Problem::fault());
    };
    let answer = answers.keep(&id, answer?);
    send_answer(app, &answer, &id, results);
    Ok(())
}

/// Sends what changes until the comparison is over or the client is gone.
fn send_changes(app: &App, live: &Live, id: &str, results: &Results) {
    loop {
        let mut state = live.wait();
        let is_over = state.is_over;
        let news = state.take_news();
        drop(state);
        let lines = news.map_or_else(Vec::new, |news| news.lines(app.build, id));
        if !lines.iter().all(|line| results.send(line)) || is_over {
            return;
        }
        live.pause();
    }
}

/// Sends the end of an answer: its verdict, and all of it.
fn send_answer(app: &App, answer: &Answer, id: &str, results: &Results) {
    results.send(&lines::verdict(app.build, answer, true));
    results.send(&lines::answer(app.build, answer, id));
}

/// The cells with runs of whose rows something is different: what a row gains is of all its
/// sizes, and held against the baseline.
fn affected(answer: &Answer, changed: &BTreeSet<(usize, usize)>) -> BTreeSet<(usize, usize)> {
    let rows: BTreeSet<usize> = changed.iter().map(|(row, _)| *row).collect();
    let all = rows.contains(&answer.verdict.baseline);
    let has_runs = |(row, size): &(usize, usize)| {
        let cell = &answer.rows[*row].cells[*size];
        !cell.runs.is_empty() || !cell.shared.is_empty()
    };
    let cells = every_cell(answer).into_iter().filter(has_runs);
    cells.filter(|(row, _)| all || rows.contains(row)).collect()
}

fn every_cell(answer: &Answer) -> BTreeSet<(usize, usize)> {
    let rows = answer.rows.iter().enumerate();
    rows.flat_map(|(row, of)| (0..of.cells.len()).map(move |size| (row, size)))
        .collect()
}

/// All runs of an answer have ended.
fn runs_of(answer: &Answer) -> (usize, usize) {
    let cells = answer.rows.iter().flat_map(|row| &row.cells);
    let runs = cells.map(|cell| cell.runs.len() + cell.shared.len()).sum();
    (runs, runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe::units::{Bytes, Rate};

    /// Runs that end in any order are in that of their seeds.
    #[test]
    fn what_was_seen_is_the_answer() {
        let live = Live::default();
        let question = Comparison::new()
            .rate(Rate::from_mbps(2))
            .sizes([Bytes::new(30_000), Bytes::new(60_000)])
            .transports(["cubic", "bbr"])
            .runs(9)
            .threads(4);
        let answer = question.run_watched(&live).unwrap();
        let seen = live.now().unwrap();
        assert_eq!(seen.verdict, answer.verdict);
        for (row, other) in answer.rows.iter().zip(&seen.rows) {
            for (cell, other) in row.cells.iter().zip(&other.cells) {
                assert_eq!((&cell.runs, &cell.shared), (&other.runs, &other.shared));
            }
        }
        let state = live.state();
        assert!(state.early.is_empty() && state.rounds > 0);
        assert_eq!(state.progress, runs_of(&answer));
    }

    /// What a page knows of a comparison that it follows: the last of each cell.
    #[derive(Default)]
    struct Page {
        live: Live,
        cells: Mutex<BTreeMap<(u64, u64), Value>>,
    }

    impl Page {
        fn read(&self) {
            let news = self.live.state().take_news();
            let build = Build::with_kernel(false);
            for line in news.map_or_else(Vec::new, |news| news.lines(build, "")) {
                for row in line["rows"].as_array().into_iter().flatten() {
                    let place = (row["row"].as_u64().unwrap(), row["size"].as_u64().unwrap());
                    self.cells.lock().unwrap().insert(place, row.clone());
                }
            }
        }
    }

    impl Watch for Page {
        fn begins(&self, answer: &Answer) {
            self.live.begins(answer);
        }

        fn ran(&self, run: Ran<'_>) {
            self.live.ran(run);
            self.read();
        }
    }

    /// Gains change with the runs of the baseline, whatever row ran last.
    #[test]
    fn what_was_sent_is_the_answer() {
        let page = Page::default();
        let question = Comparison::new()
            .rate(Rate::from_mbps(2))
            .sizes([Bytes::new(30_000), Bytes::new(60_000)])
            .transports(["cubic", "bbr", "hybla"])
            .threads(1);
        let answer = question.run_watched(&page).unwrap();
        let all = lines::rows(&answer, &every_cell(&answer), (0, 0));
        let cells = page.cells.lock().unwrap();
        for row in all["rows"].as_array().unwrap() {
            let place = (row["row"].as_u64().unwrap(), row["size"].as_u64().unwrap());
            assert_eq!(cells.get(&place), Some(row));
        }
    }

    #[test]
    fn a_run_waits_for_those_before_it() {
        let question = Comparison::new().size(Bytes::new(30_000)).runs(2);
        let answer = question.transports(["cubic"]).run().unwrap();
        let live = Live::default();
        let mut none_yet = answer.clone();
        none_yet.rows[0].cells[0].runs.clear();
        live.begins(&none_yet);
        let results = &answer.rows[0].cells[0].runs;
        let add = |index: usize| {
            let mut state = live.state();
            state.add(0, 0, false, index, &results[index]);
            state.answer.as_ref().map(|a| a.rows[0].cells[0].runs.len())
        };
        assert_eq!(add(1), Some(0));
        assert!(live.now().is_none());
        assert_eq!(add(0), Some(2));
        assert!(live.now().is_some());
    }
}
