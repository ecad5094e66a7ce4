//! A table for a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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

pub(super) fn write(table: &Table, colour: bool, limit: usize) -> String {
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
    let mut rows = rows.into_iter().map(|row| layout.apply(row));
    let heading = rows.next();

    let mut out = String::new();
    let title = one_line(&table.title);
    if !title.is_empty() {
        out.push_str(&paint(&title, Tone::Strong, colour));
        out.push_str("\n\n");
    }
    if headed {
        for row in heading.into_iter().chain([Row::Rule]) {
            layout.line(&mut out, &row, colour);
        }
    }
    for row in rows {
        layout.line(&mut out, &row, colour);
    }
    let mut note = one_line(&table.note);
    if !layout.left_out.is_empty() {
        let left_out = layout.left_out.join(", ");
        note = format!("{note} Not shown for want of width: {left_out}.");
    }
    if !note.trim().is_empty() {
        out.push('\n');
        for line in wrap(&note, NOTE_WIDTH.min(limit)) {
            out.push_str(&paint(&line, Tone::Faint, colour));
            out.push('\n');
        }
    }
    out
}

/// Which columns a table shows, and how wide they are.
struct Layout {
    /// False for columns that are left out.
    shown: Vec<bool>,
    /// The headings of those.
    left_out: Vec<String>,
    /// Of the columns that are shown.
    widths: Vec<usize>,
    sides: Vec<Align>,
}

impl Layout {
    fn new(table: &Table, rows: &[Row], limit: usize) -> Layout {
        let sides = table.sides();
        let mut widths: Vec<usize> = vec![0; sides.len()];
        for row in rows {
            let Row::Cells(cells) = row else { continue };
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.text.width());
            }
        }
        let mut shown = vec![true; sides.len()];
        let total = |widths: &[usize], shown: &[bool]| -> usize {
            let widths = widths.iter().zip(shown).filter(|(_, shown)| **shown);
            let all: usize = widths.map(|(width, _)| width + GAP.len()).sum();
            all.saturating_sub(GAP.len())
        };
        let mut left_out = Vec::new();
        while total(&widths, &shown) > limit {
            let columns = table.columns.iter().enumerate();
            let optional = columns.filter(|(i, c)| shown[*i] && c.optional > 0);
            let Some((i, column)) = optional.max_by_key(|(_, c)| c.optional) else {
                break;
            };
            shown[i] = false;
            left_out.push(one_line(&column.heading));
        }
        loop {
            let excess = total(&widths, &shown).saturating_sub(limit);
            let words = (0..widths.len()).filter(|i| shown[*i] && sides[*i] == Align::Left);
            let widest = words.max_by_key(|i| widths[*i]);
            match widest {
                Some(i) if excess > 0 && widths[i] > SHORTEST => {
                    // Cut evenly: the widest down to the next one.
                    widths[i] -= 1;
                }
                _ => break,
            }
        }
        let keep = |(_, shown): &(usize, &bool)| **shown;
        let kept: Vec<usize> = shown
            .iter()
            .enumerate()
            .filter(keep)
            .map(|(i, _)| i)
            .collect();
        Layout {
            widths: kept.iter().map(|i| widths[*i]).collect(),
            sides: kept.iter().map(|i| sides[*i]).collect(),
            shown,
            left_out,
        }
    }

    /// The cells that are shown, none wider than its column.
    fn apply(&self, row: Row) -> Row {
        let Row::Cells(cells) = row else {
            return row;
        };
        let cells = cells.into_iter().zip(&self.shown);
        let cells = cells.filter(|(_, shown)| **shown).map(|(cell, _)| cell);
        let cells = cells.zip(&self.widths).map(|(cell, width)| Cell {
            text: cut(cell.text, *width),
            tone: cell.tone,
        });
        Row::Cells(cells.collect())
    }

    fn line(&self, out: &mut String, row: &Row, colour: bool) {
        match row {
            Row::Cells(cells) => line(out, cells, &self.widths, &self.sides, colour),
            Row::Rule => {
                let dashes: Vec<String> = self.widths.iter().map(|w| "─".repeat(*w)).collect();
                out.push_str(&paint(dashes.join(GAP).trim_end(), Tone::Faint, colour));
                out.push('\n');
            }
        }
    }
}

/// Columns of words are not cut below this.
const SHORTEST: usize = 8;

/// A text of at most `width` columns; what is cut ends with `…`.
fn cut(text: String, width: usize) -> String {
    if text.width() <= width {
        return text;
    }
    let mut out = String::new();
    for c in text.chars() {
        if out.width() + c.width().unwrap_or(0) + 1 > width {
            break;
        }
        out.push(c);
    }
    out.push('…');
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

    #[test]
    fn a_narrow_terminal_leaves_columns_out_and_cuts_words() {
        let mut table = Table::new([
            Column::text("flow"),
            Column::number("Mbit/s"),
            Column::number("early").optional(1),
            Column::number("marks").optional(2),
        ])
        .note("early: of the drops.");
        table.row(["a-very-long-name-of-a-flow", "1.5", "7", "8"]);
        table.row(["b", "2.5", "7", "8"]);
        table.total(["sum", "4.0", "14", "16"]);
        insta::assert_snapshot!(table.to_text_within(false, 24), @r"
        flow              Mbit/s
        ────────────────  ──────
        a-very-long-nam…     1.5
        b                    2.5
        ────────────────  ──────
        sum                  4.0

        early: of the drops. Not
        shown for want of width:
        marks, early.
        ");
        assert_eq!(table.to_text_within(false, 48), table.to_text(false));
        let wide = table.to_text_within(false, 45);
        assert!(wide.contains("early") && !wide.contains("marks "), "{wide}");
        for width in 20..60 {
            let text = table.to_text_within(false, width);
            let widest = text
                .lines()
                .map(unicode_width::UnicodeWidthStr::width)
                .max();
            assert!(widest <= Some(width), "{width}: {text}");
        }
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
