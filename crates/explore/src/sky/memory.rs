//! What was planned last: a plan of a day takes seconds, and a download over it, a picture
//! of it or another tab ask for the same.

use super::question::Ready;
use crate::Problem;
use bentpipe::map::{self, Course};
use bentpipe::scenario::Scenario;
use bentpipe::scenario::space::{ExpandedConstellation, ExpandedConstellations};
use bentpipe::units::Duration;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Plans that are kept.
const MOST: usize = 3;

/// A scenario with what is behind it.
#[derive(Debug)]
pub(crate) struct Surveyed {
    pub(crate) scenario: Scenario,
    pub(crate) space: ExpandedConstellations,
}

impl Surveyed {
    /// The one constellation.
    pub(crate) fn sky(&self) -> Result<&ExpandedConstellation, Problem> {
        let first = self.space.skies.first();
        first.ok_or_else(|| Problem::wrong("there are no satellites"))
    }

    /// The way of the one flow.
    pub(crate) fn course(&self) -> Result<Course, Problem> {
        let mut courses = map::courses(&self.scenario, &self.space, &[0]);
        courses
            .pop()
            .ok_or_else(|| Problem::wrong("there is no flow"))
    }
}

/// What was planned last. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory(Arc<Mutex<Kept>>);

/// Plans by what tells them apart, the last one first.
type Kept = VecDeque<(String, Arc<Surveyed>)>;

impl Memory {
    /// The plan of a question over `length`, if it is kept.
    pub(crate) fn find(&self, question: &Ready, length: Duration) -> Option<Arc<Surveyed>> {
        let key = question.key(length);
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|(known, _)| *known == key)?;
        Some(found.1.clone())
    }

    /// Keeps the plan of all of the time that a question asks about.
    pub(crate) fn keep(&self, question: &Ready, surveyed: Arc<Surveyed>) {
        let key = question.key(question.duration());
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| *known != key);
        kept.push_front((key, surveyed));
        kept.truncate(MOST);
    }

    /// The plan of all of the time that a question asks about.
    pub(crate) fn survey(&self, question: &Ready) -> Result<Arc<Surveyed>, Problem> {
        if let Some(found) = self.find(question, question.duration()) {
            return Ok(found);
        }
        let surveyed = question.survey(question.duration())?;
        self.keep(question, surveyed.clone());
        Ok(surveyed)
    }
}
