//! One box: it terminates the client's TCP connection, opens another to the server, and joins the
//! two.
//!
//! Each processor has a thread with its own runtime, which accepts, connects
//! and relays; a connection never changes its thread. The socket on the
//! satellite's side has the congestion control and the buffers that `[link]` asks
//! for, the other one those of the system.

mod limits;
mod side;

use crate::entry::{self, Arrival, Listener};
use crate::operate::SharedState;
use crate::operate::records::Record;
use crate::policy::Policy;
use crate::relay::{self, Closed, Dialer, Meter, Pipes, Timeouts};
use crate::{CloseReason, Destination, Open};
use limits::{Place, Places, pipes, room};
use side::{Satellite, dialer, prepare};
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::watch;

/// One box that runs.
#[derive(Debug)]
pub struct Single {
    shared: Arc<Shared>,
    phase: watch::Sender<Phase>,
    workers: Vec<JoinHandle<()>>,
}

/// State shared by the threads.
#[derive(Debug)]
struct Shared {
    state: Arc<SharedState>,
    dialer: Dialer,
    keep_source: bool,
    timeouts: Timeouts,
    pipes: Pipes,
    places: Arc<Places>,
    /// Connections for which there are descriptors.
    room: usize,
    policy: Policy,
}

/// Phase of the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Listeners accept new connections.
    Accepting,
    /// They carry those that they have.
    Draining,
    /// They end; connections that are open are reset.
    Ended,
}

impl Single {
    /// Serves `listeners`, which intercept, on one thread for each processor.
    ///
    /// # Errors
    /// No thread or runtime can be had, or no descriptor.
    pub fn start(state: &Arc<SharedState>, listeners: Vec<Listener>) -> io::Result<Single> {
        let config = state.config();
        let satellite = Satellite::of(&config);
        for listener in &listeners {
            prepare(listener, &satellite)?;
        }
        let keep_source = config.intercept.as_ref().is_none_or(|it| it.keep_source);
        let pipes = pipes(&config.limits);
        let shared = Arc::new(Shared {
            room: room(&pipes),
            state: Arc::clone(state),
            dialer: dialer(&satellite),
            keep_source,
            timeouts: Timeouts::default(),
            pipes,
            places: Arc::default(),
            policy: Policy::new(config.policy.clone(), config.role),
        });
        let mut single = Single {
            shared,
            phase: watch::Sender::new(Phase::Accepting),
            workers: Vec::new(),
        };
        let count = std::thread::available_parallelism()?.get();
        for number in 0..count {
            let own: io::Result<Vec<_>> = listeners.iter().map(Listener::try_clone).collect();
            single.spawn(number, own?)?;
        }
        Ok(single)
    }

    /// Starts the thread of one processor.
    fn spawn(&mut self, number: usize, listeners: Vec<Listener>) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let serving = {
            let _inside = runtime.enter();
            let serve = |listener: Listener| {
                let shared = Arc::clone(&self.shared);
                let settings = listener.settings().clone();
                entry::serve(listener, settings, move |arrival| {
                    Arc::clone(&shared).serve(arrival)
                })
            };
            listeners
                .into_iter()
                .map(serve)
                .collect::<io::Result<Vec<_>>>()?
        };
        let mut phase = self.phase.subscribe();
        let thread = std::thread::Builder::new().name(format!("relay-{number}"));
        self.workers.push(thread.spawn(move || {
            runtime.block_on(async {
                // Both wait until the phase comes or the sender is gone.
                let _ = phase.wait_for(|&phase| phase != Phase::Accepting).await;
                drop(serving);
                let _ = phase.wait_for(|&phase| phase == Phase::Ended).await;
            });
        })?);
        Ok(())
    }

    /// True while the limits leave no room for another connection, and its
    /// changes: new connections had better not be intercepted then.
    #[must_use]
    pub fn full(&self) -> watch::Receiver<bool> {
        self.shared.places.full()
    }

    /// Takes no more connections; those that are open go on.
    pub fn stop_accepting(&self) {
        self.phase.send_if_modified(|phase| {
            let accepting = *phase == Phase::Accepting;
            if accepting {
                *phase = Phase::Draining;
            }
            accepting
        });
    }

    /// Ends it; connections that are open are reset. It waits for the threads.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Single {
    fn drop(&mut self) {
        self.phase.send_replace(Phase::Ended);
        for worker in self.workers.drain(..) {
            // A thread that panicked has reported it.
            let _ = worker.join();
        }
    }
}

impl Shared {
    /// Takes a connection: connects onward, and relays in its own task, whose
    /// memory does not include what connecting took.
    async fn serve(self: Arc<Shared>, arrival: Arrival) {
        let counters = &self.state.counters;
        let most = self.state.config().limits.connections.min(self.room);
        let Some(place) = self.places.take(most) else {
            counters.connections_turned_away.increment();
            arrival.reply.failed(arrival.tcp, CloseReason::Limit).await;
            return;
        };
        counters.connections_opened.increment();
        let open = Opened {
            shared: Arc::clone(&self),
            _place: place,
        };
        counters.connections_active.increment();
        let began = Instant::now();
        let destination = arrival.open.destination.clone();
        match self.establish(arrival).await {
            Ok((client, server, early)) => {
                tokio::spawn(async move {
                    let meter = Meter::default();
                    meter.count_up(early);
                    let address = client.peer_addr().ok();
                    let (pipes, timeouts) = (&open.shared.pipes, &open.shared.timeouts);
                    let closed = relay::splice(client, server, pipes, timeouts, &meter).await;
                    open.shared.count(closed);
                    open.shared.state.record(|| Record {
                        protocol: "tcp",
                        client: address,
                        server: destination.to_string(),
                        subscriber: None,
                        terminal: None,
                        began,
                        up: closed.up,
                        down: closed.down,
                        cut: closed.cut,
                    });
                });
            }
            Err(why) => counters.cut(why).increment(),
        }
    }

    fn count(&self, closed: Closed) {
        let counters = &self.state.counters;
        counters.bytes_to_satellite.add(closed.up);
        counters.bytes_from_satellite.add(closed.down);
        match closed.cut {
            None => counters.connections_ended.increment(),
            Some(why) => counters.cut(why).increment(),
        }
    }

    /// Both connections of an arrival, and how much of the client's data has been
    /// passed on; where that fails, the client has its answer.
    async fn establish(
        &self,
        mut arrival: Arrival,
    ) -> Result<(TcpStream, TcpStream, u64), CloseReason> {
        let connected = tokio::select! {
            connected = self.connect(&arrival.open) => connected,
            // The client has gone in the meantime.
            why = relay::breaks(&arrival.tcp) => Err(why),
        };
        let mut onward = match connected {
            Ok(onward) => onward,
            Err(why) => {
                arrival.reply.failed(arrival.tcp, why).await;
                return Err(why);
            }
        };
        arrival.reply.connected(&mut arrival.tcp).await?;
        if !arrival.first.is_empty() {
            let written = onward.write_all(&arrival.first).await;
            written.map_err(|error| CloseReason::from_io(&error))?;
        }
        Ok((arrival.tcp, onward, arrival.first.len() as u64))
    }

    /// Connects to the server.
    async fn connect(&self, open: &Open) -> Result<TcpStream, CloseReason> {
        if let (Destination::Address(address), Some(client)) = (&open.destination, open.source) {
            // An intercepted connection: this machine would have forwarded it.
            let source = self.keep_source.then_some(client);
            return relay::connect(*address, source, &self.dialer).await;
        }
        let mut why = CloseReason::NoSuchName;
        let policy = self.policy.under(&self.state.config().policy);
        for address in policy.resolve(&open.destination).await? {
            match relay::connect(address, None, &self.dialer).await {
                Ok(tcp) => return Ok(tcp),
                Err(cut) => why = cut,
            }
        }
        Err(why)
    }
}

/// A connection that is open, as the counters and the limits see it.
#[derive(Debug)]
struct Opened {
    shared: Arc<Shared>,
    _place: Place,
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.shared.state.counters.connections_active.subtract(1);
    }
}
