//! The programs that run in a network namespace.

use super::Identity;
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::fs;
use std::time::{Duration, Instant};

/// Programs have so long to end by themselves when their namespace goes.
const PATIENCE: Duration = Duration::from_secs(2);

/// So long is waited for those that were made to end.
const AFTERWARDS: Duration = Duration::from_secs(1);

/// How often it is looked whether they have.
const LOOK: Duration = Duration::from_millis(10);

/// Ends every program in `namespace` but this one: asks it to, and makes it if
/// it does not.
pub(super) fn end_all(namespace: Identity) {
    for (signal, patience) in [(Signal::TERM, PATIENCE), (Signal::KILL, AFTERWARDS)] {
        let end = Instant::now() + patience;
        let mut asked = Vec::new();
        loop {
            let found = programs(namespace);
            if found.is_empty() {
                return;
            }
            // They may have started others in the meantime.
            for (pid, fd) in found {
                if !asked.contains(&pid) {
                    // It may end in between.
                    let _ = pidfd_send_signal(&fd, signal);
                    asked.push(pid);
                }
            }
            if Instant::now() >= end {
                break;
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// The processes in `namespace`.
pub(super) fn programs(namespace: Identity) -> Vec<(Pid, OwnedFd)> {
    let own = rustix::process::getpid();
    let processes = fs::read_dir("/proc").into_iter().flatten();
    let pids = processes.filter_map(|file| {
        let name = file.ok()?.file_name();
        Pid::from_raw(name.to_str()?.parse().ok()?)
    });
    let others = pids.filter(|pid| *pid != own);
    let inside = others.filter_map(|pid| {
        let file = format!("/proc/{}/ns/net", pid.as_raw_nonzero());
        let is_in = || Identity::of(&file).ok() == Some(namespace);
        if !is_in() {
            return None;
        }
        let fd = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        // The number may have gone to another process before.
        is_in().then_some((pid, fd))
    });
    inside.collect()
}
