//! The time of a run, and waiting for it.

use bentpipe_units::{Duration, Time};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Longest wait without checking whether the run is over.
pub(crate) const PATIENCE: std::time::Duration = std::time::Duration::from_millis(50);

/// The clock of a run, shared by its threads.
#[derive(Debug)]
pub(crate) struct Clock {
    zero: Instant,
    over: AtomicBool,
}

impl Clock {
    /// A clock that was zero at `zero`.
    pub(crate) fn new(zero: Instant) -> Clock {
        Clock {
            zero,
            over: AtomicBool::new(false),
        }
    }

    /// The time of the run.
    pub(crate) fn now(&self) -> Time {
        let elapsed = self.zero.elapsed().as_nanos();
        Time::ZERO + Duration::from_nanos(u64::try_from(elapsed).unwrap_or(u64::MAX))
    }

    /// The run is over: every thread ends soon.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// True once it is over.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Waits until `at`; false if the run was over before.
    pub(crate) fn wait_until(&self, at: Time) -> bool {
        loop {
            if self.is_over() {
                return false;
            }
            let left = at.since(self.now());
            if left.is_zero() {
                return true;
            }
            let left = std::time::Duration::from_nanos(left.as_nanos());
            std::thread::sleep(left.min(PATIENCE));
        }
    }

    /// Waits until the run is over.
    pub(crate) fn wait_for_end(&self) {
        while !self.is_over() {
            std::thread::sleep(PATIENCE);
        }
    }
}
