//! The bentpipe command: see [`bentpipe::main`].

use std::process::ExitCode;

fn main() -> ExitCode {
    bentpipe::main(std::env::args_os())
}
