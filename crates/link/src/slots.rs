//! Slots: a path that is another one every so often.
//!
//! Starlink assigns satellites to terminals in slots of 15 s, which start 12, 27, 42 and
//! 57 s after each minute (Mohan et al., "A Multifaceted Look at Starlink Performance",
//! WWW 2024; Tanveer et al., "Making Sense of Constellations", CoNEXT 2023). From slot to
//! slot the path may lead over another satellite, gateway or inter-satellite links: its
//! delay, capacity and losses are drawn anew, and at the change it may carry nothing for a
//! moment. Both directions of a link share their slots, and their delay.
//!
//! The delay of a slot is a level and a difference from it. With probability `stays` the
//! level of the slot before is kept, and is drawn from `delay` otherwise; the difference is
//! normal and drawn for each slot. A process of first order does not describe what was
//! measured: most steps are of a few milliseconds, and the others go anywhere.
//!
//! What is drawn depends on the seed of the run and the name of the link alone. After
//! [`LONGEST`] slots repeat.

pub mod presets;

use crate::jitter::quantile;
use crate::timeline::{Loss, Piece, Timeline};
use bentpipe_random::Stream;
use bentpipe_units::{Duration, Rate, Ratio, Time};
use std::sync::Arc;

/// After this time slots repeat: four hours.
pub const LONGEST: Duration = Duration::from_secs(4 * 3600);

/// How often a delay is looked at that goes in a straight line below the slots.
const STEP: Duration = Duration::from_secs(1);

/// Slots of a link, both ways.
///
/// Distributions are quantiles: ascending values with equally many draws between each two,
/// the first the smallest and the last the largest. An empty one leaves the link as it is.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SlotSettings {
    /// How long a slot lasts.
    pub every: Duration,
    /// When slots begin, from the start of the run; counted modulo `every`.
    pub offset: Duration,
    /// Round-trip delay of a slot above that of the link, half of it each way.
    pub delay: Arc<[Duration]>,
    /// Share of slots with the level of delay of the one before.
    pub stays: Ratio,
    /// Standard deviation of a slot's round trip from its level.
    pub wander: Duration,
    /// Capacity of a slot, as a share of the link's rate; drawn for each way.
    pub rate: Arc<[f64]>,
    /// Share of packets that are lost in a slot, instead of what the channel loses.
    pub loss: Arc<[f64]>,
    /// How long nothing comes through when a slot begins.
    pub interruption: Arc<[Duration]>,
}

/// A direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the first node to the second.
    Forth,
    /// Back.
    Back,
}

/// What is drawn for a slot.
#[derive(Clone, Copy, Debug)]
struct Slot {
    round_trip: Duration,
    share: f64,
    loss: Option<f64>,
    interruption: Duration,
}

/// The random streams of the slots of a link.
struct Draws<'a> {
    settings: &'a SlotSettings,
    delay: Stream,
    rate: Stream,
    loss: Stream,
    interruption: Stream,
    level: Option<f64>,
}

impl<'a> Draws<'a> {
    fn new(settings: &'a SlotSettings, (way, seed, name): (Way, u64, &str)) -> Draws<'a> {
        let own = |process: &str| Stream::new(seed, &format!("slots {process} {name}"));
        Draws {
            settings,
            delay: own("delay"),
            rate: own(match way {
                Way::Forth => "rate forth",
                Way::Back => "rate back",
            }),
            loss: own("loss"),
            interruption: own("interruption"),
            level: None,
        }
    }

    fn next(&mut self, is_first: bool) -> Slot {
        let of = self.settings;
        let nanos = |time: &Duration| time.as_nanos() as f64;
        // As many draws for each slot, so that no slot depends on the one before.
        let (stays, share) = (self.delay.uniform(), self.delay.uniform());
        let difference = self.delay.normal() * nanos(&of.wander);
        let level = match self.level.filter(|_| stays < of.stays.get()) {
            Some(level) => level,
            None => quantile(&of.delay, share, nanos),
        };
        self.level = Some(level);
        let round_trip = Duration::from_nanos((level + difference).max(0.0) as u64);
        let share = self.rate.uniform();
        let loss = self.loss.uniform();
        let interruption = self.interruption.uniform();
        let interruption = match is_first {
            true => Duration::ZERO,
            false => Duration::from_nanos(quantile(&of.interruption, interruption, nanos) as u64),
        };
        Slot {
            round_trip,
            share: match of.rate.is_empty() {
                true => 1.0,
                false => quantile(&of.rate, share, |share| *share),
            },
            loss: (!of.loss.is_empty()).then(|| quantile(&of.loss, loss, |share| *share)),
            interruption: interruption.min(of.every),
        }
    }
}

impl SlotSettings {
    /// Steps of the round trip from slot to slot that are drawn, ms.
    #[must_use]
    pub fn steps(&self, count: usize, seed: u64) -> Vec<f64> {
        let mut draws = Draws::new(self, (Way::Forth, seed, "steps"));
        let mut slot = || draws.next(false).round_trip.as_secs() * 1e3;
        let mut before = slot();
        let step = |_| {
            let next = slot();
            next - std::mem::replace(&mut before, next)
        };
        (0..count).map(step).collect()
    }

    /// Slots of 15 s that start as Starlink's do, in which nothing changes.
    #[must_use]
    pub fn steady() -> SlotSettings {
        SlotSettings {
            every: Duration::from_secs(15),
            offset: Duration::from_secs(12),
            delay: [].into(),
            stays: Ratio::ZERO,
            wander: Duration::ZERO,
            rate: [].into(),
            loss: [].into(),
            interruption: [].into(),
        }
    }

    /// The timeline of one way of the link called `name` in the run with seed `seed`, which
    /// is otherwise as `below`, for `length` from the start; it repeats after that.
    #[must_use]
    pub fn over(
        &self,
        below: &Timeline,
        (way, length): (Way, Duration),
        seed: u64,
        name: &str,
    ) -> Timeline {
        let mut draws = Draws::new(self, (way, seed, name));
        let every = self.every.max(Duration::from_millis(1));
        let first = Duration::from_nanos(self.offset.as_nanos() % every.as_nanos());
        let length = length.min(LONGEST).max(every);
        let end = Time::ZERO + length;
        let mut pieces: Vec<Piece> = Vec::new();
        let mut begin = Time::ZERO;
        let mut until = match first.is_zero() {
            true => begin + every,
            false => begin + first,
        };
        while begin < end {
            let slot = draws.next(begin == Time::ZERO);
            let opens = begin + slot.interruption;
            let mut at = begin;
            while at < until.min(end) {
                let state = below.at(at);
                pieces.push(Piece {
                    from: at,
                    rate: scaled(state.rate, slot.share),
                    one_way_delay: state.one_way_delay + slot.round_trip / 2,
                    sloped: false,
                    loss: match slot.loss.and_then(Ratio::new) {
                        Some(share) => Loss::Packets(share),
                        None => state.loss,
                    },
                    up: state.up && at >= opens,
                    route: state.route,
                    jitter: below.jitter(at),
                });
                let change = below.next_change(at).unwrap_or(Time::MAX);
                let step = match below.is_sloped(at) {
                    true => at + STEP,
                    false => Time::MAX,
                };
                let opening = if at < opens { opens } else { Time::MAX };
                at = until.min(change).min(step).min(opening);
            }
            begin = until;
            until = begin + every;
        }
        let (when_down, in_flight) = below.rules();
        let made = Timeline::new(pieces).and_then(|line| line.repeating(length));
        let made = made.unwrap_or_else(|_| below.clone());
        let made = made.when_down(when_down).in_flight(in_flight);
        match below.opportunities() {
            Some(given) => made.with_opportunities(given.clone()),
            None => made,
        }
    }
}

/// A share of a rate; at least a bit a second where it was above zero.
fn scaled(rate: Rate, share: f64) -> Rate {
    match rate.bps() {
        0 => rate,
        _ => Rate::from_bps_f64((rate.bps_f64() * share).max(1.0)),
    }
}

#[cfg(test)]
#[path = "slots_tests.rs"]
mod tests;
