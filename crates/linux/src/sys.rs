//! System calls without a safe wrapper.

#![allow(
    unsafe_code,
    reason = "scheduling policy has no safe wrapper in nix or rustix"
)]

use std::io;

/// Gives the calling thread the real-time policy SCHED_FIFO at its lowest
/// priority, or with `None` the ordinary policy. Children do not inherit it.
pub(crate) fn set_real_time(priority: Option<i32>) -> io::Result<()> {
    let policy = match priority {
        Some(_) => libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK,
        None => libc::SCHED_OTHER,
    };
    let parameter = libc::sched_param {
        sched_priority: priority.unwrap_or(0),
    };
    // SAFETY: 0 is the calling thread, and the parameter lives until the call
    // returns.
    check(unsafe { libc::sched_setscheduler(0, policy, &raw const parameter) })
}

/// Sets the nice value of the calling thread, -20 (first) to 19.
pub(crate) fn set_nice(value: i32) -> io::Result<()> {
    // SAFETY: no pointers; 0 is the calling thread.
    check(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, value) })
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
