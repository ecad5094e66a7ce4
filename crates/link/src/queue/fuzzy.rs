//! Fuzzy marking: a fuzzy-logic controller sets the probability at which a queue
//! marks, by its length and by how fast that changes; and BECN, a queue whose
//! notifications go straight back to the sender.
//!
//! Source: C. Nyirenda and D. Dawoud, *A Fuzzy Logic Based Dual Explicit
//! Congestion Notification Mechanism for Satellite TCP/IP Networks*, EUROCON
//! 2007, which J. Salamanca's thesis (2008, section 4.2) names as future work. We
//! read its abstract, and that of the authors' paper of 2009: marks forward (ECN)
//! and messages backward (BECN, ICMP source quench) together, the latter at
//! extreme congestion only, and a decay function over the round trip that keeps
//! their number down. What follows is our reading.
//!
//! Every `period` the controller reads two inputs:
//!
//! - the **level**: what waits, as a share of the limit;
//! - the **change** of the level since the last period, as a share of `swing`,
//!   cut off at -1 and 1.
//!
//! Five triangular sets cover each, with their peaks at 0, 1/4, 1/2, 3/4, 1 (level)
//! and -1, -1/2, 0, 1/2, 1 (change). The rule for two sets is a probability; the
//! result is their mean, weighted by the product of the two memberships. The
//! default rules, in per cent, rows by level and columns by change:
//!
//! | | falls fast | falls | stays | rises | rises fast |
//! |---|---|---|---|---|---|
//! | empty | 0 | 0 | 0 | 0 | 0 |
//! | low | 0 | 0 | 0 | 1 | 2 |
//! | medium | 0 | 1 | 2 | 5 | 10 |
//! | high | 2 | 5 | 10 | 20 | 40 |
//! | full | 10 | 20 | 40 | 70 | 100 |
//!
//! | parameter | default | |
//! |---|---|---|
//! | `period` | 10 ms | between two readings of the queue |
//! | `swing` | 0.05 | change of the level in a period that counts as fast |
//! | `rules` | the table above | 25 probabilities |
//! | `severe` | 10% | `becn`: probability from which the notification goes backward |
//! | `quiet` | 600 ms | `becn`: the round trip of the decay |
//!
//! A packet that is chosen is marked if it is ECN-capable and dropped otherwise. The queue `becn`
//! marks it below `severe`. From `severe` on it sends the sender a message instead, and the packet
//! continues without a mark. After a message to a connection the probability of the next one to it
//! rises linearly from 0 to the full value over `quiet`. With `severe` 0 all notifications go
//! backward.
//!
//! The message enters the network at the queue's own node and needs no receiver:
//! it is half a round trip early, and more where the queue is near the sender.
//! What the sender does is its host stack's: the stack of the RFCs takes it for an
//! ECN echo, once in a window of data; Linux and ns-2 ignore it, as hosts do since
//! RFC 6633 deprecated source quench.
//!
//! Worked examples: level 0.5, no change: 2%. Level 0.625, change half of `swing`:
//! half way between the rules of medium and high for a rising queue, 12.5%.

use super::fifo::{AdmissionRule, FifoRule};
use super::{Decision, QueueContext, QueueKind, QueueState};
use crate::{Limit, PacketMeta};
use bentpipe_random::Stream;
use bentpipe_units::{Duration, Time};

/// Sets that cover an input.
const SETS: usize = 5;

/// Probabilities by level (rows) and change of the level (columns), 0 to 1.
pub type FuzzyRules = [[f64; SETS]; SETS];

/// Parameters of a queue that marks by fuzzy logic.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct FuzzySettings {
    /// How much may wait.
    pub limit: Limit,
    /// Time between two readings of the queue.
    pub period: Duration,
    /// Change of the level, from 0 to 1, that counts as fast.
    pub swing: f64,
    /// The rule base: an output for each pair of inputs.
    pub rules: FuzzyRules,
}

impl FuzzySettings {
    /// The default rule base of the controller.
    pub const RULES: FuzzyRules = [
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.01, 0.02],
        [0.0, 0.01, 0.02, 0.05, 0.1],
        [0.02, 0.05, 0.1, 0.2, 0.4],
        [0.1, 0.2, 0.4, 0.7, 1.0],
    ];

    /// The defaults with this limit.
    #[must_use]
    pub const fn new(limit: Limit) -> FuzzySettings {
        FuzzySettings {
            limit,
            period: Duration::from_millis(10),
            swing: 0.05,
            rules: FuzzySettings::RULES,
        }
    }

    /// The probability of a notification at this level, and at this change of it
    /// as a share of `swing`.
    #[must_use]
    pub fn probability(&self, level: f64, change: f64) -> f64 {
        let (level, change) = (memberships(level), memberships((change + 1.0) / 2.0));
        let rows = level.iter().zip(&self.rules);
        rows.map(|(of_level, row)| {
            let cells = change.iter().zip(row);
            of_level * cells.map(|(of_change, p)| of_change * p).sum::<f64>()
        })
        .sum()
    }
}

/// How much `x`, from 0 to 1, belongs to each of the sets; the sum is 1.
fn memberships(x: f64) -> [f64; SETS] {
    let mut all = [0.0; SETS];
    let x = x.clamp(0.0, 1.0) * (SETS - 1) as f64;
    // Truncation is the floor of what is not negative.
    let below = (x as usize).min(SETS - 2);
    let above = x - below as f64;
    all[below] = 1.0 - above;
    all[below + 1] = above;
    all
}

impl QueueKind for FuzzySettings {
    fn name(&self) -> &'static str {
        "fuzzy"
    }

    fn limit(&self) -> Limit {
        self.limit
    }
}

/// Parameters of a queue whose notifications go back to the sender.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct BecnSettings {
    /// How the probability of a notification follows from the queue.
    pub fuzzy: FuzzySettings,
    /// Probability from which a notification goes backward; below, the packet is
    /// marked.
    pub severe: f64,
    /// The decay of the probability of the next message to a connection.
    pub quiet: Duration,
}

impl QueueKind for BecnSettings {
    const SIMULATED_ONLY: Option<&'static str> =
        Some("notifies senders backward (BECN), which is simulated only");
    const NOTIFIES: bool = true;

    fn name(&self) -> &'static str {
        "BECN"
    }

    fn limit(&self) -> Limit {
        self.fuzzy.limit
    }
}

/// The fuzzy-logic controller of one queue.
#[derive(Clone, Debug)]
pub(crate) struct Fuzzy {
    settings: FuzzySettings,
    stream: Stream,
    probability: f64,
    /// The level at the last reading, and when the next is due.
    level: f64,
    due: Time,
}

impl Fuzzy {
    fn with_settings(settings: FuzzySettings, link: &QueueContext<'_>) -> Fuzzy {
        Fuzzy {
            settings,
            stream: Stream::new(link.seed, &format!("fuzzy {}", link.name)),
            probability: 0.0,
            level: 0.0,
            due: Time::ZERO,
        }
    }

    /// Reads the queue if a period has passed.
    fn read(&mut self, state: QueueState) {
        if state.now < self.due {
            return;
        }
        let level = match self.settings.limit {
            Limit::Packets(n) => state.packets as f64 / f64::from(n.max(1)),
            Limit::Bytes(n) => state.bytes as f64 / n.as_f64().max(1.0),
        };
        let swing = self.settings.swing.max(f64::MIN_POSITIVE);
        let change = ((level - self.level) / swing).clamp(-1.0, 1.0);
        self.probability = self.settings.probability(level, change);
        self.level = level;
        self.due = state.now + self.settings.period;
    }

    fn has_room(&self, state: QueueState, meta: PacketMeta) -> bool {
        let limit = self.settings.limit;
        state.is_served_at_once() || limit.admits(state.packets, state.bytes, meta.bytes)
    }
}

impl AdmissionRule for Fuzzy {
    type Settings = FuzzySettings;

    fn new(settings: &FuzzySettings, link: &QueueContext<'_>) -> Fuzzy {
        Fuzzy::with_settings(*settings, link)
    }

    fn decide(&mut self, state: QueueState, meta: PacketMeta) -> Decision {
        self.read(state);
        if !self.has_room(state, meta) {
            return Decision::DropForced;
        }
        match (self.stream.chance(self.probability), meta.ecn_capable) {
            (false, _) => Decision::Accept,
            (true, true) => Decision::Mark,
            (true, false) => Decision::DropEarly,
        }
    }
}

impl<P: Copy> FifoRule<P> for Fuzzy {}

/// Connections that are remembered; more share a place.
const PLACES: usize = 1024;

/// The controller of a queue that notifies backward.
#[derive(Clone, Debug)]
pub(crate) struct Becn {
    fuzzy: Fuzzy,
    severe: f64,
    quiet: Duration,
    /// When the last message went to a connection, by its number.
    notified: Vec<Option<Time>>,
}

impl Becn {
    /// The part of the probability that the last message to `flow` leaves.
    fn decay(&self, now: Time, flow: u32) -> f64 {
        match self.notified[flow as usize % PLACES] {
            Some(at) if now.since(at) < self.quiet => {
                now.since(at).as_secs() / self.quiet.as_secs()
            }
            _ => 1.0,
        }
    }
}

impl AdmissionRule for Becn {
    type Settings = BecnSettings;

    fn new(settings: &BecnSettings, link: &QueueContext<'_>) -> Becn {
        Becn {
            fuzzy: Fuzzy::with_settings(settings.fuzzy, link),
            severe: settings.severe,
            quiet: settings.quiet,
            notified: vec![None; PLACES],
        }
    }

    fn decide(&mut self, state: QueueState, meta: PacketMeta) -> Decision {
        self.fuzzy.read(state);
        if self.fuzzy.probability < self.severe || !meta.ecn_capable {
            return self.fuzzy.decide(state, meta);
        }
        if !self.fuzzy.has_room(state, meta) {
            return Decision::DropForced;
        }
        let p = self.fuzzy.probability * self.decay(state.now, meta.flow);
        if !self.fuzzy.stream.chance(p) {
            return Decision::Accept;
        }
        self.notified[meta.flow as usize % PLACES] = Some(state.now);
        Decision::Notify
    }
}

impl<P: Copy> FifoRule<P> for Becn {}

#[cfg(test)]
#[path = "fuzzy_tests.rs"]
mod tests;
