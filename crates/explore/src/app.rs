//! What the server gives every view: how to print, a limit of jobs, the folder that was
//! opened, and a place for what a view keeps between requests.
//!
//! Views know the server by this alone, and it knows no view, so that a new one is registered in
//! two lines of `lib.rs`.

use crate::Problem;
use crate::folder::Files;
use crate::work::Jobs;
use axum::http::Extensions;
use bentpipe::compare::Build;
use bentpipe::scenario::Scenario;
use bentpipe::sim::Stop;
use bentpipe_present::output::Printed;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs on this machine's own TCP, which need more than this crate may do.
#[derive(Clone, Copy, Debug)]
pub struct RealHosts {
    /// What such runs lack here; `None` if nothing.
    pub lacking: fn() -> Option<String>,
    /// What `bentpipe run --on both` prints of a scenario with a seed.
    pub on_both: OnBoth,
}

/// Runs a scenario with a seed in the simulator and, in real time, on this machine's own
/// TCP, until that ends or is stopped. The last argument is called with the seconds that
/// have gone by. Errors are what the command would print.
pub type OnBoth = fn(&Scenario, u64, &Stop, &dyn Fn(f64)) -> Result<Printed, String>;

/// What every view has. Clones share everything.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) real_hosts: RealHosts,
    pub(crate) build: Build,
    pub(crate) jobs: Jobs,
    /// The folder that was opened, if any.
    pub(crate) files: Option<Arc<Files>>,
    /// The command that starts the same server again.
    pub(crate) command: Arc<str>,
    /// A folder to read the page from, instead of the one in the program.
    pub(crate) page: Option<Arc<PathBuf>>,
    /// What views keep, by type.
    kept: Arc<Mutex<Extensions>>,
}

impl App {
    pub(crate) fn new(
        real_hosts: RealHosts,
        build: Build,
        files: Option<Files>,
        command: String,
        page: Option<PathBuf>,
    ) -> App {
        App {
            real_hosts,
            build,
            jobs: Jobs::default(),
            files: files.map(Arc::new),
            command: command.into(),
            page: page.map(Arc::new),
            kept: Arc::default(),
        }
    }

    /// What the view that declares `T` keeps while the server runs; `T::default()` at first.
    /// Clones of `T` must share their content.
    pub(crate) fn kept<T: Clone + Default + Send + Sync + 'static>(&self) -> T {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert_default::<T>().clone()
    }

    /// The folder that was opened.
    ///
    /// # Errors
    /// If the command was given none.
    pub(crate) fn files(&self) -> Result<&Files, Problem> {
        let none = || {
            Problem::missing(
                "no folder was opened: `bentpipe explore DIR` lets the page read in DIR",
            )
        };
        self.files.as_deref().ok_or_else(none)
    }
}
