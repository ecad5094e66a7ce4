//! What was planned last: a plan of a day takes seconds, and a download over it, a picture
//! of it or another tab ask for the same.

use super::question::Ready;
use crate::Problem;
use crate::recent::Recent;
use bentpipe::map::{self, Course};
use bentpipe::scenario::Scenario;
use bentpipe::scenario::space::{ExpandedConstellation, ExpandedConstellations};
use bentpipe::units::Duration;
use std::sync::Arc;

/// Plans that are kept.
const MOST: u64 = 3;

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
        let (mut courses, _) = map::courses(&self.scenario, &self.space, &[0], 1);
        courses
            .pop()
            .ok_or_else(|| Problem::wrong("there is no flow"))
    }
}

/// What was planned last, by what tells plans apart. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory(Recent<String, Arc<Surveyed>, MOST>);

impl Memory {
    /// The plan of a question over `length`, if it is kept.
    pub(crate) fn find(&self, question: &Ready, length: Duration) -> Option<Arc<Surveyed>> {
        self.0.get(&question.key(length))
    }

    /// Keeps the plan of all of the time that a question asks about.
    pub(crate) fn keep(&self, question: &Ready, surveyed: Arc<Surveyed>) {
        let key = question.key(question.duration());
        self.0.put(key, surveyed, 1);
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
