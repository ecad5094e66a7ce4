//! Scheduling of an association's streams.
//!
//! quinn sends from the streams of the highest priority in turn, a packet each. A stream begins in
//! the upper half of its class and goes to the lower half after 64 KiB: pages and requests overtake
//! bulk, and downloads share the rest equally. So that many small connections do not starve bulk,
//! the upper half as a whole has four fifths of the link; a stream that begins beyond them begins
//! in the lower half.

use super::known::Knowledge;
use crate::config::Urgency;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of a stream that take precedence.
const YOUNG: u64 = 64 * 1024;
/// The part of the link for what goes first.
const PART: f64 = 0.8;
/// What may go first at once after a pause, as time at that rate; at least as many
/// bytes as four streams have.
const DEPTH: Duration = Duration::from_millis(500);
const SMALLEST_DEPTH: f64 = 4.0 * YOUNG as f64;

/// What goes first, over all streams of a box.
#[derive(Debug)]
pub struct Ranks {
    knowledge: Arc<Knowledge>,
    left: Mutex<(f64, Instant)>,
}

impl Ranks {
    /// The ranks of a box that sends into the link of `knowledge`.
    #[must_use]
    pub fn new(knowledge: Arc<Knowledge>) -> Arc<Ranks> {
        Arc::new(Ranks {
            knowledge,
            left: Mutex::new((f64::INFINITY, Instant::now())),
        })
    }

    /// True where so many more bytes may go first.
    fn take(&self, bytes: u64, now: Instant) -> bool {
        let Some(rate) = self.knowledge.rate() else {
            return true;
        };
        let rate = rate.bps_f64() / 8.0 * PART;
        let depth = (rate * DEPTH.as_secs_f64()).max(SMALLEST_DEPTH);
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed = now.saturating_duration_since(left.1).as_secs_f64();
        left.1 = left.1.max(now);
        left.0 = (left.0 + rate * elapsed).min(depth);
        if left.0 < 0.0 {
            return false;
        }
        left.0 -= bytes as f64;
        true
    }
}

/// The rank of one stream.
#[derive(Debug)]
pub(super) struct Rank {
    ranks: Arc<Ranks>,
    urgency: Urgency,
    sent: u64,
    young: bool,
    priority: i32,
}

impl Rank {
    /// That of a stream which begins now.
    pub(super) fn new(ranks: Arc<Ranks>) -> Rank {
        Rank {
            ranks,
            urgency: Urgency::Normal,
            sent: 0,
            young: true,
            // quinn's own; the upper half of the normal class.
            priority: 0,
        }
    }

    pub(super) fn classify(&mut self, urgency: Urgency) {
        self.urgency = urgency;
    }

    /// Before `bytes` more are written: the new priority, if it changes.
    pub(super) fn write(&mut self, bytes: usize, now: Instant) -> Option<i32> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.young = self.young && self.sent < YOUNG && self.ranks.take(bytes, now);
        self.sent = self.sent.saturating_add(bytes);
        let class = match self.urgency {
            Urgency::First => 2,
            Urgency::Normal => 0,
            Urgency::Background => -2,
        };
        let priority = class - i32::from(!self.young);
        let changed = priority != self.priority;
        self.priority = priority;
        changed.then_some(priority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_units::Rate;

    fn ranks(rate: Option<Rate>) -> Arc<Ranks> {
        Ranks::new(Knowledge::new(rate, Duration::from_millis(550)))
    }

    #[test]
    fn a_stream_goes_down_after_its_first_bytes() {
        let mut rank = Rank::new(ranks(Some(Rate::from_mbps(20))));
        let now = Instant::now();
        assert_eq!(rank.write(40_000, now), None);
        assert_eq!(rank.write(40_000, now), None);
        assert_eq!(rank.write(1, now), Some(-1));
        assert_eq!(rank.write(1_000_000, now), None);
    }

    #[test]
    fn classes_are_above_one_another() {
        let now = Instant::now();
        let [background, normal, first] = [Urgency::Background, Urgency::Normal, Urgency::First]
            .map(|urgency| {
                let mut rank = Rank::new(ranks(None));
                rank.classify(urgency);
                rank.write(100_000, now);
                let young = rank.priority;
                rank.write(1, now);
                (young, rank.priority)
            });
        let order = [
            background.1,
            background.0,
            normal.1,
            normal.0,
            first.1,
            first.0,
        ];
        assert!(order.is_sorted(), "{order:?}");
    }

    #[test]
    fn small_streams_leave_a_fifth_of_the_link_to_bulk() {
        let ranks = ranks(Some(Rate::from_mbps(8)));
        let start = Instant::now();
        let mut first = 0;
        // 2000 streams of 10 kB a second would fill the link 20 times.
        for i in 0..20_000u64 {
            let mut rank = Rank::new(Arc::clone(&ranks));
            if rank
                .write(10_000, start + Duration::from_micros(500 * i))
                .is_none()
            {
                first += 10_000;
            }
        }
        // In 10 s: 8 MB, a burst, and the last stream.
        assert!((7_900_000..=8_400_000).contains(&first), "{first}");
    }
}
