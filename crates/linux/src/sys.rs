//! System calls without a safe wrapper.

#![allow(
    unsafe_code,
    reason = "no safe wrapper in nix, rustix or the standard library"
)]

pub(crate) mod packet;

use nix::sched::{CloneFlags, setns};
use nix::sys::signal::{SigSet, Signal};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

/// Lets `command` begin in the network namespace of the file `namespace`, with
/// no signal blocked.
pub(crate) fn begin_in(command: &mut Command, namespace: File) {
    let begin = move || {
        setns(&namespace, CloneFlags::CLONE_NEWNET)?;
        SigSet::empty().thread_set_mask()?;
        Ok(())
    };
    // SAFETY: what runs between fork and exec makes two system calls, which
    // are safe there, and neither allocates nor takes a lock.
    unsafe { command.pre_exec(begin) };
}

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

/// True if the process ignores a signal.
pub(crate) fn is_ignored(signal: Signal) -> io::Result<bool> {
    let mut now = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: nothing is set, and `now` has room for what the call writes.
    check(unsafe { libc::sigaction(signal as i32, ptr::null(), now.as_mut_ptr()) })?;
    // SAFETY: the call has succeeded; and all bytes zero are such a value, too.
    Ok(unsafe { now.assume_init() }.sa_sigaction == libc::SIG_IGN)
}

/// Sets the nice value of the calling thread, -20 (first) to 19.
pub(crate) fn set_nice(value: i32) -> io::Result<()> {
    // SAFETY: no pointers; 0 is the calling thread.
    check(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, value) })
}

/// Reads TCP_INFO into `bytes` and returns its length.
pub(crate) fn tcp_info(socket: impl AsFd, bytes: &mut [u8; 256]) -> io::Result<usize> {
    let mut length = bytes.len() as libc::socklen_t;
    // SAFETY: the descriptor is open while it is borrowed, and the kernel
    // writes at most `length` bytes, which is what `bytes` has.
    let status = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    check(status)?;
    Ok((length as usize).min(bytes.len()))
}

/// Sets a TCP option that is an integer.
pub(crate) fn set_tcp_option(socket: impl AsFd, option: i32, value: i32) -> io::Result<()> {
    // SAFETY: the descriptor is open while it is borrowed, and the kernel reads
    // the size of an `i32` from a pointer to one.
    let status = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            option,
            (&raw const value).cast(),
            size_of::<i32>() as libc::socklen_t,
        )
    };
    check(status)
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
