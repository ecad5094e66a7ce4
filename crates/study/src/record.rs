//! The record of each run, in memory and in the journal of a study.

use bentpipe_outcome::{FlowSeries, Outcome, SenderSample};
use bentpipe_units::{Bytes, Duration, Time};
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};

/// The result of one run, as the journal holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunResult {
    /// It ran.
    Done(Box<RunData>),
    /// It could not run or hit a bound; why.
    Failed(String),
    /// It has not been run. Journals hold none of these.
    Missing,
}

impl RunResult {
    /// The data of a run that ran.
    #[must_use]
    pub fn data(&self) -> Option<&RunData> {
        match self {
            RunResult::Done(data) => Some(data),
            RunResult::Failed(_) | RunResult::Missing => None,
        }
    }

    /// Why a run has no data.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        match self {
            RunResult::Done(_) | RunResult::Missing => None,
            RunResult::Failed(why) => Some(why),
        }
    }
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunData {
    /// The outcome, without its series.
    pub outcome: Outcome,
    /// The series, where the study asks for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<StoredSeries>,
}

impl RunData {
    /// Takes an outcome apart.
    #[must_use]
    pub fn new(mut outcome: Outcome) -> RunData {
        let series = std::mem::take(&mut outcome.series);
        RunData {
            outcome,
            series: series.iter().map(StoredSeries::new).collect(),
        }
    }

    /// The series as those of an outcome, for the table of them, which needs
    /// nothing else of it but the run.
    pub(crate) fn with_series(&self) -> Outcome {
        Outcome {
            scenario: self.outcome.scenario.clone(),
            seed: self.outcome.seed,
            ended_at: self.outcome.ended_at,
            series: self.series.iter().map(StoredSeries::to_series).collect(),
            ..Outcome::default()
        }
    }
}

/// The time series of one flow; unlike those of an outcome they can be read
/// back from a journal.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct StoredSeries {
    /// Name of the flow.
    pub flow: String,
    /// The sender's state.
    pub sender: Vec<StoredSample>,
    /// Time in nanoseconds, payload bytes delivered so far.
    pub delivered: Vec<(u64, u64)>,
    /// Time in nanoseconds, payload bytes sent so far.
    pub sent: Vec<(u64, u64)>,
    /// Time in nanoseconds, bytes in the relay of a PEP.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<(u64, u64)>,
    /// From which sample of the sender on the congestion control was in which
    /// phase, by the names of qlog.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<(usize, String)>,
}

/// The sender's state at one time.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct StoredSample {
    /// When, nanoseconds.
    pub at_ns: u64,
    /// Congestion window in segments.
    pub cwnd: f64,
    /// Slow start threshold, segments; `None` until set.
    pub ssthresh: Option<f64>,
    /// Segments sent and not yet acknowledged or lost.
    pub flight: f64,
    /// Last RTT sample, nanoseconds; zero before one.
    pub rtt_ns: u64,
    /// Retransmissions since the start of the flow.
    pub retransmissions: u64,
    /// Spurious retransmissions so far.
    #[serde(default)]
    pub spurious_retransmissions: u64,
}

impl StoredSeries {
    fn new(series: &FlowSeries) -> StoredSeries {
        let steps = |steps: &[(Time, Bytes)]| {
            steps
                .iter()
                .map(|(at, bytes)| (at.as_nanos(), bytes.get()))
                .collect()
        };
        let sender = series.sender.iter().map(|s| StoredSample {
            at_ns: s.at.as_nanos(),
            cwnd: s.cwnd,
            ssthresh: Some(s.ssthresh).filter(|x| x.is_finite()),
            flight: s.flight,
            rtt_ns: s.rtt.as_nanos(),
            retransmissions: s.retransmissions,
            spurious_retransmissions: s.spurious_retransmissions,
        });
        StoredSeries {
            flow: series.flow.clone(),
            sender: sender.collect(),
            delivered: steps(&series.delivered),
            sent: steps(&series.sent),
            held: steps(&series.held),
            phases: phases(&series.sender),
        }
    }

    fn to_series(&self) -> FlowSeries {
        let steps = |steps: &[(u64, u64)]| {
            let steps = steps.iter();
            let step = |&(at, bytes): &(u64, u64)| (Time::from_nanos(at), Bytes::new(bytes));
            steps.map(step).collect()
        };
        let mut phases = self.phases.iter().peekable();
        let mut phase = "";
        let sample = |(i, s): (usize, &StoredSample)| SenderSample {
            at: Time::from_nanos(s.at_ns),
            cwnd: s.cwnd,
            ssthresh: s.ssthresh.unwrap_or(f64::INFINITY),
            flight: s.flight,
            rtt: Duration::from_nanos(s.rtt_ns),
            retransmissions: s.retransmissions,
            spurious_retransmissions: s.spurious_retransmissions,
            phase: {
                while let Some((_, name)) = phases.next_if(|(from, _)| *from <= i) {
                    phase = named(name);
                }
                phase
            },
        };
        FlowSeries {
            flow: self.flow.clone(),
            sender: self.sender.iter().enumerate().map(sample).collect(),
            delivered: steps(&self.delivered),
            sent: steps(&self.sent),
            held: steps(&self.held),
        }
    }

    /// The state at a time: the last sample at or before it.
    #[must_use]
    pub fn sender_at(&self, at_ns: u64) -> Option<&StoredSample> {
        self.sender[..self.sender.partition_point(|s| s.at_ns <= at_ns)].last()
    }
}

/// Where the phase of the congestion control changes.
fn phases(sender: &[SenderSample]) -> Vec<(usize, String)> {
    let mut phases: Vec<(usize, String)> = Vec::new();
    for (i, sample) in sender.iter().enumerate() {
        let last = phases.last().map_or("", |(_, name)| name.as_str());
        if sample.phase != last {
            phases.push((i, sample.phase.to_owned()));
        }
    }
    phases
}

/// Names of phases that are kept at most: there is a handful.
const NAMES: usize = 256;

/// The name of a phase as samples have it, for as long as the process lives.
fn named(name: &str) -> &'static str {
    static KNOWN: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.iter().find(|known| **known == name) {
        return found;
    }
    if known.len() >= NAMES {
        return "";
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    known.push(kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{outcome, run_data, with_series};

    #[test]
    fn phases_and_what_relays_held_come_back() {
        let mut ran = with_series(outcome(1.0));
        let series = &mut ran.series[0];
        series.sender[50].phase = "recovery";
        series.held = vec![(Time::from_nanos(5), Bytes::new(7))];
        let expected = ran.series.clone();
        let data = run_data(ran);
        let text = serde_json::to_string(&data).unwrap();
        let back: RunData = serde_json::from_str(&text).unwrap();
        assert_eq!(back.with_series().series, expected);
        assert_eq!(back.series[0].phases.len(), 3);
    }

    #[test]
    fn results_read_back() {
        for result in [
            RunResult::Done(Box::new(run_data(outcome(12.5)))),
            RunResult::Failed("more than 5 packets".into()),
        ] {
            let text = serde_json::to_string(&result).unwrap();
            assert_eq!(serde_json::from_str::<RunResult>(&text).unwrap(), result);
        }
    }
}
