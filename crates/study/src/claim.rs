//! Judges claims.

use crate::expr::{Context, Finding, Scope, Truth, World, formula, judge};
use crate::paper::Catalogue;
use crate::study::{ClaimSpec, Study};
use serde::{Deserialize, Serialize};

/// What the results say of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
    /// The results do not decide it.
    Open,
}

impl Verdict {
    /// Every verdict, with its name.
    pub const ALL: [(&'static str, Verdict); 3] = [
        ("holds", Verdict::Holds),
        ("fails", Verdict::Fails),
        ("open", Verdict::Open),
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Verdict::ALL
            .iter()
            .find(|(_, v)| *v == self)
            .map_or("open", |(name, _)| name)
    }
}

/// A claim beside the results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimResult {
    /// The study that makes it.
    pub study: String,
    /// Its identifier.
    pub id: String,
    /// What is claimed, in words.
    pub claim: String,
    /// What the results say.
    pub verdict: Verdict,
    /// What they are to say.
    pub recorded: Option<Verdict>,
    /// Numbers of the case that decides.
    pub evidence: String,
    /// Why the recorded verdict is what it is; may be empty.
    pub reason: String,
    /// True if the verdict is not the recorded one.
    pub regression: bool,
}

/// Judges a claim. With `fewer` replications than the study asks for, a
/// verdict that is open is no regression; nor is any verdict of a single one,
/// which has no interval.
pub(crate) fn check(
    study: &str,
    claim: &ClaimSpec,
    home: &Study,
    studies: &dyn Catalogue,
    world: &dyn World,
    fewer: Option<usize>,
) -> ClaimResult {
    let scope = Scope::new(home, studies, &claim.check.text);
    let finding = match formula(&claim.check.expr, &scope) {
        Ok(formula) => judge(&formula, &Context::new(&home.name), world),
        Err(fault) => Finding::open(fault.message),
    };
    let verdict = match finding.truth {
        Truth::Holds => Verdict::Holds,
        Truth::Fails => Verdict::Fails,
        Truth::Open => Verdict::Open,
    };
    let excused = fewer.is_some_and(|runs| runs == 1 || verdict == Verdict::Open);
    ClaimResult {
        study: study.to_owned(),
        id: claim.id.clone(),
        claim: claim.statement.clone(),
        verdict,
        recorded: claim.recorded,
        evidence: finding.text,
        reason: claim.reason.clone(),
        regression: claim.recorded.is_some_and(|recorded| recorded != verdict) && !excused,
    }
}
