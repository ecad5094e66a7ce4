//! How a gateway ends: at once, when its connections have finished, or some time after another process has
//! taken over.

use super::engines::Engines;
use super::{Asked, File, Parts, Signals, overlap, stream_of};
use crate::config::RateSource;
use crate::operate::SharedState;
use crate::operate::notify::Notify;
use bentpipe_units::Rate;
use std::os::fd::IntoRawFd as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How a run ends.
#[derive(Debug)]
pub(super) enum Ending {
    /// Resets all connections.
    AtOnce,
    /// Lets connections finish.
    Drain,
    /// Connections may finish, and another process takes new ones, to which the stream leads.
    HandedOver(UnixStream),
}

/// How long connections may go on in a process that has handed over. Nothing waits for
/// its end, so it is much longer than `[limits] drain`; it bounds how many processes of
/// repeated upgrades run at a time.
const HANDED_OVER: Duration = Duration::from_secs(3600);

impl Parts {
    pub(super) async fn end(
        mut self,
        ending: Ending,
        notify: &Notify,
        file: &File<'_>,
        signals: &mut Signals,
    ) {
        let handed_over = matches!(ending, Ending::HandedOver(_));
        // The files of these sockets are the new process' after a hand-over.
        if let Some(successors) = self.successors {
            successors.close(!handed_over).await;
        }
        let drain_limit = file.state.config().limits.drain;
        let predecessor = self.predecessor.as_ref();
        let has_older = || predecessor.is_some_and(|it| !it.is_finished());
        match ending {
            Ending::AtOnce => {}
            Ending::Drain => {
                notify.stopping(drain_limit);
                self.engines.stop_accepting(false).await;
                drain(file, drain_limit, signals, has_older).await;
            }
            Ending::HandedOver(stream) => {
                if let Some(metrics) = self.metrics {
                    // The new process serves the metrics and takes the rate from now on.
                    metrics.abort();
                }
                let set = set_rate(file.state);
                // The new process has read it.
                file.read();
                let (links, engines) = (self.engines.links(), &mut self.engines);
                let needs_successor = engines.needs_successor();
                let follows = async {
                    if let Some(stream) = kept(stream) {
                        overlap::follow(stream, &links, set, || file.read()).await;
                        if needs_successor {
                            return;
                        }
                    }
                    std::future::pending().await
                };
                let leaves = async {
                    engines.stop_accepting(true).await;
                    let mut leaving = Leaving::begin();
                    let needed = || has_older() || leaving.may_get_more(engines);
                    let most = HANDED_OVER.max(drain_limit);
                    if !drain(file, most, signals, needed).await {
                        engines.end_overlap().await;
                    }
                };
                tokio::select! {
                    () = leaves => {}
                    () = follows => {
                        tracing::warn!("the process that has taken over is gone; this one ends");
                    }
                }
            }
        }
        self.serving.abort();
        drop(self.serving.await);
        self.engines.stop().await;
    }
}

/// The stream of a hand-over in the runtime. It closes with the process and not before, when its sockets
/// close, which the end of the stream tells.
fn kept(stream: UnixStream) -> Option<tokio::net::UnixStream> {
    let another = stream.try_clone();
    let _ = stream.into_raw_fd();
    match another.and_then(stream_of) {
        Ok(stream) => Some(stream),
        Err(error) => {
            tracing::warn!(%error, "the rate is not divided with the new process");
            None
        }
    }
}

/// The rate of the link where an operator has set it while this process ran.
fn set_rate(state: &SharedState) -> Option<Rate> {
    let link = &state.config().link;
    let now = *state.rate().borrow();
    let follows_file = matches!(link.rate, RateSource::File { .. });
    now.filter(|_| !follows_file && now != link.configured())
}

/// What may still come to a process that has handed over.
struct Leaving {
    /// When it ends at the latest, whatever terminals say, some of which may not be reached or be of an
    /// earlier version.
    until: Instant,
    /// When nothing more was to come, but for what was on its way.
    left: Option<Instant>,
}

impl Leaving {
    fn begin() -> Leaving {
        Leaving {
            until: Instant::now() + TERMINALS_MOVE,
            left: None,
        }
    }

    fn may_get_more(&mut self, engines: &Engines) -> bool {
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

/// Lets connections finish, and goes on while this process is `needed` otherwise. True where a signal asks
/// for the end before.
async fn drain(
    file: &File<'_>,
    most: Duration,
    signals: &mut Signals,
    mut needed: impl FnMut() -> bool,
) -> bool {
    let state = file.state;
    state.note_draining();
    let active = || state.counters.connections_active.get();
    tracing::info!(
        connections = active(),
        "no new connections; those that exist may finish"
    );
    let until = Instant::now() + most;
    let mut asked_to_end = false;
    while (active() > 0 || needed()) && Instant::now() < until {
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(50)) => {}
            asked = signals.next() => {
                match asked {
                    Asked::Drain | Asked::End => {
                        asked_to_end = true;
                        break;
                    }
                    Asked::Reload => file.read(),
                    Asked::Upgrade => {}
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
    asked_to_end
}
