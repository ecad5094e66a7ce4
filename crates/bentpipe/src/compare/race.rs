//! Which runs may change a verdict that is not clear.

use super::judgement::{Judgement, is_rival};
use super::score::Scores;
use super::sequential::{FEWEST, Plan, Risk};
use super::standing::{GAIN_ZONE, Place, Standing};
use super::verdict::{AS_GOOD, HARM_LIMIT, HARM_NOTED};

/// Which runs of a row: of the users alone, or beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Own,
    Shared,
}

/// A row, and which of its runs.
pub(super) type Wanted = Vec<(usize, Kind)>;

impl Scores {
    /// Which runs may change a verdict that is not clear: what is open, what pauses while
    /// another is faster, what was set aside or never ran, and what lies near a threshold.
    /// `fits` says whether so many runs of a row fit into the time.
    pub(super) fn tiers(
        &self,
        standings: &[Standing],
        judged: &Judgement,
        fits: &dyn Fn(usize, usize) -> bool,
    ) -> [Wanted; 4] {
        let fastest = self.fastest_in_race(standings);
        let is_paused = |row: usize| {
            let slower = |best| self.lead(row, best).beyond(0.0).is_above(Risk::Rival);
            fastest.is_some_and(|best| best != row && slower(best))
        };
        let pick = judged.pick.filter(|pick| *pick != self.baseline);
        let mut tiers: [Wanted; 4] = Default::default();
        let mut known = Vec::new();
        for (row, standing) in standings.iter().enumerate() {
            let is_close = |pick| {
                let lead = self.lead(pick, row).beyond(AS_GOOD + GAIN_ZONE);
                lead.is_below(Risk::Rival)
            };
            let tier = match (standing, pick) {
                (Standing::Baseline | Standing::Slow | Standing::Out(_), _) => continue,
                (Standing::NotRun | Standing::Aside, _) => 2,
                (_, Some(pick)) if pick == row => continue,
                (_, Some(pick)) if !is_rival(self, standings, pick, row) => continue,
                // What is probably usable is sought to be shown so before anything else.
                (Standing::Near(_), None)
                    if self.runs_to_use(row).is_some_and(|n| fits(row, n)) =>
                {
                    0
                }
                (Standing::Near(_), _) => 3,
                (_, Some(pick)) if is_close(pick) => 3,
                _ if is_paused(row) => 1,
                (Standing::Open(_) | Standing::Usable, _) => 0,
            };
            let (wants, gain_is_known) = self.wants(row, pick);
            tiers[tier].extend(wants.into_iter().map(|kind| (row, kind)));
            if gain_is_known && pick.is_none() {
                known.push(row);
            }
            if let (Some(pick), 0 | 1 | 3) = (pick, tier) {
                tiers[tier].push((pick, Kind::Own));
            }
        }
        for tier in &mut tiers {
            self.keep_front(tier, &known);
            tier.sort_unstable();
            tier.dedup();
        }
        tiers
    }

    /// The fastest row that could win, and that others do not seem to lose too much beside.
    fn fastest_in_race(&self, standings: &[Standing]) -> Option<usize> {
        let could_win = |row: &usize| {
            let is_seen = self.rows[*row].scores.len() >= FEWEST || self.plan == Plan::Exact;
            let in_race = matches!(
                standings[*row],
                Standing::Usable | Standing::Near(_) | Standing::Open(_)
            );
            is_seen && in_race
        };
        let is_gentle = |row: &usize| {
            let harm = self.rows[*row].harm;
            standings[*row] == Standing::Usable || harm.is_some_and(|h| h.share < HARM_LIMIT)
        };
        let level = |row: &usize| self.rows[*row].level;
        (0..standings.len())
            .filter(|row| could_win(row) && is_gentle(row))
            .min_by(|a, b| level(a).total_cmp(&level(b)))
    }

    /// Which runs of a row may tell more: of its users alone, or beside others; and whether
    /// what it gains is known.
    fn wants(&self, row: usize, pick: Option<usize>) -> (Vec<Kind>, bool) {
        let mut found = Vec::new();
        let gain = self.gain(row).beyond(self.worth(row));
        let gain_is_known = gain.is_above(Risk::Use) || gain.is_below(Risk::Use);
        let rest = self.fails_otherwise(row);
        let rest_is_known = rest.iter().all(|((place, _), _)| *place == Place::Good);
        if !gain_is_known || !rest_is_known || pick.is_some() {
            found.push(Kind::Own);
        }
        let is_seen = self.rows[row].scores.len() >= FEWEST || self.plan == Plan::Exact;
        // What others lose does not matter of a row that would not be chosen.
        let would_win = match pick {
            Some(pick) => self.lead(pick, row).beyond(AS_GOOD).mean > 0.0,
            None => gain.mean > 0.0,
        };
        let harm = self.harms_too_much(row);
        if is_seen && would_win && !matches!(harm, Place::Good | Place::Bad) {
            found.push(Kind::Shared);
        }
        (found, gain_is_known)
    }

    /// Of the rows that want runs beside others keeps one, and those that have had few: such
    /// runs are what a verdict costs most, and one setting is enough of those that are about
    /// as fast. It is the one that others seem to lose the least beside; of those alike, the
    /// one whose runs have gone furthest. A row whose gain is `known` waits altogether.
    fn keep_front(&self, tier: &mut Wanted, known: &[usize]) {
        let waits = |(row, kind): &(usize, Kind)| *kind == Kind::Shared || known.contains(row);
        let mut waiting: Vec<usize> = tier.iter().filter(|of| waits(of)).map(|of| of.0).collect();
        waiting.dedup();
        let level = |row: &usize| self.rows[*row].level;
        // Of few runs as little as may well be: bad luck in them must not rule a row out.
        let lost = |row: &usize| {
            let harm = self.rows[*row].harm;
            let least = harm.and_then(|harm| Some(harm.share - harm.ci95? / 2.0));
            least.unwrap_or(f64::NEG_INFINITY)
        };
        let runs = |row: &usize| self.rows[*row].others.len();
        let least = |rows: &[usize], of: &dyn Fn(&usize) -> f64| {
            rows.iter().map(of).fold(f64::INFINITY, f64::min)
        };
        let reach = least(&waiting, &level) + AS_GOOD * self.base().level;
        let mut front: Vec<usize> = waiting.clone();
        front.retain(|row| level(row) <= reach);
        let lacks = |row: &usize| runs(row) < FEWEST && tier.contains(&(*row, Kind::Shared));
        if front.iter().any(lacks) {
            front.retain(lacks);
        } else {
            let most = least(&front, &lost) + HARM_NOTED;
            front.retain(|row| lost(row) <= most);
            front.sort_by(|a, b| runs(b).cmp(&runs(a)).then(level(a).total_cmp(&level(b))));
            front.truncate(1);
        }
        tier.retain(|of| !waits(of) || front.contains(&of.0));
    }
}

#[cfg(test)]
mod tests {
    use super::super::judgement::{judge, tests::scores};
    use super::super::sequential::tests::Noise;
    use super::super::verdict::{Harm, Threshold};
    use super::*;

    /// Three that are about as fast, one of which others hardly lose beside, and one that
    /// gains less; their gains are known.
    fn three_alike(seed: u64, runs: usize) -> (Scores, [Wanted; 4], Vec<Standing>) {
        let truth = [(0.33, 0.3), (0.35, 0.1), (0.34, 0.4), (0.1, 0.0)];
        let mut all = scores(&mut Noise::new(seed), &truth, 0.3, runs);
        for (row, (_, harm)) in all.rows[1..].iter_mut().zip(truth) {
            row.harm = Some(Harm {
                share: harm,
                ci95: Some(0.05),
                ..Harm::default()
            });
        }
        let standings = all.standings();
        let judged = judge(&all, &standings, true);
        let tiers = all.tiers(&standings, &judged, &|_, _| true);
        (all, tiers, standings)
    }

    fn shared(tier: &Wanted) -> Vec<usize> {
        let shared = tier.iter().filter(|(_, kind)| *kind == Kind::Shared);
        shared.map(|(row, _)| *row).collect()
    }

    #[test]
    fn only_the_gentlest_of_those_alike_runs_beside_others() {
        let (_, tiers, standings) = three_alike(4, 20);
        assert_eq!(shared(&tiers[0]), [2], "{standings:?}");
    }

    /// What is probably usable is not left for something worse that is open.
    #[test]
    fn what_is_near_and_probably_usable_goes_on_first() {
        let is_near = |seed: &u64| three_alike(*seed, 46).2[2] == Standing::Near(Threshold::Harm);
        let seed = (1..=100).find(is_near).expect("one of them is near");
        let (all, tiers, standings) = three_alike(seed, 46);
        assert!(all.runs_to_use(2).is_some());
        assert_eq!(shared(&tiers[0]), [2], "{standings:?}");
        assert!(!tiers[3].iter().any(|(row, _)| *row == 2));
    }
}
