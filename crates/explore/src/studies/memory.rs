//! The columns that are held in memory, which are not more than fit.

use super::column::Cells;
use crate::Problem;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of columns that are held at the same time.
const MOST_BYTES: usize = 768 << 20;

/// The columns of all studies that are open. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    /// Least recently used first.
    columns: Vec<Entry>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    dataset: u64,
    column: String,
    cells: Arc<Cells>,
}

impl Memory {
    /// The cells of a column, read by `read` unless they are held already.
    pub(super) fn get(
        &self,
        dataset: u64,
        column: &str,
        read: impl FnOnce() -> Result<Cells, Problem>,
    ) -> Result<Arc<Cells>, Problem> {
        if let Some(cells) = self.held().take(dataset, column) {
            return Ok(cells);
        }
        // Others may ask for what is held meanwhile.
        let cells = Arc::new(read()?);
        self.held().put(dataset, column, &cells);
        Ok(cells)
    }

    /// Forgets the columns of a dataset.
    pub(super) fn forget(&self, dataset: u64) {
        let mut held = self.held();
        held.columns.retain(|entry| entry.dataset != dataset);
        held.bytes = held.columns.iter().map(|entry| entry.cells.bytes()).sum();
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn take(&mut self, dataset: u64, column: &str) -> Option<Arc<Cells>> {
        let is_it = |entry: &Entry| entry.dataset == dataset && entry.column == column;
        let at = self.columns.iter().position(is_it)?;
        let entry = self.columns.remove(at);
        let cells = Arc::clone(&entry.cells);
        self.columns.push(entry);
        Some(cells)
    }

    fn put(&mut self, dataset: u64, column: &str, cells: &Arc<Cells>) {
        if self.take(dataset, column).is_some() {
            return;
        }
        self.bytes += cells.bytes();
        self.columns.push(Entry {
            dataset,
            column: column.to_owned(),
            cells: Arc::clone(cells),
        });
        while self.bytes > MOST_BYTES && !self.columns.is_empty() {
            self.bytes -= self.columns.remove(0).cells.bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let memory = Memory::default();
        let column = |n: usize| move || Ok(Cells::Numbers(vec![0.0; n]));
        let third = MOST_BYTES / 8 / 3;
        for name in ["a", "b", "c"] {
            memory.get(1, name, column(third)).unwrap();
        }
        // `a` was used last, so that `b` makes room.
        let never = || Err(Problem::wrong("it was read again"));
        memory.get(1, "a", never).unwrap();
        memory.get(1, "d", column(third)).unwrap();
        memory.get(1, "a", never).unwrap();
        assert!(memory.get(1, "b", never).is_err());
        assert!(memory.held().bytes <= MOST_BYTES);
        memory.forget(1);
        assert_eq!(memory.held().bytes, 0);
    }
}
