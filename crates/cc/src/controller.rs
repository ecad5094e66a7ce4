//! A congestion control at work in a connection, whichever it is.

use crate::control::dispatch_congestion_control;
use crate::{
    Ack, Classic, CongestionControl, Feedback, HostRules, Loss, Monolithic, PathHint, Phase,
    QueueReport, RecoveryExit, Repair, SharedState, Timeout, Window,
};
use bentpipe_units::{Duration, Rate, Segments, Time};

/// A congestion control at work in a connection.
///
/// The usual one, a combination of small slots, is inline; what is large is boxed,
/// once per connection, so that a hundred thousand connections fit in memory. No
/// call but those of [`Controller::Custom`] goes through a vtable.
#[derive(Debug)]
pub enum Controller {
    /// A built-in combination of slots.
    Classic(Classic),
    /// A built-in algorithm whose parts share one state.
    Monolithic(Box<Monolithic>),
    /// A user's own.
    Custom(Box<dyn CongestionControl>),
}

dispatch_congestion_control!(inherent Controller { Classic Monolithic Custom });
dispatch_congestion_control!(Controller { Classic Monolithic Custom });

impl Controller {
    /// A user's own congestion control.
    #[must_use]
    pub fn custom(control: impl CongestionControl + 'static) -> Controller {
        Controller::Custom(Box::new(control))
    }
}

impl From<Classic> for Controller {
    fn from(classic: Classic) -> Controller {
        Controller::Classic(classic)
    }
}

impl From<Monolithic> for Controller {
    fn from(monolithic: Monolithic) -> Controller {
        Controller::Monolithic(Box::new(monolithic))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_is_small() {
        let size = size_of::<Controller>();
        assert!(size <= 200, "{size} bytes");
    }
}
