//! Runs the downloads and sums up what each transport did.

use super::lineup::{Candidate, Reach};
use super::setup::Path;
use crate::exit::Failure;
use crate::progress::Progress;
use bentpipe_outcome::Outcome;
use bentpipe_sim::{Options, run};
use bentpipe_study::stats::Summary;
use bentpipe_tcp::Transport;
use rayon::prelude::*;

/// What one transport did over all runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measured {
    /// Its name.
    pub(crate) name: String,
    /// What it is.
    pub(crate) about: String,
    /// How far it is from being used.
    pub(crate) reach: Reach,
    /// How it is switched on.
    pub(crate) switch: Vec<String>,
    /// Transfer times in seconds of the downloads that ended; `None` if none
    /// did.
    pub(crate) times: Option<Summary>,
    /// Downloads that did not end.
    pub(crate) unfinished: usize,
    /// Mean over the runs of size / transfer time, bit/s; 0 if none ended.
    pub(crate) goodput: f64,
    /// The bound's time / the mean time; 0 if none ended.
    pub(crate) of_ideal: f64,
    /// Packets sent again / packets sent, over all runs.
    pub(crate) resent: f64,
    /// Timeouts per download.
    pub(crate) timeouts: f64,
    /// Packets dropped by the queue before the link, per download.
    pub(crate) queue_drops: f64,
    /// 95th percentile of the wait that others would meet at the link,
    /// seconds; mean over the runs.
    pub(crate) others_wait: f64,
    /// Largest window, segments; mean over the runs.
    pub(crate) max_window: f64,
}

/// What one run adds to [`Measured`].
struct Sample {
    time: Option<f64>,
    sent: u64,
    resent: u64,
    timeouts: u64,
    queue_drops: u64,
    others_wait: f64,
    max_window: f64,
}

impl Sample {
    fn of(outcome: &Outcome) -> Sample {
        let flow = outcome.flows.first();
        let link = outcome.links.first();
        Sample {
            time: flow.and_then(|f| f.transfer_time).map(|t| t.as_secs()),
            sent: flow.map_or(0, |f| f.packets_sent),
            resent: flow.map_or(0, |f| f.retransmissions),
            timeouts: flow.map_or(0, |f| f.timeouts),
            queue_drops: link.map_or(0, |l| l.queue_drops),
            others_wait: link.map_or(0.0, |l| l.p95_queueing_delay.as_secs()),
            max_window: flow.map_or(0.0, |f| f.max_cwnd),
        }
    }
}

/// One download of `candidates` each, `runs` times; `ideal` is the bound's time
/// in seconds.
pub(crate) fn downloads(
    path: &Path,
    candidates: &[Candidate],
    seeds: &[u64],
    ideal: f64,
) -> Result<Vec<Measured>, Failure> {
    let progress = Progress::new("downloads", (candidates.len() * seeds.len()) as u64);
    let cells: Vec<(&Candidate, u64)> = candidates
        .iter()
        .flat_map(|c| seeds.iter().map(move |s| (c, *s)))
        .collect();
    let samples: Vec<Sample> = cells
        .par_iter()
        .map(|(candidate, seed)| {
            let sample = one(path, &[&candidate.transport], *seed).map(|o| Sample::of(&o));
            progress.add(1);
            sample.map_err(|e| Failure::new(format!("{}: {e}", candidate.name)))
        })
        .collect::<Result<_, _>>()?;
    let per_candidate = samples.chunks(seeds.len().max(1));
    Ok(candidates
        .iter()
        .zip(per_candidate)
        .map(|(c, s)| sum_up(path, c, s, ideal))
        .collect())
}

fn one(
    path: &Path,
    transports: &[&Transport],
    seed: u64,
) -> Result<Outcome, bentpipe_sim::RunError> {
    run(
        &path.scenario(transports),
        &Options {
            seed,
            ..Options::default()
        },
    )
}

fn sum_up(path: &Path, candidate: &Candidate, samples: &[Sample], ideal: f64) -> Measured {
    let count = samples.len().max(1) as f64;
    let finished: Vec<f64> = samples.iter().filter_map(|s| s.time).collect();
    let times = Summary::of(&finished);
    let bits = path.size.as_f64() * 8.0;
    let goodputs = finished.iter().map(|t| bits / t).sum::<f64>();
    let total = |f: fn(&Sample) -> u64| samples.iter().map(f).sum::<u64>() as f64;
    let mean = |f: fn(&Sample) -> f64| samples.iter().map(f).sum::<f64>() / count;
    Measured {
        name: candidate.name.clone(),
        about: candidate.about.clone(),
        reach: candidate.reach,
        switch: candidate.switch.clone(),
        times,
        unfinished: samples.len() - finished.len(),
        goodput: goodputs / (finished.len().max(1) as f64),
        of_ideal: times.map_or(0.0, |t| ideal / t.mean),
        resent: total(|s| s.resent) / total(|s| s.sent).max(1.0),
        timeouts: total(|s| s.timeouts) / count,
        queue_drops: total(|s| s.queue_drops) / count,
        others_wait: mean(|s| s.others_wait),
        max_window: mean(|s| s.max_window),
    }
}

/// What happens to a download of the default when another shares the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sharing {
    /// Seconds beside a second download of the default.
    pub(crate) beside_default: Summary,
    /// Seconds beside a download of the other transport.
    pub(crate) beside_other: Summary,
}

/// Two downloads side by side: the default beside itself, and beside `other`.
/// `None` if some did not end.
pub(crate) fn sharing(
    path: &Path,
    default: &Transport,
    other: &Transport,
    seeds: &[u64],
) -> Result<Option<Sharing>, Failure> {
    let beside = |neighbour: &Transport| -> Result<Option<Summary>, Failure> {
        let times: Vec<f64> = seeds
            .par_iter()
            .map(|seed| one(path, &[default, neighbour], *seed))
            .collect::<Result<Vec<Outcome>, _>>()
            .map_err(|e| Failure::new(e.to_string()))?
            .iter()
            .filter_map(|o| o.flows.first()?.transfer_time.map(|t| t.as_secs()))
            .collect();
        Ok(if times.len() == seeds.len() {
            Summary::of(&times)
        } else {
            None
        })
    };
    let (a, b) = (beside(default)?, beside(other)?);
    Ok(a.zip(b).map(|(beside_default, beside_other)| Sharing {
        beside_default,
        beside_other,
    }))
}
