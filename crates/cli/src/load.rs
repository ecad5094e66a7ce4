//! Reads scenario and study files, with errors that point at the line.

use crate::exit::Failure;
use crate::progress::patiently;
use bentpipe::{ScenarioFile, input};
use bentpipe_scenario::Scenario;
use bentpipe_scenario::space::ExpandedConstellations;
use std::path::Path;

/// What stands for standard input.
const STDIN: &str = "-";

/// What takes long in a scenario.
const SET_UP: &str = "computing routes and the paths of satellites";

/// The content of the file at `path`, or of standard input for `-`. A pipe that
/// gives nothing is mentioned.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    if path.as_os_str() == STDIN {
        let read = || input::from(std::io::stdin().lock());
        return patiently("waiting for the end of standard input", read)
            .map_err(|e| Failure::new(format!("cannot read standard input: {e}")));
    }
    let what = format!("waiting for the end of `{}`", path.display());
    let content = patiently(&what, || input::bytes(path));
    Ok(content.map_err(bentpipe::Error::from)?)
}

/// What messages call the file at `path`. Files that a pipe names are seen from
/// the current folder.
pub(crate) fn name(path: &Path) -> &Path {
    if path.as_os_str() == STDIN || path == Path::new("/dev/stdin") {
        return Path::new("stdin");
    }
    match std::fs::metadata(path) {
        Ok(meta) if !meta.is_file() => Path::new("pipe"),
        _ => path,
    }
}

/// The scenario in `path`, with the values of `set` (`PATH=VALUE`) in place.
pub(crate) fn scenario(path: &Path, set: &[String]) -> Result<Scenario, Failure> {
    checked(&file(path, set)?)
}

/// The scenario of a file.
pub(crate) fn checked(file: &ScenarioFile) -> Result<Scenario, Failure> {
    Ok(patient(|| file.scenario())?)
}

/// What `set_up` makes of a scenario; what takes long in that is mentioned.
pub(crate) fn patient<T>(set_up: impl FnOnce() -> T) -> T {
    patiently(SET_UP, set_up)
}

/// As [`checked`], with the constellations behind it.
pub(crate) fn survey(file: &ScenarioFile) -> Result<(Scenario, ExpandedConstellations), Failure> {
    Ok(patiently(SET_UP, || file.survey())?)
}

/// The file at `path` with the values of `set` in place, not yet checked.
pub(crate) fn file(path: &Path, set: &[String]) -> Result<ScenarioFile, Failure> {
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
