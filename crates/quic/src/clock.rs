//! Virtual time as the `Instant`s that quinn-proto takes.

use bentpipe_units::Time;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Instants before the start of the run that can still be named: quinn-proto subtracts spans from
/// the present.
const BEFORE: Duration = Duration::from_secs(86_400);

/// Translates between virtual time and `Instant`, which std makes from a clock only. The start of
/// every run is one and the same instant, of which only differences are ever used.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// The clock of this process.
    #[must_use]
    pub fn new() -> Clock {
        static START: OnceLock<Instant> = OnceLock::new();
        #[expect(
            clippy::disallowed_methods,
            reason = "any instant serves as the start of virtual time; its value reaches no result"
        )]
        let start = *START.get_or_init(|| Instant::now() + BEFORE);
        Clock(start)
    }

    /// The instant of a virtual time.
    #[must_use]
    pub fn instant(self, at: Time) -> Instant {
        self.0 + Duration::from_nanos(at.as_nanos())
    }

    /// The virtual time of an instant, rounded up to a nanosecond; zero before the start.
    #[must_use]
    pub fn time(self, at: Instant) -> Time {
        let since = at.saturating_duration_since(self.0).as_nanos();
        Time::from_nanos(u64::try_from(since).unwrap_or(u64::MAX))
    }
}

impl Default for Clock {
    fn default() -> Clock {
        Clock::new()
    }
}

/// The instant at which the time of a test begins.
#[cfg(test)]
pub(crate) fn start() -> Instant {
    Clock::new().instant(Time::ZERO)
}
