//! Many scripts: their reports, and what they add up to.

use crate::report::{Report, Verdict};
use crate::run::{Settings, SettingsError, run};
use crate::script::Script;
use bentpipe_document::Diagnostics;
use std::collections::BTreeMap;

/// The reports on many scripts.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Suite {
    /// Name of the host profile.
    pub profile: &'static str,
    /// Ticks of the kernel's clock in a second.
    pub hz: u32,
    /// How many scripts have which verdict.
    pub counts: Counts,
    /// What is not modelled, by how many scripts need it, the most first.
    pub not_modelled: Vec<Missing>,
    /// The reports, in the order in which the scripts were given.
    pub scripts: Vec<Report>,
}

/// How many scripts have which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Everything came as expected.
    pub pass: usize,
    /// Something came otherwise.
    pub fail: usize,
    /// They need what the model does not have.
    pub not_modelled: usize,
    /// They are not written in the language.
    pub unreadable: usize,
}

/// Something that is not modelled.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Missing {
    /// What.
    pub what: String,
    /// Scripts that end for it.
    pub scripts: usize,
}

impl Suite {
    /// No scripts yet.
    ///
    /// # Errors
    /// If the settings are none of a host.
    pub fn new(settings: &Settings) -> Result<Suite, SettingsError> {
        settings.check()?;
        Ok(Suite {
            profile: settings.profile.name(),
            hz: settings.hz,
            counts: Counts::default(),
            not_modelled: Vec::new(),
            scripts: Vec::new(),
        })
    }

    /// Reads and runs the script `text` of the file `name`.
    ///
    /// # Errors
    /// If it is not written in the language; its report is among the others all the same.
    pub fn add(&mut self, name: &str, text: &str, settings: &Settings) -> Result<(), Diagnostics> {
        let script = match Script::parse(name, text) {
            Ok(script) => script,
            Err(errors) => {
                self.counts.unreadable += 1;
                self.scripts.push(Report::unreadable(name, &errors));
                return Err(errors);
            }
        };
        // Settings are checked where a suite begins.
        if let Ok(report) = run(&script, settings) {
            self.count(&report);
            self.scripts.push(report);
        }
        Ok(())
    }

    /// True if every script passes.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.counts.pass == self.scripts.len()
    }

    fn count(&mut self, report: &Report) {
        match &report.verdict {
            Verdict::Pass => self.counts.pass += 1,
            Verdict::Fail { .. } => self.counts.fail += 1,
            Verdict::Unreadable { .. } => self.counts.unreadable += 1,
            Verdict::NotModelled { reason } => {
                self.counts.not_modelled += 1;
                let mut reasons: BTreeMap<String, usize> = std::mem::take(&mut self.not_modelled)
                    .into_iter()
                    .map(|missing| (missing.what, missing.scripts))
                    .collect();
                *reasons.entry(reason.what.clone()).or_default() += 1;
                self.not_modelled = reasons
                    .into_iter()
                    .map(|(what, scripts)| Missing { what, scripts })
                    .collect();
                self.not_modelled
                    .sort_by_key(|missing| std::cmp::Reverse(missing.scripts));
            }
        }
    }
}
