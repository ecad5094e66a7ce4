//! Studies that the page has run itself: their results are files of this process, and are
//! removed with it.

use super::plan::{self, MOST_RUNS};
use crate::Problem;
use crate::guard;
use crate::server::App;
use crate::work::Results;
use bentpipe::Progress;
use bentpipe_study::{ExecuteOptions, Runner as _, Simulator, execute, write_runs};
use serde_json::json;
use std::fs::{self, DirBuilder};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What the names of such studies begin with; no path does.
pub(super) const PREFIX: &str = "run:";

/// Studies that are kept, at most.
const MOST_KEPT: usize = 4;

/// The studies that were run. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Ran(Arc<Mutex<Vec<Kept>>>);

/// A study by name, and its folder.
type Kept = (String, Arc<Folder>);

/// A folder of this process, which is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Makes a folder that no other user may read.
    fn new() -> io::Result<Folder> {
        let secret = guard::secret();
        let secret = secret.ok_or_else(|| io::Error::other("no random numbers for a name"))?;
        let path = std::env::temp_dir().join(format!("bentpipe-explore-{secret}"));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Folder(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left of it is in a folder for what may be removed.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Ran {
    /// The folder of a study that was run.
    ///
    /// # Errors
    /// If it is not kept any more.
    pub(super) fn folder(&self, study: &str) -> Result<Arc<Folder>, Problem> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|(name, _)| name == study);
        let found = found.map(|(_, folder)| Arc::clone(folder));
        found.ok_or_else(|| {
            let file = study.trim_start_matches(PREFIX);
            Problem::missing(format!("the runs of `{file}` are not there any more"))
        })
    }

    /// Runs the study of a file, and returns the name of its results.
    ///
    /// # Errors
    /// If the file is wrong, the study is too large for a page, or the client goes away.
    pub(super) fn run(&self, app: &App, file: &str, results: &Results) -> Result<String, Problem> {
        let study = plan::load(app, file)?;
        let runs = study.check()?;
        if runs == 0 {
            return Err(Problem::wrong("the study has no runs of its own"));
        }
        if runs > MOST_RUNS {
            return Err(Problem::limit(format!(
                "{runs} runs are more than the {MOST_RUNS} that the page runs: run it with \
                 `bentpipe study`, and open the folder of results"
            )));
        }
        let name = &study.spec().name;
        let missing = || Problem::missing(format!("there is no study `{name}`"));
        let loaded = study.studies().get(name).ok_or_else(missing)?;
        let simulator = Simulator::of_study(loaded).map_err(Problem::wrong)?;
        let simulator = simulator.with_stop(results.stop());
        let watch = |at: &Progress| {
            results.send_if_free(&json!({
                "progress": { "done": at.done, "total": at.total, "share": at.share }
            }));
            match results.is_cancelled() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let options = ExecuteOptions {
            watch: &watch,
            ..ExecuteOptions::default()
        };
        let wrong = |error: &dyn std::error::Error| Problem::wrong(error.to_string());
        let found = execute(&loaded.study, &simulator, &options).map_err(|e| wrong(&e))?;
        let folder = Folder::new().map_err(|e| wrong(&e))?;
        write_runs(folder.path(), &found, &simulator.identity()).map_err(|e| wrong(&e))?;
        let named = format!("{PREFIX}{file}");
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| *known != named);
        kept.push((named.clone(), Arc::new(folder)));
        if kept.len() > MOST_KEPT {
            kept.remove(0);
        }
        Ok(named)
    }
}
