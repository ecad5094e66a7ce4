//! Runs cells in the simulator.

use crate::collection::LoadedStudy;
use crate::runner::{Checked, Request, Runner};
use crate::study::{Setting, Study};
use bentpipe_cc::OwnControl;
use bentpipe_outcome::Outcome;
use bentpipe_scenario::{Document, Override, Scenario};
use bentpipe_sim::{Options, Stop};
use std::path::{Path, PathBuf};

/// Runs a scenario in virtual time.
#[derive(Clone, Debug)]
pub struct Simulator {
    document: Document,
    identity: String,
    /// Where files that the scenario names are.
    folder: PathBuf,
    stop: Stop,
}

impl Simulator {
    /// A simulator of a scenario. `file` is its name, for messages.
    ///
    /// # Errors
    /// If the text is not TOML.
    pub fn new(file: &str, text: &str) -> Result<Simulator, bentpipe_scenario::Diagnostics> {
        Simulator::of_document(file, text, Vec::new())
    }

    fn of_document(
        file: &str,
        text: &str,
        controls: Vec<(&str, String)>,
    ) -> Result<Simulator, bentpipe_scenario::Diagnostics> {
        let mut parsed = Document::parse(file, text)?;
        for (name, file) in controls {
            let file = Override::from(file.as_str());
            parsed.set(&format!("control.{name}.file"), &file)?;
        }
        let mut simulator = Simulator {
            document: parsed,
            identity: text.to_owned(),
            folder: Path::new(file).parent().unwrap_or(Path::new("")).into(),
            stop: Stop::default(),
        };
        let mut document = simulator.document.clone();
        let given = simulator.give_files(&mut document);
        simulator.document = document;
        // Other orbits are another scenario, and so are other controls.
        simulator.identity.extend(given);
        simulator.take_registered(|name| text.contains(name));
        Ok(simulator)
    }

    /// Adds the version of each congestion control of this process whose name
    /// `is_used`: results do not depend on others, such as those of a notebook.
    fn take_registered(&mut self, is_used: impl Fn(&str) -> bool) {
        let registered = bentpipe_cc::own::registered();
        let used = registered.iter().filter(|control| is_used(control.name()));
        self.identity.extend(used.map(identity_of));
    }

    /// Gives `document` the files that it names; what cannot be read it will
    /// report as missing.
    fn give_files(&self, document: &mut Document) -> Vec<String> {
        let mut given = Vec::new();
        for name in document.wanted_files() {
            if let Ok(text) = crate::input::text_beside(&self.folder.join(&name)) {
                document.give_file(&name, text.as_str());
                given.push(text);
            }
        }
        for (name, file) in document.wanted_controls() {
            given.extend(self.give_control(document, &name, &file));
        }
        given
    }

    /// Gives `document` the congestion control in `file`, or the reason why there is
    /// none; returns what makes it another one.
    fn give_control(&self, document: &mut Document, name: &str, file: &str) -> Option<String> {
        let control = bentpipe_plugin::load_as(Some(name), &self.folder.join(file));
        let identity = control.as_ref().ok().map(identity_of);
        document.give_control(name, file, control.map_err(|e| e.to_string()));
        identity
    }

    /// The simulator of a study's scenario, as
    /// [`reproduce`](crate::reproduce) asks for it.
    ///
    /// # Errors
    /// If the study has no scenario or it is not TOML.
    pub fn of(loaded: &LoadedStudy) -> Result<Box<dyn Runner>, String> {
        Ok(Box::new(Simulator::of_study(loaded)?))
    }

    /// As above, not boxed.
    ///
    /// # Errors
    /// As [`Simulator::of`].
    pub fn of_study(loaded: &LoadedStudy) -> Result<Simulator, String> {
        let Some((path, text)) = &loaded.scenario else {
            return Err(format!("study `{}` has no scenario", loaded.study.name));
        };
        let folder = loaded.path.parent().unwrap_or(Path::new(""));
        let controls = loaded.study.controls.iter();
        let controls = controls.map(|(name, file)| (name.as_str(), absolute(&folder.join(file))));
        let simulator = Simulator::of_document(&path.to_string_lossy(), text, controls.collect());
        let mut simulator = simulator.map_err(|diagnostics| diagnostics.render(false))?;
        simulator.take_versions(&loaded.study);
        let study = &loaded.study.origin.source.text;
        simulator.take_registered(|name| study.contains(name) && !text.contains(name));
        Ok(simulator)
    }

    /// Loads the congestion controls that the study sets by `control.NAME.file`, so
    /// that every run has the same version, which is a part of the identity.
    fn take_versions(&mut self, study: &Study) {
        let points = study.axes.iter().flat_map(|axis| &axis.points);
        let set = points.flat_map(|point| &point.settings);
        for setting in study.settings.iter().chain(set) {
            let name = setting.path.strip_prefix("control.");
            let Some(name) = name.and_then(|path| path.strip_suffix(".file")) else {
                continue;
            };
            let value = Override::parse(&setting.value);
            let Some(file) = value.as_text() else {
                continue;
            };
            let mut document = self.document.clone();
            self.identity
                .extend(self.give_control(&mut document, name, file));
            self.document = document;
        }
    }

    /// Lets another thread stop runs in the middle, which then fail. What runs
    /// the study must not count them: see [`Runner::is_stopped`].
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Simulator {
        self.stop = stop;
        self
    }

    /// The scenario with some values set.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn scenario(
        &self,
        settings: &[Setting],
    ) -> Result<Scenario, bentpipe_scenario::Diagnostics> {
        let mut document = self.document.clone();
        for setting in settings {
            document.set(&setting.path, &Override::parse(&setting.value))?;
        }
        self.give_files(&mut document);
        document.validate()
    }
}

/// The identity of a user's control.
fn identity_of(control: &OwnControl) -> String {
    format!("\n{} {}", control.name(), control.fingerprint())
}

/// A path that does not depend on the folder that it is seen from.
fn absolute(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    absolute.to_string_lossy().into_owned()
}

impl Runner for Simulator {
    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn check(&self, settings: &[Setting]) -> Result<String, String> {
        self.check_cost(settings).map(|checked| checked.hash)
    }

    fn check_cost(&self, settings: &[Setting]) -> Result<Checked, String> {
        let scenario = self.scenario(settings).map_err(|e| e.render(false))?;
        Ok(Checked {
            hash: scenario.hash().to_string(),
            seconds: bentpipe_sim::seconds(&scenario),
        })
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    fn run(&self, request: &Request<'_>) -> Result<Outcome, String> {
        let scenario = self.scenario(request.settings).map_err(|e| e.to_string())?;
        let options = Options {
            seed: request.seed,
            series: request.series,
            checkpoints: request.checkpoints.to_vec(),
            queueing_delays: true,
            start_jitter: request.start_jitter,
            foreground: None,
            skip_steady: request.skip_steady,
            stop: self.stop.clone(),
        };
        bentpipe_sim::run(&scenario, &options).map_err(|e| e.to_string())
    }
}
