//! What a loss left of the window, for the end of its recovery.

use crate::{RecoveryExit, Window};
use bentpipe_units::Segments;

/// The window that a recovery ends with, where not every loss cuts it.
///
/// A loss that cut nothing leaves cwnd alone also when its recovery ends: the
/// host's recovery fix is for windows that were cut. What a host adds to cwnd at
/// the loss (Linux 2.2: three segments) or takes from it at partial ACKs (ns-2)
/// is undone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AfterLoss {
    cwnd: Segments,
    cut: bool,
}

impl AfterLoss {
    /// Before the first loss, and after a timeout.
    pub(super) const NONE: AfterLoss = AfterLoss {
        cwnd: f64::INFINITY,
        cut: false,
    };

    /// After a loss that left `window`, and cut it or not.
    pub(super) fn new(cut: bool, window: &Window) -> AfterLoss {
        AfterLoss {
            cwnd: window.cwnd,
            cut,
        }
    }

    pub(super) fn grow(&mut self, by: Segments) {
        self.cwnd += by;
    }

    /// The window was lowered otherwise than by a loss.
    pub(super) fn lower(&mut self, to: Segments) {
        self.cwnd = self.cwnd.min(to);
    }

    pub(super) fn leave(&self, exit: &RecoveryExit, window: &mut Window) {
        if self.cwnd.is_finite() {
            window.cwnd = self.cwnd.max(1.0);
        }
        if self.cut && exit.recovery_fix {
            window.cwnd = window.cwnd.min(exit.flight + 1.0);
        }
    }
}
