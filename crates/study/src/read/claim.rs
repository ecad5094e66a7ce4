//! Claims.

use super::{Section, expression, home};
use crate::Verdict;
use crate::expr::{Scope, formula};
use crate::paper::Catalogue;
use crate::quote;
use crate::study::{ClaimPart, ClaimSpec, Study};
use bentpipe_document::names::list;
use bentpipe_document::{Diagnostic, Errors};

pub(super) fn read(section: &Section<'_>) -> Option<ClaimSpec> {
    let id = section.required_text("id");
    let statement = section.required_text("statement");
    let from = section.text("from").map(|t| t.value);
    let readings = section.text("readings").map(|t| t.value);
    let parts = parts(section);
    let reason = section.text("reason").map_or_else(String::new, |t| t.value);
    section.finish();
    Some(ClaimSpec {
        id: id?.value,
        statement: statement?.value,
        from,
        readings,
        parts: parts?,
        reason,
    })
}

/// `check` and `recorded`, or `[[claim.part]]` with a statement, a check and a
/// verdict each.
fn parts(section: &Section<'_>) -> Option<Vec<ClaimPart>> {
    if !section.has("part") {
        let check = expression(section, "check");
        let recorded = recorded(section);
        let statement = String::new();
        return Some(vec![ClaimPart {
            statement,
            check: check?,
            recorded,
        }]);
    }
    for key in ["check", "recorded"] {
        if section.has(key) {
            let message = format!("the claim has parts, so that `{key}` belongs to each of them");
            section.error(Diagnostic::at(section.span_of(key), message));
        }
    }
    let parts = section.tables("part");
    let parts: Option<Vec<ClaimPart>> = parts.iter().map(part).collect();
    parts.filter(|parts| !parts.is_empty())
}

fn part(section: &Section<'_>) -> Option<ClaimPart> {
    let statement = section.required_text("statement");
    let check = expression(section, "check");
    let recorded = recorded(section);
    section.finish();
    Some(ClaimPart {
        statement: statement?.value,
        check: check?,
        recorded,
    })
}

/// The verdict to hold a formula to: it holds, fails or is open. Only a claim
/// of several parts holds in part.
fn recorded(section: &Section<'_>) -> Option<Verdict> {
    let text = section.text("recorded")?;
    let known = Verdict::ALL.iter().filter(|(_, v)| *v != Verdict::InPart);
    let found = known.clone().find(|(name, _)| *name == text.value);
    if found.is_none() {
        let names: Vec<&str> = known.map(|(name, _)| *name).collect();
        section.error(
            Diagnostic::at(text.span, format!("unknown verdict `{}`", text.value))
                .label(format!("expected one of {}", list(names.clone())))
                .suggest_from(&text.value, names),
        );
    }
    found.map(|(_, verdict)| *verdict)
}

/// Names, axes and units of a claim, now that the other studies are known.
pub(super) fn check(claim: &ClaimSpec, study: &Study, studies: &dyn Catalogue, errors: &Errors) {
    let Some(first) = claim.parts.first() else {
        return;
    };
    let span = &first.check.place.span;
    let Some(home) = home(study, claim.from.as_deref(), studies, span, errors) else {
        return;
    };
    if let Some(axis) = claim.readings.as_ref().filter(|a| home.axis(a).is_none()) {
        let message = format!("`readings` names an unknown axis `{axis}`");
        let known = home.axes.iter().map(|a| a.name.as_str());
        errors.report(Diagnostic::at(span.clone(), message).suggest_from(axis, known));
        return;
    }
    for text in claim.parts.iter().map(|part| &part.check) {
        let scope = Scope::new(home, studies, &text.text).with_bound(claim.bound());
        if let Err(fault) = formula(&text.expr, &scope) {
            errors.report(text.fault(fault));
        }
    }
    for quoted in quote::quotes(&claim.reason) {
        if let Err(why) = quote::check(quoted, home, claim.bound(), studies) {
            let message = format!("the reason quotes `{{{quoted}}}`: {why}");
            errors.report(Diagnostic::at(span.clone(), message));
        }
    }
}
