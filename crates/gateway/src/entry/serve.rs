//! Accepts connections, and reads the requests of SOCKS and CONNECT clients.

use super::Arrival;
use super::connect::{self, Connect};
use super::listener::{Kind, Listener, Settings};
use super::reply::{Reply, refuse};
use super::socks::{self, Socks};
use super::users::Users;
use crate::config::Answer;
use crate::descriptors;
use crate::shares::Shares;
use crate::{Destination, Open};
use bytes::{Bytes, BytesMut};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tracing::{debug, warn};

/// Tasks that accept at one socket.
const TASKS: usize = 2;

/// How long a client may take for its request.
const REQUEST: Duration = Duration::from_secs(10);

/// Clients of one listener whose requests are being read. Those beyond it are
/// reset: together they cannot hold more memory than this many requests.
const REQUESTS: usize = 2048;

/// Those of one client address: it cannot keep others out by requests that it does not finish.
const SHARE: usize = REQUESTS / 8;

/// Bytes by which the memory of a request grows.
const PIECE: usize = 1024;

/// Pauses after an error of the whole process, such as that no descriptor is
/// left: from the first to the second, doubling.
const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(1));

/// A listener that is served, until this is dropped. Connections that it has
/// handed on live longer.
#[derive(Debug)]
pub struct Serving {
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// State shared by the tasks of a listener.
#[derive(Debug)]
struct Shared {
    kind: Kind,
    address: SocketAddr,
    listener: TcpListener,
    settings: Settings,
    requests: Arc<Semaphore>,
    shares: Arc<Shares>,
}

/// Serves `listener`: `handle` gets each connection in its own task.
///
/// # Errors
/// Where the runtime does not take the socket.
pub fn serve<H, F>(listener: Listener, settings: Settings, handle: H) -> io::Result<Serving>
where
    H: Fn(Arrival) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let shared = Arc::new(Shared {
        kind: listener.kind(),
        address: listener.address(),
        listener: listener.into_tokio()?,
        settings,
        requests: Arc::new(Semaphore::new(REQUESTS)),
        shares: Shares::new(SHARE, REQUESTS / 2),
    });
    let tasks = (0..TASKS).map(|_| tokio::spawn(accept(Arc::clone(&shared), handle.clone())));
    Ok(Serving {
        tasks: tasks.collect(),
    })
}

async fn accept<H, F>(shared: Arc<Shared>, handle: H)
where
    H: Fn(Arrival) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let mut pause = PAUSES.0;
    loop {
        match shared.listener.accept().await {
            Ok((tcp, client)) => {
                pause = PAUSES.0;
                if descriptors::is_reserved(&tcp) {
                    debug!(%client, "reset: no descriptor is left for it");
                    continue;
                }
                arrive(&shared, tcp, client, &handle);
            }
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                if pause == PAUSES.0 {
                    warn!(%error, address = %shared.address, "no connection can be accepted now");
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(PAUSES.1);
            }
        }
    }
}

/// Errors that belong to the connection which was to be accepted; accept(2).
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::ConnectionAborted
            | Kind::ConnectionReset
            | Kind::ConnectionRefused
            | Kind::HostUnreachable
            | Kind::NetworkUnreachable
            | Kind::NetworkDown
            | Kind::Interrupted
            | Kind::TimedOut
            | Kind::PermissionDenied
    ) || error.raw_os_error() == Some(libc::EPROTO)
}

fn arrive<H, F>(shared: &Arc<Shared>, tcp: TcpStream, client: SocketAddr, handle: &H)
where
    H: Fn(Arrival) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    if shared.kind == Kind::Transparent {
        // Whoever connects to the socket itself meant no server, and would be
        // connected to the gateway again.
        match tcp.local_addr() {
            Ok(server) if server != shared.address => {
                tokio::spawn(handle(intercepted(tcp, client, server)));
            }
            _ => debug!(%client, "a connection to the intercepting socket itself is reset"),
        }
        return;
    }
    let share = shared.shares.take(client.ip());
    let permit = Arc::clone(&shared.requests).try_acquire_owned();
    let (Some(share), Ok(permit)) = (share, permit) else {
        debug!(%client, "reset: too many requests are being read");
        return;
    };
    let (shared, handle) = (Arc::clone(shared), handle.clone());
    tokio::spawn(async move {
        let arrival = read(&shared, tcp).await;
        drop((permit, share));
        // It has the listening socket, which no open connection may keep.
        drop(shared);
        if let Some(arrival) = arrival {
            handle(arrival).await;
        }
    });
}

fn intercepted(tcp: TcpStream, client: SocketAddr, server: SocketAddr) -> Arrival {
    Arrival {
        tcp,
        open: Open {
            destination: server.into(),
            source: Some(client),
            subscriber: None,
            urgency: None,
            confirm: false,
        },
        first: Bytes::new(),
        reply: Reply::Nothing,
    }
}

/// Reads the request of a client; `None` where it was refused or left.
async fn read(shared: &Shared, mut tcp: TcpStream) -> Option<Arrival> {
    let deadline = Instant::now() + REQUEST;
    let users = shared.settings.users.as_deref();
    let request = match shared.kind {
        Kind::Socks => timeout_at(deadline, socks_request(&mut tcp, users)).await,
        Kind::Connect | Kind::Transparent => {
            timeout_at(deadline, connect_request(&mut tcp, users)).await
        }
    };
    let (destination, first, reply) = match request {
        Ok(Ok(found)) => found,
        Ok(Err(Unread::Refused(answer))) if !answer.is_empty() => {
            refuse(tcp, &answer).await;
            return None;
        }
        Ok(Err(_)) => return None,
        Err(_) => {
            if shared.kind == Kind::Connect {
                refuse(tcp, &connect::too_slow()).await;
            }
            return None;
        }
    };
    let confirm = shared.settings.answer == Answer::Confirmed;
    let reply = if confirm || reply == Reply::Associate {
        reply
    } else {
        reply.connected(&mut tcp).await.ok()?;
        Reply::Nothing
    };
    Some(Arrival {
        tcp,
        open: Open {
            destination,
            source: None,
            subscriber: None,
            urgency: None,
            confirm,
        },
        first,
        reply,
    })
}

/// Where it goes, what the client sent after it, and what it waits for.
type Request = (Destination, Bytes, Reply);

/// Why there is no request.
enum Unread {
    /// The client closed its connection.
    Gone,
    /// It is answered with these bytes, and closed.
    Refused(Vec<u8>),
}

impl From<io::Error> for Unread {
    fn from(_: io::Error) -> Unread {
        Unread::Gone
    }
}

async fn socks_request(tcp: &mut TcpStream, users: Option<&Users>) -> Result<Request, Unread> {
    let mut negotiation = Socks::new(users);
    let mut held = BytesMut::new();
    loop {
        let (length, step) = negotiation.read(&held);
        drop(held.split_to(length));
        match step {
            socks::Step::More => more(tcp, &mut held, socks::MOST).await?,
            socks::Step::Answer(answer) => tcp.write_all(answer).await?,
            socks::Step::Connect(destination) => {
                return Ok((destination, held.freeze(), Reply::Socks));
            }
            socks::Step::Associate(from) => {
                return Ok((from.into(), held.freeze(), Reply::Associate));
            }
            socks::Step::Refuse(answer) => return Err(Unread::Refused(answer.to_vec())),
        }
    }
}

async fn connect_request(tcp: &mut TcpStream, users: Option<&Users>) -> Result<Request, Unread> {
    let mut request = Connect::new(users);
    let mut held = BytesMut::new();
    loop {
        match request.read(&held) {
            connect::Step::More => more(tcp, &mut held, connect::MOST).await?,
            connect::Step::Connect(length, destination) => {
                let first = held.split_off(length).freeze();
                return Ok((destination, first, Reply::Connect));
            }
            connect::Step::Refuse(response) => return Err(Unread::Refused(response)),
        }
    }
}

/// Reads more of a request that is not whole. There is no memory for it before
/// its bytes are there, and never more than `most` bytes.
async fn more(tcp: &TcpStream, held: &mut BytesMut, most: usize) -> Result<(), Unread> {
    let room = most.saturating_sub(held.len()).min(PIECE);
    if room == 0 {
        return Err(Unread::Gone);
    }
    loop {
        tcp.readable().await?;
        let mut piece = [0; PIECE];
        match tcp.try_read(&mut piece[..room]) {
            Ok(0) => return Err(Unread::Gone),
            Ok(read) => {
                held.extend_from_slice(&piece[..read]);
                return Ok(());
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
    }
}
