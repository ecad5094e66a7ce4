//! Claims.

use super::{Section, expression};
use crate::Verdict;
use crate::study::ClaimSpec;
use bentpipe_document::Diagnostic;
use bentpipe_document::names::list;

pub(super) fn read(section: &Section<'_>) -> Option<ClaimSpec> {
    let id = section.required_text("id");
    let statement = section.required_text("statement");
    let from = section.text("from").map(|t| t.value);
    let check = expression(section, "check");
    let recorded = section.text("recorded").and_then(|text| {
        let found = Verdict::ALL.iter().find(|(name, _)| *name == text.value);
        if found.is_none() {
            let names = Verdict::ALL.map(|(name, _)| name);
            section.error(
                Diagnostic::at(text.span, format!("unknown verdict `{}`", text.value))
                    .label(format!("expected one of {}", list(names)))
                    .suggest_from(&text.value, names),
            );
        }
        found.map(|(_, verdict)| *verdict)
    });
    let reason = section.text("reason").map_or_else(String::new, |t| t.value);
    section.finish();
    Some(ClaimSpec {
        id: id?.value,
        statement: statement?.value,
        from,
        check: check?,
        recorded,
        reason,
    })
}
