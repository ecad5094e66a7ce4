//! One flow of UDP at one of the boxes: its socket, and whose it is.

use super::frame::Number;
use super::socket;
use crate::CloseReason;
use crate::operate::records::Record;
use crate::tunnel::keys::PublicKey;
use crate::tunnel::sharing::{Datagram, Subscriber};
use crate::usage::Member;
use bytes::Bytes;
use socket2::SockRef;
use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::net::UdpSocket;
use tokio::sync::Notify;

/// Datagrams that are read of one flow before others have their turn.
const BATCH: usize = 32;

/// Why a flow ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// No datagram came for a while.
    Idle,
    /// The host at this side does not want it, or cannot be reached.
    Refused,
    /// It was forgotten: for others, or because the other box does not know it.
    Forgotten,
}

/// How datagrams reach the host at this side.
#[derive(Debug)]
pub(super) enum Face {
    /// A socket that is the flow's own.
    Own(UdpSocket),
    /// That of a SOCKS5 client's association, which has flows to several servers and reads for all of
    /// them: what the client gets begins with the header that says from where it comes.
    Shared {
        /// It is connected to the client.
        socket: Arc<UdpSocket>,
        /// Of each datagram.
        header: Bytes,
    },
}

/// A flow.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) number: Number,
    /// The host at this side: the client at a terminal, the server at a hub.
    pub(super) peer: SocketAddr,
    pub(super) subscriber: Subscriber,
    pub(super) member: Arc<Member>,
    /// Its datagrams may go in parts.
    divisible: bool,
    face: Face,
    pub(super) born: Instant,
    /// Bytes that the host at this side has had and has sent.
    pub(super) received: AtomicU64,
    pub(super) sent: AtomicU64,
    /// When a datagram went one way or the other, milliseconds after its birth.
    used: AtomicU64,
    forgotten: Notify,
    /// The host at this side has said that it does not want it.
    refused: Notify,
}

thread_local! {
    /// What datagrams are read into.
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; socket::MOST]);
}

impl Flow {
    pub(super) fn new(
        number: Number,
        face: Face,
        peer: SocketAddr,
        subscriber: Subscriber,
        member: Arc<Member>,
        divisible: bool,
    ) -> Flow {
        Flow {
            number,
            peer,
            subscriber,
            member,
            divisible,
            face,
            born: Instant::now(),
            received: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            used: AtomicU64::new(0),
            forgotten: Notify::new(),
            refused: Notify::new(),
        }
    }

    fn note_used(&self) {
        let age = self.born.elapsed().as_millis();
        self.used
            .store(u64::try_from(age).unwrap_or(u64::MAX), Relaxed);
    }

    /// When a datagram went one way or the other.
    pub(super) fn used(&self) -> Instant {
        self.born + Duration::from_millis(self.used.load(Relaxed))
    }

    /// A datagram of the association that carries one of this flow.
    pub(super) fn datagram(&self, bytes: Bytes) -> Datagram {
        Datagram {
            bytes,
            divisible: self.divisible,
            member: Some(Arc::clone(&self.member)),
        }
    }

    /// Its task ends.
    pub(super) fn forget(&self) {
        self.forgotten.notify_one();
    }

    /// Sends a datagram to the host at this side; false where it is lost, such as for want of room in the
    /// socket.
    pub(super) fn send(&self, payload: &[u8]) -> bool {
        self.note_used();
        // Not by tokio, which waits for the first word of the kernel about a socket that was just made.
        let (socket, header) = match &self.face {
            Face::Own(socket) => (SockRef::from(socket), &[][..]),
            Face::Shared { socket, header } => (SockRef::from(&**socket), &header[..]),
        };
        let parts = [IoSlice::new(header), IoSlice::new(payload)];
        let sent = match socket.send_vectored(&parts) {
            // An error of ICMP about an earlier one, which the kernel tells in place of sending this one.
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                if error.kind() == io::ErrorKind::ConnectionRefused {
                    self.refused.notify_one();
                }
                socket.send_vectored(&parts)
            }
            result => result,
        };
        if sent.is_err() {
            return false;
        }
        self.member.received(payload.len() as u64);
        self.received.fetch_add(payload.len() as u64, Relaxed);
        true
    }

    /// What it has carried, as the record of its end says: `ends` are the client and the server.
    pub(super) fn record(
        &self,
        ends: (Option<SocketAddr>, String),
        terminal: Option<PublicKey>,
        end: End,
    ) -> Record {
        let carried = [&self.sent, &self.received].map(|bytes| bytes.load(Relaxed));
        let [up, down] = match terminal {
            None => carried,
            // The host at this side is the server.
            Some(_) => [carried[1], carried[0]],
        };
        Record {
            protocol: "udp",
            client: ends.0,
            server: ends.1,
            subscriber: Some(self.subscriber.to_string()),
            terminal: terminal.map(|key| key.to_string()),
            began: self.born,
            up,
            down,
            cut: match end {
                End::Idle => None,
                End::Refused => Some(CloseReason::Refused),
                End::Forgotten => Some(CloseReason::PeerGone),
            },
        }
    }

    /// Whether nothing else uses its socket.
    pub(super) const fn has_own_socket(&self) -> bool {
        matches!(self.face, Face::Own(_))
    }

    /// Notes a datagram of the host at this side.
    pub(super) fn note_sent(&self, length: usize) {
        self.note_used();
        self.sent.fetch_add(length as u64, Relaxed);
    }

    /// Waits until its own socket has something to read.
    async fn readable(&self) -> io::Result<&UdpSocket> {
        match &self.face {
            Face::Own(socket) => socket.readable().await.map(|()| socket),
            Face::Shared { .. } => std::future::pending().await,
        }
    }

    /// Reads what the host at this side sends, where the socket is the flow's own, until the flow ends.
    pub(super) async fn run(&self, idle: Duration, mut take: impl FnMut(&[u8])) -> End {
        loop {
            let until = self.used() + idle;
            let socket = tokio::select! {
                ready = self.readable() => match ready {
                    Ok(socket) => socket,
                    Err(_) => return End::Refused,
                },
                () = self.forgotten.notified() => return End::Forgotten,
                () = self.refused.notified() => return End::Refused,
                () = tokio::time::sleep_until(until.into()) => {
                    if self.used() + idle <= Instant::now() {
                        return End::Idle;
                    }
                    continue;
                }
            };
            let read = BUFFER.with_borrow_mut(|buffer| self.read(socket, buffer, &mut take));
            if read.is_err() {
                return End::Refused;
            }
            // A flow that always has more leaves the others their turns.
            tokio::task::yield_now().await;
        }
    }
}

impl Flow {
    /// Reads what has come, up to a batch.
    fn read(
        &self,
        socket: &UdpSocket,
        buffer: &mut [u8],
        take: &mut impl FnMut(&[u8]),
    ) -> io::Result<()> {
        for _ in 0..BATCH {
            match socket.try_recv_from(buffer) {
                Ok((length, source)) if socket::is_from(source, self.peer) => {
                    self.note_sent(length);
                    take(buffer.get(..length).unwrap_or_default());
                }
                // Another's, which came before the socket was connected.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Errors of ICMP that are no answer of the host itself; a route may come back.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::NetworkDown
            | io::ErrorKind::Interrupted
    ) || error.raw_os_error() == Some(libc::EMSGSIZE)
}
