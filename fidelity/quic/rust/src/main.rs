//! Servers and clients of quinn and quiche. The client asks for so many bytes on a stream, as eight
//! bytes in network order, and prints when its handshake, the first and the last byte were complete.

mod cloudflare;
mod quinn_peer;

use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// The protocol above QUIC.
const ALPN: &[u8] = b"transfer";
/// A connection without packets for so long is over.
const IDLE: Duration = Duration::from_secs(120);

/// What the command line says.
struct Arguments {
    library: String,
    address: SocketAddr,
    /// Bytes to ask for; 0 runs the server.
    size: u64,
    /// Flow-control windows, bytes; 0 leaves the library's own.
    window: u64,
    control: String,
    certificate: String,
    key: String,
}

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A socket with room for so much that a busy machine loses nothing there: as root beyond the system's
/// limit, and as quic-go asks for itself.
fn socket(address: SocketAddr) -> Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    let room: libc::c_int = 7 << 20;
    for option in [libc::SO_RCVBUFFORCE, libc::SO_SNDBUFFORCE] {
        let length = size_of_val(&room) as libc::socklen_t;
        let value = (&raw const room).cast();
        // SAFETY: an open descriptor, and an integer of the length that is given.
        unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, value, length) };
    }
    Ok(socket)
}

/// When things happened to a client.
struct Seen {
    began: Instant,
    handshake: Option<f64>,
    first: Option<f64>,
    received: u64,
}

impl Seen {
    fn new() -> Seen {
        Seen {
            began: Instant::now(),
            handshake: None,
            first: None,
            received: 0,
        }
    }

    fn since(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn connected(&mut self) {
        self.handshake = self.handshake.or(Some(self.since()));
    }

    fn took(&mut self, bytes: usize) {
        if bytes > 0 {
            self.first = self.first.or(Some(self.since()));
        }
        self.received += bytes as u64;
    }

    fn completed(&self) {
        println!(
            r#"{{"handshake_s": {:.6}, "first_s": {:.6}, "complete_s": {:.6}, "bytes": {}}}"#,
            self.handshake.unwrap_or(f64::NAN),
            self.first.unwrap_or(f64::NAN),
            self.since(),
            self.received
        );
    }
}

fn arguments() -> Result<Arguments> {
    let mut given = std::env::args().skip(1);
    let mut read = Arguments {
        library: given.next().ok_or("quinn or quiche?")?,
        address: SocketAddr::from(([0, 0, 0, 0], 4433)),
        size: 0,
        window: 0,
        control: String::new(),
        certificate: String::new(),
        key: String::new(),
    };
    while let Some(name) = given.next() {
        let value = given.next().ok_or("a value is missing")?;
        match name.as_str() {
            "--address" => read.address = value.parse()?,
            "--size" => read.size = value.parse()?,
            "--window" => read.window = value.parse()?,
            "--control" => read.control = value,
            "--certificate" => read.certificate = value,
            "--key" => read.key = value,
            _ => return Err(format!("unknown option {name}").into()),
        }
    }
    Ok(read)
}

fn main() -> Result<()> {
    let arguments = arguments()?;
    match (arguments.library.as_str(), arguments.size) {
        ("quinn", 0) => quinn_peer::serve(&arguments),
        ("quinn", _) => quinn_peer::ask(&arguments),
        ("quiche", 0) => cloudflare::serve(&arguments),
        ("quiche", _) => cloudflare::ask(&arguments),
        (other, _) => Err(format!("{other}: quinn or quiche?").into()),
    }
}
