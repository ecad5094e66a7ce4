//! Who goes next between two boxes of the gateway, as a function of what was asked and carried.
//!
//! The gateway and its model in the simulator both take their turns here. Nothing reads a clock, and
//! nothing depends on the order of a hash table.

mod ahead;
mod lane;

pub use ahead::{AHEAD, DATAGRAMS_AHEAD, HEADERS, LEAVING, YOUNG, ahead, datagrams_ahead};

use lane::Lane;
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

/// The weight of a subscriber beside others, where nothing says another.
pub const WEIGHT: u64 = 100;
/// The order of streams within a subscriber: classes by urgency, in each of which the young go before
/// the old.
pub const RANKS: usize = 6;
/// Turns of the young in a class for one of the old, where both wait.
const YOUNG_TURNS: u64 = 4;
/// Subscribers beyond which those are forgotten that have nothing to carry.
const FEW: usize = 64;
/// Bytes of datagrams that wait, of all subscribers together, beyond which those of the one that has most
/// are dropped.
const MOST_WAITING: usize = 16 << 20;

/// Subscribers and what waits of each, by start-time fair queueing (Goyal, Vin and Cheng, 1996): each
/// turn of a subscriber starts where its last one ended in virtual time, which is bytes over weight, or
/// at the time of the turn that is served now if that is later. The earliest start goes first. A
/// subscriber that was idle therefore goes before those that have had their part, and takes up hardly
/// anything that it did not use: what others carried while its only connection was between two turns,
/// which on a busy machine takes a while, up to a credit.
///
/// Subscribers are told apart by `S`. One has streams (`T`), which wait for turns, and datagrams of UDP
/// (`D`), which wait themselves. The two share its part by the same rule, so that neither takes what the
/// other wants.
#[derive(Debug)]
pub struct Queue<S, T, D> {
    /// Virtual time: the start of the turn that was served last.
    clock: u64,
    members: BTreeMap<S, Member<T, D>>,
    /// Those that wait, by the start of their next turn; of equals the one that came first.
    order: BTreeMap<(u64, u64), S>,
    arrivals: u64,
    /// Subscribers beyond which those are looked for that can be forgotten.
    many: usize,
    /// What a subscriber may take up that it did not use, in virtual time.
    credit: u64,
    /// Weights of a subscriber's streams and of its datagrams.
    weights: [u64; 2],
    /// Bytes of the datagrams that wait.
    waiting: usize,
}

/// What a subscriber has that goes over the satellite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Streams of QUIC, which carry TCP.
    Streams = 0,
    /// Datagrams of UDP.
    Datagrams = 1,
}

/// What goes next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<T, D> {
    /// A stream has a turn.
    Stream(T),
    /// A datagram leaves.
    Datagram(D),
}

#[derive(Debug)]
struct Member<T, D> {
    /// Virtual time at which its last turn ended.
    finish: u64,
    /// Its place in the order.
    place: Option<(u64, u64)>,
    waiting: [VecDeque<T>; RANKS],
    /// Turns that the young had while the old of the same class waited.
    young: u64,
    lane: Lane<D>,
    /// Virtual time of the turn of either side that was served last, and where the last ones ended.
    clock: u64,
    ends: [u64; 2],
}

impl<T, D> Default for Member<T, D> {
    fn default() -> Member<T, D> {
        Member {
            finish: 0,
            place: None,
            waiting: std::array::from_fn(|_| VecDeque::new()),
            young: 0,
            lane: Lane::default(),
            clock: 0,
            ends: [0; 2],
        }
    }
}

impl<S, T, D> Default for Queue<S, T, D> {
    fn default() -> Queue<S, T, D> {
        Queue {
            clock: 0,
            members: BTreeMap::new(),
            order: BTreeMap::new(),
            arrivals: 0,
            many: FEW,
            credit: 0,
            weights: [1; 2],
            waiting: 0,
        }
    }
}

impl<T, D> Member<T, D> {
    fn has_streams(&self) -> bool {
        self.waiting.iter().any(|rank| !rank.is_empty())
    }

    fn is_empty(&self) -> bool {
        self.lane.is_empty() && !self.has_streams()
    }

    /// What goes next: of the side that has had less, if both have something.
    fn take(&mut self, now: Instant, rtt: Duration, dropped: &mut u64) -> Option<Next<T, D>> {
        if !self.lane.is_empty() {
            let streams_first = self.ends[0] <= self.ends[1];
            if !(streams_first && self.has_streams()) {
                let (taken, lost) = self.lane.pop(now, rtt);
                *dropped += lost;
                if let Some(datagram) = taken {
                    return Some(Next::Datagram(datagram));
                }
            }
        }
        self.take_stream().map(Next::Stream)
    }

    /// One side carries so many bytes at this weight.
    fn carry(&mut self, side: Side, bytes: u64, weight: u64) {
        let end = &mut self.ends[side as usize];
        // A side that was idle has saved nothing.
        let start = (*end).max(self.clock);
        self.clock = start;
        *end = start.saturating_add(bytes.saturating_mul(WEIGHT) / weight.max(1));
    }

    /// The next of its streams: of the first class that has any, and of that mostly the young.
    fn take_stream(&mut self) -> Option<T> {
        let class = self
            .waiting
            .chunks_exact_mut(2)
            .find(|class| class.iter().any(|rank| !rank.is_empty()))?;
        let [young, old] = class else { return None };
        if old.is_empty() {
            self.young = 0;
            return young.pop_front();
        }
        if !young.is_empty() && self.young < YOUNG_TURNS {
            self.young += 1;
            return young.pop_front();
        }
        self.young = 0;
        old.pop_front()
    }
}

impl<S: Copy + Ord, T, D> Queue<S, T, D> {
    /// Sets the part of a subscriber's share that its datagrams have where its streams want the rest, per
    /// cent.
    pub fn set_datagrams(&mut self, percent: u64) {
        let percent = percent.clamp(1, 99);
        self.weights = [100 - percent, percent];
    }

    /// Nobody waits.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// `item` of this subscriber waits, at this place among its streams.
    pub fn push(&mut self, subscriber: S, rank: usize, item: T) {
        self.forget();
        let member = self.members.entry(subscriber).or_default();
        member.waiting[rank.min(RANKS - 1)].push_back(item);
        self.settle(subscriber);
    }

    /// A datagram of this subscriber's `flow` waits. Returns how many were dropped for want of room.
    pub fn push_datagram(
        &mut self,
        subscriber: S,
        flow: u32,
        item: D,
        bytes: usize,
        now: Instant,
    ) -> u64 {
        self.forget();
        let lane = &mut self.members.entry(subscriber).or_default().lane;
        let before = lane.bytes();
        let mut dropped = lane.push(flow, item, bytes, now);
        self.waiting = self.waiting + lane.bytes() - before;
        self.settle(subscriber);
        while self.waiting > MOST_WAITING {
            let lanes = self
                .members
                .iter_mut()
                .map(|(who, it)| (*who, &mut it.lane));
            let Some((who, lane)) = lanes.max_by_key(|(_, lane)| lane.bytes()) else {
                break;
            };
            let before = lane.bytes();
            if !lane.drop_of_longest() {
                break;
            }
            self.waiting = self.waiting + lane.bytes() - before;
            dropped += 1;
            self.settle(who);
        }
        dropped
    }

    /// Sets what a subscriber may take up that it did not use, bytes.
    pub fn set_credit(&mut self, credit: u64) {
        self.credit = credit;
    }

    /// Bytes that a subscriber may take up.
    pub fn missed(&self, subscriber: S, weight: u64) -> u64 {
        let finish = self.members.get(&subscriber).map_or(0, |it| it.finish);
        let missed = self.clock.saturating_sub(finish).min(self.credit);
        missed.saturating_mul(weight) / WEIGHT
    }

    /// Virtual time at which a turn may start at the earliest.
    fn earliest(&self) -> u64 {
        self.clock.saturating_sub(self.credit)
    }

    /// Takes what goes next, whose bytes are then to be charged, and adds the datagrams that were dropped
    /// before it. `rtt` is how long a flow of UDP takes to answer a loss.
    pub fn pop(
        &mut self,
        now: Instant,
        rtt: Duration,
        dropped: &mut u64,
    ) -> Option<(S, Next<T, D>)> {
        loop {
            let (place, subscriber) = self.order.pop_first()?;
            let member = self.members.get_mut(&subscriber)?;
            member.place = None;
            self.clock = self.clock.max(place.0);
            let before = member.lane.bytes();
            let next = member.take(now, rtt, dropped);
            self.waiting = self.waiting + member.lane.bytes() - before;
            self.settle(subscriber);
            if let Some(next) = next {
                return Some((subscriber, next));
            }
        }
    }

    /// A subscriber is about to carry so many bytes on one side.
    pub fn charge(&mut self, subscriber: S, side: Side, bytes: u64, weight: u64) {
        self.forget();
        let earliest = self.earliest();
        let part = self.weights[side as usize];
        let member = self.members.entry(subscriber).or_default();
        let cost = bytes.saturating_mul(WEIGHT) / weight.max(1);
        member.finish = member.finish.max(earliest).saturating_add(cost);
        member.carry(side, bytes, part);
        self.settle(subscriber);
    }

    /// So many of these, of streams, are not carried.
    pub fn refund(&mut self, subscriber: S, bytes: u64, weight: u64) {
        let part = self.weights[Side::Streams as usize];
        if let Some(member) = self.members.get_mut(&subscriber) {
            let cost = bytes.saturating_mul(WEIGHT) / weight.max(1);
            member.finish = member.finish.saturating_sub(cost);
            let end = &mut member.ends[Side::Streams as usize];
            *end = end.saturating_sub(bytes.saturating_mul(WEIGHT) / part.max(1));
            self.settle(subscriber);
        }
    }

    /// Puts a subscriber where it belongs in the order.
    fn settle(&mut self, subscriber: S) {
        let earliest = self.earliest();
        let Some(member) = self.members.get_mut(&subscriber) else {
            return;
        };
        let start = member.finish.max(earliest);
        let waits = !member.is_empty();
        match member.place {
            Some(place) if waits && place.0 == start => return,
            Some(place) => {
                self.order.remove(&place);
                member.place = None;
            }
            None => {}
        }
        if waits {
            self.arrivals += 1;
            let place = (start, self.arrivals);
            member.place = Some(place);
            self.order.insert(place, subscriber);
        }
    }

    /// Forgets subscribers that have nothing to carry, from time to time.
    fn forget(&mut self) {
        if self.members.len() < self.many {
            return;
        }
        let clock = self.earliest();
        self.members
            .retain(|_, member| member.place.is_some() || member.finish > clock);
        self.many = (2 * self.members.len()).max(FEW);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::start;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Queues of streams, and of datagrams that say whose they are.
    type Streams<T> = Queue<u8, T, u32>;

    const RTT: Duration = Duration::from_millis(600);

    /// The stream that goes next; there are no datagrams.
    fn pop<T: std::fmt::Debug>(queue: &mut Streams<T>) -> Option<(u8, T)> {
        match queue.pop(start(), RTT, &mut 0)? {
            (who, Next::Stream(item)) => Some((who, item)),
            other => panic!("{other:?}"),
        }
    }

    fn charge<T>(queue: &mut Streams<T>, who: u8, bytes: u64, weight: u64) {
        queue.charge(who, Side::Streams, bytes, weight);
    }

    /// Serves `bytes` in turns of 1000, of subscribers with so many streams each that never run dry.
    fn serve(streams: &[usize], weights: &[u64], bytes: u64) -> Vec<u64> {
        let mut queue = Streams::default();
        let mut carried = vec![0; streams.len()];
        for (number, count) in streams.iter().enumerate() {
            for _ in 0..*count {
                queue.push(number as u8, 3, number);
            }
        }
        for _ in 0..bytes / 1000 {
            let (who, number) = pop(&mut queue).unwrap();
            charge(&mut queue, who, 1000, weights[number]);
            queue.push(who, 3, number);
            carried[number] += 1000;
        }
        carried
    }

    #[test]
    fn one_stream_has_as_much_as_fifty_of_another_subscriber() {
        assert_eq!(serve(&[50, 1], &[100, 100], 100_000), [50_000, 50_000]);
        assert_eq!(
            serve(&[1, 7, 3], &[100, 100, 200], 400_000),
            [100_000, 100_000, 200_000]
        );
    }

    #[test]
    fn who_was_idle_goes_next_and_has_saved_nothing() {
        let mut queue = Streams::default();
        let (busy, idle) = (1, 2);
        for _ in 0..100 {
            queue.push(busy, 3, 'b');
            let (who, _) = pop(&mut queue).unwrap();
            charge(&mut queue, who, 1000, WEIGHT);
        }
        queue.push(busy, 3, 'b');
        for _ in 0..10 {
            queue.push(idle, 3, 'i');
        }
        let mut next = || {
            let (who, item) = pop(&mut queue).unwrap();
            charge(&mut queue, who, 1000, WEIGHT);
            item
        };
        assert_eq!([next(), next(), next()], ['i', 'b', 'i']);
    }

    #[test]
    fn who_was_away_for_a_moment_may_take_up_what_others_carried() {
        let mut queue = Streams::default();
        let (busy, away) = (1, 2);
        queue.set_credit(5_000);
        charge(&mut queue, away, 1000, WEIGHT);
        let mut carry = |count: u64| {
            for _ in 0..count {
                queue.push(busy, 3, ());
                let (who, ()) = pop(&mut queue).unwrap();
                charge(&mut queue, who, 1000, WEIGHT);
            }
            (queue.missed(away, WEIGHT), queue.missed(away, 2 * WEIGHT))
        };
        // Both have carried 1000 bytes, and the third turn of the busy one starts at 2000.
        assert_eq!(carry(3), (1000, 2000));
        assert_eq!(carry(100), (5000, 10_000));
        charge(&mut queue, away, 5000, WEIGHT);
        assert_eq!(queue.missed(away, WEIGHT), 0);
    }

    #[test]
    fn within_a_subscriber_classes_come_first_then_the_young_and_the_old_have_a_fifth() {
        let mut queue = Streams::default();
        let who = 1;
        for rank in (0..RANKS).rev() {
            for _ in 0..20 {
                queue.push(who, rank, rank);
            }
        }
        let order: Vec<usize> = std::iter::from_fn(|| Some(pop(&mut queue)?.1)).collect();
        assert_eq!(order[..10], [0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
        assert!(order[..40].iter().all(|rank| *rank < 2));
        assert!(order[80..].iter().all(|rank| *rank >= 4));
        assert!(queue.is_empty());
    }

    #[test]
    fn what_was_not_carried_is_given_back() {
        let mut queue = Streams::default();
        let (one, two) = (1, 2);
        charge(&mut queue, one, 1_000_000, WEIGHT);
        queue.push(one, 3, 1);
        queue.push(two, 3, 2);
        queue.refund(one, 1_000_000, WEIGHT);
        assert_eq!(pop(&mut queue), Some((two, 2)));
        charge(&mut queue, two, 1, WEIGHT);
        assert_eq!(pop(&mut queue), Some((one, 1)));
    }

    #[test]
    fn subscribers_without_anything_to_carry_are_forgotten() {
        let mut queue = Streams::default();
        for number in 0..=250 {
            queue.push(number, 3, ());
            let (who, ()) = pop(&mut queue).unwrap();
            charge(&mut queue, who, 10, WEIGHT);
            // Somebody else moves the time on.
            queue.push(251, 3, ());
            let (who, ()) = pop(&mut queue).unwrap();
            charge(&mut queue, who, 100_000, WEIGHT);
        }
        assert!(queue.members.len() <= 2 * FEW, "{}", queue.members.len());
    }

    /// Bytes of streams and of datagrams among so many, where each side always has more or has none.
    fn sides(percent: u64, streams: bool, datagrams: bool, bytes: u64) -> [u64; 2] {
        let (mut queue, who) = (Streams::default(), 1);
        queue.set_datagrams(percent);
        let now = start();
        let mut carried = [0; 2];
        while carried[0] + carried[1] < bytes {
            if streams && !queue.members.get(&who).is_some_and(Member::has_streams) {
                queue.push(who, 3, ());
            }
            if datagrams {
                queue.push_datagram(who, 7, 0, 1200, now);
            }
            let (_, next) = queue.pop(now, RTT, &mut 0).unwrap();
            let (side, bytes) = match next {
                Next::Stream(()) => (Side::Streams, 20_000),
                Next::Datagram(_) => (Side::Datagrams, 1200),
            };
            queue.charge(who, side, bytes, WEIGHT);
            carried[side as usize] += bytes;
        }
        carried
    }

    #[test]
    fn streams_and_datagrams_share_their_subscribers_part() {
        for percent in [20, 50, 80] {
            let [streams, datagrams] = sides(percent, true, true, 4_000_000);
            let part = 100.0 * datagrams as f64 / (streams + datagrams) as f64;
            assert!((part - percent as f64).abs() < 1.0, "{percent}: {part}");
        }
        assert_eq!(sides(50, true, false, 100_000), [100_000, 0]);
        assert_eq!(sides(50, false, true, 120_000), [0, 120_000]);
    }

    #[test]
    fn those_who_flood_do_not_take_the_room_of_others() {
        let mut queue = Streams::<()>::default();
        let now = start();
        let flood = |queue: &mut Streams<()>, count: u32| {
            for at in 0..count {
                for who in 1..=5 {
                    queue.push_datagram(who, at % 7, 1, 1200, now);
                }
            }
        };
        flood(&mut queue, 4000);
        let lost = queue.push_datagram(9, 1, 9, 200, now);
        assert!(queue.waiting <= MOST_WAITING && lost <= 1);
        flood(&mut queue, 10);
        let lane = &queue.members[&9].lane;
        assert!(!lane.is_empty());
    }

    #[test]
    fn datagrams_of_one_subscriber_do_not_take_from_another() {
        let mut queue = Streams::default();
        let (calls, downloads) = (1, 2);
        let now = start();
        for _ in 0..1000 {
            queue.push_datagram(calls, 1, 0, 1000, now);
            queue.push(downloads, 3, ());
        }
        let mut carried = [0; 2];
        for _ in 0..1000 {
            let (who, next) = queue.pop(now, RTT, &mut 0).unwrap();
            let side = match next {
                Next::Stream(()) => Side::Streams,
                Next::Datagram(_) => Side::Datagrams,
            };
            queue.charge(who, side, 1000, WEIGHT);
            carried[side as usize] += 1;
        }
        assert_eq!(carried, [500, 500]);
    }

    proptest! {
        /// Whatever they ask for, those that always wait carry the same within two turns, and everything
        /// that was asked for comes.
        #[test]
        fn all_that_wait_carry_the_same(sizes in proptest::collection::vec((0u8..4, 1u64..1000), 1..300)) {
            let mut queue = Streams::default();
            let mut left: BTreeMap<u8, u64> = BTreeMap::new();
            let mut asked = 0;
            for (number, size) in &sizes {
                queue.push(*number, usize::from(*number) % RANKS, *size);
                *left.entry(*number).or_default() += 1;
                asked += size;
            }
            let mut carried: BTreeMap<u8, u64> = left.keys().map(|who| (*who, 0)).collect();
            let mut all = 0;
            while let Some((who, size)) = pop(&mut queue) {
                charge(&mut queue, who, size, WEIGHT);
                all += size;
                *carried.get_mut(&who).unwrap() += size;
                *left.get_mut(&who).unwrap() -= 1;
                let waiting = carried.iter().filter(|(who, _)| left[who] > 0).map(|(_, bytes)| *bytes);
                let (least, most) = (waiting.clone().min(), waiting.max());
                if let (Some(least), Some(most)) = (least, most) {
                    prop_assert!(most - least <= 2000, "{carried:?}");
                }
            }
            prop_assert_eq!(all, asked);
        }
    }
}
