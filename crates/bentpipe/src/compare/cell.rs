//! The runs of one setting behind one proxy with one size, and what they have in common.

use super::result::RunResult;
use super::traffic::Activity;
use bentpipe_study::stats::{Summary, mean};
use bentpipe_units::Bytes;

/// The runs of one setting behind one proxy with one size.
#[derive(Clone, Debug, Default)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Cell {
    /// The size.
    pub size: Bytes,
    /// One for each seed. Every user has the setting, or half of them where
    /// [`Answer::beside`](super::Answer::beside) says what the others run.
    pub runs: Vec<RunResult>,
    /// Runs in which half of the users run the default of Linux: what the
    /// setting does to others. Fewer than those above, and none for what is no
    /// contender.
    pub shared: Vec<RunResult>,
}

/// How rates spread over users, each the mean over the runs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Rates {
    /// The user in the middle, bit/s.
    pub median_bps: f64,
    /// The slowest tenth of the users on average, at least one user, bit/s.
    pub worst_tenth_bps: f64,
    /// Jain's index: 1 if all have the same, 1 / users if one has it all.
    pub jain: f64,
}

impl Cell {
    /// Times of the own users, over the runs that ended: the mean of all users
    /// of a run is one sample. `None` if no run ended. Of mixed traffic those of
    /// downloads.
    #[must_use]
    pub fn time(&self) -> Option<Summary> {
        let found = Activity::ALL.iter().find_map(|a| self.time_of(*a));
        found.filter(|_| self.unfinished() < self.runs.len())
    }

    /// The same of those with one activity.
    #[must_use]
    pub fn time_of(&self, activity: Activity) -> Option<Summary> {
        let times: Vec<f64> = self
            .runs
            .iter()
            .filter_map(|r| r.time_s(activity))
            .collect();
        Summary::of(&times)
    }

    /// What one time in ten is longer than, over all own users and runs; `None`
    /// for fewer than ten, or where that one did not end. Of mixed traffic that of
    /// downloads.
    #[must_use]
    pub fn slow_s(&self) -> Option<f64> {
        self.exceeded_by(0.1)
    }

    /// What half of the same times exceed, seconds.
    #[must_use]
    pub fn middle_s(&self) -> Option<f64> {
        self.exceeded_by(0.5)
    }

    /// What such a share of the times of users exceed; `None` of fewer than ten,
    /// and where it did not end.
    fn exceeded_by(&self, share: f64) -> Option<f64> {
        let mut users = self.runs.first()?.own.iter();
        let first = users.find(|user| user.activity.is_timed())?.activity;
        let users = self.runs.iter().flat_map(|run| &run.own);
        let users = users.filter(|user| user.activity == first);
        let mut times: Vec<f64> = users.map(|u| u.time_s.unwrap_or(f64::INFINITY)).collect();
        times.sort_by(f64::total_cmp);
        let below = times.len() - (times.len() as f64 * share) as usize;
        let found = times.get(below.checked_sub(1)?).copied();
        found.filter(|s| times.len() >= 10 && s.is_finite())
    }

    /// Runs in which a user's download, pages or video did not end.
    #[must_use]
    pub fn unfinished(&self) -> usize {
        self.runs.iter().filter(|run| run.unfinished() > 0).count()
    }

    /// The run of median time: one that happened, and no mean of two.
    #[must_use]
    pub fn median_run(&self) -> Option<&RunResult> {
        let time = |run: &RunResult| Activity::ALL.iter().find_map(|a| run.time_s(*a));
        let mut ended: Vec<(f64, &RunResult)> = self
            .runs
            .iter()
            .filter_map(|run| Some((time(run)?, run)))
            .collect();
        ended.sort_by(|a, b| a.0.total_cmp(&b.0));
        let middle = ended.len().checked_sub(1)? / 2;
        ended.get(middle).map(|(_, run)| *run)
    }

    /// How rates spread over the own users.
    #[must_use]
    pub fn rates(&self) -> Option<Rates> {
        let of: Vec<Rates> = self
            .runs
            .iter()
            .filter_map(|run| rates(&run.rates_bps()))
            .collect();
        let over = |f: fn(&Rates) -> f64| mean(&of.iter().map(f).collect::<Vec<_>>());
        (!of.is_empty()).then(|| Rates {
            median_bps: over(|r| r.median_bps),
            worst_tenth_bps: over(|r| r.worst_tenth_bps),
            jain: over(|r| r.jain),
        })
    }

    /// The mean over the runs of what `f` says of each.
    #[must_use]
    pub fn mean(&self, f: impl Fn(&RunResult) -> f64) -> f64 {
        let of: Vec<f64> = self.runs.iter().map(f).collect();
        if of.is_empty() { 0.0 } else { mean(&of) }
    }

    /// Packets sent again / packets sent, on average.
    #[must_use]
    pub fn resent_share(&self) -> f64 {
        self.mean(|run| run.resent_share)
    }

    /// 95th percentile of the wait in the queue before the link, seconds, on the
    /// mean.
    #[must_use]
    pub fn p95_queueing_delay_s(&self) -> f64 {
        self.mean(|run| run.p95_queueing_delay_s)
    }

    /// Payload that all users received per second, on average.
    #[must_use]
    pub fn goodput_bps(&self) -> f64 {
        self.mean(|run| run.goodput_bps)
    }

    /// The mean of what `f` says of each user of each run, of those of whom it
    /// says something.
    #[must_use]
    pub fn users_mean(&self, f: impl Fn(&super::UserResult) -> Option<f64>) -> Option<f64> {
        let all: Vec<f64> = self
            .runs
            .iter()
            .flat_map(|run| &run.own)
            .filter_map(f)
            .collect();
        (!all.is_empty()).then(|| mean(&all))
    }
}

/// Of one run; `sorted` ascends.
fn rates(sorted: &[f64]) -> Option<Rates> {
    let n = sorted.len();
    if n == 0 {
        return None;
    }
    let sum: f64 = sorted.iter().sum();
    let squares: f64 = sorted.iter().map(|x| x * x).sum();
    let slowest = &sorted[..n.div_ceil(10)];
    Some(Rates {
        median_bps: f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]),
        worst_tenth_bps: mean(slowest),
        jain: match squares > 0.0 {
            true => sum * sum / (n as f64 * squares),
            false => 1.0,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::traffic::{Traffic, Work};
    use super::*;
    use bentpipe_outcome::Outcome;
    use bentpipe_units::Rate;

    #[test]
    fn one_time_in_ten_is_longer() {
        let run = |seed: u64| {
            let work = Work {
                traffic: Traffic::Download,
                size: Bytes::new(1),
                bitrate: Rate::from_mbps(1),
                pages: super::super::traffic::PAGES,
                page_objects: 1,
                dns: false,
            };
            let mut run = RunResult::of(&Outcome::default(), &work, 0, |_| false);
            run.own = vec![super::super::UserResult {
                user: 0,
                activity: Activity::Download,
                time_s: Some(seed as f64),
                rate_bps: 0.0,
                p95_page_s: None,
                render_s: None,
                object_s: None,
                startup_s: None,
                stalls: 0,
                stall_s: 0.0,
                call_missed_share: None,
            }];
            run
        };
        let cell = |runs: u64| Cell {
            runs: (1..=runs).map(run).collect(),
            ..Cell::default()
        };
        assert_eq!(cell(20).slow_s(), Some(18.0));
        assert_eq!(cell(9).slow_s(), None);
        assert_eq!(
            cell(3)
                .median_run()
                .and_then(|run| run.time_s(Activity::Download)),
            Some(2.0)
        );
    }

    #[test]
    fn rates_spread_over_users() {
        let even = rates(&[5.0; 20]).unwrap();
        assert_eq!(
            (even.median_bps, even.worst_tenth_bps, even.jain),
            (5.0, 5.0, 1.0)
        );
        let mut uneven = vec![0.0, 2.0];
        uneven.extend([10.0; 18]);
        let uneven = rates(&uneven).unwrap();
        assert_eq!((uneven.median_bps, uneven.worst_tenth_bps), (10.0, 1.0));
        assert!(uneven.jain < 0.95);
        assert!(rates(&[]).is_none());
    }
}
