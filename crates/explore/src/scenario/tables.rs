//! Tables of the command as JSON.

use bentpipe::report::table::{Align, Table, Tone};
use bentpipe_present::output::Printed;
use serde_json::{Value, json};

/// A table for the page: `{title, note, columns: [{heading, number}], rows: [[{text,
/// tone}]]}`; the totals are its last rows.
pub(super) fn document(table: &Table) -> Value {
    let columns = table
        .columns()
        .iter()
        .map(|column| json!({ "heading": column.heading, "number": column.align == Align::Right }));
    let rows = table.cells().map(|cells| -> Value {
        let cells = cells.iter().map(|cell| {
            let tone = match cell.tone {
                Tone::Plain => "plain",
                Tone::Good => "good",
                Tone::Warn => "warn",
                Tone::Bad => "bad",
                Tone::Faint => "faint",
                Tone::Strong => "strong",
            };
            json!({ "text": cell.text, "tone": tone })
        });
        cells.collect()
    });
    json!({
        "title": table.title_text(),
        "note": table.note_text(),
        "columns": columns.collect::<Value>(),
        "rows": rows.collect::<Value>(),
    })
}

/// What a command prints: `[{text, table}]`; the last may have no table.
pub(super) fn blocks(printed: &Printed) -> Value {
    let tables = printed.tables.iter();
    let tables = tables.map(|(text, table)| (text, Some(document(table))));
    let rest = Some(&printed.rest).filter(|rest| !rest.trim().is_empty());
    let all = tables.chain(rest.map(|rest| (rest, None)));
    all.map(|(text, table)| json!({ "text": text.trim(), "table": table }))
        .collect()
}
