//! A barrier that can be left for good.
//!
//! Windows are short, often less than a millisecond of work, so a part that comes early looks at the
//! gate for a while before it sleeps, where every part has a processor. A part that fails breaks the
//! gate, so that the others do not wait for it for ever.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::{hint, thread};

/// Looks at the gate before a part sleeps: some 50 us.
const LOOKS: u32 = 1_000;

/// Where all parts meet.
#[derive(Debug)]
pub(super) struct Gate {
    parts: usize,
    looks: u32,
    /// Parts that have come to this round.
    come: AtomicUsize,
    round: AtomicUsize,
    broken: AtomicBool,
    /// Parts that sleep.
    asleep: Mutex<usize>,
    opened: Condvar,
}

/// A part has left the gate for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken;

impl Gate {
    pub(super) fn new(parts: usize) -> Gate {
        let processors = thread::available_parallelism().map_or(1, |n| n.get());
        Gate {
            parts,
            looks: if parts <= processors { LOOKS } else { 0 },
            come: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            asleep: Mutex::new(0),
            opened: Condvar::new(),
        }
    }

    /// Waits until all parts have come. What each did before is seen by all after it.
    pub(super) fn wait(&self) -> Result<(), Broken> {
        let round = self.round.load(Ordering::Acquire);
        if self.come.fetch_add(1, Ordering::AcqRel) + 1 == self.parts {
            self.come.store(0, Ordering::Relaxed);
            let asleep = self.asleep();
            self.round.store(round.wrapping_add(1), Ordering::Release);
            if *asleep > 0 {
                self.opened.notify_all();
            }
        } else {
            self.look(round);
            let mut asleep = self.asleep();
            while self.is_shut(round) {
                *asleep += 1;
                let wait = self.opened.wait(asleep);
                asleep = wait.unwrap_or_else(PoisonError::into_inner);
                *asleep -= 1;
            }
        }
        // Whoever has come sees the same, also if another leaves right after that.
        match self.round.load(Ordering::Acquire) == round {
            true => Err(Broken),
            false => Ok(()),
        }
    }

    /// Leaves for good: nobody waits any more.
    pub(super) fn leave(&self) {
        let _asleep = self.asleep();
        self.broken.store(true, Ordering::Release);
        self.opened.notify_all();
    }

    fn look(&self, round: usize) {
        for _ in 0..self.looks {
            if !self.is_shut(round) {
                return;
            }
            hint::spin_loop();
        }
    }

    fn is_shut(&self, round: usize) -> bool {
        self.round.load(Ordering::Acquire) == round && !self.broken.load(Ordering::Acquire)
    }

    fn asleep(&self) -> MutexGuard<'_, usize> {
        self.asleep.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_a_round_ahead() {
        let (gate, sum) = (Gate::new(4), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for round in 1..=500 {
                        sum.fetch_add(1, Ordering::Relaxed);
                        gate.wait().unwrap();
                        assert_eq!(sum.load(Ordering::Relaxed), 4 * round);
                        gate.wait().unwrap();
                    }
                });
            }
        });
    }

    #[test]
    fn who_leaves_is_not_waited_for() {
        let gate = Gate::new(3);
        thread::scope(|scope| {
            let waits = [(); 2].map(|()| scope.spawn(|| gate.wait()));
            gate.leave();
            for wait in waits {
                assert_eq!(wait.join().unwrap(), Err(Broken));
            }
        });
    }
}
