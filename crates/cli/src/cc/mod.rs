//! `bentpipe cc`: congestion controls of one's own.

mod check;
mod new;

use crate::args::CcCommand;
use crate::exit::{Failure, Status};
use crate::output::Output;

/// Makes or checks one.
pub(crate) fn main(command: &CcCommand, out: &mut Output) -> Result<Status, Failure> {
    match command {
        CcCommand::New(args) => new::main(args, out),
        CcCommand::Check(args) => check::main(args, out),
    }
}
