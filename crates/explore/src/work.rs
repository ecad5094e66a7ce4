//! Work for a client: runs that go on while their results are sent, within limits.
//!
//! An answer is a line of JSON for each result, in the order in which they came. The work
//! ends early when the client goes away, which is how a page that was changed cancels what
//! it asked before.
//!
//! # Limits
//!
//! - A tab of the browser has `MOST_OF_TAB` jobs, and names itself in the header
//!   [`TAB_HEADER`]. Jobs that were stopped and have not ended do not count.
//! - The server works on `MOST_JOBS` at a time. Another waits, and is refused after
//!   `WAIT`.
//! - A job is stopped after `MOST_TIME`.
//! - A job waits `PATIENCE` for a client that reads slowly, with `MOST_LINES` of its
//!   lines in memory.
//! - Jobs give way to whatever else the machine does.

use crate::Problem;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bentpipe::sim::Stop;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;

/// The header in which a tab of the browser names itself.
pub const TAB_HEADER: &str = "x-tab";

/// Jobs of a tab that go on or wait. A browser has six connections to a server.
const MOST_OF_TAB: usize = 6;

/// Jobs at the same time of all tabs.
pub(crate) const MOST_JOBS: usize = 8;

/// How long a job waits until others have ended.
const WAIT: Duration = Duration::from_secs(20);

/// How long a job takes at most.
const MOST_TIME: Duration = Duration::from_secs(600);

/// How long a job that was stopped is waited for.
const GRACE: Duration = Duration::from_secs(5);

/// How long a job waits for a client that does not read.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a job looks whether the client has read.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Lines that wait for a client that reads slowly.
const MOST_LINES: usize = 64;

tokio::task_local! {
    /// The tab whose request is being answered.
    static TAB: Arc<str>;
}

/// Notes which tab a request is from.
pub(crate) async fn of_tab(request: Request, next: Next) -> Response {
    let name = request.headers().get(TAB_HEADER);
    let name = name.and_then(|name| name.to_str().ok()).unwrap_or("");
    let is_name = name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let tab = if is_name { name } else { "" };
    TAB.scope(tab.into(), next.run(request)).await
}

/// The jobs that go on or wait. Clones are the same.
#[derive(Clone, Debug)]
pub struct Jobs {
    going: Arc<Mutex<Going>>,
    slots: Arc<Semaphore>,
}

/// The jobs that go on or wait.
#[derive(Debug, Default)]
struct Going {
    /// Each with its number, its tab and its switch.
    jobs: Vec<(u64, Arc<str>, Stop)>,
    /// The number of the next.
    next: u64,
}

impl Default for Jobs {
    fn default() -> Jobs {
        Jobs {
            going: Arc::default(),
            slots: Arc::new(Semaphore::new(MOST_JOBS)),
        }
    }
}

impl Jobs {
    /// A place for a job of the tab that asks.
    fn enter(&self, stop: &Stop) -> Result<Place, Problem> {
        let tab: Arc<str> = TAB.try_with(Arc::clone).unwrap_or_else(|_| "".into());
        let mut going = self.going.lock().unwrap_or_else(PoisonError::into_inner);
        let of_tab = |(_, of, stop): &&(u64, Arc<str>, Stop)| *of == tab && !stop.is_stopped();
        if going.jobs.iter().filter(of_tab).count() >= MOST_OF_TAB {
            return Err(Problem::limit(format!(
                "this tab has {MOST_OF_TAB} answers to wait for, the most at a time"
            )));
        }
        let number = going.next;
        going.next += 1;
        going.jobs.push((number, tab, stop.clone()));
        Ok(Place {
            jobs: self.clone(),
            number,
            stop: stop.clone(),
        })
    }

    /// Waits until the job may begin.
    async fn slot(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let slot = tokio::time::timeout(WAIT, self.slots.clone().acquire_owned()).await;
        slot.ok().and_then(Result::ok).ok_or_else(|| {
            Problem::limit("this server has as much to do as it takes; close a tab or wait")
        })
    }
}

/// A job that goes on or waits; it has ended when this is dropped.
struct Place {
    jobs: Jobs,
    number: u64,
    stop: Stop,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut going = self
            .jobs
            .going
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        going.jobs.retain(|(number, ..)| *number != self.number);
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
    /// stopped, once the client is gone or has not read for too long.
    pub fn send(&self, line: &Value) -> bool {
        let mut bytes = line.to_string().into_bytes();
        bytes.push(b'\n');
        let mut waited = Duration::ZERO;
        let is_sent = loop {
            match self.lines.try_send(bytes) {
                Ok(()) => break true,
                Err(TrySendError::Closed(_)) => break false,
                Err(TrySendError::Full(unsent)) => bytes = unsent,
            }
            if waited >= PATIENCE || self.stop.is_stopped() {
                break false;
            }
            std::thread::sleep(BETWEEN_LOOKS);
            waited += BETWEEN_LOOKS;
        };
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

/// Does `job` on a thread of its own, when its turn comes, for as long as a job may take.
async fn perform<T: Send + 'static>(
    place: Place,
    limit: Duration,
    job: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let slot = place.jobs.slot().await?;
    let stop = place.stop.clone();
    if stop.is_stopped() {
        return Err(Problem::limit("it was stopped before it began"));
    }
    let mut work = tokio::task::spawn_blocking(move || {
        give_way();
        let result = job();
        drop((slot, place));
        result
    });
    let fault = |_| {
        let text = "the work ended by a fault of this program";
        Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, text))
    };
    if let Ok(ended) = tokio::time::timeout(limit, &mut work).await {
        return ended.unwrap_or_else(fault);
    }
    stop.stop();
    // Its place is taken until it has ended.
    let _ = tokio::time::timeout(GRACE, work).await;
    Err(Problem::limit(format!(
        "stopped after {} minutes, the most that the page is given; \
         the same in a terminal has no such limit",
        limit.as_secs() / 60
    )))
}

/// Lets whatever else the machine does go first, such as the browser.
pub(crate) fn give_way() {
    #[cfg(target_os = "linux")]
    {
        // Of this thread alone, on Linux. Without it the work is done as well.
        let _ = rustix::process::setpriority_process(None, 5);
    }
}

/// Runs `job` on a thread of its own, and answers with the lines that it sends. An error
/// is the last line, in the form of [`Problem::document`].
///
/// # Errors
/// If the tab has too many jobs already.
pub fn stream(
    jobs: &Jobs,
    job: impl FnOnce(&Results) -> Result<(), Problem> + Send + 'static,
) -> Result<Response, Problem> {
    stream_within(jobs, MOST_TIME, job)
}

fn stream_within(
    jobs: &Jobs,
    limit: Duration,
    job: impl FnOnce(&Results) -> Result<(), Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let (lines, received) = mpsc::channel(MOST_LINES);
    let stop = Stop::switch();
    let place = jobs.enter(&stop)?;
    let dropped = Dropped(stop.clone());
    tokio::spawn(async move {
        let last = lines.clone();
        let results = Results { lines, stop };
        if let Err(problem) = perform(place, limit, move || job(&results)).await {
            let mut line = problem.document().to_string().into_bytes();
            line.push(b'\n');
            // Nobody is there to read it if this fails.
            let _ = last.send_timeout(line, PATIENCE).await;
        }
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
/// Those of the job, and if the tab has too many already.
pub async fn once(
    jobs: &Jobs,
    job: impl FnOnce() -> Result<Value, Problem> + Send + 'static,
) -> Result<axum::Json<Value>, Problem> {
    once_until(jobs, |_| job()).await
}

/// As [`once`]; what `job` is given stops its runs when the client goes away or it takes
/// too long.
///
/// # Errors
/// Those of the job, and if the tab has too many already.
pub async fn once_until(
    jobs: &Jobs,
    job: impl FnOnce(&Stop) -> Result<Value, Problem> + Send + 'static,
) -> Result<axum::Json<Value>, Problem> {
    made_until(jobs, job).await.map(axum::Json)
}

/// As [`once_until`], of what is no JSON, such as a file.
///
/// # Errors
/// Those of the job, and if the tab has too many already.
pub(crate) async fn made_until<T: Send + 'static>(
    jobs: &Jobs,
    job: impl FnOnce(&Stop) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let stop = Stop::switch();
    let place = jobs.enter(&stop)?;
    let _dropped = Dropped(stop.clone());
    perform(place, MOST_TIME, move || job(&stop)).await
}

#[cfg(test)]
#[path = "work_tests.rs"]
mod tests;
