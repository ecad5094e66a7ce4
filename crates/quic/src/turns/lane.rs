//! What waits of a subscriber's UDP: a queue of datagrams for each flow.
//!
//! Flows have their turns by deficit round robin (Shreedhar and Varghese, 1995), those that have just
//! begun or were silent before those that always have more, as in FQ-CoDel (RFC 8290): a query and a call
//! do not wait behind a download. The congestion control of each flow is left alone and told what it has
//! to know in the way it understands, by losses: CoDel (RFC 8289) drops of a flow whose datagrams have all
//! waited too long for a round trip. Nothing here reads a clock.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

/// What a flow sends in one turn, bytes.
const QUANTUM: i64 = 1500;
/// Waiting time that is acceptable for good.
const TARGET: Duration = Duration::from_millis(20);
/// Bytes that one flow may have waiting, and all flows together; beyond that, the oldest of the flow, or
/// of the longest one, are dropped.
const FLOW_BYTES: usize = 1 << 20;
const ALL_BYTES: usize = 4 << 20;
/// Flows that may have something waiting; datagrams of others are dropped.
const FLOWS: usize = 8192;
/// What has waited for so long, or for two round trips, is of no use to anybody, as after an outage.
const STALE: Duration = Duration::from_secs(1);
/// Bytes of each datagram that is held, beside its payload.
const HELD: usize = 128;

/// A datagram that waits.
#[derive(Debug)]
struct Waiting<D> {
    item: D,
    bytes: usize,
    since: Instant,
}

/// The datagrams of one flow.
#[derive(Debug)]
struct Flow<D> {
    queue: VecDeque<Waiting<D>>,
    bytes: usize,
    /// What it may still send in this turn.
    deficit: i64,
    codel: CoDel,
}

/// The datagrams of a subscriber's flows.
#[derive(Debug)]
pub(super) struct Lane<D> {
    flows: BTreeMap<u32, Flow<D>>,
    /// Flows that have just begun or were silent, and those that had a turn and have more.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    bytes: usize,
}

impl<D> Default for Lane<D> {
    fn default() -> Lane<D> {
        Lane {
            flows: BTreeMap::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            bytes: 0,
        }
    }
}

impl<D> Lane<D> {
    pub(super) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Bytes that wait, with what holds them.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// A datagram of `flow` waits from now on. Returns how many were dropped for want of room.
    pub(super) fn push(&mut self, flow: u32, item: D, bytes: usize, now: Instant) -> u64 {
        let held = bytes + HELD;
        if self.flows.len() >= FLOWS && !self.flows.contains_key(&flow) {
            return 1;
        }
        let known = self.flows.entry(flow);
        let state = known.or_insert_with(|| {
            self.new.push_back(flow);
            Flow {
                queue: VecDeque::new(),
                bytes: 0,
                deficit: QUANTUM,
                codel: CoDel::default(),
            }
        });
        state.queue.push_back(Waiting {
            item,
            bytes,
            since: now,
        });
        state.bytes += held;
        self.bytes += held;
        let mut dropped = 0;
        while state.bytes > FLOW_BYTES {
            self.bytes -= state.drop_oldest();
            dropped += 1;
        }
        while self.bytes > ALL_BYTES && self.drop_of_longest() {
            dropped += 1;
        }
        dropped
    }

    /// Drops the oldest datagram of the flow that has most waiting.
    pub(super) fn drop_of_longest(&mut self) -> bool {
        let longest = self.flows.values_mut().max_by_key(|flow| flow.bytes);
        let bytes = longest.map_or(0, Flow::drop_oldest);
        self.bytes -= bytes;
        self.tidy();
        bytes > 0
    }

    /// Forgets the flows where none has anything waiting.
    fn tidy(&mut self) {
        if self.bytes == 0 {
            self.flows.clear();
            self.new.clear();
            self.old.clear();
        }
    }

    /// Takes the datagram that goes next, and how many were dropped before it. `rtt` is how long a flow
    /// takes to answer a loss.
    pub(super) fn pop(&mut self, now: Instant, rtt: Duration) -> (Option<D>, u64) {
        let mut dropped = 0;
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &self.new } else { &self.old };
            let Some(&number) = list.front() else {
                self.tidy();
                return (None, dropped);
            };
            let Some(flow) = self.flows.get_mut(&number) else {
                self.leave(is_new);
                continue;
            };
            if flow.deficit <= 0 {
                flow.deficit += QUANTUM;
                self.leave(is_new);
                self.old.push_back(number);
                continue;
            }
            let before = flow.bytes;
            let taken = flow.next(now, rtt, &mut dropped);
            self.bytes -= before - flow.bytes;
            let Some(taken) = taken else {
                self.leave(is_new);
                // A flow that was just new waits a turn among the old, so that it cannot go before
                // them again and again.
                if is_new && !self.old.is_empty() {
                    self.old.push_back(number);
                } else {
                    self.flows.remove(&number);
                }
                continue;
            };
            flow.deficit -= i64::try_from(taken.bytes).unwrap_or(QUANTUM);
            self.tidy();
            return (Some(taken.item), dropped);
        }
    }

    fn leave(&mut self, is_new: bool) {
        let list = if is_new { &mut self.new } else { &mut self.old };
        list.pop_front();
    }
}

impl<D> Flow<D> {
    /// Drops the oldest datagram; returns the bytes that it held, 0 where there is none.
    fn drop_oldest(&mut self) -> usize {
        let held = self.queue.pop_front().map_or(0, |it| it.bytes + HELD);
        self.bytes -= held;
        held
    }

    /// Takes the oldest datagram; true where all have waited too long for a round trip.
    fn head(&mut self, now: Instant, interval: Duration) -> Option<(Waiting<D>, bool)> {
        let Some(head) = self.queue.pop_front() else {
            self.codel.due = None;
            return None;
        };
        self.bytes -= head.bytes + HELD;
        let waited = now.saturating_duration_since(head.since);
        let late = self
            .codel
            .is_late(now, waited, interval, self.queue.is_empty());
        Some((head, late))
    }

    /// Takes the datagram that CoDel lets go.
    fn next(&mut self, now: Instant, rtt: Duration, dropped: &mut u64) -> Option<Waiting<D>> {
        let interval = rtt.max(Duration::from_millis(100));
        let stale = STALE.max(2 * rtt);
        while let Some(oldest) = self.queue.front()
            && now.saturating_duration_since(oldest.since) > stale
        {
            self.drop_oldest();
            *dropped += 1;
        }
        let (mut head, late) = self.head(now, interval)?;
        let mut late = late;
        while self.codel.drops(now, late, interval) {
            *dropped += 1;
            (head, late) = self.head(now, interval)?;
        }
        Some(head)
    }
}

/// The control loop of RFC 8289, section 5.
#[derive(Debug, Default)]
struct CoDel {
    /// When the delay will have been above the target for an interval.
    due: Option<Instant>,
    /// When the next is dropped, while drops go on.
    next: Option<Instant>,
    /// Drops of this episode, and with how many it began.
    count: u32,
    began_with: u32,
    /// When the next would have been dropped in the last episode.
    last: Option<Instant>,
}

impl CoDel {
    fn is_late(&mut self, now: Instant, waited: Duration, interval: Duration, last: bool) -> bool {
        if waited < TARGET || last {
            self.due = None;
            return false;
        }
        let due = *self.due.get_or_insert(now + interval);
        now >= due
    }

    /// Whether the datagram at the head is dropped.
    fn drops(&mut self, now: Instant, late: bool, interval: Duration) -> bool {
        if !late {
            if let Some(next) = self.next.take() {
                self.last = Some(next);
            }
            return false;
        }
        match self.next {
            Some(next) if now < next => return false,
            Some(next) => {
                self.count = self.count.saturating_add(1);
                self.next = Some(self.after(next, interval));
            }
            None => {
                // An episode that follows soon goes on at the rate of the last one.
                let recent = self.last.is_some_and(|last| now < last + 16 * interval);
                let more = self.count.saturating_sub(self.began_with);
                self.count = if recent && more > 1 { more } else { 1 };
                self.began_with = self.count;
                self.next = Some(self.after(now, interval));
            }
        }
        true
    }

    fn after(&self, from: Instant, interval: Duration) -> Instant {
        from + interval.div_f64(f64::from(self.count.max(1)).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::start;
    use proptest::prelude::*;

    const RTT: Duration = Duration::from_millis(600);
    const MS: Duration = Duration::from_millis(1);

    /// The flows of what leaves in `count` pops at once.
    fn order(lane: &mut Lane<u32>, now: Instant, count: usize) -> Vec<u32> {
        (0..count).filter_map(|_| lane.pop(now, RTT).0).collect()
    }

    #[test]
    fn flows_have_equal_turns_and_a_new_one_goes_first() {
        let now = start();
        let mut lane = Lane::default();
        for _ in 0..10 {
            lane.push(1, 1, 1200, now);
            lane.push(2, 2, 1200, now);
        }
        assert_eq!(order(&mut lane, now, 6), [1, 1, 2, 2, 1, 2]);
        lane.push(3, 3, 100, now);
        assert_eq!(order(&mut lane, now, 2)[0], 3);
    }

    #[test]
    fn small_datagrams_have_as_many_bytes_as_large_ones() {
        let now = start();
        let mut lane = Lane::default();
        for _ in 0..600 {
            lane.push(1, 1, 1500, now);
            for _ in 0..10 {
                lane.push(2, 2, 150, now);
            }
        }
        let left = order(&mut lane, now, 550);
        let large = left.iter().filter(|flow| **flow == 1).count();
        assert!((48..=52).contains(&large), "{large}");
    }

    /// Datagrams of 1200 bytes that arrive at `arrive` a millisecond and leave at one; those that were
    /// dropped, and the longest wait of the last second.
    fn serve(arrive: f64, millis: u32) -> (u64, Duration) {
        let begin = start();
        let mut lane = Lane::default();
        let (mut due, mut dropped, mut longest) = (0.0, 0, Duration::ZERO);
        for at in 0..millis {
            let now = begin + at * MS;
            due += arrive;
            while due >= 1.0 {
                due -= 1.0;
                dropped += lane.push(1, now, 1200, now);
            }
            let (sent, lost) = lane.pop(now, Duration::from_millis(100));
            dropped += lost;
            if let Some(since) = sent
                && at + 1000 > millis
            {
                longest = longest.max(now - since);
            }
        }
        (dropped, longest)
    }

    #[test]
    fn nothing_is_dropped_of_what_fits_and_what_does_not_is_told_to_slow_down() {
        let (dropped, longest) = serve(0.9, 10_000);
        assert_eq!((dropped, longest), (0, Duration::ZERO));
        // A sender that does not listen: the queue is bounded, and ever more are dropped.
        let (dropped, longest) = serve(1.05, 60_000);
        assert!(dropped > 1500, "{dropped}");
        assert!(longest < Duration::from_millis(950), "{longest:?}");
    }

    #[test]
    fn a_burst_that_drains_within_a_round_trip_is_not_dropped() {
        let now = start();
        let mut lane = Lane::default();
        for _ in 0..100 {
            lane.push(1, 1, 1200, now);
        }
        let lost: u64 = (0..100).map(|at| lane.pop(now + at * MS, RTT).1).sum();
        assert_eq!(lost, 0);
        assert!(lane.is_empty());
    }

    #[test]
    fn what_has_waited_too_long_is_not_sent() {
        let begin = start();
        let mut lane = Lane::default();
        let mut dropped = 0;
        for at in 0..6000 {
            let now = begin + at * 10 * MS;
            dropped += lane.push(1, now, 1200, now);
        }
        let now = begin + 60_000 * MS;
        let (oldest, lost) = lane.pop(now, RTT);
        assert!(now - oldest.unwrap() <= 2 * RTT);
        let waiting = lane.flows[&1].queue.len() as u64;
        assert_eq!(dropped + lost + waiting + 1, 6000);
        assert!(waiting > 100, "{waiting}");
    }

    #[test]
    fn flows_that_have_nothing_are_forgotten_and_not_too_many_have_something() {
        let now = start();
        let mut lane = Lane::default();
        lane.push(u32::MAX, 0, 100, now);
        for flow in 0..100_000 {
            lane.push(flow, 1, 100, now);
            assert!(lane.pop(now, RTT).0.is_some());
            assert!(lane.flows.len() <= 2, "{}", lane.flows.len());
        }
        let dropped: u64 = (0..100_000).map(|flow| lane.push(flow, 1, 100, now)).sum();
        assert!(dropped > 90_000 && lane.flows.len() <= FLOWS);
        while lane.pop(now, RTT).0.is_some() {}
        assert!(lane.flows.is_empty() && lane.new.is_empty() && lane.old.is_empty());
    }

    proptest! {
        /// Whatever comes, it leaves in the order of its flow, is counted as dropped, or still waits; and
        /// memory is bounded.
        #[test]
        fn every_datagram_is_accounted_for(
            steps in proptest::collection::vec((0_u32..5, 0_usize..9000, 0_u32..40, any::<bool>()), 1..400)
        ) {
            let begin = start();
            let mut lane = Lane::default();
            let (mut now, mut pushed, mut popped, mut dropped) = (begin, 0_u64, 0_u64, 0_u64);
            let mut last = [0; 5];
            for (flow, bytes, wait, pops) in steps {
                now += wait * MS;
                pushed += 1;
                dropped += lane.push(flow, (flow, pushed), bytes, now);
                prop_assert!(lane.bytes <= ALL_BYTES);
                if pops {
                    let (taken, lost) = lane.pop(now, RTT);
                    dropped += lost;
                    if let Some((flow, number)) = taken {
                        popped += 1;
                        prop_assert!(number > last[flow as usize]);
                        last[flow as usize] = number;
                    }
                }
            }
            let waiting: usize = lane.flows.values().map(|flow| flow.queue.len()).sum();
            prop_assert_eq!(pushed, popped + dropped + waiting as u64);
            let bytes: usize = lane.flows.values().map(|flow| flow.bytes).sum();
            prop_assert_eq!(bytes, lane.bytes);
            while lane.pop(now, RTT).0.is_some() {}
            prop_assert!(lane.is_empty() && lane.flows.is_empty());
        }
    }
}
