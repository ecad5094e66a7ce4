//! The terminal's side of the fallback: connections that are kept warm.

use super::Settings;
use super::carrier;
use crate::CloseReason;
use crate::descriptors;
use crate::tunnel::codec::Welcome;
use crate::tunnel::credentials::Credentials;
use crate::tunnel::keys::{PublicKey, SERVER_NAME};
use crate::tunnel::stream::{Receiver, Sender};
use crate::tunnel::target::Target;
use crate::tunnel::transport::HALF_OPEN_SHARE;
use bytes::BytesMut;
use rustls::pki_types::ServerName;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tokio_rustls::{TlsConnector, TlsStream};

/// Fewest and most connections that are kept warm. The number doubles when a
/// client finds none, and falls by one a minute.
const WARM: (usize, usize) = (4, 64);
/// After this time, one connection fewer is kept warm.
const COOLING: Duration = Duration::from_secs(60);

/// How far apart handshakes end that begin together.
const TOGETHER: Duration = Duration::from_millis(200);
/// Most handshakes at the same time: as many as the hub admits of one address, so that a burst of
/// clients waits here and is not turned away there.
const HANDSHAKES: usize = HALF_OPEN_SHARE;
/// Pauses before a handshake is tried again that the hub closed before its greeting, as
/// it does while other terminals fill its places.
const AGAIN: [Duration; 5] = [
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(400),
    Duration::from_millis(800),
];

/// Connections to the hub that are authenticated and carry nothing yet.
pub(crate) struct Pool {
    target: Arc<Target>,
    credentials: Arc<Credentials>,
    settings: Settings,
    patience: Duration,
    warm: Mutex<Warm>,
    taken: Notify,
    handshakes: Semaphore,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool")
            .field("hub", self.target.hub())
            .finish_non_exhaustive()
    }
}

struct Warm {
    idle: VecDeque<(Sender, Receiver)>,
    target: usize,
    /// The key of the hub that answered last.
    peer: Option<PublicKey>,
}

impl Pool {
    pub(crate) fn new(
        target: Arc<Target>,
        credentials: Arc<Credentials>,
        settings: Settings,
        patience: Duration,
    ) -> Pool {
        Pool {
            target,
            credentials,
            settings,
            patience,
            warm: Mutex::new(Warm {
                idle: VecDeque::new(),
                target: WARM.0,
                peer: None,
            }),
            taken: Notify::new(),
            handshakes: Semaphore::new(HANDSHAKES),
        }
    }

    /// Where the hub is.
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// The key of the hub that answered last.
    pub(crate) fn peer(&self) -> Option<PublicKey> {
        self.lock().peer
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Warm> {
        self.warm.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new connection that the hub has accepted.
    async fn connect(&self) -> io::Result<(Sender, Receiver)> {
        let mut pauses = AGAIN.iter();
        loop {
            let error = match self.handshake().await {
                Ok(made) => return Ok(made),
                Err(error) => error,
            };
            match pauses.next().filter(|_| was_turned_away(&error)) {
                Some(pause) => tokio::time::sleep(*pause).await,
                None => return Err(error),
            }
        }
    }

    /// One handshake, after those that are before it. The wait for them is no fault of the
    /// hub, so it does not count towards the patience with it.
    async fn handshake(&self) -> io::Result<(Sender, Receiver)> {
        let _place = self.handshakes.acquire().await.map_err(io::Error::other)?;
        let addresses = self.target.addresses().await;
        let patience = self.target.patience(self.patience, addresses.len());
        let connect = |address| self.settings.clone().connect(address);
        let handshake = async {
            let tcp = self.target.first(addresses, connect).await;
            let tcp = tcp.unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()))?;
            if descriptors::is_reserved(&tcp) {
                return Err(io::Error::from_raw_os_error(libc::EMFILE));
            }
            self.settings.apply(&tcp)?;
            let name = ServerName::try_from(SERVER_NAME).map_err(io::Error::other)?;
            let keys = self.credentials.now();
            let config = keys
                .identity
                .client(&keys.peers)
                .map_err(io::Error::other)?;
            let connector = TlsConnector::from(Arc::new(config));
            let address = tcp.peer_addr()?;
            let mut tls = connector.connect(name, tcp).await?;
            let mut welcome = [0; Welcome::LENGTH];
            tls.read_exact(&mut welcome).await?;
            Welcome::decode(welcome).map_err(io::Error::other)?;
            self.target.answered(address);
            let certificates = tls.get_ref().1.peer_certificates();
            self.lock().peer = certificates.and_then(PublicKey::of_peer);
            let (sender, receiver) = carrier::carry(TlsStream::from(tls), BytesMut::new());
            Ok((Sender::tls(sender), Receiver::tls(receiver)))
        };
        tokio::time::timeout(patience, handshake)
            .await
            .unwrap_or_else(|late| Err(late.into()))
    }

    /// Whether the hub answers here. The connection stays warm.
    pub(crate) async fn probe(&self) -> io::Result<()> {
        let made = self.connect().await?;
        self.lock().idle.push_back(made);
        Ok(())
    }

    /// Warms connections up for so many requests that wait, and a few more; errs where the hub does not
    /// answer here.
    pub(crate) async fn warm_up(self: &Arc<Pool>, waiting: usize) -> io::Result<()> {
        let mut probes = JoinSet::new();
        for _ in 0..(waiting + WARM.0).min(HANDSHAKES) {
            let pool = Arc::clone(self);
            probes.spawn(async move { pool.probe().await });
        }
        let first = probes.join_next().await;
        first.unwrap_or(Ok(Ok(()))).map_err(io::Error::other)??;
        // The hub answers, and the others are about to be there: whoever finds none makes another.
        let others = async { while probes.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(TOGETHER, others).await;
        probes.detach_all();
        Ok(())
    }

    /// A connection, warm if there is one.
    pub(crate) async fn take(&self) -> Result<(Sender, Receiver), CloseReason> {
        let found = {
            let mut warm = self.lock();
            let found = loop {
                match warm.idle.pop_front() {
                    Some((_, receiver)) if receiver.has_ended() => {}
                    found => break found,
                }
            };
            if found.is_none() {
                warm.target = (2 * warm.target).min(WARM.1);
            }
            found
        };
        self.taken.notify_one();
        match found {
            Some(found) => Ok(found),
            None => self.connect().await.map_err(|error| {
                tracing::debug!(%error, "no connection of the fallback");
                match CloseReason::from_io(&error) {
                    CloseReason::Limit => CloseReason::Limit,
                    _ => CloseReason::PeerGone,
                }
            }),
        }
    }

    /// Keeps connections warm until it is cancelled, and returns when the hub does
    /// not answer any more.
    pub(crate) async fn keep_warm(&self) -> io::Error {
        loop {
            let missing = {
                let mut warm = self.lock();
                warm.idle.retain(|(_, receiver)| !receiver.has_ended());
                warm.target.saturating_sub(warm.idle.len())
            };
            if missing == 0 {
                if tokio::time::timeout(COOLING, self.taken.notified())
                    .await
                    .is_err()
                {
                    let mut warm = self.lock();
                    warm.target = (warm.target - 1).max(WARM.0);
                    let target = warm.target;
                    warm.idle.truncate(target);
                }
                continue;
            }
            // Several at a time, so that a burst of clients waits for one handshake.
            let made = tokio::join!(
                self.probe_if(missing > 0),
                self.probe_if(missing > 1),
                self.probe_if(missing > 2),
                self.probe_if(missing > 3)
            );
            if let (Err(error), ..) = made {
                return error;
            }
        }
    }

    async fn probe_if(&self, wanted: bool) -> io::Result<()> {
        if wanted { self.probe().await } else { Ok(()) }
    }

    /// Closes the connections that carry nothing.
    pub(crate) fn cool(&self) {
        self.lock().idle.clear();
    }
}

/// True if the hub closed the connection before it had said anything against it.
fn was_turned_away(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunnel::credentials::Keys;
    use crate::tunnel::keys::Identity;

    /// A burst of clients that fills every place must not look like a hub that is gone.
    #[tokio::test(start_paused = true)]
    async fn who_waits_for_a_place_does_not_take_the_hub_for_gone() {
        let identity = Identity::generate().unwrap();
        let peers = vec![identity.public()];
        let credentials = Credentials::new(Keys { identity, peers });
        let settings = Settings {
            control: "cubic".to_owned(),
            outage: Duration::from_secs(60),
            bind: None,
        };
        let patience = Duration::from_secs(10);
        // Nobody listens there: a handshake fails at once.
        let target = Target::new("127.0.0.1:1".parse().unwrap(), Duration::from_secs(1));
        let pool = Pool::new(target, credentials, settings, patience);
        let places = pool.handshakes.acquire_many(HANDSHAKES as u32).await;
        let waits = tokio::time::timeout(3 * patience, pool.probe()).await;
        assert!(waits.is_err(), "{waits:?}");
        drop(places);
        let error = pool.probe().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }
}
