//! Reads scenario and study files, with errors that point at the line.

use crate::exit::{Failure, talk};
use bentpipe::{ScenarioFile, input};
use bentpipe_scenario::Scenario;
use bentpipe_scenario::space::Space;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// What stands for standard input.
const STDIN: &str = "-";

/// A note is printed if a pipe gives nothing for so long.
const PATIENCE: Duration = Duration::from_secs(1);

/// The content of the file at `path`, or of standard input for `-`.
///
/// A pipe may have no writer yet: what is waited for is said, so that nobody
/// wonders.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let stdin = path.as_os_str() == STDIN;
    if !stdin && std::fs::metadata(path).is_ok_and(|meta| meta.is_file() || meta.is_dir()) {
        return Ok(input::bytes(path).map_err(bentpipe::Error::from)?);
    }
    let (sender, receiver) = mpsc::channel();
    let name = path.to_path_buf();
    std::thread::spawn(move || {
        let content = if stdin {
            input::from(std::io::stdin().lock())
                .map_err(|e| Failure::new(format!("cannot read standard input: {e}")))
        } else {
            input::bytes(&name).map_err(|e| bentpipe::Error::from(e).into())
        };
        // The receiver waits until this is sent.
        let _ = sender.send(content);
    });
    let content = receiver.recv_timeout(PATIENCE).or_else(|_| {
        let what = match stdin {
            true => "standard input".to_owned(),
            false => format!("`{}`", path.display()),
        };
        talk(format_args!("waiting for {what} to end"));
        receiver.recv()
    });
    content.map_err(|_| Failure::new("the reader stopped"))?
}

/// What messages call the file at `path`.
pub(crate) fn name(path: &Path) -> &Path {
    match path.as_os_str() == STDIN {
        true => Path::new("<stdin>"),
        false => path,
    }
}

/// The scenario in `path`, with the values of `set` (`PATH=VALUE`) in place.
pub(crate) fn scenario(path: &Path, set: &[String]) -> Result<Scenario, Failure> {
    Ok(document(path, set)?.scenario()?)
}

/// As [`scenario`], with the constellations behind it.
pub(crate) fn survey(path: &Path, set: &[String]) -> Result<(Scenario, Space), Failure> {
    Ok(document(path, set)?.survey()?)
}

fn document(path: &Path, set: &[String]) -> Result<ScenarioFile, Failure> {
    let content = bytes(path)?;
    if bentpipe::study::is_study(&content) {
        return Err(Failure::new(format!(
            "`{0}` looks like a study, not a scenario; `bentpipe study {0}` runs it",
            path.display()
        )));
    }
    parse(path, &content, set)
}

/// The scenario in `content`, with the values of `set` in place.
pub(crate) fn parse(path: &Path, content: &[u8], set: &[String]) -> Result<ScenarioFile, Failure> {
    let mut file = ScenarioFile::parse(name(path), content)?;
    for assignment in set {
        let (key, value) = assignment.split_once('=').ok_or_else(|| {
            Failure::new(format!(
                "--set `{assignment}` has no `=`; write it as link.satellite.rate='5 Mbit/s'"
            ))
        })?;
        file.set(key.trim(), value)?;
    }
    Ok(file)
}
