//! The UDP socket of the association: quinn's own for Tokio, with segmentation
//! offload and ECN, behind a [`Shaper`].
//!
//! quinn gives each connection its own poller and, in one synchronous loop,
//! asks it whether the socket is writable and then sends. The poller waits for the
//! shaper. It does not know where its connection sends to; the first send after
//! it shows that, on the same thread, and from then on the poller waits for the
//! bucket of that [`Peer`], too. The first batch of a connection is therefore held
//! to the socket's rate only. Answers of the endpoint to strangers (Retry, resets)
//! are sent without a poller: they are charged, and do not wait.

use super::coding::is_repair;
use super::shaper::{Peer, Sender, Shaper, Turn, packet_bytes};
use super::steering::Foreign;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce, SndBuf, SndBufForce};
use quinn::udp::{EcnCodepoint, RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, Runtime, TokioRuntime, UdpPoller};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::time::{Sleep, sleep_until};

/// Socket buffers: 20 ms at 2 Gbit/s, which a busy machine may need.
const BUFFER: usize = 5 << 20;

thread_local! {
    /// The sender whose poller was the last to find the socket writable on this
    /// thread; the send that follows is its own.
    static READY: RefCell<Option<Arc<Slot>>> = const { RefCell::new(None) };
}

/// One sender (a connection of quinn).
#[derive(Debug)]
struct Slot {
    sender: Sender,
    peer: Mutex<Option<(SocketAddr, Arc<Peer>)>>,
}

impl Slot {
    fn peer(&self) -> Option<Arc<Peer>> {
        let peer = self.peer.lock().unwrap_or_else(PoisonError::into_inner);
        peer.as_ref().map(|(_, peer)| Arc::clone(peer))
    }

    /// Charges what was sent to `destination`, and remembers whose it is.
    fn charge(&self, shaper: &Shaper, destination: SocketAddr, bytes: usize, now: Instant) {
        let mut peer = self.peer.lock().unwrap_or_else(PoisonError::into_inner);
        if peer.as_ref().is_none_or(|(known, _)| *known != destination) {
            // A terminal whose address changes keeps what it had.
            let found = shaper.find_peer(destination);
            let found = found.or_else(|| peer.take().map(|(_, peer)| peer));
            *peer = found.map(|found| (destination, found));
        }
        if let Some((_, peer)) = &*peer {
            peer.charge(bytes, now);
            self.sender.set_weight(peer.weight());
        }
    }
}

/// A UDP socket that sends at the rates of a [`Shaper`].
#[derive(Debug)]
pub struct ShapedSocket {
    inner: Arc<dyn AsyncUdpSocket>,
    shaper: Arc<Shaper>,
    /// Packets that repairs have restored, and QUIC has not taken yet.
    restored: Mutex<VecDeque<(RecvMeta, Box<[u8]>)>>,
    /// Packets of other processes at the same address.
    foreign: Foreign,
}

impl ShapedSocket {
    /// Wraps a bound UDP socket. Call it inside a Tokio runtime.
    ///
    /// # Errors
    /// Where the socket cannot be registered with the runtime.
    pub fn new(socket: std::net::UdpSocket, shaper: Arc<Shaper>) -> io::Result<Arc<ShapedSocket>> {
        enlarge_buffers(&socket);
        let inner = TokioRuntime.wrap_udp_socket(socket)?;
        Ok(ShapedSocket::around(inner, shaper))
    }

    /// Wraps another socket of quinn's kind.
    #[must_use]
    pub fn around(inner: Arc<dyn AsyncUdpSocket>, shaper: Arc<Shaper>) -> Arc<ShapedSocket> {
        Arc::new(ShapedSocket {
            inner,
            shaper,
            restored: Mutex::default(),
            foreign: Foreign::default(),
        })
    }

    /// The shaper that paces this socket.
    #[must_use]
    pub fn shaper(&self) -> &Arc<Shaper> {
        &self.shaper
    }

    /// Packets that it leaves alone.
    pub(super) const fn foreign(&self) -> &Foreign {
        &self.foreign
    }
}

impl ShapedSocket {
    /// Sends in the turn that the poller has found; what QUIC sends (`covered`) is protected by repairs.
    fn send(&self, transmit: &Transmit<'_>, covered: bool) -> io::Result<()> {
        let sender = READY.take();
        let result = self.inner.try_send(transmit);
        if matches!(&result, Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
            // The sender keeps its place and asks again.
            return result;
        }
        let payload = transmit.contents.len();
        let datagrams = match transmit.segment_size {
            Some(size) if size > 0 => payload.div_ceil(size),
            _ => 1,
        };
        let headers = packet_bytes(0, &transmit.destination) * datagrams;
        let bytes = payload + headers;
        let now = Instant::now();
        self.shaper
            .sent(sender.as_ref().map(|slot| &slot.sender), bytes, now);
        if self.shaper.has_peers()
            && let Some(slot) = &sender
        {
            slot.charge(&self.shaper, transmit.destination, bytes, now);
        }
        if covered
            && self.shaper.paths().any_sends()
            && let Some(coding) = self.shaper.paths().find(transmit.destination)
        {
            let length = transmit.segment_size.unwrap_or(payload).max(1);
            coding.sent(now, transmit.contents.chunks(length), transmit.ecn);
        }
        result
    }

    fn restored(&self) -> MutexGuard<'_, VecDeque<(RecvMeta, Box<[u8]>)>> {
        self.restored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks for repairs among datagrams of one sender that were received together. They stay where they
    /// are: QUIC drops what is none of its packets.
    fn look(&self, buffer: &[u8], meta: &RecvMeta) {
        let datagrams = || buffer[..meta.len].chunks(meta.stride.max(1));
        let paths = self.shaper.paths();
        if !paths.any_receives() && !datagrams().any(is_repair) {
            return;
        }
        let Some(coding) = paths.find(meta.addr) else {
            return;
        };
        let now = Instant::now();
        for datagram in datagrams() {
            for packet in coding.received(now, datagram) {
                let mut of = *meta;
                (of.len, of.stride) = (packet.len(), packet.len());
                self.restored().push_back((of, packet));
            }
        }
    }

    /// Gives QUIC what was restored.
    fn take_restored(&self, buffers: &mut [IoSliceMut<'_>], meta: &mut [RecvMeta]) -> usize {
        let mut restored = self.restored();
        let mut given = 0;
        for (buffer, meta) in buffers.iter_mut().zip(meta) {
            let Some((of, packet)) = restored.pop_front() else {
                break;
            };
            // The buffers take the longest datagram.
            let length = packet.len().min(buffer.len());
            buffer[..length].copy_from_slice(&packet[..length]);
            *meta = of;
            meta.len = length;
            given += 1;
        }
        given
    }
}

/// Asks for larger buffers; the kernel gives what its limits allow, or all of it
/// to a privileged process.
fn enlarge_buffers(socket: &std::net::UdpSocket) {
    let receive =
        setsockopt(socket, RcvBufForce, &BUFFER).or_else(|_| setsockopt(socket, RcvBuf, &BUFFER));
    let send =
        setsockopt(socket, SndBufForce, &BUFFER).or_else(|_| setsockopt(socket, SndBuf, &BUFFER));
    if let Err(error) = receive.and(send) {
        tracing::debug!(%error, "cannot enlarge the socket's buffers");
    }
}

impl AsyncUdpSocket for ShapedSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        let slot = Slot {
            sender: self.shaper.sender(),
            peer: Mutex::new(None),
        };
        Box::pin(Poller {
            inner: Arc::clone(&self.inner).create_io_poller(),
            shaper: Arc::clone(&self.shaper),
            slot: Arc::new(slot),
            timer: None,
        })
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.send(transmit, true)
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let restored = self.take_restored(buffers, meta);
        if restored > 0 {
            return Poll::Ready(Ok(restored));
        }
        let received = ready!(self.inner.poll_recv(cx, buffers, meta))?;
        for (buffer, meta) in buffers.iter_mut().zip(meta.iter()).take(received) {
            self.foreign.blank(&mut buffer[..meta.len], meta.stride);
            self.look(buffer, meta);
        }
        Poll::Ready(Ok(received))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.inner
            .max_transmit_segments()
            .min(self.shaper.most_segments())
    }

    fn max_receive_segments(&self) -> usize {
        self.inner.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.inner.may_fragment()
    }
}

/// Sends repairs of one association in their turn.
#[derive(Debug)]
pub(super) struct Repairs {
    socket: Arc<ShapedSocket>,
    poller: Pin<Box<dyn UdpPoller>>,
}

impl Repairs {
    pub(super) fn new(socket: &Arc<ShapedSocket>) -> Repairs {
        let socket = Arc::clone(socket);
        let poller = Arc::clone(&socket).create_io_poller();
        Repairs { socket, poller }
    }

    /// Sends one to an address, from one where the machine has several.
    ///
    /// # Errors
    /// Those of the socket.
    pub(super) async fn send(
        &mut self,
        (destination, src_ip): (SocketAddr, Option<IpAddr>),
        datagram: &[u8],
        ecn: Option<EcnCodepoint>,
    ) -> io::Result<()> {
        let transmit = Transmit {
            destination,
            ecn,
            contents: datagram,
            segment_size: None,
            src_ip,
        };
        poll_fn(|cx| {
            loop {
                ready!(self.poller.as_mut().poll_writable(cx))?;
                match self.socket.send(&transmit, false) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    sent => return Poll::Ready(sent),
                }
            }
        })
        .await
    }
}

/// The poller of one connection.
struct Poller {
    inner: Pin<Box<dyn UdpPoller>>,
    shaper: Arc<Shaper>,
    slot: Arc<Slot>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Poller {
    /// When the buckets let this sender send, the peer's first.
    fn turn(&self, cx: &Context<'_>) -> Turn {
        let now = Instant::now();
        if self.shaper.has_peers()
            && let Some(peer) = self.slot.peer()
            && let Some(at) = peer.wait(now, cx.waker())
        {
            // Its place in the line is for those who could send.
            self.shaper.leave(&self.slot.sender);
            return Turn::At(at);
        }
        self.shaper.turn(&self.slot.sender, now, cx.waker())
    }

    fn sleep(&mut self, until: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let until = until.into();
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(sleep_until(until)));
        if timer.deadline() != until {
            timer.as_mut().reset(until);
        }
        timer.as_mut().poll(cx)
    }
}

impl UdpPoller for Poller {
    fn poll_writable(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.shaper.is_limited() || self.shaper.has_peers() {
            match self.turn(cx) {
                Turn::Now => break,
                Turn::At(at) => ready!(self.sleep(at, cx)),
                Turn::Behind => return Poll::Pending,
            }
        }
        ready!(self.inner.as_mut().poll_writable(cx))?;
        READY.set(Some(Arc::clone(&self.slot)));
        Poll::Ready(Ok(()))
    }
}

impl Drop for Poller {
    fn drop(&mut self) {
        self.shaper.leave(&self.slot.sender);
    }
}

impl fmt::Debug for Poller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poller")
            .field("slot", &self.slot)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
