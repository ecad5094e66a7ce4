//! Which hub takes new connections, as a function of how each answers and of the time.
//!
//! One that is lost or drains is left at once, for the first that works. The way back is slow: a hub
//! that comes before the one in use has to answer without a break for a while, so that one that comes
//! and goes does not take the connections with it.

use super::Health;
use std::time::{Duration, Instant};

/// What is known of a hub.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// How it answers.
    pub(super) health: Health,
    /// Since when.
    pub(super) since: Instant,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// The place of the hub that takes new connections.
    pub(super) hub: usize,
    /// When a better one will have been there for long enough.
    pub(super) again: Option<Instant>,
}

/// How well a hub, or one association with it, can be used: a smaller number is better. Over TLS a page
/// takes more round trips than over QUIC; in an outage connections wait and are kept.
pub(super) const fn rank(health: Health) -> u8 {
    match health {
        Health::Up => 0,
        Health::Fallback => 1,
        Health::Outage => 2,
        Health::Draining => 3,
        Health::Down => 4,
    }
}

/// The worst rank that carries connections.
const SERVES: u8 = 1;

/// Chooses among `hubs`, which are in order of preference; `current` is in use. A better one is
/// taken when it has been so for `steady`.
pub(super) fn choose(
    hubs: &[Seen],
    current: Option<usize>,
    now: Instant,
    steady: Duration,
) -> Choice {
    let key = |at: usize| hubs.get(at).map(|seen| (rank(seen.health), at));
    let best = (0..hubs.len()).filter_map(key).min();
    let (Some(best), Some(mine)) = (best, current.and_then(key)) else {
        return Choice {
            hub: best.map_or(0, |(_, at)| at),
            again: None,
        };
    };
    if mine.0 > SERVES {
        // Of two that are equally bad there is no reason to change.
        let hub = if best.0 < mine.0 { best.1 } else { mine.1 };
        return Choice { hub, again: None };
    }
    let mut choice = Choice {
        hub: mine.1,
        again: None,
    };
    let mut taken = mine;
    for (at, seen) in hubs.iter().enumerate() {
        let other = (rank(seen.health), at);
        if other >= taken {
            continue;
        }
        let due = seen.since + steady;
        if due <= now {
            taken = other;
            choice.hub = at;
        } else {
            choice.again = Some(choice.again.map_or(due, |again| again.min(due)));
        }
    }
    choice
}

#[cfg(test)]
mod tests {
    use super::*;
    use Health::{Down, Draining, Fallback, Outage, Up};
    use proptest::prelude::*;

    const STEADY: Duration = Duration::from_secs(30);

    /// Chooses where each hub is as it is for so many seconds.
    fn chosen(hubs: &[(Health, u64)], current: Option<usize>) -> (usize, Option<u64>) {
        let now = Instant::now() + Duration::from_secs(1000);
        let seen = |&(health, age): &(Health, u64)| Seen {
            health,
            since: now - Duration::from_secs(age),
        };
        let hubs: Vec<Seen> = hubs.iter().map(seen).collect();
        let choice = choose(&hubs, current, now, STEADY);
        (choice.hub, choice.again.map(|at| (at - now).as_secs()))
    }

    #[test]
    fn the_first_that_works_is_used_and_one_that_does_not_is_left_at_once() {
        assert_eq!(chosen(&[(Up, 0), (Up, 0)], None), (0, None));
        assert_eq!(chosen(&[(Down, 9), (Up, 0)], None), (1, None));
        assert_eq!(chosen(&[(Down, 9), (Down, 9)], None), (0, None));
        for lost in [Down, Outage, Draining] {
            assert_eq!(chosen(&[(lost, 0), (Up, 0)], Some(0)), (1, None));
            assert_eq!(chosen(&[(lost, 0), (Fallback, 0)], Some(0)), (1, None));
            assert_eq!(chosen(&[(lost, 0), (Down, 0), (Up, 0)], Some(0)), (2, None));
            // Nobody answers: connections wait where they are.
            assert_eq!(chosen(&[(lost, 0), (lost, 0)], Some(1)), (1, None));
        }
        // They are kept in an outage, and not where there is no association.
        assert_eq!(chosen(&[(Down, 0), (Outage, 0)], Some(0)), (1, None));
        assert_eq!(chosen(&[(Down, 0), (Outage, 0)], Some(1)), (1, None));
    }

    #[test]
    fn the_way_back_takes_its_time() {
        assert_eq!(chosen(&[(Up, 10), (Up, 99)], Some(1)), (1, Some(20)));
        assert_eq!(chosen(&[(Up, 30), (Up, 99)], Some(1)), (0, None));
        assert_eq!(
            chosen(&[(Down, 99), (Up, 5), (Up, 99)], Some(2)),
            (2, Some(25))
        );
        // The second may be taken before the first, which has not been there for as long.
        assert_eq!(
            chosen(&[(Up, 5), (Up, 40), (Up, 99)], Some(2)),
            (1, Some(25))
        );
        // QUIC before TLS, and not the other way round.
        assert_eq!(chosen(&[(Fallback, 99), (Up, 9)], Some(1)), (1, None));
        assert_eq!(chosen(&[(Fallback, 99), (Up, 9)], Some(0)), (0, Some(21)));
        assert_eq!(
            chosen(&[(Fallback, 99), (Fallback, 99)], Some(1)),
            (0, None)
        );
    }

    proptest! {
        /// Whatever happens, connections go to a hub that works if one does, and a change away from
        /// one that works is to a better one that has been steady.
        #[test]
        fn a_hub_that_works_is_found_and_not_left_for_nothing(
            hubs in prop::collection::vec((0..5usize, 0..60u64), 1..6),
            current in prop::option::of(0..6usize),
        ) {
            let all = [Up, Fallback, Outage, Draining, Down];
            let hubs: Vec<(Health, u64)> = hubs.iter().map(|&(at, age)| (all[at], age)).collect();
            let (hub, again) = chosen(&hubs, current);
            prop_assert!(hub < hubs.len());
            let works = |at: usize| rank(hubs[at].0) <= SERVES;
            prop_assert_eq!(works(hub), (0..hubs.len()).any(works));
            if let Some(current) = current.filter(|&at| at < hubs.len() && works(at) && at != hub) {
                prop_assert!((rank(hubs[hub].0), hub) < (rank(hubs[current].0), current));
                prop_assert!(hubs[hub].1 >= 30);
            }
            prop_assert!(again.is_none_or(|wait| wait <= 30));
        }
    }
}
