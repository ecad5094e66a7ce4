//! Reactions: what a loss, a timeout and the end of recovery do to the window.
//!
//! Sources: RFC 5681, section 3.1 and 3.2 (Halve); RFC 3782, section 3 (end of
//! recovery). Westwood, Westwood+, CUBIC, HighSpeed and Scalable have files of
//! their own.
//!
//! | parameter of Halve | default | |
//! |---|---|---|
//! | half_of | flight | `window`: half of cwnd, as ns-2 and Linux |
//! | whole_ssthresh | false | true: rounded down to whole segments, as ns-2 and Linux |
//!
//! Left open: RFC 5681 halves bytes, so ssthresh may be a fraction of a
//! segment; 21 segments in flight give 10.5, and 10 with `whole_ssthresh`.
//! A timeout sets cwnd to 1 and never to the initial window (Marchese 2006,
//! sec. 3.2, says both). The second timeout of a segment leaves ssthresh.

mod estimate;
mod westwood;
mod westwood_plus;

pub use crate::cubic::CubicReaction;
pub use crate::highspeed::HighSpeed;
pub use crate::scalable::Scalable;
pub use estimate::Accounting;
pub(crate) use estimate::{AckCount, fitting_window};
pub use westwood::{Filter, Westwood};
pub use westwood_plus::{Cut, PlusFilter, WestwoodPlus};

use crate::{Ack, Loss, RecoveryExit, Timeout, Window};
use bentpipe_units::{Rate, Segments};

/// What loss, timeout and the end of recovery do.
#[derive(Clone, Debug, PartialEq)]
pub enum Reaction {
    /// Half of what is in flight.
    Halve(Halve),
    /// Bandwidth estimated at every ACK x smallest RTT.
    Westwood(Westwood),
    /// Bandwidth estimated once a round x smallest RTT.
    WestwoodPlus(WestwoodPlus),
    /// beta x what is in flight.
    Cubic(CubicReaction),
    /// 1 - b(w) of what is in flight (RFC 3649).
    HighSpeed(HighSpeed),
    /// 1 - b of what is in flight (Kelly 2003).
    Scalable(Scalable),
    /// Nothing: the window from before the loss, kept here, comes back at the
    /// end of recovery.
    Ignore(Segments),
}

/// What is halved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HalfOf {
    /// The segments in flight (RFC 5681).
    #[default]
    Flight,
    /// cwnd (ns-2, Linux).
    Window,
}

/// RFC 5681: ssthresh = max(flight / 2, 2).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Halve {
    /// What is halved.
    pub of: HalfOf,
    /// Round ssthresh down to whole segments.
    pub whole: bool,
    /// cwnd becomes the half itself, not ssthresh, and stays as it is at the
    /// end of recovery. Set by the host profile.
    pub exact: bool,
}

impl Halve {
    fn half(self, flight: Segments, window: &Window) -> Segments {
        match self.of {
            // Such a host reports the window in use.
            _ if self.exact => flight / 2.0,
            HalfOf::Flight => flight / 2.0,
            HalfOf::Window => window.cwnd / 2.0,
        }
    }

    fn ssthresh(self, half: Segments) -> Segments {
        (if self.whole { half.floor() } else { half }).max(2.0)
    }

    fn on_loss(self, loss: &Loss, window: &mut Window) {
        let half = self.half(loss.flight, window);
        window.ssthresh = self.ssthresh(half);
        window.cwnd = if self.exact { half } else { window.ssthresh };
    }

    fn on_timeout(self, timeout: &Timeout, window: &mut Window) {
        if timeout.first {
            window.ssthresh = self.ssthresh(self.half(timeout.flight, window));
        }
        window.cwnd = 1.0;
    }
}

/// The window at the end of a recovery that leaves `cwnd`: RFC 3782, section
/// 3, step 5.
fn leave_recovery(cwnd: Segments, exit: &RecoveryExit, window: &mut Window) {
    window.cwnd = if exit.recovery_fix {
        cwnd.min(exit.flight + 1.0)
    } else {
        cwnd
    };
}

/// The same in the agents of ns-2: cwnd is what recovery made of it, unless
/// `exit_recovery_fix_` is on.
fn leave_as_agent(exit: &RecoveryExit, window: &mut Window) {
    if exit.recovery_fix {
        window.cwnd = window.ssthresh.min(exit.flight + 1.0);
    }
}

impl Reaction {
    /// Every ACK: take samples.
    #[inline]
    pub fn on_sample(&mut self, ack: &Ack) {
        match self {
            Reaction::Westwood(westwood) => westwood.on_sample(ack),
            Reaction::WestwoodPlus(westwood) => westwood.on_sample(ack),
            _ => {}
        }
    }

    /// A loss was found.
    pub fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        match self {
            Reaction::Halve(halve) => halve.on_loss(loss, window),
            Reaction::Westwood(westwood) => westwood.on_loss(loss, window),
            Reaction::WestwoodPlus(westwood) => westwood.on_loss(loss, window),
            Reaction::Cubic(cubic) => cubic.on_loss(loss, window),
            Reaction::HighSpeed(highspeed) => highspeed.on_loss(loss, window),
            Reaction::Scalable(scalable) => scalable.on_loss(loss, window),
            Reaction::Ignore(kept) => *kept = window.cwnd,
        }
    }

    /// The retransmission timer ran out.
    pub fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        match self {
            Reaction::Halve(halve) => halve.on_timeout(timeout, window),
            Reaction::Westwood(westwood) => westwood.on_timeout(timeout, window),
            Reaction::WestwoodPlus(westwood) => westwood.on_timeout(timeout, window),
            Reaction::Cubic(cubic) => cubic.on_timeout(timeout, window),
            Reaction::HighSpeed(highspeed) => highspeed.on_timeout(timeout, window),
            Reaction::Scalable(scalable) => scalable.on_timeout(timeout, window),
            Reaction::Ignore(_) => {}
        }
    }

    /// Recovery ended.
    pub fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        match self {
            Reaction::Halve(Halve { exact: true, .. }) => leave_as_agent(exit, window),
            Reaction::Halve(_)
            | Reaction::Cubic(_)
            | Reaction::HighSpeed(_)
            | Reaction::Scalable(_) => {
                leave_recovery(window.ssthresh, exit, window);
            }
            Reaction::Westwood(westwood) => westwood.on_recovery_exit(exit, window),
            Reaction::WestwoodPlus(westwood) => westwood.on_recovery_exit(exit, window),
            Reaction::Ignore(kept) if *kept >= 1.0 => window.cwnd = *kept,
            Reaction::Ignore(_) => {}
        }
    }

    /// The bandwidth estimate, where there is one.
    #[must_use]
    pub fn bandwidth_estimate(&self) -> Option<Rate> {
        match self {
            Reaction::Westwood(westwood) => westwood.bandwidth_estimate(),
            Reaction::WestwoodPlus(westwood) => westwood.bandwidth_estimate(),
            _ => None,
        }
    }
}
