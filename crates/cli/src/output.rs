//! What commands print with: stdout, tables, numbers, JSON, files.

use crate::exit::Failure;
use crate::measures::Folded;
use bentpipe_document::printable;
use bentpipe_outcome::write_whole;
use bentpipe_report::plot::Chart;
use bentpipe_report::table::{Table, break_line, command_lines, wrap};
pub(crate) use bentpipe_report::text::{digits3, percent, seconds};
use std::cell::RefCell;
use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::rc::Rc;

/// stdout, buffered: data, and nothing else.
///
/// No line is wider than the terminal. Tables leave columns out and say which; lines and
/// paragraphs break between words; commands to paste break with a `\`. A single word that
/// is wider, such as a path, stays whole, since it could not be copied otherwise.
pub(crate) struct Output {
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

/// Tables that were kept as such, each with the text before it.
type Kept = Rc<RefCell<Vec<(String, Table)>>>;

/// Rows of a long table that are shown without `--all`.
const ROWS: usize = 20;

/// Characters of a line of text at most: longer ones are hard to read.
const LINE: usize = 98;

/// Characters of a line where there is no terminal.
const NO_TERMINAL: usize = 100;

/// What a table says of columns that it has left out.
const REMEDY: &str = "--wide shows them";

impl Output {
    /// The process' stdout; in colour if it is a terminal and `NO_COLOR` is
    /// not set.
    pub(crate) fn stdout() -> Output {
        let stdout = io::stdout();
        Output {
            colour: stdout.is_terminal() && wants_colour(),
            width: width(),
            to: BufWriter::new(Box::new(stdout)),
            wide: false,
            rows: ROWS,
            kept: None,
        }
    }

    /// Into a text, in lines of so many characters.
    pub(crate) fn text_of(width: usize) -> (Output, Text) {
        let text = Text::default();
        let out = Output {
            to: BufWriter::new(Box::new(text.clone())),
            colour: false,
            width,
            wide: false,
            rows: ROWS,
            kept: None,
        };
        (out, text)
    }

    /// The tables that `print` writes, each of at most `rows` rows with the text before it,
    /// and the text behind the last.
    #[cfg(feature = "explore")]
    pub(crate) fn tables_of(
        rows: usize,
        print: impl FnOnce(&mut Output) -> Result<(), Failure>,
    ) -> Result<(Vec<(String, Table)>, String), Failure> {
        let (mut out, text) = Output::text_of(usize::MAX);
        let kept = Kept::default();
        out.rows = rows;
        out.kept = Some((text.clone(), Rc::clone(&kept)));
        print(&mut out)?;
        drop(out);
        Ok((kept.take(), text.take()))
    }

    /// To stderr, for what is talk because stdout is another program's.
    #[cfg(all(feature = "linux", target_os = "linux"))]
    pub(crate) fn stderr(&self) -> Output {
        Output {
            to: BufWriter::new(Box::new(io::stderr())),
            colour: stderr_colour(),
            width: talk_width().unwrap_or(NO_TERMINAL),
            wide: self.wide,
            rows: self.rows,
            kept: None,
        }
    }

    /// Whether it may be painted.
    pub(crate) fn is_coloured(&self) -> bool {
        self.colour
    }

    /// Characters of a line of text.
    pub(crate) fn line_width(&self) -> usize {
        LINE.min(self.width)
    }

    /// Writes a line; one that is too wide goes on below, with the same indentation.
    pub(crate) fn line(&mut self, text: impl fmt::Display) -> Result<(), Failure> {
        self.painted(None, &text.to_string())
    }

    /// Writes a line that stands out in a terminal.
    pub(crate) fn strong(&mut self, text: impl fmt::Display) -> Result<(), Failure> {
        self.painted(Some("1"), &text.to_string())
    }

    fn painted(&mut self, code: Option<&str>, text: &str) -> Result<(), Failure> {
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
    #[cfg(all(feature = "linux", target_os = "linux"))]
    pub(crate) fn strong_paragraph(&mut self, text: &str) -> Result<(), Failure> {
        for line in wrap(text, self.line_width()) {
            self.strong(line)?;
        }
        Ok(())
    }

    /// Writes a text as it is, however wide: data for other programs.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.to.write_all(text.as_bytes())?)
    }

    /// Writes a paragraph, broken at 98 columns or those of the terminal, each line after
    /// `indent` blanks.
    pub(crate) fn paragraph(&mut self, indent: usize, text: &str) -> Result<(), Failure> {
        for line in wrap(text, self.line_width().saturating_sub(indent)) {
            self.line(format_args!("{:indent$}{line}", ""))?;
        }
        Ok(())
    }

    /// Writes a point of a list, broken as a paragraph.
    pub(crate) fn point(&mut self, text: &str) -> Result<(), Failure> {
        self.entry(2, "-", 1, text)
    }

    /// Writes a term and its text side by side: the term after `indent` blanks, the text
    /// in lines of their own column after `width` for the term. Where that leaves little
    /// room, the text goes below the term.
    pub(crate) fn entry(
        &mut self,
        indent: usize,
        term: &str,
        width: usize,
        text: &str,
    ) -> Result<(), Failure> {
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
    pub(crate) fn command(&mut self, indent: usize, command: &str) -> Result<(), Failure> {
        let command = printed(command);
        for line in command_lines(&command, indent, self.width) {
            writeln!(self.to, "{line}")?;
        }
        Ok(())
    }

    /// Shows every row of long tables.
    pub(crate) fn show_all_rows(&mut self) {
        self.rows = usize::MAX;
    }

    /// Shows every column of wide tables.
    pub(crate) fn show_all_columns(&mut self) {
        self.wide = true;
    }

    /// Writes a table, no wider than the terminal unless that was asked for.
    pub(crate) fn table(&mut self, table: &Table) -> Result<(), Failure> {
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
    pub(crate) fn is_wide(&self) -> bool {
        self.wide
    }

    /// True if a table fits with all of its columns and names, headings perhaps over
    /// several lines.
    pub(crate) fn holds(&self, table: &Table) -> bool {
        const LEFT_OUT: &str = "\u{1}";
        let text = table.to_text_within(false, self.width, LEFT_OUT);
        let text = text.as_str();
        !text.contains(LEFT_OUT) && !text.contains('\u{2026}')
    }

    /// Writes a table that may be long: its first rows and its totals, or all
    /// of it where that was asked for.
    pub(crate) fn long_table(&mut self, table: Table) -> Result<(), Failure> {
        self.table(&table.folded(self.rows))
    }

    /// Rows of a long table that are shown.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Writes a table that may be of groups, with what its columns mean.
    pub(crate) fn folded(&mut self, folded: Folded, note: &str) -> Result<(), Failure> {
        let note = match &folded.note {
            Some(said) => format!("{said} {note}"),
            None => note.to_owned(),
        };
        self.table(&folded.table.note(note))
    }

    /// Writes a JSON document and a line end.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> Result<(), Failure> {
        serde_json::to_writer_pretty(&mut self.to, value).map_err(io::Error::from)?;
        self.line("")
    }

    /// The writer itself.
    pub(crate) fn writer(&mut self) -> &mut impl Write {
        &mut self.to
    }

    /// Hands everything over.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.to.flush()?)
    }
}

/// What was written with [`Output::text_of`].
#[derive(Clone, Default)]
pub(crate) struct Text(Rc<RefCell<Vec<u8>>>);

impl Text {
    /// The text; whole once its [`Output`] is dropped.
    pub(crate) fn take(&self) -> String {
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
pub(crate) fn printed(text: &str) -> String {
    printable(text).replace('\t', "    ")
}

/// Characters of a line of stdout: `COLUMNS` where it is set, else those of the terminal,
/// else 100.
pub(crate) fn width() -> usize {
    let terminal = || terminal_size::terminal_size_of(io::stdout());
    columns()
        .or_else(|| Some(usize::from(terminal()?.0.0)))
        .map_or(NO_TERMINAL, |n| n.max(NARROWEST))
}

/// The same of stderr; nothing where it is no terminal, since logs keep lines whole.
pub(crate) fn talk_width() -> Option<usize> {
    let terminal = || terminal_size::terminal_size_of(io::stderr());
    let width = columns().or_else(|| Some(usize::from(terminal()?.0.0)));
    width.map(|n| n.max(NARROWEST))
}

/// Terminals are not taken to be narrower.
const NARROWEST: usize = 40;

/// `COLUMNS`, by which a user says how wide the output may be.
fn columns() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok()?;
    columns.trim().parse().ok().filter(|n| *n > 0)
}

/// True unless `NO_COLOR` is set to something (no-color.org).
fn wants_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Whether talk on stderr may be in colour.
pub(crate) fn stderr_colour() -> bool {
    io::stderr().is_terminal() && wants_colour()
}

/// A JSON number, or null for what JSON cannot hold.
pub(crate) fn number(x: f64) -> serde_json::Value {
    serde_json::Number::from_f64(x).map_or(serde_json::Value::Null, Into::into)
}

/// Draws `chart` into `path`, whose ending says how: `.svg`, `.png` or `.pdf`.
pub(crate) fn draw(chart: &Chart, path: &Path) -> Result<(), Failure> {
    let svg = chart.to_svg();
    let content = match picture_kind(path)? {
        Picture::Svg => svg.into_bytes(),
        Picture::Png => {
            bentpipe_report::png::render(&svg, 2.0).map_err(|e| Failure::file("draw", path, e))?
        }
        Picture::Pdf => {
            bentpipe_report::pdf::render(&svg).map_err(|e| Failure::file("draw", path, e))?
        }
    };
    write_whole(path, &content).map_err(|e| Failure::new(e.to_string()))
}

/// What a picture's name says that it is.
pub(crate) enum Picture {
    /// Scalable.
    Svg,
    /// Pixels.
    Png,
    /// A page.
    Pdf,
}

/// The kind of picture that `path` asks for; checked before long work begins.
pub(crate) fn picture_kind(path: &Path) -> Result<Picture, Failure> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("svg") => Ok(Picture::Svg),
        Some("png") => Ok(Picture::Png),
        Some("pdf") => Ok(Picture::Pdf),
        _ => Err(Failure::new(format!(
            "cannot tell what kind of picture `{}` is: the name must end in .svg, .png or .pdf",
            path.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_known_by_its_ending() {
        assert!(matches!(picture_kind(Path::new("a.SVG")), Ok(Picture::Svg)));
        assert!(picture_kind(Path::new("plot")).is_err());
    }
}
