//! Sockets with the options that a flow's setup asks for.

use super::clock::{Clock, PATIENCE};
use super::setup::{Acknowledge, Setup};
use crate::sys;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::sockopt;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// Every flow has its own addresses, so all may listen at one port.
pub(crate) const PORT: u16 = 5001;

/// `TCP_DELACK_MAX_US` (linux/tcp.h; kernels since 6.15).
const DELACK_MAX_US: i32 = 46;

/// `TCP_WINDOW_CLAMP` (linux/tcp.h).
const WINDOW_CLAMP: i32 = 10;

/// A receive buffer is so many times the window that it is to hold: the kernel
/// counts what a packet takes in memory.
const ROOM_OF_WINDOW: u32 = 4;

/// A send buffer that does not bind.
const WIDE_BUFFER: usize = 16 << 20;

/// Connections that wait to be accepted.
const BACKLOG: i32 = 16;

/// A TCP socket of one side of a flow, not connected yet. Where it `sends` the
/// data it runs the congestion control.
pub(crate) fn tcp(setup: &Setup, local: SocketAddr, sends: bool) -> io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(local),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    // What closes is gone at once: no orphan outlives the run's namespaces.
    socket.set_linger(Some(Duration::ZERO))?;
    // The option counts the bytes that timestamps take as well.
    let timestamps = if setup.timestamps { 12 } else { 0 };
    socket.set_tcp_mss(setup.mss + timestamps)?;
    if !setup.stock_send {
        sockopt::set_socket_send_buffer_size_force(&socket, WIDE_BUFFER)?;
    }
    // Without it the kernel tunes the buffer, as it does for everybody.
    if let Some(bytes) = setup.receive_window() {
        let room = bytes.saturating_mul(ROOM_OF_WINDOW) as usize;
        sockopt::set_socket_recv_buffer_size_force(&socket, room)?;
        clamp_window(&socket, setup)?;
    }
    if sends {
        socket.set_tcp_congestion(setup.control_name.as_bytes())?;
    }
    if let Acknowledge::EverySecond { timer, .. } = setup.acknowledge {
        // Kernels that do not have it use 40 to 200 ms by their own rules.
        let us = i32::try_from(timer.as_micros()).unwrap_or(i32::MAX);
        match sys::set_tcp_option(&socket, DELACK_MAX_US, us) {
            Err(e)
                if e.kind() == ErrorKind::InvalidInput
                    || e.raw_os_error() == Some(libc::ENOPROTOOPT) => {}
            other => other?,
        }
    }
    socket.bind(&SockAddr::from(local))?;
    Ok(socket)
}

/// Makes a socket listen.
pub(crate) fn listen(socket: &Socket, setup: &Setup) -> io::Result<()> {
    socket.listen(BACKLOG)?;
    // Connections inherit it.
    delay_acknowledgements(socket, setup, 0)
}

/// A UDP socket between two addresses.
pub(crate) fn udp(local: SocketAddr, remote: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    sockopt::set_socket_send_buffer_size_force(&socket, WIDE_BUFFER)?;
    socket.bind(&SockAddr::from(local))?;
    socket.connect(&SockAddr::from(remote))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    Ok(socket)
}

/// The same for QUIC: one that does not block, with room for a window that arrives at once.
pub(crate) fn quic(local: SocketAddr, remote: SocketAddr) -> io::Result<Socket> {
    let socket = udp(local, remote)?;
    sockopt::set_socket_recv_buffer_size_force(&socket, WIDE_BUFFER)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Holds the receive window at what the setup says. The kernel forgets it when it
/// learns how much memory packets take, so it is set again after reads.
fn clamp_window(socket: &Socket, setup: &Setup) -> io::Result<()> {
    match setup.receive_window() {
        Some(bytes) => {
            let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
            sys::set_tcp_option(socket, WINDOW_CLAMP, bytes)
        }
        None => Ok(()),
    }
}

/// Tells the kernel to delay ACKs, where it shall do so once `read` bytes were
/// read: again and again, since it forgets.
fn delay_acknowledgements(socket: &Socket, setup: &Setup, read: u64) -> io::Result<()> {
    match setup.acknowledge {
        Acknowledge::EverySecond { quick, .. } if read >= u64::from(quick * setup.mss) => {
            sockopt::set_tcp_quickack(socket, false).map_err(Into::into)
        }
        _ => Ok(()),
    }
}

/// A connection of a flow.
#[derive(Debug)]
pub(crate) struct Connection<'a> {
    socket: Socket,
    setup: &'a Setup,
    clock: &'a Clock,
    zeros: Vec<u8>,
    room: Vec<u8>,
    /// Bytes read so far.
    read: u64,
}

/// Segments that are written or read at once.
const CHUNK: u32 = 32;

impl<'a> Connection<'a> {
    /// A connection that was opened.
    pub(crate) fn new(
        socket: Socket,
        setup: &'a Setup,
        clock: &'a Clock,
    ) -> io::Result<Connection<'a>> {
        socket.set_nonblocking(false)?;
        socket.set_linger(Some(Duration::ZERO))?;
        let reminder = setup.reminder().map(|d| Duration::from_nanos(d.as_nanos()));
        socket.set_read_timeout(Some(reminder.map_or(PATIENCE, |d| d.min(PATIENCE))))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        delay_acknowledgements(&socket, setup, 0)?;
        // Whole segments: a write must not end within one.
        let chunk = (setup.mss * CHUNK) as usize;
        Ok(Connection {
            socket,
            setup,
            clock,
            zeros: vec![0; chunk],
            room: vec![0; chunk],
            read: 0,
        })
    }

    /// Another handle of its socket, to be looked at.
    pub(crate) fn watched(&self) -> io::Result<OwnedFd> {
        Ok(self.socket.try_clone()?.into())
    }

    /// From now on the kernel takes no more than `bytes` that it cannot send.
    pub(crate) fn hold_unsent(&self, bytes: u32) -> io::Result<()> {
        self.socket.set_tcp_notsent_lowat(bytes)
    }

    /// Writes so many bytes; fewer if the run is over, `gives_up` returns true, or the peer has
    /// closed. True if all were written.
    pub(crate) fn write(&mut self, bytes: u64, gives_up: impl Fn() -> bool) -> io::Result<bool> {
        let mut left = bytes;
        while left > 0 {
            if self.clock.is_over() || gives_up() {
                return Ok(false);
            }
            let now = self
                .zeros
                .len()
                .min(usize::try_from(left).unwrap_or(usize::MAX));
            match (&self.socket).write(&self.zeros[..now]) {
                Ok(written) => left -= written as u64,
                Err(e) if is_patience(&e) => {}
                Err(e) if is_gone(&e) => return Ok(false),
                Err(e) => return Err(e),
            }
        }
        Ok(true)
    }

    /// Writes no more: the kernel sends a FIN after what was written.
    pub(crate) fn finish(&self) -> io::Result<()> {
        match self.socket.shutdown(Shutdown::Write) {
            // The other side has gone.
            Err(e) if e.kind() == ErrorKind::NotConnected || is_gone(&e) => Ok(()),
            other => other,
        }
    }

    /// Reads what is there, at most `most` bytes; waits for it. `None` if the
    /// other side has closed or the run is over.
    pub(crate) fn read(&mut self, most: u64) -> io::Result<Option<u64>> {
        let room = self
            .room
            .len()
            .min(usize::try_from(most).unwrap_or(usize::MAX));
        loop {
            if self.clock.is_over() {
                return Ok(None);
            }
            match (&self.socket).read(&mut self.room[..room]) {
                Ok(0) => return Ok(None),
                Ok(n) => {
                    self.read += n as u64;
                    clamp_window(&self.socket, self.setup)?;
                    delay_acknowledgements(&self.socket, self.setup, self.read)?;
                    return Ok(Some(n as u64));
                }
                Err(e) if is_patience(&e) => {
                    if self.setup.reminder().is_some() {
                        delay_acknowledgements(&self.socket, self.setup, self.read)?;
                    }
                }
                Err(e) if is_gone(&e) => return Ok(None),
                Err(e) => return Err(e),
            }
        }
    }

    /// Reads so many bytes. False if they do not come.
    pub(crate) fn read_all(&mut self, bytes: u64) -> io::Result<bool> {
        let mut left = bytes;
        while left > 0 {
            match self.read(left)? {
                Some(n) => left -= n,
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// Connects; `None` if the run was over before. `begin` calls connect(2), which
/// sends the SYN.
pub(crate) fn connected(
    socket: Socket,
    clock: &Clock,
    begin: impl FnOnce(&Socket) -> io::Result<()>,
) -> io::Result<Option<Socket>> {
    socket.set_nonblocking(true)?;
    match begin(&socket) {
        Err(e) if e.raw_os_error() == Some(libc::EINPROGRESS) => {}
        other => other?,
    }
    if !ready(socket.as_fd(), PollFlags::OUT, clock)? {
        return Ok(None);
    }
    match socket.take_error()? {
        Some(e) => Err(e),
        None => Ok(Some(socket)),
    }
}

/// Accepts a connection; `None` if the run was over before.
pub(crate) fn accepted(listener: &Socket, clock: &Clock) -> io::Result<Option<Socket>> {
    if !ready(listener.as_fd(), PollFlags::IN, clock)? {
        return Ok(None);
    }
    listener.accept().map(|(socket, _)| Some(socket))
}

/// Waits until a socket is ready; false if the run is over before.
fn ready(socket: BorrowedFd<'_>, what: PollFlags, clock: &Clock) -> io::Result<bool> {
    let patience = rustix::time::Timespec {
        tv_sec: 0,
        tv_nsec: PATIENCE.subsec_nanos().into(),
    };
    while !clock.is_over() {
        let mut polled = [PollFd::new(&socket, what)];
        match poll(&mut polled, Some(&patience)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(e) => return Err(e.into()),
        }
    }
    Ok(false)
}

/// True if the error is only a timeout.
pub(crate) fn is_patience(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// True where the other side has gone, as sides do when a run ends.
fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted
    )
}
