//! Policed paths: a token bucket drops what exceeds its rate, and leaves no
//! queue that would show it.
//!
//! Source: Linux `tcp_bbr.c`, long-term sampling. Intervals of 4 to 16 rounds
//! begin and end with a loss; two in a row that lost a fifth (50 for every 256
//! delivered) at the same rate, to an eighth or 4 kbit/s, mean a policer. Then
//! the mean of the two is the bandwidth for 48 rounds of probe_bw, without
//! gain cycling.

use bentpipe_units::{Segments, Time};

const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
/// Ratio of lost to delivered packets above which an interval counts as policed.
const LOSS_RATIO: f64 = 50.0 / 256.0;
/// Rates that differ by less than this part, or by so many bytes a second, are
/// the same.
const SAME_RATIO: f64 = 1.0 / 8.0;
const SAME_RATE: f64 = 500.0;
/// Rounds for which the policed rate is used.
const USED_ROUNDS: u32 = 48;

/// The input of long-term sampling, at every ACK.
pub(super) struct Sees {
    /// When a segment was delivered last.
    pub(super) now: Time,
    /// Segments delivered and lost so far.
    pub(super) delivered: Segments,
    pub(super) lost: Segments,
    /// This ACK showed losses.
    pub(super) losses: bool,
    pub(super) app_limited: bool,
    pub(super) round_start: bool,
    pub(super) probes_bw: bool,
    pub(super) mss: u32,
}

/// Long-term bandwidth sampling, which detects a token-bucket policer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Policer {
    samples: bool,
    used: bool,
    /// Rate of the last lossy interval, or the policed rate, segments/s; 0
    /// before one.
    rate: f64,
    rounds: u32,
    /// Where the interval began.
    began_at: Time,
    delivered: Segments,
    lost: Segments,
}

impl Default for Policer {
    fn default() -> Policer {
        Policer {
            samples: false,
            used: false,
            rate: 0.0,
            rounds: 0,
            began_at: Time::ZERO,
            delivered: 0.0,
            lost: 0.0,
        }
    }
}

impl Policer {
    /// The policed rate, segments per second, while it is used.
    #[must_use]
    pub(super) fn rate(&self) -> Option<f64> {
        self.used.then_some(self.rate)
    }

    pub(super) fn reset(&mut self, now: Time, delivered: Segments, lost: Segments) {
        *self = Policer::default();
        self.begin_interval(now, delivered, lost);
    }

    fn begin_interval(&mut self, now: Time, delivered: Segments, lost: Segments) {
        self.began_at = now;
        self.delivered = delivered;
        self.lost = lost;
        self.rounds = 0;
    }

    /// Takes an ACK. True when the policed rate has been used for long enough:
    /// gain cycling begins again.
    pub(super) fn update(&mut self, sees: &Sees) -> bool {
        let Sees {
            now,
            delivered,
            lost,
            ..
        } = *sees;
        if self.used {
            if sees.probes_bw && sees.round_start {
                self.rounds += 1;
                if self.rounds >= USED_ROUNDS {
                    self.reset(now, delivered, lost);
                    return true;
                }
            }
            return false;
        }
        if !self.samples {
            // The first loss says that the bucket is empty.
            if !sees.losses {
                return false;
            }
            self.begin_interval(now, delivered, lost);
            self.samples = true;
        }
        if sees.app_limited {
            self.reset(now, delivered, lost);
            return false;
        }
        self.rounds += u32::from(sees.round_start);
        if self.rounds > MOST_ROUNDS {
            self.reset(now, delivered, lost);
            return false;
        }
        let arrived = delivered - self.delivered;
        if self.rounds < LEAST_ROUNDS
            || !sees.losses
            || arrived <= 0.0
            || lost - self.lost < LOSS_RATIO * arrived
        {
            return false;
        }
        // Linux measures in whole milliseconds, and at least one.
        let ms = now.as_nanos() / 1_000_000 - self.began_at.as_nanos() / 1_000_000;
        if ms >= 1 {
            self.end_interval(arrived * 1000.0 / ms as f64, sees);
        }
        false
    }

    fn end_interval(&mut self, rate: f64, sees: &Sees) {
        if self.rate > 0.0 {
            let apart = (rate - self.rate).abs();
            if apart <= SAME_RATIO * self.rate || apart * f64::from(sees.mss) * 0.99 <= SAME_RATE {
                self.rate = (rate + self.rate) / 2.0;
                self.used = true;
                self.rounds = 0;
                return;
            }
        }
        self.rate = rate;
        self.begin_interval(sees.now, sees.delivered, sees.lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_units::Duration;

    /// A connection over `rounds` rounds of 100 ms, each of which delivers 100
    /// segments and loses `lost`; whether the policer is found at the end.
    fn rounds(policer: &mut Policer, from: u64, count: u64, lost: f64) -> Option<f64> {
        for round in from..from + count {
            let sees = Sees {
                now: Time::ZERO + Duration::from_millis(100) * round,
                delivered: 100.0 * round as f64,
                lost: lost * round as f64,
                losses: lost > 0.0,
                app_limited: false,
                round_start: true,
                probes_bw: true,
                mss: 1500,
            };
            policer.update(&sees);
        }
        policer.rate()
    }

    #[test]
    fn two_intervals_of_four_lossy_rounds_show_a_policer() {
        // The first loss is in round 1; four rounds to 4, four more to 8. The
        // interval's first round counts: 1, 2, 3, 4 and then 5, 6, 7, 8.
        let mut policer = Policer::default();
        assert_eq!(rounds(&mut policer, 1, 7, 20.0), None);
        assert_eq!(rounds(&mut policer, 8, 1, 20.0), Some(1000.0));
    }

    #[test]
    fn nineteen_percent_are_no_policer() {
        let mut policer = Policer::default();
        assert_eq!(rounds(&mut policer, 1, 100, 19.0), None);
    }

    #[test]
    fn the_policed_rate_is_used_for_48_rounds() {
        let mut policer = Policer::default();
        assert_eq!(rounds(&mut policer, 1, 8 + 47, 20.0), Some(1000.0));
        assert_eq!(rounds(&mut policer, 56, 1, 20.0), None);
    }

    #[test]
    fn an_application_that_pauses_starts_the_sampling_over() {
        let mut policer = Policer::default();
        rounds(&mut policer, 1, 7, 20.0);
        let sees = Sees {
            now: Time::ZERO + Duration::from_millis(750),
            delivered: 750.0,
            lost: 150.0,
            losses: false,
            app_limited: true,
            round_start: false,
            probes_bw: true,
            mss: 1500,
        };
        policer.update(&sees);
        assert_eq!(rounds(&mut policer, 8, 7, 20.0), None);
        assert_eq!(rounds(&mut policer, 15, 1, 20.0), Some(1000.0));
    }
}
