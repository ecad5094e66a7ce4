//! The largest number of users for which a target is met: a search with the same seeds at all
//! numbers of users.
//!
//! At each number of users every run says by how much it misses the target
//! ([`Target::missed_by`](super::Target)); where the mean of these is zero the link is full. The
//! search doubles the users until the target is missed, halves what is between the largest number
//! that meets it and the smallest that does not, until the two are within [`CLOSE`], and reads the
//! zero off the line between them. Each seed has a value of its own there, and their scatter over
//! the slope of the line gives the interval. As long as that is too wide, both ends have more
//! runs.

use super::super::sequential::{FEWEST, next_look};
use bentpipe_study::stats::{ci95, mean};
use std::collections::BTreeMap;

/// The two ends are brought this close to each other.
const CLOSE: f64 = 1.25;

/// Half of the interval is to be this part of the users, at most; or half a user.
pub(super) const NARROW: f64 = 0.10;

/// Most runs at one number of users.
const MOST_RUNS: usize = 154;

/// A mean that is missed by more than this is missed by this: one run that never ended must not
/// outweigh all others.
const MOST_MISSED: f64 = 100.0;

/// The numbers of users that are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// As few users as the traffic needs.
    pub(super) fewest: u32,
    /// The most that are tried.
    pub(super) most: u32,
}

/// The search for one row.
#[derive(Clone, Debug)]
pub(super) struct Search {
    limits: Limits,
    /// Users to begin with.
    start: u32,
    /// Runs at each end.
    runs: usize,
    /// No more than these runs are wanted.
    is_fixed: bool,
    /// By how much the runs miss the target, in the order of their seeds, by users.
    points: BTreeMap<u32, Vec<f64>>,
}

/// Runs that are wanted: at so many users, until there are so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) users: u32,
    pub(super) runs: usize,
}

/// What is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Found {
    /// Nothing yet.
    Unknown,
    /// Not even the fewest users are given what they must be.
    None,
    /// As many as are tried.
    All,
    /// At least so many, and it is not known how many more.
    AtLeast(u32),
    /// The target is missed by so many users, and it is not known how many fewer meet it.
    Below(u32),
    /// The link is full at so many users, a number that need not be whole, and half of its
    /// 95% interval.
    Full { users: f64, half: f64 },
}

impl Search {
    /// One that begins with `start` users; `runs` is the number of runs, where it is fixed.
    pub(super) fn new(limits: Limits, start: u32, runs: Option<usize>) -> Search {
        Search {
            limits,
            start: start.clamp(limits.fewest, limits.most),
            runs: runs.unwrap_or(FEWEST),
            is_fixed: runs.is_some(),
            points: BTreeMap::new(),
        }
    }

    /// Notes by how much the next runs with so many users missed the target.
    pub(super) fn note(&mut self, users: u32, missed: impl IntoIterator<Item = f64>) {
        let missed = missed.into_iter().map(|x| x.min(MOST_MISSED));
        self.points.entry(users).or_default().extend(missed);
    }

    /// Runs at this number of users so far.
    pub(super) fn has(&self, users: u32) -> usize {
        self.points.get(&users).map_or(0, Vec::len)
    }

    /// Most runs at one number of users.
    pub(super) fn most_runs(&self) -> usize {
        self.points.values().map(Vec::len).max().unwrap_or(0)
    }

    /// The largest number of users below the smallest that misses the target, and that one.
    fn ends(&self) -> (Option<u32>, Option<u32>) {
        let misses = |of: &[f64]| mean(of) > 0.0;
        let missing = self
            .points
            .iter()
            .find(|(_, of)| misses(of))
            .map(|(n, _)| *n);
        let meeting = self
            .points
            .keys()
            .copied()
            .filter(|n| missing.is_none_or(|m| *n < m));
        (meeting.max(), missing)
    }

    /// The runs that are wanted next; empty if it is known well enough.
    pub(super) fn wants(&self) -> Vec<Wanted> {
        let at = |users| Wanted {
            users,
            runs: self.runs,
        };
        let Limits { fewest, most } = self.limits;
        match self.ends() {
            (None, None) => vec![at(self.start)],
            (Some(low), None) if low == most => self.more(&[low]),
            // From a good guess on the end is near.
            (Some(low), None) => {
                let grown = if self.points.len() == 1 && low > 4 {
                    1.5
                } else {
                    2.0
                };
                vec![at(((f64::from(low) * grown) as u32).clamp(low + 1, most))]
            }
            (None, Some(high)) if high == fewest => self.more(&[high]),
            (None, Some(high)) => {
                let shrunk = if self.points.len() == 1 && high > 4 {
                    1.5
                } else {
                    2.0
                };
                vec![at(
                    ((f64::from(high) / shrunk) as u32).clamp(fewest, high - 1)
                )]
            }
            (Some(low), Some(high)) if high - low > 1 && self.is_wide(low, high) => {
                let middle = bentpipe_units::math::sqrt(f64::from(low) * f64::from(high));
                vec![at((middle as u32).clamp(low + 1, high - 1))]
            }
            (Some(low), Some(high)) => self.more(&[low, high]),
        }
    }

    fn is_wide(&self, low: u32, high: u32) -> bool {
        f64::from(high) > CLOSE * f64::from(low)
    }

    /// The runs that these ends lack.
    fn more(&self, ends: &[u32]) -> Vec<Wanted> {
        let lack = ends.iter().filter(|users| self.has(**users) < self.runs);
        let lack = lack.map(|users| Wanted {
            users: *users,
            runs: self.runs,
        });
        lack.collect()
    }

    /// True if more runs would make it more exact, and it is not exact enough.
    pub(super) fn is_vague(&self) -> bool {
        let is_narrow = match self.found() {
            Found::Full { users, half } => half <= (NARROW * users).max(0.5),
            // Far from the limit there is nothing to be exact about.
            Found::None => self.is_beyond_chance(self.limits.fewest),
            Found::All => self.is_beyond_chance(self.limits.most),
            Found::Unknown | Found::AtLeast(_) | Found::Below(_) => false,
        };
        !is_narrow && !self.is_fixed && self.runs < MOST_RUNS
    }

    /// True if more runs would hardly change on which side of the target so many users are.
    fn is_beyond_chance(&self, users: u32) -> bool {
        let runs = &self.points[&users];
        ci95(runs).is_some_and(|half| mean(runs).abs() > half || half == 0.0)
    }

    /// Wants more runs at the ends from now on.
    pub(super) fn refine(&mut self) {
        self.runs = next_look(self.runs).min(MOST_RUNS);
    }

    /// What is known.
    pub(super) fn found(&self) -> Found {
        let Limits { fewest, most } = self.limits;
        match self.ends() {
            (None, None) => Found::Unknown,
            (Some(low), None) if low == most => Found::All,
            (Some(low), None) => Found::AtLeast(low),
            (None, Some(high)) if high == fewest => Found::None,
            (None, Some(high)) => Found::Below(high),
            (Some(low), Some(high)) => self.between(low, high),
        }
    }

    /// Where the line between the two ends is zero.
    fn between(&self, low: u32, high: u32) -> Found {
        let (below, above) = (&self.points[&low], &self.points[&high]);
        let pairs = || below.iter().zip(above);
        let step = f64::from(high - low);
        let (met, missed) = (mean(below), mean(above));
        let share = -met / (missed - met);
        let at_zero: Vec<f64> = pairs().map(|(a, b)| a + share * (b - a)).collect();
        let slope = (missed - met) / step;
        // Of one run nothing is known of other seeds.
        let half = ci95(&at_zero).map_or(f64::INFINITY, |half| half / slope);
        Found::Full {
            users: f64::from(low) + share * step,
            half,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        fewest: 1,
        most: 1000,
    };

    /// A number between -0.5 and 0.5, as good as random (splitmix64).
    fn draw(seed: u64) -> f64 {
        let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }

    /// A link that is full at `full` users, with runs that scatter by so much.
    fn search(full: f64, scatter: f64, start: u32, seed: u64) -> (Search, usize) {
        let mut search = Search::new(LIMITS, start, None);
        let mut made = 0;
        for _ in 0..60 {
            let wanted = search.wants();
            if wanted.is_empty() {
                if !search.is_vague() {
                    break;
                }
                search.refine();
            }
            for Wanted { users, runs } in wanted {
                let has = search.has(users);
                made += runs - has;
                let missed = (has..runs).map(|run| {
                    // Convex, as the share of slow pages is; the same seed scatters alike.
                    let load = f64::from(users) / full;
                    let seed = seed + run as u64;
                    let own = draw(seed * 5_000 + u64::from(users));
                    load * load * load - 1.0 + scatter * (draw(seed) + own)
                });
                search.note(users, missed.collect::<Vec<f64>>());
            }
        }
        (search, made)
    }

    #[test]
    fn what_is_exact_is_found_exactly() {
        for full in [1.5, 2.4, 7.5, 23.5, 140.2, 640.0] {
            for start in [1, 10, 300] {
                let (search, made) = search(full, 0.0, start, 1);
                let Found::Full { users, half } = search.found() else {
                    panic!("{full}: {:?}", search.found());
                };
                assert!(
                    (users / full - 1.0).abs() < 0.03 || (users - full).abs() < 0.2,
                    "{full}: {users}"
                );
                assert!(half < 1e-9 && made < 60, "{full}: {half}, {made} runs");
            }
        }
    }

    #[test]
    fn the_interval_holds_what_is_true() {
        let mut outside = 0;
        for seed in 0..60 {
            let full = 5.0 + f64::from(seed as u32) * 3.0;
            let (search, _) = search(full, 0.8, 1, 1000 * seed);
            let Found::Full { users, half } = search.found() else {
                panic!("{full}: {:?}", search.found());
            };
            assert!(half <= (0.10 * users).max(0.5), "{full}: {users} ± {half}");
            assert!((users / full - 1.0).abs() < 0.2, "{full}: {users} ± {half}");
            outside += usize::from((users - full).abs() > half);
        }
        // 3 of 60 are to be expected; that the search stops where it is narrow adds some.
        assert!(outside <= 9, "{outside} of 60");
    }

    #[test]
    fn there_is_a_first_and_a_last() {
        assert_eq!(search(0.5, 0.0, 8, 1).0.found(), Found::None);
        assert_eq!(search(5000.0, 0.0, 8, 1).0.found(), Found::All);
        let mut search = Search::new(LIMITS, 8, Some(3));
        assert_eq!(search.found(), Found::Unknown);
        search.note(8, [1.0, 1.0, 1.0]);
        assert_eq!(search.found(), Found::Below(8));
        search.note(8, []);
        assert_eq!(search.wants(), [Wanted { users: 5, runs: 3 }]);
    }

    /// Where one user alone is next to the limit, four runs must not say that nobody fits.
    #[test]
    fn a_few_runs_do_not_rule_out_the_first_user() {
        let mut search = Search::new(LIMITS, 1, None);
        search.note(1, [0.3, -0.2, 0.2, -0.1]);
        assert_eq!(search.found(), Found::None);
        assert!(search.is_vague());
        search.refine();
        assert_eq!(search.wants(), [Wanted { users: 1, runs: 6 }]);
        let mut search = Search::new(LIMITS, 1, None);
        search.note(1, [0.3, 0.2, 0.2, 0.3]);
        assert!(!search.is_vague());
    }
}
