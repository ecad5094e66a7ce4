//! The trial of a control before its first use.

use crate::{LoadError, cache};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// How a trial ended that found nothing against the control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tried {
    /// It ran, and this version of it need not be tried again.
    Ran,
    /// It could not be tried, such as where it does not compile; whoever loads it
    /// next finds out why.
    NotYet,
}

/// Tries the control at a path, under a name if one is given, in another process.
/// The error says in words for people how it crashed or hung.
pub type Trial = fn(Option<&str>, &Path) -> Result<Tried, String>;

static TRIAL: OnceLock<Trial> = OnceLock::new();

/// Has every control tried before this process loads it, unless this version of it
/// was on this machine: the cache of compiled libraries remembers that. There can be
/// one trial; a second one is ignored.
pub fn try_before_first_use(trial: Trial) {
    let _ = TRIAL.set(trial);
}

/// Tries the control whose sources have this hash, where that is due.
pub(crate) fn passed(name: Option<&str>, path: &Path, hash: &str) -> Result<(), LoadError> {
    let Some(trial) = TRIAL.get() else {
        return Ok(());
    };
    let marker = format!("{hash}.tried");
    if cache::has(&marker) {
        return Ok(());
    }
    let tried = trial(name, path).map_err(|reason| LoadError::Trial {
        path: path.to_owned(),
        reason,
    })?;
    if tried == Tried::Ran {
        cache::file(&marker, |new| {
            fs::write(new, b"").map_err(|e| LoadError::cache(new, &e))
        })?;
    }
    Ok(())
}
