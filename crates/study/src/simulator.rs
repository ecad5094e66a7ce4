//! Runs cells in the simulator.

use crate::collection::LoadedStudy;
use crate::cost;
use crate::runner::{Checked, Request, Runner};
use crate::study::Setting;
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
        let mut simulator = Simulator {
            document: Document::parse(file, text)?,
            identity: text.to_owned(),
            folder: Path::new(file).parent().unwrap_or(Path::new("")).into(),
            stop: Stop::default(),
        };
        let mut document = simulator.document.clone();
        let given = simulator.give_files(&mut document);
        simulator.document = document;
        // Other orbits are another scenario.
        simulator.identity.extend(given);
        Ok(simulator)
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
        given
    }

    /// The simulator of a study's scenario, as
    /// [`reproduce`](crate::reproduce) asks for it.
    ///
    /// # Errors
    /// If the study has no scenario or it is not TOML.
    pub fn of(loaded: &LoadedStudy) -> Result<Box<dyn Runner>, String> {
        Ok(Box::new(Simulator::of_study(loaded)?))
    }

    /// The same, not boxed.
    ///
    /// # Errors
    /// As [`Simulator::of`].
    pub fn of_study(loaded: &LoadedStudy) -> Result<Simulator, String> {
        let Some((path, text)) = &loaded.scenario else {
            return Err(format!("study `{}` has no scenario", loaded.study.name));
        };
        Simulator::new(&path.to_string_lossy(), text).map_err(|e| e.render(false))
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
            seconds: cost::seconds(&scenario),
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
            stop: self.stop.clone(),
        };
        bentpipe_sim::run(&scenario, &options).map_err(|e| e.to_string())
    }
}
