//! What the recommended setting costs others and its users, in sentences.

use super::answer::Answer;
use super::candidate::{Availability, DEFAULT};
use super::verdict::{Cost, Effect, HARM_LIMIT, HARM_NOTED, Harm};
use super::words::{counted, row_name, signed};
use bentpipe_report::text::{percent, seconds};

impl Answer {
    pub(super) fn whom_it_hurts(&self) -> Option<String> {
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
                let limit = match most > HARM_NOTED {
                    true => format!(", limit {:.0}%", 100.0 * HARM_LIMIT),
                    false => String::new(),
                };
                let runs = counted(harm.runs);
                Some(format!(
                    "{} to {}%{limit}; {runs}",
                    signed(least),
                    signed(most)
                ))
            }
            (None, Some(ci)) => {
                let (least, most) = (signed(harm.share - ci), signed(harm.share + ci));
                Some(format!("95% CI {least} to {most}%; {}", counted(harm.runs)))
            }
            (None, None) => None,
        };
        let percent = match &sure {
            Some(sure) => format!("{}%; {sure}", signed(harm.share)),
            None => format!("{}%", signed(harm.share)),
        };
        // Times of one size or activity, beside a share of all, would be read as one.
        let (takes, than, mean) = match self.sizes.len() > 1 || self.traffic.is_mixed() {
            true => {
                let longer = match harm.share < 0.0 {
                    true => format!("{:.0}% less", -100.0 * harm.share),
                    false => format!("{:.0}% longer", 100.0 * harm.share),
                };
                let takes = match self.traffic.is_mixed() {
                    true => {
                        format!("beside {beside}, users of {other} wait {longer}")
                    }
                    false => format!(
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
                let takes = self.takes();
                let takes = format!("beside {beside}, {what} with {other} {takes} {after}");
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
                "Whether {} hurts others is unclear ({percent}).",
                if subject == "It" { "it" } else { subject },
            ),
            Effect::MayHurt => format!("{subject} may hurt others: {takes}{than}{mean}."),
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
    pub(super) fn harm_of_one(&self) -> Option<String> {
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

    pub(super) fn what_it_costs(&self) -> Option<String> {
        let costs = self.verdict.costs.iter().filter_map(|cost| self.cost(cost));
        let costs: Vec<String> = costs.collect();
        let what = if self.is_kept() { "Note" } else { "Cost" };
        (!costs.is_empty()).then(|| format!("{what}: {}.", costs.join("; ")))
    }

    fn cost(&self, cost: &Cost) -> Option<String> {
        let base = self.current.as_deref().unwrap_or(DEFAULT);
        Some(match cost {
            // It has a sentence of its own.
            Cost::Harm(_) => return None,
            Cost::Unfinished { count, of } => format!("{count} of {of} runs did not finish"),
            Cost::Background { lost, before } => format!(
                "the background traffic loses {} of its packets ({} with {base})",
                percent(*lost),
                percent(*before)
            ),
            Cost::Waiting { wait_s, before_s } => format!(
                "95% of the packets of others wait up to {} at the link ({} with {base})",
                seconds(*wait_s),
                seconds(*before_s)
            ),
            Cost::Waste { share, before } => format!(
                "{} of its packets are retransmissions ({} with {base})",
                percent(*share),
                percent(*before)
            ),
            Cost::Slow { slow_s, before_s } => {
                let before = before_s.filter(|_| !self.is_kept());
                let before = before.map_or_else(String::new, |before| {
                    format!(" ({} with {base})", seconds(before))
                });
                format!(
                    "the slowest 10% take more than {}{before}",
                    seconds(*slow_s)
                )
            }
        })
    }
}
