//! `bentpipe gateway keys`: the key of a box.

use crate::args::gateway::GatewayKeys;
use crate::exit::{Failure, Status, talk};
use crate::output::Output;
use bentpipe_gateway::tunnel::keys::{Identity, KeyError};
use serde_json::json;

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Failure {
        Failure::new(error.to_string())
    }
}

/// Makes a key where there is none; prints the public one.
pub(super) fn main(args: &GatewayKeys, out: &mut Output) -> Result<Status, Failure> {
    if args.file.extension().is_some_and(|ending| ending == "toml") {
        return Err(Failure::new(format!(
            "`{}` is the name of a configuration; a key has a file of its own, such as `{}`",
            args.file.display(),
            args.file.with_extension("key").display()
        )));
    }
    let made = !args.show && !args.file.exists();
    let identity = if made {
        let identity = Identity::generate()?;
        identity.write_new(&args.file)?;
        identity
    } else {
        Identity::read(&args.file)?
    };
    let public = identity.public().to_string();
    if args.json {
        out.json(&json!({ "file": args.file, "made": made, "public": public }))?;
        return Ok(Status::Done);
    }
    out.text(&format!("{public}\n"))?;
    if made {
        talk(format_args!(
            "the private key is in `{}`, for its owner only; on standard output is the public one, \
             for the `peers` of the other box",
            args.file.display()
        ));
    }
    Ok(Status::Done)
}
