//! Where the packets on the links of a network are kept.
//!
//! A network has many links, of which few carry packets at once, and each of those a burst now and
//! then. Storage of their own would hold room for the largest burst that any of them has ever
//! carried; here a place that a packet leaves is the next one's, whichever link that is on.

use bentpipe_units::Time;

/// The packets on all links of a network whose packets stay in order.
#[derive(Clone, Debug)]
pub struct PacketPool<P> {
    places: Vec<Place<P>>,
    /// The first of the places that are free, each of which names the next.
    free: u32,
}

/// A packet on its way, or a place for one.
#[derive(Clone, Copy, Debug)]
struct Place<P> {
    arrival: Time,
    packet: P,
    /// The place of the packet behind it.
    next: u32,
}

/// No place. There are never as many, since packets alive are bounded far below.
const NONE: u32 = u32::MAX;

impl<P> Default for PacketPool<P> {
    fn default() -> PacketPool<P> {
        PacketPool {
            places: Vec::new(),
            free: NONE,
        }
    }
}

impl<P: Copy> PacketPool<P> {
    /// A place with a packet in it.
    #[inline(always)]
    fn take(&mut self, arrival: Time, packet: P) -> u32 {
        let at = self.free;
        let Some(place) = self.places.get_mut(at as usize) else {
            return self.grow(arrival, packet);
        };
        self.free = place.next;
        place.arrival = arrival;
        place.packet = packet;
        place.next = NONE;
        at
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, arrival: Time, packet: P) -> u32 {
        self.places.push(Place {
            arrival,
            packet,
            next: NONE,
        });
        (self.places.len() - 1) as u32
    }
}

/// The packets on one link, in a pool, in the order of their arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Train {
    /// No place, where there is no packet.
    first: u32,
    last: u32,
}

impl Train {
    pub(crate) fn new() -> Train {
        Train {
            first: NONE,
            last: NONE,
        }
    }

    /// Adds a packet behind the others; true if it is the first.
    #[inline(always)]
    pub(crate) fn push<P: Copy>(
        &mut self,
        pool: &mut PacketPool<P>,
        arrival: Time,
        packet: P,
    ) -> bool {
        let at = pool.take(arrival, packet);
        let only = self.first == NONE;
        if only {
            self.first = at;
        } else if let Some(last) = pool.places.get_mut(self.last as usize) {
            last.next = at;
        }
        self.last = at;
        only
    }

    /// Adds a packet in the order of arrival, behind those that arrive at the same time; true if it
    /// is the first then.
    pub(crate) fn insert<P: Copy>(
        &mut self,
        pool: &mut PacketPool<P>,
        arrival: Time,
        packet: P,
    ) -> bool {
        let last = pool.places.get(self.last as usize);
        if self.first == NONE || last.is_some_and(|last| last.arrival <= arrival) {
            return self.push(pool, arrival, packet);
        }
        let (mut before, mut behind) = (NONE, self.first);
        while let Some(place) = pool.places.get(behind as usize) {
            if place.arrival > arrival {
                break;
            }
            (before, behind) = (behind, place.next);
        }
        let at = pool.take(arrival, packet);
        if let Some(place) = pool.places.get_mut(at as usize) {
            place.next = behind;
        }
        match pool.places.get_mut(before as usize) {
            Some(place) => place.next = at,
            None => self.first = at,
        }
        before == NONE
    }

    /// When the first packet arrives.
    #[inline]
    pub(crate) fn next_arrival<P>(&self, pool: &PacketPool<P>) -> Option<Time> {
        pool.places.get(self.first as usize).map(|p| p.arrival)
    }

    /// Takes the first packet, if it arrives by `now`, and says when the next one arrives.
    #[inline(always)]
    pub(crate) fn pop<P: Copy>(
        &mut self,
        pool: &mut PacketPool<P>,
        now: Time,
    ) -> Option<(P, Option<Time>)> {
        // Of an empty train it is no place.
        let at = self.first;
        let place = pool.places.get_mut(at as usize)?;
        if place.arrival > now {
            return None;
        }
        let (packet, next) = (place.packet, place.next);
        place.next = pool.free;
        pool.free = at;
        self.first = next;
        Some((packet, pool.places.get(next as usize).map(|p| p.arrival)))
    }

    /// The packets with their arrivals, the next one first.
    pub(crate) fn iter<'a, P>(
        &self,
        pool: &'a PacketPool<P>,
    ) -> impl Iterator<Item = (Time, &'a P)> + use<'a, P> {
        let mut next = self.first;
        std::iter::from_fn(move || {
            let place = pool.places.get(next as usize)?;
            next = place.next;
            Some((place.arrival, &place.packet))
        })
    }

    /// Moves the packets from one pool to another.
    pub(crate) fn move_to<P: Copy>(&mut self, from: &mut PacketPool<P>, to: &mut PacketPool<P>) {
        let mut moved = Train::new();
        while let Some(arrival) = self.next_arrival(from) {
            if let Some((packet, _)) = self.pop(from, arrival) {
                moved.push(to, arrival, packet);
            }
        }
        *self = moved;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Three trains in one pool against three lists.
        #[test]
        fn trains_in_a_pool_are_queues(
            steps in proptest::collection::vec((0usize..3, 0u8..8, 0u64..40), 0..400),
        ) {
            let mut pool = PacketPool::default();
            let mut trains = [Train::new(); 3];
            let mut lists = [const { VecDeque::<(Time, u64)>::new() }; 3];
            let mut most = 0;
            for (number, (which, step, at)) in (0u64..).zip(steps) {
                let (train, list) = (&mut trains[which], &mut lists[which]);
                let last = list.back().map_or(Time::ZERO, |(at, _)| *at);
                match step {
                    0..3 => {
                        let at = last + bentpipe_units::Duration::from_nanos(at);
                        prop_assert_eq!(train.push(&mut pool, at, number), list.is_empty());
                        list.push_back((at, number));
                    }
                    3 => {
                        let at = Time::from_nanos(at);
                        let place = list.partition_point(|(before, _)| *before <= at);
                        prop_assert_eq!(train.insert(&mut pool, at, number), place == 0);
                        list.insert(place, (at, number));
                    }
                    4 => {
                        let early = Time::from_nanos(at);
                        let due = list.front().is_some_and(|(at, _)| *at <= early);
                        let first = if due { list.pop_front() } else { None };
                        let next = list.front().map(|(at, _)| *at);
                        let expected = first.map(|(_, number)| (number, next));
                        prop_assert_eq!(train.pop(&mut pool, early), expected);
                    }
                    _ => {
                        let expected = list.pop_front().map(|(_, number)| number);
                        let popped = train.pop(&mut pool, Time::MAX);
                        prop_assert_eq!(popped.map(|(number, _)| number), expected);
                    }
                }
                prop_assert_eq!(train.next_arrival(&pool), list.front().map(|(at, _)| *at));
                for (train, list) in trains.iter().zip(&lists) {
                    let listed = list.iter().map(|(at, number)| (*at, number));
                    prop_assert!(train.iter(&pool).eq(listed));
                }
                // A place that is left is taken again.
                most = most.max(lists.iter().map(VecDeque::len).sum());
                prop_assert_eq!(pool.places.len(), most);
            }
            let mut other = PacketPool::default();
            for (train, list) in trains.iter_mut().zip(&lists) {
                train.move_to(&mut pool, &mut other);
                let listed = list.iter().map(|(at, number)| (*at, number));
                prop_assert!(train.iter(&other).eq(listed));
            }
        }
    }
}
