//! Text for people: lines, paragraphs, tables and JSON, no wider than a terminal.

use crate::measures::Folded;
use bentpipe_document::printable;
use bentpipe_report::table::{Table, break_line, command_lines, wrap};
pub use bentpipe_report::text::{digits3, percent, seconds};
use std::cell::RefCell;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::rc::Rc;

/// Where a text goes, buffered. Methods fail only where the writer behind it does.
///
/// No line is wider than the terminal. Tables leave columns out and say which; lines and
/// paragraphs break between words; commands to paste break with a `\`. A single word that
/// is wider, such as a path, stays whole, since it could not be copied otherwise.
pub struct Output {
    to: BufWriter<Box<dyn Write>>,
    colour: bool,
    /// Characters of a line.
    width: usize,
    /// Whether tables may be wider.
    wide: bool,
    /// Rows of a long table that are shown.
    rows: usize,
    /// Where tables go that are kept as such, and the text that stands before them.
    kept: Option<(Text, Kept)>,
}

/// What was printed, with its tables as such.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Printed {
    /// The tables, each with the text before it.
    pub tables: Vec<(String, Table)>,
    /// The text behind the last of them.
    pub rest: String,
}

/// Tables that were kept as such, each with the text before it.
type Kept = Rc<RefCell<Vec<(String, Table)>>>;

/// Rows of a long table that are shown without `--all`.
const ROWS: usize = 20;

/// Characters of a line of text at most: longer ones are hard to read.
const LINE: usize = 98;

/// What a table says of columns that it has left out.
const REMEDY: &str = "--wide shows them";

impl Output {
    /// Into `to`, in lines of `width` characters, painted for a terminal if `colour` is true.
    pub fn new(to: impl Write + 'static, colour: bool, width: usize) -> Output {
        Output {
            to: BufWriter::new(Box::new(to)),
            colour,
            width,
            wide: false,
            rows: ROWS,
            kept: None,
        }
    }

    /// Into another writer, with as many columns and rows of tables as this one shows.
    pub fn elsewhere(&self, to: impl Write + 'static, colour: bool, width: usize) -> Output {
        Output {
            wide: self.wide,
            rows: self.rows,
            ..Output::new(to, colour, width)
        }
    }

    /// What `print` writes, in lines of `width` characters.
    ///
    /// # Errors
    /// That of `print`.
    pub fn text_of<E>(
        width: usize,
        print: impl FnOnce(&mut Output) -> Result<(), E>,
    ) -> Result<String, E> {
        let text = Text::default();
        let mut out = Output::new(text.clone(), false, width);
        print(&mut out)?;
        drop(out);
        Ok(text.take())
    }

    /// The tables that `print` writes, each of at most `rows` rows.
    ///
    /// # Errors
    /// That of `print`.
    pub fn tables_of<E>(
        rows: usize,
        print: impl FnOnce(&mut Output) -> Result<(), E>,
    ) -> Result<Printed, E> {
        let (text, kept) = (Text::default(), Kept::default());
        let mut out = Output {
            rows,
            kept: Some((text.clone(), Rc::clone(&kept))),
            ..Output::new(text.clone(), false, usize::MAX)
        };
        print(&mut out)?;
        drop(out);
        Ok(Printed {
            tables: kept.take(),
            rest: text.take(),
        })
    }

    /// Whether it may be painted.
    pub fn is_coloured(&self) -> bool {
        self.colour
    }

    /// Characters of a line of text.
    pub fn line_width(&self) -> usize {
        match self.kept {
            // Whoever takes the tables apart fills the lines.
            Some(_) => self.width,
            None => LINE.min(self.width),
        }
    }

    /// Writes a line; one that is too wide goes on below, with the same indentation.
    pub fn line(&mut self, text: impl fmt::Display) -> io::Result<()> {
        self.painted(None, &text.to_string())
    }

    /// Writes a line that stands out in a terminal.
    pub fn strong(&mut self, text: impl fmt::Display) -> io::Result<()> {
        self.painted(Some("1"), &text.to_string())
    }

    fn painted(&mut self, code: Option<&str>, text: &str) -> io::Result<()> {
        let text = printed(text);
        if text.is_empty() {
            return Ok(writeln!(self.to)?);
        }
        for line in text.lines().flat_map(|line| break_line(line, self.width)) {
            match code.filter(|_| self.colour) {
                Some(code) => writeln!(self.to, "\u{1b}[{code}m{line}\u{1b}[0m")?,
                None => writeln!(self.to, "{line}")?,
            }
        }
        Ok(())
    }

    /// Writes a paragraph that stands out in a terminal.
    pub fn strong_paragraph(&mut self, text: &str) -> io::Result<()> {
        for line in wrap(text, self.line_width()) {
            self.strong(line)?;
        }
        Ok(())
    }

    /// Writes a text as it is, however wide: data for other programs.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.to.write_all(text.as_bytes())
    }

    /// Writes a paragraph, broken at 98 columns or those of the terminal, each line after
    /// `indent` blanks.
    pub fn paragraph(&mut self, indent: usize, text: &str) -> io::Result<()> {
        for line in wrap(text, self.line_width().saturating_sub(indent)) {
            self.line(format_args!("{:indent$}{line}", ""))?;
        }
        Ok(())
    }

    /// Writes a point of a list, broken as a paragraph.
    pub fn point(&mut self, text: &str) -> io::Result<()> {
        self.entry(2, "-", 1, text)
    }

    /// Writes a term and its text side by side: the term after `indent` blanks, the text
    /// in lines of their own column after `width` for the term. Where that leaves little
    /// room, the text goes below the term.
    pub fn entry(&mut self, indent: usize, term: &str, width: usize, text: &str) -> io::Result<()> {
        let gap = if width <= 2 { 1 } else { 2 };
        let column = indent + width + gap;
        let term_width = term.chars().count();
        let below = self.line_width() < column + LEAST_TEXT || term_width > width;
        if below && width > 2 {
            self.line(format_args!("{:indent$}{term}", ""))?;
            return self.paragraph(indent + 4, text);
        }
        let lines = wrap(text, self.line_width() - column);
        if lines.is_empty() {
            return self.line(format_args!("{:indent$}{term}", ""));
        }
        for (i, line) in lines.into_iter().enumerate() {
            let term = if i == 0 { term } else { "" };
            self.line(format_args!("{:indent$}{term:width$}{:gap$}{line}", "", ""))?;
        }
        Ok(())
    }

    /// Writes a command to paste, after `indent` blanks; one that is too wide is broken
    /// with `\`, as a shell takes it.
    pub fn command(&mut self, indent: usize, command: &str) -> io::Result<()> {
        let command = printed(command);
        for line in command_lines(&command, indent, self.width) {
            writeln!(self.to, "{line}")?;
        }
        Ok(())
    }

    /// Shows every row of long tables.
    pub fn show_all_rows(&mut self) {
        self.rows = usize::MAX;
    }

    /// Shows every column of wide tables.
    pub fn show_all_columns(&mut self) {
        self.wide = true;
    }

    /// Writes a table, no wider than the terminal unless that was asked for.
    pub fn table(&mut self, table: &Table) -> io::Result<()> {
        if let Some((text, kept)) = &self.kept {
            self.to.flush()?;
            kept.borrow_mut().push((text.take(), table.clone()));
            return Ok(());
        }
        let width = if self.wide { usize::MAX } else { self.width };
        let text = table.to_text_within(self.colour, width, REMEDY);
        self.text(&text)
    }

    /// True if every column of a table is shown, however wide.
    pub fn is_wide(&self) -> bool {
        self.wide
    }

    /// True if a table fits with all of its columns and names, headings perhaps over
    /// several lines.
    pub fn holds(&self, table: &Table) -> bool {
        const LEFT_OUT: &str = "\u{1}";
        let text = table.to_text_within(false, self.width, LEFT_OUT);
        let text = text.as_str();
        !text.contains(LEFT_OUT) && !text.contains('\u{2026}')
    }

    /// Writes a table that may be long: its first rows and its totals, or all
    /// of it where that was asked for.
    pub fn long_table(&mut self, table: Table) -> io::Result<()> {
        self.table(&table.folded(self.rows))
    }

    /// Rows of a long table that are shown.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Writes a table that may be of groups, with what its columns mean.
    pub(crate) fn folded(&mut self, folded: Folded, note: &str) -> io::Result<()> {
        let note = match &folded.note {
            Some(said) => format!("{said} {note}"),
            None => note.to_owned(),
        };
        self.table(&folded.table.note(note))
    }

    /// Writes a JSON document and a line end.
    pub fn json(&mut self, value: &impl serde::Serialize) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut self.to, value).map_err(io::Error::from)?;
        self.line("")
    }

    /// The writer itself.
    pub fn writer(&mut self) -> &mut impl Write {
        &mut self.to
    }

    /// Hands everything over.
    pub fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// A text in memory.
#[derive(Clone, Default)]
struct Text(Rc<RefCell<Vec<u8>>>);

impl Text {
    /// The text; whole once its [`Output`] is dropped.
    fn take(&self) -> String {
        String::from_utf8_lossy(&self.0.take()).into_owned()
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Characters of text beside a term at least.
const LEAST_TEXT: usize = 30;

/// A text that cannot steer the terminal; it may be of a file.
pub fn printed(text: &str) -> String {
    printable(text).replace('\t', "    ")
}

/// A JSON number, or null for what JSON cannot hold.
pub fn number(x: f64) -> serde_json::Value {
    serde_json::Number::from_f64(x).map_or(serde_json::Value::Null, Into::into)
}

/// `; did you mean ...?`, or nothing.
#[must_use]
pub fn did_you_mean<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    bentpipe_cc::nearest(name, names)
        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}
