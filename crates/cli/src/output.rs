//! What commands print with: stdout, tables, numbers, JSON, files.

use crate::exit::Failure;
use bentpipe_outcome::write_whole;
use bentpipe_report::plot::Chart;
use bentpipe_report::table::{Table, wrap};
pub(crate) use bentpipe_report::text::{digits3, percent, seconds};
use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

/// stdout, buffered: data, and nothing else.
pub(crate) struct Output {
    to: BufWriter<Box<dyn Write>>,
    colour: bool,
    /// Characters of a line; of a terminal, its own.
    width: usize,
    /// Rows of a long table that are shown.
    rows: usize,
}

/// Rows of a long table that are shown without `--all`.
const ROWS: usize = 20;

/// Characters of a line of text.
const LINE: usize = 98;

impl Output {
    /// The process' stdout; in colour if it is a terminal and `NO_COLOR` is
    /// not set.
    pub(crate) fn stdout() -> Output {
        let stdout = io::stdout();
        let colour = stdout.is_terminal() && wants_colour();
        let width = terminal_size::terminal_size_of(&stdout);
        Output {
            to: BufWriter::new(Box::new(stdout)),
            colour,
            width: width.map_or(usize::MAX, |(width, _)| usize::from(width.0).max(40)),
            rows: ROWS,
        }
    }

    /// To stderr, for what is talk because stdout is another program's.
    #[cfg(all(feature = "linux", target_os = "linux"))]
    pub(crate) fn stderr() -> Output {
        Output {
            to: BufWriter::new(Box::new(io::stderr())),
            colour: stderr_colour(),
            width: usize::MAX,
            rows: ROWS,
        }
    }

    /// Characters of a line of text.
    fn line_width(&self) -> usize {
        LINE.min(self.width)
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, text: impl fmt::Display) -> Result<(), Failure> {
        Ok(writeln!(self.to, "{text}")?)
    }

    /// Writes a line that stands out in a terminal.
    pub(crate) fn strong(&mut self, text: impl fmt::Display) -> Result<(), Failure> {
        if self.colour {
            return self.line(format_args!("\u{1b}[1m{text}\u{1b}[0m"));
        }
        self.line(text)
    }

    /// Writes a paragraph that stands out in a terminal.
    #[cfg(all(feature = "linux", target_os = "linux"))]
    pub(crate) fn strong_paragraph(&mut self, text: &str) -> Result<(), Failure> {
        for line in wrap(text, self.line_width()) {
            self.strong(line)?;
        }
        Ok(())
    }

    /// Writes a text as it is.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.to.write_all(text.as_bytes())?)
    }

    /// Writes a paragraph, broken at 98 columns, each line after `indent`
    /// blanks. It may be a text of a file: control characters, which could move
    /// the cursor of a terminal, are replaced.
    pub(crate) fn paragraph(&mut self, indent: usize, text: &str) -> Result<(), Failure> {
        let text = text.replace(|c: char| c.is_control() && !c.is_whitespace(), "\u{fffd}");
        for line in wrap(&text, self.line_width().saturating_sub(indent)) {
            self.line(format_args!("{:indent$}{line}", ""))?;
        }
        Ok(())
    }

    /// Writes a point of a list, broken at 98 columns.
    pub(crate) fn point(&mut self, text: &str) -> Result<(), Failure> {
        for (i, line) in wrap(text, self.line_width() - 4).into_iter().enumerate() {
            self.line(format_args!(
                "{} {line}",
                if i == 0 { "  -" } else { "   " }
            ))?;
        }
        Ok(())
    }

    /// Shows every row of long tables.
    pub(crate) fn show_all_rows(&mut self) {
        self.rows = usize::MAX;
    }

    /// Writes a table, no wider than the terminal where that can be.
    pub(crate) fn table(&mut self, table: &Table) -> Result<(), Failure> {
        let text = table.to_text_within(self.colour, self.width);
        self.text(&text)
    }

    /// Writes a table that may be long: its first rows and its totals, or all
    /// of it where that was asked for.
    pub(crate) fn long_table(&mut self, table: Table) -> Result<(), Failure> {
        self.table(&table.folded(self.rows))
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

/// Draws `chart` into `path`, whose ending says how: `.svg` or `.png`.
pub(crate) fn draw(chart: &Chart, path: &Path) -> Result<(), Failure> {
    let svg = chart.to_svg();
    let content = match picture_kind(path)? {
        Picture::Svg => svg.into_bytes(),
        Picture::Png => {
            bentpipe_report::png::render(&svg, 2.0).map_err(|e| Failure::file("draw", path, e))?
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
}

/// The kind of picture that `path` asks for; checked before long work begins.
pub(crate) fn picture_kind(path: &Path) -> Result<Picture, Failure> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("svg") => Ok(Picture::Svg),
        Some("png") => Ok(Picture::Png),
        _ => Err(Failure::new(format!(
            "cannot tell what kind of picture `{}` is: the name must end in .svg or .png",
            path.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("a bb ccc dddddd", 4), ["a bb", "ccc", "dddddd"]);
        assert!(wrap("", 10).is_empty());
    }

    #[test]
    fn a_picture_is_known_by_its_ending() {
        assert!(matches!(picture_kind(Path::new("a.SVG")), Ok(Picture::Svg)));
        assert!(picture_kind(Path::new("plot")).is_err());
    }
}
