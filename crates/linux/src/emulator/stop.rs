//! Stops a run from outside.

use crate::sys;
use nix::sys::signal::{SigSet, Signal};
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends a run of an emulator, from any thread.
#[derive(Clone, Debug)]
pub struct Stop(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    stopped: AtomicBool,
    /// Wakes whoever waits for packets.
    fd: OwnedFd,
}

impl Stop {
    /// One that has not stopped anything yet.
    ///
    /// # Errors
    /// If the process has no file descriptor left.
    pub fn new() -> io::Result<Stop> {
        let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let stopped = AtomicBool::new(false);
        Ok(Stop(Arc::new(Inner { stopped, fd })))
    }

    /// Ends the run, or the next one that begins.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Release);
        // It can only fail when it has been woken very often.
        let _ = rustix::io::write(&self.0.fd, &1_u64.to_ne_bytes());
    }

    /// True once it has been stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Acquire)
    }

    /// From here on SIGINT, SIGTERM and SIGHUP end the run instead of the
    /// process, so that everything is removed; a second one ends the process.
    /// SIGHUP stays ignored where it was before, as under nohup. SIGINT does not: shells
    /// without job control ignore it in all that they start with `&`, and a script that
    /// sends it means it.
    /// To be called on the main thread before others are started.
    ///
    /// # Errors
    /// If the signals cannot be blocked.
    pub fn on_signals(&self) -> io::Result<()> {
        let mut set = SigSet::empty();
        set.add(Signal::SIGINT);
        set.add(Signal::SIGTERM);
        if !sys::is_ignored(Signal::SIGHUP)? {
            set.add(Signal::SIGHUP);
        }
        set.thread_block()?;
        let stop = self.clone();
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                while let Ok(signal) = set.wait() {
                    if stop.is_stopped() {
                        // The next start removes what is left.
                        std::process::exit(128 + signal as i32);
                    }
                    stop.stop();
                }
            })?;
        Ok(())
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.fd.as_fd()
    }
}
