//! The rate at which a subflow takes what waits.

use std::time::{Duration, Instant};

/// Time over which bytes are counted.
const COUNTED: Duration = Duration::from_millis(100);

/// How fast a subflow takes the bytes of one connection while there are any for it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meter {
    since: Option<Instant>,
    bytes: u64,
    rate: Option<f64>,
}

impl Meter {
    /// Bytes were taken; `more` wait.
    pub(super) fn took(&mut self, bytes: usize, more: bool, now: Instant) {
        let since = *self.since.get_or_insert(now);
        self.bytes += bytes as u64;
        let elapsed = now.saturating_duration_since(since);
        if elapsed >= COUNTED {
            let found = self.bytes as f64 / elapsed.as_secs_f64();
            self.rate = Some(self.rate.map_or(found, |rate| (rate + found) / 2.0));
        }
        if elapsed >= COUNTED || !more {
            // Time without anything to take says nothing.
            self.since = more.then_some(now);
            self.bytes = 0;
        }
    }

    /// Bytes a second, once they were counted.
    pub(super) const fn rate(&self) -> Option<f64> {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_without_anything_to_take_does_not_count() {
        let begin = Instant::now();
        let at = |millis| begin + Duration::from_millis(millis);
        let mut meter = Meter::default();
        meter.took(1000, false, at(0));
        meter.took(1000, true, at(5_000));
        assert_eq!(meter.rate(), None);
        for step in 1..=10 {
            meter.took(1000, true, at(5_000 + 10 * step));
        }
        let rate = meter.rate().unwrap();
        assert!((100_000.0..=110_000.0).contains(&rate), "{rate}");
    }
}
