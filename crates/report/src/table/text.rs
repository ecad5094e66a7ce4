//! A table for a terminal.

use unicode_width::UnicodeWidthStr;

use super::{Align, Cell, Row, Table, Tone, one_line};

const GAP: &str = "  ";

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

pub(super) fn write(table: &Table, colour: bool) -> String {
    let sides = table.sides();
    let heading: Vec<Cell> = table
        .columns
        .iter()
        .map(|c| Cell::new(one_line(&c.heading)).tone(Tone::Strong))
        .collect();
    let headed = heading.iter().any(|cell| !cell.text.is_empty());
    let rows: Vec<Row> = table.rows.iter().map(cleaned).collect();

    let mut widths: Vec<usize> = vec![0; sides.len()];
    let cells = rows.iter().filter_map(|row| match row {
        Row::Cells(cells) => Some(cells),
        Row::Rule => None,
    });
    for row in cells.chain(std::iter::once(&heading)) {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.text.width());
        }
    }

    let mut out = String::new();
    let title = one_line(&table.title);
    if !title.is_empty() {
        out.push_str(&paint(&title, Tone::Strong, colour));
        out.push_str("\n\n");
    }
    let rule = |out: &mut String| {
        let dashes: Vec<String> = widths.iter().map(|w| "─".repeat(*w)).collect();
        out.push_str(&paint(dashes.join(GAP).trim_end(), Tone::Faint, colour));
        out.push('\n');
    };
    if headed {
        line(&mut out, &heading, &widths, &sides, colour);
        rule(&mut out);
    }
    for row in &rows {
        match row {
            Row::Cells(cells) => line(&mut out, cells, &widths, &sides, colour),
            Row::Rule => rule(&mut out),
        }
    }
    let note = one_line(&table.note);
    if !note.is_empty() {
        out.push('\n');
        for line in wrap(&note, NOTE_WIDTH) {
            out.push_str(&paint(&line, Tone::Faint, colour));
            out.push('\n');
        }
    }
    out
}

/// Columns that a note takes at most.
const NOTE_WIDTH: usize = 100;

/// Words of `text` in lines of at most `width` columns; a longer word has a line
/// of its own.
#[must_use]
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn cleaned(row: &Row) -> Row {
    match row {
        Row::Cells(cells) => Row::Cells(
            cells
                .iter()
                .map(|c| Cell {
                    text: one_line(&c.text),
                    tone: c.tone,
                })
                .collect(),
        ),
        Row::Rule => Row::Rule,
    }
}

fn line(out: &mut String, cells: &[Cell], widths: &[usize], sides: &[Align], colour: bool) {
    // Blanks are written only when more text follows: no trailing ones.
    let mut owed = 0;
    for (i, cell) in cells.iter().enumerate() {
        let room = widths.get(i).copied().unwrap_or(0);
        let blank = room.saturating_sub(cell.text.width());
        let (before, after) = if sides.get(i) == Some(&Align::Right) {
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
}
