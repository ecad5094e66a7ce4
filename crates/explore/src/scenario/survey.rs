//! Texts that were checked, so that a check goes on while the page is answered, and a run
//! does not check again.

use crate::app::App;
use crate::bounds::MOST_TEXT;
use crate::{Problem, files};
use bentpipe::scenario::space::ExpandedConstellations;
use bentpipe::scenario::{Diagnostics, Document, Scenario};
use bentpipe_document::value::check_name;
use serde::Deserialize;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Texts that are kept.
const KEPT: usize = 8;

/// Checks that go on at the same time, of all pages. Each ends by itself.
const MOST_AT_ONCE: usize = 4;

/// How long an answer waits for a check.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// How long a picture or a run waits for one.
pub(super) const LONG: Duration = Duration::from_secs(60);

/// A scenario's text, and the file that it is of, as a path below the opened folder.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) path: Option<String>,
    /// What the scenario is called where its text has no name.
    pub(super) name: Option<String>,
}

impl Text {
    /// Refuses a text that is too long.
    pub(super) fn limited(&self) -> Result<(), Problem> {
        match self.text.len() > MOST_TEXT {
            true => Err(Problem::wrong("the text is longer than 1 MiB")),
            false => Ok(()),
        }
    }
}

/// What a check found.
#[derive(Debug)]
pub(super) enum Surveyed {
    Valid(Box<(Scenario, ExpandedConstellations)>),
    Wrong(Diagnostics),
    /// It cannot be checked here: why.
    Refused(String),
}

/// A text and what its check found, or will find.
#[derive(Debug)]
struct Kept {
    asked: Text,
    found: OnceLock<Surveyed>,
    ended: Notify,
}

/// What a request waits for, or has.
#[derive(Clone, Debug)]
pub(super) struct Survey(Arc<Kept>);

impl Survey {
    /// What was found; `None` while the check goes on.
    pub(super) fn found(&self) -> Option<&Surveyed> {
        self.0.found.get()
    }

    /// The scenario, if it is valid.
    pub(super) fn valid(&self) -> Option<&(Scenario, ExpandedConstellations)> {
        match self.found()? {
            Surveyed::Valid(found) => Some(found),
            _ => None,
        }
    }
}

/// The texts that were checked last. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Surveys(Arc<Mutex<VecDeque<Arc<Kept>>>>);

impl Surveys {
    /// The check of a text, which begins unless it did before. Files that the text names
    /// are seen from its path.
    ///
    /// # Errors
    /// If many other checks go on.
    fn begin(&self, app: &App, asked: &Text) -> Result<Arc<Kept>, Problem> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |kept: &&Arc<Kept>| kept.asked == *asked;
        // A text that names files is checked again: they may have changed.
        if let Some(kept) = all.iter().find(is_same)
            && !(kept.found.get().is_some() && names_files(&asked.text))
        {
            return Ok(Arc::clone(kept));
        }
        let going_on = all.iter().filter(|kept| kept.found.get().is_none());
        if going_on.count() >= MOST_AT_ONCE {
            return Err(Problem::limit(
                "earlier texts are still being checked; wait for them",
            ));
        }
        all.retain(|kept| !is_same(&kept));
        if all.len() >= KEPT
            && let Some(oldest) = all.iter().position(|kept| kept.found.get().is_some())
        {
            all.remove(oldest);
        }
        let kept = Arc::new(Kept {
            asked: asked.clone(),
            found: OnceLock::new(),
            ended: Notify::new(),
        });
        all.push_back(Arc::clone(&kept));
        let (ours, app) = (Arc::clone(&kept), app.clone());
        tokio::task::spawn_blocking(move || {
            // A fault of a check must not leave its text unanswered for ever.
            let check = std::panic::AssertUnwindSafe(|| survey(&app, &ours));
            let found = std::panic::catch_unwind(check).unwrap_or_else(|_| {
                Surveyed::Refused("the check ended by a fault of this program".to_owned())
            });
            let _ = ours.found.set(found);
            ours.ended.notify_waiters();
        });
        Ok(kept)
    }

    /// The check of a text: done, or still going on after `patience`.
    ///
    /// # Errors
    /// If many other checks go on.
    pub(super) async fn check(
        app: &App,
        asked: &Text,
        patience: Duration,
    ) -> Result<Survey, Problem> {
        let kept = app.kept::<Surveys>().begin(app, asked)?;
        {
            let ended = kept.ended.notified();
            if kept.found.get().is_none() {
                let _ = tokio::time::timeout(patience, ended).await;
            }
        }
        Ok(Survey(kept))
    }
}

/// Whether a text may name files.
fn names_files(text: &str) -> bool {
    text.contains("file") || text.contains("trace")
}

/// Checks a text.
fn survey(app: &App, kept: &Kept) -> Surveyed {
    let asked = &kept.asked;
    let own = asked
        .name
        .as_deref()
        .filter(|name| check_name(name).is_ok());
    let own = own.map(|name| format!("{name}.toml"));
    let path = asked.path.as_deref().or(own.as_deref());
    // Its mistakes of TOML keep their places this way.
    if let Err(found) = Document::parse(path.unwrap_or("scenario.toml"), &asked.text) {
        return Surveyed::Wrong(found);
    }
    let file = match files::scenario(app, path, &asked.text) {
        Ok(file) => file,
        Err(problem) => return Surveyed::Refused(problem.to_string()),
    };
    match file.survey() {
        Ok(valid) => Surveyed::Valid(Box::new(valid)),
        Err(bentpipe::Error::Scenario(found)) => Surveyed::Wrong(found),
        Err(other) => Surveyed::Refused(other.to_string()),
    }
}
