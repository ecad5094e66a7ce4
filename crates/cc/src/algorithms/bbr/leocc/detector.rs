//! What shows the sender that the network has moved it to another path.
//!
//! The authors' live version pings the point of presence every 10 ms and takes a pause of
//! more than 45 ms between two answers for a reconfiguration. A sender has no pings here; it
//! watches its own acknowledgements, while it cruises, for three signs:
//!
//! - silence: no ACK for `silence` longer than the path takes to deliver what the next one
//!   acknowledges. Not within a round of a repair, which makes the sender pause;
//! - a rise: an RTT that exceeds the one before it by more than a queue can grow between
//!   the two. A queue of its own ramps with the surplus of the sending rate, a longer path is a
//!   step;
//! - a fall: an RTT below the smallest of two rounds ago. No queue of its own can do that.
//!
//! A rise or fall counts beyond `fluctuation`, what the RTT varies without a queue and
//! without a reconfiguration; a rise also beyond the largest step of the last rounds, which
//! loses an eighth each round. So a medium that grants in frames fires once and no more,
//! and a path whose two directions change one after the other is one reconfiguration.
//! Queues of other flows can: a burst of theirs is a rise, and where the last probe measured their
//! queue, its end is a fall. Such a probe costs a startup. In two minutes without a reconfiguration a
//! flow at 50 Mbit/s and 40 ms finds none beside one more of its kind, at most two beside two more
//! and four beside cubic with a queue of 500 packets, and none with one of 100; at 10 Mbit/s and
//! 100 ms with 100 packets seven beside cubic. The authors' live version looks for silence only, on
//! a flow of pings.
//! The signs of the RTT are our reading; public is only that the live version uses RTTs and
//! the intervals between answers.

use super::CYCLE;
use bentpipe_units::{Duration, Segments, Time};

/// What of the largest step of the RTT is left a round later.
const REMEMBERED: f64 = 7.0 / 8.0;

/// One acknowledgement, as the detector sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) now: Time,
    pub(super) rtt: Option<Duration>,
    pub(super) delivered: Segments,
    /// Segments per second.
    pub(super) bandwidth: f64,
    pub(super) min_rtt: Duration,
    pub(super) round_start: bool,
    pub(super) app_limited: bool,
    /// A loss is being repaired.
    pub(super) repairs: bool,
}

/// Watches the acknowledgements of one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detector {
    silence: Duration,
    fluctuation: Duration,
    /// The last ACK, and the last RTT.
    last_at: Option<Time>,
    last_rtt: Option<Duration>,
    /// Largest step of the RTT of the last rounds, seconds.
    usual: f64,
    /// The smallest RTT at the beginning of this round and of the last.
    floors: [Option<Duration>; 2],
    /// Rounds without a repair, up to two.
    quiet_rounds: u32,
}

impl Detector {
    pub(super) const fn new(silence: Duration, fluctuation: Duration) -> Detector {
        Detector {
            silence,
            fluctuation,
            last_at: None,
            last_rtt: None,
            usual: 0.0,
            floors: [None; 2],
            quiet_rounds: 0,
        }
    }

    /// Forgets the last ACKs, and keeps how far the RTT usually steps: what comes next was
    /// sent by other rules.
    pub(super) fn pause(&mut self) {
        *self = Detector {
            usual: self.usual,
            ..Detector::new(self.silence, self.fluctuation)
        };
    }

    /// True where this ACK shows a reconfiguration.
    pub(super) fn sees(&mut self, seen: &Seen) -> bool {
        if seen.round_start {
            self.usual *= REMEMBERED;
            self.floors = [Some(seen.min_rtt), self.floors[0]];
            self.quiet_rounds = (self.quiet_rounds + 1).min(2);
        }
        if seen.repairs {
            self.quiet_rounds = 0;
        }
        let last_at = self.last_at.replace(seen.now).unwrap_or(seen.now);
        let gap = seen.now.since(last_at);
        let sign = self.is_silent(gap, seen) | self.steps(gap, seen);
        sign && !seen.app_limited
    }

    fn is_silent(&self, gap: Duration, seen: &Seen) -> bool {
        let due = self.silence.as_secs() + seen.delivered / seen.bandwidth.max(1.0);
        self.quiet_rounds == 2 && gap.as_secs() > due
    }

    fn steps(&mut self, gap: Duration, seen: &Seen) -> bool {
        let Some(rtt) = seen.rtt else {
            return false;
        };
        let last = self.last_rtt.replace(rtt).unwrap_or(rtt);
        let step = rtt.as_secs() - last.as_secs();
        let least = self.fluctuation.as_secs();
        let rises = step - (CYCLE[0] - 1.0) * gap.as_secs() > least + self.usual;
        self.usual = self.usual.max(step.abs());
        let falls = self.floors[1].is_some_and(|floor| rtt + self.fluctuation < floor);
        rises || falls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// An ACK of two segments every 2 ms at 1000 segments/s, in rounds of 50 ms.
    struct Acks {
        detector: Detector,
        seen: Seen,
        acks: u32,
    }

    impl Acks {
        fn of(rtt: Duration) -> Acks {
            let seen = Seen {
                now: Time::ZERO + ms(1000),
                rtt: Some(rtt),
                delivered: 2.0,
                bandwidth: 1000.0,
                min_rtt: rtt,
                round_start: false,
                app_limited: false,
                repairs: false,
            };
            let detector = Detector::new(ms(45), ms(10));
            let mut acks = Acks {
                detector,
                seen,
                acks: 0,
            };
            assert!(!(0..100).any(|_| acks.next(ms(2), rtt)));
            acks
        }

        fn next(&mut self, gap: Duration, rtt: Duration) -> bool {
            self.seen.now += gap;
            self.seen.rtt = Some(rtt);
            self.seen.round_start = self.acks.is_multiple_of(25);
            self.acks += 1;
            let sign = self.detector.sees(&self.seen);
            self.seen.min_rtt = self.seen.min_rtt.min(rtt);
            sign
        }
    }

    #[test]
    fn a_step_of_the_rtt_is_a_sign_and_a_ramp_is_none() {
        // The path becomes 20 ms longer: the next ACK comes so much later.
        let mut acks = Acks::of(ms(50));
        assert!(acks.next(ms(22), ms(70)));
        // The other direction follows; it is the same reconfiguration.
        assert!(!acks.next(ms(22), ms(90)));
        // A queue grows by a quarter of the time while the control probes.
        let mut acks = Acks::of(ms(50));
        let ramp = |ack: u64| Duration::from_micros(50_000 + 500 * ack);
        assert!(!(0..100).any(|ack| acks.next(ms(2), ramp(ack))));
        // Steps within the fluctuation.
        let mut acks = Acks::of(ms(50));
        assert!(!acks.next(ms(2), ms(59)));
    }

    #[test]
    fn a_path_below_the_smallest_rtt_is_a_sign() {
        // Order is kept: what was sent later arrives with the last of the longer path,
        // and the RTT falls ACK by ACK.
        let mut acks = Acks::of(ms(80));
        let fired = (1..30).position(|ack| acks.next(ms(0), ms(80 - ack)));
        assert_eq!(fired, Some(10), "at 69 ms");
        // What a queue added goes away again without a sign.
        let mut acks = Acks::of(ms(50));
        for rtt in (50..=70).chain((50..70).rev()) {
            assert!(!acks.next(ms(4), ms(rtt)), "{rtt}");
        }
    }

    #[test]
    fn a_silence_is_a_sign_beyond_what_the_next_ack_delivers() {
        let mut acks = Acks::of(ms(50));
        assert!(acks.next(ms(48), ms(50)));
        // 60 segments at once, 60 ms after the last ACK: they were collected.
        let mut acks = Acks::of(ms(50));
        acks.seen.delivered = 60.0;
        assert!(!acks.next(ms(60), ms(50)));
        // A repair stops the sender, and with it the ACKs.
        let mut acks = Acks::of(ms(50));
        acks.seen.repairs = true;
        assert!(!acks.next(ms(100), ms(50)));
        // So does an application.
        let mut acks = Acks::of(ms(50));
        acks.seen.app_limited = true;
        assert!(!acks.next(ms(100), ms(90)));
    }

    #[test]
    fn steps_that_come_again_and_again_are_usual() {
        // Grants every 20 ms: the RTT jumps by 20 ms and comes back.
        let mut acks = Acks::of(ms(50));
        let mut fired = 0;
        for _ in 0..50 {
            fired += u32::from(acks.next(ms(2), ms(70)));
            for rtt in (50..70).rev().step_by(2) {
                fired += u32::from(acks.next(ms(2), ms(rtt)));
            }
        }
        assert_eq!(fired, 1);
    }
}
