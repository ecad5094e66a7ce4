//! What was measured in a part of a run.

use super::Part;
use crate::compare::Answer;
use crate::recording::Recording;
use bentpipe_outcome::SenderSample;
use bentpipe_sim::LossCause;
use bentpipe_units::{Bytes, Duration, Time};
use std::collections::BTreeMap;

/// Values over a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Range {
    /// The first one.
    pub first: f64,
    /// The last one.
    pub last: f64,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// The mean over time, each value held until the next.
    pub mean: f64,
}

/// What was measured in an act. Packets that are lost or sent are the user's; the
/// queue and the link are everybody's.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Facts {
    /// Congestion window, segments; `None` without a sample.
    pub cwnd: Option<Range>,
    /// When it was largest.
    pub widest_at: Option<Time>,
    /// Segments in flight.
    pub flight: Option<Range>,
    /// Slow start threshold at the end, segments; `None` while it is infinite.
    pub ssthresh: Option<f64>,
    /// RTT samples, seconds.
    pub rtt: Option<Range>,
    /// Packets before the link.
    pub queue: Option<Range>,
    /// Segments lost, by cause.
    pub lost: BTreeMap<LossCause, u64>,
    /// When the first and the last of them were lost.
    pub lost_between: Option<[Time; 2]>,
    /// Acknowledgements lost.
    pub lost_acks: u64,
    /// Segments sent again.
    pub resent: u64,
    /// Retransmission timeouts.
    pub timeouts: Vec<Time>,
    /// Payload that the user received in order.
    pub received: Bytes,
    /// Share of the time that the link was busy; `None` of times shorter than its
    /// delay.
    pub busy: Option<f64>,
}

impl Facts {
    /// Segments lost in all.
    #[must_use]
    pub fn lost_in_all(&self) -> u64 {
        self.lost.values().sum()
    }
}

/// What was measured in `part`.
pub(super) fn of(recording: &Recording, answer: &Answer, part: &Part) -> Facts {
    let samples = &recording.series.sender[part.first..part.last];
    let inside = |at: Time| at >= part.from && (at < part.to || at == recording.end());
    let of = |value: fn(&SenderSample) -> f64| {
        let values = samples.iter().map(|s| (s.at, value(s)));
        range(values.filter(|(_, v)| v.is_finite()), part)
    };
    let rtts = samples.iter().filter(|s| !s.rtt.is_zero());
    let queue = recording.queue.iter().filter(|(at, _)| inside(*at));
    let mut facts = Facts {
        cwnd: of(|s| s.cwnd),
        flight: of(|s| s.flight),
        rtt: range(rtts.map(|s| (s.at, s.rtt.as_secs())), part),
        queue: range(queue.map(|(at, n)| (*at, *n as f64)), part),
        ssthresh: samples.last().map(|s| s.ssthresh).filter(|s| s.is_finite()),
        lost_acks: recording.lost_acks.iter().filter(|at| inside(**at)).count() as u64,
        resent: recording.resent.iter().filter(|r| inside(r.at)).count() as u64,
        busy: recording.busy(answer, part.from, part.to),
        ..Facts::default()
    };
    let widest = samples
        .iter()
        .fold(None, |found: Option<&SenderSample>, s| match found {
            Some(best) if best.cwnd >= s.cwnd => Some(best),
            _ => Some(s),
        });
    facts.widest_at = widest.map(|s| s.at);
    let timeouts = recording.timeouts.iter().copied();
    facts.timeouts = timeouts.filter(|at| inside(*at)).collect();
    for loss in recording.losses.iter().filter(|loss| inside(loss.at)) {
        *facts.lost.entry(loss.cause).or_default() += 1;
        let between = facts.lost_between.get_or_insert([loss.at; 2]);
        *between = [between[0].min(loss.at), between[1].max(loss.at)];
    }
    let received = |at: Time| {
        let place = recording
            .series
            .delivered
            .partition_point(|(t, _)| *t <= at);
        let last = place
            .checked_sub(1)
            .map(|i| recording.series.delivered[i].1);
        last.unwrap_or_default().get()
    };
    facts.received = Bytes::new(received(part.to).saturating_sub(received(part.from)));
    facts
}

/// The values of a part, each held until the next or the end.
fn range(values: impl Iterator<Item = (Time, f64)>, part: &Part) -> Option<Range> {
    let mut found: Option<Range> = None;
    let mut weighted = 0.0;
    let mut held: Option<(Time, f64)> = None;
    let mut begins = part.from;
    let lasting = |from: Time, to: Time| to.since(from.max(part.from)).as_secs();
    for (at, value) in values {
        match &mut found {
            None => {
                begins = at.max(part.from);
                found = Some(Range {
                    first: value,
                    last: value,
                    least: value,
                    most: value,
                    mean: value,
                });
            }
            Some(range) => {
                range.last = value;
                range.least = range.least.min(value);
                range.most = range.most.max(value);
            }
        }
        if let Some((since, before)) = held.replace((at, value)) {
            weighted += before * lasting(since, at);
        }
    }
    let (mut range, (since, last)) = (found?, held?);
    weighted += last * lasting(since, part.to.max(since));
    let all: Duration = part.to.max(since).since(begins);
    if !all.is_zero() {
        range.mean = weighted / all.as_secs();
    }
    Some(range)
}
