//! What the other box may send on a bonded connection, which this one has promised to keep.
//!
//! All subflows are read as they bring something, so that no window of QUIC bounds what is held for a
//! host that reads nothing. The windows that the boxes tell each other do: each connection is promised
//! a part of what is left, so that however many there are, all of it is never promised.

use super::Budget;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Part of what is left that one connection is promised.
const PART: u64 = 32;
/// The least, bytes.
const LEAST: u64 = 16 << 10;

/// A promise to hold so many bytes.
#[derive(Debug)]
pub(in crate::tunnel) struct Promise {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Budget {
    /// Promises a connection a part of the memory.
    pub(in crate::tunnel) fn promise(self: &Arc<Budget>) -> Promise {
        let mut promise = Promise {
            budget: Arc::clone(self),
            bytes: 0,
        };
        promise.renew();
        promise
    }
}

impl Promise {
    /// What is promised now, bytes: at most a window of a stream. Less than before says that memory is
    /// short: what the other box was told stays until it is used.
    pub(in crate::tunnel) fn renew(&mut self) -> u64 {
        let all = &self.budget.promised;
        // Half of the memory is left to what is sent, and to QUIC.
        let others = all.load(Relaxed).saturating_sub(self.bytes);
        let held = self
            .budget
            .held()
            .saturating_sub(self.budget.readers.held());
        let left = (self.budget.memory / 2).saturating_sub(others.max(held));
        let now = (left / PART).max(LEAST).min(self.budget.window);
        all.fetch_add(now, Relaxed);
        all.fetch_sub(self.bytes, Relaxed);
        self.bytes = now;
        now
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.budget.promised.fetch_sub(self.bytes, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_many_connections_there_are_the_memory_is_not_exceeded() {
        let budget = Budget::new(256 << 20, 256 << 20, 4 << 20);
        let mut all: Vec<_> = (0..2_000).map(|_| budget.promise()).collect();
        assert_eq!(all[0].bytes, 4 << 20);
        let sum: u64 = all.iter().map(|it| it.bytes).sum();
        assert!(sum <= (128 << 20) + 2_000 * LEAST, "{sum}");
        assert_eq!(sum, budget.promised.load(Relaxed));
        // The first gets less when it asks again, the last more when others are gone.
        assert_eq!(all[0].renew(), (LEAST).max(all[0].bytes));
        all.drain(..1_999);
        assert_eq!(all[0].renew(), 4 << 20);
        drop(all);
        assert_eq!(budget.promised.load(Relaxed), 0);
    }
}
