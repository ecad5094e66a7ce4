//! Long work without the interpreter's lock: Ctrl-C stops it, and progress is
//! reported.

use crate::control;
use bentpipe::sim::Stop;
use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often signals are looked for and progress is reported.
const EVERY: Duration = Duration::from_millis(50);

/// What the work is to look at, and says how far it is.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Thrown at Ctrl-C.
    pub(crate) stop: Stop,
    done: AtomicU64,
    total: AtomicU64,
}

impl Watch {
    /// `done` of `total` are done.
    pub(crate) fn set(&self, done: u64, total: u64) {
        self.total.store(total, Ordering::Relaxed);
        self.done.fetch_max(done, Ordering::Relaxed);
    }

    fn report(&self, to: &Bound<'_, PyAny>) -> PyResult<()> {
        let done = self.done.load(Ordering::Relaxed);
        let total = self.total.load(Ordering::Relaxed);
        if total > 0 {
            to.call1((done, total))?;
        }
        Ok(())
    }
}

/// Does `work` on another thread while this one lets other Python threads run,
/// looks for signals and calls `progress` with what is done and all there is.
///
/// # Errors
/// What a signal's handler or `progress` raised; the work is stopped then.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> T + Send,
) -> PyResult<T> {
    control::forget();
    let watch = Watch {
        stop: Stop::switch(),
        done: AtomicU64::new(0),
        total: AtomicU64::new(0),
    };
    let watch = &watch;
    std::thread::scope(|scope| {
        let (send, mut results) = channel();
        let worker = scope.spawn(move || {
            // The receiver lives as long as this thread.
            let _ = send.send(work(watch));
        });
        let mut raised = None;
        loop {
            let next;
            (next, results) = py.detach(move || (results.recv_timeout(EVERY), results));
            match next {
                Ok(result) => {
                    if let (Some(progress), None) = (progress, &raised) {
                        watch.report(progress)?;
                    }
                    return raised.map_or(Ok(result), Err);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    if let Err(panic) = py.detach(|| worker.join()) {
                        resume_unwind(panic);
                    }
                    unreachable!("the work sends its result or panics");
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if raised.is_some() {
                continue;
            }
            let reported = progress.map_or(Ok(()), |progress| watch.report(progress));
            if let Err(error) = py.check_signals().and(reported) {
                watch.stop.stop();
                raised = Some(error);
            }
        }
    })
}
