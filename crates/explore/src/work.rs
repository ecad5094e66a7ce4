//! Work for a client: runs that go on while their results are sent, within limits.
//!
//! An answer is a line of JSON for each result, in the order in which they came. The work
//! ends early when the client goes away, which is how a page that was changed cancels what
//! it asked before. Each tab has few jobs at a time, and so has the server.

use crate::Problem;
use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bentpipe::sim::Stop;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;

/// Jobs at the same time of all clients.
const MOST_JOBS: usize = 16;

/// Lines that wait for a client that reads slowly.
const MOST_LINES: usize = 64;

/// The jobs that go on. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Jobs(Arc<Mutex<usize>>);

/// A job that goes on; it has ended when this is dropped.
struct Place(Jobs);

impl Jobs {
    /// A place for a job, unless there are too many.
    fn place(&self) -> Option<Place> {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (*jobs < MOST_JOBS).then(|| {
            *jobs += 1;
            Place(self.clone())
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut jobs = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        *jobs = jobs.saturating_sub(1);
    }
}

/// Where a job sends its results.
#[derive(Clone, Debug)]
pub struct Results {
    lines: mpsc::Sender<Vec<u8>>,
    stop: Stop,
}

impl Results {
    /// Sends a line; waits while the client reads slowly. False, and the job's runs are
    /// stopped, once the client is gone.
    pub fn send(&self, line: &Value) -> bool {
        let mut bytes = line.to_string().into_bytes();
        bytes.push(b'\n');
        let is_sent = self.lines.blocking_send(bytes).is_ok();
        if !is_sent {
            self.stop.stop();
        }
        is_sent
    }

    /// Sends a line unless others wait already, as progress that the next line replaces.
    pub fn send_if_free(&self, line: &Value) {
        if self.lines.capacity() == MOST_LINES {
            self.send(line);
        }
    }

    /// What stops the runs of the job: hand it to them.
    #[must_use]
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// True once the client is gone.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.stop.is_stopped() || self.lines.is_closed()
    }
}

/// Stops the runs of a job when its answer is dropped.
struct Dropped(Stop);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Runs `job` on a thread of its own, and answers with the lines that it sends. An error
/// is the last line, in the form of [`Problem::document`].
///
/// # Errors
/// If too many jobs go on already.
pub fn stream(
    jobs: &Jobs,
    job: impl FnOnce(&Results) -> Result<(), Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let Some(place) = jobs.place() else {
        return Err(Problem::limit(
            "this server has as much to do as it takes; close a tab or wait",
        ));
    };
    let (lines, received) = mpsc::channel(MOST_LINES);
    let stop = Stop::switch();
    let dropped = Dropped(stop.clone());
    let results = Results { lines, stop };
    tokio::task::spawn_blocking(move || {
        let ended = job(&results);
        if let Err(problem) = ended
            && !results.is_cancelled()
        {
            results.send(&problem.document());
        }
        drop(place);
    });
    let lines = ReceiverStream::new(received).map(move |line| {
        // It lives as long as the answer.
        let _ = &dropped;
        Ok::<_, std::convert::Infallible>(line)
    });
    let head = [
        (header::CONTENT_TYPE, "application/x-ndjson"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((head, Body::from_stream(lines)).into_response())
}

/// Runs `job` on a thread of its own and answers with what it returns.
///
/// # Errors
/// Those of the job, and if too many go on already.
pub async fn once(
    jobs: &Jobs,
    job: impl FnOnce() -> Result<Value, Problem> + Send + 'static,
) -> Result<axum::Json<Value>, Problem> {
    let Some(place) = jobs.place() else {
        return Err(Problem::limit(
            "this server has as much to do as it takes; close a tab or wait",
        ));
    };
    let done = tokio::task::spawn_blocking(move || {
        let result = job();
        drop(place);
        result
    });
    match done.await {
        Ok(result) => result.map(axum::Json),
        Err(_) => Err(Problem::new(
            axum::http::StatusCode::INTERNAL_SERVER_ERROR,
            "the work ended by a fault of this program",
        )),
    }
}
