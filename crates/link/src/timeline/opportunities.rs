//! Links that serve at given instants.

use bentpipe_units::{Duration, Time};
use std::sync::Arc;

/// Instants at which a link serves what waits then. See
/// [`mahimahi`](crate::trace::mahimahi) for what that means.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Opportunities {
    /// In order, at least one. Those of a trace are many, and shared.
    pub(crate) times: Arc<[Time]>,
    /// After what time they repeat, at least the last of them.
    pub(crate) period: Option<Duration>,
    /// Bytes served per opportunity.
    pub(crate) bytes: u32,
    /// Time zero is so much later than that of `times`.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) begin: Duration,
    /// How many of them have come by then.
    #[serde(skip)]
    pub(crate) passed: u64,
}

impl Opportunities {
    /// When opportunity `index` comes, counted over all periods.
    #[must_use]
    pub fn at(&self, index: u64) -> Option<Time> {
        let at = self.of_trace(index.checked_add(self.passed)?)?;
        Some(Time::from_nanos(at.as_nanos() - self.begin.as_nanos()))
    }

    /// When opportunity `index` of the trace itself comes.
    fn of_trace(&self, index: u64) -> Option<Time> {
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
        self.of_trace_until(at + self.begin) - self.passed
    }

    fn of_trace_until(&self, at: Time) -> u64 {
        let (periods, inside) = match self.period.map(Duration::as_nanos) {
            Some(period) => (at.as_nanos() / period, at.as_nanos() % period),
            None => (0, at.as_nanos()),
        };
        let inside = Time::from_nanos(inside);
        let first = self.times.partition_point(|t| *t <= inside) as u64;
        periods * self.times.len() as u64 + first
    }

    /// The same from `by` on; one at the very instant has come by then.
    pub(crate) fn later(&self, by: Duration) -> Opportunities {
        let begin = self.begin + by;
        // Whole periods need not be counted.
        let begin = match self.period.map(Duration::as_nanos) {
            Some(period) if period > 0 => Duration::from_nanos(begin.as_nanos() % period),
            _ => begin,
        };
        Opportunities {
            passed: match begin.is_zero() {
                true => 0,
                false => self.of_trace_until(Time::ZERO + begin),
            },
            begin,
            ..self.clone()
        }
    }

    /// The first period, and the bytes that each serves.
    #[must_use]
    pub fn period(&self) -> (&[Time], Option<Duration>, u32) {
        (&self.times, self.period, self.bytes)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(begin: &Duration) -> bool {
    begin.is_zero()
}
