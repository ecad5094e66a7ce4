//! Someone who is told of every call of a user's congestion control before it is made.
//!
//! A call that crashes or never returns leaves nothing behind in its process. What was
//! told in advance, and kept outside of the process, says which call it was.

use bentpipe_units::Time;
use std::fmt;
use std::sync::OnceLock;

/// Takes the name of the control, that of the call, and the time as of the last event
/// that carried one.
type Tell = dyn Fn(&str, &'static str, Time) + Send + Sync + 'static;

static WATCH: OnceLock<Box<Tell>> = OnceLock::new();

/// Tells `tell` of every call of every user's control that is made from now on in this
/// process. There can be one such function: a second one is not told anything.
pub fn watch(tell: impl Fn(&str, &'static str, Time) + Send + Sync + 'static) {
    let _ = WATCH.set(Box::new(tell));
}

/// Whoever is told of the calls of one control.
#[derive(Clone, Copy)]
pub(crate) struct Watch(Option<&'static Tell>);

impl Watch {
    pub(crate) fn new() -> Watch {
        Watch(WATCH.get().map(|tell| &**tell))
    }

    #[inline]
    pub(crate) fn tell(self, control: &str, call: &'static str, now: Time) {
        if let Some(tell) = self.0 {
            tell(control, call, now);
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "watched" } else { "alone" })
    }
}
