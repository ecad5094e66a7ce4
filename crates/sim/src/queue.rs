//! The event queue: a four-ary heap.
//!
//! An event is its key: time, then class, then component. One component has at
//! most one event of a class that counts (a link's head, an endpoint's timer),
//! so the key is a total order and nothing else needs storing. A timer that was
//! armed for earlier leaves its old event behind, which is skipped when it
//! comes up.

use bentpipe_units::Time;

/// What an event concerns. At the same instant, routes change first, so that
/// what arrives or is sent then goes the new way; arrivals come before timers,
/// timers before applications, and those before middleboxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Flows take other routes.
    Route,
    /// The packet at the head of a link arrives.
    Arrival,
    /// A timer of an endpoint may be due.
    Timer,
    /// An application starts, stops or sends.
    Application,
    /// A timer of a middlebox may be due.
    Middlebox,
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

/// What comes after the time in the order: class, then component.
fn tag(event: Event) -> u64 {
    (u64::from(event.class as u8) << 32) | u64::from(event.component)
}

fn event(at: u64, tag: u64) -> Event {
    let class = match tag >> 32 {
        0 => Class::Route,
        1 => Class::Arrival,
        2 => Class::Timer,
        3 => Class::Application,
        _ => Class::Middlebox,
    };
    // Truncation takes the tag's fields apart.
    Event {
        at: Time::from_nanos(at),
        class,
        component: tag as u32,
    }
}

const ARITY: usize = 4;

/// Pending events, earliest first.
///
/// Times and tags lie in two arrays: a step down the heap compares four times,
/// half a cache line, and looks at tags only where times are equal.
#[derive(Clone, Debug, Default)]
pub struct EventQueue {
    times: Vec<u64>,
    tags: Vec<u64>,
    /// The root has been handed out and its place waits for the next push:
    /// most events (a packet that arrives) make one other (the next packet),
    /// and filling the root costs one descent instead of two.
    root_is_free: bool,
}

impl EventQueue {
    /// Adds an event.
    pub fn push(&mut self, new: Event) {
        let (time, tag) = (new.at.as_nanos(), tag(new));
        if self.root_is_free {
            self.root_is_free = false;
            self.sift_down(time, tag);
            return;
        }
        let mut at = self.times.len();
        self.times.push(time);
        self.tags.push(tag);
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if (self.times[parent], self.tags[parent]) <= (time, tag) {
                break;
            }
            self.times[at] = self.times[parent];
            self.tags[at] = self.tags[parent];
            at = parent;
        }
        self.times[at] = time;
        self.tags[at] = tag;
    }

    /// Adds an event, if there is one.
    pub(crate) fn extend(&mut self, new: Option<Event>) {
        if let Some(new) = new {
            self.push(new);
        }
    }

    /// Takes the earliest event.
    pub fn pop(&mut self) -> Option<Event> {
        if self.root_is_free {
            self.root_is_free = false;
            let (time, tag) = (self.times.pop()?, self.tags.pop()?);
            if self.times.is_empty() {
                return None;
            }
            self.sift_down(time, tag);
        }
        let first = event(*self.times.first()?, *self.tags.first()?);
        self.root_is_free = true;
        Some(first)
    }

    /// Pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len() - usize::from(self.root_is_free)
    }

    /// True if nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The least of the children that begin at `first`, if there is one.
    #[inline]
    fn least_child(&self, first: usize) -> Option<usize> {
        let Some(&[a, b, c, d]) = self.times.get(first..first + ARITY) else {
            let last = first..self.times.len();
            return last.min_by_key(|&i| (self.times[i], self.tags[i]));
        };
        // Pairwise and without branches on the outcome: which child is the
        // least is as good as random.
        let (low, high) = (usize::from(b < a), 2 + usize::from(d < c));
        let (low_time, high_time) = (a.min(b), c.min(d));
        let least = if high_time < low_time { high } else { low };
        let time = low_time.min(high_time);
        let equal = [a, b, c, d].iter().filter(|&&t| t == time).count();
        if equal > 1 {
            let children = first..first + ARITY;
            return children.min_by_key(|&i| (self.times[i], self.tags[i]));
        }
        Some(first + least)
    }

    /// Puts an event at the root and lets it sink to its place.
    fn sift_down(&mut self, time: u64, tag: u64) {
        let mut at = 0;
        while let Some(least) = self.least_child(at * ARITY + 1) {
            let least_time = self.times[least];
            if least_time > time || (least_time == time && self.tags[least] >= tag) {
                break;
            }
            self.times[at] = least_time;
            self.tags[at] = self.tags[least];
            at = least;
        }
        self.times[at] = time;
        self.tags[at] = tag;
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
            steps in proptest::collection::vec((any::<bool>(), 0u64..50, 0u8..4, 0u32..5), 1..300),
        ) {
            let mut queue = EventQueue::default();
            let mut set = BTreeSet::new();
            for (push, at, class, component) in steps {
                if push {
                    let e = event(at, (u64::from(class) << 32) | u64::from(component));
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
