//! The event queue: a four-ary heap of whole-number keys.
//!
//! An event is its key: time, then class, then component. One component has at
//! most one pending event of a class (a link's head, an endpoint's timer), so
//! the key is a total order and nothing else needs storing.

use bentpipe_units::Time;

/// What an event concerns. At the same instant, arrivals come before timers
/// and timers before applications.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The packet at the head of a link arrives.
    Arrival,
    /// A timer of an endpoint may be due.
    Timer,
    /// An application starts, stops or sends.
    Application,
}

/// An event: at `at`, something of `class` happens to component number
/// `component`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// When.
    pub at: Time,
    /// What.
    pub class: Class,
    /// To whom.
    pub component: u32,
}

fn key(event: Event) -> u128 {
    (u128::from(event.at.as_nanos()) << 64)
        | (u128::from(event.class as u8) << 32)
        | u128::from(event.component)
}

fn event(key: u128) -> Event {
    // Truncations take the key's fields apart.
    let class = match (key >> 32) as u8 {
        0 => Class::Arrival,
        1 => Class::Timer,
        _ => Class::Application,
    };
    Event {
        at: Time::from_nanos((key >> 64) as u64),
        class,
        component: key as u32,
    }
}

const ARITY: usize = 4;

/// Pending events, earliest first.
#[derive(Clone, Debug, Default)]
pub struct EventQueue {
    heap: Vec<u128>,
    /// The root has been handed out and its place waits for the next push:
    /// most events (a packet that arrives) make one other (the next packet),
    /// and filling the root costs one descent instead of two.
    root_is_free: bool,
}

impl EventQueue {
    /// Adds an event.
    pub fn push(&mut self, new: Event) {
        let key = key(new);
        if self.root_is_free {
            self.root_is_free = false;
            self.sift_down(key);
            return;
        }
        let mut at = self.heap.len();
        self.heap.push(key);
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent] <= key {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = key;
    }

    /// Takes the earliest event.
    pub fn pop(&mut self) -> Option<Event> {
        if self.root_is_free {
            self.root_is_free = false;
            let last = self.heap.pop()?;
            if self.heap.is_empty() {
                return None;
            }
            self.sift_down(last);
        }
        let first = *self.heap.first()?;
        self.root_is_free = true;
        Some(event(first))
    }

    /// Pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len() - usize::from(self.root_is_free)
    }

    /// True if nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts `key` at the root and lets it sink to its place.
    fn sift_down(&mut self, key: u128) {
        let heap = &mut self.heap[..];
        let mut at = 0;
        loop {
            let first = at * ARITY + 1;
            let least = if let Some(&[a, b, c, d]) = heap.get(first..first + ARITY) {
                // Pairwise and without branches on the outcome: which child
                // is the least is as good as random.
                let low = usize::from(b < a);
                let high = 2 + usize::from(d < c);
                let (low_key, high_key) = (a.min(b), c.min(d));
                first + if high_key < low_key { high } else { low }
            } else if first < heap.len() {
                let last = &heap[first..];
                first + (0..last.len()).min_by_key(|&i| last[i]).unwrap_or(0)
            } else {
                break;
            };
            let least_key = heap[least];
            if least_key >= key {
                break;
            }
            heap[at] = least_key;
            at = least;
        }
        heap[at] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn order_is_that_of_a_sorted_set(
            steps in proptest::collection::vec((any::<bool>(), 0u64..50, 0u8..3, 0u32..5), 1..300),
        ) {
            let mut queue = EventQueue::default();
            let mut set = BTreeSet::new();
            for (push, at, class, component) in steps {
                if push {
                    let e = event(
                        (u128::from(at) << 64) | (u128::from(class) << 32) | u128::from(component),
                    );
                    if set.insert(e) {
                        queue.push(e);
                    }
                } else {
                    prop_assert_eq!(queue.pop(), set.pop_first());
                }
                prop_assert_eq!(queue.len(), set.len());
            }
            while let Some(e) = set.pop_first() {
                prop_assert_eq!(queue.pop(), Some(e));
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }
}
