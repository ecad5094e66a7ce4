//! The gateway as a process: it reads its configuration, starts the parts that the role needs, and
//! runs until it receives a signal to stop.
//!
//! SIGHUP reads the file again: an invalid one is reported and the old one stays in force. SIGTERM
//! drains: no new connections, and existing ones may finish for `[limits] drain`. SIGINT, or a
//! second SIGTERM, ends it at once; connections are then reset. SIGUSR2 starts the program again,
//! which takes over the sockets while this process lets its connections finish, for up to an hour
//! (`HANDED_OVER`).

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
use engines::Engines;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
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
    watchdog(&notify);
    let ending = loop {
        tokio::select! {
            asked = signals.next() => match asked {
                Asked::Reload => {
                    notify.reloading();
                    let old = state.config();
                    reread(&options.file, &state, level.as_ref());
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
    parts.end(ending, &notify, &state, &mut signals).await;
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
                Some(tokio::spawn(overlap::lead(stream, engines.links())))
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

    async fn end(
        mut self,
        ending: Ending,
        notify: &Notify,
        state: &SharedState,
        signals: &mut Signals,
    ) {
        let handed_over = matches!(ending, Ending::HandedOver(_));
        // The files of these sockets are the new process' after a hand-over.
        if let Some(successors) = self.successors {
            successors.close(!handed_over).await;
        }
        let drain_limit = state.config().limits.drain;
        let predecessor = self.predecessor.as_ref();
        let has_older = || predecessor.is_some_and(|it| !it.is_finished());
        match ending {
            Ending::AtOnce => {}
            Ending::Drain => {
                notify.stopping(drain_limit);
                self.engines.stop_accepting(false).await;
                drain(state, drain_limit, signals, has_older).await;
            }
            Ending::HandedOver(stream) => {
                if let Some(metrics) = self.metrics {
                    // The new process serves the metrics and takes the rate from now on.
                    metrics.abort();
                }
                let following = tokio::spawn(follow(stream, self.engines.links()));
                self.engines.stop_accepting(true).await;
                let mut still = Still::comes();
                let needed = || has_older() || still.comes_to(&self.engines);
                let most = HANDED_OVER.max(drain_limit);
                let drained = drain(state, most, signals, needed);
                tokio::select! {
                    () = drained => self.engines.end_overlap().await,
                    () = gone(&following), if self.engines.needs_successor() => {
                        tracing::warn!("the process that has taken over is gone; this one ends");
                    }
                }
                following.abort();
            }
        }
        self.serving.abort();
        drop(self.serving.await);
        self.engines.stop().await;
    }
}

/// How long connections may go on in a process that has handed over. Nothing waits for
/// its end, so it is much longer than `[limits] drain`; it bounds how many processes of
/// repeated upgrades run at a time.
const HANDED_OVER: Duration = Duration::from_secs(3600);

/// The stream of a hand-over in the runtime.
fn stream_of(stream: std::os::unix::net::UnixStream) -> io::Result<UnixStream> {
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

/// Keeps to the rate that the process says that has taken over, until that is gone.
async fn follow(stream: std::os::unix::net::UnixStream, links: Vec<Arc<Knowledge>>) {
    match stream_of(stream) {
        Ok(stream) => overlap::follow(stream, links).await,
        Err(error) => tracing::warn!(%error, "the rate is not divided with the new process"),
    }
}

/// Waits until a task has ended.
async fn gone(task: &JoinHandle<()>) {
    while !task.is_finished() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until a task has ended, which never happens where there is none.
async fn ended(task: &mut Option<JoinHandle<()>>) {
    match task {
        Some(task) => drop(task.await),
        None => std::future::pending().await,
    }
}

/// What may still come to a process that has handed over.
struct Still {
    /// When it ends at the latest, whatever terminals say, some of which may not be reached or be of an
    /// earlier version.
    until: Instant,
    /// When nothing more was to come, but for what was on its way.
    left: Option<Instant>,
}

impl Still {
    fn comes() -> Still {
        Still {
            until: Instant::now() + TERMINALS_MOVE,
            left: None,
        }
    }

    fn comes_to(&mut self, engines: &Engines) -> bool {
        let now = Instant::now();
        match engines.is_left() {
            true => now < *self.left.get_or_insert(now + ON_THE_WAY),
            false => {
                self.left = None;
                now < self.until
            }
        }
    }
}

/// Time for the terminals of a hub that has handed over to make associations with the new process: many
/// round trips, also over a link that has just been lost for a while.
const TERMINALS_MOVE: Duration = Duration::from_secs(30);
/// How long what terminals have sent may take, packets that are lost and sent again included.
const ON_THE_WAY: Duration = Duration::from_secs(3);

/// Waits until another process has taken over, which never happens where none can.
async fn handed_over(successors: Option<&mut Successors>) -> std::os::unix::net::UnixStream {
    match successors {
        Some(successors) => successors.ready().await,
        None => std::future::pending().await,
    }
}

/// How a run ends.
#[derive(Debug)]
enum Ending {
    /// Resets all connections.
    AtOnce,
    /// Lets connections finish.
    Drain,
    /// Connections may finish, and another process takes new ones, to which the stream leads.
    HandedOver(std::os::unix::net::UnixStream),
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

/// Lets connections finish, and goes on while this process is `needed` otherwise.
async fn drain(
    state: &SharedState,
    most: Duration,
    signals: &mut Signals,
    mut needed: impl FnMut() -> bool,
) {
    state.note_draining();
    let active = || state.counters.connections_active.get();
    tracing::info!(
        connections = active(),
        "no new connections; those that exist may finish"
    );
    let until = Instant::now() + most;
    while (active() > 0 || needed()) && Instant::now() < until {
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(50)) => {}
            asked = signals.next() => {
                if matches!(asked, Asked::Drain | Asked::End) {
                    break;
                }
            }
        }
    }
    if active() > 0 {
        tracing::warn!(
            connections = active(),
            "connections that did not finish are reset"
        );
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

/// Reads the file again. A wrong one changes nothing.
fn reread(file: &Path, state: &SharedState, level: Option<&LogLevel>) {
    let new = match load(file) {
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
