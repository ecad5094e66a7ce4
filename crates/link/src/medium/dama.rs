//! Proportional allocation of slots on demand.
//!
//! Source: R. Secchi, *TDMA DAMA satellite support* for ns-2 (2006), of which only the description
//! is available: slots are allocated in proportion, terminal i gets ceil(Ns R_i / R) of Ns, the
//! excess is remembered and subtracted in later frames, and a packet may go on in the next slot. A
//! requester at each terminal and an allocator talk once a frame.
//!
//! Left open, and the reading chosen:
//! - R_i is what terminal i has asked for and not been allocated yet, in slots.
//!   A terminal asks once a frame for the slots that its queue takes beyond
//!   those that it has asked for and not been given. Requests therefore last:
//!   a burst asked for once is served over as many frames as it takes.
//! - If the rounded shares are more than Ns, those with the largest excess lose
//!   a slot each, the first of equals first; if older excess makes them less
//!   than Ns, those with the smallest get one more. So nothing of a frame is
//!   left as long as any terminal asks for slots, and excesses add up to zero.
//! - With no request there is no allocation.

/// Allocates the slots of each frame in proportion to demand.
#[derive(Clone, Debug)]
pub(super) struct Allocator {
    /// Slots asked for and not allocated yet.
    pending: Vec<u64>,
    total: u64,
    /// What each was given beyond its share so far, slots.
    excess: Vec<f64>,
    /// Owner of each slot of the frame, and whether it was asked for.
    plan: Vec<(u32, bool)>,
    given: Vec<u64>,
    order: Vec<u32>,
}

impl Allocator {
    pub(super) fn new(terminals: usize) -> Allocator {
        Allocator {
            pending: vec![0; terminals],
            total: 0,
            excess: vec![0.0; terminals],
            plan: Vec::new(),
            given: vec![0; terminals],
            order: Vec::new(),
        }
    }

    pub(super) fn request(&mut self, terminal: u32, slots: u64) {
        self.pending[terminal as usize] += slots;
        self.total += slots;
    }

    pub(super) fn is_idle(&self) -> bool {
        self.total == 0
    }

    /// The owner of slot `index` of the frame, and whether it asked for it.
    pub(super) fn owner(&self, index: u32) -> Option<(u32, bool)> {
        self.plan.get(index as usize).copied()
    }

    pub(super) fn clear(&mut self) {
        self.plan.clear();
    }

    /// Allocates the slots of the next frame.
    pub(super) fn allocate(&mut self, slots: u32) {
        self.plan.clear();
        self.order.clear();
        if self.total == 0 {
            return;
        }
        let all = self.total as f64;
        let mut sum = 0i64;
        for (i, &asked) in self.pending.iter().enumerate() {
            if asked == 0 {
                continue;
            }
            self.order.push(i as u32);
            let share = f64::from(slots) * asked as f64 / all - self.excess[i];
            // A share that is an integer up to rounding errors is one.
            let given = ceil(share - 1e-9).max(0);
            self.given[i] = given as u64;
            self.excess[i] = given as f64 - share;
            sum += given;
        }
        let mut over = sum - i64::from(slots);
        let excess = &self.excess;
        self.order.sort_by(|&a, &b| {
            let by_excess = excess[b as usize].total_cmp(&excess[a as usize]);
            by_excess.then(a.cmp(&b))
        });
        while over > 0 {
            let before = over;
            for &i in &self.order {
                if over > 0 && self.given[i as usize] > 0 {
                    self.given[i as usize] -= 1;
                    self.excess[i as usize] -= 1.0;
                    over -= 1;
                }
            }
            if over == before {
                break;
            }
        }
        while over < 0 {
            for &i in self.order.iter().rev() {
                if over < 0 {
                    self.given[i as usize] += 1;
                    self.excess[i as usize] += 1.0;
                    over += 1;
                }
            }
        }
        self.order.sort_unstable();
        for &i in &self.order {
            let given = self.given[i as usize];
            let asked = self.pending[i as usize].min(given);
            self.pending[i as usize] -= asked;
            self.total -= asked;
            for n in 0..given {
                self.plan.push((i, n < asked));
            }
        }
    }
}

/// The least whole number not below `x`.
fn ceil(x: f64) -> i64 {
    let whole = x as i64;
    if (whole as f64) < x { whole + 1 } else { whole }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Slots of each of three terminals in the next frame.
    fn frame(allocator: &mut Allocator, slots: u32) -> [usize; 3] {
        allocator.allocate(slots);
        [0, 1, 2].map(|t| {
            allocator
                .plan
                .iter()
                .filter(|(owner, _)| *owner == t)
                .count()
        })
    }

    #[test]
    fn the_worked_example() {
        // Ten slots, demands of 3, 3 and 1: shares 4.29, 4.29 and 1.43, rounded
        // up 5, 5 and 2, which is two too many. The excesses are .71, .71 and
        // .57: the first two lose one each.
        let mut allocator = Allocator::new(3);
        for (terminal, slots) in [(0, 3), (1, 3), (2, 1)] {
            allocator.request(terminal, slots);
        }
        assert_eq!(frame(&mut allocator, 10), [4, 4, 2]);
        let excess: Vec<f64> = allocator
            .excess
            .iter()
            .map(|x| (x * 100.0).round())
            .collect();
        assert_eq!(excess, [-29.0, -29.0, 57.0]);
        // All that was asked for was given, and three slots more.
        assert!(allocator.is_idle());
        let asked = allocator.plan.iter().filter(|(_, asked)| *asked).count();
        assert_eq!(asked, 7);
        // The excess counts in the next frame: 4.57, 4.57 and 0.86.
        for (terminal, slots) in [(0, 3), (1, 3), (2, 1)] {
            allocator.request(terminal, slots);
        }
        assert_eq!(frame(&mut allocator, 10), [4, 5, 1]);
    }

    #[test]
    fn in_the_long_run_everybody_gets_the_exact_share() {
        let mut allocator = Allocator::new(3);
        let mut sums = [0; 3];
        for _ in 0..700 {
            for (terminal, slots) in [(0, 3), (1, 3), (2, 1)] {
                allocator.request(terminal, slots);
            }
            let given = frame(&mut allocator, 10);
            for (sum, given) in sums.iter_mut().zip(given) {
                *sum += given;
            }
        }
        for (sum, want) in sums.into_iter().zip([3000, 3000, 1000]) {
            assert!(sum.abs_diff(want) <= 1, "{sums:?}");
        }
    }

    #[test]
    fn a_burst_asked_for_once_is_served_to_its_end() {
        let mut allocator = Allocator::new(3);
        allocator.request(1, 25);
        for _ in 0..3 {
            assert_eq!(frame(&mut allocator, 10), [0, 10, 0]);
        }
        assert!(allocator.is_idle());
        assert_eq!(frame(&mut allocator, 10), [0, 0, 0]);
    }

    proptest! {
        #[test]
        fn a_frame_is_full_while_somebody_asks(
            frames in proptest::collection::vec(proptest::collection::vec(0u64..50, 3), 1..40),
            slots in 1u32..20,
        ) {
            let mut allocator = Allocator::new(3);
            for requests in frames {
                for (terminal, slots) in requests.into_iter().enumerate() {
                    allocator.request(terminal as u32, slots);
                }
                let idle = allocator.is_idle();
                let given: usize = frame(&mut allocator, slots).iter().sum();
                prop_assert_eq!(given, if idle { 0 } else { slots as usize });
                let excess: f64 = allocator.excess.iter().sum();
                prop_assert!(excess.abs() < 1e-6, "{}", excess);
            }
        }
    }
}
