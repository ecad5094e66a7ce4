//! `bentpipe fit`: the link behind a captured connection.

use crate::args;
use crate::exit::{Failure, Status, talk};
use crate::output::Output;
use crate::outputs;
use crate::progress::patiently;
use bentpipe_outcome::write_whole;
use bentpipe_present::fit;
use std::path::PathBuf;

/// Fits and prints.
pub(crate) fn main(args: &args::Fit, out: &mut Output) -> Result<Status, Failure> {
    let read = [args.capture.clone()];
    outputs::check(&read, args.out.iter().map(PathBuf::as_path))?;
    let what = format!("fitting a link to `{}`", args.capture.display());
    let found = patiently(&what, || bentpipe::fit(&args.capture, args.flow.as_deref()))?;
    match args.json {
        true => out.json(&fit::document(&found))?,
        false => fit::print(&found, out)?,
    }
    if let Some(file) = &args.out {
        write_whole(file, found.scenario().as_bytes()).map_err(|e| Failure::new(e.to_string()))?;
        talk(format_args!("wrote {}", file.display()));
    }
    Ok(Status::Done)
}
