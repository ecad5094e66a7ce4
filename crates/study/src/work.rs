//! Runs the missing runs of a study, or of a part of it, and stores the results.

use crate::error::ExecuteError;
use crate::header::differences;
use crate::plan::{Job, Plan};
use crate::precision::{Gauge, Next, Tally};
use crate::record::{RunData, RunResult};
use crate::runner::{Progress, Request, Runner, Watch};
use crate::runs::{Runs, is_failure};
use crate::shards;
use bentpipe_outcome::{Journal, JournalError};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The runs of a study and the journal that they are appended to.
pub(crate) struct Store {
    pub(crate) runs: Runs,
    journal: Option<Journal>,
}

impl Store {
    /// Keeps results in memory.
    pub(crate) fn in_memory(plan: &Plan) -> Store {
        Store {
            runs: Runs::in_memory(plan.len()),
            journal: None,
        }
    }

    /// Opens the journal at `path`, and takes the runs of the plan from it and from the shards next
    /// to it.
    pub(crate) fn open(
        path: &Path,
        header: &str,
        fresh: bool,
        plan: &Plan,
    ) -> Result<Store, ExecuteError> {
        let mut store = Store::open_one(path, header, fresh, plan)?;
        let folder = path.with_file_name(shards::FOLDER);
        if fresh {
            shards::remove(&folder)?;
        }
        shards::read(&folder, header, plan, &mut store.runs)?;
        Ok(store)
    }

    /// As above without shards: the journal of a shard.
    pub(crate) fn open_one(
        path: &Path,
        header: &str,
        fresh: bool,
        plan: &Plan,
    ) -> Result<Store, ExecuteError> {
        let mut runs = Runs::on_disk(plan.len());
        let mut journal = if fresh {
            Journal::restart(path, header)?
        } else {
            let opened = Journal::open_with(path, header, &mut |record, place| {
                if let Some(run) = plan.find(&record.key) {
                    runs.note(run, 0, place, is_failure(&record.value));
                }
            });
            opened.map_err(changed)?
        };
        journal.set_batch(BATCH);
        runs.attach_first(journal.reader()?);
        Ok(Store {
            runs,
            journal: Some(journal),
        })
    }

    /// Puts a result, which `json` says as well.
    fn put(&mut self, job: &Job, run: usize, result: &Arc<RunResult>, json: &[u8]) -> Put {
        match &mut self.journal {
            None => self.runs.put(run, result.clone()),
            Some(journal) => {
                let place = journal.append_json(&job.key, json)?;
                self.runs.note(run, 0, place, has_failed(result));
            }
        }
        Ok(())
    }

    /// Appends a record of another journal.
    pub(crate) fn copy(&mut self, run: usize, key: &str, json: &str) -> Put {
        if self.runs.has(run) {
            return Ok(());
        }
        if let Some(journal) = &mut self.journal {
            let place = journal.append_json(key, json.as_bytes())?;
            self.runs.note(run, 0, place, is_failure(json));
        }
        Ok(())
    }

    /// Makes what was appended readable.
    pub(crate) fn readable(&mut self) -> Put {
        if let Some(journal) = &mut self.journal {
            journal.sync()?;
            self.runs.attach_first(journal.reader()?);
        }
        Ok(())
    }

    /// Brings what is appended to the disk soon after.
    fn keep_synced(&mut self) -> Put {
        match &mut self.journal {
            Some(journal) => journal.keep_synced(UNSAFE),
            None => Ok(()),
        }
    }

    /// Brings everything to the disk.
    pub(crate) fn sync(&mut self) -> Put {
        match &mut self.journal {
            Some(journal) => journal.sync(),
            None => Ok(()),
        }
    }

    /// Ends writing; the runs stay readable.
    pub(crate) fn close(self) -> Result<Runs, JournalError> {
        let mut runs = self.runs;
        if let Some(journal) = self.journal {
            runs.attach_first(journal.into_reader()?);
        }
        Ok(runs)
    }
}

type Put = Result<(), JournalError>;

/// Records after which a journal is brought to the disk at the latest. A process that is
/// killed loses none in any case; short runs are too many for a sync every few.
const BATCH: u32 = 1024;

/// About how long a result may be in the system's memory alone: what finished longer ago
/// survives a loss of power. It bounds what syncing costs to four syncs a second.
const UNSAFE: Duration = Duration::from_millis(250);

/// Another header, in words.
pub(crate) fn changed(error: JournalError) -> ExecuteError {
    match error {
        JournalError::Header {
            path,
            expected,
            found,
        } => ExecuteError::Changed {
            path,
            what: differences(&found, &expected),
        },
        other => ExecuteError::Journal(other),
    }
}

fn has_failed(result: &RunResult) -> bool {
    result.failure().is_some()
}

/// The runs to execute, and the options.
pub(crate) struct Work<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) runner: &'a dyn Runner,
    /// The rule for the number of runs of a cell.
    pub(crate) gauge: Option<Gauge<'a>>,
    /// Estimated cost of a run of each group.
    pub(crate) seconds: Vec<f64>,
    /// The runs that are wanted; whole groups where a gauge decides.
    pub(crate) jobs: Range<usize>,
    pub(crate) threads: usize,
    pub(crate) watch: &'a Watch<'a>,
}

/// Runs what `store` does not have of the work. Whether it came to its end is for
/// the caller to see: it may have been stopped.
pub(crate) fn perform(work: &Work<'_>, mut store: Store) -> Result<Store, ExecuteError> {
    store.keep_synced()?;
    let executor = Executor::new(work, store);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(work.threads)
        .build()
        .map_err(|e| ExecuteError::Threads(e.to_string()))?;
    pool.install(|| match &work.gauge {
        None => executor.all(),
        Some(gauge) => executor.until_enough(gauge, pool.current_num_threads()),
    });
    let state = executor.state.into_inner();
    let mut state = state.unwrap_or_else(PoisonError::into_inner);
    state.store.sync()?;
    match state.error {
        Some(error) => Err(error.into()),
        None => Ok(state.store),
    }
}

struct Executor<'a> {
    work: &'a Work<'a>,
    stop: AtomicBool,
    state: Mutex<State>,
}

struct State {
    store: Store,
    error: Option<JournalError>,
    /// Of the runs that are wanted: how many there are, how many of them failed.
    done: usize,
    failed: usize,
    /// How many are wanted, perhaps about.
    total: usize,
    /// Completed and total work, in seconds.
    cost: f64,
    cost_of_all: f64,
}

impl<'a> Executor<'a> {
    fn new(work: &'a Work<'a>, store: Store) -> Executor<'a> {
        let mut state = State {
            error: None,
            done: 0,
            failed: 0,
            total: work.jobs.len(),
            cost: 0.0,
            cost_of_all: 0.0,
            store,
        };
        if work.gauge.is_none() {
            for run in work.jobs.clone() {
                let seconds = work.cost(run);
                state.cost_of_all += seconds;
                if state.store.runs.has(run) {
                    state.done += 1;
                    state.cost += seconds;
                }
            }
        }
        if state.done == state.store.runs.done() {
            state.failed = state.store.runs.failed();
        }
        Executor {
            work,
            stop: AtomicBool::new(false),
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn halt(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn has(&self, run: usize) -> bool {
        self.state().store.runs.has(run)
    }

    /// Every run of the work.
    fn all(&self) {
        let state = self.state();
        let missing = |run: &usize| !state.store.runs.has(*run);
        let pending: Vec<usize> = self.work.jobs.clone().filter(missing).collect();
        drop(state);
        pending.par_iter().with_max_len(1).for_each(|run| {
            self.run(*run);
        });
    }

    /// Cell by cell, as many runs as it takes. Where there are fewer cells than
    /// threads, runs begin before it is known that they are needed; those that are
    /// not stay in the journal and count for nothing.
    fn until_enough(&self, gauge: &Gauge<'_>, threads: usize) {
        let most = self.work.plan.replications as usize;
        let groups = self.work.jobs.start / most..self.work.jobs.end.div_ceil(most);
        let ahead = threads.div_ceil(groups.len().max(1));
        {
            let fewest = gauge.tally(self.work.plan.replications).expected();
            let mut state = self.state();
            state.total = groups.len() * fewest as usize;
            let seconds = groups.clone().map(|g| self.work.group_cost(g));
            state.cost_of_all = f64::from(fewest) * seconds.sum::<f64>();
        }
        groups.into_par_iter().with_max_len(1).for_each(|group| {
            let mut tally = gauge.tally(self.work.plan.replications);
            while let Next::Run(next) = tally.next() {
                if self.is_stopped() {
                    return;
                }
                let first = group * most;
                let next = next as usize;
                let end = (next + ahead.max(tally.sure())).min(most);
                let missing: Vec<usize> = (first + next..first + end)
                    .filter(|run| !self.has(*run))
                    .collect();
                if missing.len() < end - next {
                    self.found(group, end - next - missing.len());
                }
                let new: BTreeMap<usize, Option<f64>> = missing
                    .par_iter()
                    .with_max_len(1)
                    .filter_map(|run| {
                        let result = self.run(*run)?;
                        Some((*run, gauge.value(&result)))
                    })
                    .collect();
                for run in first + next..first + end {
                    let Next::Run(_) = tally.next() else { break };
                    let value = match new.get(&run) {
                        Some(value) => *value,
                        None if missing.contains(&run) => return,
                        None => gauge.value(&self.state().store.runs.get(run)),
                    };
                    self.push(group, value, &mut tally);
                }
            }
        });
    }

    /// Runs of a group that are there already.
    fn found(&self, group: usize, runs: usize) {
        let mut state = self.state();
        state.done += runs;
        state.cost += runs as f64 * self.work.group_cost(group);
    }

    /// Adds a run to its cell, and what is to be expected of the cell to all.
    fn push(&self, group: usize, value: Option<f64>, tally: &mut Tally) {
        let before = tally.expected();
        tally.push(value);
        let after = tally.expected();
        let mut state = self.state();
        state.total = (state.total + after as usize).saturating_sub(before as usize);
        state.cost_of_all += (f64::from(after) - f64::from(before)) * self.work.group_cost(group);
    }

    /// One run; its result, unless it was stopped.
    fn run(&self, run: usize) -> Option<Arc<RunResult>> {
        if self.is_stopped() {
            return None;
        }
        let job = self.work.plan.job(run);
        let result = Arc::new(self.work.run(&job));
        if self.work.runner.is_stopped() {
            self.halt();
            return None;
        }
        // Outside the lock.
        let json = serde_json::to_vec(&*result);
        let mut state = self.state();
        if self.is_stopped() {
            return None;
        }
        let failed = has_failed(&result);
        let put = match json {
            Ok(json) => state.store.put(&job, run, &result, &json),
            Err(source) => Err(JournalError::Encode {
                path: Path::new("").to_path_buf(),
                key: job.key.clone(),
                source,
            }),
        };
        if let Err(error) = put {
            state.error = Some(error);
            self.halt();
            return None;
        }
        state.done += 1;
        state.failed += usize::from(failed);
        state.cost += self.work.cost(run);
        let progress = state.progress(self.work);
        if (self.work.watch)(&progress).is_break() {
            self.halt();
        }
        Some(result)
    }
}

impl State {
    fn progress(&self, work: &Work<'_>) -> Progress {
        let share = self.cost / self.cost_of_all.max(f64::MIN_POSITIVE);
        Progress {
            study: work.plan.study.name.clone(),
            done: self.done,
            total: self.total.max(self.done),
            failed: self.failed,
            share: share.clamp(0.0, 1.0),
            about: work.gauge.is_some(),
        }
    }
}

impl Work<'_> {
    fn group_cost(&self, group: usize) -> f64 {
        self.seconds.get(group).copied().unwrap_or(1.0)
    }

    fn cost(&self, run: usize) -> f64 {
        self.group_cost(run / self.plan.replications as usize)
    }

    fn run(&self, job: &Job) -> RunResult {
        let study = &self.plan.study;
        let request = Request {
            settings: &job.settings,
            seed: job.seed,
            start_jitter: study.start_jitter,
            skip_steady: study.skip_steady,
            series: study.series,
            checkpoints: &study.marks,
        };
        match catch_unwind(AssertUnwindSafe(|| self.runner.run(&request))) {
            Ok(Ok(outcome)) => RunResult::Done(Box::new(RunData::new(outcome))),
            Ok(Err(why)) => RunResult::Failed(why),
            Err(panic) => {
                let text = bentpipe_cc::panic_text(&*panic);
                RunResult::Failed(format!("the run panicked: {}", text.unwrap_or_default()))
            }
        }
    }
}

/// Runs that are kept in memory, as they are sent to another process: those of
/// `jobs`, in their order.
pub(crate) fn each_of(
    runs: &Runs,
    plan: &Plan,
    jobs: Range<usize>,
    mut put: impl FnMut(&str, &RunResult) -> Result<(), JournalError>,
) -> Result<usize, JournalError> {
    let mut n = 0;
    for run in jobs {
        let result: Arc<RunResult> = runs.get(run);
        if !matches!(*result, RunResult::Missing) {
            put(&plan.job(run).key, &result)?;
            n += 1;
        }
    }
    Ok(n)
}
