//! Reads how many runs a cell gets: a number, or until when it goes on.

use super::{Section, expression};
use crate::study::Precision;
use bentpipe_document::Diagnostic;
use bentpipe_units::Ratio;

/// Replications of a study, at most.
const MOST: u32 = 100_000;

/// Runs of a cell before its interval counts, unless the study says otherwise: the
/// spread of fewer is too uncertain.
const AT_LEAST: u32 = 5;

/// Runs of a cell at most, unless the study says otherwise.
const AT_MOST: u32 = 1000;

/// Runs per cell, and when it has enough of them.
pub(super) fn read(top: &Section<'_>) -> (u32, Option<Precision>) {
    if !top.is_table("replications") {
        let number = top.integer("replications", 1..=u64::from(MOST));
        return (number.map_or(1, small), None);
    }
    let Some(section) = top.table("replications") else {
        return (1, None);
    };
    let until: Option<Ratio> = match section.has("until") {
        true => section.parsed("until"),
        false => {
            section.missing("until");
            None
        }
    };
    let of = expression(&section, "of");
    let at_least = section.integer("at_least", 2..=u64::from(MOST));
    let at_most = section.integer("at_most", 2..=u64::from(MOST));
    let (at_least, at_most) = (
        at_least.map_or(AT_LEAST, small),
        at_most.map_or(AT_MOST, small),
    );
    section.finish();
    if at_least > at_most {
        let error = Diagnostic::at(section.span.clone(), "`at_least` is more than `at_most`");
        section.error(error.label(format!("at least {at_least}, at most {at_most}")));
    }
    let until = until.map(Ratio::get);
    if until.is_some_and(|x| x <= 0.0 || x >= 1.0) {
        let error = Diagnostic::at(section.span_of("until"), "`until` is out of range");
        section.error(error.label("expected more than 0% and less than 100%"));
    }
    let precision = until.zip(of).map(|(until, of)| Precision {
        until,
        of,
        at_least,
    });
    (at_most, precision)
}

fn small(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(MOST)
}
