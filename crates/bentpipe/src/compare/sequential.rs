//! Statements about means that may be looked at again and again while runs are added.
//!
//! A [`Statement`] is a number for each seed, such as what a setting saves beyond the
//! least that is worth a change. It is *shown* if its mean lies further from zero than
//! its margin. Of runs that are added the statement is looked at after 4, 6, 9, 14, 20,
//! 30, ... of them, and each look may be wrong with a probability of its own. These add
//! up to no more than the [`Risk`], so that one may stop at any look (error spending: K.
//! K. G. Lan and D. L. DeMets, *Discrete sequential boundaries for clinical trials*,
//! Biometrika 70, 1983).
//!
//! The margin is the larger of two. One is that of Student's t for the runs alone. The
//! other takes the runs for four more whose scatter is 10% of the baseline: few runs that
//! happen to be alike, and pairs that are equal, prove less than they seem to. Taken
//! alone, the latter is too bold where the scatter is more than 10%.

use bentpipe_study::stats::t_above;
use bentpipe_units::math::sqrt;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Runs before anything is said.
pub(super) const FEWEST: usize = 4;

/// Each look comes after so many times the runs of the one before.
const GROWTH: f64 = 1.5;

/// Part of what is left of the error that a look spends.
const SPENT: f64 = 0.3;

/// Looks whose quantiles are kept: the last is at more than a thousand runs.
const KEPT: usize = 15;

/// Runs that are taken for made before, and their scatter over the baseline's mean.
const PRIOR_RUNS: f64 = 4.0;
const PRIOR_SCATTER: f64 = 0.10;

/// How likely a statement may be wrong, in either direction, over all looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Risk {
    /// What a recommendation, or its refusal, rests on: 1%.
    Use,
    /// What else may be as good, and what lies near a threshold: 5%.
    Rival,
}

impl Risk {
    /// Of one direction.
    const fn of_side(self) -> f64 {
        match self {
            Risk::Use => 0.01 / 2.0,
            Risk::Rival => 0.05 / 2.0,
        }
    }
}

/// How often runs are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Plan {
    /// After each number of runs of [`runs_at`], until it is decided.
    #[default]
    Looks,
    /// Once: their number was fixed before.
    Once,
    /// Nothing is random: one run shows all.
    Exact,
}

/// Runs at a look; the first look is number 0.
pub(super) fn runs_at(look: usize) -> usize {
    let mut runs = FEWEST as f64;
    for _ in 0..look {
        runs *= GROWTH;
    }
    (runs + 0.5) as usize
}

/// The first look that has at least so many runs.
pub(super) fn look_at(runs: usize) -> usize {
    (0..).find(|look| runs_at(*look) >= runs).unwrap_or(0)
}

/// The next number of runs at which there is a look, after so many.
pub(super) fn next_look(runs: usize) -> usize {
    runs_at(look_at(runs + 1))
}

/// Part of the error that a look spends; over all looks these add up to one.
fn spent(look: usize) -> f64 {
    let mut left = 1.0;
    for _ in 0..look {
        left *= 1.0 - SPENT;
    }
    SPENT * left
}

/// Student's t for the runs alone, and with those that are taken for made before.
#[derive(Clone, Copy, Debug)]
struct Quantiles {
    alone: f64,
    with_prior: f64,
}

impl Quantiles {
    fn of(runs: usize, tail: f64) -> Quantiles {
        Quantiles {
            alone: t_above(runs - 1, tail),
            with_prior: t_above(runs - 1 + PRIOR_RUNS as usize, tail),
        }
    }

    /// Those of a number of runs.
    fn for_runs(runs: usize, plan: Plan, risk: Risk) -> Quantiles {
        let share = |runs| match plan {
            Plan::Once => 1.0,
            Plan::Looks | Plan::Exact => spent(look_at(runs)),
        };
        let of = |runs, risk: Risk| Quantiles::of(runs, risk.of_side() * share(runs));
        static LOOKS: OnceLock<Vec<[Quantiles; 2]>> = OnceLock::new();
        let look = look_at(runs);
        if plan != Plan::Once && look < KEPT && runs_at(look) == runs {
            let at = |look| [Risk::Use, Risk::Rival].map(|risk| of(runs_at(look), risk));
            return LOOKS.get_or_init(|| (0..KEPT).map(at).collect())[look][risk as usize];
        }
        // A quantile is found by many steps, and a decision asks for the same ones again
        // and again.
        type Known = HashMap<(usize, bool, Risk), Quantiles>;
        static OTHERS: OnceLock<Mutex<Known>> = OnceLock::new();
        let known = OTHERS.get_or_init(Mutex::default);
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (runs, plan == Plan::Once, risk);
        *known.entry(key).or_insert_with(|| of(runs, risk))
    }
}

/// A mean over runs that is to be held against zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct Statement {
    pub(super) mean: f64,
    /// Standard deviation of the runs.
    scatter: f64,
    /// The scatter that is expected.
    expected: f64,
    pub(super) runs: usize,
    plan: Plan,
}

impl Statement {
    /// Of these numbers, one for each seed; `base` is the mean of what they are measured
    /// by. Not a number for none.
    #[cfg(test)]
    pub(super) fn of(values: &[f64], base: f64, plan: Plan) -> Statement {
        Statement {
            mean: bentpipe_study::stats::mean(values),
            scatter: bentpipe_study::stats::deviation(values).unwrap_or(f64::INFINITY),
            expected: PRIOR_SCATTER * base,
            runs: values.len(),
            plan,
        }
    }

    /// How far from zero the mean must be; infinite for fewer than [`FEWEST`] runs.
    pub(super) fn margin(&self, risk: Risk) -> f64 {
        match self.plan {
            Plan::Exact if self.runs > 0 => 0.0,
            _ if self.runs < FEWEST => f64::INFINITY,
            plan => Quantiles::for_runs(self.runs, plan, risk).margin(self),
        }
    }

    /// It is shown to be above zero.
    pub(super) fn is_above(&self, risk: Risk) -> bool {
        self.mean > self.margin(risk)
    }

    /// It is shown to be below zero.
    pub(super) fn is_below(&self, risk: Risk) -> bool {
        self.mean < -self.margin(risk)
    }

    /// Runs, at a look, with which a mean this far from zero would be shown more often
    /// than not: with a chance of four in five where the scatter is as it was.
    pub(super) fn runs_to_show(&self, distance: f64, risk: Risk) -> usize {
        /// What a normal variable exceeds with a chance of one in five.
        const POWER: f64 = 0.84;
        let scatter = self.scatter.max(self.expected / 2.0);
        let first = look_at(self.runs + 1);
        let enough = |look: &usize| {
            let runs = runs_at(*look);
            let t = Quantiles::for_runs(runs, Plan::Looks, risk).alone;
            (t + POWER) * scatter / sqrt(runs as f64) <= distance
        };
        let found = (first..KEPT).find(enough);
        found.map_or(usize::MAX, runs_at)
    }
}

/// How much two things differ, and what is usual: two numbers for each seed. From their
/// moments follows every statement that the one is more than a share of the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contrast {
    runs: usize,
    difference: f64,
    usual: f64,
    /// Variances of the two, and their covariance.
    variances: [f64; 2],
    covariance: f64,
    plan: Plan,
}

impl Contrast {
    /// Of these differences, each with what is usual for its seed.
    pub(super) fn of(pairs: &[(f64, f64)], plan: Plan) -> Contrast {
        let runs = pairs.len() as f64;
        let over = |f: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(f).sum::<f64>();
        let (difference, usual) = (over(&|p| p.0) / runs, over(&|p| p.1) / runs);
        let freedom = (runs - 1.0).max(1.0);
        Contrast {
            runs: pairs.len(),
            difference,
            usual,
            variances: [
                over(&|p| (p.0 - difference) * (p.0 - difference)) / freedom,
                over(&|p| (p.1 - usual) * (p.1 - usual)) / freedom,
            ],
            covariance: over(&|p| (p.0 - difference) * (p.1 - usual)) / freedom,
            plan,
        }
    }

    /// That the difference is more than a share of what is usual. Not a number without
    /// runs.
    pub(super) fn beyond(&self, share: f64) -> Statement {
        let [own, usual] = self.variances;
        let variance = own - 2.0 * share * self.covariance + share * share * usual;
        Statement {
            mean: self.difference - share * self.usual,
            scatter: match self.runs {
                0 | 1 => f64::INFINITY,
                _ => sqrt(variance.max(0.0)),
            },
            expected: PRIOR_SCATTER * self.usual,
            runs: self.runs,
            plan: self.plan,
        }
    }

    /// The shares that the runs do not rule out; `None` if they are too few for an end.
    pub(super) fn between(&self) -> Option<[f64; 2]> {
        const FURTHEST: f64 = 64.0;
        let centre = self.difference / self.usual;
        let end = |from: f64, is_shown: fn(&Statement, Risk) -> bool| {
            let shown = |share: f64| is_shown(&self.beyond(share), Risk::Use);
            // It is shown at `out` and not at `inside`.
            let (mut inside, mut out) = (centre, from);
            if !centre.is_finite() || !shown(out) {
                return None;
            }
            for _ in 0..40 {
                let middle = f64::midpoint(inside, out);
                match shown(middle) {
                    true => out = middle,
                    false => inside = middle,
                }
            }
            Some(out)
        };
        let least = end(-FURTHEST, Statement::is_above)?;
        let most = end(FURTHEST, Statement::is_below)?;
        Some([least, most])
    }
}

impl Quantiles {
    fn margin(&self, of: &Statement) -> f64 {
        let (runs, variance) = (of.runs as f64, of.scatter * of.scatter);
        let both = PRIOR_RUNS * of.expected * of.expected + (runs - 1.0) * variance;
        let with_prior = sqrt(both / (PRIOR_RUNS + runs - 1.0));
        (self.alone * of.scatter).max(self.with_prior * with_prior) / sqrt(runs)
    }
}

#[cfg(test)]
#[path = "sequential_tests.rs"]
pub(super) mod tests;
