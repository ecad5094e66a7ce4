//! `completions` and `man`: generated from the command line's own definition.

use crate::args::{Cli, Completions, Man};
use crate::exit::{Failure, Status};
use crate::output::Output;
use bentpipe_outcome::write_whole;
use clap::{Command, CommandFactory};
use std::path::Path;

/// `bentpipe completions SHELL`.
pub(crate) fn completions(args: &Completions, out: &mut Output) -> Result<Status, Failure> {
    // The generator panics if it cannot write: it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "bentpipe", &mut script);
    out.text(&String::from_utf8_lossy(&script))?;
    Ok(Status::Done)
}

/// `bentpipe man [DIR]`.
pub(crate) fn man(args: &Man, out: &mut Output) -> Result<Status, Failure> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = &args.dir else {
        clap_mangen::Man::new(command).render(out.writer())?;
        return Ok(Status::Done);
    };
    std::fs::create_dir_all(folder).map_err(|e| Failure::file("create", folder, e))?;
    pages(folder, "bentpipe", &command, out)?;
    Ok(Status::Done)
}

/// The page of a command and those of its subcommands.
fn pages(folder: &Path, name: &str, command: &Command, out: &mut Output) -> Result<(), Failure> {
    page(folder, name, command, out)?;
    for sub in command.get_subcommands() {
        pages(folder, &format!("{name}-{}", sub.get_name()), sub, out)?;
    }
    Ok(())
}

fn page(folder: &Path, name: &str, command: &Command, out: &mut Output) -> Result<(), Failure> {
    let mut text = Vec::new();
    let command = command.clone().display_name(name.to_owned());
    clap_mangen::Man::new(command)
        .title(name.to_owned())
        .render(&mut text)?;
    let path = folder.join(format!("{name}.1"));
    write_whole(&path, &text).map_err(|e| Failure::new(e.to_string()))?;
    Ok(out.text(&format!("{}\n", path.display()))?)
}
