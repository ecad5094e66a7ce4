//! The reference of the tables of results: `docs/data.md`.

use crate::data::{ABOUT_RESULTS, RESULTS, results_columns};
use bentpipe_outcome::{
    AxisUnit, Column, Document as _, Kind, PacketRecord, SCHEMA, TableKind, columns,
};
use serde_json::{Value, json};
use std::fmt::Write;

/// A table of results: its name, what it has a row for, and its columns.
struct Described {
    name: &'static str,
    about: &'static str,
    columns: Vec<Column>,
}

fn tables() -> Vec<Described> {
    let results = Described {
        name: RESULTS,
        about: ABOUT_RESULTS,
        columns: results_columns(),
    };
    let outcomes = TableKind::ALL.into_iter().map(|table| Described {
        name: table.name(),
        about: table.about(),
        columns: columns(table),
    });
    std::iter::once(results).chain(outcomes).collect()
}

/// The table of `bentpipe run --packets`, which no study has.
fn packets() -> Described {
    Described {
        name: "packets",
        about: "a row per packet event of a run: what `bentpipe run --packets` writes",
        columns: PacketRecord::columns(),
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text",
        Kind::Integer => "integer",
        Kind::Number => "number",
        Kind::Flag => "true or false",
    }
}

/// The tables of results and their columns, as Markdown: `docs/data.md`.
#[must_use]
pub fn data_reference() -> String {
    let tables = tables();
    let mut files = String::new();
    for table in &tables {
        let _ = writeln!(files, "- `{}.parquet`: {};", table.name, table.about);
    }
    let mut described = String::new();
    for table in tables.iter().chain([&packets()]) {
        let about = table.about;
        let _ = writeln!(described, "### `{}`\n\nIt has {about}.\n", table.name);
        described.push_str("| column | type | unit | meaning |\n|---|---|---|---|\n");
        for column in &table.columns {
            let _ = writeln!(
                described,
                "| `{}` | {} | {} | {} |",
                column.name,
                kind(column.kind),
                column.unit,
                column.about
            );
        }
        described.push('\n');
    }
    let endings = AxisUnit::ALL.iter();
    let endings: Vec<String> = endings
        .map(|(_, ending, words)| format!("`{ending}` ({words})"))
        .collect();
    let files = files.trim_end().trim_end_matches(';').to_owned() + ".";
    include_str!("../DATA.md")
        .replace("{files}", &files)
        .replace("{endings}", &endings.join(", "))
        .replace("{schema}", &SCHEMA.to_string())
        .replace("{tables}", described.trim_end())
}

/// The same as JSON: `{"schema": 1, "tables": [{"name", "about", "columns":
/// [{"name", "type", "unit", "about"}]}]}`.
#[must_use]
pub fn data_schema() -> Value {
    let tables = tables().into_iter().chain([packets()]).map(|table| {
        let columns = table.columns.into_iter().map(|column| {
            json!({
                "name": column.name,
                "type": kind(column.kind),
                "unit": column.unit,
                "about": column.about,
            })
        });
        json!({
            "name": table.name,
            "about": table.about,
            "columns": columns.collect::<Vec<_>>(),
        })
    });
    json!({ "schema": SCHEMA, "tables": tables.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `UPDATE_DOCS=1 cargo test -p bentpipe-study --lib data` writes the page
    /// again.
    #[test]
    fn the_page_about_data_is_that_of_the_records() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/data.md");
        let page = data_reference();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &page).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == page,
            "docs/data.md is not what the records say: \
             `UPDATE_DOCS=1 cargo test -p bentpipe-study --lib data` writes it"
        );
        assert!(page.contains("| `goodput_bps` | integer | bit/s | payload delivered"));
        assert!(!page.contains("{tables}"));
    }
}
