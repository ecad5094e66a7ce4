//! `bentpipe transports`: what exists, and what each one is.

use crate::args;
use crate::exit::{Failure, Status};
use crate::output::Output;
use bentpipe_present::transports::{self, Found};

/// Lists or explains.
pub(crate) fn main(args: &args::Transports, out: &mut Output) -> Result<Status, Failure> {
    match &args.name {
        None if args.json => out.json(&transports::all())?,
        None => transports::print(out)?,
        Some(name) => {
            let found = Found::named(name).map_err(Failure::new)?;
            match args.json {
                true => out.json(&found.document())?,
                false => found.print(out)?,
            }
        }
    }
    Ok(Status::Done)
}
