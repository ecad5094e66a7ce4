//! Names, connections and what `ss` says about them.

use bentpipe_linux::kernel;
pub(crate) use bentpipe_testing::skip;
use socket2::{Domain, Socket, Type};
use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Whether this machine can take congestion controls; `test` is skipped if not.
pub(crate) fn ready(test: &str) -> bool {
    match kernel::available().ready() {
        Ok(()) => true,
        Err(why) => {
            let why = why.to_string();
            let why = why.lines().next().unwrap_or_default();
            skip(test, &format!("congestion controls: {why}"));
            false
        }
    }
}

/// A name that no other test of this or another process has.
pub(crate) fn unique() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("bp_t{:x}_{n:x}", std::process::id())
}

/// Whether the kernel knows a congestion control of that name.
pub(crate) fn known(name: &str) -> bool {
    kernel::names().iter().any(|n| n == name)
}

/// Whether the kernel forgets a congestion control within ten seconds.
///
/// A child that another test is about to start holds all descriptors until it executes its
/// program, so a control may stay for a moment after its last descriptor here was closed.
pub(crate) fn forgotten(name: &str) -> bool {
    let end = Instant::now() + Duration::from_secs(10);
    while known(name) {
        if Instant::now() > end {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
    true
}

/// A connection over loopback that chose `control`, and the thread that reads
/// all that it sends and counts it.
pub(crate) fn connect(control: &str) -> (TcpStream, JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port of loopback");
    let address = listener.local_addr().expect("its address");
    let reader = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("the connection");
        let (mut total, mut buffer) = (0, vec![0; 1 << 16]);
        loop {
            match stream.read(&mut buffer).expect("data") {
                0 => return total,
                n => total += n,
            }
        }
    });
    (open(control, address), reader)
}

/// A connection to `address` that chose `control` before it began.
pub(crate) fn open(control: &str, address: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).expect("a socket");
    socket
        .set_tcp_congestion(control.as_bytes())
        .unwrap_or_else(|e| panic!("{control}: {e}"));
    socket.connect(&address.into()).expect("a connection");
    socket.into()
}

/// The congestion control that a socket says it has.
pub(crate) fn chosen(stream: &TcpStream) -> String {
    let name = socket2::SockRef::from(stream)
        .tcp_congestion()
        .expect("TCP_CONGESTION");
    String::from_utf8_lossy(&name)
        .trim_end_matches('\0')
        .to_owned()
}

/// A number that `ss -ti` shows for a connection, such as `cwnd`.
pub(crate) fn shown(stream: &TcpStream, what: &str) -> Option<u64> {
    // Connections to several addresses may have one port.
    let local = stream.local_addr().ok()?.to_string();
    let peer = stream.peer_addr().ok()?.to_string();
    let output = Command::new("ss")
        .args(["-tniH", "src", &local, "dst", &peer])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace()
        .find_map(|word| word.strip_prefix(what)?.strip_prefix(':'))?
        .parse()
        .ok()
}
