//! How many connections the limit on open files allows.

use crate::config::{Config, Role};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::os::fd::{AsFd, AsRawFd as _};

/// Descriptors that are kept for everything else: listeners, status, the tunnel, requests that are
/// being read, answers to those beyond the limit.
const OTHERS: usize = 128;

/// The last descriptors, which no connection of a client gets.
const KEPT: usize = 64;

/// Lets the process open as many files as it may; returns how many these are.
pub(crate) fn raise() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let all = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    if let Err(error) = setrlimit(Resource::Nofile, all) {
        tracing::warn!(%error, "the limit on open files stays as it is");
    }
    allowed()
}

/// Open files that this process may have now.
pub(crate) fn allowed() -> usize {
    count(getrlimit(Resource::Nofile).current)
}

fn count(limit: Option<u64>) -> usize {
    limit.map_or(usize::MAX, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    })
}

/// Connections of a terminal or a hub for which `descriptors` suffice. Each has one socket here, and
/// a second one where it goes over the fallback.
pub(crate) fn room(descriptors: usize, falls_back: bool) -> usize {
    let others = OTHERS.min(descriptors / 2);
    let each = if falls_back { 2 } else { 1 };
    ((descriptors - others) / each).max(1)
}

/// Connections that a terminal or a hub takes at a time: what is configured, as far as descriptors
/// suffice.
pub(crate) fn connections(config: &Config, falls_back: bool) -> usize {
    match config.role {
        Role::Single => config.limits.connections,
        Role::Terminal | Role::Hub => {
            let of_udp = match config.udp.carries() {
                true => crate::udp::most(config),
                false => 0,
            };
            let descriptors = allowed().saturating_sub(of_udp);
            config.limits.connections.min(room(descriptors, falls_back))
        }
    }
}

/// True if a socket that was just made took one of the last descriptors, which are kept for status,
/// control and the tunnel: the lowest that is free is always taken (POSIX, section 2.6). It had
/// better be closed.
pub(crate) fn is_reserved(socket: impl AsFd) -> bool {
    reserves(allowed(), socket.as_fd().as_raw_fd())
}

fn reserves(allowed: usize, descriptor: i32) -> bool {
    let kept = KEPT.min(allowed / 4);
    usize::try_from(descriptor).is_ok_and(|it| it >= allowed - kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::config_from_str;

    #[test]
    fn connections_leave_descriptors_for_everything_else() {
        assert_eq!(room(1024, false), 896);
        assert_eq!(room(1024, true), 448);
        assert_eq!(room(100, false), 50);
        assert_eq!(room(1, true), 1);
        let text = "role = \"terminal\"\n[socks]\n[tunnel]\naddress = \"192.0.2.7\"\n\
                    peers = [\"k\"]\n[limits]\nconnections = 2\n";
        assert_eq!(connections(&config_from_str(text).unwrap(), true), 2);
    }

    #[test]
    fn the_last_descriptors_are_kept() {
        assert!(!reserves(1024, 959) && reserves(1024, 960));
        assert!(!reserves(100, 74) && reserves(100, 75));
        assert!(!reserves(usize::MAX, i32::MAX));
    }
}
