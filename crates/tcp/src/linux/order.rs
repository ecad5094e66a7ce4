//! The segments that may be found lost, in the order of their last transmission: a list threaded
//! through a ring parallel to the scoreboard's.
//!
//! RACK examines the oldest transmissions first and stops at the first that is younger than the
//! newest that has arrived, so segments that have arrived or are marked lost must not be in the
//! list. Every change takes constant time and no allocation except for the ring's growth.

use std::collections::VecDeque;

/// Marks the end of the list.
const NONE: u64 = u64::MAX;
/// The mark of a segment that is not in the list.
const OUT: u64 = u64::MAX - 1;

#[derive(Clone, Copy, Debug)]
struct Link {
    before: u64,
    after: u64,
}

/// The list. Segments go by their number in the connection.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    links: VecDeque<Link>,
    /// The number of the first link.
    base: u64,
    oldest: u64,
    newest: u64,
}

impl Order {
    pub(crate) fn new() -> Order {
        Order {
            links: VecDeque::new(),
            base: 0,
            oldest: NONE,
            newest: NONE,
        }
    }

    /// A new segment is sent: it gets the next number.
    pub(crate) fn push(&mut self) {
        let number = self.base + self.links.len() as u64;
        let before = self.follow_newest(number);
        self.links.push_back(Link {
            before,
            after: NONE,
        });
    }

    /// The first segment is acknowledged.
    pub(crate) fn pop(&mut self) {
        let Some(first) = self.links.pop_front() else {
            return;
        };
        self.base += 1;
        if first.before != OUT {
            self.join(first);
        }
    }

    /// Segment `number` is sent again: it is the newest now.
    pub(crate) fn renew(&mut self, number: u64) {
        self.remove(number);
        if self.link(number).is_some() {
            self.append(number);
        }
    }

    /// Segment `number` has arrived, or is known to be lost.
    pub(crate) fn remove(&mut self, number: u64) {
        let gone = Link {
            before: OUT,
            after: OUT,
        };
        let Some(link) = self.link_mut(number) else {
            return;
        };
        let left = std::mem::replace(link, gone);
        if left.before != OUT {
            self.join(left);
        }
    }

    /// The segment that was sent first.
    pub(crate) fn oldest(&self) -> Option<u64> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// The segment that was sent next after `number`, which is in the list.
    pub(crate) fn after(&self, number: u64) -> Option<u64> {
        self.link(number).map(|l| l.after).filter(|&n| n < OUT)
    }

    fn append(&mut self, number: u64) {
        let before = self.follow_newest(number);
        if let Some(link) = self.link_mut(number) {
            *link = Link {
                before,
                after: NONE,
            };
        }
    }

    /// Makes `number` the newest of the list; returns the one that it follows.
    #[inline]
    fn follow_newest(&mut self, number: u64) -> u64 {
        let before = std::mem::replace(&mut self.newest, number);
        match self.link_mut(before) {
            Some(link) => link.after = number,
            None => self.oldest = number,
        }
        before
    }

    /// Joins the two between which one was that has left the list.
    #[inline]
    fn join(&mut self, Link { before, after }: Link) {
        match self.link_mut(before) {
            Some(link) => link.after = after,
            None => self.oldest = after,
        }
        match self.link_mut(after) {
            Some(link) => link.before = before,
            None => self.newest = before,
        }
    }

    fn link(&self, number: u64) -> Option<&Link> {
        self.links.get(number.checked_sub(self.base)? as usize)
    }

    #[inline]
    fn link_mut(&mut self, number: u64) -> Option<&mut Link> {
        self.links.get_mut(number.checked_sub(self.base)? as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn listed(order: &Order) -> Vec<u64> {
        std::iter::successors(order.oldest(), |&n| order.after(n)).collect()
    }

    proptest! {
        #[test]
        fn the_list_is_what_a_plain_one_is(
            steps in proptest::collection::vec((0u8..5, 0u64..40), 1..400),
        ) {
            let mut order = Order::new();
            let mut plain: Vec<u64> = Vec::new();
            let (mut first, mut next) = (0u64, 0u64);
            for (what, which) in steps {
                let number = first + which;
                match what {
                    0 | 1 => {
                        order.push();
                        plain.push(next);
                        next += 1;
                    }
                    2 if first < next => {
                        order.pop();
                        plain.retain(|&n| n != first);
                        first += 1;
                    }
                    3 => {
                        order.remove(number);
                        plain.retain(|&n| n != number);
                    }
                    4 => {
                        order.renew(number);
                        if number < next {
                            plain.retain(|&n| n != number);
                            plain.push(number);
                        }
                    }
                    _ => {}
                }
                prop_assert_eq!(listed(&order), plain.clone());
            }
        }
    }
}
