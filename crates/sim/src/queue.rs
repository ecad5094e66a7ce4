//! The event queue: a sorted array, a wheel of buckets and a heap.
//!
//! An event is its key: time, then class, then component. One component has at
//! most one event of a class that counts (a link's head, an endpoint's timer),
//! so the key is a total order and nothing else needs storing. A timer that was
//! armed for earlier leaves its old event behind, which is skipped when it
//! comes up.

use bentpipe_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What an event concerns. At the same instant, routes change first, so that
/// what arrives or is sent then goes the new way; arrivals come before timers,
/// timers before applications, those before middleboxes, then notifications of
/// congestion, and the turns of streams in tunnels last.
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
    /// A queue has notified senders of congestion.
    Notice,
    /// The sender of a tunnel may send.
    Turn,
}

/// An event: at `at`, something of `class` happens to component number
/// `component`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// Time of the event.
    pub at: Time,
    /// Rank among events of the same instant.
    pub class: Class,
    /// Index of the component that handles it.
    pub component: u32,
}

/// What comes after the time in the order: class, then component.
#[inline]
fn tag(event: Event) -> u64 {
    (u64::from(event.class as u8) << 32) | u64::from(event.component)
}

#[inline]
fn event(key: Key) -> Event {
    const CLASSES: [Class; 8] = [
        Class::Route,
        Class::Arrival,
        Class::Timer,
        Class::Application,
        Class::Middlebox,
        Class::Notice,
        Class::Turn,
        Class::Turn,
    ];
    // Truncation takes the tag's fields apart.
    Event {
        at: Time::from_nanos(key.time),
        class: CLASSES[(key.tag >> 32) as usize % CLASSES.len()],
        component: key.tag as u32,
    }
}

/// A place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// Time, nanoseconds.
    time: u64,
    tag: u64,
}

impl Key {
    const MAX: Key = Key {
        time: u64::MAX,
        tag: u64::MAX,
    };

    /// The derived order, by branches of which the first nearly always decides.
    #[inline]
    fn is_before(self, other: Key) -> bool {
        self.time < other.time || (self.time == other.time && self.tag < other.tag)
    }
}

/// Places in the sorted array. A power of two, so that a mask takes the place
/// of a bounds check.
const ROOM: usize = 32;
const PLACE: usize = ROOM - 1;

/// Buckets of the wheel.
const SLOTS: u64 = 1024;
const WORDS: usize = SLOTS as usize / 64;

/// A bucket is `1 << WIDEST` nanoseconds wide at most: 18 minutes.
const WIDEST: u32 = 40;

/// Buckets that are emptied before their width is reconsidered.
const TRIAL: u32 = 4096;

/// Pending events, earliest first.
///
/// The next events lie in a small sorted array. With a few flows it holds all
/// events, and both adding and taking one cost a few comparisons. When more are
/// pending, later events go into the buckets of a wheel (a calendar queue),
/// unsorted, and the few that lie beyond it into a heap. A bucket is sorted when
/// its turn comes and holds a few events then: its width follows the events. So
/// the cost of an event does not depend on how many are pending.
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// All events before `bound`, the next one last. The first place is never
    /// taken: it ends the search for the place of a new event.
    near: [Key; ROOM],
    /// Places that are used, with the first.
    used: usize,
    bound: Key,
    /// The bucket that `near` was filled from, counted from time zero.
    cursor: u64,
    /// A bucket is `1 << shift` nanoseconds wide.
    shift: u32,
    /// The events of the buckets `cursor + 1` to `cursor + SLOTS - 1`; without
    /// any buckets while `near` holds all events.
    wheel: Vec<Vec<Key>>,
    in_wheel: usize,
    /// A bit for each bucket that is not empty.
    occupied: [u64; WORDS],
    /// Events that are not before `bound` and not in the wheel.
    far: BinaryHeap<Reverse<Key>>,
    trial: Trial,
}

/// What tells whether the width of a bucket fits, since it was considered.
#[derive(Clone, Copy, Debug, Default)]
struct Trial {
    /// Buckets emptied, and the events in them.
    buckets: u32,
    events: usize,
    /// Events that lay beyond the wheel.
    far: usize,
}

impl Default for EventQueue {
    fn default() -> EventQueue {
        EventQueue {
            near: [Key::MAX; ROOM],
            used: 1,
            bound: Key::MAX,
            cursor: 0,
            shift: 0,
            wheel: Vec::new(),
            in_wheel: 0,
            occupied: [0; WORDS],
            far: BinaryHeap::new(),
            trial: Trial::default(),
        }
    }
}

impl EventQueue {
    /// Adds an event to the order of time, class and component.
    #[inline]
    /// Adds an event, which may be no earlier than the last one taken.
    pub fn push(&mut self, new: Event) {
        self.add(Key {
            time: new.at.as_nanos(),
            tag: tag(new),
        });
    }

    /// Adds an event, if there is one.
    pub(crate) fn extend(&mut self, new: Option<Event>) {
        if let Some(new) = new {
            self.push(new);
        }
    }

    /// Takes the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<Event> {
        if self.used <= 1 && !self.advance() {
            return None;
        }
        self.used -= 1;
        Some(event(self.near[self.used & PLACE]))
    }

    /// Number of pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.used - 1 + self.in_wheel + self.far.len()
    }

    /// True if nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts an event to its place among the next ones, or leaves it for later.
    // The other cases are calls, so that this one saves no registers.
    fn add(&mut self, key: Key) {
        if !key.is_before(self.bound) {
            return self.add_later(key);
        }
        let Some(last) = self.near.get_mut(..=self.used) else {
            return self.make_room(key);
        };
        self.used += 1;
        let mut places = last.iter_mut().rev();
        let Some(mut free) = places.next() else {
            return;
        };
        for before in places {
            if key.is_before(*before) {
                break;
            }
            *free = *before;
            free = before;
        }
        *free = key;
    }

    /// Adds an event that is not before `bound`.
    #[inline(never)]
    fn add_later(&mut self, key: Key) {
        let slot = key.time >> self.shift;
        let bucket = (slot % SLOTS) as usize;
        // The current bucket takes no more events.
        if slot.wrapping_sub(self.cursor + 1) < SLOTS - 1
            && let Some(events) = self.wheel.get_mut(bucket)
        {
            events.push(key);
            self.in_wheel += 1;
            self.occupied[bucket / 64] |= 1 << (bucket % 64);
        } else {
            self.trial.far += 1;
            self.far.push(Reverse(key));
        }
    }

    /// The first place in the order after the bucket `slot`.
    fn end(&self, slot: u64) -> Key {
        let time = u128::from(slot + 1) << self.shift;
        u64::try_from(time).map_or(Key::MAX, |time| Key { time, tag: 0 })
    }

    /// Fills the empty `near` with the events of the next bucket; false if no
    /// event is pending.
    #[inline(never)]
    fn advance(&mut self) -> bool {
        let wheel = self.next_occupied();
        // Some may have come after the turn of their bucket.
        let slot = |first: &Reverse<Key>| (first.0.time >> self.shift).max(self.cursor);
        let far = self.far.peek().map_or(u64::MAX, slot);
        if wheel == u64::MAX && far == u64::MAX && self.far.is_empty() {
            return false;
        }
        let slot = wheel.min(far);
        self.cursor = slot;
        self.bound = self.end(slot);
        if wheel == slot {
            let bucket = (slot % SLOTS) as usize;
            self.occupied[bucket / 64] &= !(1 << (bucket % 64));
            let mut events = std::mem::take(&mut self.wheel[bucket]);
            self.in_wheel -= events.len();
            for &key in &events {
                self.add(key);
            }
            events.clear();
            self.wheel[bucket] = events;
        }
        if far == slot {
            while let Some(Reverse(key)) = self.far.peek()
                && key.is_before(self.bound)
                && let Some(Reverse(key)) = self.far.pop()
            {
                self.add(key);
            }
        }
        self.trial.buckets += 1;
        self.trial.events += self.used - 1;
        if self.trial.buckets == TRIAL {
            self.reconsider();
        }
        true
    }

    /// The first bucket after the current one that holds an event, or
    /// [`u64::MAX`].
    #[inline]
    fn next_occupied(&self) -> u64 {
        let from = self.cursor + 1;
        let start = (from % SLOTS) as usize;
        let (word, bit) = (start / 64, start % 64);
        let first = self.occupied[word] >> bit;
        if first != 0 {
            return from + u64::from(first.trailing_zeros());
        }
        if self.in_wheel == 0 {
            return u64::MAX;
        }
        let mut ahead = 64 - bit as u64;
        // The first word again at the end, for the bits below `bit`.
        for i in 1..=WORDS {
            let bits = self.occupied[(word + i) % WORDS];
            if bits != 0 {
                return from + ahead + u64::from(bits.trailing_zeros());
            }
            ahead += 64;
        }
        u64::MAX
    }

    /// Adds an event to `near`, which is full: its later half goes elsewhere.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, key: Key) {
        if self.wheel.is_empty() {
            self.wheel = vec![Vec::new(); SLOTS as usize];
            // A few of those that come next.
            let width = (self.near[ROOM - 17].time - self.near[ROOM - 1].time) / 4;
            self.lay_out((64 - width.leading_zeros()).min(WIDEST));
        } else {
            self.bound = self.near[ROOM / 2];
            let later = self.near[1..=ROOM / 2].iter();
            self.far.extend(later.map(|key| Reverse(*key)));
            self.near.copy_within(ROOM / 2 + 1.., 1);
            self.used = ROOM / 2;
        }
        self.add(key);
    }

    /// Puts all events into buckets of another width.
    fn lay_out(&mut self, shift: u32) {
        let all = self.take_all();
        self.shift = shift;
        let Some(first) = all.iter().min() else {
            return;
        };
        self.cursor = first.time >> shift;
        self.bound = self.end(self.cursor);
        for key in all {
            self.add(key);
        }
        self.trial = Trial::default();
    }

    fn take_all(&mut self) -> Vec<Key> {
        let mut all = self.near[1..self.used].to_vec();
        for bucket in &mut self.wheel {
            all.append(bucket);
        }
        all.extend(self.far.drain().map(|far| far.0));
        self.used = 1;
        self.in_wheel = 0;
        self.occupied = [0; WORDS];
        all
    }

    /// Changes the width of a bucket where it does not fit the events.
    #[cold]
    #[inline(never)]
    fn reconsider(&mut self) {
        let Trial { events, far, .. } = std::mem::take(&mut self.trial);
        let buckets = TRIAL as usize;
        if self.len() < ROOM / 2 {
            // Few enough for `near`.
            let all = self.take_all();
            self.wheel = Vec::new();
            self.bound = Key::MAX;
            all.into_iter().for_each(|key| self.add(key));
        } else if events > 6 * buckets && self.shift > 0 {
            self.lay_out(self.shift - 1);
        } else if events < 2 * buckets && far > events / 4 && self.shift < WIDEST {
            self.lay_out(self.shift + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Times of events that are near each other, far apart, or both.
    fn distance() -> impl Strategy<Value = u64> {
        prop_oneof![
            0u64..5,
            0u64..1_000,
            10_000u64..20_000,
            0u64..1_000_000_000,
            Just(290_000_000),
            Just(1_000_000_000_000),
        ]
    }

    proptest! {
        #[test]
        fn order_is_that_of_a_sorted_set(
            bursts in proptest::collection::vec((0usize..80, 0usize..80, distance()), 1..60),
            distances in proptest::collection::vec((distance(), 0u8..4, 0u32..50), 1..200),
        ) {
            let mut queue = EventQueue::default();
            let mut set = BTreeSet::new();
            let mut now = 0;
            let mut next = distances.iter().cycle();
            for (pushes, pops, offset) in bursts {
                for &(at, class, component) in next.by_ref().take(pushes) {
                    let tag = (u64::from(class) << 32) | u64::from(component);
                    let time = now + at + offset;
                    let e = event(Key { time, tag });
                    if set.insert(e) {
                        queue.push(e);
                    }
                }
                prop_assert_eq!(queue.len(), set.len());
                for _ in 0..pops {
                    let first = queue.pop();
                    prop_assert_eq!(first, set.pop_first());
                    now = first.map_or(now, |e| e.at.as_nanos());
                }
            }
            while let Some(e) = set.pop_first() {
                prop_assert_eq!(queue.pop(), Some(e));
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }

    /// Enough events for the width of a bucket to change: it follows links that
    /// become faster and slower, and ends without a wheel.
    #[test]
    fn buckets_follow_the_events() {
        let mut queue = EventQueue::default();
        let mut set = BTreeSet::new();
        for component in 0..2_000u32 {
            let e = Event {
                at: Time::from_nanos(u64::from(component) * 1_000_000),
                class: Class::Timer,
                component,
            };
            set.insert(e);
            queue.push(e);
        }
        let gaps = [3_000_000u64, 100, 2_000_000_000, 1, 40_000_000];
        for (round, gap) in gaps.into_iter().enumerate() {
            for _ in 0..100_000 {
                let first = queue.pop();
                assert_eq!(first, set.pop_first());
                let Some(first) = first else { return };
                let spread = 1 + u64::from(first.component) * 7919 % 1_000;
                let at = first.at.as_nanos() + gap * spread;
                // Most of them end in the last round.
                if round + 1 < gaps.len() || first.component < 8 {
                    let e = Event {
                        at: Time::from_nanos(at),
                        ..first
                    };
                    set.insert(e);
                    queue.push(e);
                }
            }
        }
        assert_eq!(queue.len(), 8);
        assert!(queue.wheel.is_empty());
    }
}
