//! Runs the downloads and summarises what each transport did.

use super::lineup::{Availability, Candidate};
use super::path::NetworkPath;
use crate::Error;
use bentpipe_outcome::Outcome;
use bentpipe_sim::{Options, Simulation, Unobserved};
use bentpipe_study::stats::Summary;
use bentpipe_units::Duration;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What one transport did over all runs. The units stand in the names.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TransportResult {
    /// Name of the transport.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// How far it is from being used.
    pub availability: Availability,
    /// Commands that switch it on.
    pub switch: Vec<String>,
    /// Transfer times in seconds of the downloads that ended; `None` if none
    /// did.
    pub times: Option<Summary>,
    /// Downloads that did not end.
    pub unfinished: usize,
    /// Mean over the runs of size / transfer time, bit/s; 0 if none ended.
    pub goodput_bps: f64,
    /// The bound's time / the mean time; 0 if none ended.
    pub share_of_ideal: f64,
    /// Packets sent again / packets sent, over all runs.
    pub resent_share: f64,
    /// Retransmission timeouts per download.
    pub timeouts_per_transfer: f64,
    /// Packets dropped by the queue before the link, per download.
    pub queue_drops_per_transfer: f64,
    /// 95th percentile of the delay that packets of other flows would meet in
    /// the queue before the link, seconds; mean over the runs.
    pub p95_queueing_delay_s: f64,
    /// Largest congestion window, segments; mean over the runs.
    pub max_cwnd: f64,
}

/// What one run adds to a [`TransportResult`].
struct Sample {
    time: Option<f64>,
    sent: u64,
    resent: u64,
    timeouts: u64,
    queue_drops: u64,
    p95_queueing_delay: f64,
    max_cwnd: f64,
}

impl Sample {
    fn of(outcome: &Outcome) -> Sample {
        let flow = outcome.flows.first();
        let link = outcome.links.first();
        Sample {
            time: flow.and_then(|f| f.transfer_time).map(Duration::as_secs),
            sent: flow.map_or(0, |f| f.packets_sent),
            resent: flow.map_or(0, |f| f.retransmissions),
            timeouts: flow.map_or(0, |f| f.timeouts),
            queue_drops: link.map_or(0, |l| l.queue_drops),
            p95_queueing_delay: link.map_or(0.0, |l| l.p95_queueing_delay.as_secs()),
            max_cwnd: flow.map_or(0.0, |f| f.max_cwnd),
        }
    }
}

/// One download of each candidate, once with each seed; `ideal` is the time of
/// the bound.
pub(super) fn downloads(
    path: &NetworkPath,
    candidates: &[Candidate],
    seeds: &[u64],
    ideal: Duration,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<TransportResult>, Error> {
    let cells: Vec<(&Candidate, u64)> = candidates
        .iter()
        .flat_map(|c| seeds.iter().map(move |s| (c, *s)))
        .collect();
    let done = AtomicUsize::new(0);
    let samples: Vec<Sample> = cells
        .par_iter()
        .map(|(candidate, seed)| {
            let sample = one(path, &[candidate], &seeded(*seed)).map(|o| Sample::of(&o));
            progress(1 + done.fetch_add(1, Ordering::Relaxed), cells.len());
            sample
        })
        .collect::<Result<_, _>>()?;
    let per_candidate = samples.chunks(seeds.len().max(1));
    Ok(candidates
        .iter()
        .zip(per_candidate)
        .map(|(c, s)| summarise(path, c, s, ideal))
        .collect())
}

fn seeded(seed: u64) -> Options {
    Options {
        seed,
        ..Options::default()
    }
}

/// One run, with a download of each of `candidates`.
pub(super) fn one(
    path: &NetworkPath,
    candidates: &[&Candidate],
    options: &Options,
) -> Result<Outcome, Error> {
    let transports: Vec<_> = candidates.iter().map(|c| &c.transport).collect();
    let scenario = path.scenario(&transports)?;
    let mut own = candidates.iter().map(|c| c.own.as_ref());
    let run = Simulation::with(&scenario, options, |_| {
        own.next().flatten().map(|own| own.controller())
    });
    run.and_then(|run| run.run(&mut Unobserved))
        .map_err(|source| Error::Run {
            of: candidates
                .last()
                .map_or_else(String::new, |c| c.name.clone()),
            source,
        })
}

fn summarise(
    path: &NetworkPath,
    candidate: &Candidate,
    samples: &[Sample],
    ideal: Duration,
) -> TransportResult {
    let count = samples.len().max(1) as f64;
    let finished: Vec<f64> = samples.iter().filter_map(|s| s.time).collect();
    let times = Summary::of(&finished);
    let bits = path.size.as_f64() * 8.0;
    let goodputs = finished.iter().map(|t| bits / t).sum::<f64>();
    let total = |f: fn(&Sample) -> u64| samples.iter().map(f).sum::<u64>() as f64;
    let mean = |f: fn(&Sample) -> f64| samples.iter().map(f).sum::<f64>() / count;
    TransportResult {
        name: candidate.name.clone(),
        about: candidate.about.clone(),
        availability: candidate.availability,
        switch: candidate.switch.clone(),
        times,
        unfinished: samples.len() - finished.len(),
        goodput_bps: goodputs / (finished.len().max(1) as f64),
        share_of_ideal: times.map_or(0.0, |t| ideal.as_secs() / t.mean),
        resent_share: total(|s| s.resent) / total(|s| s.sent).max(1.0),
        timeouts_per_transfer: total(|s| s.timeouts) / count,
        queue_drops_per_transfer: total(|s| s.queue_drops) / count,
        p95_queueing_delay_s: mean(|s| s.p95_queueing_delay),
        max_cwnd: mean(|s| s.max_cwnd),
    }
}

/// What happens to a download of the default when another shares the link.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sharing {
    /// Transfer times, seconds, beside a second download of the default.
    pub beside_default: Summary,
    /// Transfer times, seconds, beside a download of the other transport.
    pub beside_other: Summary,
}

/// Two downloads side by side: the default beside itself, and beside `other`.
/// `None` if some did not end.
pub(super) fn sharing(
    path: &NetworkPath,
    default: &Candidate,
    other: &Candidate,
    seeds: &[u64],
) -> Result<Option<Sharing>, Error> {
    let beside = |neighbour: &Candidate| -> Result<Option<Summary>, Error> {
        let times: Vec<f64> = seeds
            .par_iter()
            .map(|seed| one(path, &[default, neighbour], &seeded(*seed)))
            .collect::<Result<Vec<Outcome>, _>>()?
            .iter()
            .filter_map(|o| o.flows.first()?.transfer_time.map(Duration::as_secs))
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
