//! A study in parts: its runs as tasks that any process on any machine can run, and
//! the collector that puts their results together.
//!
//! The final files equal those of [`reproduce`](crate::reproduce) to the byte, regardless of how
//! the runs were divided, in which order they arrived and how often each was run.

use crate::catalogue::Unknown;
use crate::collection::{Collection, LoadedStudy};
use crate::error::{ExecuteError, ReproduceError};
use crate::execute::check_plan;
use crate::header::{differences, header};
use crate::plan::{Plan, hash, place};
use crate::precision::Gauge;
use crate::reproduce::{MakeRunner, ReproduceOptions, Reproduction, Selection, needed, reproduce};
use crate::runner::{Checked, Progress, Runner, Watch};
use crate::runs::Runs;
use crate::shards;
use crate::task::{Block, Task, TaskResult, cut};
use crate::work::{Store, Work, each_of, perform};
use crate::{folder, store};
use bentpipe_outcome::JournalBuffer;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Makes the runner of a study, in any thread.
pub type SharedMakeRunner =
    Arc<dyn Fn(&LoadedStudy) -> Result<Box<dyn Runner>, String> + Send + Sync>;

/// The runs of a study, and of the studies that it needs, to be run in parts. Cheap
/// to copy.
#[derive(Clone)]
pub struct Campaign {
    studies: Arc<Collection>,
    paper: String,
    name: String,
    runs: Option<u32>,
    make: SharedMakeRunner,
    parts: Arc<[PlannedStudy]>,
    fingerprint: String,
}

/// One study with runs.
struct PlannedStudy {
    plan: Plan,
    runner: Box<dyn Runner>,
    cells: Vec<Checked>,
    header: String,
    /// Its first run, counted over all studies.
    first: usize,
}

impl PlannedStudy {
    fn name(&self) -> &str {
        &self.plan.study.name
    }

    fn gauge(&self) -> Option<Gauge<'_>> {
        Gauge::of(&self.plan.study, &Unknown)
    }

    /// Those of `runs` that are its own.
    fn own(&self, runs: &Range<usize>) -> Range<usize> {
        let end = self.first + self.plan.len();
        let own = runs.start.clamp(self.first, end)..runs.end.clamp(self.first, end);
        own.start - self.first..own.end - self.first
    }

    fn seconds(&self) -> Vec<f64> {
        self.cells.iter().map(|cell| cell.seconds).collect()
    }

    fn work<'a>(&'a self, jobs: Range<usize>, threads: usize, watch: &'a Watch<'a>) -> Work<'a> {
        Work {
            plan: &self.plan,
            runner: &*self.runner,
            gauge: self.gauge(),
            seconds: self.seconds(),
            jobs,
            threads,
            watch,
        }
    }

    /// Whether `runs` has all that is wanted of these.
    fn is_done(&self, jobs: Range<usize>, runs: &Runs) -> bool {
        let Some(gauge) = self.gauge() else {
            return jobs.into_iter().all(|run| runs.has(run));
        };
        let most = self.plan.replications as usize;
        let mut groups = jobs.start / most..jobs.end.div_ceil(most);
        groups.all(|group| gauge.reached(group, self.plan.replications, runs).1)
    }
}

impl Campaign {
    /// The runs of study `name` among `studies` and of those that it needs. `runs` is
    /// that of [`ReproduceOptions`].
    ///
    /// # Errors
    /// If there is no such study or a cell makes no scenario.
    pub fn new(
        studies: Collection,
        paper: &str,
        name: &str,
        make: SharedMakeRunner,
        runs: Option<u32>,
    ) -> Result<Campaign, ReproduceError> {
        let mut parts = Vec::new();
        let mut first = 0;
        let mut what = format!("{name}\n");
        for loaded in needed(&studies, &Selection::Study(name.to_owned()))? {
            let study = &loaded.study;
            let runner = make(loaded).map_err(ReproduceError::Scenario)?;
            let plan = Plan::new(study, runs.map(|n| n.min(study.replications)));
            let cells = check_plan(&plan, &*runner)?;
            let header = header(study, &*runner);
            let points = study.axes.iter().flat_map(|axis| &axis.points);
            let points: Vec<&str> = points.map(|p| p.label.as_str()).collect();
            let text = &study.origin.source.text;
            what.push_str(&format!("{header}\n{}\n{points:?}\n{text}\n", plan.len()));
            let runs = plan.len();
            parts.push(PlannedStudy {
                plan,
                runner,
                cells,
                header,
                first,
            });
            first += runs;
        }
        Ok(Campaign {
            studies: Arc::new(studies),
            paper: paper.to_owned(),
            name: name.to_owned(),
            runs,
            make,
            parts: parts.into(),
            fingerprint: hash(&what),
        })
    }

    /// Name of the study.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the results of tasks must be of to be put together: a hash of the version
    /// of bentpipe, of the studies, of what they name and of what of it is run.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The header of its first study's journal, and the keys of the runs in it.
    pub(crate) fn first_study(&self) -> (String, Vec<String>) {
        let first = self.parts.first();
        first.map_or_else(Default::default, |part| {
            let keys = part.plan.jobs().map(|job| job.key);
            (part.header.clone(), keys.collect())
        })
    }

    /// Runs in all; at most, where their number follows from the results.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.parts.iter().map(|part| part.plan.len()).sum()
    }

    /// How long all of them will take on one core, roughly, in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        let blocks = self.blocks();
        blocks.iter().map(|b| b.runs as f64 * b.seconds).sum()
    }

    fn blocks(&self) -> Vec<Block> {
        let of_part = |part: &PlannedStudy| {
            let whole = part.plan.study.precision.is_some();
            let runs = part.plan.replications as usize;
            let block = |cell: &Checked| Block {
                runs,
                seconds: cell.seconds,
                whole,
            };
            part.cells.iter().map(block).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(of_part).collect()
    }

    /// The runs cut into `n` tasks of about the same cost, which depend on the study
    /// and on `n` only. Some may be empty. A cell whose number of runs follows from the
    /// results is in one task.
    #[must_use]
    pub fn tasks(&self, n: usize) -> Vec<Task> {
        cut(&self.blocks(), n)
    }

    /// The runs cut into tasks that take about so many seconds on one core.
    #[must_use]
    pub fn tasks_of(&self, seconds: f64) -> Vec<Task> {
        let n = (self.seconds() / seconds.max(1e-3)).ceil();
        self.tasks((n as usize).clamp(1, self.runs().max(1)))
    }

    /// What a task runs, in words: `runs 41 to 60 of 200, from sweep at loss 1%, seed 1 to
    /// sweep at loss 2%, seed 20`.
    #[must_use]
    pub fn describe(&self, task: &Task) -> String {
        let Some(last) = task
            .runs
            .end
            .checked_sub(1)
            .filter(|_| !task.runs.is_empty())
        else {
            return "no runs".to_owned();
        };
        let first = task.runs.start;
        let (from, to) = (self.run_in_words(first), self.run_in_words(last));
        let of = self.runs();
        if first == last {
            return format!("run {} of {of}, {from}", first + 1);
        }
        format!(
            "runs {} to {} of {of}, from {from} to {to}",
            first + 1,
            last + 1
        )
    }

    fn run_in_words(&self, run: usize) -> String {
        let at = |part: &&PlannedStudy| (part.first..part.first + part.plan.len()).contains(&run);
        self.parts.iter().find(at).map_or(String::new(), |part| {
            let job = part.plan.job(run - part.first);
            format!("{}, seed {}", place(&part.plan.study, job.cell), job.seed)
        })
    }

    /// Runs a task and keeps its results in memory.
    ///
    /// # Errors
    /// If `watch` stops it, or it is not a task of this campaign.
    pub fn run_task(
        &self,
        task: &Task,
        threads: usize,
        watch: &Watch<'_>,
    ) -> Result<TaskResult, ReproduceError> {
        let mut studies = Vec::new();
        for part in &*self.parts {
            let jobs = part.own(&task.runs);
            if jobs.is_empty() {
                continue;
            }
            let work = part.work(jobs.clone(), threads, watch);
            let runs = perform(&work, Store::in_memory(&part.plan))?.close();
            let runs = runs.map_err(ExecuteError::from)?;
            self.stopped(part, &jobs, &runs)?;
            let header = shards::header(&part.header, &self.fingerprint, task);
            let mut buffer = JournalBuffer::new(&header).map_err(ExecuteError::from)?;
            let put = each_of(&runs, &part.plan, jobs, |key, run| buffer.append(key, run));
            put.map_err(ExecuteError::from)?;
            studies.push((part.name().to_owned(), buffer.into_bytes()));
        }
        Ok(TaskResult { studies })
    }

    fn stopped(
        &self,
        part: &PlannedStudy,
        jobs: &Range<usize>,
        runs: &Runs,
    ) -> Result<(), ReproduceError> {
        if part.is_done(jobs.clone(), runs) {
            return Ok(());
        }
        let stopped = ExecuteError::Stopped {
            study: part.name().to_owned(),
            done: jobs.clone().filter(|run| runs.has(*run)).count(),
            total: jobs.len(),
        };
        Err(stopped.into())
    }

    /// Runs a task and journals its results in the folder `shards` of each study's
    /// results under `out`. What the journal has already is not run again.
    ///
    /// # Errors
    /// If `watch` stops it, the journal is of something else, or cannot be written.
    pub fn run_shard(
        &self,
        task: &Task,
        out: &Path,
        threads: usize,
        watch: &Watch<'_>,
    ) -> Result<(), ReproduceError> {
        for part in &*self.parts {
            let jobs = part.own(&task.runs);
            let folder = out.join(part.name());
            folder::create(&folder.join(shards::FOLDER))?;
            let header = shards::header(&part.header, &self.fingerprint, task);
            let path = shards::path(&folder, task);
            let store = Store::open_one(&path, &header, false, &part.plan)?;
            let work = part.work(jobs.clone(), threads, watch);
            let runs = perform(&work, store)?.close().map_err(ExecuteError::from)?;
            self.stopped(part, &jobs, &runs)?;
        }
        Ok(())
    }

    /// What puts results together, in the folder of results `out`. It knows what is
    /// there already: of tasks, shards or a run of the study that was stopped.
    ///
    /// # Errors
    /// If what is there is of something else or cannot be read.
    pub fn collector(&self, out: &Path, fresh: bool) -> Result<Collector, ReproduceError> {
        let mut stores = Vec::new();
        for part in &*self.parts {
            let folder = folder::create(&out.join(part.name()))?;
            let journal = folder.join(store::JOURNAL);
            let store = Store::open(&journal, &part.header, fresh, &part.plan)?;
            for found in shards::found(&folder.join(shards::FOLDER))? {
                if found.fingerprint != self.fingerprint {
                    return Err(ReproduceError::Task {
                        why: format!(
                            "{}: shard {} was run of another version of the study, or of other \
                             points or replications of it; remove the file to run the shard again",
                            found.path.display(),
                            found.shard
                        ),
                    });
                }
            }
            stores.push(store);
        }
        Ok(Collector {
            campaign: self.clone(),
            out: out.to_path_buf(),
            stores,
        })
    }
}

/// Puts the results of tasks together.
///
/// What [`add`](Collector::add) has taken is journalled: a collector of the same
/// folder that is made later, as after a kill, has it.
pub struct Collector {
    campaign: Campaign,
    out: PathBuf,
    stores: Vec<Store>,
}

impl Collector {
    fn parts(&self) -> impl Iterator<Item = (&PlannedStudy, &Runs)> {
        let runs = self.stores.iter().map(|store| &store.runs);
        self.campaign.parts.iter().zip(runs)
    }

    /// True if the results of a task are here.
    #[must_use]
    pub fn is_done(&self, task: &Task) -> bool {
        self.parts()
            .all(|(part, runs)| part.is_done(part.own(&task.runs), runs))
    }

    /// Takes the result of a task, in any order. What is here already is passed over.
    ///
    /// # Errors
    /// If it is of another study or version of it, or cannot be written.
    pub fn add(&mut self, result: &TaskResult) -> Result<Progress, ReproduceError> {
        for (name, bytes) in &result.studies {
            let parts = self.campaign.parts.iter().zip(&mut self.stores);
            let found = parts.into_iter().find(|(part, _)| part.name() == name);
            let other = |what: &str| ReproduceError::Task {
                why: format!("the result of a task is of {what}, not of this `{name}`"),
            };
            let (part, store) = found.ok_or_else(|| other("another study"))?;
            let mut records = Vec::new();
            let header = JournalBuffer::read(bytes, &mut |record, _| records.push(record.clone()))
                .map_err(ExecuteError::from)?;
            let file = format!("\nfile {}\n", self.campaign.fingerprint);
            if !header.starts_with(&part.header) {
                let what = differences(&header, &part.header);
                return Err(ReproduceError::Task {
                    why: format!("the result of a task does not fit `{name}`: {what} differ"),
                });
            }
            if !header.contains(&file) {
                return Err(other("another version of the study"));
            }
            for record in records {
                let Some(run) = part.plan.find(&record.key) else {
                    return Err(other("other runs"));
                };
                let copied = store.copy(run, &record.key, &record.value);
                copied.map_err(ExecuteError::from)?;
            }
            store.readable().map_err(ExecuteError::from)?;
        }
        Ok(self.progress())
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let mut progress = Progress {
            study: self.campaign.name.clone(),
            done: 0,
            total: self.campaign.runs(),
            failed: 0,
            share: 0.0,
            about: false,
        };
        let mut cost = 0.0;
        for (part, runs) in self.parts() {
            progress.done += runs.done();
            progress.failed += runs.failed();
            progress.about |= part.plan.study.precision.is_some();
            let room = part.plan.replications as usize;
            for (group, cell) in part.cells.iter().enumerate() {
                let there = (group * room..(group + 1) * room).filter(|run| runs.has(*run));
                cost += there.count() as f64 * cell.seconds;
            }
        }
        progress.share = cost / self.campaign.seconds().max(f64::MIN_POSITIVE);
        progress
    }

    /// Computes tables, figures and claims, and writes the final files.
    ///
    /// # Errors
    /// If runs are missing or the files cannot be written.
    pub fn finish(self) -> Result<Reproduction, ReproduceError> {
        let Collector {
            campaign,
            out,
            stores,
        } = self;
        for store in stores {
            store.close().map_err(ExecuteError::from)?;
        }
        let options = ReproduceOptions {
            runs: campaign.runs,
            results: Some(out),
            collect: true,
            ..ReproduceOptions::default()
        };
        let make: &MakeRunner<'_> = &|loaded| (campaign.make)(loaded);
        let selection = Selection::Study(campaign.name.clone());
        reproduce(
            &campaign.studies,
            &campaign.paper,
            &selection,
            make,
            &options,
        )
    }
}

#[cfg(test)]
#[path = "campaign_tests.rs"]
mod tests;
