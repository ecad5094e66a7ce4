//! The order of a subscriber's streams.
//!
//! A stream begins in the upper half of its class and goes to the lower half after 64 KiB: pages and
//! requests overtake bulk, and downloads share the rest equally. So that many small connections do not
//! starve bulk, the upper half leaves a turn in five to the lower one ([`super::sharing`], which gives
//! the turns). quinn sends what it was given in the same order: from the streams of the highest priority
//! in turn, a packet each.

use crate::config::Urgency;
use bentpipe_quic::turns::YOUNG;

/// The rank of one stream.
#[derive(Debug)]
pub(super) struct Rank {
    urgency: Urgency,
    sent: u64,
    priority: i32,
}

impl Rank {
    /// That of a stream which begins now.
    pub(super) const fn new() -> Rank {
        Rank {
            urgency: Urgency::Normal,
            sent: 0,
            // quinn's own; the upper half of the normal class.
            priority: 0,
        }
    }

    pub(super) const fn classify(&mut self, urgency: Urgency) {
        self.urgency = urgency;
    }

    /// Its place among the ranks of its subscriber, from 0 for what goes first.
    pub(super) const fn place(&self) -> usize {
        let class = match self.urgency {
            Urgency::First => 0,
            Urgency::Normal => 2,
            Urgency::Background => 4,
        };
        if self.is_young() { class } else { class + 1 }
    }

    /// True where the stream takes precedence over bulk.
    pub(super) const fn is_young(&self) -> bool {
        self.sent < YOUNG
    }

    /// Before `bytes` more are written: the new priority, if it changes.
    pub(super) fn write(&mut self, bytes: usize) -> Option<i32> {
        // The upper half of the normal class is quinn's own priority, 0.
        let priority = match self.place() {
            0 => 2,
            1 => 1,
            2 => 0,
            3 => -1,
            4 => -2,
            _ => -3,
        };
        self.sent = self.sent.saturating_add(bytes as u64);
        let changed = priority != self.priority;
        self.priority = priority;
        changed.then_some(priority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_goes_down_after_its_first_bytes() {
        let mut rank = Rank::new();
        assert_eq!((rank.place(), rank.write(40_000)), (2, None));
        assert_eq!((rank.place(), rank.write(40_000)), (2, None));
        assert_eq!((rank.place(), rank.write(1)), (3, Some(-1)));
        assert_eq!(rank.write(1_000_000), None);
    }

    #[test]
    fn classes_are_above_one_another() {
        let [background, normal, first] = [Urgency::Background, Urgency::Normal, Urgency::First]
            .map(|urgency| {
                let mut rank = Rank::new();
                rank.classify(urgency);
                rank.write(100_000);
                let young = rank.priority;
                rank.write(1);
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
}
