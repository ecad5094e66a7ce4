//! What this box holds for hosts that do not read.

use super::Budget;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How long a host may take nothing while more than half of the memory is held for such hosts.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// The same while more than three quarters are.
pub(super) const HURRY: Duration = Duration::from_secs(1);

/// The hosts that read more slowly than their data arrives.
#[derive(Debug, Default)]
pub(super) struct Readers {
    /// Bytes that are held for them, and those of them that lie unread in QUIC's buffers.
    held: AtomicU64,
    behind: AtomicU64,
    number: AtomicU64,
    /// Those that take nothing, in the order in which they stopped.
    stalled: Mutex<BTreeMap<u64, (Instant, Arc<Reader>)>>,
}

#[derive(Debug, Default)]
struct Reader {
    held: AtomicU64,
    behind: AtomicU64,
    is_cut: AtomicBool,
    cut: Notify,
}

impl Readers {
    pub(super) fn held(&self) -> u64 {
        self.held.load(Relaxed)
    }

    /// Bytes of these that lie unread in QUIC's buffers.
    pub(super) fn behind(&self) -> u64 {
        self.behind.load(Relaxed)
    }

    fn stalled(&self) -> MutexGuard<'_, BTreeMap<u64, (Instant, Arc<Reader>)>> {
        self.stalled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of hosts that take nothing.
    pub(super) fn count(&self) -> u64 {
        self.stalled().len() as u64
    }

    /// Cuts those that have taken nothing for longest, as long as too much of `memory` is held.
    /// Returns how many.
    pub(super) fn cut(&self, memory: u64, now: Instant) -> u64 {
        let mut stalled = self.stalled();
        let mut count = 0;
        while let Some(first) = stalled.first_entry() {
            let held = self.held();
            let patience = if held > memory / 4 * 3 {
                HURRY
            } else if held > memory / 2 {
                PATIENCE
            } else {
                break;
            };
            let (since, reader) = first.get();
            if now.saturating_duration_since(*since) < patience {
                break;
            }
            reader.is_cut.store(true, Relaxed);
            renew(&self.held, &reader.held, 0);
            renew(&self.behind, &reader.behind, 0);
            reader.cut.notify_one();
            first.remove();
            count += 1;
        }
        count
    }
}

/// The account of one host while this box holds something for it.
#[derive(Debug)]
pub(crate) struct Stall {
    budget: Arc<Budget>,
    reader: Arc<Reader>,
    /// Its place among those that take nothing.
    number: Option<u64>,
}

impl Stall {
    pub(super) fn new(budget: Arc<Budget>) -> Stall {
        Stall {
            budget,
            reader: Arc::default(),
            number: None,
        }
    }

    /// Notes that it takes nothing from now on.
    pub(crate) fn begins(&mut self) {
        self.moves();
        let readers = &self.budget.readers;
        let mut stalled = readers.stalled();
        // Numbered under the lock, so that the order of the numbers is that of the times.
        let number = readers.number.fetch_add(1, Relaxed);
        stalled.insert(number, (Instant::now(), Arc::clone(&self.reader)));
        self.number = Some(number);
    }

    /// Notes that it has taken something.
    pub(crate) fn moves(&mut self) {
        if let Some(number) = self.number.take() {
            self.budget.readers.stalled().remove(&number);
        }
    }

    /// Notes the bytes that are held for it outside QUIC's buffers, and `behind` them there.
    pub(crate) fn holds(&self, bytes: u64, behind: u64) {
        let readers = &self.budget.readers;
        // Against a cut, which takes what is held off the sum.
        let _order = readers.stalled();
        if !self.reader.is_cut.load(Relaxed) {
            renew(&readers.held, &self.reader.held, bytes + behind);
            renew(&readers.behind, &self.reader.behind, behind);
        }
    }

    /// Completes when it must go.
    pub(crate) async fn is_cut(&self) {
        self.reader.cut.notified().await;
    }
}

impl Drop for Stall {
    fn drop(&mut self) {
        self.moves();
        self.holds(0, 0);
    }
}

/// Replaces a part of `sum` by `bytes`.
fn renew(sum: &AtomicU64, part: &AtomicU64, bytes: u64) {
    let before = part.swap(bytes, Relaxed);
    sum.fetch_add(bytes, Relaxed);
    sum.fetch_sub(before, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    fn stall(budget: &Arc<Budget>, bytes: u64) -> Stall {
        let mut stall = budget.stall();
        stall.begins();
        stall.holds(bytes, 0);
        stall
    }

    async fn is_cut(stall: &Stall) -> bool {
        tokio::time::timeout(Duration::from_millis(10), stall.is_cut())
            .await
            .is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn those_that_stalled_first_go_once_memory_is_short_and_they_had_their_time() {
        let budget = Budget::new(100 * MB, 100 * MB, MB);
        let readers = &budget.readers;
        let now = Instant::now();
        let mut all: Vec<Stall> = (0..6).map(|_| stall(&budget, 10 * MB)).collect();
        assert_eq!(budget.held(), 60 * MB);
        assert_eq!(readers.cut(budget.memory, now + PATIENCE / 2), 0);
        // The second reads on.
        all[1].moves();
        all[1].begins();
        assert_eq!(readers.cut(budget.memory, now + 2 * PATIENCE), 1);
        assert!(is_cut(&all[0]).await && !is_cut(&all[1]).await);
        assert_eq!((budget.held(), readers.count()), (50 * MB, 5));
        // What it holds until it has gone is counted no more.
        all[0].holds(20 * MB, 0);
        assert_eq!(budget.held(), 50 * MB);
        all.push(stall(&budget, 30 * MB));
        assert_eq!(readers.cut(budget.memory, Instant::now() + HURRY), 1);
        assert!(is_cut(&all[2]).await);
        drop(all);
        assert_eq!((budget.held(), readers.count()), (0, 0));
    }

    #[test]
    fn who_takes_nothing_keeps_its_connection_while_there_is_memory() {
        let budget = Budget::new(100 * MB, 100 * MB, MB);
        let _all: Vec<Stall> = (0..50).map(|_| stall(&budget, MB)).collect();
        let later = Instant::now() + 1000 * PATIENCE;
        assert_eq!(budget.readers.cut(budget.memory, later), 0);
        assert_eq!(budget.window(1), 50 * MB);
        assert_eq!(budget.window(5), 10 * MB);
    }

    #[test]
    fn associations_keep_a_stream_s_window_until_memory_is_short() {
        let budget = Budget::new(100 * MB, 100 * MB, 4 * MB);
        let first = stall(&budget, 49 * MB);
        assert_eq!(budget.window(1000), 4 * MB);
        let _second = stall(&budget, MB);
        assert_eq!(budget.window(1000), super::super::LEAST_WINDOW);
        // What is unread in QUIC's buffers has its place in the windows already.
        first.holds(9 * MB, 40 * MB);
        assert_eq!(budget.window(1), 90 * MB);
        first.holds(9 * MB, 85 * MB);
        assert_eq!(budget.window(1), (85 + 12) * MB + MB / 2);
        drop(first);
        assert_eq!(budget.window(1), 99 * MB);
    }
}
