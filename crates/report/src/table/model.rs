//! What a table consists of.

use super::bar;

/// On which side the cells of a column line up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// Right if every cell is a number, a number with a unit or empty; else
    /// left.
    #[default]
    Auto,
    /// Align left.
    Left,
    /// Align right.
    Right,
}

/// How the cells of a column give way in a narrow terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fit {
    /// As the text suggests: a name is shortened in its middle, which keeps an index at
    /// its end, and a text of several words is cut at its end. Numbers stay whole.
    #[default]
    Shorten,
    /// Wraps over several lines.
    Wrap,
    /// Bars, which are drawn again.
    Bar,
}

/// A column: its heading, its side, and how it gives way where there is little room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// The heading, with the unit of the cells; may be empty.
    pub heading: String,
    /// On which side the cells line up.
    pub align: Align,
    /// Above zero for a column that a narrow terminal can do without: the
    /// highest is left out first.
    pub optional: u8,
    pub(crate) fit: Fit,
}

impl Column {
    /// A column that lines up as its cells suggest.
    pub fn new(heading: impl Into<String>) -> Self {
        Self {
            heading: heading.into(),
            ..Self::default()
        }
    }

    /// A column of words.
    pub fn text(heading: impl Into<String>) -> Self {
        Self {
            align: Align::Left,
            ..Self::new(heading)
        }
    }

    /// A column of sentences: where there is little room, each cell takes several lines.
    pub fn prose(heading: impl Into<String>) -> Self {
        Self {
            fit: Fit::Wrap,
            ..Self::text(heading)
        }
    }

    /// A column of numbers.
    pub fn number(heading: impl Into<String>) -> Self {
        Self {
            align: Align::Right,
            ..Self::new(heading)
        }
    }

    /// A column of bars ([`Cell::bar`]), which are shorter in a narrow terminal.
    pub fn bars(heading: impl Into<String>) -> Self {
        Self {
            fit: Fit::Bar,
            ..Self::text(heading)
        }
    }

    setters! {
        /// Lets a narrow terminal leave the column out, the highest `rank` first. Where none
        /// of its cells holds anything, it is left out everywhere.
        optional: u8;
    }
}

/// Emphasis of a cell in addition to its text: a colour in a terminal and on a page. Never
/// the only bearer of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Ordinary text.
    #[default]
    Plain,
    /// As it should be.
    Good,
    /// A value that needs attention.
    Warn,
    /// Not as it should be.
    Bad,
    /// A less important value.
    Faint,
    /// A more important value.
    Strong,
}

/// A text with a tone, or a bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// The text; one line.
    pub text: String,
    /// Emphasis of the cell.
    pub tone: Tone,
    /// Of a bar: its share of the longest. Above 1 it is drawn beyond its end.
    pub(crate) share: Option<f64>,
}

impl Cell {
    /// A cell of ordinary text.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// A bar of `value` on a scale that ends at `max`; one that is longer ends with `>`.
    /// It belongs into a column of [`Column::bars`].
    pub fn bar(value: f64, max: f64) -> Self {
        let share = value / max;
        Self {
            text: bar::with_end(share, bar::WIDTH),
            share: Some(share),
            ..Self::default()
        }
    }

    setters! {
        /// Sets the tone.
        tone: Tone;
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Row {
    Cells(Vec<Cell>),
    Rule,
}

/// A table. Rows may be shorter or longer than the list of columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub(crate) title: String,
    pub(crate) note: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    pub(crate) totals: Vec<Row>,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self {
            columns: columns.into_iter().collect(),
            ..Self::default()
        }
    }

    setters! {
        /// Sets the line above the table.
        title: impl Into<String>;
        /// Sets the line below the table.
        note: impl Into<String>;
    }

    /// Appends a row of cells.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<Cell>>) {
        self.rows
            .push(Row::Cells(cells.into_iter().map(Into::into).collect()));
    }

    /// Adds a line between groups of rows.
    pub fn rule(&mut self) {
        self.rows.push(Row::Rule);
    }

    /// Adds a row below all others, after a line: a sum, a mean.
    pub fn total(&mut self, cells: impl IntoIterator<Item = impl Into<Cell>>) {
        self.totals
            .push(Row::Cells(cells.into_iter().map(Into::into).collect()));
    }

    /// The table with its first `rows` rows and, where it has more, a row with the number of those
    /// not shown. Totals stay.
    #[must_use]
    pub fn folded(mut self, rows: usize) -> Self {
        let more = self.len().saturating_sub(rows);
        if more > 1 {
            self.rows.truncate(rows);
            self.row([Cell::new(format!("... {more} more")).tone(Tone::Faint)]);
        }
        self
    }

    /// The line above the table; may be empty.
    pub fn title_text(&self) -> &str {
        &self.title
    }

    /// The line below the table; may be empty.
    pub fn note_text(&self) -> &str {
        &self.note
    }

    /// The columns that it was made of; rows may have more cells.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The cells of each row, without rules; the totals come last.
    pub fn cells(&self) -> impl Iterator<Item = &[Cell]> {
        self.rows
            .iter()
            .chain(&self.totals)
            .filter_map(|row| match row {
                Row::Cells(cells) => Some(cells.as_slice()),
                Row::Rule => None,
            })
    }

    /// The number of rows, without rules and totals.
    pub fn len(&self) -> usize {
        self.rows
            .iter()
            .filter(|row| matches!(row, Row::Cells(_)))
            .count()
    }

    /// The headings of the columns.
    pub fn headings(&self) -> Vec<&str> {
        let columns = self.columns.iter();
        columns.map(|column| column.heading.as_str()).collect()
    }

    /// The texts of the rows, without rules and totals.
    pub fn texts(&self) -> Vec<Vec<&str>> {
        let rows = self.rows.iter().filter_map(|row| match row {
            Row::Cells(cells) => Some(cells),
            Row::Rule => None,
        });
        rows.map(|cells| cells.iter().map(|cell| cell.text.as_str()).collect())
            .collect()
    }

    /// Whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sides of all columns, also of those that only rows have.
    pub(crate) fn sides(&self) -> Vec<Align> {
        let wide = self.rows.iter().chain(&self.totals).map(|row| match row {
            Row::Cells(cells) => cells.len(),
            Row::Rule => 0,
        });
        let count = wide.fold(self.columns.len(), usize::max);
        (0..count)
            .map(
                |i| match self.columns.get(i).map_or(Align::Auto, |c| c.align) {
                    Align::Auto => self.guess(i),
                    fixed => fixed,
                },
            )
            .collect()
    }

    fn guess(&self, column: usize) -> Align {
        let mut numbers = 0;
        for row in &self.rows {
            let Row::Cells(cells) = row else { continue };
            let Some(cell) = cells.get(column) else {
                continue;
            };
            match cell.text.trim() {
                "" | "-" | "–" | "—" => {}
                text if starts_with_number(text) => numbers += 1,
                _ => return Align::Left,
            }
        }
        if numbers > 0 {
            Align::Right
        } else {
            Align::Left
        }
    }
}

/// Whether a text is a number, perhaps with a sign before and a unit after it.
fn starts_with_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-', '−', '±', '<', '>', '≤', '≥', '≈', '~', ' ']);
    let digits = digits.strip_prefix('.').unwrap_or(digits);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    // "2.4-linux" is a name.
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ',');
    !rest.starts_with(|c: char| c.is_alphabetic() || c == '-' || c == '_')
        || rest.starts_with(['e', 'E', 'x', 'k', 'M', 'G', 'm', 's'])
}

/// A text that is safe and one line wide: no control characters, which could
/// steer the terminal. Blanks before it are an indentation.
pub(super) fn one_line(text: &str) -> String {
    text.trim_end()
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_numbers_line_up_right() {
        let mut table = Table::new([Column::new("a"), Column::new("b"), Column::new("c")]);
        table.row(["1.5 s", "x", "–"]);
        table.row(["−12 %", "2", "+3 ± 1"]);
        assert_eq!(table.sides(), [Align::Right, Align::Left, Align::Right]);
    }

    #[test]
    fn names_with_digits_are_words() {
        for name in ["2.4-linux", "linux-2.4", "10_bytes", "n/a"] {
            assert!(!starts_with_number(name), "{name}");
        }
        for number in ["3", "1e-7", "4×10⁻⁵", "12 kB", "12kB", "<0.1", ".5", "3/4"] {
            assert!(starts_with_number(number), "{number}");
        }
    }

    #[test]
    fn a_row_may_be_longer_than_the_heading() {
        let mut table = Table::new([Column::new("a")]);
        table.row(["x", "1"]);
        assert_eq!(table.sides(), [Align::Left, Align::Right]);
    }
}
