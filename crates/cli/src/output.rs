//! The terminal: stdout and stderr with their widths and colours, and pictures as files.

use crate::exit::Failure;
use bentpipe_outcome::write_whole;
pub(crate) use bentpipe_present::output::{Output, number, printed};
use bentpipe_report::plot::Chart;
use std::io::{self, IsTerminal};
use std::path::Path;

/// Characters of a line where there is no terminal.
const NO_TERMINAL: usize = 100;

/// The process' stdout; in colour if it is a terminal and `NO_COLOR` is not set. It takes
/// data, and nothing else.
pub(crate) fn stdout() -> Output {
    let stdout = io::stdout();
    let colour = is_screen(&stdout) && wants_colour();
    Output::new(stdout, colour, width())
}

/// stderr, for what is talk because stdout is another program's.
#[cfg(all(feature = "linux", target_os = "linux"))]
pub(crate) fn stderr(out: &Output) -> Output {
    let width = talk_width().unwrap_or(NO_TERMINAL);
    out.elsewhere(io::stderr(), stderr_colour(), width)
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

/// Whether `to` is a terminal that understands escapes: a dumb one prints them as they are.
pub(crate) fn is_screen(to: &impl IsTerminal) -> bool {
    to.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether talk on stderr may be in colour.
pub(crate) fn stderr_colour() -> bool {
    is_screen(&io::stderr()) && wants_colour()
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
