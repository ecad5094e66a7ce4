//! A round of terminals, in which a served one moves to the tail.

/// The numbers 0 to n - 1 in an order that changes; a ring of links, so that
/// each move takes constant time.
#[derive(Clone, Debug)]
pub(super) struct Round {
    next: Vec<u32>,
    before: Vec<u32>,
    head: u32,
}

impl Round {
    /// `n` terminals in their order, at least one.
    pub(super) fn new(n: u32) -> Round {
        let n = n.max(1);
        Round {
            next: (0..n).map(|i| (i + 1) % n).collect(),
            before: (0..n).map(|i| (i + n - 1) % n).collect(),
            head: 0,
        }
    }

    pub(super) fn head(&self) -> u32 {
        self.head
    }

    /// `member` moves to the tail.
    pub(super) fn move_to_tail(&mut self, member: u32) {
        if member == self.head {
            self.head = self.next[member as usize];
            return;
        }
        // Out of its place, and in before the head.
        let (before, next) = (self.before[member as usize], self.next[member as usize]);
        self.next[before as usize] = next;
        self.before[next as usize] = before;
        let tail = self.before[self.head as usize];
        self.next[tail as usize] = member;
        self.before[member as usize] = tail;
        self.next[member as usize] = self.head;
        self.before[self.head as usize] = member;
    }

    /// The first `n` move to the tail, one after the other.
    pub(super) fn turn(&mut self, n: u64) {
        for _ in 0..n % self.next.len() as u64 {
            self.head = self.next[self.head as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn a_round_is_a_queue(n in 1u32..8, moves in proptest::collection::vec(0u32..20, 0..60)) {
            let mut round = Round::new(n);
            let mut queue: VecDeque<u32> = (0..n).collect();
            for m in moves {
                if m < n {
                    round.move_to_tail(m);
                    queue.retain(|x| *x != m);
                    queue.push_back(m);
                } else {
                    round.turn(u64::from(m));
                    queue.rotate_left(m as usize % n as usize);
                }
                let mut copy = round.clone();
                for want in &queue {
                    prop_assert_eq!(copy.head(), *want);
                    copy.move_to_tail(*want);
                }
            }
        }
    }
}
