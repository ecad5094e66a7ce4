//! What is asked of a link: options of `bentpipe compare`.

use crate::app::App;
use crate::folder::Files;
use crate::{Problem, bounds};
use bentpipe::compare::{self, Comparison, Kind};
use ring::digest;
use serde::Deserialize;
use std::fmt::Write as _;
use std::path::Path;

/// A question: options of `bentpipe compare`, each a name and a value. An option with
/// several values comes several times, or has them with commas.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Question {
    pub(crate) options: Vec<(String, String)>,
    /// The tab that asks. It has one question at a time: a new one ends the one before.
    #[serde(default)]
    pub(crate) tab: Option<String>,
}

/// Bytes of an identifier.
const ID_BYTES: usize = 12;

impl Question {
    /// The same options in an order that does not depend on how they were asked.
    fn sorted(&self) -> Vec<(&str, &str)> {
        let options = self.options.iter();
        let mut sorted: Vec<(&str, &str)> = options
            .map(|(name, value)| (name.as_str(), value.trim()))
            .collect();
        // Stable: several values of an option keep their order.
        sorted.sort_by_key(|(name, _)| *name);
        sorted
    }

    /// What names this question and its answer.
    pub(crate) fn id(&self) -> String {
        let mut context = digest::Context::new(&digest::SHA256);
        for (name, value) in self.sorted() {
            for text in [name, value] {
                context.update(&(text.len() as u64).to_le_bytes());
                context.update(text.as_bytes());
            }
        }
        let digest = context.finish();
        let mut id = String::new();
        for byte in &digest.as_ref()[..ID_BYTES] {
            let _ = write!(id, "{byte:02x}");
        }
        id
    }

    /// The comparison that it asks for.
    ///
    /// # Errors
    /// If the options make none, or name what a page may not: the problem has the option.
    pub(crate) fn comparison(&self, app: &App) -> Result<Comparison, Problem> {
        let options = self.options.iter();
        let options: Vec<(String, String)> = options
            .map(|(name, value)| {
                let value = allowed(name, value, app.files.as_deref());
                let value =
                    value.map_err(|problem| problem.with("option", name.as_str().into()))?;
                Ok((name.clone(), value))
            })
            .collect::<Result<_, Problem>>()?;
        let question = compare::Question::read(&options)?;
        Ok(Comparison::from(question).limits(bounds::LIMITS))
    }
}

/// The value of an option as the page may set it: paths lead into the folder that was
/// opened, and nowhere else.
fn allowed(name: &str, value: &str, files: Option<&Files>) -> Result<String, Problem> {
    let inside = |path: &str| -> Result<String, Problem> {
        let Some(files) = files else {
            return Err(Problem::forbidden(format!(
                "{path}: no folder is open; `bentpipe explore FOLDER` lets the page read files \
                 in it"
            )));
        };
        let found = files.resolve(path)?;
        // A pipe would be waited for.
        if !found.is_file() {
            return Err(Problem::wrong(format!("{path} is not a file")));
        }
        let found = found.to_str().filter(|path| !path.contains(','));
        let odd = || Problem::wrong(format!("{path}: rename it, without commas and in UTF-8"));
        found.map(str::to_owned).ok_or_else(odd)
    };
    let mut options = compare::Question::OPTIONS.iter();
    match options
        .find(|option| option.name == name)
        .map(|option| option.kind)
    {
        Some(Kind::File) => {
            let files = value.split(',').map(|path| inside(path.trim()));
            Ok(files.collect::<Result<Vec<_>, _>>()?.join(","))
        }
        Some(Kind::Orbit) if may_be_file(value) => inside(value.trim()),
        _ => Ok(value.to_owned()),
    }
}

/// True unless it is a name, known or mistyped: the library says which names there are.
fn may_be_file(orbit: &str) -> bool {
    let is_known = orbit == "geo" || bentpipe::orbit::preset(orbit).is_some();
    !is_known && (orbit.contains(['.', '/', '\\']) || Path::new(orbit).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(options: &[(&str, &str)]) -> Question {
        let options = options.iter();
        Question {
            options: options
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            tab: None,
        }
    }

    #[test]
    fn the_same_question_has_the_same_name() {
        let one = question(&[("rate", "2Mbit/s"), ("pep", "none"), ("pep", "split")]);
        let other = question(&[("pep", "none"), ("pep", "split"), ("rate", " 2Mbit/s")]);
        let swapped = question(&[("pep", "split"), ("pep", "none"), ("rate", "2Mbit/s")]);
        assert_eq!(one.id(), other.id());
        assert_eq!(one.id().len(), 2 * ID_BYTES);
        assert_ne!(one.id(), swapped.id());
        // Where a name ends and a value begins counts.
        assert_ne!(question(&[("ab", "c")]).id(), question(&[("a", "bc")]).id());
    }

    #[test]
    fn files_outside_of_the_folder_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("down.trace"), "1\n").unwrap();
        let files = Files::open(folder.path()).unwrap();
        let found = allowed("trace", "down.trace", Some(&files)).unwrap();
        assert!(found.ends_with("down.trace") && Path::new(&found).is_absolute());
        for (name, value, files) in [
            ("trace", "down.trace", None),
            ("trace", "down.trace,/etc/passwd", Some(&files)),
            ("trace", "/etc/passwd", Some(&files)),
            ("orbit", "/etc/passwd", Some(&files)),
            ("orbit", "../iridium.tle", Some(&files)),
            ("orbit", "Cargo.toml", Some(&files)),
        ] {
            assert!(allowed(name, value, files).is_err(), "{name} {value}");
        }
        assert_eq!(allowed("orbit", "iridium", None).as_deref(), Ok("iridium"));
    }
}
