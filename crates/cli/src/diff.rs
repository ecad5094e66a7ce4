//! `bentpipe diff`: what differs between two results or scenarios.

use crate::args;
use crate::exit::{Failure, Status};
use crate::load;
use crate::output::Output;
use bentpipe::diff::{Subject, diff, file_at};
use bentpipe_present::diff as shown;
use std::path::Path;

/// Compares and prints; the status says whether they differ.
pub(crate) fn main(args: &args::Diff, out: &mut Output) -> Result<Status, Failure> {
    if args.all {
        out.show_all_rows();
    }
    let (before, after) = (subject(&args.before)?, subject(&args.after)?);
    let found = diff(&before, &after)?;
    if args.json {
        out.json(&shown::document(&found))?;
    } else {
        let names = [&args.before, &args.after].map(|path| path.display().to_string());
        shown::print(&found, &names, out)?;
    }
    Ok(match found.is_same() {
        true => Status::Done,
        false => Status::Worse,
    })
}

/// What is in a file or folder.
fn subject(path: &Path) -> Result<Subject, Failure> {
    let file = file_at(path)?;
    let content = load::bytes(&file)?;
    Ok(load::patient(|| {
        Subject::read(load::name(&file), &content)
    })?)
}
