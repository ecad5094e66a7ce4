//! The answer of a comparison: text, JSON, figures and a page.

pub mod by_users;
mod day;
mod json;
mod over_time;
mod plot;
mod print;
mod report;
mod robust;
mod scenario;
pub mod why;

pub use json::{
    AgainstRecord, AnswerRecord, BySizeRecord, ChangeRecord, HourRecord, RejectedRecord, RowName,
    TimesOfRow, TimesRecord, VerdictRecord, document, verdict,
};
pub use over_time::chart as curves;
pub use print::{
    all as print, behind, decimal as time, question, question_of as link_words, signed as change,
    table_of as table, words,
};
pub use report::{command, page};
pub use robust::{NeighbourRecord, RobustRecord, SensitivityRecord, TurnRecord};
pub use scenario::text as scenario;

use crate::output::Output;
use bentpipe::compare::{Answer, Build};
use bentpipe_report::plot::Chart;
use std::io;

/// What `bentpipe compare` prints, in lines of `width` characters; with `details` what
/// `--details` adds.
///
/// # Errors
/// If it cannot be printed.
pub fn text(answer: &Answer, build: Build, width: usize, details: bool) -> io::Result<String> {
    Output::text_of(width, |out| print(answer, build, details, out))
}

/// The figure of `bentpipe compare --plot`; `None` if nothing can be recommended.
#[must_use]
pub fn chart(answer: &Answer) -> Option<Chart> {
    answer.recommended()?;
    Some(match answer.day() {
        Some(day) => day::chart(answer, &day),
        None => plot::chart(answer),
    })
}
