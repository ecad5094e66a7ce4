//! `bentpipe check`: what a file would run, or what is wrong with it.

use crate::args;
use crate::exit::{Failure, Status};
use crate::load;
use crate::output::Output;
use bentpipe_present::scenario;

/// Checks and describes.
pub(crate) fn main(args: &args::Check, out: &mut Output) -> Result<Status, Failure> {
    if args.all {
        out.show_all_rows();
    }
    let content = load::bytes(&args.file)?;
    if bentpipe::study::is_study(&content) {
        crate::study::check(&args.file, content, args.json, out)?;
        return Ok(Status::Done);
    }
    let (scenario, space) = load::survey(&load::parse(&args.file, &content, &args.set)?)?;
    if args.json {
        out.json(&scenario::document(&scenario))?;
    } else {
        scenario::print(&scenario, &space, out)?;
    }
    Ok(Status::Done)
}
