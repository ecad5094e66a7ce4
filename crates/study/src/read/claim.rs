//! Claims.

use super::shown::home;
use crate::catalogue::Catalogue;
use crate::expr::{Scope, formula};
use crate::quote;
use crate::schema::{ClaimKeys, PartKeys, given};
use crate::study::{ClaimPart, ClaimSpec, Study};
use bentpipe_document::{Diagnostic, Errors, Reported};

pub(super) fn read(keys: ClaimKeys) -> Result<ClaimSpec, Reported> {
    let parts = match keys.part? {
        Some(parts) => {
            for key in ["check", "recorded"] {
                if let Some(entry) = keys.context.table.get(key) {
                    let message =
                        format!("the claim has parts, so that `{key}` belongs to each of them");
                    let error = Diagnostic::new(entry.item.place, message);
                    keys.context.report(error);
                }
            }
            let parts: Vec<_> = parts.value.into_iter().map(part).collect();
            parts.into_iter().collect::<Result<_, _>>()
        }
        None => Ok(vec![ClaimPart {
            statement: String::new(),
            check: keys.context.need("check", keys.check?)?.value,
            recorded: given(keys.recorded)?,
        }]),
    };
    Ok(ClaimSpec {
        id: keys.id?.value,
        statement: keys.statement?.value,
        from: given(keys.from)?,
        readings: given(keys.readings)?,
        parts: parts?,
        reason: given(keys.reason)?.unwrap_or_default(),
        basis: given(keys.basis)?.unwrap_or_default(),
    })
}

fn part(keys: PartKeys) -> Result<ClaimPart, Reported> {
    Ok(ClaimPart {
        statement: keys.statement?.value,
        check: keys.check?.value,
        recorded: given(keys.recorded)?,
    })
}

/// Names, axes and units of a claim, now that the other studies are known.
pub(super) fn check(claim: &ClaimSpec, study: &Study, studies: &dyn Catalogue, errors: &Errors) {
    let Some(first) = claim.parts.first() else {
        return;
    };
    let place = first.check.place.string;
    let Some(home) = home(study, claim.from.as_deref(), studies, place, errors) else {
        return;
    };
    if let Some(axis) = claim.readings.as_ref().filter(|a| home.axis(a).is_none()) {
        let message = format!("`readings` names an unknown axis `{axis}`");
        let known = home.axes.iter().map(|a| a.name.as_str());
        errors.report(Diagnostic::new(place, message).suggest_from(axis, known));
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
            errors.report(Diagnostic::new(place, message));
        }
    }
}
