//! `bentpipe packetdrill`: scripts of packetdrill against a simulated TCP.

use crate::args;
use crate::exit::{Failure, Status, did_you_mean};
use crate::load;
use crate::output::{Output, stderr_colour, talk_width};
use bentpipe_packetdrill::{Settings, Suite};
use bentpipe_present::packetdrill as shown;
use bentpipe_tcp::HostProfile;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// How the names of scripts end.
const ENDING: &str = "pkt";

/// Folders in each other at most.
const DEEPEST: usize = 32;

/// Runs the scripts and prints; the status says whether all pass.
pub(crate) fn main(args: &args::Packetdrill, out: &mut Output) -> Result<Status, Failure> {
    if args.all {
        out.show_all_rows();
    }
    let settings = Settings {
        profile: profile(&args.profile)?,
        hz: args.hz,
    };
    let mut suite = Suite::new(&settings).map_err(|error| Failure::new(error.to_string()))?;
    let mut files = Vec::new();
    for path in &args.scripts {
        gather(path, 0, &mut files)?;
    }
    for path in &files {
        let name = load::name(path).display().to_string();
        let content = load::bytes(path)?;
        let text = String::from_utf8_lossy(&content);
        if let Err(errors) = suite.add(&name, &text, &settings) {
            let text = match talk_width() {
                Some(width) => errors.render_within(stderr_colour(), width),
                None => errors.render(stderr_colour()),
            };
            // Whether anybody listens does not matter.
            let _ = writeln!(std::io::stderr().lock(), "{}", text.trim_end());
        }
    }
    if args.json {
        out.json(&suite)?;
    } else {
        shown::print(&suite, out)?;
    }
    Ok(match (suite.passes(), suite.counts.unreadable) {
        (true, _) => Status::Done,
        (false, 0) => Status::Worse,
        (false, _) => Status::Of(2),
    })
}

fn profile(name: &str) -> Result<HostProfile, Failure> {
    let known = HostProfile::ALL.iter().find(|(known, _)| *known == name);
    known.map(|(_, profile)| *profile).ok_or_else(|| {
        let names = HostProfile::ALL.iter().map(|(name, _)| *name);
        Failure::new(format!(
            "unknown host profile `{name}`{}",
            did_you_mean(name, names)
        ))
    })
}

/// The scripts at `path`: the file, or those in the folder and in the folders in it, by name.
fn gather(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    if depth > DEEPEST {
        return Err(Failure::new(format!(
            "`{}` lies more than {DEEPEST} folders deep",
            path.display()
        )));
    }
    let read = |error| Failure::file("read", path, error);
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path).map_err(read)? {
        entries.push(entry.map_err(read)?.path());
    }
    entries.sort();
    let before = files.len();
    for entry in entries {
        if entry.is_dir() {
            gather(&entry, depth + 1, files)?;
        } else if entry.extension().is_some_and(|ending| ending == ENDING) {
            files.push(entry);
        }
    }
    if depth == 0 && files.len() == before {
        return Err(Failure::new(format!(
            "`{}` has no files *.{ENDING} in it",
            path.display()
        )));
    }
    Ok(())
}
