//! The gateway as a process: signals, and a restart that drops nothing.
//!
//! It runs the example `gateway`, which `cargo test` builds.

#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "processes take time")]

mod hub;

use bentpipe_gateway::operate::client;
use bentpipe_gateway::tunnel::keys::Identity;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Long, since machines that test are busy.
const PATIENCE: Duration = Duration::from_secs(30);

/// A process that is killed with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Process {
    fn start(file: &Path) -> Process {
        let test = std::env::current_exe().unwrap();
        let program = test.ancestors().nth(2).unwrap().join("examples/gateway");
        let log = fs::File::create(file.with_extension("log")).unwrap();
        let child = Command::new(program)
            .arg(file)
            .stdin(Stdio::null())
            .stderr(log)
            .stdout(Stdio::null())
            .spawn();
        Process(child.unwrap())
    }

    fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = nix::unistd::Pid::from_raw(self.0.id().cast_signed());
        nix::sys::signal::kill(pid, signal).unwrap();
    }

    fn ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }
}

fn until(what: &str, mut happens: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !happens() {
        assert!(Instant::now() < end, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A terminal and its hubs with an echo server behind them.
struct Bed {
    folder: tempfile::TempDir,
    ship: Process,
    hubs: Vec<Process>,
    socks: u16,
    echo: u16,
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn bed() -> Bed {
    bed_with(1)
}

/// One with so many hubs, each with a key of its own.
fn bed_with(hubs: usize) -> Bed {
    bed_over(hubs, "")
}

/// The same; `more` is at the end of each file.
fn bed_over(hubs: usize, more: &str) -> Bed {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let key = |name: &str| {
        let identity = Identity::generate().unwrap();
        identity.write_new(&path(name)).unwrap();
        identity.public().to_string()
    };
    let (ship_key, socks) = (key("ship.key"), free_port());
    let common = "[link]\nrate = \"50 Mbit/s\"\nrtt = \"10 ms\"\n[limits]\nconnections = 100\n";
    let (mut processes, mut addresses, mut peers) = (Vec::new(), Vec::new(), Vec::new());
    for name in (1..=hubs).map(|number| format!("hub{number}")) {
        let address = format!("127.0.0.1:{}", free_port());
        peers.push(key(&format!("{name}.key")));
        let hub = format!(
            "role = \"hub\"\n{common}drain = \"3 s\"\n[status]\ncontrol = \"{name}.sock\"\n[policy]\n\
             allow = [\"127.0.0.0/8\"]\n[tunnel]\naddress = \"{address}\"\n\
             peers = [\"{ship_key}\"]\n{more}"
        );
        addresses.push(address);
        let file = path(&format!("{name}.toml"));
        fs::write(&file, hub).unwrap();
        processes.push(Process::start(&file));
    }
    let ship = format!(
        "role = \"terminal\"\n{common}drain = \"20 s\"\n[status]\ncontrol = \"ship.sock\"\n\
         [socks]\nlisten = \"127.0.0.1:{socks}\"\n[tunnel]\naddress = {addresses:?}\n\
         return_after = \"3 s\"\npeers = {peers:?}\n{more}"
    );
    fs::write(path("ship.toml"), ship).unwrap();
    let ship = Process::start(&path("ship.toml"));
    let echo = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = echo.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in echo.incoming() {
            std::thread::spawn(move || {
                let (mut stream, mut from) = {
                    let stream = stream.unwrap();
                    (stream.try_clone().unwrap(), stream)
                };
                // A reset ends it, too.
                drop(std::io::copy(&mut from, &mut stream));
                drop(stream.shutdown(std::net::Shutdown::Write));
            });
        }
    });
    let bed = Bed {
        folder,
        ship,
        hubs: processes,
        socks,
        echo: port,
    };
    until("the association", || {
        client::status(&bed.socket()).is_ok_and(|it| it["associations"][0].is_object())
    });
    bed
}

impl Bed {
    fn socket(&self) -> PathBuf {
        self.folder.path().join("ship.sock")
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("ship.toml")
    }

    /// What the terminal says of a hub.
    fn says(&self, hub: usize, what: &str) -> serde_json::Value {
        client::status(&self.socket()).unwrap()["hubs"][hub][what].clone()
    }

    fn uses(&self, hub: usize) {
        // The first is in use before any answers.
        until("the change", || {
            self.says(hub, "used") == true && self.says(hub, "state") == "up"
        });
    }

    fn restart(&mut self, hub: usize) {
        let file = self.folder.path().join(format!("hub{}.toml", hub + 1));
        self.hubs[hub] = Process::start(&file);
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("ship.log")).unwrap()
    }

    /// A connection to the echo server through SOCKS5.
    fn connect(&self) -> std::io::Result<TcpStream> {
        connect(self.socks, self.echo)
    }
}

/// A connection to the echo server through SOCKS5.
fn connect(socks: u16, echo: u16) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(("127.0.0.1", socks))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(&[5, 1, 0])?;
    let mut answer = [0; 2];
    stream.read_exact(&mut answer)?;
    let [high, low] = echo.to_be_bytes();
    stream.write_all(&[5, 1, 0, 1, 127, 0, 0, 1, high, low])?;
    let mut answer = [0; 10];
    stream.read_exact(&mut answer)?;
    assert_eq!(answer[1], 0, "{answer:?}");
    Ok(stream)
}

fn echoes(stream: &mut TcpStream) {
    stream.write_all(b"hello").unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"hello");
}

#[test]
fn a_bad_file_changes_nothing_and_a_good_one_changes_what_it_can() {
    use nix::sys::signal::Signal::SIGHUP;
    let bed = bed();
    let good = fs::read_to_string(bed.file()).unwrap();
    fs::write(bed.file(), good.replace("50 Mbit/s", "fast")).unwrap();
    bed.ship.signal(SIGHUP);
    until("the refusal", || bed.log().contains("stays as it was"));
    let status = client::status(&bed.socket()).unwrap();
    assert_eq!(status["rate_bits_per_second"], 50_000_000);
    assert_eq!(status["counters"]["reloads_refused"], 1);
    let changed = good
        .replace("50 Mbit/s", "7 Mbit/s")
        .replace("\"10 ms\"", "\"20 ms\"");
    fs::write(bed.file(), changed).unwrap();
    bed.ship.signal(SIGHUP);
    until("the new rate", || {
        client::status(&bed.socket()).unwrap()["rate_bits_per_second"] == 7_000_000
    });
    until("the line", || {
        bed.log().contains("changes with the next restart: [link]")
    });
    echoes(&mut bed.connect().unwrap());
}

#[test]
fn a_stop_lets_connections_finish() {
    let mut bed = bed();
    let mut open = bed.connect().unwrap();
    echoes(&mut open);
    bed.ship.signal(nix::sys::signal::Signal::SIGTERM);
    until("the end of listening", || bed.connect().is_err());
    echoes(&mut open);
    open.shutdown(std::net::Shutdown::Write).unwrap();
    let mut rest = Vec::new();
    open.read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty());
    until("the end", || bed.ship.ended());
    assert!(!bed.socket().exists());
}

#[test]
fn an_interrupt_resets_connections() {
    let mut bed = bed();
    let mut open = bed.connect().unwrap();
    echoes(&mut open);
    bed.ship.signal(nix::sys::signal::Signal::SIGINT);
    until("the end", || bed.ship.ended());
    let error = open.read(&mut [0; 1]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[test]
fn an_upgrade_drops_no_connection() {
    let mut bed = bed();
    let mut open = bed.connect().unwrap();
    echoes(&mut open);
    let pid = |bed: &Bed| {
        client::status(&bed.socket()).unwrap()["pid"]
            .as_u64()
            .unwrap()
    };
    let old = pid(&bed);
    bed.ship.signal(nix::sys::signal::Signal::SIGUSR2);
    until("the new process", || {
        // In between every connection is served.
        echoes(&mut bed.connect().unwrap());
        pid(&bed) != old
    });
    let new = i32::try_from(pid(&bed)).unwrap();
    echoes(&mut open);
    echoes(&mut bed.connect().unwrap());
    drop(open);
    until("the end of the old process", || bed.ship.ended());
    echoes(&mut bed.connect().unwrap());
    let new = nix::unistd::Pid::from_raw(new);
    nix::sys::signal::kill(new, nix::sys::signal::Signal::SIGINT).unwrap();
    until("the end of the new process", || !bed.socket().exists());
}

#[test]
fn a_new_process_that_fails_is_waited_for_and_the_old_one_goes_on() {
    let bed = bed();
    fs::write(bed.file(), "role = \"nothing\"\n").unwrap();
    bed.ship.signal(nix::sys::signal::Signal::SIGUSR2);
    until("the end of the new process", || {
        bed.log().contains("the new process has ended")
    });
    echoes(&mut bed.connect().unwrap());
}

/// The longest wait of connections that come all the time, while `work` runs and until there were some.
/// None fails.
fn meanwhile(bed: &mut Bed, work: impl FnOnce(&mut Bed)) -> Duration {
    let (socks, echo) = (bed.socks, bed.echo);
    let stop = Arc::new(AtomicBool::new(false));
    let stops = Arc::clone(&stop);
    let coming = std::thread::spawn(move || {
        let (mut count, mut longest) = (0, Duration::ZERO);
        while !stops.load(Ordering::Relaxed) || count < 20 {
            let begin = Instant::now();
            echoes(&mut connect(socks, echo).unwrap());
            longest = longest.max(begin.elapsed());
            count += 1;
            std::thread::sleep(Duration::from_millis(5));
        }
        longest
    });
    work(bed);
    stop.store(true, Ordering::Relaxed);
    coming.join().unwrap()
}

#[test]
fn a_restart_of_the_first_of_two_hubs_is_not_noticed() {
    use nix::sys::signal::Signal::SIGTERM;
    let mut bed = bed_with(2);
    bed.uses(0);
    until("the second hub", || bed.says(1, "state") == "up");
    let mut open = bed.connect().unwrap();
    echoes(&mut open);
    let longest = meanwhile(&mut bed, |bed| {
        bed.hubs[0].signal(SIGTERM);
        bed.uses(1);
        // It ends when the connection that is open outlives the drain.
        echoes(&mut open);
        until("the end of the hub", || bed.hubs[0].ended());
        let error = open.read(&mut [0; 1]).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        bed.restart(0);
        bed.uses(0);
        assert_eq!(bed.says(1, "state"), "up");
    });
    assert!(longest < Duration::from_secs(2), "{longest:?}");
}

#[test]
fn a_hub_that_is_killed_is_replaced() {
    use nix::sys::signal::Signal::SIGKILL;
    let mut bed = bed_with(2);
    bed.uses(0);
    until("the second hub", || bed.says(1, "state") == "up");
    let mut open = bed.connect().unwrap();
    echoes(&mut open);
    bed.hubs[0].signal(SIGKILL);
    bed.uses(1);
    let longest = meanwhile(&mut bed, |bed| {
        bed.restart(0);
        // The new process knows nothing of what was open.
        let error = open.read(&mut [0; 1]).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        bed.uses(0);
    });
    assert!(longest < Duration::from_secs(2), "{longest:?}");
}

#[test]
fn a_reload_moves_the_listeners_and_refuses_nobody_at_those_that_stay() {
    use nix::sys::signal::Signal::SIGHUP;
    let mut bed = bed();
    let good = fs::read_to_string(bed.file()).unwrap();
    let connect_port = free_port();
    // A second listener, and another answer at the first.
    let more = good.replace(
        "[tunnel]",
        &format!("answer = \"early\"\n[connect]\nlisten = \"127.0.0.1:{connect_port}\"\n[tunnel]"),
    );
    let file = bed.file();
    meanwhile(&mut bed, |bed| {
        fs::write(&file, more).unwrap();
        bed.ship.signal(SIGHUP);
        until("the new listener", || {
            TcpStream::connect(("127.0.0.1", connect_port)).is_ok()
        });
    });
    until("the line", || {
        bed.log().contains("changed: [socks], [connect]")
    });
    // The first moves to all addresses with its port, and the second goes.
    let mut open = bed.connect().unwrap();
    fs::write(
        &file,
        good.replace(
            &format!("127.0.0.1:{}", bed.socks),
            &format!("0.0.0.0:{}", bed.socks),
        ),
    )
    .unwrap();
    bed.ship.signal(SIGHUP);
    until("the end of the second", || {
        TcpStream::connect(("127.0.0.1", connect_port)).is_err()
    });
    until("the first at another address", || {
        TcpStream::connect(("127.0.0.2", bed.socks)).is_ok()
    });
    echoes(&mut bed.connect().unwrap());
    echoes(&mut open);
    // A process that takes over gets the sockets that there are now.
    let old = client::status(&bed.socket()).unwrap()["pid"].clone();
    bed.ship.signal(nix::sys::signal::Signal::SIGUSR2);
    until("the new process", || {
        client::status(&bed.socket()).is_ok_and(|it| it["pid"] != old)
    });
    let new = client::status(&bed.socket()).unwrap()["pid"]
        .as_i64()
        .unwrap();
    drop(open);
    until("the end of the old process", || bed.ship.ended());
    echoes(&mut bed.connect().unwrap());
    assert!(TcpStream::connect(("127.0.0.2", bed.socks)).is_ok());
    // Where a socket cannot be had, all stays as it was.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    fs::write(
        &file,
        good.replace(&format!("127.0.0.1:{}", bed.socks), &taken),
    )
    .unwrap();
    let new = nix::unistd::Pid::from_raw(i32::try_from(new).unwrap());
    nix::sys::signal::kill(new, SIGHUP).unwrap();
    until("the refusal", || {
        bed.log().contains("the listeners stay as they were")
    });
    until("the old listener", || bed.connect().is_ok());
    nix::sys::signal::kill(new, nix::sys::signal::Signal::SIGINT).unwrap();
    until("the end of the new process", || !bed.socket().exists());
}

#[test]
fn an_upgrade_under_load_keeps_what_is_open_and_refuses_nobody() {
    let mut bed = bed_with(2);
    bed.uses(0);
    let mut open: Vec<TcpStream> = (0..10).map(|_| bed.connect().unwrap()).collect();
    open.iter_mut().for_each(echoes);
    let pid = |bed: &Bed| client::status(&bed.socket()).map(|it| it["pid"].as_i64().unwrap());
    let old = pid(&bed).unwrap();
    let mut new = old;
    let longest = meanwhile(&mut bed, |bed| {
        bed.ship.signal(nix::sys::signal::Signal::SIGUSR2);
        until("the new process", || {
            open.iter_mut().for_each(echoes);
            new = pid(bed).unwrap_or(old);
            new != old
        });
        std::thread::sleep(Duration::from_millis(500));
        open.iter_mut().for_each(echoes);
    });
    assert!(longest < Duration::from_secs(2), "{longest:?}");
    drop(open);
    until("the end of the old process", || bed.ship.ended());
    let new = nix::unistd::Pid::from_raw(i32::try_from(new).unwrap());
    nix::sys::signal::kill(new, nix::sys::signal::Signal::SIGINT).unwrap();
    until("the end of the new process", || !bed.socket().exists());
}
