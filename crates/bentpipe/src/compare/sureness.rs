//! How sure a verdict is, in sentences: what it stands between, what would tell, and what
//! was not run.

use super::answer::Answer;
use super::cost;
use super::race::Kind;
use super::scheduler;
use super::score::Scores;
use super::sequential::Plan;
use super::standing::Standing;
use super::traffic::PAGES;
use super::verdict::{
    AS_GOOD, Against, Certainty, Gain, HARM_LIMIT, Harm, LOSS_LIMIT, Needed, PROXY_WORTH,
    Threshold, WASTE_LIMIT, WORTH,
};
use super::words::{counted, full_name, list, row_name};
use bentpipe_units::math;

/// What `--time` is rounded up to, seconds.
const TIMES_S: [f64; 14] = [
    1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_200.0, 1_800.0, 3_600.0, 7_200.0,
];

impl Answer {
    /// The headline of a borderline verdict.
    pub(super) fn between(&self, pick: &str) -> String {
        let baseline = self.baseline();
        let one = match self.is_a_guess() {
            true => full_name(baseline),
            false => pick.to_owned(),
        };
        let other = self
            .verdict
            .against
            .map(|against| row_name(&self.rows[against.row]));
        match other {
            Some(other) => format!("Borderline between {one} and {other}."),
            None => format!("Borderline: {one}."),
        }
    }

    /// True if the pick is what the verdict stands against, and not shown to be worth it.
    fn is_a_guess(&self) -> bool {
        self.verdict
            .against
            .is_some_and(|against| self.verdict.pick == Some(against.row))
    }

    pub(super) fn how_sure(&self) -> Option<String> {
        let verdict = &self.verdict;
        match verdict.certainty {
            Certainty::Exact => Some("One run is exact: nothing here is random.".to_owned()),
            Certainty::Clear if self.is_kept() && self.is_random => Some(self.not_excluded()),
            Certainty::Clear => None,
            Certainty::Borderline => verdict.against.as_ref().map(|against| self.tips(against)),
            Certainty::Open => Some(match &verdict.against {
                Some(against) => self.what_is_open(against),
                None => "Not every setting that could be better was run.".to_owned(),
            }),
        }
    }

    /// What a verdict that keeps the baseline leaves possible: by the rule of three, what happens
    /// in fewer than 3 of so many runs.
    fn not_excluded(&self) -> String {
        match self.most_runs() {
            ..=1 => "One run cannot exclude what happens only now and then.".to_owned(),
            few @ ..=3 => format!("{few} runs cannot exclude what happens only now and then."),
            runs => format!("Effects that show in fewer than 3 of {runs} runs are not excluded."),
        }
    }

    /// What is known of the other row, and what decides.
    fn tips(&self, against: &Against) -> String {
        let is_proxy = self.rows[against.row].pep != self.baseline().pep;
        let percent = |share: f64| format!("{:.0}%", 100.0 * share);
        let decides = match against.threshold {
            Threshold::Gain => {
                let worth = if is_proxy { PROXY_WORTH } else { WORTH };
                format!(
                    "the least gain that is worth a change, {}, decides",
                    percent(worth)
                )
            }
            Threshold::Harm => format!("the limit of {} for others decides", percent(HARM_LIMIT)),
            Threshold::Waste => format!(
                "the limit of {} for packets sent again decides",
                percent(WASTE_LIMIT)
            ),
            Threshold::Loss(activity) => format!(
                "whether a {} takes more than {} longer decides",
                activity.unit(),
                percent(LOSS_LIMIT)
            ),
            Threshold::End => "some of its runs did not end".to_owned(),
            Threshold::Faster => {
                format!(
                    "whether it is faster by more than {} decides",
                    percent(AS_GOOD)
                )
            }
        };
        format!("{}; {decides}.", self.known_of(against))
    }

    /// `bbr saves 5 to 9% and slows others by 15 to 29%`.
    fn known_of(&self, against: &Against) -> String {
        let name = row_name(&self.rows[against.row]);
        // Names of controls are written as Linux writes them.
        let name = match name.strip_prefix("a ") {
            Some(rest) => format!("A {rest}"),
            None => name,
        };
        // How much, and in how many runs where those are too few for an interval.
        let between = |least: Option<f64>, most: Option<f64>, share: f64, runs: usize| match least
            .zip(most)
        {
            Some((least, most)) => (
                format!("{} to {}%", whole(least), whole(most)),
                String::new(),
            ),
            None => (
                format!("{}%", whole(share)),
                format!(" in {}", counted(runs)),
            ),
        };
        let saves = against.gain.map(
            |Gain {
                 least,
                 most,
                 share,
                 runs,
                 ..
             }| {
                let of = match self.traffic.is_mixed() {
                    true => " (the mean of all activities)",
                    false => "",
                };
                // A saving below zero is read wrongly: it is a loss.
                match (least.zip(most), share < 0.0) {
                    (Some((least, most)), _) if least < -0.005 && most > 0.005 => format!(
                        "saves at most {}% of the time{of} or costs up to {}%,",
                        whole(most),
                        whole(-least)
                    ),
                    (Some((least, most)), true) if most <= 0.005 => format!(
                        "takes {} to {}% longer{of}",
                        whole((-most).max(0.0)),
                        whole(-least)
                    ),
                    (None, true) => {
                        let within = format!(" in {}", counted(runs));
                        format!("takes {}% longer{of}{within}", whole(-share))
                    }
                    _ => {
                        let (much, within) = between(least, most, share, runs);
                        format!("saves {much} of the time{of}{within}")
                    }
                }
            },
        );
        let slows = against.harm.map(
            |Harm {
                 least,
                 most,
                 share,
                 runs,
                 ..
             }| {
                let (much, within) = match most.unwrap_or(share) < 0.0 {
                    false => between(least, most, share, runs),
                    true => between(most.map(|x| -x), least.map(|x| -x), -share, runs),
                };
                match most.unwrap_or(share) < 0.0 {
                    false if least.is_some_and(|least| least < -0.005) => format!(
                        "slows others by at most {}%{within}",
                        whole(most.unwrap_or(share))
                    ),
                    false => format!("slows others by {much}{within}"),
                    true => format!("takes {much} off the time of others{within}"),
                }
            },
        );
        let slows = slows.unwrap_or_else(|| "has not run beside others".to_owned());
        match saves {
            Some(saves) => format!("{name} {saves} and {slows}"),
            None => format!("{name} {slows}"),
        }
    }

    /// What is known of the leader, and how many runs would tell.
    fn what_is_open(&self, against: &Against) -> String {
        let known = self.known_of(against);
        let Some(needed) = against.needed else {
            return format!("{known}. These runs do not say how many more would tell.");
        };
        format!("{known}. {}", self.what_would_tell(&needed))
    }

    fn what_would_tell(&self, needed: &Needed) -> String {
        let (least, most) = (needed.least_runs, needed.runs);
        let runs = match least < most {
            true => format!("{least} to {most}"),
            false => format!("{most}"),
        };
        match self.is_fixed {
            true => format!(
                "{runs} runs would probably tell: `--runs {most}`, or none for as many as it takes."
            ),
            false => format!(
                "{runs} runs would probably tell: `--time {}`.",
                rounded_up(needed.time_s)
            ),
        }
    }

    /// What was made shorter so that it fits into the time.
    pub(super) fn what_was_shortened(&self) -> Option<String> {
        let time_s = cost::time_for_all_pages_s(self)?;
        Some(format!(
            "So that more runs fit into the time, each user reads {} pages instead of {PAGES}: \
             `--time {}` has room for all.",
            self.pages,
            rounded_up(time_s)
        ))
    }

    /// Rows without a run, and those that were set aside early.
    pub(super) fn what_was_not_run(&self) -> Option<String> {
        let scores = Scores::of(self);
        if scores.plan != Plan::Looks {
            return None;
        }
        let standings = scores.standings();
        let of = |wanted: Standing| -> Vec<usize> {
            let rows = (0..standings.len()).filter(|row| standings[*row] == wanted);
            rows.collect()
        };
        let (unrun, aside) = (of(Standing::NotRun), of(Standing::Aside));
        let mut text = String::new();
        if !aside.is_empty() {
            let names: Vec<String> = aside.iter().map(|row| row_name(&self.rows[*row])).collect();
            text = format!(
                "Set aside for first runs that took over 1.5 times as long as the fastest: {}.",
                list(&names)
            );
        }
        if !unrun.is_empty() {
            let all = 0..self.rows.len();
            let price: f64 = all.map(|row| cost::cost(self, row, Kind::Own)).sum();
            let space = if text.is_empty() { "" } else { " " };
            text += &format!(
                "{space}{} of {} settings were not run for lack of time: `--time {}` has room for \
                 all.",
                unrun.len(),
                self.rows.len(),
                rounded_up(price / scheduler::EXAMINED / cost::PACE)
            );
        }
        (!text.is_empty()).then_some(text)
    }
}

/// A share in whole percent.
fn whole(share: f64) -> String {
    format!("{}", math::floor(100.0 * share + 0.5) as i64)
}

/// A time as it is typed.
fn rounded_up(time_s: f64) -> String {
    let found = TIMES_S.iter().find(|time| **time >= time_s);
    let time = found
        .copied()
        .unwrap_or_else(|| 3_600.0 * math::floor(time_s / 3_600.0 + 1.0));
    format!("{time:.0}s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up() {
        assert_eq!(
            [0.3, 5.0, 5.1, 9_000.0].map(rounded_up),
            ["1s", "5s", "10s", "10800s"]
        );
        assert_eq!([0.294, -0.016, 0.0].map(whole), ["29", "-2", "0"]);
    }
}
