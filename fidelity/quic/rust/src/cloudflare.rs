//! quiche (Cloudflare's). It leaves sockets and time to its user: packets go out here when its pacing
//! says, as its own applications do it by SO_TXTIME.

use crate::{ALPN, Arguments, IDLE, Result, Seen};
use quiche::{Config, Connection, ConnectionId, RecvInfo, SendInfo};
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// Longest payload of UDP that is sent or taken, bytes.
const LONGEST: usize = 65_535;
/// The windows of quiche's own applications: of the connection and of a stream at the start, which
/// grow to the last two.
const DATA: u64 = 10_000_000;
const STREAM_DATA: u64 = 1_000_000;

static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

fn configuration(arguments: &Arguments) -> Result<Config> {
    let mut config = Config::new(quiche::PROTOCOL_VERSION)?;
    config.set_application_protos(&[ALPN])?;
    config.verify_peer(false);
    config.set_max_idle_timeout(IDLE.as_millis() as u64);
    config.set_max_recv_udp_payload_size(LONGEST);
    config.set_max_send_udp_payload_size(1472);
    config.discover_pmtu(true);
    let (data, stream) = match arguments.window {
        0 => (DATA, STREAM_DATA),
        window => (window, window),
    };
    config.set_initial_max_data(data);
    config.set_initial_max_stream_data_bidi_local(stream);
    config.set_initial_max_stream_data_bidi_remote(stream);
    config.set_initial_max_streams_bidi(100);
    if arguments.window > 0 {
        config.set_max_connection_window(arguments.window);
        config.set_max_stream_window(arguments.window);
    }
    if !arguments.control.is_empty() {
        config.set_cc_algorithm_name(&arguments.control)?;
    }
    if arguments.size == 0 {
        config.load_cert_chain_from_pem_file(&arguments.certificate)?;
        config.load_priv_key_from_pem_file(&arguments.key)?;
    }
    Ok(config)
}

/// A connection and its socket.
struct Peer {
    socket: UdpSocket,
    local: SocketAddr,
    connection: Connection,
    /// Packets that wait for their time.
    waiting: VecDeque<(Instant, SocketAddr, Vec<u8>)>,
    room: Vec<u8>,
}

impl Peer {
    fn new(socket: UdpSocket, connection: Connection) -> Result<Peer> {
        Ok(Peer {
            local: socket.local_addr()?,
            socket,
            connection,
            waiting: VecDeque::new(),
            room: vec![0; LONGEST],
        })
    }

    /// Sends what is due.
    fn send(&mut self) -> Result<()> {
        loop {
            let now = Instant::now();
            while let Some((at, to, _)) = self.waiting.front() {
                if *at > now {
                    return Ok(());
                }
                let to = *to;
                let (_, _, packet) = self.waiting.pop_front().ok_or("no packet")?;
                match self.socket.send_to(&packet, to) {
                    // A packet too many for the device, or the other end is gone.
                    Err(e) if e.kind() == ErrorKind::ConnectionRefused => {}
                    Err(e) if e.raw_os_error() == Some(libc::ENOBUFS) => {}
                    other => _ = other?,
                }
            }
            let mut packet = vec![0; 1500];
            match self.connection.send(&mut packet) {
                Ok((length, SendInfo { to, at, .. })) => {
                    packet.truncate(length);
                    self.waiting.push_back((at, to, packet));
                }
                Err(quiche::Error::Done) => return Ok(()),
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Waits for a packet until a timer or a waiting packet is due, and takes all that are there.
    fn receive(&mut self) -> Result<()> {
        let paced = self
            .waiting
            .front()
            .map(|(at, ..)| at.saturating_duration_since(Instant::now()));
        let mut wait = self
            .connection
            .timeout()
            .unwrap_or(IDLE)
            .min(paced.unwrap_or(IDLE));
        loop {
            if !wait.is_zero() {
                wait_for(&self.socket, wait);
            }
            self.socket.set_nonblocking(true)?;
            match self.socket.recv_from(&mut self.room) {
                Ok((length, from)) => {
                    let info = RecvInfo {
                        from,
                        to: self.local,
                    };
                    // Packets that it does not take are dropped, as by quiche's own applications.
                    let _ = self.connection.recv(&mut self.room[..length], info);
                    wait = Duration::ZERO;
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == ErrorKind::ConnectionRefused => break,
                Err(e) => return Err(e.into()),
            }
        }
        if self.connection.timeout().is_some_and(|left| left.is_zero()) {
            self.connection.on_timeout();
        }
        Ok(())
    }
}

/// Waits for a packet, to the microsecond: pacing asks for less than the milliseconds of a socket's
/// timeout.
fn wait_for(socket: &UdpSocket, wait: Duration) {
    use std::os::fd::AsRawFd;
    let mut polled = libc::pollfd {
        fd: socket.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let wait = libc::timespec {
        tv_sec: wait.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(wait.subsec_nanos() as i32),
    };
    // SAFETY: one descriptor that is open, and a time, both on the stack.
    unsafe { libc::ppoll(&mut polled, 1, &wait, std::ptr::null()) };
}

pub fn serve(arguments: &Arguments) -> Result<()> {
    let mut config = configuration(arguments)?;
    let socket = crate::socket(arguments.address)?;
    let mut room = vec![0; LONGEST];
    let (length, from) = socket.recv_from(&mut room)?;
    let local = socket.local_addr()?;
    let id = ConnectionId::from_ref(&[7; quiche::MAX_CONN_ID_LEN]);
    let connection = quiche::accept(&id, None, local, from, &mut config)?;
    let mut peer = Peer::new(socket, connection)?;
    peer.connection
        .recv(&mut room[..length], RecvInfo { from, to: local })?;
    let mut left: Option<u64> = None;
    while !peer.connection.is_closed() {
        let mut request = [0; 8];
        while let Some(stream) = peer.connection.readable().next() {
            if let Ok((8, _)) = peer.connection.stream_recv(stream, &mut request) {
                left = Some(u64::from_be_bytes(request));
            }
        }
        while let Some(now) = left.filter(|left| *left > 0) {
            let part = now.min(ZEROS.len() as u64) as usize;
            match peer
                .connection
                .stream_send(0, &ZEROS[..part], part as u64 == now)
            {
                Ok(taken) => left = Some(now - taken as u64),
                Err(quiche::Error::Done) => break,
                Err(e) => return Err(e.into()),
            }
        }
        peer.send()?;
        peer.receive()?;
    }
    Ok(())
}

pub fn ask(arguments: &Arguments) -> Result<()> {
    let mut config = configuration(arguments)?;
    let socket = crate::socket(SocketAddr::from(([0, 0, 0, 0], 0)))?;
    socket.connect(arguments.address)?;
    let local = socket.local_addr()?;
    let id = ConnectionId::from_ref(&[8; quiche::MAX_CONN_ID_LEN]);
    let mut seen = Seen::new();
    let to = arguments.address;
    let connection = quiche::connect(Some("server"), &id, local, to, &mut config)?;
    let mut peer = Peer::new(socket, connection)?;
    let mut room = vec![0; 1 << 16];
    let mut has_asked = false;
    loop {
        if peer.connection.is_established() && !has_asked {
            seen.connected();
            has_asked = true;
            peer.connection
                .stream_send(0, &arguments.size.to_be_bytes(), true)?;
        }
        let mut is_complete = false;
        while let Ok((bytes, ended)) = peer.connection.stream_recv(0, &mut room) {
            seen.took(bytes);
            is_complete |= ended;
        }
        if is_complete {
            seen.completed();
            peer.connection.close(true, 0, b"")?;
            return peer.send();
        }
        peer.send()?;
        if peer.connection.is_closed() {
            return Err("the connection has ended".into());
        }
        peer.receive()?;
    }
}
