//! Runs the cells of a study on this machine.
//!
//! A cell that Linux cannot do has no result, and its note says why. The
//! analytic bound (`ideal`) is computed, there as here.

use super::{Machine, Wanted};
use crate::exit::talk;
use crate::progress::Progress;
use bentpipe_scenario::Scenario;
use bentpipe_study::{LoadedStudy, Plan, Request, Runner, Setting, Simulator};
use bentpipe_tcp::CongestionControlChoice;
use bentpipe_units::{Duration, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What a run takes besides its own time: namespaces, sockets, their end.
const AROUND: Duration = Duration::from_millis(300);

/// The machine with what is counted over all runs.
pub(crate) struct Bench {
    machine: Machine,
    /// Runs at a time.
    jobs: usize,
    runs: AtomicU64,
    /// Runs in which the emulator did not keep up.
    late: AtomicU64,
    /// What Linux did in its own way, and whose way it was not.
    notes: Mutex<BTreeMap<String, BTreeSet<String>>>,
    bar: Mutex<Option<Bar>>,
}

/// How far a study is, in the time that its runs take one after the other.
struct Bar {
    shown: Progress,
    total: Duration,
    done: Duration,
}

impl Bench {
    /// `jobs` runs at a time.
    pub(crate) fn new(machine: Machine, jobs: usize) -> Arc<Bench> {
        Arc::new(Bench {
            machine,
            jobs: jobs.max(1),
            runs: AtomicU64::new(0),
            late: AtomicU64::new(0),
            notes: Mutex::default(),
            bar: Mutex::default(),
        })
    }

    pub(crate) fn jobs(&self) -> usize {
        self.jobs
    }

    pub(crate) fn kernel(&self) -> &str {
        self.machine.kernel()
    }

    /// True once it was interrupted.
    pub(crate) fn is_stopped(&self) -> bool {
        self.machine.is_stopped()
    }

    /// What there is to say at the end.
    pub(crate) fn remarks(&self) -> Vec<String> {
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let (runs, late) = (
            self.runs.load(Ordering::Relaxed),
            self.late.load(Ordering::Relaxed),
        );
        let kept_up = match (runs, late) {
            (0, _) => "nothing new was run; results are those of earlier runs".to_owned(),
            (_, 0) => format!("the emulator kept up in all of {runs} runs"),
            _ => format!("THE EMULATOR DID NOT KEEP UP in {late} of {runs} runs"),
        };
        let mut remarks = vec![format!("ran on {}: {kept_up}", self.kernel())];
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        remarks.extend(notes.iter().map(|(what, who)| {
            let who: Vec<&str> = who.iter().map(String::as_str).collect();
            format!("{}: {what}", who.join(", "))
        }));
        remarks
    }

    /// Keeps a note, `WHO: WHAT`.
    fn note(&self, text: &str) {
        let (who, what) = text.split_once(": ").unwrap_or(("all", text));
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let about = notes.entry(what.to_owned()).or_default();
        about.extend(who.split(", ").map(str::to_owned));
    }

    /// The runner of a study. Says how long it will take.
    pub(crate) fn runner(
        self: &Arc<Bench>,
        loaded: &LoadedStudy,
    ) -> Result<Box<dyn Runner>, String> {
        let simulator = Simulator::of_study(loaded)?;
        let mut live = Live {
            bench: self.clone(),
            simulator,
            expected: BTreeMap::new(),
        };
        live.estimate(loaded);
        Ok(Box::new(live))
    }
}

/// A runner on this machine.
struct Live {
    bench: Arc<Bench>,
    simulator: Simulator,
    /// How long each run takes by the simulator: by what it sets.
    expected: BTreeMap<String, Duration>,
}

impl Live {
    /// Simulates every cell once, and says how long all runs will take.
    fn estimate(&mut self, loaded: &LoadedStudy) {
        let plan = Plan::new(&loaded.study, None);
        let mut total = Duration::ZERO;
        let mut live = 0;
        for job in plan.jobs() {
            let key = key(&job.settings);
            if !self.expected.contains_key(&key) {
                let request = Request {
                    settings: &job.settings,
                    seed: job.seed,
                    start_jitter: Duration::ZERO,
                    skip_steady: false,
                    series: None,
                    checkpoints: &[],
                };
                let scenario = self.simulator.scenario(&job.settings);
                let possible = |s: &Scenario| self.bench.machine.refusals(s).is_empty();
                let runs = scenario.is_ok_and(|s| !is_bound(&s) && possible(&s));
                let took = match self.simulator.run(&request) {
                    Ok(outcome) if runs => outcome.ended_at.since(Time::ZERO) + AROUND,
                    _ => Duration::ZERO,
                };
                self.expected.insert(key.clone(), took);
            }
            let took = self.expected.get(&key).copied().unwrap_or(Duration::ZERO);
            live += usize::from(!took.is_zero());
            total += took;
        }
        let jobs = self.bench.jobs;
        talk(format_args!(
            "{}: {live} runs on {}, {jobs} at a time: about {}",
            loaded.study.name,
            self.bench.kernel(),
            minutes(total / jobs as u64)
        ));
        // In seconds of runs, so that the end of the bar is that of the time.
        let what = format!("{}, seconds of runs", loaded.study.name);
        let bar = Bar {
            shown: Progress::new(&what),
            total,
            done: Duration::ZERO,
        };
        *self
            .bench
            .bar
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(bar);
    }

    fn done(&self, settings: &[Setting]) {
        let took = self.expected.get(&key(settings)).copied();
        let mut bar = self
            .bench
            .bar
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = &mut *bar {
            bar.done += took.unwrap_or(Duration::ZERO);
            let seconds = |d: Duration| d.as_secs() as u64;
            bar.shown.set(seconds(bar.done), seconds(bar.total));
        }
    }
}

impl Runner for Live {
    fn identity(&self) -> String {
        format!(
            "linux test bed on {}\n{}",
            self.bench.kernel(),
            self.simulator.identity()
        )
    }

    fn check(&self, settings: &[Setting]) -> Result<String, String> {
        self.simulator.check(settings)
    }

    fn is_stopped(&self) -> bool {
        self.bench.is_stopped()
    }

    fn run(&self, request: &Request<'_>) -> Result<bentpipe_outcome::Outcome, String> {
        let scenario = self
            .simulator
            .scenario(request.settings)
            .map_err(|e| e.to_string())?;
        if is_bound(&scenario) {
            self.bench
                .note("ideal: the analytic bound is computed, not run");
            return self.simulator.run(request);
        }
        let wanted = Wanted {
            seed: request.seed,
            series: request.series,
            checkpoints: request.checkpoints.to_vec(),
            start_jitter: request.start_jitter,
            pcap: None,
        };
        let ran = self.bench.machine.run(&scenario, wanted);
        self.done(request.settings);
        let ran = ran?;
        self.bench.runs.fetch_add(1, Ordering::Relaxed);
        if !ran.facts.kept_up {
            self.bench.late.fetch_add(1, Ordering::Relaxed);
        }
        for note in ran.facts.notes {
            self.bench.note(&note);
        }
        Ok(ran.outcome)
    }
}

/// True if nothing of a scenario is sent: every flow is the analytic bound.
fn is_bound(scenario: &Scenario) -> bool {
    let bound = |flow: &bentpipe_scenario::Flow| {
        flow.transport
            .as_ref()
            .is_some_and(|t| t.congestion_control == CongestionControlChoice::Ideal)
    };
    !scenario.flows.is_empty() && scenario.flows.iter().all(bound)
}

fn key(settings: &[Setting]) -> String {
    let set: Vec<String> = settings
        .iter()
        .map(|s| format!("{} = {}", s.path, s.value))
        .collect();
    set.join("; ")
}

/// `12 s`, `4 min 10 s`, `2 h 5 min`.
fn minutes(time: Duration) -> String {
    let seconds = time.as_secs().round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_people_do() {
        let said = |s| minutes(Duration::from_secs(s));
        assert_eq!(
            [said(12), said(250), said(7500)],
            ["12 s", "4 min 10 s", "2 h 5 min"]
        );
    }
}
