//! The bentpipe command: see [`bentpipe_cli::main`].

use std::process::ExitCode;

fn main() -> ExitCode {
    bentpipe_cli::main(std::env::args_os())
}
