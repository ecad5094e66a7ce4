//! Tables: laid out once, shown in a terminal, in Markdown or on a page.
//!
//! ```
//! use bentpipe_report::table::{Column, Table};
//!
//! let mut table = Table::new([Column::text("transport"), Column::number("time [s]")]);
//! table.row(["newreno", "21.4"]);
//! table.row(["mtsi", "9.8"]);
//! assert_eq!(
//!     table.to_text(false),
//!     "transport  time [s]\n─────────  ────────\nnewreno        21.4\nmtsi            9.8\n"
//! );
//! ```

mod bar;
mod markdown;
mod text;

pub use bar::{BarStyle, bar};
pub use text::wrap;

/// On which side the cells of a column line up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// Right if every cell is a number, a number with a unit or empty; else
    /// left.
    #[default]
    Auto,
    /// Left.
    Left,
    /// Right.
    Right,
}

/// A column: its heading and its side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// The heading, with the unit of the cells; may be empty.
    pub heading: String,
    /// On which side the cells line up.
    pub align: Align,
    /// Above zero for a column that a narrow terminal can do without: the
    /// highest is left out first.
    pub optional: u8,
}

impl Column {
    /// A column that lines up as its cells suggest.
    pub fn new(heading: impl Into<String>) -> Self {
        Self {
            heading: heading.into(),
            align: Align::Auto,
            optional: 0,
        }
    }

    /// A column of words.
    pub fn text(heading: impl Into<String>) -> Self {
        Self {
            heading: heading.into(),
            align: Align::Left,
            optional: 0,
        }
    }

    /// A column of numbers.
    pub fn number(heading: impl Into<String>) -> Self {
        Self {
            heading: heading.into(),
            align: Align::Right,
            optional: 0,
        }
    }

    /// Lets a narrow terminal leave the column out, the highest `rank` first.
    #[must_use]
    pub fn optional(mut self, rank: u8) -> Self {
        self.optional = rank;
        self
    }
}

/// What a cell says beside its text: a colour in a terminal and on a page,
/// nothing in Markdown. Never the only bearer of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing.
    #[default]
    Plain,
    /// As it should be.
    Good,
    /// Look here.
    Warn,
    /// Not as it should be.
    Bad,
    /// Less important.
    Faint,
    /// More important.
    Strong,
}

/// A text with a tone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The text; one line.
    pub text: String,
    /// The tone.
    pub tone: Tone,
}

impl Cell {
    /// A plain cell.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            tone: Tone::Plain,
        }
    }

    /// Sets the tone.
    #[must_use]
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    Cells(Vec<Cell>),
    Rule,
}

/// A table. Rows may be shorter or longer than the list of columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

    /// Sets the line above the table.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the line below the table.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Adds a row.
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

    /// The table with its first `rows` rows and, where it has more, a row that
    /// says how many are not shown. Totals stay.
    #[must_use]
    pub fn folded(mut self, rows: usize) -> Self {
        let more = self.len().saturating_sub(rows);
        if more > 1 {
            self.rows.truncate(rows);
            self.row([Cell::new(format!("... {more} more")).tone(Tone::Faint)]);
        }
        self
    }

    /// The number of rows, without rules and totals.
    pub fn len(&self) -> usize {
        self.rows
            .iter()
            .filter(|row| matches!(row, Row::Cells(_)))
            .count()
    }

    /// Whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lays the table out for a terminal; `colour` paints the tones with ANSI
    /// escapes. The caller knows whether the output is a terminal and whether
    /// `NO_COLOR` is set.
    pub fn to_text(&self, colour: bool) -> String {
        text::write(self, colour, usize::MAX)
    }

    /// The same for a terminal of `width` characters: optional columns are left
    /// out and long words are cut where the table would be wider.
    pub fn to_text_within(&self, colour: bool, width: usize) -> String {
        text::write(self, colour, width)
    }

    /// Writes the table as Markdown, with columns padded so that the source
    /// reads well too.
    pub fn to_markdown(&self) -> String {
        markdown::write(self)
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
/// steer the terminal.
fn one_line(text: &str) -> String {
    text.trim()
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
