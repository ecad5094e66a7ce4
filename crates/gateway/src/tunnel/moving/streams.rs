//! The streams of one association: which of them a box has taken, and those that live.

use super::route::Route;
use quinn::Connection;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

/// The name of an association, which both boxes derive from its keys and nobody else can.
pub(crate) type Tag = [u8; 16];

/// What the key of the name is derived for (RFC 5705).
const LABEL: &[u8] = b"bentpipe gateway: name of an association";

/// The streams of one association.
#[derive(Debug)]
pub(crate) struct Streams {
    tag: Tag,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    live: BTreeMap<u64, Weak<Route>>,
    taken: Ranges,
}

impl Streams {
    /// Those of an association.
    pub(crate) fn of(connection: &Connection) -> Arc<Streams> {
        let mut tag = Tag::default();
        // It fails before the handshake only, when there are no streams either.
        let _ = connection.export_keying_material(&mut tag, LABEL, &[]);
        Streams::named(tag)
    }

    pub(super) fn named(tag: Tag) -> Arc<Streams> {
        Arc::new(Streams {
            tag,
            inner: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of the association.
    pub(crate) fn tag(&self) -> Tag {
        self.tag
    }

    /// The way of a new stream.
    pub(crate) fn add(self: &Arc<Streams>, index: u64) -> Arc<Route> {
        let route = Route::new(self, index);
        self.lock().live.insert(index, Arc::downgrade(&route));
        route
    }

    pub(super) fn forget(&self, index: u64) {
        self.lock().live.remove(&index);
    }

    /// At the hub: true for whoever asks first to execute the request of a stream.
    pub(crate) fn take(&self, index: u64) -> bool {
        self.lock().taken.insert(index)
    }

    /// The way of a stream that lives.
    pub(crate) fn find(&self, index: u64) -> Option<Arc<Route>> {
        self.lock().live.get(&index)?.upgrade()
    }

    /// At the terminal: the connections that wait for what QUIC does not bring, the oldest first. Each
    /// is claimed for whoever asks.
    pub(crate) fn waiting(&self, now: Instant) -> Vec<(u64, Arc<Route>)> {
        let mut live = self.live();
        live.retain(|(_, route)| route.claim(now));
        live
    }

    /// How many connections wait so.
    pub(crate) fn count_waiting(&self, now: Instant) -> usize {
        let live = self.live();
        live.iter().filter(|(_, route)| route.waits(now)).count()
    }

    /// All that live: a route that is dropped takes the lock.
    fn live(&self) -> Vec<(u64, Arc<Route>)> {
        let inner = self.lock();
        let routes = inner.live.iter();
        let live = routes.filter_map(|(index, route)| Some((*index, route.upgrade()?)));
        live.collect()
    }
}

/// A set of numbers that come almost in order: few ranges, by their begin, each with its end.
#[derive(Debug, Default)]
struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds a number; false where it was there.
    fn insert(&mut self, number: u64) -> bool {
        let before = self.0.range(..=number).next_back();
        let before = before.map(|(begin, end)| (*begin, *end));
        if before.is_some_and(|(_, end)| number < end) {
            return false;
        }
        let begin = match before {
            Some((begin, end)) if end == number => begin,
            _ => number,
        };
        let end = self.0.remove(&(number + 1)).unwrap_or(number + 1);
        self.0.insert(begin, end);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_number_is_new_once(numbers in proptest::collection::vec(0..200_u64, 0..400)) {
            let (mut ranges, mut known) = (Ranges::default(), BTreeSet::new());
            for number in numbers {
                prop_assert_eq!(ranges.insert(number), known.insert(number));
            }
            let mut last = None;
            for (begin, end) in &ranges.0 {
                prop_assert!(begin < end && last < Some(*begin));
                last = Some(*end);
            }
            let all: u64 = ranges.0.iter().map(|(begin, end)| end - begin).sum();
            prop_assert_eq!(all, known.len() as u64);
        }
    }

    #[test]
    fn a_request_is_executed_once_and_a_stream_that_has_ended_is_not_found() {
        let streams = Streams::named([7; 16]);
        let route = streams.add(3);
        assert!(streams.take(3));
        assert!(!streams.take(3));
        assert!(streams.find(3).is_some());
        drop(route);
        assert!(streams.find(3).is_none());
        assert!(!streams.take(3));
    }
}
