//! The verdict in sentences.

use super::answer::{Answer, Row};
use super::candidate::{Availability, DEFAULT, Hosts};
use super::cell::Cell;
use super::pep::Pep;
use super::switch::{Build, SwitchOn};
use super::traffic::{Activity, Traffic};
use super::verdict::{
    Certainty, Cost, Effect, Gain, HARM_LIMIT, HARM_NOTED, Harm, LOSS_LIMIT, Objection, PROXY_WORTH,
};
use bentpipe_report::text::{percent, seconds};
use bentpipe_units::math;

/// Names in a list before the rest is counted.
const NAMED: usize = 3;

impl Answer {
    /// The verdict in one sentence.
    #[must_use]
    pub fn headline(&self) -> String {
        let Some(pick) = self.recommended() else {
            return match self.anything_ended() {
                true => "None of the compared settings can be switched on today.".to_owned(),
                false => format!("No {} finished.", self.unit()),
            };
        };
        let what = match self.hosts {
            Hosts::Linux => "Use",
            Hosts::Rfc => "Best of these variants:",
        };
        let name = full_name(pick);
        match (self.verdict.certainty, self.is_kept()) {
            (Certainty::Borderline, _) => self.between(&name),
            (Certainty::Open, true) => {
                format!(
                    "Open after {}: keep {name} for now.",
                    counted(self.most_runs())
                )
            }
            (Certainty::Open, false) => {
                let gain = self.verdict.gain.and_then(|gain| gain.least);
                let harm = self.verdict.harm.and_then(|harm| harm.most);
                // It is worth it, and something else may be better still.
                let is_worth = gain.is_some_and(|least| least > PROXY_WORTH)
                    && harm.is_some_and(|most| most < HARM_LIMIT);
                let runs = counted(self.most_runs());
                match is_worth {
                    true => format!("Open after {runs}: use {name} for now."),
                    false => format!("Open after {runs}: {name} leads."),
                }
            }
            (Certainty::Clear | Certainty::Exact, true) => {
                format!("Keep {name}: {}.", self.why_kept())
            }
            (Certainty::Clear | Certainty::Exact, false) => format!("{what} {name}."),
        }
    }

    /// True if a setting ended, whether it can be switched on or not.
    #[must_use]
    pub fn anything_ended(&self) -> bool {
        let mut cells = self.rows.iter().flat_map(|row| &row.cells);
        cells.any(|cell| cell.time().is_some())
    }

    /// Why nothing is changed.
    fn why_kept(&self) -> &'static str {
        let mut rejected = self.verdict.rejected.iter().map(|(_, objection)| objection);
        match rejected.find(|o| **o != Objection::Unavailable) {
            Some(Objection::Harms(_)) => "everything faster slows others down too much",
            Some(Objection::Wastes(_)) => "everything faster retransmits too much",
            _ => "nothing available is worth a change",
        }
    }

    /// True if the verdict is to change nothing.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.verdict.pick == Some(self.verdict.baseline)
    }

    /// The verdict in sentences, the first of which is the headline.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut lines = vec![self.headline()];
        if self.recommended().is_none() {
            lines.push(match self.anything_ended() {
                true => {
                    "These proxies are predictions; add `--pep none` or `--pep split` to see what \
                     is available today."
                }
                false => {
                    "Nothing finished within 24 hours of simulated time. Check --rate, --size and \
                     --loss."
                }
            }
            .to_owned());
            return lines;
        }
        lines.push(self.what_it_gives());
        lines.extend(self.where_the_gain_is());
        lines.extend(self.where_it_changes());
        lines.extend(self.whom_it_hurts());
        lines.extend(self.what_it_costs());
        lines.extend(self.changes());
        lines.extend(self.what_is_as_good());
        lines.extend(self.what_is_rejected());
        lines.extend(self.how_sure());
        lines.extend(self.what_was_not_run());
        lines
    }

    /// How the recommended setting is switched on, with the build at hand.
    #[must_use]
    pub fn switch_on(&self, build: Build) -> SwitchOn {
        match self.recommended() {
            None => SwitchOn::default(),
            Some(pick) => self.candidates[pick.candidate].switch_on(self.hosts, pick.pep, build),
        }
    }

    /// What is waited for, as a noun.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match self.traffic {
            Traffic::Web => "page",
            Traffic::Video => "video",
            _ => "download",
        }
    }

    /// What its time is of: `a download of 10 MB`.
    fn subject(&self, size: usize) -> String {
        match self.traffic {
            Traffic::Video => "the wait for a video".to_owned(),
            Traffic::Web => "a page".to_owned(),
            _ if self.sizes.len() > 1 => format!("a download of {}", self.sizes[size]),
            _ => "a download".to_owned(),
        }
    }

    fn what_it_gives(&self) -> String {
        let (pick, base) = (
            self.recommended().unwrap_or(self.baseline()),
            self.baseline(),
        );
        // The largest size shows most of it.
        let size = pick.cells.len() - 1;
        let time = |row: &Row| row.cells[size].time().map_or(f64::NAN, |t| t.mean);
        let takes = match self.traffic {
            Traffic::Video => "is",
            _ => "takes",
        };
        let mut text = self.subject(size);
        text = capital(&text);
        if self.traffic == Traffic::Mixed && !self.is_kept() {
            return self.what_each_activity_gives(pick, base);
        }
        if self.is_kept() {
            return format!("{text} {takes} {}.", seconds(time(base)));
        }
        let with = full_name(base);
        let on_average = match pick.cells[size].runs.len() {
            1 => "",
            _ => " on average",
        };
        text += &format!(
            " {takes} {}{on_average} instead of {} with {with}",
            seconds(time(pick)),
            seconds(time(base))
        );
        let over = match self.sizes.len() > 1 {
            true => "; over all sizes ",
            false => ": ",
        };
        match self.verdict.gain {
            Some(gain) => format!("{text}{over}{}.", less(&gain)),
            None => format!("{text}."),
        }
    }

    /// The change of each of several activities, and the mean of them, which decides.
    fn what_each_activity_gives(&self, pick: &Row, base: &Row) -> String {
        let one = |activity: &Activity| {
            let last = pick.cells.len() - 1;
            let time = |row: &Row| row.cells[last].time_of(*activity).map(|time| time.mean);
            let (with, before) = (time(pick)?, time(base)?);
            let what = match activity {
                Activity::Video => "the wait for a video is",
                Activity::Web => "a page takes",
                Activity::Download => "a download takes",
            };
            Some(format!(
                "{what} {} instead of {} ({}%)",
                seconds(with),
                seconds(before),
                signed(with / before - 1.0)
            ))
        };
        let each: Vec<String> = self.traffic.activities().iter().filter_map(one).collect();
        let each = capital(&list(&each));
        match self.verdict.gain {
            Some(gain) => format!(
                "{each}. The mean of these changes, with equal weights, decides: {}.",
                less(&gain)
            ),
            None => format!("{each}."),
        }
    }

    /// Where the mean is shorter above all because fewer are very slow.
    fn where_the_gain_is(&self) -> Option<String> {
        let gain = self.verdict.gain.filter(|_| !self.is_kept())?;
        let (pick, base) = (self.recommended()?, self.baseline());
        let (pick, base) = (pick.cells.last()?, base.cells.last()?);
        let (middle, usual) = (pick.middle_s()?, base.middle_s()?);
        let (slow, usually_slow) = (pick.slow_s()?, base.slow_s()?);
        let less = |with: f64, without: f64| 1.0 - with / without;
        let in_the_tail =
            less(middle, usual) < gain.share / 2.0 && less(slow, usually_slow) > gain.share;
        in_the_tail.then(|| {
            format!(
                "Most of the gain is in the tail: the slowest 10% exceed {} instead of {}, while \
                 the median is {} instead of {}.",
                seconds(slow),
                seconds(usually_slow),
                seconds(middle),
                seconds(usual)
            )
        })
    }

    fn where_it_changes(&self) -> Option<String> {
        let by_size = &self.verdict.by_size;
        let (first, rest) = by_size.split_first()?;
        let one = |(size, row, gain): &(bentpipe_units::Bytes, usize, Gain)| {
            let row = &self.rows[*row];
            let less = 100.0 * gain.share;
            format!("{} for {size} ({less:.0}% less time)", row_name(row))
        };
        let mut text = format!("The best choice depends on the size: {}", one(first));
        for other in rest {
            text += &format!(", {}", one(other));
        }
        Some(text + ".")
    }

    fn whom_it_hurts(&self) -> Option<String> {
        let Some(harm) = self.verdict.harm.filter(|_| !self.is_kept()) else {
            return self.harm_of_one();
        };
        Some(self.effect("It", "it", &harm))
    }

    /// What a setting does to others, in a sentence.
    fn effect(&self, subject: &str, beside: &str, harm: &Harm) -> String {
        let other = self.beside.as_deref().unwrap_or(DEFAULT);
        let shown = harm.least.zip(harm.most);
        let sure = match (shown, harm.ci95) {
            (Some((least, most)), _) if most - least < 0.001 => None,
            (Some((least, most)), _) => {
                let runs = counted(harm.runs);
                Some(format!("{} to {}%; {runs}", signed(least), signed(most)))
            }
            (None, Some(ci)) => {
                let (least, most) = (signed(harm.share - ci), signed(harm.share + ci));
                Some(format!("95% CI {least} to {most}%"))
            }
            (None, None) => None,
        };
        let percent = match &sure {
            Some(sure) => format!("{}%; {sure}", signed(harm.share)),
            None => format!("{}%", signed(harm.share)),
        };
        // Times of one size or activity, beside a share of all, would be read as one.
        let (takes, than, mean) = match self.sizes.len() > 1 || self.traffic == Traffic::Mixed {
            true => {
                let longer = match harm.share < 0.0 {
                    true => format!("{:.0}% less", -100.0 * harm.share),
                    false => format!("{:.0}% longer", 100.0 * harm.share),
                };
                let takes = match self.traffic {
                    Traffic::Mixed => {
                        format!("beside {beside}, users of {other} wait {longer}")
                    }
                    _ => format!(
                        "beside {beside}, {}s with {other} take {longer} over all sizes",
                        self.unit()
                    ),
                };
                let sure = sure.map(|sure| format!(" ({sure})"));
                (takes, String::new(), sure.unwrap_or_default())
            }
            false => {
                let (before, after) = (seconds(harm.before_s), seconds(harm.after_s));
                let what = self.subject(0);
                let takes = format!("beside {beside}, {what} with {other} takes {after}");
                (
                    takes,
                    format!(" instead of {before}"),
                    format!(" ({percent})"),
                )
            }
        };
        match harm.effect() {
            Effect::Hurts => format!("{subject} hurts others: {takes}{than}{mean}."),
            Effect::MayHurt if harm.share <= HARM_NOTED => format!(
                "Whether {} hurts others is unclear after {} ({percent}).",
                if subject == "It" { "it" } else { subject },
                counted(harm.runs)
            ),
            Effect::MayHurt => format!(
                "{subject} may hurt others: {takes}{than}{mean}, not statistically significant \
                 over {}.",
                counted(harm.runs)
            ),
            Effect::Helps => format!("{subject} helps others: {takes}{than}."),
            Effect::None if than.is_empty() => {
                format!("{subject} does not hurt others: {takes}.")
            }
            Effect::None => format!(
                "{subject} does not hurt others: {takes}, against {} beside {DEFAULT}.",
                seconds(harm.before_s)
            ),
        }
    }

    /// Of the only setting that was asked about, where the default is kept.
    fn harm_of_one(&self) -> Option<String> {
        let asked: Vec<usize> = (0..self.rows.len())
            .filter(|i| {
                *i != self.verdict.baseline && self.rows[*i].availability != Availability::Absent
            })
            .collect();
        let [asked] = asked.as_slice() else {
            return None;
        };
        let harm = self.harms()[*asked]?;
        let name = row_name(&self.rows[*asked]);
        Some(self.effect(&name, "it", &harm))
    }

    fn what_it_costs(&self) -> Option<String> {
        let costs = self.verdict.costs.iter().filter_map(|cost| self.cost(cost));
        let costs: Vec<String> = costs.collect();
        let what = if self.is_kept() { "Note" } else { "Cost" };
        (!costs.is_empty()).then(|| format!("{what}: {}.", costs.join("; ")))
    }

    fn cost(&self, cost: &Cost) -> Option<String> {
        Some(match cost {
            // It has a sentence of its own.
            Cost::Harm(_) => return None,
            Cost::Unfinished { count, of } => format!("{count} of {of} runs did not finish"),
            Cost::Background { lost, before } => format!(
                "the background traffic loses {} of its packets ({} with {DEFAULT})",
                percent(*lost),
                percent(*before)
            ),
            Cost::Waiting { wait_s, before_s } => format!(
                "packets of others queue for up to {} at the link ({} with {DEFAULT})",
                seconds(*wait_s),
                seconds(*before_s)
            ),
            Cost::Waste { share, before } => format!(
                "{} of its packets are retransmissions ({} with {DEFAULT})",
                percent(*share),
                percent(*before)
            ),
            Cost::Slow { slow_s, before_s } => {
                let before = before_s.filter(|_| !self.is_kept());
                let before = before.map_or_else(String::new, |before| {
                    format!(" ({} with {DEFAULT})", seconds(before))
                });
                format!(
                    "the slowest 10% take more than {}{before}",
                    seconds(*slow_s)
                )
            }
        })
    }

    fn what_is_as_good(&self) -> Option<String> {
        let names: Vec<String> = self
            .verdict
            .as_good
            .iter()
            .map(|i| row_name(&self.rows[*i]))
            .collect();
        if names.is_empty() {
            return None;
        }
        let text = match names.len() {
            1 => "performs equally and is no easier to deploy",
            _ => "perform equally and are no easier to deploy",
        };
        Some(format!("{} {text}.", list(&names)))
    }

    fn what_is_rejected(&self) -> Option<String> {
        let (row, objection) = self.verdict.rejected.first()?;
        if matches!(objection, Objection::Harms(_)) && self.harm_of_one().is_some() {
            // `whom_it_hurts` has said it.
            return None;
        }
        let row = &self.rows[*row];
        let time = row.cells.last().and_then(Cell::time);
        let time = time.map_or(String::new(), |t| format!(" ({})", seconds(t.mean)));
        let why = match objection {
            Objection::Unavailable => "cannot be switched on today".to_owned(),
            Objection::Harms(share) => format!("slows others down by {:.0}%", 100.0 * share),
            Objection::Wastes(share) => format!("retransmits {} of its packets", percent(*share)),
            Objection::DoesNotEnd(count) => format!("did not finish in {}", counted(*count)),
            Objection::Loses(activity) => format!(
                "takes more than {:.0}% longer for a {}",
                100.0 * LOSS_LIMIT,
                activity.unit()
            ),
        };
        Some(format!(
            "{}{time} is faster but not recommended: it {why}.",
            row_name(row)
        ))
    }
}

/// `28% less time (20 to 36% less; 50 runs)`: what is shown of it, or else its 95% interval.
fn less(gain: &Gain) -> String {
    let share = 100.0 * gain.share;
    let main = match gain.share >= 0.6 {
        true => format!("{:.1} times as fast", 1.0 / (1.0 - gain.share).max(1e-3)),
        false => format!("{share:.0}% less time"),
    };
    let runs = gain.runs;
    match (gain.least.zip(gain.most), gain.ci95) {
        (Some((least, most)), _) if most - least < 0.001 => main,
        (Some((least, most)), _) => format!(
            "{main} ({:.0} to {:.0}% less; {runs} runs)",
            100.0 * least,
            (100.0 * most).min(100.0)
        ),
        (None, Some(ci)) => format!(
            "{main} (95% CI {:.0} to {:.0}% less; {runs} runs)",
            share - 100.0 * ci,
            (share + 100.0 * ci).min(100.0),
        ),
        (None, None) => main,
    }
}

/// `12 runs`, `one run`.
pub(super) fn counted(runs: usize) -> String {
    match runs {
        1 => "one run".to_owned(),
        n => format!("{n} runs"),
    }
}

/// A row where it is named for the first time.
pub(super) fn full_name(row: &Row) -> String {
    match row.pep {
        Pep::None => row.name.clone(),
        // What runs between the boxes is no choice.
        Pep::Gateway => row.pep.describe().to_owned(),
        pep => format!("{} behind {}", row.name, pep.describe()),
    }
}

/// A row in a sentence.
pub(super) fn row_name(row: &Row) -> String {
    match row.pep {
        Pep::None => row.name.clone(),
        Pep::Gateway => row.pep.describe().to_owned(),
        Pep::Split => format!("{} at a split proxy", row.name),
        Pep::Snoop => format!("{} with Snoop", row.name),
    }
}

/// A share in percent with its sign, without the percent sign.
fn signed(share: f64) -> String {
    format!("{:+}", math::floor(100.0 * share + 0.5) as i64)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// `a, b and c`; of many, the first.
pub(super) fn list(names: &[String]) -> String {
    let mut shown: Vec<String> = names.iter().take(NAMED).cloned().collect();
    if names.len() > NAMED {
        shown.push(format!("{} more", names.len() - NAMED));
    }
    match shown.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
