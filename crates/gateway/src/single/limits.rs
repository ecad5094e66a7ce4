//! Places for connections: as many as the configuration and the limit on open
//! files allow.

use crate::config::Limits;
use crate::descriptors::allowed;
use crate::relay::Pipes;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::watch;

/// Bytes that a pipe may hold.
const PIPE: usize = 1 << 20;

/// Most pipes: connections that move bulk in the same instant. Others copy.
const PIPES: u64 = 1024;

/// Descriptors that are left to everything else: listeners, logs, metrics.
const OTHERS: usize = 128;

/// The descriptors of one connection: its two sockets.
const SOCKETS: usize = 2;

/// The pool of pipes: what they hold stays within the limit on memory, and they
/// take at most an eighth of the descriptors.
pub(super) fn pipes(limits: &Limits) -> Pipes {
    let memory = limits.memory / PIPE as u64;
    let files = (allowed() / 16) as u64;
    let most = memory.min(files).clamp(1, PIPES);
    Pipes::new(usize::try_from(most).unwrap_or(1), PIPE)
}

/// Connections at a time for which there are descriptors.
pub(super) fn room(pipes: &Pipes) -> usize {
    let taken = OTHERS + pipes.descriptors();
    allowed().saturating_sub(taken) / SOCKETS
}

/// The places that are taken.
#[derive(Debug, Default)]
pub(super) struct Places {
    taken: AtomicUsize,
    full: watch::Sender<bool>,
}

/// A place of one connection.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    most: usize,
}

impl Places {
    /// A place, if fewer than `most` are taken.
    pub(super) fn take(self: &Arc<Places>, most: usize) -> Option<Place> {
        let before = self.taken.fetch_add(1, Ordering::Relaxed);
        if before + 1 >= most {
            self.note(true);
        }
        if before >= most {
            self.taken.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Place {
            places: Arc::clone(self),
            most,
        })
    }

    pub(super) fn full(&self) -> watch::Receiver<bool> {
        self.full.subscribe()
    }

    fn note(&self, full: bool) {
        if *self.full.borrow() != full {
            self.full.send_if_modified(|now| {
                let changed = *now != full;
                *now = full;
                changed
            });
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let left = self.places.taken.fetch_sub(1, Ordering::Relaxed) - 1;
        // Some room, so that one end and one beginning do not switch to and fro.
        if left < self.most - self.most / 16 {
            self.places.note(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_holds_and_is_reported_until_there_is_room() {
        let places = Arc::new(Places::default());
        let full = places.full();
        let mut taken: Vec<_> = (0..32).map(|_| places.take(32).unwrap()).collect();
        assert!(places.take(32).is_none());
        assert!(*full.borrow());
        drop(taken.pop());
        assert!(*full.borrow(), "one place is not yet room");
        taken.truncate(28);
        assert!(!*full.borrow());
        assert!(places.take(32).is_some());
    }

    #[test]
    fn pipes_stay_within_the_memory() {
        let limits = Limits {
            memory: 8 << 20,
            ..Limits::default()
        };
        assert!(pipes(&limits).descriptors() <= 16);
        assert!(room(&pipes(&limits)) <= allowed() / 2);
    }
}
