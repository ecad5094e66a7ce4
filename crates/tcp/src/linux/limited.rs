//! Congestion window validation: growth only if cwnd limited the sender, and decay after idle
//! times.
//!
//! Source: RFC 7661 (the aim), RFC 5681, section 4.1; the rule is Linux's own.
//! A flight in which cwnd was once full counts as limited by it until it is
//! acknowledged. In slow start a window that was used by half counts as well:
//! cwnd below twice the most that was outstanding.
//!
//! A window that was not fully used for an RTO moves half way to the used one; after idle time it
//! is halved for each RTO that passed, down to the initial window. In both cases ssthresh keeps at
//! least three quarters of it.

use super::{Linux, State};
use crate::sender_core::Core;
use bentpipe_units::Time;

/// State for judging whether the window is used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limited {
    by_window: bool,
    /// Most segments outstanding in the flight.
    most: usize,
    /// The flight ends when this byte is acknowledged.
    until: u64,
    /// Most segments outstanding since the window was full last, and when that
    /// was.
    used: usize,
    full_at: Time,
}

impl Linux {
    /// True if the window may grow for its use.
    pub(super) fn is_limited(&self, s: &Core) -> bool {
        self.limited.by_window
            || (s.window.in_slow_start() && Linux::window(s) < 2 * self.limited.most)
    }

    /// Something was sent, or the window did not let it.
    pub(super) fn note_use(&mut self, s: &mut Core, now: Time, by_window: bool) {
        let outstanding = s.board.outstanding();
        let l = &mut self.limited;
        if s.snd.una >= l.until || by_window || (!l.by_window && outstanding > l.most) {
            l.by_window = by_window;
            l.most = outstanding;
            l.until = s.snd.next;
        }
        if self.is_limited(s) {
            self.limited.used = 0;
            self.limited.full_at = now;
            return;
        }
        self.limited.used = self.limited.used.max(outstanding);
        if s.options.restart_after_idle
            && !s.options.owns_window
            && now.since(self.limited.full_at) >= s.rtt.rto()
        {
            self.shrink_to_use(s, now);
        }
    }

    fn shrink_to_use(&mut self, s: &mut Core, now: Time) {
        if self.state == State::Open {
            let used = (self.limited.used as f64).max(self.initial_window);
            let cwnd = Linux::window(s) as f64;
            if used < cwnd {
                s.window.ssthresh = Linux::current_ssthresh(s, self.is_reducing());
                s.window.cwnd = ((cwnd + used) / 2.0).trunc();
            }
            self.limited.used = 0;
        }
        self.limited.full_at = now;
    }

    /// The threshold that a restart leaves, and that an undo comes back to.
    pub(super) fn current_ssthresh(s: &Core, reducing: bool) -> f64 {
        if reducing {
            return s.window.ssthresh;
        }
        let cwnd = Linux::window(s);
        s.window.ssthresh.max((cwnd / 2 + cwnd / 4) as f64)
    }

    /// The application writes when nothing is under way.
    pub(super) fn restart(&mut self, s: &mut Core, now: Time) {
        let rto = s.rtt.rto();
        let mut idle = now.since(s.last_sent_at);
        if !s.options.restart_after_idle
            || s.options.owns_window
            || !s.has_sent()
            || s.board.outstanding() > 0
            || idle <= rto
        {
            return;
        }
        s.window.ssthresh = Linux::current_ssthresh(s, self.is_reducing());
        let mut cwnd = Linux::window(s) as u64;
        let least = (self.initial_window as u64).min(cwnd);
        loop {
            idle = idle.saturating_sub(rto);
            if idle.is_zero() || cwnd <= least {
                break;
            }
            cwnd /= 2;
        }
        s.cc.after_idle(cwnd.max(least) as f64, &mut s.window);
        s.take_requests();
        self.limited.full_at = now;
        self.limited.used = 0;
    }
}
