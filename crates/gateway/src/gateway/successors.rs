//! The hand-over, from both of its sides: this process takes over from another, or
//! another from this one.

use super::RunError;
use crate::operate::handover::{self, Estate};
use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Takes over from the gateway that runs; where none does, this one starts afresh.
pub(super) async fn inherit(control: &Path) -> Result<Option<(UnixStream, Estate)>, RunError> {
    let path = control.to_owned();
    let taken = tokio::task::spawn_blocking(move || handover::take(&path)).await;
    match taken.unwrap_or_else(|error| Err(io::Error::other(error))) {
        Ok((stream, estate)) => {
            tracing::info!(
                sockets = estate.sockets(),
                "taking over from the gateway that runs"
            );
            Ok(Some((stream, estate)))
        }
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
            ) =>
        {
            tracing::info!("no gateway of this name runs: there is nothing to take over");
            Ok(None)
        }
        Err(error) => Err(RunError::start(
            "taking over from the gateway that runs",
            error,
        )),
    }
}

/// Gives the sockets to processes that take over, in its own task, so that no
/// signal disturbs it.
pub(super) struct Successors {
    task: tokio::task::JoinHandle<()>,
    ready: tokio::sync::mpsc::Receiver<UnixStream>,
    estate: Arc<Mutex<Arc<Estate>>>,
    path: PathBuf,
}

impl Successors {
    pub(super) fn listen(control: &Path, estate: Estate) -> io::Result<Successors> {
        let listener = handover::listen(control)?;
        listener.set_nonblocking(true)?;
        let listener = tokio::net::UnixListener::from_std(listener)?;
        let (done, ready) = tokio::sync::mpsc::channel(1);
        let estate = Arc::new(Mutex::new(Arc::new(estate)));
        let shared = Arc::clone(&estate);
        let task = tokio::spawn(async move {
            loop {
                match give(&listener, &shared).await {
                    Ok(stream) => {
                        // The receiver is gone where this process ends anyway.
                        let _ = done.send(stream).await;
                        return;
                    }
                    Err(error) => {
                        tracing::warn!(%error, "no process has taken over; this one goes on");
                        // The sockets of the one that failed close with it.
                        tokio::time::sleep(Duration::from_secs(1)).await;
                    }
                }
            }
        });
        Ok(Successors {
            task,
            ready,
            estate,
            path: handover::socket(control),
        })
    }

    /// Hands over this from now on.
    pub(super) fn renew(&self, estate: Estate) {
        *self.estate.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(estate);
    }

    /// Waits until another process has taken over, to which the stream leads.
    pub(super) async fn ready(&mut self) -> UnixStream {
        match self.ready.recv().await {
            Some(stream) => stream,
            None => std::future::pending().await,
        }
    }

    /// Ends it, and closes its handles of the sockets.
    pub(super) async fn close(mut self, remove: bool) {
        self.task.abort();
        drop((&mut self.task).await);
        if remove {
            drop(std::fs::remove_file(&self.path));
        }
    }
}

/// Waits for another process, and gives it what it needs until it is ready.
async fn give(
    listener: &tokio::net::UnixListener,
    estate: &Mutex<Arc<Estate>>,
) -> io::Result<UnixStream> {
    let (stream, _) = listener.accept().await?;
    let mut stream = stream.into_std()?;
    stream.set_nonblocking(false)?;
    tracing::info!("another process asks to take over");
    let estate = Arc::clone(&estate.lock().unwrap_or_else(PoisonError::into_inner));
    let giving = move || handover::give(&mut stream, &estate).map(|()| stream);
    tokio::task::spawn_blocking(giving)
        .await
        .map_err(io::Error::other)?
}

/// Starts the program of this process again, which may be a newer version, to take
/// over.
pub(super) fn upgrade() {
    let program = std::fs::read_link("/proc/self/exe").map(|path| {
        // The kernel appends this to the path of a replaced file.
        let text = path.to_string_lossy();
        PathBuf::from(text.strip_suffix(" (deleted)").unwrap_or(&text))
    });
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if !arguments.iter().any(|it| it == "--take-over") {
        arguments.push("--take-over".into());
    }
    let started = program.and_then(|path| successor(&path, &arguments).spawn());
    match started {
        Ok(child) => {
            tracing::info!(process = child.id(), "a new process is to take over");
            // One that fails to take over would otherwise remain as a zombie. The thread
            // ends with this process where the new one runs on.
            std::thread::spawn(move || reap(child));
        }
        Err(error) => tracing::error!(%error, "the new process does not start; this one goes on"),
    }
}

/// The command that starts the new process. The service manager has named this process
/// in `WATCHDOG_PID`; with it the new one would not report that it is alive.
fn successor(program: &Path, arguments: &[OsString]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).env_remove("WATCHDOG_PID");
    command
}

/// Waits for the end of a new process.
fn reap(mut child: Child) {
    let process = child.id();
    match child.wait() {
        Ok(status) if status.success() => {}
        Ok(status) => tracing::warn!(process, %status, "the new process has ended"),
        Err(error) => tracing::warn!(process, %error, "cannot wait for the new process"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_process_reports_to_the_watchdog_itself() {
        let command = successor(Path::new("bentpipe"), &["gateway".into()]);
        let removed = |(name, value): (&std::ffi::OsStr, Option<&std::ffi::OsStr>)| {
            name == "WATCHDOG_PID" && value.is_none()
        };
        assert!(command.get_envs().any(removed));
    }
}
