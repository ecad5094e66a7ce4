//! Access to the runs of a study, in memory or in journals on disk.
//!
//! A study of a million runs does not fit into memory, so only the position of each is kept, and a
//! run is decoded on request.

use crate::record::RunResult;
use bentpipe_outcome::{JournalReader, Place};
use std::sync::Arc;

/// The runs of a study by their index in its [`Plan`](crate::Plan).
#[derive(Debug)]
pub(crate) struct Runs {
    kept: Kept,
    /// Runs that are there, and how many of these failed.
    done: usize,
    failed: usize,
}

#[derive(Debug)]
enum Kept {
    Memory(Vec<Option<Arc<RunResult>>>),
    Disk {
        /// The journal that is or was written.
        first: Option<JournalReader>,
        /// The others.
        files: Vec<JournalReader>,
        slots: Vec<Slot>,
    },
}

/// Where a run is on disk.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Index of the file; [`NOWHERE`] for none.
    file: u32,
    length: u32,
    offset: u64,
}

const NOWHERE: u32 = u32::MAX;

impl Slot {
    const NONE: Slot = Slot {
        file: NOWHERE,
        length: 0,
        offset: 0,
    };
}

/// Whether the JSON of a result is that of a failed run.
pub(crate) fn is_failure(json: &str) -> bool {
    json.starts_with("{\"failed\"")
}

impl Runs {
    /// Room for so many runs in memory.
    pub(crate) fn in_memory(runs: usize) -> Runs {
        Runs {
            kept: Kept::Memory(vec![None; runs]),
            done: 0,
            failed: 0,
        }
    }

    /// Room for the places of so many runs on disk.
    pub(crate) fn on_disk(runs: usize) -> Runs {
        Runs {
            kept: Kept::Disk {
                first: None,
                files: Vec::new(),
                slots: vec![Slot::NONE; runs],
            },
            done: 0,
            failed: 0,
        }
    }

    /// Room for so many runs.
    pub(crate) fn room(&self) -> usize {
        match &self.kept {
            Kept::Memory(runs) => runs.len(),
            Kept::Disk { slots, .. } => slots.len(),
        }
    }

    /// Whether results are to be dropped once they are journalled.
    pub(crate) fn are_on_disk(&self) -> bool {
        matches!(self.kept, Kept::Disk { .. })
    }

    /// Runs that are there.
    pub(crate) fn done(&self) -> usize {
        self.done
    }

    /// Runs that are there and failed.
    pub(crate) fn failed(&self) -> usize {
        self.failed
    }

    /// True if a run is there.
    pub(crate) fn has(&self, run: usize) -> bool {
        match &self.kept {
            Kept::Memory(runs) => runs.get(run).is_some_and(Option::is_some),
            Kept::Disk { slots, .. } => slots.get(run).is_some_and(|s| s.file != NOWHERE),
        }
    }

    /// Puts a run that is kept in memory.
    pub(crate) fn put(&mut self, run: usize, result: Arc<RunResult>) {
        let failed = result.failure().is_some();
        let was_there = self.has(run);
        if let Kept::Memory(runs) = &mut self.kept
            && let Some(slot) = runs.get_mut(run)
        {
            *slot = Some(result);
            self.count(was_there, failed);
        }
    }

    /// Notes where a run is: in file `file`, which [`attach`](Runs::attach) hands over in the end.
    /// The first recorded position of a run counts; the others hold the same data.
    pub(crate) fn note(&mut self, run: usize, file: usize, place: Place, failed: bool) {
        let was_there = self.has(run);
        if let Kept::Disk { slots, .. } = &mut self.kept
            && let Some(slot) = slots.get_mut(run)
            && !was_there
        {
            *slot = Slot {
                file: u32::try_from(file).unwrap_or(NOWHERE),
                length: place.length,
                offset: place.offset,
            };
            self.count(was_there, failed);
        }
    }

    fn count(&mut self, was_there: bool, failed: bool) {
        if !was_there {
            self.done += 1;
            self.failed += usize::from(failed);
        }
    }

    /// The number that the next file gets, for [`note`](Runs::note); 0 is that of
    /// the journal that is written.
    pub(crate) fn next_file(&self) -> usize {
        match &self.kept {
            Kept::Memory(_) => 0,
            Kept::Disk { files, .. } => files.len() + 1,
        }
    }

    /// The next of the files that places name.
    pub(crate) fn attach(&mut self, file: JournalReader) {
        if let Kept::Disk { files, .. } = &mut self.kept {
            files.push(file);
        }
    }

    /// File number 0, once nothing more is written to it.
    pub(crate) fn attach_first(&mut self, file: JournalReader) {
        if let Kept::Disk { first, .. } = &mut self.kept {
            *first = Some(file);
        }
    }

    /// A run; [`RunResult::Missing`] if it is not there.
    pub(crate) fn get(&self, run: usize) -> Arc<RunResult> {
        match &self.kept {
            Kept::Memory(runs) => match runs.get(run) {
                Some(Some(result)) => result.clone(),
                _ => Arc::new(RunResult::Missing),
            },
            Kept::Disk {
                first,
                files,
                slots,
            } => Arc::new(match slots.get(run) {
                Some(slot) if slot.file == 0 => read(first.as_ref(), *slot),
                Some(slot) => read(files.get(slot.file as usize - 1), *slot),
                None => RunResult::Missing,
            }),
        }
    }
}

/// A run that cannot be read back is one that failed: the rest of the study is
/// still of use.
fn read(file: Option<&JournalReader>, slot: Slot) -> RunResult {
    let Some(file) = file else {
        return RunResult::Missing;
    };
    let place = Place {
        offset: slot.offset,
        length: slot.length,
    };
    let result = file.read(place).and_then(|record| record.decode());
    result.unwrap_or_else(|e| RunResult::Failed(format!("its record cannot be read back: {e}")))
}
