//! The flows of one box or of one association, by number.

use super::flow::Flow;
use super::frame::Number;
use std::collections::HashMap;
use std::sync::Arc;

/// Flows, with what a box has to know of each (`E`).
#[derive(Debug)]
pub(super) struct Table<E: AsRef<Flow>> {
    flows: HashMap<Number, Arc<E>>,
}

impl<E: AsRef<Flow>> Default for Table<E> {
    fn default() -> Table<E> {
        Table {
            flows: HashMap::new(),
        }
    }
}

impl<E: AsRef<Flow>> Table<E> {
    pub(super) fn get(&self, number: Number) -> Option<&Arc<E>> {
        self.flows.get(&number)
    }

    /// Adds a flow. Where there are `most`, the one that was silent longest ends, and is returned.
    pub(super) fn insert(&mut self, entry: &Arc<E>, most: usize) -> Option<Arc<E>> {
        let forgotten = match self.flows.len() >= most {
            true => self.take_oldest(),
            false => None,
        };
        let number = (**entry).as_ref().number;
        self.flows.insert(number, Arc::clone(entry));
        forgotten
    }

    /// The one that was silent longest ends; false where there is none.
    pub(super) fn forget_oldest(&mut self) -> bool {
        self.take_oldest().is_some()
    }

    fn take_oldest(&mut self) -> Option<Arc<E>> {
        let flows = self.flows.values().map(|entry| (**entry).as_ref());
        let number = flows.min_by_key(|flow| flow.used())?.number;
        let entry = self.flows.remove(&number)?;
        (*entry).as_ref().forget();
        Some(entry)
    }

    /// Takes out this flow, unless another has its number by now.
    pub(super) fn remove(&mut self, entry: &Arc<E>) {
        let number = (**entry).as_ref().number;
        let known = self.flows.get(&number);
        if known.is_some_and(|known| Arc::ptr_eq(known, entry)) {
            self.flows.remove(&number);
        }
    }

    /// All end.
    pub(super) fn clear(&mut self) {
        for entry in self.flows.drain().map(|(_, entry)| entry) {
            (*entry).as_ref().forget();
        }
    }
}
