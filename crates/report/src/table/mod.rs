//! Tables: laid out once, shown in a terminal or on a page.
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
//!
//! In a terminal that is too narrow, a table first wraps or shortens its columns of
//! words, then breaks its headings over several lines, then leaves columns out: those
//! with a rank, the highest first ([`Column::optional`]), and, only if that is not
//! enough, the others from the right. The first column always stays. A note says
//! which columns are not shown.

mod bar;
mod layout;
mod model;
mod text;
mod wrap;

pub use bar::{BarStyle, bar};
pub(crate) use model::Row;
pub use model::{Align, Cell, Column, Table, Tone};
pub use wrap::{break_line, command_lines, wrap};

impl Table {
    /// Lays the table out for a terminal; `colour` paints the tones with ANSI
    /// escapes. The caller knows whether the output is a terminal and whether
    /// `NO_COLOR` is set.
    pub fn to_text(&self, colour: bool) -> String {
        text::write(self, colour, usize::MAX, "")
    }

    /// Like the above for a terminal of `width` characters: no line is wider. If columns are left
    /// out, the note names them, followed by `remedy`, which tells how to see them: `--wide shows
    /// them`.
    pub fn to_text_within(&self, colour: bool, width: usize, remedy: &str) -> String {
        text::write(self, colour, width, remedy)
    }
}
