//! `bentpipe cc`, and `--cc` of other commands: congestion controls of one's own.

mod check;
mod new;

use crate::args::{CcCommand, OwnControls};
use crate::exit::{Failure, Status};
use crate::output::Output;
use bentpipe_cc::OwnControl;
use std::path::Path;

/// Makes or checks one.
pub(crate) fn main(command: &CcCommand, out: &mut Output) -> Result<Status, Failure> {
    match command {
        CcCommand::New(args) => new::main(args, out),
        CcCommand::Check(args) => check::main(args, out),
    }
}

/// Loads what `--cc` names and makes it known in this process.
pub(crate) fn register(args: &OwnControls) -> Result<(), Failure> {
    let mut given: Vec<(OwnControl, &str)> = Vec::new();
    for text in &args.files {
        let control = load(text)?;
        let same = given
            .iter()
            .find(|(other, _)| other.name() == control.name());
        if let Some((_, other)) = same {
            return Err(Failure::new(format!(
                "--cc {other} and --cc {text} are both named `{0}`: expected another name for \
                 one of them, such as --cc {0}-2={text}",
                control.name()
            )));
        }
        given.push((control, text));
    }
    for (control, _) in given {
        bentpipe_tcp::register_control(control).map_err(|e| Failure::new(format!("--cc: {e}")))?;
    }
    Ok(())
}

/// The control of `[NAME=]FILE`.
fn load(text: &str) -> Result<OwnControl, Failure> {
    let (name, file) = match text.split_once('=') {
        // A path may have an equals sign.
        Some((name, file)) if !name.contains(['/', '\\']) => (Some(name), file),
        _ => (None, text),
    };
    bentpipe_plugin::load_as(name, Path::new(file)).map_err(|e| Failure::new(e.to_string()))
}
