//! How a client makes an association: handshakes at the addresses of the hub, then the greeting.

use super::{Endpoints, Shared};
use crate::config::Bind;
use crate::tunnel::association::claims::Claim;
use crate::tunnel::association::{Close, words};
use crate::tunnel::codec::{CARRIES_BONDS, Hello, UNDERSTANDS_SUBSCRIBERS, Welcome};
use crate::tunnel::credentials::Keys;
use crate::tunnel::keys::{PublicKey, SERVER_NAME};
use crate::tunnel::sharing::Gate;
use crate::tunnel::socket::ShapedSocket;
use crate::tunnel::transport;
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, ConnectionError, Endpoint};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, PoisonError};

/// An association that is about to stand.
pub(super) struct Made {
    pub(super) connection: Connection,
    pub(super) gate: Arc<Gate>,
    /// The socket that it uses.
    pub(super) socket: Arc<ShapedSocket>,
    pub(super) peer: PublicKey,
    /// The bits that say what the hub understands.
    pub(super) hub: u8,
    /// The number of its process, where it takes bonded connections.
    pub(super) process: Option<u64>,
    pub(super) claim: Option<Claim>,
}

/// Why there is no association.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) reason: String,
    /// Another terminal has the same key.
    pub(super) replaced: bool,
}

impl Failure {
    fn new(reason: impl Into<String>) -> Failure {
        Failure {
            reason: reason.into(),
            replaced: false,
        }
    }
}

impl From<ConnectionError> for Failure {
    fn from(lost: ConnectionError) -> Failure {
        let replaced = matches!(&lost, ConnectionError::ApplicationClosed(close)
            if close.error_code == Close::Replaced.code());
        Failure {
            reason: words(&lost),
            replaced,
        }
    }
}

impl Shared {
    /// One attempt: both handshakes, at the addresses that the hub may have, and the greeting with the
    /// first that answers.
    pub(super) async fn connect(self: &Arc<Shared>) -> Result<Made, Failure> {
        let mut addresses = self.target.addresses().await;
        if let Some(Bind::Address(own)) = self.uplink.bind {
            addresses.retain(|address| address.is_ipv4() == own.is_ipv4());
        }
        if addresses.is_empty() {
            return Err(Failure::new("its name is not resolved"));
        }
        let patience = self.target.patience(self.handshake, addresses.len());
        let reach = async {
            let attempt = |address| {
                let shared = Arc::clone(self);
                async move { shared.shake(address).await }
            };
            let made = self.target.first(addresses, attempt).await;
            let mut made = made.unwrap_or_else(|| Err(Failure::new("it has no address")))?;
            // The hub has authenticated this box only when it answers. One that is greeted twice
            // would give up the first, so that this follows the choice of the address.
            match greet(&made.connection, self.common.hello).await {
                Ok((hub, process)) => {
                    made.gate.open(hub & UNDERSTANDS_SUBSCRIBERS != 0);
                    made.hub = hub;
                    made.process = process;
                    Ok(made)
                }
                Err(Some(lost)) => Err(lost.into()),
                Err(None) => {
                    made.connection.close(Close::Protocol.code(), &[]);
                    Err(made.connection.closed().await.into())
                }
            }
        };
        let made = tokio::time::timeout(patience, reach).await;
        made.unwrap_or_else(|_| Err(ConnectionError::TimedOut.into()))
    }

    /// Both handshakes with the hub at one address.
    async fn shake(&self, address: SocketAddr) -> Result<Made, Failure> {
        let claim = self.common.claims.take(address);
        let claim = claim.ok_or_else(|| Failure::new("another hub of the list has its address"))?;
        let failed = |error: &dyn std::fmt::Display| {
            tracing::error!(hub = %self.target.hub(), %address, %error, "cannot connect");
            Failure::new(error.to_string())
        };
        let keys = self.common.credentials.now();
        let tls = keys.identity.client(&keys.peers).map_err(|e| failed(&e))?;
        let quic = QuicClientConfig::try_from(tls).map_err(|e| failed(&e))?;
        let mut config = ClientConfig::new(Arc::new(quic));
        let (transport, gate) = self.uplink.sending.transport(address);
        config.transport_config(Arc::new(transport));
        let (endpoint, socket) = self.endpoint(address, &keys).map_err(|e| failed(&e))?;
        let connecting = endpoint.connect_with(config, address, SERVER_NAME);
        let connection = connecting.map_err(|e| failed(&e))?.await?;
        // The verifier has accepted the key before.
        let peer = PublicKey::of_connection(&connection);
        let peer = peer.ok_or_else(|| Failure::new("it has no key"))?;
        Ok(Made {
            connection,
            gate,
            socket,
            peer,
            hub: 0,
            process: None,
            claim: Some(claim),
        })
    }

    pub(super) fn endpoints(&self) -> std::sync::MutexGuard<'_, Endpoints> {
        self.endpoints
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up sockets that are bound to an interface: it may have gone, and another of its name come.
    pub(super) fn renew_endpoints(&self) {
        if matches!(self.uplink.bind, Some(Bind::Interface(_))) {
            *self.endpoints() = [None, None];
        }
    }

    /// The socket for addresses of this kind.
    fn endpoint(
        &self,
        address: SocketAddr,
        keys: &Keys,
    ) -> io::Result<(Endpoint, Arc<ShapedSocket>)> {
        let any: SocketAddr = match address {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let mut endpoints = self.endpoints();
        let slot = &mut endpoints[usize::from(address.is_ipv6())];
        if let Some(known) = slot {
            return Ok(known.clone());
        }
        let instance = u8::try_from(self.common.hello.generation & 0xff).unwrap_or(0);
        let shaper = self.uplink.sending.knowledge().shaper();
        let socket = transport::bind_at(any, self.uplink.bind.as_ref())?;
        let made = transport::endpoint(socket, &keys.identity, instance, None, shaper)?;
        Ok(slot.insert(made).clone())
    }
}

/// Sends the greeting on the first stream and waits for the hub's; returns the bits that say what the hub
/// understands, and the number of its process where it takes bonded connections. `Err(None)` is an
/// answer that makes no sense.
async fn greet(
    connection: &Connection,
    hello: Hello,
) -> Result<(u8, Option<u64>), Option<ConnectionError>> {
    let lost = |connection: &Connection| connection.close_reason();
    let (mut send, mut receive) = connection.open_bi().await.map_err(Some)?;
    if send.write_all(&hello.encode()).await.is_err() {
        return Err(lost(connection));
    }
    // Both directions end with the greeting.
    let _ = send.finish();
    let mut bytes = [0; Welcome::LENGTH];
    if receive.read_exact(&mut bytes).await.is_err() {
        return Err(lost(connection));
    }
    // An older hub has nothing more to say.
    let mut more = [0];
    let _ = receive.read_exact(&mut more).await;
    Welcome::decode(bytes).map_err(|_| None)?;
    let mut process = None;
    if more[0] & CARRIES_BONDS != 0 {
        let mut number = [0; 8];
        if receive.read_exact(&mut number).await.is_err() {
            return Err(lost(connection));
        }
        process = Some(u64::from_be_bytes(number));
    }
    Ok((more[0], process))
}
