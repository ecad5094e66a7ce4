//! Combined free and demand assignment: who gets the next slot.
//!
//! Source: T. Le-Ngoc and J. I. Mohammed, *Combined free/demand assignment
//! multiple access (CFDAMA) protocols for packet satellite communication*,
//! Proc. IEEE ICUPC, 1993, of which only the abstract and what later work says
//! of it are available: requests wait first come, first served at a scheduler;
//! a slot for which no request waits is assigned freely, round robin; a
//! terminal that was served moves to the tail of the round.
//!
//! Left open, and the reading chosen:
//! - A request is for as many slots as the queue takes beyond those asked for
//!   and not given yet; its slots are given one after the other.
//! - A slot is decided on as late as possible: just so early that the terminals
//!   know in time. So no free slot is ever known to be coming, and none is
//!   subtracted from a request.
//! - A slot that was asked for and is not needed any more (free ones have
//!   emptied the queue) is lost.
//! - Random access: a terminal hears after one hop that its request met
//!   another, waits a uniform number of frames of 2^k - 1 at most after the
//!   k-th time in a row (k at most 5), and asks again.

use super::round::Round;
use bentpipe_units::{Duration, Time};
use std::collections::VecDeque;

/// Requests that wait, and the round of free assignment.
#[derive(Clone, Debug)]
pub(super) struct Assigner {
    /// Requests on their way, the first to arrive first.
    on_the_way: VecDeque<(Time, Request)>,
    waiting: VecDeque<Request>,
    round: Round,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    terminal: u32,
    slots: u64,
}

impl Assigner {
    pub(super) fn new(terminals: usize) -> Assigner {
        Assigner {
            on_the_way: VecDeque::new(),
            waiting: VecDeque::new(),
            round: Round::new(terminals as u32),
        }
    }

    /// A request that arrives at the scheduler at `at`. Calls must not go back
    /// in that time.
    pub(super) fn request(&mut self, at: Time, terminal: u32, slots: u64) {
        self.on_the_way.push_back((at, Request { terminal, slots }));
    }

    /// True if no terminal has asked for anything.
    pub(super) fn is_idle(&self) -> bool {
        self.on_the_way.is_empty() && self.waiting.is_empty()
    }

    /// The owner of the slot that begins at `slot` and whether it asked for
    /// it; word of that takes `delay` to the terminals.
    pub(super) fn assign(&mut self, slot: Time, delay: Duration) -> (u32, bool) {
        while let Some((at, request)) = self.on_the_way.front()
            && *at + delay <= slot
        {
            self.waiting.push_back(*request);
            self.on_the_way.pop_front();
        }
        let (owner, asked) = match self.waiting.front_mut() {
            Some(request) => {
                let owner = request.terminal;
                request.slots = request.slots.saturating_sub(1);
                if request.slots == 0 {
                    self.waiting.pop_front();
                }
                (owner, true)
            }
            None => (self.round.head(), false),
        };
        self.round.move_to_tail(owner);
        (owner, asked)
    }

    /// So many slots went by in which no terminal had anything to send.
    pub(super) fn skip(&mut self, slots: u64) {
        self.round.turn(slots);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn free_slots_go_round_and_the_served_to_the_tail() {
        let mut assigner = Assigner::new(3);
        let delay = Duration::from_millis(10);
        let next = |assigner: &mut Assigner, at| assigner.assign(ms(at), delay);
        assert_eq!(next(&mut assigner, 1), (0, false));
        assigner.request(ms(5), 1, 2);
        // The request is known, but word of it cannot be there before 15.
        assert_eq!(next(&mut assigner, 14), (1, false));
        assert_eq!(next(&mut assigner, 15), (1, true));
        assert_eq!(next(&mut assigner, 16), (1, true));
        // Terminal 1 was served last: 2 and 0 come before it.
        assert_eq!(next(&mut assigner, 17), (2, false));
        assert_eq!(next(&mut assigner, 18), (0, false));
        assert_eq!(next(&mut assigner, 19), (1, false));
        assert!(assigner.is_idle());
    }

    proptest! {
        /// No slot is free while a request waits, first come is first served,
        /// and every slot asked for is given.
        #[test]
        fn requests_come_first(requests in proptest::collection::vec((0u64..40, 0u32..5, 1u64..4), 0..40)) {
            let mut assigner = Assigner::new(5);
            let delay = Duration::from_millis(10);
            let mut at = 0;
            let mut owed = VecDeque::new();
            for (gap, terminal, slots) in requests {
                at += gap;
                assigner.request(ms(at), terminal, slots);
                for _ in 0..slots {
                    owed.push_back((at + 10, terminal));
                }
            }
            for slot in 0..at + 300 {
                let (owner, asked) = assigner.assign(ms(slot), delay);
                let waits = owed.front().is_some_and(|(known, _)| *known <= slot);
                prop_assert_eq!(asked, waits);
                if waits {
                    prop_assert_eq!(Some(owner), owed.pop_front().map(|(_, t)| t));
                }
            }
            prop_assert!(owed.is_empty());
        }
    }
}
