//! One question at a time for each tab: a new one ends the one before.

use bentpipe::sim::Stop;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Tabs that are remembered.
const MOST_TABS: usize = 64;

/// Which question each tab asked last. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tabs(Arc<Mutex<VecDeque<(String, Turn)>>>);

/// A question's turn: it is over once its tab asks again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    is_over: bool,
    stop: Option<Stop>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tabs {
    /// The turn of a new question of `tab`, which ends that of the one before. A question
    /// without a tab ends none.
    pub(crate) fn turn(&self, tab: Option<&str>) -> Turn {
        let turn = Turn::default();
        let Some(tab) = tab else { return turn };
        let mut tabs = locked(&self.0);
        if let Some(place) = tabs.iter().position(|(name, _)| name == tab)
            && let Some((_, before)) = tabs.remove(place)
        {
            before.end();
        }
        tabs.truncate(MOST_TABS - 1);
        tabs.push_front((tab.to_owned(), turn.clone()));
        turn
    }
}

impl Turn {
    /// The end of the turn throws `stop`; at once if it is over.
    pub(crate) fn stops(&self, stop: &Stop) {
        let mut state = locked(&self.0);
        state.stop = Some(stop.clone());
        if state.is_over {
            stop.stop();
        }
    }

    fn end(&self) {
        let mut state = locked(&self.0);
        state.is_over = true;
        if let Some(stop) = &state.stop {
            stop.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_question_ends_the_one_before_of_the_same_tab() {
        let tabs = Tabs::default();
        let stops = [(); 4].map(|()| Stop::switch());
        tabs.turn(Some("a")).stops(&stops[0]);
        tabs.turn(Some("b")).stops(&stops[1]);
        tabs.turn(None).stops(&stops[2]);
        let late = tabs.turn(Some("b"));
        assert!(!stops[0].is_stopped() && stops[1].is_stopped() && !stops[2].is_stopped());
        // The next question came before the work of this one began.
        tabs.turn(Some("b"));
        late.stops(&stops[3]);
        assert!(stops[3].is_stopped());
    }

    #[test]
    fn few_tabs_are_remembered() {
        let tabs = Tabs::default();
        for i in 0..1000 {
            tabs.turn(Some(&i.to_string()));
        }
        assert_eq!(locked(&tabs.0).len(), MOST_TABS);
    }
}
