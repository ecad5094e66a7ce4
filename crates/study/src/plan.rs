//! From a study to its runs.

use crate::study::{Axis, Setting, Study};
use std::collections::HashMap;
use std::sync::Arc;

/// The runs of a study, each once.
///
/// The same replication has the same seed in every cell, so that cells differ
/// by what is varied and not by luck. Cells that set the same share their
/// runs: they are one *group*. A plan takes memory per cell, not per run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The study that is planned.
    pub study: Arc<Study>,
    /// Runs per cell; the most of one, where their number follows from the results.
    pub replications: u32,
    /// The group of each cell.
    groups: Arc<[u32]>,
    /// The first cell of each group.
    firsts: Vec<u32>,
    /// The groups by what they set.
    known: HashMap<String, u32>,
}

/// A run of a cell with its seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its settings and its seed: its key in the journal.
    pub key: String,
    /// Its settings.
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
        let mut firsts = Vec::new();
        let mut known = HashMap::new();
        let groups = (0..study.cells()).map(|cell| {
            let set = set_text(&settings(study, cell));
            *known.entry(set).or_insert_with(|| {
                firsts.push(small(cell));
                small(firsts.len() - 1)
            })
        });
        let groups: Vec<u32> = groups.collect();
        Plan {
            study: study.clone(),
            replications: replications.unwrap_or(study.replications).max(1),
            groups: groups.into(),
            firsts,
            known,
        }
    }

    /// Number of runs in the plan.
    #[must_use]
    pub fn len(&self) -> usize {
        self.firsts.len() * self.replications as usize
    }

    /// True if the plan has no runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.firsts.is_empty()
    }

    /// The runs: group by group, the replications of each together.
    pub fn jobs(&self) -> impl Iterator<Item = Job> {
        (0..self.len()).map(|index| self.job(index))
    }

    /// A run by its index.
    #[must_use]
    pub fn job(&self, index: usize) -> Job {
        let replications = self.replications as usize;
        let (group, replication) = (index / replications, index % replications);
        let cell = self.first(group);
        let settings = settings(&self.study, cell);
        let seed = self.study.seed.wrapping_add(replication as u64);
        Job {
            key: format!("{} # {seed}", set_text(&settings)),
            settings,
            seed,
            cell,
        }
    }

    /// The index of the run that a journal calls `key`; `None` if there is none.
    pub(crate) fn find(&self, key: &str) -> Option<usize> {
        let (set, seed) = key.rsplit_once(" # ")?;
        let seed: u64 = seed.parse().ok()?;
        let replication = seed.checked_sub(self.study.seed)?;
        let group = *self.known.get(set)? as usize;
        let replication = usize::try_from(replication).ok()?;
        let replications = self.replications as usize;
        (replication < replications).then_some(group * replications + replication)
    }

    /// Number of groups of cells with the same settings.
    pub(crate) fn groups(&self) -> usize {
        self.firsts.len()
    }

    /// The group of each cell.
    pub(crate) fn of_cell(&self) -> &Arc<[u32]> {
        &self.groups
    }

    /// The first cell of a group.
    pub(crate) fn first(&self, group: usize) -> usize {
        self.firsts.get(group).map_or(0, |cell| *cell as usize)
    }
}

/// Studies have far fewer cells.
fn small(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn set_text(settings: &[Setting]) -> String {
    let set: Vec<String> = settings
        .iter()
        .map(|s| format!("{} = {}", s.path, s.value))
        .collect();
    set.join("; ")
}

/// Settings of a cell: the study's own, then those of each axis.
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

/// `table-3 at bandwidth 2 Mbit/s, file 1 Mbyte`.
pub(crate) fn place(study: &Study, cell: usize) -> String {
    let axes = study.axes.iter().zip(points(&study.axes, cell));
    let at: Vec<String> = axes
        .map(|(axis, point)| format!("{} {}", axis.name, axis.points[point].label))
        .collect();
    if at.is_empty() {
        study.name.clone()
    } else {
        format!("{} at {}", study.name, at.join(", "))
    }
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
        assert_eq!(plan.groups.len(), 6);
        assert_eq!((plan.groups(), plan.len()), (4, 8));
        assert_eq!(plan.job(0).key, "x = 1; y = 1 # 7");
        assert_eq!(plan.job(1).seed, 8);
        assert_eq!(plan.groups[..3], [0, 0, 1]);
        assert_eq!(points(&study.axes, 5), [1, 2]);
        assert_eq!(Plan::new(&study, Some(1)).len(), 4);
        let found = plan.jobs().map(|job| plan.find(&job.key));
        assert!(found.eq((0..8).map(Some)));
        assert_eq!(plan.find("x = 1; y = 1 # 9"), None);
        assert_eq!(plan.find("x = 1; y = 1 # 6"), None);
        assert_eq!(plan.find("x = 5; y = 1 # 7"), None);
    }

    #[test]
    fn hashes_are_pinned() {
        assert_eq!(hash(""), "cbf29ce484222325");
        assert_eq!(hash("a"), "af63dc4c8601ec8c");
    }
}
