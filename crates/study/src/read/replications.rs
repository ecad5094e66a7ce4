//! Reads the number of runs of a cell: a number, or a stopping rule.

use crate::schema::Replications;
use crate::study::Precision;
use bentpipe_document::{Diagnostic, Reported};

/// Runs per cell, and when it has enough of them.
pub(super) fn read(runs: Replications) -> Result<(u32, Option<Precision>), Reported> {
    let rule = match runs {
        Replications::Runs(runs) => return Ok((runs, None)),
        Replications::Until(rule) => *rule,
    };
    let (until, at_least, at_most) = (rule.until?, rule.at_least?.value, rule.at_most?.value);
    if at_least > at_most {
        let error = Diagnostic::new(rule.context.at, "`at_least` is more than `at_most`");
        rule.context
            .report(error.label(format!("at least {at_least}, at most {at_most}")));
    }
    if until.value.get() <= 0.0 || until.value.get() >= 1.0 {
        let error = Diagnostic::new(until.place, "`until` is out of range");
        rule.context
            .report(error.label("expected more than 0% and less than 100%"));
    }
    let precision = Precision {
        until: until.value.get(),
        of: rule.of?.value,
        at_least,
    };
    Ok((at_most, Some(precision)))
}
