//! The bentpipe command.
//!
//! [`main`] is all of it. One module per subcommand; `args` says what each one
//! takes, `output` what they print with, `exit` how they end. stdout is data, stderr
//! is talk. Only this crate reads clocks and the environment.

mod args;
mod capture;
mod cc;
mod check;
mod compare;
mod diff;
mod doctor;
mod emulate;
mod exit;
mod explore;
mod fit;
mod gateway;
mod generate;
mod help;
mod kernel;
mod live;
mod load;
mod map;
mod new;
mod output;
mod outputs;
mod packetdrill;
mod progress;
mod recorded;
mod reproduce;
mod run;
mod schema;
mod shards;
mod slurm;
mod study;
mod trace;
mod transports;

use args::Command;
use exit::{Failure, Status};
use output::Output;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the command line `arguments`, the program's name first, and says with
/// which status the process shall end: 0 done, 1 ran but a check changed for the worse, an
/// emulator did not keep up, no download ended, `diff` found differences or a script did not pass, 2 could not run.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(status(arguments))
}

/// As [`main`], with the status as a number.
pub fn status(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = match args::parse(&arguments, output::width()) {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    let mut out = output::stdout();
    if cli.wide {
        out.show_all_columns();
    }
    let result = dispatch(cli.command, &arguments, &mut out).and_then(|status| {
        out.flush()?;
        Ok(status)
    });
    exit::code(result)
}

fn dispatch(command: Command, arguments: &[OsString], out: &mut Output) -> Result<Status, Failure> {
    // Not where this process is the trial.
    if !matches!(command, Command::Cc(_)) {
        bentpipe_plugin::try_before_first_use(cc::before_first_use);
    }
    if let Some(own) = command.own_controls() {
        bentpipe::register_files(&own.files)?;
    }
    match command {
        Command::Compare(args) => compare::main(&args, arguments, out),
        Command::Fit(args) => fit::main(&args, out),
        Command::Run(args) => run::main(&args, out),
        Command::Check(args) => check::main(&args, out),
        Command::Diff(args) => diff::main(&args, out),
        Command::Map(args) => map::main(&args, out),
        Command::Study(args) => study::main(&args, out),
        Command::Reproduce(args) => reproduce::main(&args, out),
        Command::Explore(args) => explore::main(&args, out),
        Command::Trace(args) => trace::main(&args, out),
        Command::Packetdrill(args) => packetdrill::main(&args, out),
        Command::Emulate(args) => emulate::main(&args, out),
        Command::Gateway(args) => gateway::main(&args, out),
        Command::Transports(args) => transports::main(&args, out),
        Command::Cc(args) => cc::main(&args.command, out),
        Command::Kernel(args) => kernel::main(&args.command, out),
        Command::New(args) => new::main(&args, out),
        Command::Schema(args) => schema::main(&args, out),
        Command::Doctor(args) => doctor::main(&args, out),
        Command::Completions(args) => generate::completions(&args, out),
        Command::Man(args) => generate::man(&args, out),
        Command::Help(args) => help::main(&args, out),
    }
}
