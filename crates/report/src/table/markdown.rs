//! A table in Markdown.

use unicode_width::UnicodeWidthStr;

use super::{Align, Row, Table, one_line};

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '|' => out.push_str("\\|"),
            '<' => out.push_str("&lt;"),
            _ => out.push(c),
        }
    }
    out
}

pub(super) fn write(table: &Table) -> String {
    let sides = table.sides();
    if sides.is_empty() {
        return String::new();
    }
    let mut rows: Vec<Vec<String>> = vec![
        (0..sides.len())
            .map(|i| {
                table
                    .columns
                    .get(i)
                    .map_or_else(String::new, |c| escape(&c.heading))
            })
            .collect(),
    ];
    for row in table.rows.iter().chain(&table.totals) {
        // Markdown has no rules inside a table.
        let Row::Cells(cells) = row else { continue };
        let text = |i: usize| cells.get(i).map_or_else(String::new, |c| escape(&c.text));
        rows.push((0..sides.len()).map(text).collect());
    }
    let widths: Vec<usize> = (0..sides.len())
        .map(|i| rows.iter().map(|row| row[i].width()).fold(3, usize::max))
        .collect();

    let mut out = String::new();
    let title = escape(&table.title);
    if !title.is_empty() {
        out.push_str(&format!("**{title}**\n\n"));
    }
    for (number, row) in rows.iter().enumerate() {
        for ((text, width), side) in row.iter().zip(&widths).zip(&sides) {
            let blank = " ".repeat(width - text.width());
            let (before, after) = if *side == Align::Right {
                (&*blank, "")
            } else {
                ("", &*blank)
            };
            out.push_str(&format!("| {before}{text}{after} "));
        }
        out.push_str("|\n");
        if number == 0 {
            for (width, side) in widths.iter().zip(&sides) {
                let dashes = "-".repeat(width - 1);
                let mark = if *side == Align::Right {
                    format!("{dashes}:")
                } else {
                    format!("{dashes}-")
                };
                out.push_str(&format!("| {mark} "));
            }
            out.push_str("|\n");
        }
    }
    let note = escape(&table.note);
    if !note.is_empty() {
        out.push_str(&format!("\n{note}\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Table};

    #[test]
    fn columns_are_padded_and_aligned() {
        let mut table = Table::new([Column::new("transport"), Column::new("time [s]")]).title("T");
        table.row(["a|b <i>", "21.4"]);
        table.rule();
        table.row(["mtsi", "9"]);
        insta::assert_snapshot!(table.to_markdown(), @r"
        **T**

        | transport   | time [s] |
        | ----------- | -------: |
        | a\|b &lt;i> |     21.4 |
        | mtsi        |        9 |
        ");
    }

    #[test]
    fn an_empty_table_is_empty() {
        assert_eq!(Table::new([]).to_markdown(), "");
    }
}
