//! What was kept last, within a bound: the server keeps what is dear to find again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Values by key, of which those together within `MOST` are kept, the oldest going first;
/// the last is kept whatever its size. Clones are the same.
#[derive(Debug)]
pub(crate) struct Recent<K, V, const MOST: u64>(Arc<Mutex<VecDeque<Entry<K, V>>>>);

#[derive(Debug)]
struct Entry<K, V> {
    key: K,
    value: V,
    size: u64,
}

impl<K, V, const MOST: u64> Default for Recent<K, V, MOST> {
    fn default() -> Self {
        Recent(Arc::default())
    }
}

impl<K, V, const MOST: u64> Clone for Recent<K, V, MOST> {
    fn clone(&self) -> Self {
        Recent(Arc::clone(&self.0))
    }
}

impl<K: PartialEq, V: Clone, const MOST: u64> Recent<K, V, MOST> {
    fn entries(&self) -> MutexGuard<'_, VecDeque<Entry<K, V>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything that is kept under keys that `is_it` takes, the oldest first.
    pub(crate) fn all(&self, is_it: impl Fn(&K) -> bool) -> Vec<V> {
        let entries = self.entries();
        let found = entries.iter().filter(|entry| is_it(&entry.key));
        found.map(|entry| entry.value.clone()).collect()
    }

    /// What is kept under a key.
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        self.all(|known| known == key).pop()
    }

    /// The same, which goes last from now on.
    pub(crate) fn used(&self, key: &K) -> Option<V> {
        let mut entries = self.entries();
        let place = entries.iter().position(|entry| entry.key == *key)?;
        let entry = entries.remove(place)?;
        let value = entry.value.clone();
        entries.push_back(entry);
        Some(value)
    }

    /// Keeps a value of that size in the place of what the key had.
    pub(crate) fn put(&self, key: K, value: V, size: u64) {
        let mut entries = self.entries();
        entries.retain(|entry| entry.key != key);
        entries.push_back(Entry { key, value, size });
        let mut sum: u64 = entries.iter().map(|entry| entry.size).sum();
        while sum > MOST && entries.len() > 1 {
            sum -= entries.pop_front().map_or(0, |entry| entry.size);
        }
    }

    /// Forgets what is kept under keys that `is_it` takes.
    pub(crate) fn forget(&self, is_it: impl Fn(&K) -> bool) {
        self.entries().retain(|entry| !is_it(&entry.key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let kept: Recent<&str, u8, 9> = Recent::default();
        for (key, value) in [("a", 1), ("b", 2), ("c", 3)] {
            kept.put(key, value, 3);
        }
        // `a` was used last, so that `b` makes room.
        assert_eq!(kept.used(&"a"), Some(1));
        kept.put("d", 4, 3);
        assert_eq!([kept.get(&"a"), kept.get(&"b")], [Some(1), None]);
        // A value in the place of another takes no more room.
        kept.put("a", 5, 3);
        assert_eq!(kept.all(|_| true), [3, 4, 5]);
        kept.put("large", 6, 100);
        assert_eq!(kept.all(|_| true), [6]);
        kept.forget(|key| *key == "large");
        assert_eq!(kept.get(&"large"), None);
    }
}
