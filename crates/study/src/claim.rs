//! Judges claims.

use crate::catalogue::Catalogue;
use crate::expr::{Context, Finding, Scope, Truth, World, formula, judge};
use crate::quote;
use crate::study::{ClaimPart, ClaimSpec, Study};
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};

/// True for the identifier of a claim that the paper makes, `003-9`; others are
/// about our reproduction.
#[must_use]
pub fn of_the_paper(id: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    id.split_once('-')
        .is_some_and(|(paper, claim)| digits(paper) && digits(claim))
}

/// A claim, with the results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimResult {
    /// The study that makes it.
    pub study: String,
    /// Identifier, such as `000-1`.
    pub id: String,
    /// Statement of the claim, in words.
    pub claim: String,
    /// Verdict of the results.
    pub verdict: Verdict,
    /// Expected verdict.
    pub recorded: Option<Verdict>,
    /// Numbers of the case that decides.
    pub evidence: String,
    /// Why the recorded verdict is what it is; may be empty.
    pub reason: String,
    /// What the verdict rests on where that is not what the source says alone, such as
    /// `by fit`; may be empty.
    pub basis: String,
    /// Its parts, each with a verdict; empty for a claim that is one statement.
    pub parts: Vec<PartResult>,
    /// The verdict under each reading, the main one first; empty for a claim
    /// without readings.
    pub readings: Vec<ReadingResult>,
    /// True if the verdict, or that on a part, is not the recorded one.
    pub regression: bool,
}

/// A part of a claim, with the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartResult {
    /// Statement of the claim, in words.
    pub claim: String,
    /// Verdict of the results.
    pub verdict: Verdict,
    /// Expected verdict.
    pub recorded: Option<Verdict>,
    /// Numbers of the case that decides.
    pub evidence: String,
}

/// A claim under one reading of what the paper leaves open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadingResult {
    /// The reading: a point of the axis of readings.
    pub reading: String,
    /// Verdict of the results.
    pub verdict: Verdict,
    /// Verdicts on its parts.
    pub parts: Vec<Verdict>,
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
    let place = |label: Option<&str>| {
        let axis = claim.readings.clone().zip(label.map(str::to_owned));
        axis.into_iter().collect::<Vec<_>>()
    };
    let judged = |label: Option<&str>| -> Vec<PartResult> {
        let case = Case {
            at: place(label),
            home,
            studies,
            world,
        };
        claim.parts.iter().map(|p| case.part(p)).collect()
    };
    let labels = claim.labels(home);
    let main = labels.first().copied();
    let mut parts = judged(main);
    let readings = labels.iter().map(|label| {
        let parts: Vec<Verdict> = judged(Some(label)).iter().map(|p| p.verdict).collect();
        ReadingResult {
            reading: (*label).to_owned(),
            verdict: Verdict::of_parts(&parts),
            parts,
        }
    });
    let readings: Vec<ReadingResult> = readings.collect();
    let excused = |verdict| fewer.is_some_and(|runs| runs == 1 || verdict == Verdict::Open);
    let regression = parts
        .iter()
        .any(|p| p.recorded.is_some_and(|r| r != p.verdict) && !excused(p.verdict));
    let verdicts: Vec<Verdict> = parts.iter().map(|p| p.verdict).collect();
    let verdict = Verdict::of_parts(&verdicts);
    let evidence = if let [whole] = parts.as_mut_slice() {
        std::mem::take(&mut whole.evidence)
    } else {
        let holding = verdicts.iter().filter(|v| **v == Verdict::Holds).count();
        format!("{holding} of {} parts hold", parts.len())
    };
    if parts.len() == 1 {
        parts.clear();
    }
    ClaimResult {
        study: study.to_owned(),
        id: claim.id.clone(),
        claim: claim.statement.clone(),
        verdict,
        recorded: claim.recorded(),
        evidence,
        basis: claim.basis.clone(),
        reason: quote::fill(&claim.reason, &mut |quoted| {
            quote::value(quoted, home, &place(main), studies, world)
        }),
        parts,
        readings,
        regression,
    }
}

/// Where a claim is judged.
struct Case<'a> {
    /// The reading.
    at: Vec<(String, String)>,
    home: &'a Study,
    studies: &'a dyn Catalogue,
    world: &'a dyn World,
}

impl Case<'_> {
    fn part(&self, part: &ClaimPart) -> PartResult {
        let bound = self.at.iter().map(|(axis, _)| axis.as_str());
        let scope = Scope::new(self.home, self.studies, &part.check.text).with_bound(bound);
        let context = Context::new(&self.home.name).moved(&self.at);
        let finding = match formula(&part.check.expr, &scope) {
            Ok(formula) => judge(&formula, &context, self.world),
            Err(fault) => Finding::open(fault.message),
        };
        PartResult {
            claim: part.statement.clone(),
            verdict: match finding.truth {
                Truth::Holds => Verdict::Holds,
                Truth::Fails => Verdict::Fails,
                Truth::Open => Verdict::Open,
            },
            recorded: part.recorded,
            evidence: finding.text,
        }
    }
}
