//! The hub's side of the fallback.

use super::Settings;
use super::carrier::{self, AsSocket};
use crate::descriptors;
use crate::shares::Shares;
use crate::tunnel::codec::Welcome;
use crate::tunnel::keys::PublicKey;
use crate::tunnel::stream::{Receiver, Sender};
use crate::tunnel::transport::{HALF_OPEN, HALF_OPEN_SHARE};
use bytes::BytesMut;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio_rustls::{TlsAcceptor, TlsStream};

/// Pause after the system has no more descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// A connection of the fallback whose terminal is authenticated.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) peer: PublicKey,
    pub(crate) address: SocketAddr,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// Its place among those that are warm or carry something.
    pub(crate) place: OwnedSemaphorePermit,
}

/// Accepts connections of the fallback until it is dropped.
pub(crate) struct Listener {
    task: JoinHandle<()>,
    acceptor: Arc<RwLock<TlsAcceptor>>,
    places: Arc<Semaphore>,
    most: usize,
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}

#[derive(Clone)]
struct Shared {
    /// What the next handshake is made with, which a reload changes.
    acceptor: Arc<RwLock<TlsAcceptor>>,
    settings: Settings,
    handshake: Duration,
    welcome: Welcome,
    half_open: Arc<Semaphore>,
    shares: Arc<Shares>,
    places: Arc<Semaphore>,
    accepted: mpsc::Sender<Accepted>,
}

impl Listener {
    pub(crate) fn start(
        listener: TcpListener,
        tls: rustls::ServerConfig,
        settings: Settings,
        handshake: Duration,
        connections: usize,
    ) -> (Listener, mpsc::Receiver<Accepted>) {
        let (accepted, arrivals) = mpsc::channel(HALF_OPEN);
        let shared = Shared {
            acceptor: Arc::new(RwLock::new(TlsAcceptor::from(Arc::new(tls)))),
            settings,
            handshake,
            welcome: Welcome {
                connections: u32::try_from(connections).unwrap_or(u32::MAX),
            },
            half_open: Arc::new(Semaphore::new(HALF_OPEN)),
            shares: Shares::new(HALF_OPEN_SHARE, 0),
            places: Arc::new(Semaphore::new(connections.min(Semaphore::MAX_PERMITS))),
            accepted,
        };
        let (acceptor, places) = (Arc::clone(&shared.acceptor), Arc::clone(&shared.places));
        let most = places.available_permits();
        let task = tokio::spawn(listen(listener, shared));
        let listener = Listener {
            task,
            acceptor,
            places,
            most,
        };
        (listener, arrivals)
    }

    /// Whether there are connections, idle ones included.
    pub(crate) fn has_connections(&self) -> bool {
        self.places.available_permits() < self.most
    }

    /// Makes the next handshakes with these keys.
    pub(crate) fn hold_to(&self, tls: rustls::ServerConfig) {
        let mut acceptor = self
            .acceptor
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *acceptor = TlsAcceptor::from(Arc::new(tls));
    }

    /// Takes no more connections and gives up the port; those that exist go on.
    pub(crate) fn refuse(&self) {
        self.task.abort();
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(listener: TcpListener, shared: Shared) {
    loop {
        let (tcp, address) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::debug!(%error, "cannot accept a connection of the fallback");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        // Strangers are closed before anything is allocated for them.
        if descriptors::is_reserved(&tcp) {
            continue;
        }
        let share = shared.shares.take(address.ip());
        let half_open = Arc::clone(&shared.half_open).try_acquire_owned();
        let place = Arc::clone(&shared.places).try_acquire_owned();
        let (Some(share), Ok(half_open), Ok(place)) = (share, half_open, place) else {
            continue;
        };
        let shared = shared.clone();
        tokio::spawn(async move {
            let greeted = tokio::time::timeout(shared.handshake, shared.greet(tcp)).await;
            drop((half_open, share));
            match greeted.unwrap_or_else(|late| Err(late.into())) {
                Ok((peer, sender, receiver)) => {
                    // It fails where the hub stops.
                    let _ = shared
                        .accepted
                        .send(Accepted {
                            peer,
                            address,
                            sender,
                            receiver,
                            place,
                        })
                        .await;
                }
                Err(error) => tracing::debug!(%address, %error, "no connection of the fallback"),
            }
        });
    }
}

impl Shared {
    async fn greet(&self, tcp: TcpStream) -> io::Result<(PublicKey, Sender, Receiver)> {
        self.settings.apply(&tcp)?;
        let acceptor = {
            let acceptor = self.acceptor.read();
            acceptor.unwrap_or_else(PoisonError::into_inner).clone()
        };
        let mut tls = acceptor.accept(tcp).await?;
        let certificates = tls.get_ref().1.peer_certificates();
        // The verifier has accepted the key before.
        let peer = certificates
            .and_then(PublicKey::of_peer)
            .ok_or(io::ErrorKind::PermissionDenied)?;
        tls.write_all(&self.welcome.encode()).await?;
        tls.flush().await?;
        let (sender, receiver) = carrier::carry(TlsStream::from(tls), BytesMut::new());
        Ok((peer, Sender::tls(sender), Receiver::tls(receiver)))
    }
}

impl AsSocket for TlsStream<TcpStream> {
    fn end_orderly(&self) {
        carrier::end_orderly(self.get_ref().0);
    }
}
