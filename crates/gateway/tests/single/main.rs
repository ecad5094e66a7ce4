//! One box between a client and a server in separate namespaces: what becomes of their connections
//! when the box dies, is full, or has no descriptor left.

#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "real sockets need a real clock")]

#[path = "../intercept/bed.rs"]
#[allow(dead_code, reason = "the tests of interception use the rest")]
mod bed;

use bed::{Bed, echo, say, started_with};
use bentpipe_gateway::entry::{Kind, Listener};
use bentpipe_gateway::intercept::{Plan, Rules};
use bentpipe_gateway::operate::SharedState;
use bentpipe_gateway::single::Single;
use rustix::process::{Resource, getrlimit, setrlimit};
use std::io::{BufRead as _, ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// The gateway's process, which a test starts in its namespace.
#[test]
#[ignore = "started by the other tests"]
fn the_gateway() {
    let Some((config, folder)) = started_with() else {
        return;
    };
    let plan = Plan::of(&config).unwrap();
    let listeners = plan.listeners().into_iter();
    let listeners = listeners.map(|at| Listener::bind(Kind::Transparent, at).unwrap());
    let single = Single::start(&SharedState::new(&config), listeners.collect()).unwrap();
    let full = single.full();
    let _rules = Rules::install(plan, &folder).unwrap();
    say("ready");
    for line in std::io::stdin().lock().lines() {
        match line.unwrap().as_str() {
            "starve" => allow_files(open_files()),
            "feed" => allow_files(getrlimit(Resource::Nofile).maximum.unwrap_or(4096)),
            "drain" => single.stop_accepting(),
            "full" => {
                say(&full.borrow().to_string());
                continue;
            }
            other => panic!("{other}"),
        }
        say("done");
    }
}

fn open_files() -> u64 {
    std::fs::read_dir("/proc/self/fd").unwrap().count() as u64
}

/// Sets the soft limit; what is open stays open.
fn allow_files(count: u64) {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = Some(count);
    setrlimit(Resource::Nofile, limit).unwrap();
}

const LAN: &str = "interfaces = [\"lan0\"]";

fn listen(bed: &Bed, port: u16) -> TcpListener {
    let address: IpAddr = bed.server()[0].parse().unwrap();
    bed.inside("s", || TcpListener::bind((address, port)).unwrap())
}

/// A client's connection and the server's side of it.
fn joined(bed: &Bed, listener: &TcpListener) -> (TcpStream, TcpStream) {
    let to = listener.local_addr().unwrap();
    let client = bed.inside("c", || TcpStream::connect(to).unwrap());
    let (server, _) = listener.accept().unwrap();
    for tcp in [&client, &server] {
        tcp.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    }
    (client, server)
}

/// Reads to the end: how many bytes, and the error where it is not orderly.
fn read_out(mut tcp: &TcpStream) -> (usize, Option<ErrorKind>) {
    let mut buffer = vec![0; 1 << 16];
    let mut length = 0;
    loop {
        match tcp.read(&mut buffer) {
            Ok(0) => return (length, None),
            Ok(got) => length += got,
            Err(error) => return (length, Some(error.kind())),
        }
    }
}

#[test]
fn a_box_that_is_killed_resets_both_hosts() {
    let Some(bed) = Bed::new("one box that is killed") else {
        return;
    };
    let gateway = bed.gateway(LAN);
    let listener = listen(&bed, 80);
    // Data under way in one connection, a half-close in another, silence in a third.
    let (busy, mut sends) = joined(&bed, &listener);
    let flood = std::thread::spawn(move || {
        let bytes = vec![7; 1 << 16];
        while sends.write_all(&bytes).is_ok() {}
    });
    let (half, server_of_half) = joined(&bed, &listener);
    half.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(read_out(&server_of_half), (0, None));
    let (silent, server_of_silent) = joined(&bed, &listener);
    (&busy).read_exact(&mut vec![0; 1 << 20]).unwrap();
    gateway.kill();
    assert_eq!(read_out(&busy).1, Some(ErrorKind::ConnectionReset));
    assert_eq!(read_out(&half).1, Some(ErrorKind::ConnectionReset));
    assert_eq!(read_out(&silent).1, Some(ErrorKind::ConnectionReset));
    assert_eq!(
        read_out(&server_of_silent).1,
        Some(ErrorKind::ConnectionReset)
    );
    flood.join().unwrap();
}

#[test]
fn a_reset_of_the_server_after_a_megabyte_reaches_the_client() {
    let Some(bed) = Bed::new("one box and a reset") else {
        return;
    };
    let _gateway = bed.gateway(LAN);
    let listener = listen(&bed, 80);
    for _ in 0..20 {
        let (client, mut server) = joined(&bed, &listener);
        server.write_all(&vec![7; 1_000_000]).unwrap();
        let linger = Some(Duration::ZERO);
        socket2::SockRef::from(&server).set_linger(linger).unwrap();
        drop(server);
        let (length, end) = read_out(&client);
        assert_eq!(end, Some(ErrorKind::ConnectionReset), "after {length}");
    }
}

#[test]
fn a_refusal_is_a_reset_at_once() {
    let Some(bed) = Bed::new("one box and a refusal") else {
        return;
    };
    let _gateway = bed.gateway(LAN);
    for server in bed.server() {
        let begin = Instant::now();
        let to = SocketAddr::new(server.parse().unwrap(), 81);
        let end = bed.inside("c", || match TcpStream::connect(to) {
            Ok(client) => read_out(&client).1,
            Err(error) => Some(error.kind()),
        });
        assert!(
            matches!(
                end,
                Some(ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused)
            ),
            "{end:?}"
        );
        // A client that is refused does not wait for a timeout.
        assert!(begin.elapsed() < Duration::from_secs(3));
    }
}

#[test]
fn at_the_limit_new_connections_are_reset_and_others_go_on() {
    let Some(bed) = Bed::new("one box at its limit") else {
        return;
    };
    bed.serve(80);
    let mut gateway = bed.gateway(&format!("{LAN}\n[limits]\nconnections = 3"));
    let open: Vec<_> = (0..3)
        .map(|_| bed.connect(bed.server()[0].as_str(), 80).unwrap().0)
        .collect();
    assert_eq!(gateway.tell("full"), "true");
    assert!(bed.connect(bed.server()[0].as_str(), 80).is_err());
    for tcp in open {
        assert_eq!(echo(tcp, b"still here"), b"still here");
    }
    assert!(bed::wait(|| bed
        .connect(bed.server()[0].as_str(), 80)
        .is_ok()));
    assert_eq!(gateway.tell("full"), "false");
}

#[test]
fn without_descriptors_new_connections_wait_and_others_go_on() {
    let Some(bed) = Bed::new("one box without descriptors") else {
        return;
    };
    bed.serve(80);
    let mut gateway = bed.gateway(LAN);
    let (open, _) = bed.connect(bed.server()[0].as_str(), 80).unwrap();
    assert_eq!(gateway.tell("starve"), "done");
    // The kernel completes its handshake; what becomes of it is not for this test.
    let waiting = bed.inside("c", || {
        TcpStream::connect((bed.server()[0].as_str(), 80)).unwrap()
    });
    std::thread::sleep(Duration::from_millis(300));
    // Accepting does not spin: the process would be seen to take whole seconds.
    let used = cpu(gateway.process.id());
    std::thread::sleep(Duration::from_secs(1));
    assert!(cpu(gateway.process.id()) - used < 0.3);
    let text = vec![5; 100_000];
    assert_eq!(echo(open, &text), text);
    assert_eq!(gateway.tell("feed"), "done");
    drop(waiting);
    assert!(bed::wait(|| bed
        .connect(bed.server()[0].as_str(), 80)
        .is_ok()));
}

/// Seconds of processor time that a process has taken; the kernel counts them in
/// hundredths on every architecture that it offers them on (USER_HZ).
fn cpu(process: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = text.rsplit_once(") ").unwrap().1.split(' ').collect();
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    ticks / 100.0
}

#[test]
fn draining_leaves_connections_their_time() {
    let Some(bed) = Bed::new("one box that drains") else {
        return;
    };
    bed.serve(80);
    let mut gateway = bed.gateway(LAN);
    let (open, _) = bed.connect(bed.server()[0].as_str(), 80).unwrap();
    assert_eq!(gateway.tell("drain"), "done");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(echo(open, b"until the end"), b"until the end");
}
