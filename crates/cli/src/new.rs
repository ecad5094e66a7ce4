//! `bentpipe new`: a commented scenario to begin with.

use crate::args;
use crate::exit::{Failure, Status};
use crate::output::Output;
use bentpipe_outcome::write_whole;

/// Writes the file, unless there is one.
pub(crate) fn main(args: &args::New, out: &mut Output) -> Result<Status, Failure> {
    let file = &args.file;
    if file.as_os_str() == "-" {
        // As elsewhere `-` is no file.
        out.text(bentpipe_scenario::template())?;
        return Ok(Status::Done);
    }
    if file.is_dir() {
        return Err(Failure::new(format!("`{}` is a folder", file.display())));
    }
    if file.exists() && !args.force {
        return Err(Failure::new(format!(
            "`{}` exists; --force replaces it",
            file.display()
        )));
    }
    write_whole(file, bentpipe_scenario::template().as_bytes())
        .map_err(|e| Failure::new(e.to_string()))?;
    out.line(format_args!(
        "wrote {0}; now: bentpipe run {0}",
        file.display()
    ))?;
    Ok(Status::Done)
}
