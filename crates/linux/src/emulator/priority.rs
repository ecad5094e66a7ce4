//! The scheduling of the emulator's thread.

use super::report::Priority;
use crate::sys;
use bentpipe_units::Duration;
use std::num::NonZeroU64;

/// The nice value where real-time priority is not allowed.
const NICE: i32 = -15;

/// Processor time of the calling thread.
pub(super) fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::from_nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// The calling thread as one that wakes in time: timers without slack, and a
/// real-time priority or a nice value, if that is allowed. Undone when this is
/// dropped.
pub(super) struct InTime {
    pub(super) priority: Priority,
    /// The nice value that it had.
    nice: i32,
}

impl InTime {
    pub(super) fn new(wanted: bool) -> InTime {
        // The kernel puts timers together that lie this near.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let nice = rustix::process::getpriority_process(None).unwrap_or(0);
        let priority = if !wanted {
            Priority::Ordinary
        } else if sys::set_real_time(Some(1)).is_ok() {
            Priority::RealTime
        } else if sys::set_nice(NICE).is_ok() {
            Priority::Nice(NICE)
        } else {
            Priority::Ordinary
        };
        InTime { priority, nice }
    }
}

impl Drop for InTime {
    fn drop(&mut self) {
        let _ = match self.priority {
            Priority::RealTime => sys::set_real_time(None),
            Priority::Nice(_) => sys::set_nice(self.nice),
            Priority::Ordinary => Ok(()),
        };
        // The default of the thread.
        let _ = rustix::thread::set_current_timer_slack(None);
    }
}
