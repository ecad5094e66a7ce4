//! Links that serve at given instants.

use bentpipe_units::{Duration, Time};

/// Instants at which a link serves what waits then. See
/// [`mahimahi`](crate::trace::mahimahi) for what that means.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Opportunities {
    /// In order, at least one.
    pub(crate) times: Vec<Time>,
    /// After what time they repeat, at least the last of them.
    pub(crate) period: Option<Duration>,
    /// What each serves.
    pub(crate) bytes: u32,
}

impl Opportunities {
    /// When opportunity `index` comes, counted over all periods.
    #[must_use]
    pub fn at(&self, index: u64) -> Option<Time> {
        let count = self.times.len() as u64;
        let time = self.times.get((index % count) as usize)?;
        match self.period {
            Some(period) => Some(*time + period * (index / count)),
            None => (index < count).then_some(*time),
        }
    }

    /// How many there are up to and at `at`.
    #[must_use]
    pub fn until(&self, at: Time) -> u64 {
        let (periods, inside) = match self.period.map(Duration::as_nanos) {
            Some(period) => (at.as_nanos() / period, at.as_nanos() % period),
            None => (0, at.as_nanos()),
        };
        let inside = Time::from_nanos(inside);
        let first = self.times.partition_point(|t| *t <= inside) as u64;
        periods * self.times.len() as u64 + first
    }

    /// The first period, and the bytes that each serves.
    #[must_use]
    pub fn period(&self) -> (&[Time], Option<Duration>, u32) {
        (&self.times, self.period, self.bytes)
    }
}
