//! The segments that may be found lost, in the order of their last transmission.
//!
//! RACK examines the oldest transmissions first and stops at the first that is younger than the
//! newest that has arrived, so segments that have arrived or are marked lost must not be among them.
//!
//! Segments that were sent once are in order by their numbers, and need no list. Those that were sent
//! again are in a list, each with the number of the segment that was to be new next: it was sent after
//! all below that, and before the others. What is acknowledged or sent once more leaves its entry
//! behind, which is passed over. A connection without losses keeps nothing at all.

use super::{PASSED, SACKED, Scoreboard};
use std::collections::VecDeque;

/// Segments that were sent again.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    again: VecDeque<Again>,
    /// How many times any was.
    count: u32,
}

/// A segment that was sent again.
#[derive(Clone, Copy, Debug)]
struct Again {
    number: u64,
    /// The number that the next new segment was to get.
    before: u64,
    /// Which of all transmissions that were not the first it is.
    count: u32,
}

/// Where a walk through the segments in their order is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    /// The next number among those that were sent once.
    number: u64,
    /// The next place in the list of the others.
    place: usize,
}

impl Scoreboard {
    /// Segment `number` is sent again: it is the newest now.
    pub(crate) fn renew(&mut self, number: u64) {
        let before = self.base + self.segments.len() as u64;
        let Some(index) = self.place_of(number) else {
            return;
        };
        let s = &mut self.segments[index];
        if s.flags & SACKED != 0 {
            return;
        }
        // Zero is for those that were sent once.
        let order = &mut self.resent.get_or_insert_default().order;
        order.count = order.count.checked_add(1).unwrap_or(1);
        let count = order.count;
        s.flags &= !PASSED;
        s.skip = count;
        order.again.push_back(Again {
            number,
            before,
            count,
        });
    }

    /// Segment `number` is known to be lost: it is not looked at until it is sent again.
    pub(crate) fn pass(&mut self, number: u64) {
        if let Some(index) = self.place_of(number) {
            self.segments[index].flags |= PASSED;
        }
    }

    /// A walk that begins at the oldest.
    pub(crate) fn walk(&mut self) -> Walk {
        let end = self.base + self.segments.len() as u64;
        let mut first = self.first_of_walk.max(self.base);
        while first < end && !self.waits_for_first(first) {
            first += 1;
        }
        self.first_of_walk = first;
        while let Some(again) = self.again(0) {
            if self.waits_for(again) {
                break;
            }
            if let Some(resent) = &mut self.resent {
                resent.order.again.pop_front();
            }
        }
        Walk {
            number: first,
            place: 0,
        }
    }

    /// The next of a walk.
    #[inline]
    pub(crate) fn next_of(&mut self, walk: &mut Walk) -> Option<u64> {
        let end = self.base + self.segments.len() as u64;
        while walk.number < end && !self.waits_for_first(walk.number) {
            // Runs of segments that have arrived are passed over at once.
            let next = self.next_unsacked((walk.number - self.base) as usize) as u64 + self.base;
            walk.number = next.max(walk.number + 1);
        }
        let again = loop {
            match self.again(walk.place) {
                Some(again) if !self.waits_for(again) => walk.place += 1,
                again => break again,
            }
        };
        match again {
            Some(again) if walk.number >= again.before.min(end) => {
                walk.place += 1;
                Some(again.number)
            }
            _ if walk.number < end => {
                walk.number += 1;
                Some(walk.number - 1)
            }
            _ => None,
        }
    }

    /// The retransmission at `place` in their list.
    #[inline]
    fn again(&self, place: usize) -> Option<&Again> {
        self.resent.as_ref()?.order.again.get(place)
    }

    fn place_of(&self, number: u64) -> Option<usize> {
        let index = number.checked_sub(self.base)? as usize;
        (index < self.segments.len()).then_some(index)
    }

    /// Segment `number`, which is recorded, was sent once and may be found lost.
    #[inline]
    fn waits_for_first(&self, number: u64) -> bool {
        let s = &self.segments[(number - self.base) as usize];
        s.flags & (SACKED | PASSED) == 0 && s.skip == 0
    }

    /// It is the last transmission of a segment that may be found lost.
    fn waits_for(&self, again: &Again) -> bool {
        self.place_of(again.number).is_some_and(|index| {
            let s = &self.segments[index];
            s.flags & (SACKED | PASSED) == 0 && s.skip == again.count
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_units::Time;
    use proptest::prelude::*;

    fn listed(board: &mut Scoreboard) -> Vec<u64> {
        let mut walk = board.walk();
        std::iter::from_fn(|| board.next_of(&mut walk)).collect()
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_a_plain_list(
            steps in proptest::collection::vec((0u8..6, 0u64..40), 1..400),
        ) {
            let mut board = Scoreboard::default();
            let mut plain: Vec<u64> = Vec::new();
            let mut sacked = std::collections::BTreeSet::new();
            let (mut first, mut next) = (0u64, 0u64);
            for (what, which) in steps {
                let number = first + which;
                match what {
                    0 | 1 => {
                        board.push(10 * next, 10, Time::ZERO);
                        plain.push(next);
                        next += 1;
                    }
                    2 if first < next => {
                        board.acknowledge_with(10 * (first + 1), |_| {});
                        plain.retain(|&n| n != first);
                        first += 1;
                    }
                    3 => {
                        board.pass(number);
                        plain.retain(|&n| n != number);
                    }
                    4 if !sacked.contains(&number) => {
                        board.renew(number);
                        if number < next {
                            plain.retain(|&n| n != number);
                            plain.push(number);
                        }
                    }
                    5 if number < next => {
                        board.sack(10 * number, 10 * number + 10);
                        sacked.insert(number);
                        plain.retain(|&n| n != number);
                    }
                    _ => {}
                }
                prop_assert_eq!(listed(&mut board), plain.clone());
            }
        }
    }
}
