//! Replications until a mean is known well enough.
//!
//! A cell continues until the 95% interval of the mean of one number is narrow enough. The number
//! of its runs depends only on its first runs, taken one by one in the order of their seeds, so it
//! does not depend on the number of threads, machines and interruptions.

use crate::catalogue::Catalogue;
use crate::expr::{Scope, number, single, single_fault};
use crate::record::RunResult;
use crate::runs::Runs;
use crate::stats;
use crate::study::{Precision, Study};
use bentpipe_document::{Diagnostic, Errors};
use bentpipe_units::math::sqrt;

/// The progress of a cell whose number of runs follows from the results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reached {
    /// Runs that it took.
    pub runs: u32,
    /// Mean of the number over them; `None` where a run has none.
    pub mean: Option<f64>,
    /// Half the width of the mean's 95% interval as a share of the mean; `None` where a
    /// run has no number or the mean is zero.
    pub share: Option<f64>,
    /// True if the interval became as narrow as the study asks.
    pub enough: bool,
}

/// Runs that are all equal say that the next is so, too, only if they are many: of
/// thirty, that fewer than one in ten is different (at 95%, by the rule of three). Five
/// downloads may well have met no loss on a link that loses.
const EQUAL: u32 = 30;

/// What to do with a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Next {
    /// Run the replication of this index.
    Run(u32),
    /// It has its runs.
    Done(Reached),
}

/// The runs of a cell so far, in the order of their seeds.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    until: f64,
    at_least: u32,
    at_most: u32,
    n: u32,
    /// Runs that have no such number.
    without: u32,
    mean: f64,
    /// Sum of the squared distances from the mean.
    squares: f64,
}

impl Tally {
    pub(crate) fn new(precision: &Precision, at_most: u32) -> Tally {
        Tally {
            until: precision.until,
            at_least: precision.at_least.min(at_most),
            at_most,
            n: 0,
            without: 0,
            mean: 0.0,
            squares: 0.0,
        }
    }

    /// Adds the next run; `None` if it has no such number (Welford, 1962).
    pub(crate) fn push(&mut self, value: Option<f64>) {
        self.n += 1;
        let Some(x) = value.filter(|x| x.is_finite()) else {
            self.without += 1;
            return;
        };
        let n = f64::from(self.n - self.without);
        let off = x - self.mean;
        self.mean += off / n;
        self.squares += off * (x - self.mean);
    }

    /// Half the width of the interval as a share of the mean.
    fn share(&self) -> Option<f64> {
        if self.without > 0 || self.n < 2 {
            return None;
        }
        let n = f64::from(self.n);
        let sd = sqrt(self.squares / (n - 1.0));
        let half = stats::t_975(self.n as usize - 1) * sd / sqrt(n);
        if half == 0.0 {
            return Some(0.0);
        }
        (self.mean != 0.0).then(|| half / self.mean.abs())
    }

    /// A cell of which a run has no number goes no further than the fewest runs: its
    /// tables show none either.
    pub(crate) fn next(&self) -> Next {
        if self.n < self.at_least {
            return Next::Run(self.n);
        }
        let reached = self.so_far();
        if reached.enough || self.without > 0 || self.n >= self.at_most {
            return Next::Done(reached);
        }
        Next::Run(self.n)
    }

    /// Runs that it needs whatever comes out.
    pub(crate) fn sure(&self) -> usize {
        self.at_least.saturating_sub(self.n).max(1) as usize
    }

    /// Runs before its interval counts.
    fn fewest(&self) -> u32 {
        match self.squares == 0.0 {
            true => self.at_least.max(EQUAL).min(self.at_most),
            false => self.at_least,
        }
    }

    /// The progress of the cell.
    pub(crate) fn so_far(&self) -> Reached {
        let share = self.share();
        Reached {
            runs: self.n,
            mean: (self.without == 0 && self.n > 0).then_some(self.mean),
            share,
            enough: self.n >= self.fewest() && share.is_some_and(|share| share <= self.until),
        }
    }

    /// About how many runs it will take in all, for progress: the width falls with
    /// the root of their number.
    pub(crate) fn expected(&self) -> u32 {
        if let Next::Done(reached) = self.next() {
            return reached.runs;
        }
        let Some(share) = self.share() else {
            return self.at_least.max(self.n + 1);
        };
        let more = share / self.until;
        let expected = f64::from(self.n) * more * more;
        (expected as u32).clamp(self.n + 1, self.at_most.max(self.n + 1))
    }
}

/// How the number of one run is computed.
pub(crate) struct Gauge<'a> {
    pub(crate) precision: &'a Precision,
    number: Option<crate::expr::Number>,
}

impl<'a> Gauge<'a> {
    /// `None` for a study with a fixed number of replications.
    pub(crate) fn of(study: &'a Study, studies: &dyn Catalogue) -> Option<Gauge<'a>> {
        let precision = study.precision.as_ref()?;
        let scope = scope(study, studies, precision);
        let number = number(&precision.of.expr, &scope).ok();
        let number = number.map(|(number, _)| number);
        Some(Gauge { precision, number })
    }

    /// The number of a run; `None` if it has none.
    pub(crate) fn value(&self, run: &RunResult) -> Option<f64> {
        single(self.number.as_ref()?, run.data()?).ok()
    }

    pub(crate) fn tally(&self, at_most: u32) -> Tally {
        Tally::new(self.precision, at_most)
    }

    /// What a group has reached with the runs before the first that is missing, and
    /// whether it needs no more. There is room for `most` runs of each group.
    pub(crate) fn reached(&self, group: usize, most: u32, runs: &Runs) -> (Reached, bool) {
        let mut tally = self.tally(most);
        loop {
            let run = match tally.next() {
                Next::Done(reached) => return (reached, true),
                Next::Run(n) => group * most as usize + n as usize,
            };
            if !runs.has(run) {
                return (tally.so_far(), false);
            }
            tally.push(self.value(&runs.get(run)));
        }
    }
}

fn scope<'a>(study: &'a Study, studies: &'a dyn Catalogue, precision: &'a Precision) -> Scope<'a> {
    Scope::new(study, studies, &precision.of.text)
        .with_bound(study.axes.iter().map(|a| a.name.as_str()))
}

/// Checks that the number is one of a single run.
pub(crate) fn check(study: &Study, studies: &dyn Catalogue, errors: &Errors) {
    let Some(precision) = &study.precision else {
        return;
    };
    match number(&precision.of.expr, &scope(study, studies, precision)) {
        Err(fault) => {
            errors.report(precision.of.fault(fault));
        }
        Ok((number, _)) => {
            if let Some(what) = single_fault(&number) {
                let place = precision.of.place.string;
                let error = Diagnostic::new(place, format!("`of` cannot {what}"));
                errors.report(error.label(
                    "expected a metric, or an expression of metrics, of the runs of one cell",
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(until: f64, at_most: u32) -> Tally {
        Tally {
            until,
            at_least: 3.min(at_most),
            at_most,
            n: 0,
            without: 0,
            mean: 0.0,
            squares: 0.0,
        }
    }

    fn run(mut tally: Tally, value: impl Fn(u32) -> Option<f64>) -> Reached {
        loop {
            match tally.next() {
                Next::Run(n) => tally.push(value(n)),
                Next::Done(reached) => return reached,
            }
        }
    }

    #[test]
    fn a_cell_stops_where_its_interval_is_narrow_enough_and_not_before() {
        let value = |n: u32| 10.0 + f64::from(n % 4);
        let reached = run(tally(0.05, 1000), |n| Some(value(n)));
        assert!(reached.enough && reached.runs > 3);
        let share = |n: u32| {
            let samples: Vec<f64> = (0..n).map(value).collect();
            stats::ci95(&samples).unwrap() / stats::mean(&samples)
        };
        assert!((reached.share.unwrap() - share(reached.runs)).abs() < 1e-12);
        assert!(share(reached.runs) <= 0.05);
        assert!((3..reached.runs).all(|n| share(n) > 0.05));
    }

    #[test]
    fn equal_runs_are_enough_and_wide_ones_end_at_the_limit() {
        let same = run(tally(0.01, 1000), |_| Some(7.0));
        assert_eq!((same.runs, same.share, same.enough), (30, Some(0.0), true));
        let few = run(tally(0.01, 10), |_| Some(7.0));
        assert_eq!((few.runs, few.enough), (10, true));
        let rare = run(tally(0.5, 1000), |n| Some(if n == 8 { 9.0 } else { 7.0 }));
        assert_eq!(
            rare.runs, 9,
            "the first that is different gives an interval"
        );
        let wide = run(tally(0.001, 12), |n| Some(f64::from(n)));
        assert_eq!((wide.runs, wide.enough), (12, false));
        let zero = run(tally(0.1, 20), |n| Some(f64::from(n % 2) * 2.0 - 1.0));
        assert_eq!((zero.runs, zero.enough), (20, false));
        let failed = run(tally(0.1, 20), |n| (n != 1).then_some(1.0));
        assert_eq!((failed.runs, failed.enough, failed.mean), (3, false, None));
        let one = run(tally(0.1, 1), |_| Some(1.0));
        assert_eq!((one.runs, one.enough), (1, false));
    }

    #[test]
    fn the_expected_number_of_runs_is_within_its_bounds() {
        let mut tally = tally(0.01, 500);
        for n in 0..20 {
            tally.push(Some(10.0 + f64::from(n % 3)));
            assert!((tally.n..=500).contains(&tally.expected()));
        }
    }
}
