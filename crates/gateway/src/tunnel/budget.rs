//! The memory of streams: how much each may hold, and which one is cut when readers stall.
//!
//! *Sending.* What was written and not yet acknowledged is held here. All streams share one budget
//! by dynamic thresholds (Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory
//! packet switches", 1998): a stream may hold as much as is free, so that some always remains free
//! for new ones. What they may hold together is a few times what the link has under way: more would
//! not make it faster, and would take the window that all streams of an association share at the
//! other box, so that small requests wait for it. A stream holds no more than a window of it, from its
//! first byte that is not acknowledged on, which bounds what the other box may have to hold behind
//! that byte.
//!
//! *Receiving.* Data for a host that does not read stays in this box: in its own memory, in the
//! socket to the host, and in QUIC's buffers. All three are counted. QUIC's are bounded by the
//! windows of the associations, which together are no larger than what is free, so that they shrink
//! as memory fills. A host that has taken nothing for a while is cut when too much is held for such
//! hosts, those first that stalled first ([`Readers::cut`]).

mod keeper;
mod promise;
mod readers;

pub(super) use keeper::keep;
pub(super) use promise::Promise;
pub(crate) use readers::Stall;

use bytes::Bytes;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::Notify;

use readers::Readers;

/// Most and least memory that is guaranteed to a stream, bytes; between them, half of the memory is
/// shared among the streams.
const LEAST: (u64, u64) = (64 * 1024, 2 * 1024);
/// Least window of an association, bytes, however little is free.
const LEAST_WINDOW: u64 = 256 * 1024;

/// The memory that all streams of a box share.
#[derive(Debug)]
pub(crate) struct Budget {
    memory: u64,
    /// What may be held for sending, and what of it into each link, where that is known.
    sending: AtomicU64,
    links: Mutex<Vec<Option<u64>>>,
    window: u64,
    held: AtomicU64,
    /// Streams that have an account.
    streams: AtomicU64,
    /// What other boxes may send on bonded connections.
    promised: AtomicU64,
    readers: Readers,
}

impl Budget {
    /// The same for one link.
    #[cfg(test)]
    pub(crate) fn new(memory: u64, sending: u64, window: u64) -> Arc<Budget> {
        Budget::of_links(1, memory, sending, window)
    }

    /// A budget of `memory` bytes, of which `sending` may be held for sending into so many links, for
    /// streams with a window of `window` bytes.
    pub(super) fn of_links(links: usize, memory: u64, sending: u64, window: u64) -> Arc<Budget> {
        Arc::new(Budget {
            memory,
            sending: AtomicU64::new(sending.min(memory)),
            links: Mutex::new(vec![None; links]),
            window,
            held: AtomicU64::new(0),
            streams: AtomicU64::new(0),
            promised: AtomicU64::new(0),
            readers: Readers::default(),
        })
    }

    /// Bytes that are held now.
    pub(crate) fn held(&self) -> u64 {
        self.unacknowledged() + self.readers.held()
    }

    /// Bytes that were sent and are not acknowledged.
    pub(crate) fn unacknowledged(&self) -> u64 {
        self.held.load(Relaxed)
    }

    /// Bytes that the other box may have under way to this one on each of so many associations.
    pub(crate) fn window(&self, associations: usize) -> u64 {
        let held = self.held();
        // What is unread in QUIC's buffers lies within the windows and is not taken off them again.
        // An eighth is kept for hosts that do read.
        let behind = self.readers.behind();
        let free = self.memory.saturating_sub(held.saturating_sub(behind));
        let all = free.max(behind + self.memory / 8);
        // Most associations are idle most of the time: while memory is not short, each may
        // fill the window of a stream.
        let least = if held < self.memory / 2 {
            self.window.max(LEAST_WINDOW)
        } else {
            LEAST_WINDOW
        };
        (all / associations.max(1) as u64).max(least)
    }

    /// Sets what may be held for sending into the link with this number. All that is free may be, until
    /// that of all links is known.
    pub(super) fn set_sending(&self, link: usize, sending: u64) {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = links.get_mut(link) {
            *known = Some(sending);
        }
        let all: Option<u64> = links.iter().copied().sum();
        self.sending
            .store(all.unwrap_or(self.memory).min(self.memory), Relaxed);
    }

    /// Bytes that one stream may have under way to this box.
    pub(crate) const fn stream_window(&self) -> u64 {
        self.window
    }

    /// Number of streams that get nothing on.
    #[cfg(test)]
    pub(crate) fn stalled(&self) -> u64 {
        self.readers.count()
    }

    /// An account for a host that reads slowly.
    pub(crate) fn stall(self: &Arc<Budget>) -> Stall {
        Stall::new(Arc::clone(self))
    }

    fn least(&self) -> u64 {
        let share = self.sending.load(Relaxed) / 2 / self.streams.load(Relaxed).max(1);
        share.clamp(LEAST.1, LEAST.0)
    }

    /// An account for one more stream.
    pub(crate) fn account(self: &Arc<Budget>) -> Account {
        self.streams.fetch_add(1, Relaxed);
        Account(Arc::new(Stream {
            budget: Arc::clone(self),
            held: AtomicU64::new(0),
            freed: Notify::new(),
        }))
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
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.budget.streams.fetch_sub(1, Relaxed);
    }
}

impl Account {
    /// Whether the stream may hold more.
    pub(crate) fn has_room(&self) -> bool {
        self.left() > 0
    }

    /// Bytes that the stream may hold in addition.
    pub(crate) fn left(&self) -> u64 {
        let Account(stream) = self;
        let budget = &stream.budget;
        let sending = budget.sending.load(Relaxed);
        let sending = sending.saturating_sub(budget.unacknowledged());
        let free = sending.min(budget.memory.saturating_sub(budget.held()));
        free.max(budget.least())
            .min(budget.window)
            .saturating_sub(stream.held.load(Relaxed))
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
        self.keep(data).0
    }

    /// Begins anew: what is held does not count any more, and is nobody's once its stream has another way.
    pub(crate) fn renew(&mut self) {
        let budget = Arc::clone(&self.0.budget);
        let held = self.0.held.swap(0, Relaxed);
        budget.held.fetch_sub(held, Relaxed);
        *self = budget.account();
    }

    /// As [`Account::hold`], with a way to the same bytes for as long as they are held.
    pub(crate) fn keep(&self, data: Bytes) -> (Bytes, Kept) {
        let length = data.len() as u64;
        self.0.held.fetch_add(length, Relaxed);
        self.0.budget.held.fetch_add(length, Relaxed);
        let held = Arc::new(Held {
            data,
            stream: Arc::clone(&self.0),
        });
        let kept = Kept(Arc::downgrade(&held));
        (Bytes::from_owner(Owner(held)), kept)
    }
}

/// Bytes that somebody else may hold.
#[derive(Clone, Debug)]
pub(crate) struct Kept(Weak<Held>);

impl Kept {
    /// The bytes, where they are held.
    pub(crate) fn bytes(&self) -> Option<Bytes> {
        Some(Bytes::from_owner(Owner(self.0.upgrade()?)))
    }

    /// Whether nobody holds them any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }
}

struct Owner(Arc<Held>);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.0.data
    }
}

/// Bytes that are held.
#[derive(Debug)]
struct Held {
    data: Bytes,
    stream: Arc<Stream>,
}

impl Drop for Held {
    fn drop(&mut self) {
        let length = self.data.len() as u64;
        let left = |held: u64| held.checked_sub(length);
        // Otherwise the account has been renewed.
        if self
            .stream
            .held
            .fetch_update(Relaxed, Relaxed, left)
            .is_ok()
        {
            self.stream.budget.held.fetch_sub(length, Relaxed);
        }
        self.stream.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::readers::PATIENCE;
    use super::*;
    use tokio::time::timeout;

    #[tokio::test(start_paused = true)]
    async fn a_stream_may_hold_what_is_free_and_leaves_room_for_others() {
        let budget = Budget::new(1_000_000, 1_000_000, 1_000_000);
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
        timeout(PATIENCE, greedy.room()).await.unwrap();
        drop(held);
        assert_eq!(budget.held(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_holds_a_window_at_most() {
        let budget = Budget::new(1_000_000, 1_000_000, 100_000);
        let account = budget.account();
        let held = account.hold(Bytes::from(vec![0; 99_999]));
        assert_eq!(account.left(), 1);
        let more = account.hold(Bytes::from(vec![0; 1]));
        assert!(timeout(PATIENCE, account.room()).await.is_err());
        drop((held, more));
        assert!(account.has_room());
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_stream_held_before_it_begins_anew_does_not_count() {
        let budget = Budget::new(1_000_000, 1_000_000, 100_000);
        let mut account = budget.account();
        let (held, kept) = account.keep(Bytes::from(vec![7; 400_000]));
        account.renew();
        assert_eq!(budget.held(), 0);
        let more = account.hold(Bytes::from(vec![0; 10_000]));
        assert_eq!(kept.bytes().unwrap(), held);
        drop(held);
        assert!(kept.is_gone());
        assert_eq!(budget.held(), 10_000);
        drop(more);
        assert_eq!(budget.held(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_may_always_hold_a_little() {
        let budget = Budget::new(100_000, 100_000, 100_000);
        let (one, two) = (budget.account(), budget.account());
        let _all = one.hold(Bytes::from(vec![0; 200_000]));
        assert!(timeout(PATIENCE, one.room()).await.is_err());
        let _little = two.hold(Bytes::from(vec![0; 20_000]));
        assert!(two.has_room());
    }
}
