//! Studies that the page has run itself: their results are files of this process, and are
//! removed with it.

use super::plan::{self, MOST_RUNS};
use crate::Problem;
use crate::app::App;
use crate::guard;
use crate::recent::Recent;
use crate::running::executed;
use crate::work::Results;
use bentpipe::Progress;
use bentpipe_study::write_runs;
use serde_json::json;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the names of such studies begin with; no path does.
pub(super) const PREFIX: &str = "run:";

/// Studies that are kept, at most.
const MOST_KEPT: u64 = 4;

/// The folders of the studies that were run, by name.
type Ran = Recent<String, Arc<Folder>, MOST_KEPT>;

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

/// The folder of a study that was run.
///
/// # Errors
/// If it is not kept any more.
pub(super) fn folder(app: &App, study: &str) -> Result<Arc<Folder>, Problem> {
    let found = app.kept::<Ran>().get(&study.to_owned());
    found.ok_or_else(|| {
        let file = study.trim_start_matches(PREFIX);
        Problem::missing(format!("the runs of `{file}` are not there any more"))
    })
}

/// Runs the study of a file, and returns the name of its results.
///
/// # Errors
/// If the file is wrong, the study is too large for a page, or the client goes away.
pub(super) fn run(app: &App, file: &str, results: &Results) -> Result<String, Problem> {
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
    let progress = |at: &Progress| json!({ "done": at.done, "total": at.total, "share": at.share });
    let (found, identity) = executed(loaded, None, results, progress)?;
    let wrong = |error: &dyn std::error::Error| Problem::wrong(error.to_string());
    let folder = Folder::new().map_err(|e| wrong(&e))?;
    write_runs(folder.path(), &found, &identity).map_err(|e| wrong(&e))?;
    let named = format!("{PREFIX}{file}");
    app.kept::<Ran>().put(named.clone(), Arc::new(folder), 1);
    Ok(named)
}
