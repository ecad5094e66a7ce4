//! The gateway without the rest of the command, for tests that need a process:
//! `cargo run -p bentpipe-gateway --example gateway -- ship.toml`.

use bentpipe_gateway::gateway::{Options, run};
use std::process::ExitCode;

#[allow(clippy::print_stderr, reason = "an error is for the terminal")]
fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("gateway FILE [--take-over]");
        return ExitCode::from(2);
    };
    let options = Options {
        file: file.into(),
        take_over: arguments.next().is_some_and(|it| it == "--take-over"),
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
