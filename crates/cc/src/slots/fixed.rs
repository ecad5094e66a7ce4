//! A constant window, for measuring and tests: what is lost changes nothing.

use super::SEGMENTS;
use crate::declaration::{Control, Described, TransportDefaults, of_slots};
use crate::parameter::{number, parameters};
use crate::slot::{CongestionAvoidance, LossReaction, Parts, SlowStart};
use crate::{Ack, Hoe, Loss, RecoveryExit, Timeout, Window};
use bentpipe_units::{Duration, Segments, Time};

/// The control `fixed-window`.
pub(crate) fn fixed_window() -> Control<Parts<Fixed, Hold, Ignore>> {
    of_slots(Described {
        name: "fixed-window",
        summary: "cwnd is constant and ignores losses: for measuring",
        source: "no paper: a probe",
        open: "nothing",
        transport: TransportDefaults {
            summary: "a constant window that ignores losses: for measuring",
            ..TransportDefaults::NEW
        },
        settles: true,
        ..Described::NEW
    })
}

parameters! {
    /// cwnd is constant in slow start, which has no end.
    #[derive(Copy)]
    pub struct Fixed {
        window: f64 = number(10.0, "segments", SEGMENTS), "cwnd";
    }
}

fills! { Fixed, "fixed", "cwnd is constant",
    |parameters: Fixed| parameters
}

impl SlowStart for Fixed {
    fn on_established(&mut self, _: Option<Duration>, window: &mut Window) {
        window.cwnd = self.window;
    }

    fn on_sample(&mut self, _: &Ack, window: &mut Window) {
        window.cwnd = self.window;
    }

    fn on_ack(&mut self, _: &Ack, _: &mut Window, _: bool) {}
}

/// No growth in congestion avoidance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hold;

fills! { Hold, "hold", "no growth", |_none: ()| Hold }

impl CongestionAvoidance for Hold {
    #[inline]
    fn on_ack(&mut self, _: &Ack, _: &mut Window, _: Option<&Hoe>) {}

    #[inline]
    fn on_idle_ack(&mut self, _: Time) {}
}

/// Losses and timeouts change nothing: the window from before the loss comes
/// back at the end of recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ignore {
    /// The window from before the loss.
    kept: Segments,
}

fills! { Ignore, "ignore", "cwnd stays as it is", |_none: ()| Ignore::default() }

impl LossReaction for Ignore {
    fn on_loss(&mut self, _: &Loss, window: &mut Window) {
        self.kept = window.cwnd;
    }

    fn on_timeout(&mut self, _: &Timeout, _: &mut Window) {}

    fn on_recovery_exit(&mut self, _: &RecoveryExit, window: &mut Window) {
        if self.kept >= 1.0 {
            window.cwnd = self.kept;
        }
    }
}
