//! The gateway as a process: it reads its configuration, starts the parts that the role needs, and
//! runs until it receives a signal to stop.
//!
//! SIGHUP reads the file again: an invalid one is reported and the old one stays in force. SIGTERM
//! drains: no new connections, and existing ones may finish for `[limits] drain`. SIGINT, or a
//! second SIGTERM, ends it at once; connections are then reset. SIGUSR2 starts the program again,
//! which takes over the sockets while this process lets its connections finish, for up to an hour
//! (`HANDED_OVER`).

mod ending;
mod engines;
mod overlap;
mod successors;
mod watch;

use crate::config::{Config, RateSource};
use crate::descriptors;
use crate::operate::control::{Control, serve_tcp};
use crate::operate::log::LogLevel;
use crate::operate::notify::Notify;
use crate::operate::{SharedState, handover, log, reload};
use crate::tunnel::known::Knowledge;
use bentpipe_document::Diagnostics;
use ending::Ending;
use engines::Engines;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use successors::{Successors, inherit, upgrade};
use tokio::net::{TcpListener, UnixStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use watch::{self_check, watch_delivered, watch_rate, watchdog};

/// Options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Path of the configuration file.
    pub file: PathBuf,
    /// Whether it takes the place of a gateway of this name that runs: its sockets
    /// are taken over, and it drains.
    pub take_over: bool,
}

/// Why the gateway could not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The file cannot be read.
    #[error("cannot read `{}`: {error}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// The file is wrong.
    #[error("{0}")]
    Config(Diagnostics),
    /// A part cannot start.
    #[error("{what}: {why}")]
    Start {
        /// The part that could not start.
        what: String,
        /// Why, and what helps.
        why: String,
    },
}

impl RunError {
    /// A part that cannot start.
    pub(crate) fn start(what: impl Into<String>, why: impl ToString) -> RunError {
        RunError::Start {
            what: what.into(),
            why: why.to_string(),
        }
    }
}

/// Reads a configuration file.
///
/// # Errors
/// When it cannot be read, or is wrong.
pub fn load(path: &Path) -> Result<Config, RunError> {
    let text = std::fs::read_to_string(path).map_err(|error| RunError::File {
        path: path.to_owned(),
        error,
    })?;
    Config::read(path, &text).map_err(RunError::Config)
}

/// Runs until a signal ends it.
///
/// # Errors
/// When it cannot start; once it runs, it does not return errors.
pub fn run(options: &Options) -> Result<(), RunError> {
    let config = load(&options.file)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("gateway")
        .build()
        .map_err(|error| RunError::start("the runtime", error))?;
    let result = runtime.block_on(serve(options, config));
    // What is still open is closed with RST by its SO_LINGER.
    runtime.shutdown_timeout(Duration::from_millis(500));
    result
}

/// Lets the process open as many files as it may, and says where these are too few.
fn raise_descriptors(config: &Config) {
    let allowed = descriptors::raise();
    let room = descriptors::connections(config, false);
    if room < config.limits.connections {
        tracing::warn!(
            files = allowed,
            connections = room,
            "the limit on open files allows fewer connections than `limits.connections`"
        );
    }
}

async fn serve(options: &Options, config: Config) -> Result<(), RunError> {
    let notify = Notify::from_environment();
    let state = SharedState::new(&config);
    let level = log::start(&config.log, log::counting(&state));
    raise_descriptors(&config);
    // Before anything is made, so that whatever is made is removed.
    let mut signals = Signals::new().map_err(|error| RunError::start("signals", error))?;
    let mut parts = Parts::start(options, &config, &state).await?;
    watch_rate(&state);
    watch_delivered(&state);
    tokio::spawn(self_check(Arc::clone(&state)));
    let what = format!("{} `{}`", config.role.word(), config.name);
    tracing::info!(
        role = config.role.word(),
        name = config.name,
        "the gateway runs"
    );
    notify.ready(&what);
    let watchdog = watchdog(&notify);
    let file = File {
        path: &options.file,
        state: &state,
        level: level.as_ref(),
    };
    let ending = loop {
        tokio::select! {
            asked = signals.next() => match asked {
                Asked::Reload => {
                    notify.reloading();
                    let old = state.config();
                    file.read();
                    parts.engines.relisten(&state, &old, parts.successors.as_ref()).await;
                    notify.ready(&what);
                }
                Asked::Upgrade => upgrade(),
                Asked::Drain => break Ending::Drain,
                Asked::End => break Ending::AtOnce,
            },
            stream = handed_over(parts.successors.as_mut()) => break Ending::HandedOver(stream),
            () = ended(&mut parts.predecessor) => parts.note_alone(),
        }
    };
    if let (Ending::HandedOver(_), Some(watchdog)) = (&ending, watchdog) {
        // It is the new process that is watched.
        watchdog.abort();
    }
    parts.end(ending, &notify, &file, &mut signals).await;
    tracing::info!("the gateway ends");
    Ok(())
}

/// What runs from start to end.
struct Parts {
    engines: Engines,
    /// The control socket at work.
    serving: JoinHandle<()>,
    metrics: Option<JoinHandle<()>>,
    successors: Option<Successors>,
    /// The work with the process that this one has taken over from, for as long as that runs.
    predecessor: Option<JoinHandle<()>>,
}

impl Parts {
    async fn start(
        options: &Options,
        config: &Config,
        state: &Arc<SharedState>,
    ) -> Result<Parts, RunError> {
        let control = &config.status.control;
        let predecessor = match options.take_over {
            true => inherit(control).await?,
            false => None,
        };
        let (asking, inherited) = predecessor.unzip();
        let takes_over = inherited.is_some();
        let shown = |error| RunError::start(format!("the socket `{}`", control.display()), error);
        // First, since it finds out whether a gateway of this name runs. One that is taken
        // over keeps its socket until this process works.
        let serving = match takes_over {
            true => None,
            false => Some(Control::open(control, false).map_err(shown)?),
        };
        // Before the rules are made, and before another process ends its work: what fails
        // here changes nothing.
        let metrics = serve_metrics(config, state, takes_over).await?;
        let engines = Engines::start(state, inherited).await?;
        let serving = match serving {
            Some(serving) => serving,
            None => Control::open(control, true).map_err(shown)?,
        };
        let serving = tokio::spawn(serving.serve(Arc::clone(state)));
        let predecessor = match asking {
            Some(mut stream) => {
                let other = |error| RunError::start("the running gateway", error);
                handover::ready(&mut stream).map_err(other)?;
                let stream = stream_of(stream).map_err(other)?;
                Some(tokio::spawn(lead(
                    stream,
                    engines.links(),
                    Arc::clone(state),
                )))
            }
            None => None,
        };
        let estate = engines.estate();
        let successors = match estate.and_then(|estate| Successors::listen(control, estate)) {
            Ok(successors) => Some(successors),
            // The process that ran before has stopped to accept: this one must go on.
            Err(error) if takes_over => {
                tracing::error!(%error, "no other process can take over from this one");
                None
            }
            Err(error) => return Err(shown(error)),
        };
        Ok(Parts {
            engines,
            serving,
            metrics,
            successors,
            predecessor,
        })
    }

    /// The process has ended from which this one took over.
    fn note_alone(&mut self) {
        self.predecessor = None;
        self.engines.note_alone();
        match (&self.successors, self.engines.estate()) {
            (Some(successors), Ok(estate)) => successors.renew(estate),
            (Some(_), Err(error)) => tracing::warn!(%error, "sockets cannot be shared anew"),
            (None, _) => {}
        }
    }
}

/// Divides the rate with the process that this one has taken over from, until that has ended and its
/// sockets are gone.
async fn lead(stream: UnixStream, links: Vec<Arc<Knowledge>>, state: Arc<SharedState>) {
    let set = |rate| {
        state.set_rate(Some(rate));
    };
    let read = || state.counters.reloads.get();
    overlap::lead(stream, &links, set, read).await;
    tokio::time::sleep(LAST_OF_IT).await;
}

/// How long the sockets of a process may outlive its stream: while they are there, packets are given to
/// processes by their places ([`steering`](crate::tunnel)).
const LAST_OF_IT: Duration = Duration::from_secs(3);

/// The stream of a hand-over in the runtime.
fn stream_of(stream: std::os::unix::net::UnixStream) -> io::Result<UnixStream> {
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

/// Waits until a task has ended, which never happens where there is none.
async fn ended(task: &mut Option<JoinHandle<()>>) {
    match task {
        Some(task) => drop(task.await),
        None => std::future::pending().await,
    }
}

/// Waits until another process has taken over, which never happens where none can.
async fn handed_over(successors: Option<&mut Successors>) -> std::os::unix::net::UnixStream {
    match successors {
        Some(successors) => successors.ready().await,
        None => std::future::pending().await,
    }
}

/// Serves metrics where that is configured, in a task that serves until it is aborted.
async fn serve_metrics(
    config: &Config,
    state: &Arc<SharedState>,
    takes_over: bool,
) -> Result<Option<JoinHandle<()>>, RunError> {
    let Some(address) = config.status.metrics else {
        return Ok(None);
    };
    let state = Arc::clone(state);
    match TcpListener::bind(address).await {
        Ok(listener) => Ok(Some(tokio::spawn(serve_tcp(listener, state)))),
        Err(error) if takes_over && error.kind() == io::ErrorKind::AddrInUse => {
            // The old process closes its socket when this one has taken over.
            let task = tokio::spawn(async move {
                loop {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    if let Ok(listener) = TcpListener::bind(address).await {
                        serve_tcp(listener, state).await;
                        return;
                    }
                }
            });
            Ok(Some(task))
        }
        Err(error) => Err(RunError::start(format!("metrics at {address}"), error)),
    }
}

/// Action that a signal requests.
#[derive(Clone, Copy, Debug)]
enum Asked {
    Reload,
    Upgrade,
    Drain,
    End,
}

struct Signals {
    hangup: Signal,
    second: Signal,
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> io::Result<Signals> {
        Ok(Signals {
            hangup: signal(SignalKind::hangup())?,
            second: signal(SignalKind::user_defined2())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) -> Asked {
        tokio::select! {
            _ = self.hangup.recv() => Asked::Reload,
            _ = self.second.recv() => Asked::Upgrade,
            _ = self.terminate.recv() => Asked::Drain,
            _ = self.interrupt.recv() => Asked::End,
        }
    }
}

/// The configuration's file, and what it changes when it is read again.
struct File<'a> {
    path: &'a Path,
    state: &'a SharedState,
    level: Option<&'a LogLevel>,
}

impl File<'_> {
    /// Reads it again. A wrong one changes nothing.
    fn read(&self) {
        let File { path, state, level } = *self;
        let new = match load(path) {
            Ok(new) => new,
            Err(error) => {
                state.counters.reloads_refused.increment();
                tracing::error!("the configuration stays as it was: {error}");
                return;
            }
        };
        let old = state.config();
        let changes = reload::changes(&old, &new);
        state.counters.reloads.increment();
        if old.link.rate != new.link.rate && !matches!(new.link.rate, RateSource::File { .. }) {
            state.set_rate(new.link.configured());
        }
        if let Some(level) = level {
            level.set(new.log.level);
        }
        state.set_config(Arc::new(new));
        if changes.live.is_empty() && changes.later.is_empty() {
            tracing::info!("the configuration was read again; nothing has changed");
        }
        if !changes.live.is_empty() {
            tracing::info!("changed: {}", changes.live.join(", "));
        }
        if !changes.later.is_empty() {
            tracing::warn!(
                "changes with the next restart: {}",
                changes.later.join(", ")
            );
        }
    }
}
