//! `bentpipe schema`: the language of scenarios, and the tables of results.

use crate::args;
use crate::exit::{Failure, Status};
use crate::help::print_section;
use crate::output::Output;
use bentpipe_document::reference;

/// Prints every table and key.
pub(crate) fn main(args: &args::Schema, out: &mut Output) -> Result<Status, Failure> {
    let schema = bentpipe_scenario::schema();
    if args.results {
        match args.json {
            true => out.json(&bentpipe_study::data_schema())?,
            false => out.text(&bentpipe_study::data_reference())?,
        }
    } else if args.json {
        out.json(&reference::json_schema(schema, "A scenario of bentpipe"))?;
    } else if args.markdown {
        out.text(&bentpipe_scenario::reference())?;
    } else {
        for section in schema.all() {
            print_section(section, out)?;
            out.line("")?;
        }
    }
    Ok(Status::Done)
}
