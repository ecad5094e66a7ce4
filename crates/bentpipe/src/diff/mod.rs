//! What differs between two answers, two outcomes or two scenarios: first in what was asked
//! or set, then in what came out, the largest difference first.
//!
//! ```
//! use bentpipe::diff::{Subject, diff};
//!
//! let one = bentpipe::parse(bentpipe::template())?;
//! let mut other = one.clone();
//! std::sync::Arc::make_mut(&mut other.links[0].settings).rate = bentpipe::units::Rate::from_mbps(50);
//! let found = diff(&Subject::scenario(one), &Subject::scenario(other))?;
//! assert!(!found.is_same());
//! assert!(found.settings[0].path.ends_with(".rate"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod documents;
mod files;
mod flat;
mod scenarios;

pub use files::file_at;

use crate::Error;
use bentpipe_outcome::record;
use bentpipe_scenario::Scenario;
use serde_json::Value;

/// Something that can be compared with another of its kind.
#[derive(Clone, Debug)]
pub struct Subject(What);

#[derive(Clone, Debug)]
enum What {
    Answer(Value),
    Outcome(Value),
    Scenario(Box<Scenario>),
}

impl Subject {
    /// A scenario, with its defaults resolved.
    #[must_use]
    pub fn scenario(scenario: Scenario) -> Subject {
        Subject(What::Scenario(Box::new(scenario)))
    }

    /// The JSON of `bentpipe compare --json` or of `bentpipe run --json`.
    ///
    /// # Errors
    /// [`Error::Diff`] if it is neither.
    pub fn json(text: &str) -> Result<Subject, Error> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| Error::Diff(format!("it is no JSON document: {error}")))?;
        let has = |name: &str| value.get(name).is_some();
        if has("simulated") && has("measured") {
            return Err(Error::Diff(
                "it has two results, `simulated` and `measured`; take one of them, such as with \
                 jq .measured"
                    .to_owned(),
            ));
        }
        let is_list = |name: &str| value.get(name).is_some_and(Value::is_array);
        if is_list("rows") && has("verdict") {
            return Ok(Subject(What::Answer(value)));
        }
        if is_list("flows") && is_list("links") {
            return Ok(Subject(What::Outcome(value)));
        }
        Err(Error::Diff(
            "it is neither what `bentpipe compare --json` prints nor what `bentpipe run --json` \
             does: the one has `rows` and a `verdict`, the other `flows` and `links`"
                .to_owned(),
        ))
    }

    /// What it is: `answer`, `outcome` or `scenario`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.0 {
            What::Answer(_) => "answer",
            What::Outcome(_) => "outcome",
            What::Scenario(_) => "scenario",
        }
    }
}

record! {
    /// What differs between two things of a kind.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub struct Difference document {
        /// `answer`, `outcome` or `scenario`.
        label kind: &'static str;
        /// What was asked or set otherwise, in the order of the documents.
        key settings: Vec<SettingChange>;
        /// What came out otherwise, the largest difference first.
        key results: Vec<ResultChange>;
    }
}

record! {
    /// A setting that differs.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub struct SettingChange document {
        /// Which.
        label path: String;
        /// Its first value; null if only the second has it.
        label before: Option<String>;
        /// Its second value; null if only the first has it.
        label after: Option<String>;
    }
}

record! {
    /// A result that differs: a number, or a text such as the headline of a verdict.
    #[derive(Clone, Debug, Default, PartialEq)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub struct ResultChange document {
        /// Of what: a row, a flow, a link.
        label subject: String;
        /// The result, with its unit.
        label metric: String;
        /// The first number; null if there is none.
        gauge before: Option<f64>;
        /// The second number; null if there is none.
        gauge after: Option<f64>;
        /// Half of the 95% interval of the first; null without one.
        gauge before_ci95: Option<f64>;
        /// Half of the 95% interval of the second; null without one.
        gauge after_ci95: Option<f64>;
        /// The second over the first, less one; null where that has no value.
        gauge change_share: Option<f64>;
        /// True if the difference is larger than chance explains, by the intervals of both;
        /// null without intervals.
        key beyond_chance: Option<bool>;
        /// The first text; null of numbers.
        label before_text: Option<String>;
        /// The second text; null of numbers.
        label after_text: Option<String>;
    }
}

impl Difference {
    /// True if nothing differs.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.settings.is_empty() && self.results.is_empty()
    }
}

impl ResultChange {
    /// How large the difference is, to sort by: from 0 for none to 1 for something instead
    /// of nothing. What has no number is above that.
    fn size(&self) -> f64 {
        match (self.before, self.after) {
            (Some(before), Some(after)) => {
                let most = before.abs().max(after.abs());
                if most > 0.0 {
                    (after - before).abs() / most
                } else {
                    0.0
                }
            }
            _ => 2.0,
        }
    }
}

/// What differs between two things of one kind.
///
/// # Errors
/// [`Error::Diff`] if they are of two kinds.
pub fn diff(before: &Subject, after: &Subject) -> Result<Difference, Error> {
    let mut found = match (&before.0, &after.0) {
        (What::Answer(a), What::Answer(b)) => documents::answers(a, b),
        (What::Outcome(a), What::Outcome(b)) => documents::outcomes(a, b),
        (What::Scenario(a), What::Scenario(b)) => Difference {
            settings: scenarios::settings(a, b),
            ..Difference::default()
        },
        _ => {
            let article = |kind: &str| match kind {
                "scenario" => "a scenario".to_owned(),
                kind => format!("an {kind}"),
            };
            return Err(Error::Diff(format!(
                "{} cannot be compared with {}",
                article(before.kind()),
                article(after.kind())
            )));
        }
    };
    found.kind = before.kind();
    found.results.sort_by(|a, b| b.size().total_cmp(&a.size()));
    Ok(found)
}

#[cfg(test)]
mod tests;
