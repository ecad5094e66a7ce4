//! `bentpipe schema`: the languages of scenarios and studies, and the tables of results.

use crate::args;
use crate::exit::{Failure, Status};
use crate::output::Output;
use bentpipe_document::reference;
use bentpipe_present::schema::print_section;

/// Prints every table and key.
pub(crate) fn main(args: &args::Schema, out: &mut Output) -> Result<Status, Failure> {
    let schema = match args.study {
        true => bentpipe_study::schema(),
        false => bentpipe_scenario::schema(),
    };
    if args.results {
        match args.json {
            true => out.json(&bentpipe_study::data_schema())?,
            false => out.text(&bentpipe_study::data_reference())?,
        }
    } else if args.json {
        let title = match args.study {
            true => "A study of bentpipe",
            false => "A scenario of bentpipe",
        };
        out.json(&reference::json_schema(schema, title))?;
    } else if args.markdown {
        out.text(&match args.study {
            true => bentpipe_study::study_reference(),
            false => bentpipe_scenario::reference(),
        })?;
    } else {
        for section in schema.all() {
            print_section(section, out)?;
            out.line("")?;
        }
    }
    Ok(Status::Done)
}
