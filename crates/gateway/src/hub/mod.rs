//! The hub: on the Internet's side of the satellite, it connects to servers on
//! behalf of its terminals' clients.

mod connections;
mod front;
mod sockets;

pub use sockets::{Newest, Sockets};

use crate::config::Config;
use crate::operate::SharedState;
use crate::policy::Policy;
use crate::relay::{Dialer, Timeouts};
use crate::tunnel::association::{Association, Common, Notice, SWITCH, Server};
use crate::tunnel::bond::Bonds;
use crate::tunnel::credentials::{Credentials, Keys};
use crate::tunnel::known::Knowledge;
use crate::tunnel::steering::{Seat, free_instance};
use crate::tunnel::transport::{self, Sending};
use connections::{Engine, arrive};
use front::Front;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// Longest time for telling the terminals that the hub stops.
const ANNOUNCE: Duration = Duration::from_secs(5);

/// A running hub: the box on the Internet's side.
#[derive(Debug)]
pub struct Hub {
    /// One for each WAN of its terminals, `[link]` first.
    fronts: Vec<Arc<Front>>,
    engine: Arc<Engine>,
    tasks: Vec<JoinHandle<()>>,
    /// Those of older processes at addresses that are none of this one's.
    elsewhere: Mutex<Vec<Seat>>,
}

impl Hub {
    /// Begins to serve terminals. It is called in a runtime of tokio.
    ///
    /// # Errors
    /// A key is unusable, or the address is taken.
    pub fn start(config: &Config, state: Arc<SharedState>) -> io::Result<Hub> {
        Hub::succeed(config, state, Sockets::default())
    }

    /// As [`Hub::start`], in place of a process that has given its sockets and goes on with its
    /// associations. Before, it has [steered](Sockets::steer) new ones to the next that binds.
    ///
    /// # Errors
    /// As [`Hub::start`].
    pub fn succeed(
        config: &Config,
        state: Arc<SharedState>,
        mut older: Sockets,
    ) -> io::Result<Hub> {
        let tunnel = config
            .tunnel
            .as_ref()
            .ok_or_else(|| io::Error::other("a hub needs `[tunnel]`"))?;
        let credentials = Credentials::new(Keys::read(tunnel).map_err(io::Error::other)?);
        let policy = Policy::new(config.policy.clone(), config.role);
        let bonds = Bonds::new(tunnel.outage);
        let common = Common {
            credentials: &credentials,
            process: bonds.hub(),
            state: &state,
            policy: &policy,
        };
        let instance = free_instance(older.seats.iter());
        let links = std::iter::once((config.clone(), tunnel.listen));
        let links = links.chain(config.wans.iter().map(|wan| {
            let address = SocketAddr::new(tunnel.listen.ip(), wan.port);
            (config.over(wan), address)
        }));
        let (mut servers, mut arriving) = (Vec::new(), Vec::new());
        for ((config, address), sending) in links.zip(Sending::all(config, tunnel, &state)?) {
            let seats = older.take_seats(address);
            let socket = match seats.is_empty() {
                true => transport::bind(address)?,
                false => transport::bind_beside(address)?,
            };
            let seat = Seat { instance, socket };
            let (server, associations) = Server::start(&config, seat, sending, common)?;
            let before = (seats, older.take_listener(address));
            servers.push((server, config, before));
            arriving.push(associations);
        }
        let (server, ..) = servers
            .first()
            .ok_or_else(|| io::Error::other("a hub has a link"))?;
        let engine = Arc::new(Engine {
            state,
            outage: tunnel.outage,
            dialer: Dialer::default(),
            timeouts: Timeouts::default(),
            policy: Policy::new(config.policy.clone(), config.role),
            refuses: watch::Sender::new(false),
            terminals: servers
                .iter()
                .map(|(server, ..)| server.terminals())
                .collect(),
            bonds,
            budget: Arc::clone(server.budget()),
            keys: watch::Sender::new(credentials.now()),
        });
        let mut fronts = Vec::new();
        for (server, config, before) in servers {
            let front = Front::start(&engine, &config, tunnel, server, before)?;
            fronts.push(Arc::new(front));
        }
        let mut tasks: Vec<_> = arriving
            .into_iter()
            .map(|associations| tokio::spawn(arrive(Arc::clone(&engine), associations)))
            .collect();
        tasks.push(tokio::spawn(follow(
            Arc::clone(&engine),
            credentials,
            fronts.clone(),
        )));
        Ok(Hub {
            fronts,
            engine,
            tasks,
            elsewhere: Mutex::new(older.seats),
        })
    }

    /// The established associations.
    #[must_use]
    pub fn associations(&self) -> Vec<Association> {
        let fronts = self.fronts.iter();
        fronts.flat_map(|it| it.server.associations()).collect()
    }

    /// The UDP address that it listens on for `[link]`.
    ///
    /// # Errors
    /// The socket is gone.
    pub fn address(&self) -> io::Result<SocketAddr> {
        let front = self.fronts.first();
        front.map_or_else(
            || Err(io::ErrorKind::NotFound.into()),
            |it| it.server.address(),
        )
    }

    /// What is known of its links, `[link]` first.
    pub(crate) fn links(&self) -> Vec<Arc<Knowledge>> {
        let fronts = self.fronts.iter();
        fronts.map(|it| Arc::clone(it.server.knowledge())).collect()
    }

    /// Second handles of its sockets, for a process that takes over.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn sockets(&self) -> io::Result<Sockets> {
        let mut sockets = Sockets::default();
        for seat in self.elsewhere().iter() {
            sockets.seats.push(seat.try_clone()?);
        }
        for front in &self.fronts {
            front.share(&mut sockets)?;
        }
        Ok(sockets)
    }

    fn elsewhere(&self) -> MutexGuard<'_, Vec<Seat>> {
        self.elsewhere
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the processes have ended from which it took over.
    pub fn note_alone(&self) {
        self.elsewhere().clear();
        for front in &self.fronts {
            front.note_alone();
        }
    }

    /// Leaves new associations to the process that has taken over, and lets the terminals know. What they
    /// open at this one until they are there is still served.
    pub async fn hand_over(&self) {
        let mut announcing = JoinSet::new();
        for front in self.fronts.iter().map(Arc::clone) {
            front.refuse_tls();
            front.server.keep_own();
            announcing.spawn(async move {
                let told = front.server.announce(Notice::HandedOver);
                let _ = tokio::time::timeout(ANNOUNCE, told).await;
            });
        }
        announcing.join_all().await;
    }

    /// Whether no terminal opens anything at this process after a hand-over.
    #[must_use]
    pub fn is_left(&self) -> bool {
        self.fronts.iter().all(|it| it.server.have_moved())
    }

    /// Lets the terminals know that this hub is about to stop, so that they send new connections
    /// elsewhere, and then takes no more: see [`Hub::refuse`]. It takes a few seconds at most, in
    /// which new connections are still served.
    pub async fn drain(&self) {
        let begin = Instant::now();
        // Where only TLS reaches this hub, no word does: the handshakes that fail from now on tell it,
        // while requests on connections that are made already are served.
        let mut by_tls = false;
        let mut announcing = JoinSet::new();
        for front in self.fronts.iter().map(Arc::clone) {
            front.refuse_tls();
            by_tls |= front.has_tls();
            announcing.spawn(async move {
                let told = async {
                    if front.server.announce(Notice::Drains).await > 0 {
                        tokio::time::sleep(SWITCH).await;
                    }
                };
                // Those that are not reached find out when their connections are refused.
                let _ = tokio::time::timeout(ANNOUNCE, told).await;
            });
        }
        announcing.join_all().await;
        if by_tls {
            tokio::time::sleep(SWITCH.saturating_sub(begin.elapsed())).await;
        }
        self.refuse();
    }

    /// Accepts no more associations and connections; open ones continue. A new connection is cut at
    /// once, on established associations and on the idle connections of the fallback.
    pub fn refuse(&self) {
        self.engine.refuses.send_replace(true);
        for front in &self.fronts {
            front.server.refuse();
            front.refuse_tls();
        }
    }

    /// Connections that are open.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.engine.state.counters.connections_active.get()
    }

    /// Closes all associations; connections that are open are reset.
    pub async fn stop(&self) {
        self.engine.bonds.stop();
        for front in &self.fronts {
            front.server.stop().await;
        }
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// Takes the keys that a reload changes: a terminal that is removed is let go at once, with all of its
/// connections, and one that is added may come.
async fn follow(engine: Arc<Engine>, credentials: Arc<Credentials>, fronts: Vec<Arc<Front>>) {
    let mut configs = engine.state.follow_config();
    while configs.changed().await.is_ok() {
        let config = Arc::clone(&configs.borrow_and_update());
        let renewed = config.tunnel.as_ref().and_then(|it| credentials.renew(it));
        let Some(keys) = renewed else { continue };
        for front in &fronts {
            if let Err(error) = front.hold_to(&keys) {
                tracing::error!(%error, "the new keys cannot be used");
            }
        }
        engine.keys.send_replace(keys);
    }
}
