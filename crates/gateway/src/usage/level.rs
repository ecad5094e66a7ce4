//! A token bucket whose rate may change from one look to the next: what a cap lets through.

use bentpipe_units::Rate;
use std::time::{Duration, Instant};

/// What may be sent at once after a pause, as time at the rate, and in bytes at least.
const DEPTH: Duration = Duration::from_millis(50);
const LEAST_DEPTH: f64 = 3_000.0;
/// Longest wait before the rate is looked at again.
const LOOK: Duration = Duration::from_secs(1);

/// Bytes that may be sent; below zero after more.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) bytes: f64,
    at: Instant,
}

impl Level {
    pub(super) const fn new(now: Instant) -> Level {
        Level {
            bytes: 0.0,
            at: now,
        }
    }

    /// The rate was this one since the last look, if there was any.
    pub(super) fn refill(&mut self, rate: Option<Rate>, now: Instant) {
        let elapsed = now.saturating_duration_since(self.at).as_secs_f64();
        self.at = self.at.max(now);
        let rate = rate.map_or(0.0, |rate| rate.bps_f64() / 8.0);
        let depth = (rate * DEPTH.as_secs_f64()).max(LEAST_DEPTH);
        self.bytes = (self.bytes + rate * elapsed).min(depth);
    }

    /// When something may be sent; `None`: now.
    pub(super) fn wait(&mut self, rate: Rate, now: Instant) -> Option<Instant> {
        self.refill(Some(rate), now);
        if self.bytes > -0.5 {
            return None;
        }
        let rate = (rate.bps_f64() / 8.0).max(1.0);
        let wait = Duration::from_secs_f64((-self.bytes / rate).min(LOOK.as_secs_f64()));
        Some(now + wait.max(Duration::from_millis(1)))
    }
}
