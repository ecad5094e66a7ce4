//! PIE: proportional integral controller enhanced.
//!
//! Drops arriving packets with a probability that follows the queueing delay: every `update` it
//! rises with how far the delay is above `target` and with how much it has grown since.
//!
//! Source: RFC 8033. Sections 4.1 (random dropping), 4.2 (drop probability), 4.3 (latency, by the
//! timestamp of the packet that left last) and 4.4 (burst tolerance); of the optional elements 5.1
//! (ECN) and 5.5 (cap of the adjustment). Not included: 5.2 (estimate of the departure rate, which
//! timestamps make needless), 5.3 (switching PIE off) and 5.4 (derandomisation).
//!
//! | parameter | default | in the RFC |
//! |---|---|---|
//! | `target` | 15 ms | QDELAY_REF |
//! | `update` | 15 ms | T_UPDATE |
//! | `burst` | 150 ms | MAX_BURST |
//! | `alpha`, `beta` | 0.125, 1.25 per s | the same |
//! | `mtu` | 1500 B | MEAN_PKTSIZE, without a value |
//!
//! What the RFC leaves open, with the reading chosen:
//! - The delay of an empty queue is zero, as in Linux' `sch_pie`: no packet leaves it that would
//!   say so.
//! - The allowance for a burst is renewed at updates, as in `sch_pie`; appendix A renews it at
//!   arrivals. Updates are at the multiples of `update`.
//! - The probability decays when both delays are zero (section 4.2, appendix A); appendix B says
//!   below half the target.
//!
//! Example: from a probability of zero and a delay of 15 ms, a delay of 30 ms adds
//! (0.125 x 0.015 + 1.25 x 0.015) / 2048 = 1.007e-5 (section 4.2: the smaller the probability, the
//! smaller its steps).

use super::fifo::{AdmissionRule, Fifo, FifoRule, Waiter};
use super::{Decision, QueueContext, QueueEvents, QueueKind, QueueState};
use crate::{Limit, PacketMeta};
use bentpipe_random::Stream;
use bentpipe_units::{Bytes, Duration, Time};

/// Parameters of a PIE queue.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct PieSettings {
    /// How much may wait, whatever the delay.
    pub limit: Limit,
    /// The queueing delay that the controller aims at.
    pub target: Duration,
    /// Time between two changes of the probability.
    pub update: Duration,
    /// For how long a burst after a quiet time is let through.
    pub burst: Duration,
    /// Weight of the delay above the target at an update: probability per second.
    pub alpha: f64,
    /// Weight of the delay's growth since the last update: probability per second.
    pub beta: f64,
    /// Nothing is dropped early while not more than two of this wait.
    pub mtu: Bytes,
    /// Marks ECN-capable packets instead of dropping them, up to a probability of 10%.
    pub ecn: bool,
}

impl PieSettings {
    /// RFC 8033's values with this limit.
    #[must_use]
    pub const fn new(limit: Limit) -> PieSettings {
        PieSettings {
            limit,
            target: Duration::from_millis(15),
            update: Duration::from_millis(15),
            burst: Duration::from_millis(150),
            alpha: 0.125,
            beta: 1.25,
            mtu: Bytes::new(1500),
            ecn: false,
        }
    }
}

impl QueueKind for PieSettings {
    fn name(&self) -> &'static str {
        "PIE"
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn segment_limit(&mut self) -> Option<&mut Limit> {
        Some(&mut self.limit)
    }
}

/// Probability from which packets are dropped that would be marked (section 5.1).
const MARK_BELOW: f64 = 0.1;

/// Section 4.2: what a step is divided by, from which probability on.
const STEPS: [(f64, f64); 6] = [
    (0.1, 1.0),
    (0.01, 2.0),
    (0.001, 8.0),
    (0.0001, 32.0),
    (0.00001, 128.0),
    (0.000_001, 512.0),
];

/// Updates at most between two packets, a quarter of an hour by default: after them the
/// probability stays.
const MOST_UPDATES: u32 = 1 << 16;

/// The controller of one queue.
#[derive(Clone, Debug)]
pub(crate) struct Pie {
    settings: PieSettings,
    stream: Stream,
    probability: f64,
    /// The delay now, and at the last update.
    delay: Duration,
    old_delay: Duration,
    /// What is left of the allowance for a burst.
    burst: Duration,
    /// When the probability changes next.
    due: Time,
}

impl Pie {
    /// Changes the probability as often as it was due by `now`.
    fn advance(&mut self, now: Time) {
        let update = self.settings.update.max(Duration::from_nanos(1));
        let mut changes = 0;
        while self.due <= now && changes < MOST_UPDATES && !self.rests() {
            self.change(update);
            self.due += update;
            changes += 1;
        }
        if self.due <= now {
            let missed = now.since(self.due).as_nanos() / update.as_nanos();
            self.due += update * (missed + 1);
        }
    }

    /// True if updates change nothing until a packet waits.
    fn rests(&self) -> bool {
        self.probability == 0.0
            && self.delay.is_zero()
            && self.old_delay.is_zero()
            && self.burst == self.settings.burst
    }

    /// Sections 4.2 and 4.4: an update.
    fn change(&mut self, update: Duration) {
        let PieSettings {
            target,
            alpha,
            beta,
            burst,
            ..
        } = self.settings;
        let (delay, old) = (self.delay.as_secs(), self.old_delay.as_secs());
        let change = alpha * (delay - target.as_secs()) + beta * (delay - old);
        let divisor = STEPS.iter().find(|(from, _)| self.probability >= *from);
        let mut change = change / divisor.map_or(2048.0, |(_, divisor)| *divisor);
        if self.probability >= 0.1 {
            // Section 5.5.
            change = change.min(0.02);
        }
        let mut probability = self.probability + change;
        if self.delay.is_zero() && self.old_delay.is_zero() {
            probability *= 0.98;
        }
        self.probability = probability.clamp(0.0, 1.0);
        let half = target / 2;
        let short = self.delay < half && self.old_delay < half;
        self.burst = match self.probability == 0.0 && short {
            true => burst,
            false => self.burst.saturating_sub(update),
        };
        self.old_delay = self.delay;
    }

    /// Section 4.1: whether a packet that finds `state` is dropped or marked.
    fn hits(&mut self, state: QueueState) -> bool {
        let short = self.old_delay < self.settings.target / 2 && self.probability < 0.2;
        let few = state.bytes <= self.settings.mtu.get().saturating_mul(2);
        let spared = !self.burst.is_zero() || short || few;
        !spared && self.stream.chance(self.probability)
    }
}

impl AdmissionRule for Pie {
    type Settings = PieSettings;

    fn new(settings: &PieSettings, link: &QueueContext<'_>) -> Pie {
        Pie {
            settings: *settings,
            stream: Stream::new(link.seed, &format!("pie {}", link.name)),
            probability: 0.0,
            delay: Duration::ZERO,
            old_delay: Duration::ZERO,
            burst: settings.burst,
            due: Time::ZERO + settings.update,
        }
    }

    fn decide(&mut self, state: QueueState, meta: PacketMeta) -> Decision {
        self.advance(state.now);
        let room = state.drop_tail(self.settings.limit, meta);
        if state.is_served_at_once() || !room.accepts() || !self.hits(state) {
            return room;
        }
        match self.settings.ecn && meta.ecn_capable && self.probability < MARK_BELOW {
            true => Decision::Mark,
            false => Decision::DropEarly,
        }
    }
}

impl<P: Copy> FifoRule<P> for Pie {
    fn take(
        &mut self,
        fifo: &mut Fifo<P>,
        now: Time,
        _: &mut QueueEvents<'_, P>,
    ) -> Option<Waiter<P>> {
        self.advance(now);
        let waiter = fifo.pop();
        // Section 4.3.
        self.delay = match waiter {
            Some(waiter) if fifo.packets() > 0 => now.since(waiter.entered),
            _ => Duration::ZERO,
        };
        waiter
    }
}

#[cfg(test)]
#[path = "pie_tests.rs"]
mod tests;
