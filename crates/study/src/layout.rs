//! Layout of a table: rows and columns as its paper prints them.

use crate::table::{TableCell, TableData};

/// A table to be laid out: labels on both sides, cells in between.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout<'a> {
    /// Headings of the row labels, one name per level; may be empty.
    pub corner: Vec<&'a str>,
    /// Labels of each row, one per level.
    pub rows: Vec<&'a [String]>,
    /// Labels of each column, one per level.
    pub columns: Vec<&'a [String]>,
    /// Cells, row by row.
    pub cells: Vec<Vec<&'a TableCell>>,
}

/// Neighbouring labels that are the same on one level, and on those before it:
/// what one heading spans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span<'a> {
    /// The label.
    pub label: &'a str,
    /// How many rows or columns have it.
    pub length: usize,
}

/// The headings of one level. Those of the lowest are not joined: each has its
/// own row or column.
#[must_use]
pub fn spans<'a>(labels: &[&'a [String]], level: usize) -> Vec<Span<'a>> {
    let mut spans: Vec<Span<'a>> = Vec::new();
    let depth = labels.first().map_or(0, |l| l.len());
    for (i, all) in labels.iter().enumerate() {
        let Some(label) = all.get(level) else {
            continue;
        };
        let before = i.checked_sub(1).and_then(|b| labels.get(b));
        let same = before.is_some_and(|b| b.get(..=level) == all.get(..=level));
        match spans.last_mut().filter(|_| same && level + 1 < depth) {
            Some(span) => span.length += 1,
            None => spans.push(Span { label, length: 1 }),
        }
    }
    spans
}

impl TableData {
    /// The table as its paper prints it.
    #[must_use]
    pub fn layout(&self) -> Layout<'_> {
        let down: Vec<&[String]> = self.rows.iter().map(Vec::as_slice).collect();
        let across: Vec<&[String]> = self.columns.iter().map(Vec::as_slice).collect();
        if !self.transposed {
            return Layout {
                corner: self.row_axes.iter().map(String::as_str).collect(),
                rows: down,
                columns: across,
                cells: self.cells.iter().map(|row| row.iter().collect()).collect(),
            };
        }
        let column = |i: usize| self.cells.iter().filter_map(move |row| row.get(i));
        Layout {
            corner: Vec::new(),
            cells: (0..across.len()).map(|i| column(i).collect()).collect(),
            rows: across,
            columns: down,
        }
    }

    /// True if there is a published number in it.
    #[must_use]
    pub fn has_published(&self) -> bool {
        let mut cells = self.cells.iter().flatten();
        cells.any(|cell| cell.published.is_some())
    }

    /// The unit of all cells; `None` where they differ.
    #[must_use]
    pub fn unit(&self) -> Option<&str> {
        let mut units = self.cells.iter().flatten().map(|cell| cell.unit.as_str());
        let first = units.next().unwrap_or("");
        units.all(|unit| unit == first).then_some(first)
    }
}

impl Layout<'_> {
    /// The unit of each column; `None` where a column has cells of several, as in a
    /// table that is printed with rows as columns.
    #[must_use]
    pub fn units(&self) -> Option<Vec<&str>> {
        let unit = |i: usize| {
            let mut cells = self.cells.iter().filter_map(|row| row.get(i));
            let first = cells.next().map_or("", |cell| cell.unit.as_str());
            cells.all(|cell| cell.unit == first).then_some(first)
        };
        (0..self.columns.len()).map(unit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_share_a_heading_but_on_the_lowest_level() {
        let label = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
        let labels = [
            label("2 Mbit/s", "time"),
            label("2 Mbit/s", "gain"),
            label("by fit", "gain"),
            label("by fit", "gain"),
        ];
        let labels: Vec<&[String]> = labels.iter().map(Vec::as_slice).collect();
        let of = |level| {
            let spans = spans(&labels, level);
            spans
                .iter()
                .map(|s| (s.label, s.length))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(0), [("2 Mbit/s", 2), ("by fit", 2)]);
        assert_eq!(of(1), [("time", 1), ("gain", 1), ("gain", 1), ("gain", 1)]);
        assert!(of(2).is_empty());
    }
}
