//! `bentpipe compare capacity`: how many users does the link carry?

use super::BUILD;
use crate::args;
use crate::exit::{Failure, Status};
use crate::output::Output;
use crate::progress::Progress;
use bentpipe::compare::Comparison;
use bentpipe_present::capacity;

/// Seeks and prints.
pub(super) fn main(args: &args::Capacity, out: &mut Output) -> Result<Status, Failure> {
    let question = args.asked.0.clone().map_err(bentpipe::Error::from)?;
    let threads = args.threads.threads.map_or(0, usize::from);
    let comparison = Comparison::from(question).threads(threads);
    let progress = Progress::new("runs");
    let show = |done: usize, total: usize| progress.set(done as u64, total as u64);
    let found = comparison.capacity_with(args.until, &show)?;
    drop(progress);
    match args.json {
        true => out.json(&capacity::document(&found, BUILD))?,
        false => capacity::print(&found, BUILD, out)?,
    }
    Ok(Status::Done)
}
