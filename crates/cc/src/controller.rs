//! A congestion control at work in a connection, whichever it is.

use crate::guard::{Fault, Guarded};
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
    /// A user's own, under guard.
    Custom(Box<Guarded>),
}

dispatch_congestion_control!(inherent Controller { Classic Monolithic Custom });
dispatch_congestion_control!(Controller { Classic Monolithic Custom });

impl Controller {
    /// A user's own congestion control.
    #[must_use]
    pub fn custom(control: impl CongestionControl + 'static) -> Controller {
        Controller::from(Box::new(control) as Box<dyn CongestionControl>)
    }

    /// This control, listed under `name`.
    pub(crate) fn own(name: &str, control: Box<dyn CongestionControl>) -> Controller {
        Controller::Custom(Box::new(Guarded::new(name, control)))
    }

    /// Why a user's own congestion control had to be stopped, if it was.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Controller::Custom(guarded) => guarded.fault(),
            Controller::Classic(_) | Controller::Monolithic(_) => None,
        }
    }
}

impl From<Box<dyn CongestionControl>> for Controller {
    fn from(control: Box<dyn CongestionControl>) -> Controller {
        let name = crate::guard::caught(|| control.name().to_owned());
        let name = name.unwrap_or_else(|_| "own".to_owned());
        Controller::own(&name, control)
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
