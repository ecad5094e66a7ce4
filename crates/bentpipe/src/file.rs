//! Scenario files with the files that they name.

use crate::{Error, input};
use bentpipe_scenario::space::ExpandedConstellations;
use bentpipe_scenario::{Document, Override, Scenario, SetBy};
use std::path::{Path, PathBuf};

/// The scenario in the file at `path`, with the traces and orbital elements
/// that it names.
///
/// ```
/// let scenario = bentpipe::load("../../scenarios/geo.toml")?;
/// let outcome = bentpipe::run(&scenario)?;
/// assert!(outcome.flows[0].transfer_time.is_some());
/// # Ok::<(), bentpipe::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`] if a file cannot be read, [`Error::Scenario`] with everything
/// that is wrong in it.
pub fn load(path: impl AsRef<Path>) -> Result<Scenario, Error> {
    ScenarioFile::open(path)?.scenario()
}

/// The scenario that `text` describes. Relative names of files in it are seen
/// from the current folder.
///
/// ```
/// let error = bentpipe::parse("duratoin = '300 s'").unwrap_err();
/// assert!(error.to_string().contains("did you mean `duration`?"));
/// ```
///
/// # Errors
/// As [`load`].
pub fn parse(text: &str) -> Result<Scenario, Error> {
    ScenarioFile::parse("scenario", text.as_bytes())?.scenario()
}

/// A scenario file in which values can be set before it is checked.
///
/// ```
/// use bentpipe::ScenarioFile;
///
/// let mut file = ScenarioFile::open("../../scenarios/geo.toml")?;
/// for rate in ["1 Mbit/s", "10 Mbit/s"] {
///     file.set("link.satellite.rate", rate)?;
///     assert!(bentpipe::run(&file.scenario()?)?.flows[0].transfer_time.is_some());
/// }
/// # Ok::<(), bentpipe::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    document: Document,
    path: PathBuf,
    /// Where files that the scenario names are.
    folder: PathBuf,
}

impl ScenarioFile {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// If it cannot be read or is not TOML.
    pub fn open(path: impl AsRef<Path>) -> Result<ScenarioFile, Error> {
        let path = path.as_ref();
        ScenarioFile::parse(path, &input::bytes(path)?)
    }

    /// Takes the content of a file; `path` is for messages, and the folder in
    /// it is where files that the scenario names are.
    ///
    /// # Errors
    /// If it is not TOML.
    pub fn parse(path: impl AsRef<Path>, content: &[u8]) -> Result<ScenarioFile, Error> {
        let path = path.as_ref();
        Ok(ScenarioFile {
            document: Document::parse_bytes(&path.display().to_string(), content)?,
            path: path.to_path_buf(),
            folder: path.parent().unwrap_or(Path::new("")).to_path_buf(),
        })
    }

    /// Sets the value at a dotted path, such as `link.satellite.rate`.
    ///
    /// # Errors
    /// If the path leads nowhere.
    pub fn set(&mut self, path: &str, value: &str) -> Result<&mut ScenarioFile, Error> {
        self.document
            .set_by(SetBy::Option, path, &Override::parse(value))?;
        Ok(self)
    }

    /// The file and those that it names, as far as they are known before it is
    /// checked.
    #[must_use]
    pub fn inputs(&self) -> Vec<PathBuf> {
        let mut named = self.document.wanted_files();
        let controls = self.document.wanted_controls();
        named.extend(controls.into_iter().map(|(_, file)| file));
        let named = named.into_iter().map(|name| self.folder.join(name));
        std::iter::once(self.path.clone()).chain(named).collect()
    }

    /// The files beside it that it names, as written, such as traces.
    #[must_use]
    pub fn named_files(&self) -> Vec<String> {
        self.document.wanted_files()
    }

    /// The files of congestion controls that it names, as written: programs, which
    /// [`scenario`](ScenarioFile::scenario) loads.
    #[must_use]
    pub fn named_controls(&self) -> Vec<String> {
        let controls = self.document.wanted_controls().into_iter();
        controls.map(|(_, file)| file).collect()
    }

    /// Checks everything and computes the routes.
    ///
    /// # Errors
    /// With everything that is wrong.
    pub fn scenario(&self) -> Result<Scenario, Error> {
        Ok(self.with_files()?.validate()?)
    }

    /// As [`scenario`](ScenarioFile::scenario), with the constellations behind
    /// it.
    ///
    /// # Errors
    /// With everything that is wrong.
    pub fn survey(&self) -> Result<(Scenario, ExpandedConstellations), Error> {
        Ok(self.with_files()?.survey()?)
    }

    /// The document with the files that it names.
    fn with_files(&self) -> Result<Document, Error> {
        let mut document = self.document.clone();
        for name in document.wanted_files() {
            let text = input::text_beside(&self.folder.join(&name))?;
            document.give_file(&name, text);
        }
        for (name, file) in document.wanted_controls() {
            let control = bentpipe_plugin::load_as(Some(&name), &self.folder.join(&file));
            document.give_control(&name, &file, control.map_err(|e| e.to_string()));
        }
        Ok(document)
    }
}
