//! The memory of streams: how much each may hold, and which one is cut when readers stall.
//!
//! *Sending.* What was written and not yet acknowledged is held here. All streams share one budget
//! by dynamic thresholds (Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory
//! packet switches", 1998): a stream may hold as much as is free, so that some always remains free
//! for new ones.
//!
//! *Receiving.* A host that does not read makes the other box hold a window of data
//! for it. No limit of the association as a whole bounds that, since a few such
//! hosts would then stop all others. Instead the sending box, which finds such a
//! stream to be acknowledged in full and yet without credit, counts them; when all
//! together may hold more than the budget, the one that stalled first is cut.

use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Memory guaranteed to a stream, bytes.
const LEAST: u64 = 64 * 1024;
/// A write that waits this long without anything unacknowledged is stalled.
const STALL: Duration = Duration::from_secs(10);

/// The memory that all streams of a box share.
#[derive(Debug)]
pub(crate) struct Budget {
    memory: u64,
    window: u64,
    held: AtomicU64,
    number: AtomicU64,
    /// Streams that are stalled, in the order in which they did.
    stalled: Mutex<BTreeMap<u64, Arc<Notify>>>,
}

impl Budget {
    /// A budget of `memory` bytes for streams with a window of `window` bytes.
    pub(crate) fn new(memory: u64, window: u64) -> Arc<Budget> {
        Arc::new(Budget {
            memory,
            window,
            held: AtomicU64::new(0),
            number: AtomicU64::new(0),
            stalled: Mutex::default(),
        })
    }

    /// Bytes that are held now.
    pub(crate) fn held(&self) -> u64 {
        self.held.load(Relaxed)
    }

    /// An account for one more stream.
    pub(crate) fn account(self: &Arc<Budget>) -> Account {
        Account(Arc::new(Stream {
            budget: Arc::clone(self),
            held: AtomicU64::new(0),
            freed: Notify::new(),
            evicted: Arc::default(),
        }))
    }

    fn stalled(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Arc<Notify>>> {
        self.stalled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Memory held by one stream.
#[derive(Clone, Debug)]
pub(crate) struct Account(Arc<Stream>);

#[derive(Debug)]
struct Stream {
    budget: Arc<Budget>,
    held: AtomicU64,
    freed: Notify,
    evicted: Arc<Notify>,
}

impl Account {
    /// Whether the stream may hold more.
    pub(crate) fn has_room(&self) -> bool {
        let Account(stream) = self;
        let free = stream.budget.memory.saturating_sub(stream.budget.held());
        stream.held.load(Relaxed) < free.max(LEAST)
    }

    /// Waits until the stream may hold more.
    pub(crate) async fn room(&self) {
        while !self.has_room() {
            // There is something to free, or it would hold less.
            self.0.freed.notified().await;
        }
    }

    /// The same bytes, held until their last part is dropped, which QUIC does when it
    /// is acknowledged.
    pub(crate) fn hold(&self, data: Bytes) -> Bytes {
        let length = data.len() as u64;
        self.0.held.fetch_add(length, Relaxed);
        self.0.budget.held.fetch_add(length, Relaxed);
        Bytes::from_owner(Held {
            data,
            stream: Arc::clone(&self.0),
        })
    }

    /// Completes when this stream must go, while a write of `length` bytes waits.
    pub(crate) async fn evicted(&self, length: usize) {
        let Account(stream) = self;
        loop {
            tokio::time::sleep(STALL).await;
            // More is held while something is unacknowledged: the link is slow, not
            // the reader.
            if stream.held.load(Relaxed) <= length as u64 {
                break;
            }
        }
        let budget = &stream.budget;
        let stalled = Stalled {
            budget,
            number: budget.number.fetch_add(1, Relaxed),
        };
        {
            let mut all = budget.stalled();
            all.insert(stalled.number, Arc::clone(&stream.evicted));
            let most = (budget.memory / budget.window.max(1)).max(1);
            while all.len() as u64 > most {
                if let Some((_, first)) = all.pop_first() {
                    first.notify_one();
                }
            }
        }
        stream.evicted.notified().await;
    }
}

/// Keeps a stream among those that are stalled.
struct Stalled<'a> {
    budget: &'a Budget,
    number: u64,
}

impl Drop for Stalled<'_> {
    fn drop(&mut self) {
        self.budget.stalled().remove(&self.number);
    }
}

/// Bytes that are held.
struct Held {
    data: Bytes,
    stream: Arc<Stream>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let length = self.data.len() as u64;
        self.stream.held.fetch_sub(length, Relaxed);
        self.stream.budget.held.fetch_sub(length, Relaxed);
        self.stream.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::timeout;

    #[tokio::test(start_paused = true)]
    async fn a_stream_may_hold_what_is_free_and_leaves_room_for_others() {
        let budget = Budget::new(1_000_000, 100_000);
        let greedy = budget.account();
        let mut held = Vec::new();
        while greedy.has_room() {
            held.push(greedy.hold(Bytes::from(vec![0; 10_000])));
        }
        assert_eq!(budget.held(), 500_000);
        let other = budget.account();
        assert!(other.has_room());
        // Parts of what was written are freed together.
        let part = held.pop().map(|mut whole| whole.split_to(10));
        assert!(!greedy.has_room());
        drop(part);
        timeout(STALL, greedy.room()).await.unwrap();
        drop(held);
        assert_eq!(budget.held(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_may_always_hold_a_little() {
        let budget = Budget::new(100_000, 100_000);
        let (one, two) = (budget.account(), budget.account());
        let _all = one.hold(Bytes::from(vec![0; 200_000]));
        assert!(timeout(STALL, one.room()).await.is_err());
        let _little = two.hold(Bytes::from(vec![0; 60_000]));
        assert!(two.has_room());
    }

    #[tokio::test(start_paused = true)]
    async fn the_stream_that_stalled_first_goes_when_there_are_too_many() {
        let budget = Budget::new(200_000, 100_000);
        let accounts: Vec<Account> = (0..3).map(|_| budget.account()).collect();
        let _waits: Vec<Bytes> = accounts
            .iter()
            .map(|account| account.hold(Bytes::from(vec![0; 1000])))
            .collect();
        let mut waiting = tokio::task::JoinSet::new();
        for (i, account) in accounts.iter().cloned().enumerate().take(2) {
            waiting.spawn(async move {
                tokio::time::sleep(Duration::from_millis(10 * i as u64)).await;
                account.evicted(1000).await;
                i
            });
        }
        // Two fit the budget.
        assert!(timeout(10 * STALL, waiting.join_next()).await.is_err());
        let third = accounts[2].clone();
        waiting.spawn(async move {
            third.evicted(1000).await;
            2
        });
        let gone = timeout(10 * STALL, waiting.join_next()).await;
        assert_eq!(gone.unwrap().unwrap().unwrap(), 0);
        assert!(timeout(10 * STALL, waiting.join_next()).await.is_err());
        // While something is unacknowledged, the reader is not to blame.
        let more = accounts[1].hold(Bytes::from(vec![0; 1000]));
        let busy = accounts[1].evicted(1000);
        assert!(timeout(10 * STALL, busy).await.is_err());
        drop(more);
    }
}
