//! Tables of the command as JSON.

use bentpipe::report::table::{Align, Table, Tone};
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
