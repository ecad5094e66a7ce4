//! The origin of results, without time of day and machine, so that a rerun gives the same bytes.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What it takes to get the same results again. Parquet files carry it as key-value metadata
/// (`bentpipe.version`, `bentpipe.scenario_hash`, ...), CSV files have it in a separate file:
/// `runs.csv` in `runs.csv.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Name of the program, `bentpipe`.
    pub program: String,
    /// Version of the program.
    pub version: String,
    /// Name of the scenario or study.
    pub scenario: String,
    /// Hash of the scenario or study, as its reader computes it.
    pub scenario_hash: String,
    /// Seeds of the runs.
    pub seeds: Vec<u64>,
    /// Anything else worth knowing: host profile, RTT0, replications, ...
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, String>,
}

/// Version of the layout of the tables: it changes when a column changes its
/// meaning, its unit or its name, not when one is added.
pub const SCHEMA: u32 = 1;

const PREFIX: &str = "bentpipe.";
const DETAIL: &str = "bentpipe.detail.";

impl Provenance {
    /// Results of this version of bentpipe for a scenario and its seeds.
    #[must_use]
    pub fn new(scenario: &str, scenario_hash: &str, seeds: &[u64]) -> Provenance {
        Provenance {
            program: "bentpipe".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: scenario.to_owned(),
            scenario_hash: scenario_hash.to_owned(),
            seeds: seeds.to_vec(),
            details: BTreeMap::new(),
        }
    }

    /// Adds a detail.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Provenance {
        self.details.insert(name.to_owned(), value.to_owned());
        self
    }

    /// One line of text, for the comments of formats that have no fields.
    #[must_use]
    pub fn to_line(&self) -> String {
        let mut line = format!(
            "{} {}; scenario {} ({}); seed {}",
            self.program,
            self.version,
            self.scenario,
            self.scenario_hash,
            join(&self.seeds)
        );
        for (name, value) in &self.details {
            line.push_str(&format!("; {name} {value}"));
        }
        line
    }

    /// The entries of a Parquet file's metadata, in a fixed order.
    pub(crate) fn to_entries(&self) -> Vec<(String, String)> {
        let mut entries = vec![
            (format!("{PREFIX}program"), self.program.clone()),
            (format!("{PREFIX}version"), self.version.clone()),
            (format!("{PREFIX}schema"), SCHEMA.to_string()),
            (format!("{PREFIX}scenario"), self.scenario.clone()),
            (format!("{PREFIX}scenario_hash"), self.scenario_hash.clone()),
            (format!("{PREFIX}seeds"), join(&self.seeds)),
        ];
        entries.extend(
            self.details
                .iter()
                .map(|(n, v)| (format!("{DETAIL}{n}"), v.clone())),
        );
        entries
    }

    /// Reads [`to_entries`](Provenance::to_entries) back; `None` if they are
    /// not there or not whole.
    pub(crate) fn from_entries(entries: &[(String, String)]) -> Option<Provenance> {
        let get = |name: &str| {
            let found = entries
                .iter()
                .find(|(n, _)| n.strip_prefix(PREFIX) == Some(name));
            found.map(|(_, value)| value.clone())
        };
        let seeds: Result<Vec<u64>, _> = get("seeds")?.split_whitespace().map(str::parse).collect();
        Some(Provenance {
            program: get("program")?,
            version: get("version")?,
            scenario: get("scenario")?,
            scenario_hash: get("scenario_hash")?,
            seeds: seeds.ok()?,
            details: entries
                .iter()
                .filter_map(|(n, v)| Some((n.strip_prefix(DETAIL)?.to_owned(), v.clone())))
                .collect(),
        })
    }
}

fn join(seeds: &[u64]) -> String {
    let texts: Vec<String> = seeds.iter().map(u64::to_string).collect();
    texts.join(" ")
}

/// `runs.csv` -> `runs.csv.json`
pub(crate) fn sidecar(path: &Path) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(".json");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_read_back() {
        let p = Provenance::new("geo", "9f3c", &[1, u64::MAX]).with("hybla rtt0", "25 ms");
        assert_eq!(Provenance::from_entries(&p.to_entries()), Some(p.clone()));
        assert_eq!(Provenance::from_entries(&p.to_entries()[1..]), None);
        assert!(
            p.to_line()
                .ends_with("; scenario geo (9f3c); seed 1 18446744073709551615; hybla rtt0 25 ms")
        );
        assert_eq!(
            sidecar(Path::new("out/runs.csv")),
            Path::new("out/runs.csv.json")
        );
    }
}
