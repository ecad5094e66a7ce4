//! What shows the sender that the network has moved it to another path.
//!
//! The authors' live version pings the point of presence every 10 ms and takes a pause of
//! more than 45 ms between two answers for a reconfiguration. A sender has no pings here; it
//! watches its own acknowledgements, while it cruises, for three signs:
//!
//! - a rise: an RTT that exceeds the one before it by more than a queue can grow between
//!   the two, and no RTT of the next `patience` comes
//!   back to the smallest before it, but for such a queue. A queue of its own ramps with
//!   the surplus of the sending rate, a longer path is a step. What comes back was an interruption
//!   that held packets back, a delayed acknowledgement, or the jitter of the path;
//! - a loss of all: no ACK for `silence` longer than the path takes to deliver what the next
//!   one acknowledges, and then, within a round or by a timeout, as much is lost as was sent
//!   in `silence`. Silence alone is no sign: the sender pauses whenever its window shrinks;
//! - a fall: an RTT below the smallest of this path, of a `patience` and a round ago. No queue that
//!   empties can do that, of whichever flow.
//!
//! `patience` is 45 ms where the RTT is steady, and otherwise three times as long as the longest
//! time for which the RTT has stayed up after a step and then come back; half of it is forgotten in
//! a minute. So it is the smallest RTT of a window that decides, and the window is as long as the
//! path's jitter requires. Starlink's delay has another value every few tens of
//! milliseconds (`docs/slots.md`): each would be a rise where the next ACK is enough to confirm one.
//!
//! The smallest RTT of this path is the smallest since the last rise or loss of all. It is
//! not the one of BBR's model, which expires and then is that of a path with other flows'
//! queues: every end of such a queue would be a fall. After a fall it stays what it is, as
//! a longer path would have been a rise. Where a rise went unnoticed, in a startup for one, it
//! is too small, and a shorter path is found again only below it.
//!
//! A rise or fall counts beyond `fluctuation`, what the smallest RTT varies without a queue and
//! without a reconfiguration. A path whose two directions change one after the other is one
//! reconfiguration. Left are bursts of other flows, which can be a rise, and connections that begin
//! in a full queue, whose end they have not seen yet: that is a fall. Such a probe costs a startup.
//! What is public of the live version is only that it uses RTTs and the intervals between
//! answers; how they are read here is ours, and the same everywhere. The simulator's
//! tests count what is found and what is found falsely (crates/sim/tests/runs/leocc.rs).

use super::CYCLE;
use bentpipe_units::{Duration, Segments, Time};
use std::f64::consts::LN_2;

/// How long an RTT that has risen stays so at least, seconds, until that is another path: where
/// the RTT is steady, and the most that jitter makes of it.
const PATIENCE: (f64, f64) = (0.045, 2.0);

/// So many times as long as a rise that came back.
const TIMES: f64 = 3.0;

/// The time in which half of the patience is forgotten, seconds.
const FORGOTTEN: f64 = 60.0;

/// One acknowledgement, as the detector sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) now: Time,
    pub(super) rtt: Option<Duration>,
    pub(super) delivered: Segments,
    /// Found lost since the last one, by a timeout, too.
    pub(super) lost: Segments,
    /// Segments per second.
    pub(super) bandwidth: f64,
    /// The smallest RTT since the path was found to be another.
    pub(super) path_min: Duration,
    pub(super) round_start: bool,
    pub(super) app_limited: bool,
    /// A loss is being repaired.
    pub(super) repairs: bool,
}

/// What an acknowledgement shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// A path with a smaller RTT than any before.
    Shorter,
    /// Another path, of whose RTT nothing is known.
    Other,
}

/// An RTT that has risen by a step.
#[derive(Clone, Copy, Debug)]
struct Rise {
    since: Time,
    /// The smallest RTT before it, seconds.
    before: f64,
}

/// A silence, and what is found lost since.
#[derive(Clone, Copy, Debug, Default)]
struct Silence {
    lost: Segments,
    rounds: u32,
}

/// Watches the acknowledgements of one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detector {
    silence: Duration,
    fluctuation: Duration,
    /// The last ACK, and the last RTT.
    last_at: Option<Time>,
    last_rtt: Option<Duration>,
    rise: Option<Rise>,
    /// The smallest RTTs of this `patience` and of the one before, seconds, and when this one began.
    lowest: [f64; 2],
    lowest_at: Time,
    /// How long a rise stays until it is another path, seconds, and when some of it was forgotten.
    patience: f64,
    patience_at: Option<Time>,
    /// The smallest RTT of the path at the beginning of this round and of one before, which lie a
    /// patience apart, and when the first of them was taken, or this cruise began.
    floors: [Option<Duration>; 2],
    floor_at: Option<Time>,
    /// Rounds without a repair, up to two.
    quiet_rounds: u32,
    silent: Option<Silence>,
}

impl Detector {
    pub(super) const fn new(silence: Duration, fluctuation: Duration) -> Detector {
        Detector {
            silence,
            fluctuation,
            last_at: None,
            last_rtt: None,
            rise: None,
            lowest: [f64::MAX; 2],
            lowest_at: Time::ZERO,
            patience: PATIENCE.0,
            patience_at: None,
            floors: [None; 2],
            floor_at: None,
            quiet_rounds: 0,
            silent: None,
        }
    }

    /// Forgets the last ACKs, and keeps its patience: what comes next was sent by other rules.
    pub(super) fn pause(&mut self) {
        *self = Detector {
            patience: self.patience,
            patience_at: self.patience_at,
            ..Detector::new(self.silence, self.fluctuation)
        };
    }

    /// What this ACK shows, where it shows a reconfiguration.
    pub(super) fn sees(&mut self, seen: &Seen) -> Option<Sign> {
        if seen.round_start {
            self.on_round(seen);
        }
        self.floor_at.get_or_insert(seen.now);
        let last_at = self.last_at.replace(seen.now).unwrap_or(seen.now);
        let gap = seen.now.since(last_at);
        let loses_all = self.loses_all(gap, seen);
        if seen.repairs {
            self.quiet_rounds = 0;
        }
        let step = self.step(gap, seen);
        let sign = if loses_all { Some(Sign::Other) } else { step };
        sign.filter(|_| !seen.app_limited)
    }

    /// A round begins: what is remembered of the path ages.
    fn on_round(&mut self, seen: &Seen) {
        self.quiet_rounds = (self.quiet_rounds + 1).min(2);
        let since = self.patience_at.replace(seen.now).unwrap_or(seen.now);
        let forgotten = LN_2 * seen.now.since(since).as_secs() / FORGOTTEN;
        self.patience = (self.patience * (1.0 - forgotten).max(0.5)).max(PATIENCE.0);
        let floor_at = self.floor_at.unwrap_or(seen.now);
        if seen.now.since(floor_at).as_secs() >= self.patience {
            self.floors = [Some(seen.path_min), self.floors[0]];
            self.floor_at = Some(seen.now);
        }
    }

    /// A silence, and what was sent meanwhile is lost.
    fn loses_all(&mut self, gap: Duration, seen: &Seen) -> bool {
        let silence = self.silence.as_secs();
        let due = silence + seen.delivered / seen.bandwidth.max(1.0);
        if let Some(silent) = &mut self.silent {
            silent.rounds += u32::from(seen.round_start);
        }
        if self.quiet_rounds == 2 && gap.as_secs() > due {
            self.silent = Some(Silence::default());
        }
        let Some(silent) = &mut self.silent else {
            return false;
        };
        silent.lost += seen.lost;
        // At the slowest pace of a cruise.
        let all = silent.lost >= CYCLE[1] * seen.bandwidth * silence;
        if all || silent.rounds > 1 {
            self.silent = None;
        }
        all
    }

    /// A step of the RTT, upwards or below what this path has shown.
    fn step(&mut self, gap: Duration, seen: &Seen) -> Option<Sign> {
        let rtt = seen.rtt?;
        let last = self.last_rtt.replace(rtt).unwrap_or(rtt).as_secs();
        if self.stays_up(seen.now, rtt.as_secs()) {
            return Some(Sign::Other);
        }
        let before = self.lowest_before(seen.now, last);
        let step = Detector::ramp(gap.as_secs(), last) + self.fluctuation.as_secs();
        if self.rise.is_none() && rtt.as_secs() > last + step {
            self.rise = Some(Rise {
                since: seen.now,
                before,
            });
        }
        let falls = self.floors[1].is_some_and(|floor| rtt + self.fluctuation < floor);
        falls.then_some(Sign::Shorter)
    }

    /// The smallest RTT of one to two times `patience` before this ACK, to which the RTT of the one
    /// before comes now.
    fn lowest_before(&mut self, now: Time, last: f64) -> f64 {
        if now.since(self.lowest_at).as_secs() >= self.patience {
            self.lowest = [f64::MAX, self.lowest[0]];
            self.lowest_at = now;
        }
        self.lowest[0] = self.lowest[0].min(last);
        self.lowest[0].min(self.lowest[1])
    }

    /// By how much a queue of its own grows in `time` where the RTT is `rtt`: it sends faster than the
    /// path for no longer than an RTT.
    fn ramp(time: f64, rtt: f64) -> f64 {
        (CYCLE[0] - 1.0) * time.min(rtt)
    }

    /// True if the RTT has risen, and stayed up for long enough. Where it came back, it may do so
    /// again, and later.
    fn stays_up(&mut self, now: Time, rtt: f64) -> bool {
        let Some(rise) = self.rise else {
            return false;
        };
        let up = now.since(rise.since).as_secs();
        let most = rise.before + self.fluctuation.as_secs() + Detector::ramp(up, rise.before);
        let comes_back = rtt <= most;
        let stays = !comes_back && up >= self.patience;
        if comes_back {
            self.patience = self.patience.max(TIMES * up).min(PATIENCE.1);
        }
        if comes_back || stays {
            self.rise = None;
        }
        stays
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
                lost: 0.0,
                bandwidth: 1000.0,
                path_min: rtt,
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
            assert!(!(0..150).any(|_| acks.next(ms(2), rtt).is_some()));
            acks
        }

        fn next(&mut self, gap: Duration, rtt: Duration) -> Option<Sign> {
            self.seen.now += gap;
            self.seen.rtt = Some(rtt);
            self.seen.round_start = self.acks.is_multiple_of(25);
            self.acks += 1;
            let sign = self.detector.sees(&self.seen);
            self.seen.path_min = self.seen.path_min.min(rtt);
            self.seen.lost = 0.0;
            sign
        }
    }

    #[test]
    fn a_step_of_the_rtt_is_a_sign_and_a_ramp_is_none() {
        // The path becomes 30 ms longer: the next ACK comes so much later, and those after it are as
        // late for 45 ms.
        let mut acks = Acks::of(ms(50));
        assert_eq!(acks.next(ms(32), ms(80)), None);
        let fired = (1..100).position(|_| acks.next(ms(2), ms(80)).is_some());
        assert_eq!(fired, Some(22));
        // The other direction follows; it is the same reconfiguration.
        let mut acks = Acks::of(ms(50));
        assert_eq!(acks.next(ms(32), ms(80)), None);
        assert_eq!(acks.next(ms(32), ms(110)), None);
        let fired = (0..300).filter(|_| acks.next(ms(2), ms(110)).is_some());
        assert_eq!(fired.count(), 1);
        // A queue grows by a quarter of the time while the control probes.
        let mut acks = Acks::of(ms(50));
        let ramp = |ack: u64| Duration::from_micros(50_000 + 500 * ack);
        assert!(!(0..100).any(|ack| acks.next(ms(2), ramp(ack)).is_some()));
        // Steps within the fluctuation.
        let mut acks = Acks::of(ms(50));
        assert!(!(0..3).any(|_| acks.next(ms(2), ms(59)).is_some()));
    }

    #[test]
    fn one_late_acknowledgement_is_no_sign() {
        // The receiver waits 40 ms for a second segment, once.
        let mut acks = Acks::of(ms(50));
        assert_eq!(acks.next(ms(42), ms(90)), None);
        assert!(!(0..100).any(|_| acks.next(ms(2), ms(50)).is_some()));
    }

    #[test]
    fn an_rtt_that_the_path_has_not_shown_is_a_sign() {
        // Order is kept: what was sent later arrives with the last of the longer path,
        // and the RTT falls ACK by ACK.
        let mut acks = Acks::of(ms(80));
        let fired = (1..30).position(|ack| acks.next(ms(0), ms(80 - ack)).is_some());
        assert_eq!(fired, Some(10), "at 69 ms");
        // What a queue added goes away again without a sign.
        let mut acks = Acks::of(ms(50));
        for rtt in (50..=70).chain((50..70).rev()) {
            assert_eq!(acks.next(ms(4), ms(rtt)), None, "{rtt}");
        }
        // So does a queue of others that came before all of the last rounds: the path has
        // shown less.
        let mut acks = Acks::of(ms(120));
        acks.seen.path_min = ms(50);
        for _ in 0..150 {
            assert_eq!(acks.next(ms(2), ms(120)), None);
        }
        assert!(!(0..70).any(|ack| acks.next(ms(0), ms(120 - ack)).is_some()));
    }

    #[test]
    fn a_silence_is_a_sign_where_what_was_sent_in_it_is_lost() {
        // 1000 segments/s x 45 ms x 3/4 = 33.75 segments.
        let after = |lost: f64| {
            let mut acks = Acks::of(ms(50));
            assert_eq!(acks.next(ms(48), ms(50)), None);
            acks.seen.lost = lost;
            acks.next(ms(2), ms(50))
        };
        assert_eq!(after(33.0), None);
        assert_eq!(after(34.0), Some(Sign::Other));
        // Nothing was sent, and losses of later rounds have another cause.
        let mut acks = Acks::of(ms(50));
        acks.next(ms(48), ms(50));
        assert!(!(0..75).any(|_| acks.next(ms(2), ms(50)).is_some()));
        acks.seen.lost = 40.0;
        assert_eq!(acks.next(ms(2), ms(50)), None);
        // By a timeout; the first ACK after it ends the silence.
        let mut acks = Acks::of(ms(50));
        acks.seen.lost = 50.0;
        assert_eq!(acks.next(ms(300), ms(50)), Some(Sign::Other));
    }

    #[test]
    fn a_gap_that_the_sender_or_the_medium_makes_is_no_silence() {
        let lost_after = |change: &dyn Fn(&mut Seen), gap| {
            let mut acks = Acks::of(ms(50));
            change(&mut acks.seen);
            acks.next(gap, ms(50));
            acks.seen.lost = 40.0;
            acks.next(ms(2), ms(50))
        };
        assert_eq!(lost_after(&|_| (), ms(48)), Some(Sign::Other));
        // 60 segments at once, 60 ms after the last ACK: they were collected.
        assert_eq!(lost_after(&|seen| seen.delivered = 60.0, ms(60)), None);
        // An application stops the sender, and with it the ACKs.
        assert_eq!(lost_after(&|seen| seen.app_limited = true, ms(100)), None);
        // So does a repair.
        let mut acks = Acks::of(ms(50));
        acks.seen.repairs = true;
        acks.next(ms(2), ms(50));
        acks.next(ms(100), ms(50));
        acks.seen.lost = 40.0;
        assert_eq!(acks.next(ms(2), ms(50)), None);
    }

    #[test]
    fn what_comes_back_is_no_other_path() {
        // Grants every 20 ms: the RTT jumps by 20 ms and comes back.
        let mut acks = Acks::of(ms(50));
        for _ in 0..50 {
            assert_eq!(acks.next(ms(2), ms(70)), None);
            for rtt in (50..70).rev().step_by(2) {
                assert_eq!(acks.next(ms(2), ms(rtt)), None);
            }
        }
        // It stays up for 40, 110 and 300 ms; a path that is longer is found after three times that.
        let mut acks = Acks::of(ms(50));
        for (up, down) in [(20, 20), (55, 20), (150, 20)] {
            for _ in 0..up {
                assert_eq!(acks.next(ms(2), ms(80)), None, "{up}");
            }
            for _ in 0..down {
                assert_eq!(acks.next(ms(2), ms(50)), None, "{up}");
            }
        }
        let fired = (0..600).position(|_| acks.next(ms(2), ms(80)).is_some());
        assert!(
            fired.is_some_and(|acks| (440..=450).contains(&acks)),
            "{fired:?}"
        );
    }

    #[test]
    fn jitter_is_no_reconfiguration() {
        // Another delay every 20 ms, between 0 and 30 ms, from a generator of Lehmer's.
        let mut acks = Acks::of(ms(50));
        let (mut state, mut fired) = (1_u64, 0);
        for _ in 0..3000 {
            state = state * 48_271 % 0x7fff_ffff;
            let rtt = ms(50 + state % 31);
            fired += (0..10).filter(|_| acks.next(ms(2), rtt).is_some()).count();
        }
        assert!(fired <= 2, "{fired} in a minute");
        // A path that is longer by as much as all of it.
        let mut at = None;
        for draw in 0..100 {
            state = state * 48_271 % 0x7fff_ffff;
            let rtt = ms(85 + state % 31);
            if (0..10).any(|_| acks.next(ms(2), rtt).is_some()) {
                at = at.or(Some(draw));
            }
        }
        assert!(at.is_some_and(|draw| draw < 50), "{at:?}");
    }
}
