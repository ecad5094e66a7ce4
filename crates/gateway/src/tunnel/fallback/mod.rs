//! Replaces the association if UDP is blocked: a TLS 1.3 connection over TCP for each connection of
//! a client, between the same boxes with the same keys, to the same address and port.
//!
//! A few connections are kept warm, authenticated and idle, so that a client's connection costs no
//! round trip here either. The hub sends [`Welcome`] on each, and both sides then speak in
//! [`frame`]s.
//!
//! [`Welcome`]: super::codec::Welcome

mod carrier;
mod frame;
mod listener;
pub(crate) mod measure;
mod pool;

pub(crate) use carrier::{TlsEnd, TlsReceiver, TlsSender};
pub(crate) use listener::{Accepted, Listener};
pub(crate) use pool::Pool;

use crate::config::{Bind, Tunnel};
use socket2::{SockRef, TcpKeepalive};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream};

/// An idle connection is probed after this time, so that devices on the way keep
/// it.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// How the TCP connections of the fallback are set.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Congestion control of the kernel.
    pub(crate) control: String,
    /// Longest time without an acknowledgement.
    pub(crate) outage: Duration,
    /// Terminal: where packets to the hub leave.
    pub(crate) bind: Option<Bind>,
}

impl Settings {
    /// Those of a configuration.
    pub(crate) fn new(tunnel: &Tunnel) -> Settings {
        Settings {
            control: tunnel.fallback_control.clone(),
            outage: tunnel.outage,
            bind: None,
        }
    }

    /// The same, for connections whose packets leave there.
    pub(crate) fn leaving(self, bind: Option<Bind>) -> Settings {
        Settings { bind, ..self }
    }

    /// Connects to a hub.
    async fn connect(self, address: SocketAddr) -> io::Result<TcpStream> {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        match &self.bind {
            Some(Bind::Interface(name)) => {
                SockRef::from(&socket).bind_device(Some(name.as_bytes()))?;
            }
            Some(Bind::Address(own)) => socket.bind(SocketAddr::new(*own, 0))?,
            None => {}
        }
        socket.connect(address).await
    }

    /// Sets a socket, whichever side made it.
    fn apply(&self, tcp: &TcpStream) -> io::Result<()> {
        static SAID: AtomicBool = AtomicBool::new(false);
        let socket = SockRef::from(tcp);
        // Only an orderly end clears it: a kill resets the connection.
        socket.set_linger(Some(Duration::ZERO))?;
        socket.set_tcp_nodelay(true)?;
        socket.set_tcp_user_timeout(Some(self.outage))?;
        let keepalive = TcpKeepalive::new()
            .with_time(KEEPALIVE)
            .with_interval(KEEPALIVE);
        socket.set_tcp_keepalive(&keepalive)?;
        if let Err(error) = socket.set_tcp_congestion(self.control.as_bytes())
            && !SAID.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(
                control = self.control,
                %error,
                "the kernel has not this congestion control; the fallback uses its own"
            );
        }
        Ok(())
    }
}
