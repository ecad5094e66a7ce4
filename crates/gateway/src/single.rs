//! One box: it ends the client's TCP connection, makes one of its own to the
//! server, and joins the two.
//!
//! Each processor has a thread with a runtime of its own, which accepts, connects
//! and relays; a connection never changes its thread. The socket on the
//! satellite's side has the congestion control and the buffers that `[link]` asks
//! for, the other one those of the system.

mod limits;
mod side;

use crate::entry::{self, Arrival, Listener};
use crate::operate::Board;
use crate::policy::Policy;
use crate::relay::{self, Closed, Dialer, Meter, Patience, Pipes};
use crate::{Cut, Destination, Open};
use limits::{Places, pipes};
use side::{Satellite, dialer, prepare};
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
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

/// What the threads share.
#[derive(Debug)]
struct Shared {
    board: Arc<Board>,
    dialer: Dialer,
    keep_source: bool,
    patience: Patience,
    pipes: Pipes,
    places: Places,
    policy: Policy,
}

/// What the threads are doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// They take connections.
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
    pub fn start(board: &Arc<Board>, listeners: Vec<Listener>) -> io::Result<Single> {
        let config = board.config();
        let patience = Patience::default();
        let satellite = Satellite::of(&config);
        for listener in &listeners {
            prepare(listener, &satellite, &patience)?;
        }
        let keep_source = config.intercept.as_ref().is_none_or(|it| it.keep_source);
        let shared = Arc::new(Shared {
            board: Arc::clone(board),
            dialer: dialer(&satellite, patience),
            keep_source,
            patience,
            pipes: pipes(&config.limits),
            places: Places::default(),
            policy: Policy::new(config.policy.clone()),
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

    /// Starts one thread.
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
                    let shared = Arc::clone(&shared);
                    async move { shared.serve(arrival).await }
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
    /// Carries one connection from its arrival to its end.
    async fn serve(&self, arrival: Arrival) {
        let counters = &self.board.counters;
        let most = limits::connections(&self.board.config().limits, &self.pipes);
        let Some(_place) = self.places.take(most) else {
            counters.connections_turned_away.increment();
            arrival.reply.failed(arrival.tcp, Cut::Limit).await;
            return;
        };
        counters.connections_opened.increment();
        let _active = counters.connections_active.hold();
        let closed = self.carry(arrival).await;
        counters.bytes_to_satellite.add(closed.up);
        counters.bytes_from_satellite.add(closed.down);
        match closed.cut {
            None => counters.connections_ended.increment(),
            Some(why) => counters.cut(why).increment(),
        }
    }

    async fn carry(&self, mut arrival: Arrival) -> Closed {
        let connected = tokio::select! {
            connected = self.connect(&arrival.open) => connected,
            // The client has gone in the meantime.
            why = relay::breaks(&arrival.tcp) => Err(why),
        };
        let mut onward = match connected {
            Ok(onward) => onward,
            Err(why) => {
                arrival.reply.failed(arrival.tcp, why).await;
                return before(why);
            }
        };
        let meter = Meter::default();
        if let Err(why) = arrival.reply.connected(&mut arrival.tcp).await {
            return before(why);
        }
        if !arrival.first.is_empty() {
            if let Err(error) = onward.write_all(&arrival.first).await {
                return before(Cut::from_io(&error));
            }
            meter.count_up(arrival.first.len() as u64);
        }
        let (pipes, patience) = (&self.pipes, &self.patience);
        relay::splice(arrival.tcp, onward, pipes, patience, &meter).await
    }

    /// Connects to the server.
    async fn connect(&self, open: &Open) -> Result<TcpStream, Cut> {
        if let (Destination::Address(address), Some(client)) = (&open.destination, open.source) {
            // An intercepted connection: this machine would have forwarded it.
            let source = self.keep_source.then_some(client);
            return relay::connect(*address, source, &self.dialer).await;
        }
        let mut why = Cut::NoSuchName;
        let policy = self.policy.under(&self.board.config().policy);
        for address in policy.resolve(&open.destination).await? {
            match relay::connect(address, None, &self.dialer).await {
                Ok(tcp) => return Ok(tcp),
                Err(cut) => why = cut,
            }
        }
        Err(why)
    }
}

const fn before(why: Cut) -> Closed {
    Closed {
        up: 0,
        down: 0,
        cut: Some(why),
    }
}
