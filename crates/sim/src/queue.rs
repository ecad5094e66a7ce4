//! The event queue: a sorted array before a radix heap.
//!
//! An event is its key: time, then class, then component. One component has at
//! most one event of a class that counts (a link's head, an endpoint's timer),
//! so the key is a total order and nothing else needs storing. A timer that was
//! armed for earlier leaves its old event behind, which is skipped when it
//! comes up.

use bentpipe_units::Time;

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

/// A bucket with at most so many events is sorted as a whole.
const WHOLE: usize = ROOM / 2;

/// Places of an empty bucket that are kept, at most.
const KEPT: usize = 1 << 10;

/// Bits of a digit. With 4 rather than 3, 5 or 6 of them the recorded runs cost the least.
const BITS: u32 = 4;
const DIGITS: usize = 1 << BITS;

/// Digits of the time, and of the tag.
const LEVELS: u32 = u64::BITS / BITS;

/// Pending events, earliest first.
///
/// The next events lie in a small sorted array. With a few flows it holds all
/// events, and both adding and taking one cost a few comparisons. When more are
/// pending, later events go unsorted into the buckets of a radix heap (Ahuja,
/// Mehlhorn, Orlin, Tarjan, Journal of the ACM 37(2), 1990). It relies on
/// time only moving forward: a bucket is chosen by the highest digit in which an event
/// differs from `base`, and by that digit. The array is filled from the first
/// bucket; one with too many events is first spread over the buckets of the next
/// digit. So an event moves a few times at most, far from now or near, and there
/// is no width of a bucket that would have to fit the events.
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// All events before `bound`, the next one last. The first place is never
    /// taken: it ends the search for the place of a new event.
    near: [Key; ROOM],
    /// Places that are used, with the first.
    used: usize,
    bound: Key,
    /// No later than any pending event: the start of the bucket that was taken last.
    base: Key,
    /// The events that are not before `bound`: for each level, the lowest digit
    /// of the tag first and the highest of the time last, a bucket for each digit.
    buckets: Vec<Vec<Key>>,
    /// A bit for each bucket of a level that is not empty.
    occupied: [u16; 2 * LEVELS as usize],
    /// A bit for each level that is not empty.
    levels: u32,
}

impl Default for EventQueue {
    fn default() -> EventQueue {
        EventQueue {
            near: [Key::MAX; ROOM],
            used: 1,
            bound: Key::MAX,
            base: Key { time: 0, tag: 0 },
            buckets: vec![Vec::new(); 2 * LEVELS as usize * DIGITS],
            occupied: [0; 2 * LEVELS as usize],
            levels: 0,
        }
    }
}

impl EventQueue {
    /// Adds an event, which may be no earlier than the last one taken.
    #[inline]
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

    /// Takes the earliest event, if it is before `limit`. Whatever comes then may be as early as
    /// `limit`.
    pub fn pop_before(&mut self, limit: Time) -> Option<Event> {
        if self.next_time()? >= limit {
            return None;
        }
        self.pop()
    }

    /// The time of the earliest event.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        if self.used > 1 {
            return Some(Time::from_nanos(self.near[(self.used - 1) & PLACE].time));
        }
        if self.levels == 0 {
            return None;
        }
        let level = self.levels.trailing_zeros() as usize;
        let digit = self.occupied[level].trailing_zeros() as usize;
        let bucket = &self.buckets[level * DIGITS + digit];
        let times = bucket.iter().map(|key| key.time);
        times.min().map(Time::from_nanos)
    }

    /// Number of pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.used - 1 + self.buckets.iter().map(Vec::len).sum::<usize>()
    }

    /// True if nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.used == 1 && self.levels == 0
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
        self.put(key);
    }

    /// Puts an event into its bucket.
    #[inline(always)]
    fn put(&mut self, key: Key) {
        let differs = key.time ^ self.base.time;
        let (differs, word, lowest) = if differs == 0 {
            (key.tag ^ self.base.tag, key.tag, 0)
        } else {
            (differs, key.time, LEVELS)
        };
        let digit = (differs | 1).ilog2() / BITS;
        let level = (lowest + digit) as usize;
        let digit = (word >> (digit * BITS)) as usize % DIGITS;
        if let Some(bucket) = self.buckets.get_mut(level * DIGITS + digit) {
            bucket.push(key);
            self.occupied[level] |= 1 << digit;
            self.levels |= 1 << level;
        }
    }

    /// Fills the empty `near` with the events of the next bucket; false if no
    /// event is pending.
    #[inline(never)]
    fn advance(&mut self) -> bool {
        while self.levels != 0 {
            let level = self.levels.trailing_zeros();
            let digit = self.occupied[level as usize].trailing_zeros();
            self.enter(level, digit);
            let bucket = level as usize * DIGITS + digit as usize;
            let mut events = std::mem::take(&mut self.buckets[bucket]);
            // In the lowest level all events of a bucket are the same.
            let rest = if level == 0 {
                events.len().saturating_sub(WHOLE)
            } else {
                0
            };
            if rest == 0 {
                let occupied = &mut self.occupied[level as usize];
                *occupied &= *occupied - 1;
                if *occupied == 0 {
                    self.levels &= self.levels - 1;
                }
            }
            let is_whole = events.len() - rest <= WHOLE;
            if let [only] = events[..] {
                self.near[1] = only;
                self.used = 2;
            } else if is_whole {
                for &key in &events[rest..] {
                    self.add(key);
                }
            } else {
                for &key in &events {
                    self.put(key);
                }
            }
            events.truncate(rest);
            // What a bucket has grown to in a crowd is not kept: the crowd goes on to others.
            if rest == 0 && events.capacity() > KEPT {
                events = Vec::new();
            }
            self.buckets[bucket] = events;
            if is_whole {
                return true;
            }
        }
        false
    }

    /// Moves `base` to the start of a bucket, and `bound` to its end.
    #[inline(always)]
    fn enter(&mut self, level: u32, digit: u32) {
        // `word` with the digit in its place, and where that bucket ends.
        let start = |word: u64, level: u32| {
            let low = level * BITS;
            let above = u64::MAX.checked_shl(low + BITS).unwrap_or(0);
            let start = (word & above) | u64::from(digit) << low;
            (start, start.checked_add(1 << low))
        };
        if let Some(level) = level.checked_sub(LEVELS) {
            let (time, end) = start(self.base.time, level);
            self.base = Key { time, tag: 0 };
            self.bound = end.map_or(Key::MAX, |time| Key { time, tag: 0 });
        } else {
            let (tag, end) = start(self.base.tag, level);
            self.base.tag = tag;
            self.bound = Key {
                time: self.base.time,
                tag: end.unwrap_or(u64::MAX),
            };
        }
    }

    /// Adds an event to `near`, which is full: its later half goes elsewhere.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, key: Key) {
        self.bound = self.near[ROOM / 2];
        for i in 1..=ROOM / 2 {
            self.put(self.near[i]);
        }
        self.near.copy_within(ROOM / 2 + 1.., 1);
        self.used = ROOM / 2;
        self.add(key);
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

    /// Links become faster and slower, and most events end in the last round.
    #[test]
    fn order_holds_where_gaps_change() {
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
    }

    /// What is left behind a limit may be overtaken by what comes later, up to the limit.
    #[test]
    fn a_limit_leaves_room_for_what_comes() {
        let event = |at, component| Event {
            at: Time::from_nanos(at),
            class: Class::Arrival,
            component,
        };
        let mut queue = EventQueue::default();
        assert_eq!(queue.next_time(), None);
        // More than the array holds, so that most lie in buckets.
        for component in 0..100 {
            queue.push(event(1_000_000 + u64::from(component), component));
        }
        queue.push(event(7, 0));
        let limit = Time::from_nanos(500);
        assert_eq!(queue.pop_before(limit), Some(event(7, 0)));
        assert_eq!(queue.pop_before(limit), None);
        assert_eq!(queue.next_time(), Some(Time::from_nanos(1_000_000)));
        queue.push(event(500, 1));
        assert_eq!(queue.pop_before(limit), None);
        assert_eq!(queue.pop_before(Time::from_nanos(501)), Some(event(500, 1)));
        for component in 0..100 {
            assert_eq!(
                queue.pop_before(Time::MAX).map(|e| e.component),
                Some(component)
            );
        }
        assert_eq!(queue.pop_before(Time::MAX), None);
    }

    /// Many events of one instant, the last instant, and events that are the same.
    #[test]
    fn order_holds_among_ties() {
        let mut queue = EventQueue::default();
        let mut expected = Vec::new();
        for component in (0..5_000u32).rev() {
            for at in [7, 7, u64::MAX - 1, u64::MAX] {
                let at = Time::from_nanos(at);
                let class = Class::Turn;
                let e = Event {
                    at,
                    class,
                    component: component / 100,
                };
                queue.push(e);
                expected.push(e);
            }
        }
        expected.sort();
        assert_eq!(queue.len(), expected.len());
        let taken: Vec<Event> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(taken, expected);
        assert!(queue.is_empty());
    }
}
