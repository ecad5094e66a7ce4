//! Bursts of ACKs: where they come together, a window of two bandwidth-delay
//! products runs out between them.
//!
//! Source: Linux `tcp_bbr.c` since 5.1. An epoch of ACKs lasts as long as they
//! deliver more than the bandwidth explains; the excess, at most over the last
//! 5 to 10 rounds, is added to the window, but no more than 100 ms of the
//! bandwidth.

use bentpipe_units::{Segments, Time};

const WINDOW_ROUNDS: u32 = 5;
/// Most of the excess that counts, seconds of the bandwidth.
const MOST_TIME: f64 = 0.1;
/// An epoch ends when it has seen so many segments.
const EPOCH_LIMIT: Segments = 1_048_576.0;

/// How far ACKs run ahead of the bandwidth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Aggregation {
    began_at: Option<Time>,
    acked: Segments,
    /// Largest excess of this and of the last window of rounds.
    excess: [Segments; 2],
    rounds: u32,
}

impl Aggregation {
    /// Segments to add to the window at `bw` segments per second.
    #[must_use]
    pub(super) fn extra(&self, bw: f64) -> Segments {
        let most = bw * MOST_TIME;
        self.excess[0].max(self.excess[1]).min(most)
    }

    /// A new epoch begins: sending starts again after an idle time.
    pub(super) fn restart(&mut self, now: Time) {
        self.began_at = Some(now);
        self.acked = 0.0;
    }

    /// `delivered` segments arrived at `now`, where `bw` segments per second
    /// were expected.
    pub(super) fn update(
        &mut self,
        now: Time,
        delivered: Segments,
        bw: f64,
        round_start: bool,
        cwnd: Segments,
    ) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= WINDOW_ROUNDS {
                self.rounds = 0;
                self.excess = [0.0, self.excess[0]];
            }
        }
        let began_at = self.began_at.unwrap_or(Time::ZERO);
        let mut expected = bw * now.since(began_at).as_secs();
        if self.acked <= expected || self.acked + delivered >= EPOCH_LIMIT {
            self.restart(now);
            expected = 0.0;
        }
        self.acked += delivered;
        self.excess[0] = self.excess[0].max((self.acked - expected).min(cwnd));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_units::Duration;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_burst_shows_its_excess() {
        // 1000 segments/s expected; ten ACKs of two segments at once, every
        // 20 ms: what came beyond the first segments' due is the burst.
        let mut aggregation = Aggregation::default();
        for burst in 1..=10 {
            for _ in 0..10 {
                aggregation.update(at(20 * burst), 2.0, 1000.0, false, 1e6);
            }
        }
        assert_eq!(aggregation.extra(1000.0), 20.0);
        // Never more than 100 ms of the bandwidth.
        assert_eq!(aggregation.extra(100.0), 10.0);
    }

    #[test]
    fn it_is_forgotten_after_five_to_ten_rounds() {
        let mut aggregation = Aggregation::default();
        aggregation.update(at(0), 50.0, 1000.0, false, 1e6);
        for round in 1..10 {
            aggregation.update(at(1000 * round), 1.0, 1000.0, true, 1e6);
            assert_eq!(aggregation.extra(1e6), 50.0, "round {round}");
        }
        aggregation.update(at(10_000), 1.0, 1000.0, true, 1e6);
        assert_eq!(aggregation.extra(1e6), 1.0);
    }

    #[test]
    fn no_excess_beyond_the_window() {
        let mut aggregation = Aggregation::default();
        aggregation.update(at(0), 50.0, 1000.0, false, 12.0);
        assert_eq!(aggregation.extra(1e6), 12.0);
    }
}
