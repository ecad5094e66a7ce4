//! From a study to its runs.

use crate::study::{Axis, Setting, Study};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The runs of a study, each once.
///
/// The same replication has the same seed in every cell, so that cells differ
/// by what is varied and not by luck. Cells that set the same share their
/// runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The study.
    pub study: Arc<Study>,
    /// Runs per cell.
    pub replications: u32,
    /// The runs.
    pub jobs: Vec<Job>,
    /// The job of each cell and replication, cell by cell.
    pub(crate) of_run: Vec<usize>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// What it sets and its seed: what the journal calls it.
    pub key: String,
    /// What it sets.
    pub settings: Vec<Setting>,
    /// Seed of the run.
    pub seed: u64,
    /// The first cell that needs it.
    pub cell: usize,
}

impl Plan {
    /// Plans a study, with as many replications as it says or as asked.
    #[must_use]
    pub fn new(study: &Arc<Study>, replications: Option<u32>) -> Plan {
        let replications = replications.unwrap_or(study.replications).max(1);
        let mut plan = Plan {
            study: study.clone(),
            replications,
            jobs: Vec::new(),
            of_run: Vec::with_capacity(study.cells() * replications as usize),
        };
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for cell in 0..study.cells() {
            let settings = settings(study, cell);
            let set: Vec<String> = settings
                .iter()
                .map(|s| format!("{} = {}", s.path, s.value))
                .collect();
            let set = set.join("; ");
            for replication in 0..replications {
                let seed = study.seed.wrapping_add(u64::from(replication));
                let key = format!("{set} # {seed}");
                let job = *known.entry(key.clone()).or_insert_with(|| {
                    plan.jobs.push(Job {
                        key,
                        settings: settings.clone(),
                        seed,
                        cell,
                    });
                    plan.jobs.len() - 1
                });
                plan.of_run.push(job);
            }
        }
        plan
    }
}

/// What a cell sets: the study's own settings, then each axis'.
#[must_use]
pub fn settings(study: &Study, cell: usize) -> Vec<Setting> {
    let mut settings = study.settings.clone();
    for (point, axis) in points(&study.axes, cell).into_iter().zip(&study.axes) {
        for setting in &axis.points[point].settings {
            match settings.iter_mut().find(|s| s.path == setting.path) {
                Some(old) => old.value.clone_from(&setting.value),
                None => settings.push(setting.clone()),
            }
        }
    }
    settings
}

/// The point of each axis in a cell; the last axis is the fastest.
pub(crate) fn points(axes: &[Axis], cell: usize) -> Vec<usize> {
    let mut rest = cell;
    let mut points: Vec<usize> = axes
        .iter()
        .rev()
        .map(|axis| {
            let n = axis.points.len().max(1);
            let point = rest % n;
            rest /= n;
            point
        })
        .collect();
    points.reverse();
    points
}

/// FNV-1a, 64 bit, as 16 digits: names a text in provenance and journals.
#[must_use]
pub fn hash(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: &str = r#"
name = "s"
scenario = "a.toml"
replications = 2
seed = 7
set = { "x" = 0, "y" = 1 }
[[axis]]
name = "a"
path = "x"
values = [1, 2]
[[axis]]
name = "b"
points = [{ label = "one", set = {} }, { label = "same", set = { "y" = 1 } }, { label = "three", set = { "y" = 3 } }]
"#;

    #[test]
    fn cells_are_the_product_and_equal_runs_run_once() {
        let study = Arc::new(Study::parse("s.toml", STUDY).unwrap());
        let plan = Plan::new(&study, None);
        assert_eq!(plan.of_run.len(), 12);
        assert_eq!(plan.jobs.len(), 8);
        assert_eq!(plan.jobs[0].key, "x = 1; y = 1 # 7");
        assert_eq!(plan.jobs[1].seed, 8);
        assert_eq!(plan.of_run[..6], [0, 1, 0, 1, 2, 3]);
        assert_eq!(points(&study.axes, 5), [1, 2]);
        assert_eq!(Plan::new(&study, Some(1)).jobs.len(), 4);
    }

    #[test]
    fn hashes_are_pinned() {
        assert_eq!(hash(""), "cbf29ce484222325");
        assert_eq!(hash("a"), "af63dc4c8601ec8c");
    }
}
