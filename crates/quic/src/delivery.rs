//! What a link delivers of what a sender paces into it, as a function of what was sent, acknowledged
//! and lost and of the time: nothing here reads a clock.
//!
//! Time is cut into windows of a third of a round trip. In each, what is acknowledged is compared with what
//! was sent a round trip without queues earlier. A link that delivers its rate acknowledges all of it but
//! what it loses by itself. Where much less comes in two windows after one another, and packets are
//! lost that usually are not or the round trip has grown, the link delivers less, and the rate is
//! what came: neither losses nor a longer delay alone change it. A window in which nothing comes is an
//! outage and says nothing.
//!
//! From then on the sender probes: for half a round trip it sends two fifths more. Where all of that
//! arrives and the round trip does not grow, the link has become faster, and three times as much follows,
//! and so on to the ceiling.
//!
//! Rates are bytes of QUIC packets a second.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Least window.
const SHORTEST: Duration = Duration::from_millis(100);
/// Longest window, in windows: a sender that sends less is not judged.
const LONGEST: u32 = 8;
/// Bytes that must be expected of a window: 30 packets, so that chance decides little.
const LEAST: f64 = 45_000.0;
/// What may be missing of a window beside what is usually lost.
const SHORT: f64 = 0.85;
/// Windows that are short, one after another, before the rate is lowered.
const WINDOWS: u32 = 2;
/// Losses beyond the usual that count as more.
const MORE: f64 = 0.10;
/// Most losses that can become usual, and how fast they do.
const MOST_USUAL: f64 = 0.3;
const LEARN: f64 = 0.125;
/// Growth of the round trip that shows a queue, as a part of it and at least.
const QUEUE: (f64, Duration) = (0.125, Duration::from_millis(50));
/// How long acknowledgements may be held back.
const HELD_BACK: Duration = Duration::from_millis(30);
/// How long the least round trip is remembered, once or twice.
const EPOCH: Duration = Duration::from_secs(10);
/// Part of the verified rate that is sent, so that queues drain.
const CRUISE: f64 = 0.92;
/// How much faster the first probe is, and those that follow one that arrived.
const PROBE: f64 = 1.4;
const CLIMB: f64 = 3.0;
/// Part of a probe that must arrive.
const ARRIVES: f64 = 0.92;
/// The link has the rate of a probe where the round trip grows no more than at a link with this part of
/// it.
const STEADY: f64 = 0.85;
/// A sender that uses this part of the rate can probe.
const BUSY: f64 = 0.7;
/// A rate from this part of the ceiling on is the ceiling.
const FULL: f64 = 0.97;
/// A limit is forgotten where the sender has not used it for so long.
const FORGET: Duration = Duration::from_secs(60);
/// No rate is lower: a packet a second.
const LOWEST: f64 = 1_500.0;
/// Resolution of what was sent when.
const GRAIN: Duration = Duration::from_millis(5);

/// The estimator of one association.
#[derive(Debug)]
pub struct Estimator {
    /// What has been sent by when, oldest first.
    history: VecDeque<(Instant, f64)>,
    sent: f64,
    acknowledged: f64,
    lost: f64,
    /// The least round trips of this epoch and the one before.
    least: (Option<Duration>, Option<Duration>),
    epoch: Instant,
    window: Window,
    /// Part of packets that is usually lost.
    usual: f64,
    /// The least round trip of the last window.
    recent: Option<Duration>,
    short: u32,
    limit: Option<Limit>,
}

/// Totals as a window begins.
#[derive(Debug)]
struct Window {
    begin: Instant,
    acknowledged: f64,
    lost: f64,
    /// What should have been acknowledged by then, and what had been sent.
    expected: f64,
    sent: f64,
    /// The least round trip in it.
    rtt: Option<Duration>,
}

/// A rate below the ceiling.
#[derive(Clone, Copy, Debug)]
struct Limit {
    rate: f64,
    stage: Stage,
    /// When the sender last used it.
    used: Instant,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Until then it is not probed.
    Hold(Instant),
    Probes(Probe),
}

/// A time in which more is sent, to see whether it arrives.
#[derive(Clone, Copy, Debug)]
struct Probe {
    pace: f64,
    /// It follows one that arrived.
    climbs: bool,
    begin: Instant,
    /// When it ends; later packets are sent as before.
    end: Instant,
    /// Round trip before it.
    before: Duration,
    /// The least round trip of its second half.
    rtt: Option<Duration>,
    sent: f64,
    acknowledged: f64,
}

impl Probe {
    /// What has come of it: the rate that the link has, as far as it shows, and whether all of it
    /// arrived.
    fn outcome(&self, usual: f64) -> (f64, bool) {
        let half = (self.end - self.begin).as_secs_f64() / 2.0;
        let rtt = self.rtt.unwrap_or(self.before);
        let growth = rtt.saturating_sub(self.before).as_secs_f64();
        // A link that carries so much less than the pace would have made a queue that grows as fast.
        let rate = self.pace / (1.0 + growth / half);
        let part = self.acknowledged / self.sent.max(1.0);
        let arrives = part >= ARRIVES * (1.0 - usual);
        let rate = if arrives {
            rate
        } else {
            rate.min(self.pace * part)
        };
        (rate, arrives && rate >= self.pace * STEADY)
    }
}

impl Estimator {
    /// That of an association which begins now.
    #[must_use]
    pub fn new(now: Instant) -> Estimator {
        Estimator {
            history: VecDeque::new(),
            sent: 0.0,
            acknowledged: 0.0,
            lost: 0.0,
            least: (None, None),
            epoch: now,
            window: Window {
                begin: now,
                acknowledged: 0.0,
                lost: 0.0,
                expected: 0.0,
                sent: 0.0,
                rtt: None,
            },
            usual: 0.0,
            recent: None,
            short: 0,
            limit: None,
        }
    }

    /// The verified rate, where it is below the ceiling.
    pub fn limit(&self) -> Option<f64> {
        self.limit.map(|limit| limit.rate)
    }

    /// The rate to send at at `now`, where that is not the ceiling.
    pub fn pace(&self, now: Instant) -> Option<f64> {
        self.limit.map(|limit| match limit.stage {
            Stage::Probes(probe) if probe.climbs || now < probe.end => probe.pace,
            _ => limit.rate * CRUISE,
        })
    }

    /// Packets were sent.
    pub fn sent(&mut self, now: Instant, bytes: u64) {
        self.sent += bytes as f64;
        match self.history.back_mut() {
            Some((at, total)) if now < *at + GRAIN => *total = self.sent,
            _ => self.history.push_back((now, self.sent)),
        }
        if let Some(Limit {
            stage: Stage::Probes(probe),
            ..
        }) = &mut self.limit
            && now < probe.end
        {
            probe.sent += bytes as f64;
        }
    }

    /// A packet that was sent at `sent` is acknowledged.
    pub fn arrived(&mut self, sent: Instant, bytes: u64) {
        self.acknowledged += bytes as f64;
        if let Some(Limit {
            stage: Stage::Probes(probe),
            ..
        }) = &mut self.limit
            && (probe.begin..probe.end).contains(&sent)
        {
            probe.acknowledged += bytes as f64;
        }
    }

    /// Packets were lost.
    pub fn lost(&mut self, bytes: u64) {
        self.lost += bytes as f64;
    }

    /// An acknowledgement has come, of packets that have [arrived](Estimator::arrived), of which the
    /// newest was sent at `newest`.
    pub fn acknowledged(&mut self, now: Instant, newest: Instant, ceiling: f64) {
        let rtt = now.saturating_duration_since(newest);
        if now >= self.epoch + EPOCH {
            self.epoch = now;
            self.least = (None, self.least.0.or(self.least.1));
        }
        self.least.0 = Some(self.least.0.map_or(rtt, |least| least.min(rtt)));
        let base = self.least.1.map_or(rtt, |least| least.min(rtt));
        let base = self.least.0.map_or(base, |least| least.min(base));
        self.window.rtt = Some(self.window.rtt.map_or(rtt, |least| least.min(rtt)));
        self.judge(now, base, ceiling);
        self.probe(now, newest, base, ceiling);
        if self.limit.is_some_and(|limit| limit.rate >= FULL * ceiling) {
            self.limit = None;
        }
        // A window may last so long, and looks back a round trip.
        let old = (base / 2).max(SHORTEST) * (LONGEST + 1) + base + HELD_BACK;
        while let [_, (next, _), ..] = self.history.make_contiguous()
            && *next + old < now
        {
            self.history.pop_front();
        }
    }

    /// What had been sent by then.
    fn sent_by(&self, at: Instant) -> f64 {
        let after = self.history.partition_point(|(sent, _)| *sent <= at);
        match after.checked_sub(1).and_then(|i| self.history.get(i)) {
            Some((_, total)) => *total,
            // Nothing, or it is older than what is remembered.
            None => 0.0,
        }
    }

    /// Ends the window where it is time, and judges it.
    fn judge(&mut self, now: Instant, base: Duration, ceiling: f64) {
        let length = (base / 3).max(SHORTEST);
        let lasted = now.saturating_duration_since(self.window.begin);
        if lasted < length {
            return;
        }
        let due = now.checked_sub(base + HELD_BACK).unwrap_or(now);
        let expected = self.sent_by(due) - self.window.expected;
        if expected < LEAST && lasted < length * LONGEST {
            return;
        }
        let came = self.acknowledged - self.window.acknowledged;
        let lost = self.lost - self.window.lost;
        let sent = self.sent - self.window.sent;
        let rtt = self.window.rtt.unwrap_or(base);
        self.recent = Some(rtt);
        self.window = Window {
            begin: now,
            acknowledged: self.acknowledged,
            lost: self.lost,
            expected: self.sent_by(due),
            sent: self.sent,
            rtt: None,
        };
        let seconds = lasted.as_secs_f64();
        if let Some(limit) = &mut self.limit {
            if sent >= BUSY * limit.rate * seconds {
                limit.used = now;
            } else if now >= limit.used + FORGET {
                self.limit = None;
            }
        }
        // A window that is too long has had an outage or an idle sender in it.
        if expected < LEAST || lasted >= length * LONGEST {
            self.short = 0;
            return;
        }
        let part = lost / (lost + came).max(1.0);
        let grown = QUEUE.1.max(base.mul_f64(QUEUE.0));
        let queued = rtt > base + HELD_BACK + grown;
        let more = part > self.usual + MORE;
        let short = came < SHORT * (1.0 - self.usual) * expected && (queued || more);
        if !queued {
            let usual = self.usual + LEARN * (part - self.usual);
            self.usual = usual.min(MOST_USUAL);
        }
        self.short = if short { self.short + 1 } else { 0 };
        if self.short >= WINDOWS {
            let rate = (came / seconds).max(LOWEST);
            let now_limited = self.limit.map_or(ceiling, |limit| limit.rate);
            // Where more came than was paced, it was held back before.
            self.limit = Some(Limit {
                rate: rate.min(now_limited),
                stage: Stage::Hold(now + 2 * base),
                used: now,
            });
        }
    }

    /// Begins a probe where it is time, and sees what has come of one.
    fn probe(&mut self, now: Instant, newest: Instant, base: Duration, ceiling: f64) {
        let Some(limit) = &mut self.limit else { return };
        let before = self.window.rtt.into_iter().chain(self.recent).min();
        let next = |rate: f64, factor: f64| {
            Stage::Probes(Probe {
                pace: (rate * factor).min(ceiling),
                climbs: factor > PROBE,
                begin: now,
                end: now + (base / 2).max(SHORTEST),
                before: before.unwrap_or(base),
                rtt: None,
                sent: 0.0,
                acknowledged: 0.0,
            })
        };
        let probe = match &mut limit.stage {
            Stage::Hold(until) => {
                let busy = now.saturating_duration_since(limit.used) < 2 * base + SHORTEST;
                if now >= *until && busy {
                    limit.stage = next(limit.rate, PROBE);
                }
                return;
            }
            Stage::Probes(probe) => probe,
        };
        if newest >= probe.begin + (probe.end - probe.begin) / 2 {
            let rtt = now.saturating_duration_since(newest);
            probe.rtt = Some(probe.rtt.map_or(rtt, |least| least.min(rtt)));
        }
        // What a few packets have overtaken is lost.
        if newest < probe.end + GRAIN {
            return;
        }
        let probe = *probe;
        let length = (probe.end - probe.begin).as_secs_f64();
        let (rate, arrives) = probe.outcome(self.usual);
        limit.stage = if probe.sent < BUSY * probe.pace * length {
            // The sender had less to send, which shows nothing.
            Stage::Hold(now + base)
        } else if arrives {
            limit.rate = probe.pace;
            next(limit.rate, CLIMB)
        } else {
            let rate = rate.clamp(limit.rate * 0.8, probe.pace);
            // One that nearly arrived says little.
            limit.rate = ((limit.rate + rate) / 2.0).max(LOWEST);
            Stage::Hold(now + 2 * base)
        };
    }
}

#[cfg(test)]
mod tests;
