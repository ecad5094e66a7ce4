//! A table for a terminal.

use unicode_width::UnicodeWidthStr;

use super::layout::{GAP, Layout};
use super::model::{Align, Cell, Row, Table, Tone, one_line};
use super::wrap::wrap_all;

fn ansi(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Good => Some("32"),
        Tone::Warn => Some("33"),
        Tone::Bad => Some("31"),
        Tone::Faint => Some("2"),
        Tone::Strong => Some("1"),
    }
}

fn paint(text: &str, tone: Tone, colour: bool) -> String {
    match ansi(tone) {
        Some(code) if colour && !text.is_empty() => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        _ => text.to_owned(),
    }
}

pub(super) fn write(table: &Table, colour: bool, limit: usize, remedy: &str) -> String {
    let heading: Vec<Cell> = table
        .columns
        .iter()
        .map(|c| Cell::new(one_line(&c.heading)).tone(Tone::Strong))
        .collect();
    let headed = heading.iter().any(|cell| !cell.text.is_empty());
    let mut rows: Vec<Row> = vec![Row::Cells(heading)];
    rows.extend(table.rows.iter().map(cleaned));
    if !table.totals.is_empty() {
        rows.push(Row::Rule);
        rows.extend(table.totals.iter().map(cleaned));
    }
    let layout = Layout::new(table, &rows, limit);

    let mut out = String::new();
    let paragraph = |out: &mut String, text: &str, tone| {
        for line in wrap_all(text, NOTE_WIDTH.min(limit)) {
            out.push_str(&paint(&line, tone, colour));
            out.push('\n');
        }
    };
    let title = one_line(&table.title);
    if !title.is_empty() {
        paragraph(&mut out, &title, Tone::Strong);
        out.push('\n');
    }
    let mut rows = rows.into_iter();
    if let (Some(Row::Cells(heading)), true) = (rows.next(), headed) {
        for cells in layout.heading(&heading) {
            line(&mut out, &cells, &layout, colour);
        }
        rule(&mut out, &layout, colour);
    }
    for row in rows {
        match row {
            Row::Rule => rule(&mut out, &layout, colour),
            Row::Cells(cells) => {
                for cells in layout.lines(&cells) {
                    line(&mut out, &cells, &layout, colour);
                }
            }
        }
    }
    let mut note = one_line(&table.note);
    if !layout.left_out.is_empty() {
        note = format!("{note} {}", not_shown(&layout.left_out, remedy));
    }
    if !note.trim().is_empty() {
        out.push('\n');
        paragraph(&mut out, &note, Tone::Faint);
    }
    out
}

/// The columns left out, and the remedy.
fn not_shown(headings: &[String], remedy: &str) -> String {
    let named: Vec<&str> = headings.iter().map(String::as_str).collect();
    let named: Vec<&str> = named.into_iter().filter(|h| !h.is_empty()).collect();
    let remedy = match remedy {
        "" => String::new(),
        remedy => format!("; {remedy}"),
    };
    format!("Not shown for want of width: {}{remedy}.", named.join(", "))
}

/// Columns that a note takes at most.
const NOTE_WIDTH: usize = 100;

fn rule(out: &mut String, layout: &Layout, colour: bool) {
    let dashes: Vec<String> = layout.widths.iter().map(|w| "─".repeat(*w)).collect();
    out.push_str(&paint(dashes.join(GAP).trim_end(), Tone::Faint, colour));
    out.push('\n');
}

fn cleaned(row: &Row) -> Row {
    match row {
        Row::Cells(cells) => Row::Cells(
            cells
                .iter()
                .map(|c| Cell {
                    text: one_line(&c.text),
                    ..c.clone()
                })
                .collect(),
        ),
        Row::Rule => Row::Rule,
    }
}

fn line(out: &mut String, cells: &[Cell], layout: &Layout, colour: bool) {
    // Blanks are written only when more text follows: no trailing ones.
    let mut owed = 0;
    for (i, cell) in cells.iter().enumerate() {
        let room = layout.widths.get(i).copied().unwrap_or(0);
        let blank = room.saturating_sub(cell.text.width());
        let (before, after) = if layout.sides.get(i) == Some(&Align::Right) {
            (blank, 0)
        } else {
            (0, blank)
        };
        owed += before;
        if !cell.text.is_empty() {
            out.extend(std::iter::repeat_n(' ', owed));
            out.push_str(&paint(&cell.text, cell.tone, colour));
            owed = 0;
        }
        owed += after + GAP.len();
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, Column, Table, Tone};

    fn table() -> Table {
        let mut table = Table::new([
            Column::new("transport"),
            Column::new("time [s]"),
            Column::new("verdict"),
        ])
        .title("Times")
        .note("Mean of 20 runs.");
        table.row([
            Cell::new("newreno"),
            Cell::new("21.40"),
            Cell::new("ok").tone(Tone::Good),
        ]);
        table.rule();
        table.row(["漢字", "9.8"]);
        table.row(["", "-", "off"]);
        table
    }

    #[test]
    fn wide_characters_keep_the_columns() {
        insta::assert_snapshot!(table().to_text(false), @"
        Times

        transport  time [s]  verdict
        ─────────  ────────  ───────
        newreno       21.40  ok
        ─────────  ────────  ───────
        漢字            9.8
                          -  off

        Mean of 20 runs.
        ");
    }

    #[test]
    fn colour_changes_nothing_but_escapes() {
        let coloured = table().to_text(true);
        assert!(coloured.contains("\u{1b}[32mok\u{1b}[0m"));
        let mut plain = String::new();
        let mut rest = coloured.as_str();
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            plain.push_str(before);
            rest = after.split_once('m').map_or("", |(_, rest)| rest);
        }
        plain.push_str(rest);
        assert_eq!(plain, table().to_text(false));
    }

    #[test]
    fn cells_cannot_steer_the_terminal() {
        let mut table = Table::new([Column::text("a\u{1b}[2J")]);
        table.row(["b\nc\u{7}"]);
        let text = table.to_text(false);
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'));
        assert_eq!(text.lines().count(), 3);
    }

    #[test]
    fn no_rows_and_no_columns() {
        assert_eq!(Table::new([]).to_text(false), "");
        assert_eq!(Table::new([Column::text("a")]).to_text(false), "a\n─\n");
    }

    fn wide() -> Table {
        let mut table = Table::new([
            Column::text("flow"),
            Column::number("rate [Mbit/s]"),
            Column::number("early").optional(1),
            Column::number("marks").optional(2),
            Column::prose("source"),
            Column::bars("time"),
        ])
        .title("A title that is a bit longer than the narrowest table")
        .note("early: of the drops.");
        let source = "Allman, Paxson and Blanton, RFC 5681, section 3.1";
        let cells = |name: &str, share: f64| {
            let texts = [name, "1.5", "7", "8", source].map(Cell::from);
            texts.into_iter().chain([Cell::bar(share, 1.0)])
        };
        table.row(cells("a-very-long-name-of-a-flow[17]", 0.5));
        table.row(cells("b", 2.0));
        table.total(["sum", "4.0", "14", "16"]);
        table
    }

    #[test]
    fn a_narrow_terminal_leaves_columns_out_and_wraps_words() {
        insta::assert_snapshot!(wide().to_text_within(false, 60, "--wide shows them"));
        insta::assert_snapshot!(wide().to_text_within(false, 90, "--wide shows them"));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let natural = wide().to_text(false);
        assert_eq!(wide().to_text_within(false, 400, ""), natural);
        for width in 20..150 {
            let text = wide().to_text_within(false, width, "--wide shows them");
            let widths = text.lines().map(unicode_width::UnicodeWidthStr::width);
            assert!(widths.max() <= Some(width), "{width}: {text}");
        }
    }

    #[test]
    fn columns_go_in_the_order_of_their_ranks_and_then_from_the_right() {
        let ranks = [0, 0, 1, 3, 2, 0];
        let names = ["a", "b", "c", "d", "e", "f"];
        let columns = names.iter().zip(ranks);
        let columns = columns.map(|(name, rank)| Column::number(*name).optional(rank));
        let mut table = Table::new(columns);
        table.row(["100000"; 6]);
        let headings = |width| -> String {
            let text = table.to_text_within(false, width, "");
            text.lines()
                .next()
                .unwrap_or("")
                .split_whitespace()
                .collect()
        };
        let kept = [46, 38, 30, 22, 14, 6].map(headings);
        assert_eq!(kept, ["abcdef", "abcef", "abcf", "abf", "ab", "a"]);
        let note = table.to_text_within(false, 22, "--wide shows them");
        let said = "Not shown for want of width: d, e, c; --wide shows them.";
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&note).ends_with(said), "{note}");
    }

    #[test]
    fn a_long_table_is_folded_and_keeps_its_totals() {
        let mut table = Table::new([Column::text("flow"), Column::number("n")]);
        for i in 0..5 {
            table.row([format!("f{i}"), "1".to_owned()]);
        }
        table.total(["sum", "5"]);
        assert_eq!(table.clone().folded(4), table);
        let text = table.folded(2).to_text(false);
        assert_eq!(
            text,
            "flow        n\n──────────  ─\nf0          1\nf1          1\n... 3 more\n\
             ──────────  ─\nsum         5\n"
        );
    }
}
