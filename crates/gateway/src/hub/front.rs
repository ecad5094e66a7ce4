//! Where terminals arrive over one WAN: a UDP port for associations, and the TCP port of the same number for
//! the fallback.

use super::connections::{Engine, Reached, Way};
use super::sockets::Sockets;
use crate::config::{Config, Tunnel};
use crate::tunnel::association::{HANDSHAKE, Server};
use crate::tunnel::bond::Path;
use crate::tunnel::credentials::Keys;
use crate::tunnel::fallback::{Accepted, Listener, Settings};
use crate::tunnel::steering::Seat;
use crate::tunnel::transport;
use std::io;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};

/// The ports of one WAN.
#[derive(Debug)]
pub(super) struct Front {
    pub(super) server: Server,
    fallback: Option<Fallback>,
    /// Those of older processes that still run.
    older: Mutex<Vec<Seat>>,
}

#[derive(Debug)]
struct Fallback {
    listener: Listener,
    /// Another handle of its socket, for a process that takes over; none once it takes no more
    /// connections.
    socket: Mutex<Option<TcpListener>>,
}

impl Fallback {
    fn refuse(&self) {
        self.listener.refuse();
        *self.socket.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Front {
    /// One whose associations `server` makes, beside `older` processes. The fallback listens where the
    /// configuration has one, on the socket of the process before where that is given.
    ///
    /// # Errors
    /// The address is taken on TCP.
    pub(super) fn start(
        engine: &Arc<Engine>,
        config: &Config,
        tunnel: &Tunnel,
        server: Server,
        (older, listener): (Vec<Seat>, Option<TcpListener>),
    ) -> io::Result<Front> {
        server.leave_to(&older);
        let fallback = match (tunnel.fallback, listener) {
            (false, _) => None,
            (true, Some(listener)) => Some(listener),
            (true, None) => Some(transport::listen(server.address()?)?),
        };
        let fall_back = |socket: TcpListener| {
            let another = socket.try_clone()?;
            let listener = fall_back(engine, config, tunnel, &server, socket)?;
            io::Result::Ok(Fallback {
                listener,
                socket: Mutex::new(Some(another)),
            })
        };
        let fallback = fallback.map(fall_back).transpose()?;
        Ok(Front {
            server,
            fallback,
            older: Mutex::new(older),
        })
    }

    /// Adds its sockets to those that a process that takes over needs.
    ///
    /// # Errors
    /// No descriptor is left.
    pub(super) fn share(&self, sockets: &mut Sockets) -> io::Result<()> {
        let older = self.older.lock().unwrap_or_else(PoisonError::into_inner);
        for seat in older.iter().chain([self.server.seat()]) {
            sockets.seats.push(seat.try_clone()?);
        }
        if let Some(fallback) = &self.fallback {
            let socket = fallback.socket.lock();
            let socket = socket.unwrap_or_else(PoisonError::into_inner);
            let another = socket.as_ref().map(TcpListener::try_clone).transpose()?;
            sockets.listeners.extend(another);
        }
        Ok(())
    }

    /// All older processes have ended.
    pub(super) fn note_alone(&self) {
        let mut older = self.older.lock().unwrap_or_else(PoisonError::into_inner);
        older.clear();
        self.server.leave_to(&older);
    }

    /// Makes the next handshakes with these keys.
    ///
    /// # Errors
    /// They cannot be used.
    pub(super) fn hold_to(&self, keys: &Keys) -> io::Result<()> {
        self.server.hold_to(keys)?;
        if let Some(fallback) = &self.fallback {
            let tls = keys.identity.server(&keys.peers);
            fallback.listener.hold_to(tls.map_err(io::Error::other)?);
        }
        Ok(())
    }

    /// Whether the fallback has connections, idle ones included.
    pub(super) fn has_tls(&self) -> bool {
        let fallback = self.fallback.as_ref();
        fallback.is_some_and(|it| it.listener.has_connections())
    }

    /// Takes no more connections of the fallback; those that exist go on.
    pub(super) fn refuse_tls(&self) {
        if let Some(fallback) = &self.fallback {
            fallback.refuse();
        }
    }
}

/// Accepts connections of the fallback.
fn fall_back(
    engine: &Arc<Engine>,
    config: &Config,
    tunnel: &Tunnel,
    server: &Server,
    listener: TcpListener,
) -> io::Result<Listener> {
    let path = Path::tls(server.knowledge());
    let keys = Arc::clone(&engine.keys.borrow());
    let (listener, mut accepted) = Listener::start(
        tokio::net::TcpListener::from_std(listener)?,
        keys.identity
            .server(&keys.peers)
            .map_err(io::Error::other)?,
        Settings::new(tunnel),
        HANDSHAKE.max(8 * config.link.rtt),
        config.limits.connections,
    );
    let (engine, budget) = (Arc::clone(engine), Arc::clone(server.budget()));
    tokio::spawn(async move {
        while let Some(accepted) = accepted.recv().await {
            let Accepted {
                peer,
                address,
                sender,
                receiver,
                place,
            } = accepted;
            tracing::debug!(%peer, %address, "a connection of the fallback");
            let engine = Arc::clone(&engine);
            let terminal = engine.state.usages().terminal(peer, &engine.state.config());
            let reached = Reached {
                sender: sender.budgeted(&budget).held_to(&terminal),
                receiver: receiver.budgeted(&budget),
                terminal: peer,
                way: Way::Tls,
                path: Arc::clone(&path),
            };
            tokio::spawn(async move {
                let removed = engine.removed(peer);
                tokio::select! {
                    () = engine.connection(reached) => {}
                    // Both of its ends are reset.
                    () = removed => tracing::info!(%peer, "a connection of a terminal that is removed"),
                }
                drop(place);
            });
        }
    });
    Ok(listener)
}
