//! `bentpipe diff`: what differs between two results or scenarios.

use crate::args;
use crate::exit::{Failure, Status};
use crate::load;
use crate::output::Output;
use bentpipe::diff::{Subject, diff};
use bentpipe_present::diff as shown;
use std::path::Path;

/// What a folder of `bentpipe run --out` has.
const OUTCOME: &str = "outcome.json";

/// Compares and prints; the status says whether they differ.
pub(crate) fn main(args: &args::Diff, out: &mut Output) -> Result<Status, Failure> {
    if args.all {
        out.show_all_rows();
    }
    let (before, after) = (subject(&args.before)?, subject(&args.after)?);
    let found = diff(&before, &after)?;
    if args.json {
        out.json(&found)?;
    } else {
        let names = [&args.before, &args.after].map(|path| path.display().to_string());
        shown::print(&found, &names, out)?;
    }
    Ok(match found.is_same() {
        true => Status::Done,
        false => Status::Worse,
    })
}

/// What is in a file or folder.
fn subject(path: &Path) -> Result<Subject, Failure> {
    if path.is_dir() {
        let file = path.join(OUTCOME);
        if !file.exists() {
            return Err(Failure::new(format!(
                "`{}` has no {OUTCOME}: it is no folder that `bentpipe run --out` wrote{}",
                path.display(),
                match path.join("simulated").join(OUTCOME).exists() {
                    true => "; with --on both it wrote `simulated` and `measured` in it",
                    false => "",
                }
            )));
        }
        return subject(&file);
    }
    let content = load::bytes(path)?;
    let is_json = content.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    if is_json {
        let text = String::from_utf8_lossy(&content);
        return Subject::json(&text)
            .map_err(|error| Failure::new(format!("`{}`: {error}", path.display())));
    }
    if bentpipe::study::is_study(&content) {
        return Err(Failure::new(format!(
            "`{}` is a study; answers, outcomes and scenarios can be compared",
            path.display()
        )));
    }
    let file = load::parse(path, &content, &[])?;
    Ok(Subject::scenario(load::checked(&file)?))
}
