//! The verdict in sentences: what is recommended, and what else there is. What it
//! [gives](super::benefit), what it [costs](super::burden) and [how sure](super::sureness) it is
//! stand apart.

use super::answer::{Answer, Row};
use super::candidate::Hosts;
use super::cell::Cell;
use super::pep::Pep;
use super::score::Scores;
use super::switch::{Build, SwitchOn};
use super::traffic::Traffic;
use super::verdict::{Certainty, HARM_LIMIT, LOSS_LIMIT, Objection, PROXY_WORTH};
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
        if self.rows.len() == 1 {
            return "no other setting was compared";
        }
        let rejected = self.verdict.rejected.iter().map(|(_, objection)| objection);
        let (mut harms, mut wastes) = (false, false);
        for objection in rejected {
            harms |= matches!(objection, Objection::Harms(_));
            wastes |= matches!(objection, Objection::Wastes(_));
        }
        match (harms, wastes) {
            (true, true) => "everything faster slows others down or retransmits too much",
            (true, false) => "everything faster slows others down too much",
            (false, true) => "everything faster retransmits too much",
            (false, false) => "nothing available is worth a change",
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
        lines.extend(self.what_is_assumed());
        lines.extend(self.where_the_gain_is());
        lines.extend(self.where_it_changes());
        lines.extend(self.whom_it_hurts());
        lines.extend(self.what_it_costs());
        lines.extend(self.changes());
        lines.extend(self.what_is_as_good());
        lines.extend(self.what_is_rejected());
        lines.extend(self.what_a_proxy_is_for());
        lines.extend(self.how_sure());
        lines.extend(self.what_was_shortened());
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

    /// What was not said about the link and decides with the rest.
    fn what_is_assumed(&self) -> Option<String> {
        let loss = &self.path.loss;
        let is_assumed =
            self.is_loss_assumed && self.path.profile.as_ref().is_none_or(|p| !p.has_losses);
        is_assumed.then(|| match loss.is_none() {
            true => {
                "This assumes that the link loses nothing: `--loss` says what it does.".to_owned()
            }
            false => format!("This assumes a loss of {loss}: `--loss` says what the link has."),
        })
    }

    /// What is waited for, as a noun.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match self.traffic {
            Traffic::Web => "page",
            Traffic::Video => "video",
            Traffic::Mix(_) => {
                let activities = self.traffic.activities();
                activities.first().map_or("download", |of| of.unit())
            }
            _ => "download",
        }
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
        let (index, objection) = self.verdict.rejected.first()?;
        if matches!(objection, Objection::Harms(_)) && self.harm_of_one().is_some() {
            // `whom_it_hurts` has said it.
            return None;
        }
        let row = &self.rows[*index];
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
        let faster = match Scores::of(self).is_faster(*index, self.verdict.pick?) {
            true => "faster",
            false => "faster on average",
        };
        Some(format!(
            "{}{time} is {faster} but not recommended: it {why}.",
            row_name(row)
        ))
    }

    /// What to ask where all settings are behind one proxy.
    fn what_a_proxy_is_for(&self) -> Option<String> {
        let pep = self.baseline().pep;
        let has_other = self.rows.iter().any(|row| row.pep != pep);
        (pep != Pep::None && !has_other).then(|| {
            format!(
                "All settings are behind the proxy: `--pep none,{}` shows what it gains.",
                pep.name()
            )
        })
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
pub(super) fn signed(share: f64) -> String {
    format!("{:+}", math::floor(100.0 * share + 0.5) as i64)
}

pub(super) fn capital(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Comparison;

    /// The headline must not name one reason where another row has another.
    #[test]
    fn what_keeps_the_default_is_what_speaks_against_all_that_is_faster() {
        let question = Comparison::new().transports(["cubic", "bbr", "hybla"]);
        let mut answer = question.runs(1).run().unwrap();
        let base = answer.verdict.baseline;
        answer.verdict.pick = Some(base);
        answer.verdict.certainty = Certainty::Clear;
        let mut kept = |rejected: &[Objection]| {
            answer.verdict.rejected = rejected.iter().map(|o| (base, *o)).collect();
            answer.headline()
        };
        let (harms, wastes) = (Objection::Harms(0.3), Objection::Wastes(0.2));
        assert_eq!(
            kept(&[harms]),
            "Keep cubic: everything faster slows others down too much."
        );
        assert_eq!(
            kept(&[wastes]),
            "Keep cubic: everything faster retransmits too much."
        );
        assert_eq!(
            kept(&[wastes, harms]),
            "Keep cubic: everything faster slows others down or retransmits too much."
        );
        assert_eq!(
            kept(&[Objection::Unavailable]),
            "Keep cubic: nothing available is worth a change."
        );
    }
}
