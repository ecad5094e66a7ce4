//! What is compared, from files.

use super::Subject;
use crate::{Error, ScenarioFile, study};
use std::path::{Path, PathBuf};

/// What a folder of `bentpipe run --out` has.
const OUTCOME: &str = "outcome.json";

/// The file that a path is about: the outcome in a folder that `bentpipe run --out` wrote, and
/// otherwise the path itself.
///
/// # Errors
/// [`Error::Diff`] if it is a folder without an outcome.
pub fn file_at(path: &Path) -> Result<PathBuf, Error> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let file = path.join(OUTCOME);
    if file.exists() {
        return Ok(file);
    }
    Err(Error::Diff(format!(
        "`{}` has no {OUTCOME}: it is no folder that `bentpipe run --out` wrote{}",
        path.display(),
        match path.join("simulated").join(OUTCOME).exists() {
            true => "; with --on both it wrote `simulated` and `measured` in it",
            false => "",
        }
    )))
}

impl Subject {
    /// What the file at `path` holds, which has this content: a scenario, or the JSON of an answer
    /// or an outcome.
    ///
    /// # Errors
    /// [`Error::Diff`] if it is none of them, [`Error::Scenario`] or [`Error::Build`] if it is a
    /// scenario that is wrong.
    pub fn read(path: &Path, content: &[u8]) -> Result<Subject, Error> {
        let is_json = content.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        if is_json {
            let text = String::from_utf8_lossy(content);
            return Subject::json(&text)
                .map_err(|error| Error::Diff(format!("`{}`: {error}", path.display())));
        }
        if study::is_study(content) {
            return Err(Error::Diff(format!(
                "`{}` is a study; answers, outcomes and scenarios can be compared",
                path.display()
            )));
        }
        let file = ScenarioFile::parse(path, content)?;
        Ok(Subject::scenario(file.scenario()?))
    }
}
