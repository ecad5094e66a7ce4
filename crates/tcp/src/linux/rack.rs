//! RACK: time-based loss detection.
//!
//! Source: RFC 8985, sections 5 and 6. A segment is lost when another one that was sent later has
//! arrived and the segment is overdue: the latest round trip and a reordering window have passed
//! since it was sent. This also applies to retransmissions, whose losses are thus detected.
//!
//! The reordering window:
//! - Nothing, as long as no reordering was seen and losses are being repaired,
//!   or as many segments as mean a loss (`reordering`, 3 at first) are
//!   selectively acknowledged.
//! - Else a quarter of the smallest RTT, times the steps taken: one more a round
//!   trip in which a retransmission was reported as a duplicate, back to one
//!   after 16 recoveries without. Never more than the smoothed RTT.
//!
//! Points left open there follow Linux: segments sent at the same instant count in the order of
//! their sequence numbers; the timer waits for the last segment within the window, plus 2 ms; a
//! retransmission that seems to be answered in less than the smallest RTT is not evaluated (step
//! 2).

use super::{Linux, State};
use crate::scoreboard::Covered;
use crate::sender_core::Core;
use bentpipe_units::{Duration, Time};

/// Recoveries without a reported duplicate before the window shrinks again.
pub(super) const PERSISTENCE: u8 = 16;

/// The degree of reordering that is expected from the start.
pub(super) const REORDERING: u32 = 3;

/// It grows to no more than this.
const MOST_REORDERING: u32 = 300;

/// Lower bound of timers.
pub(super) const LEAST_TIMEOUT: Duration = Duration::from_millis(2);

/// The state of RACK (RFC 8985, section 5.2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rack {
    /// When the newest segment that arrived was sent, and its end.
    sent_at: Time,
    end: u64,
    /// RTT of the most recently delivered segment.
    pub(super) rtt: Duration,
    /// Something was delivered since the last check.
    pub(super) advanced: bool,
    steps: u8,
    pub(super) persistence: u8,
    duplicates_reported: bool,
    /// Segments delivered when the steps changed last.
    changed_at: u64,
    pub(super) reordering: u32,
    pub(super) reordering_seen: bool,
}

impl Default for Rack {
    fn default() -> Rack {
        Rack {
            sent_at: Time::ZERO,
            end: 0,
            rtt: Duration::ZERO,
            advanced: false,
            steps: 1,
            persistence: 0,
            duplicates_reported: false,
            changed_at: 0,
            reordering: REORDERING,
            reordering_seen: false,
        }
    }
}

/// True if a segment that was sent at `a.0` and ends at `a.1` was sent after
/// the other one.
fn sent_after(a: (Time, u64), b: (Time, u64)) -> bool {
    a > b
}

impl Rack {
    /// A segment has arrived.
    pub(super) fn advance(&mut self, now: Time, covered: &Covered, min_rtt: Duration) {
        let rtt = now.since(covered.sent_at);
        if covered.transmissions > 1 && min_rtt != Duration::MAX && rtt < min_rtt {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if sent_after((covered.sent_at, covered.end), (self.sent_at, self.end)) {
            self.sent_at = covered.sent_at;
            self.end = covered.end;
        }
    }

    /// A retransmission was reported as a duplicate.
    pub(super) fn note_duplicate(&mut self) {
        // Without reordering it is no sign of it.
        self.duplicates_reported |= self.reordering_seen;
    }

    /// Widens or narrows the window after an ACK of something sent when
    /// `prior_delivered` segments were delivered.
    pub(super) fn adapt(&mut self, prior_delivered: u64, delivered: u64) {
        if prior_delivered < self.changed_at {
            self.duplicates_reported = false;
        }
        if std::mem::take(&mut self.duplicates_reported) {
            self.steps = self.steps.saturating_add(1);
            self.changed_at = delivered;
            self.persistence = PERSISTENCE;
        } else if self.persistence == 0 {
            self.steps = 1;
        }
    }

    /// The reordering window of RACK.
    pub(super) fn window(
        &self,
        repairs: bool,
        sacked: u32,
        min_rtt: Duration,
        smoothed: Duration,
    ) -> Duration {
        if !self.reordering_seen && (repairs || sacked >= self.reordering) {
            return Duration::ZERO;
        }
        if min_rtt == Duration::MAX {
            return smoothed;
        }
        (min_rtt / 4 * u64::from(self.steps)).min(smoothed)
    }

    /// A segment that starts `distance` segments below the highest one that
    /// arrived did so after it.
    pub(super) fn note_reordering(&mut self, distance: u32) {
        self.reordering = self.reordering.max(distance).min(MOST_REORDERING);
        self.reordering_seen = true;
    }

    /// A timeout with so many selective acknowledgements that they would have
    /// shown the loss: less reordering is to be expected.
    pub(super) fn forget_reordering_after(&mut self, state: State, sacked: u32) {
        if state <= State::Disorder && sacked >= self.reordering {
            self.reordering = self.reordering.min(REORDERING);
        }
    }
}

impl Linux {
    /// Time until segment `number`, sent at `sent_at`, is overdue; zero if it is.
    fn remaining(&self, now: Time, sent_at: Time, window: Duration) -> Duration {
        (self.rack.rtt + window).saturating_sub(now.since(sent_at))
    }

    /// Marks lost what is; returns how long to wait for what may be, zero if
    /// nothing may.
    pub(super) fn find_lost(&mut self, s: &mut Core, now: Time) -> Duration {
        let window = self.rack.window(
            self.state >= State::Recovery,
            s.board.sacked(),
            s.rtt.smallest(),
            s.rtt.smoothed(),
        );
        let newest = (self.rack.sent_at, self.rack.end);
        let mut wait = Duration::ZERO;
        let mut walk = s.board.walk();
        while let Some(number) = s.board.next_of(&mut walk) {
            let Some(view) = s.board.view(number).filter(|view| !view.waits) else {
                continue;
            };
            if !sent_after(newest, (view.sent_at, view.end())) {
                break;
            }
            let remaining = self.remaining(now, view.sent_at, window);
            if remaining.is_zero() {
                self.lose(s, number);
            } else {
                wait = wait.max(remaining);
            }
        }
        wait
    }

    /// After news: marks lost what is and sets the timer for what may be. True
    /// if it did set it.
    pub(super) fn look_for_losses(&mut self, s: &mut Core, now: Time) -> bool {
        if !std::mem::take(&mut self.rack.advanced) {
            return false;
        }
        let wait = self.find_lost(s, now);
        if wait.is_zero() {
            return false;
        }
        self.await_reordering(s, now, wait + LEAST_TIMEOUT);
        true
    }

    /// After a timeout: everything is lost but what was sent within a round
    /// trip; the first segment is lost in any case. All of it stays in the list,
    /// so that RACK finds what was lost if the timeout proves spurious.
    pub(super) fn lose_overdue(&mut self, s: &mut Core, now: Time) {
        let first = s.board.first_number();
        for number in first..first + s.board.outstanding() as u64 {
            let Some(view) = s.board.view(number) else {
                break;
            };
            let overdue = self.remaining(now, view.sent_at, Duration::ZERO).is_zero();
            if number == first || overdue {
                self.mark_lost(s, number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered(sent_ms: u64, end: u64, transmissions: u8) -> Covered {
        Covered {
            start: end - 1,
            end,
            sent_at: Time::from_nanos(sent_ms * 1_000_000),
            transmissions,
            newly: true,
        }
    }

    const MIN: Duration = Duration::from_millis(100);

    #[test]
    fn the_newest_that_arrived_is_the_measure() {
        let mut rack = Rack::default();
        let now = Time::from_nanos(200_000_000);
        rack.advance(now, &covered(90, 3, 1), MIN);
        rack.advance(now, &covered(80, 2, 1), MIN);
        assert_eq!((rack.sent_at.as_nanos(), rack.end), (90_000_000, 3));
        // RFC 8985, section 6.2, step 2: too early for a retransmission.
        let before = rack.rtt;
        rack.advance(now, &covered(150, 9, 2), MIN);
        assert_eq!((rack.end, rack.rtt), (3, before));
    }

    #[test]
    fn the_window_waits_for_reordering_and_then_widens() {
        let ms = Duration::from_millis;
        let mut rack = Rack::default();
        assert_eq!(rack.window(false, 2, MIN, ms(110)), ms(25));
        assert_eq!(rack.window(false, 3, MIN, ms(110)), Duration::ZERO);
        assert_eq!(rack.window(true, 0, MIN, ms(110)), Duration::ZERO);
        rack.note_reordering(5);
        assert_eq!(rack.window(true, 9, MIN, ms(110)), ms(25));
        rack.note_duplicate();
        rack.adapt(0, 10);
        assert_eq!(rack.window(true, 9, MIN, ms(110)), ms(50));
        // Within the round trip a second report changes nothing.
        rack.note_duplicate();
        rack.adapt(5, 12);
        assert_eq!(rack.window(true, 9, MIN, ms(110)), ms(50));
        for delivered in [20, 30, 40] {
            rack.note_duplicate();
            rack.adapt(delivered, delivered);
        }
        assert_eq!(rack.window(true, 9, MIN, ms(110)), ms(110));
        rack.persistence = 0;
        rack.adapt(50, 50);
        assert_eq!(rack.window(true, 9, MIN, ms(110)), ms(25));
    }
}
