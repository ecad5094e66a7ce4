//! Tasks: the runs of a study, divided by their cost.

use crate::error::ReproduceError;
use std::fmt;
use std::ops::Range;

/// A part of the runs of a campaign.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its number, from 1.
    pub index: usize,
    /// Total number of tasks.
    pub of: usize,
    /// The runs, counted over all studies of the campaign. There may be none.
    pub runs: Range<usize>,
    /// How long they will take on one core, roughly, in seconds.
    pub seconds: f64,
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

/// Runs that cost the same and lie side by side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// How many.
    pub(crate) runs: usize,
    /// Seconds of each.
    pub(crate) seconds: f64,
    /// True if they go to one task.
    pub(crate) whole: bool,
}

/// Cuts runs into `n` tasks of about the same cost, in their order.
pub(crate) fn cut(blocks: &[Block], n: usize) -> Vec<Task> {
    let n = n.max(1);
    let total: f64 = blocks.iter().map(|b| b.runs as f64 * b.seconds).sum();
    let mut ends = Vec::with_capacity(n);
    let (mut first, mut before) = (0, 0.0);
    for block in blocks {
        let cost = block.runs as f64 * block.seconds;
        // Ends that lie within this block.
        while ends.len() + 1 < n {
            let end = total * (ends.len() + 1) as f64 / n as f64;
            if end >= before + cost {
                break;
            }
            let inside = (end - before) / block.seconds.max(f64::MIN_POSITIVE);
            let inside = match block.whole {
                true if inside * 2.0 < block.runs as f64 => 0,
                true => block.runs,
                false => (inside.round() as usize).min(block.runs),
            };
            ends.push(first + inside);
        }
        first += block.runs;
        before += cost;
    }
    ends.resize(n, first);
    let mut start = 0;
    let of = ends.len();
    let task = |(i, end): (usize, usize)| {
        let end = end.max(start);
        let runs = start..end;
        start = end;
        Task {
            index: i + 1,
            of,
            seconds: cost_of(blocks, &runs),
            runs,
        }
    };
    ends.into_iter().enumerate().map(task).collect()
}

fn cost_of(blocks: &[Block], runs: &Range<usize>) -> f64 {
    let (mut first, mut cost) = (0, 0.0);
    for block in blocks {
        let end = first + block.runs;
        let shared = end.min(runs.end).saturating_sub(first.max(runs.start));
        cost += shared as f64 * block.seconds;
        first = end;
    }
    cost
}

/// The results of a task: bytes that can be sent anywhere and identify their study and task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskResult {
    /// The journal of each study that has runs in it.
    pub(crate) studies: Vec<(String, Vec<u8>)>,
}

const MAGIC: &[u8] = b"bentpipe task 1\n";

impl TaskResult {
    /// Serialises the results, to be sent to the collector.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for (name, journal) in &self.studies {
            for part in [name.as_bytes(), journal] {
                bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
                bytes.extend_from_slice(part);
            }
        }
        bytes
    }

    /// From bytes.
    ///
    /// # Errors
    /// If they are not those of a task, or not all of them.
    pub fn from_bytes(bytes: &[u8]) -> Result<TaskResult, ReproduceError> {
        let read = || {
            let mut rest = bytes.strip_prefix(MAGIC)?;
            let mut studies = Vec::new();
            while !rest.is_empty() {
                let (name, after) = part(rest)?;
                let (journal, after) = part(after)?;
                studies.push((String::from_utf8(name.to_vec()).ok()?, journal.to_vec()));
                rest = after;
            }
            Some(TaskResult { studies })
        };
        read().ok_or_else(|| ReproduceError::Task {
            why: "these bytes are not the result of a task, or not all of it".to_owned(),
        })
    }
}

/// A length and so many bytes, and what comes after.
fn part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)
}

pub(crate) mod fuzz;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(runs: usize, seconds: f64, whole: bool) -> Block {
        Block {
            runs,
            seconds,
            whole,
        }
    }

    #[test]
    fn expensive_runs_make_short_tasks() {
        let tasks = cut(&[block(100, 1.0, false), block(100, 9.0, false)], 10);
        let runs: Vec<usize> = tasks.iter().map(|t| t.runs.len()).collect();
        assert_eq!(runs, [100, 11, 11, 11, 11, 12, 11, 11, 11, 11]);
        assert_eq!(tasks[2].to_string(), "3/10");
        assert!((tasks[0].seconds - 100.0).abs() < 1e-9);
        let alone = cut(&[], 3);
        assert!(alone.iter().all(|t| t.runs.is_empty()) && alone.len() == 3);
    }

    proptest! {
        #[test]
        fn every_run_is_in_one_task(
            blocks in proptest::collection::vec((0usize..40, 0.0..5.0, any::<bool>()), 0..20),
            n in 1usize..60
        ) {
            let blocks: Vec<Block> = blocks.into_iter().map(|(r, s, w)| block(r, s, w)).collect();
            let tasks = cut(&blocks, n);
            prop_assert_eq!(tasks.len(), n);
            let mut next = 0;
            for task in &tasks {
                prop_assert_eq!(task.runs.start, next);
                next = task.runs.end;
            }
            let total: usize = blocks.iter().map(|b| b.runs).sum();
            prop_assert_eq!(next, total);
            let mut first = 0;
            for block in &blocks {
                let cuts = tasks.iter().map(|t| t.runs.start);
                let inside = cuts.filter(|c| (first + 1..first + block.runs).contains(c)).count();
                prop_assert!(!block.whole || inside == 0);
                first += block.runs;
            }
        }
    }

    #[test]
    fn a_result_comes_back_and_damage_is_noticed() {
        let result = TaskResult {
            studies: vec![("a".into(), vec![1, 2, 3]), ("b".into(), Vec::new())],
        };
        let bytes = result.to_bytes();
        assert_eq!(TaskResult::from_bytes(&bytes).unwrap(), result);
        for cut in 0..bytes.len() {
            let whole = TaskResult::from_bytes(&bytes[..cut]);
            // What ends between two studies is whole as far as it goes.
            assert!(whole.is_err() || whole.is_ok_and(|r| r.studies.len() < 2));
        }
    }
}
