//! `bentpipe schema`: the language of scenarios.

use crate::args;
use crate::exit::{Failure, Status};
use crate::output::Output;
use bentpipe_document::reference;

/// Prints every table and key.
pub(crate) fn main(args: &args::Schema, out: &mut Output) -> Result<Status, Failure> {
    let schema = bentpipe_scenario::schema();
    let text = if args.json {
        let json = reference::json_schema(schema, "A scenario of bentpipe");
        format!("{json:#}\n")
    } else if args.markdown {
        bentpipe_scenario::reference()
    } else {
        reference::text(schema)
    };
    out.line(text.trim_end())?;
    Ok(Status::Done)
}
