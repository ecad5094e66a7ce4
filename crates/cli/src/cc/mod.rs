//! `bentpipe cc`: congestion controls of one's own.

mod battery;
mod check;
mod child;
mod new;
mod trial;

use crate::args::CcCommand;
use crate::exit::{Failure, Status};
use crate::output::Output;
pub(crate) use trial::{PATIENCE, before_first_use};

/// Makes or checks one.
pub(crate) fn main(command: &CcCommand, out: &mut Output) -> Result<Status, Failure> {
    match command {
        CcCommand::New(args) => new::main(args, out),
        CcCommand::Check(args) => check::main(args, out),
    }
}
