//! Results of the papers' studies that were run, kept for as long as the server runs.

use bentpipe_study::StudyResults;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs that are kept, at most. What was run longest ago is forgotten first.
const MOST_RUNS: usize = 200_000;

/// Which results: the paper, its study, and the runs of a cell where there are fewer than
/// the study asks for.
type Key = (String, String, Option<u32>);

/// The results. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(Arc<Mutex<Vec<(Key, StudyResults)>>>);

impl Kept {
    /// Keeps the results of a study.
    pub(super) fn put(&self, paper: &str, runs: Option<u32>, results: StudyResults) {
        let key = (paper.to_owned(), results.study().name.clone(), runs);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| *known != key);
        kept.push((key, results));
        let total = |kept: &[(Key, StudyResults)]| -> usize {
            kept.iter().map(|(_, results)| results.total()).sum()
        };
        while kept.len() > 1 && total(&kept) > MOST_RUNS {
            kept.remove(0);
        }
    }

    /// The results of a paper's studies, by the names of these.
    pub(super) fn of(&self, paper: &str, runs: Option<u32>) -> BTreeMap<String, StudyResults> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = kept.iter();
        let own = own.filter(|((of, _, with), _)| of == paper && *with == runs);
        own.map(|((_, study, _), results)| (study.clone(), results.clone()))
            .collect()
    }
}
