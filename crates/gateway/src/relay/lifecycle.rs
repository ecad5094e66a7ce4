//! The life of a relayed socket: the options that it gets at the start, and how it is closed.

use super::{Meter, Timeouts};
use crate::sys;
use socket2::{SockRef, TcpKeepalive};
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

/// Keepalive probes without an answer after which a host has vanished.
const PROBES: u32 = 5;

/// Gives a socket what every relayed socket has. It is applied to listening
/// sockets, whose connections inherit it before they are accepted, and to
/// sockets before they connect.
///
/// A linger time of zero makes the kernel close the socket with RST: when the
/// process is killed in the middle of a transfer, both hosts see a reset and
/// never an end that looks orderly. An orderly end takes it back.
///
/// TCP_USER_TIMEOUT is not set: it also ends connections whose receiver keeps
/// its window shut, which a slow reader may do for as long as it likes. Hosts
/// that vanish are found by keepalive and by what stays unacknowledged.
///
/// # Errors
/// `socket` is not one of TCP.
pub fn guard(socket: &impl AsFd) -> io::Result<()> {
    let socket = SockRef::from(socket);
    socket.set_linger(Some(Duration::ZERO))?;
    // An urgent byte stays at its place among the others, and is not lost.
    socket.set_out_of_band_inline(true)?;
    // A relay passes on what it has at once; waiting for more is the hosts' choice.
    socket.set_tcp_nodelay(true)
}

/// Lets the kernel ask a silent peer whether it is there. Most connections end
/// long before that matters, and are spared these four calls.
pub(crate) fn keep_alive(tcp: &TcpStream, timeouts: &Timeouts) {
    let interval = (timeouts.keepalive / PROBES).max(Duration::from_secs(1));
    let keepalive = TcpKeepalive::new()
        .with_time(timeouts.keepalive.max(Duration::from_secs(1)))
        .with_interval(interval)
        .with_retries(PROBES);
    // A failure means that the connection is gone, which the relay notices.
    let _ = SockRef::from(tcp).set_tcp_keepalive(&keepalive);
}

/// Closes a connection with a reset.
pub fn reset(tcp: TcpStream) {
    // Sockets of listeners without a guard are reset as well. A failure leaves a socket that has no
    // connection any more.
    let _ = SockRef::from(&tcp).set_linger(Some(Duration::ZERO));
}

/// Closes a connection both of whose directions have ended; the kernel still
/// delivers what is in its send buffer.
pub(super) fn end_orderly(tcp: TcpStream) {
    let _ = SockRef::from(&tcp).set_linger(None);
}

/// True if the peer has acknowledged all that was written.
pub(super) fn delivered(tcp: &TcpStream) -> bool {
    sys::tcp_info(tcp).is_ok_and(|info| info.tcpi_unacked == 0 && info.tcpi_notsent_bytes == 0)
}

/// Finds a peer that acknowledges nothing although it has something to
/// acknowledge.
#[derive(Debug, Default)]
pub(super) struct Silence {
    /// Since when there has been something to acknowledge, as far as was seen.
    since: Option<Instant>,
}

impl Silence {
    /// Looks at the socket; true if the peer has been silent for `longest`.
    pub(super) fn looks_vanished(&mut self, tcp: &TcpStream, longest: Duration) -> bool {
        let Ok(info) = sys::tcp_info(tcp) else {
            return false;
        };
        if info.tcpi_unacked == 0 && info.tcpi_notsent_bytes == 0 {
            self.since = None;
            return false;
        }
        let now = Instant::now();
        let since = *self.since.get_or_insert(now);
        let heard = info.tcpi_last_ack_recv.min(info.tcpi_last_data_recv);
        now - since >= longest && Duration::from_millis(heard.into()) >= longest
    }
}

/// Completes when one of `ends` has vanished, or the connection has been idle for
/// too long.
pub(super) async fn vanishes<const N: usize>(
    ends: [&TcpStream; N],
    timeouts: &Timeouts,
    meter: &Meter,
) {
    let pause = timeouts
        .idle
        .map_or(timeouts.vanished, |idle| idle.min(timeouts.vanished))
        / 4;
    let mut silences: [Silence; N] = std::array::from_fn(|_| Silence::default());
    let carried = || meter.up().wrapping_add(meter.down());
    let mut last = (carried(), Instant::now());
    let mut young = true;
    loop {
        tokio::time::sleep(pause).await;
        if std::mem::take(&mut young) {
            for tcp in ends {
                keep_alive(tcp, timeouts);
            }
        }
        if carried() != last.0 {
            last = (carried(), Instant::now());
        }
        if timeouts.idle.is_some_and(|idle| last.1.elapsed() >= idle) {
            return;
        }
        for (silence, tcp) in silences.iter_mut().zip(ends) {
            if silence.looks_vanished(tcp, timeouts.vanished) {
                return;
            }
        }
    }
}
