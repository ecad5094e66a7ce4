//! A client, one or two boxes and a server in separate namespaces. The nets between them are
//! 10.7.1.0/24 and fd07:1::/64, 10.7.2.0/24 and fd07:2::/64, and so on from the client to the
//! server; 1 is the host on the client's side.

use bentpipe_gateway::config::Config;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

pub(crate) const CLIENT: [&str; 2] = ["10.7.1.2", "fd07:1::2"];

/// The file that the gateway's process reads.
pub(crate) const CONFIG: &str = "BENTPIPE_TEST_GATEWAY";
/// The folder of its records.
const FOLDER: &str = "BENTPIPE_TEST_FOLDER";

/// What the gateway's process is started with: its configuration, and the folder of
/// its record. `None` where the tests run it as a test.
pub(crate) fn started_with() -> Option<(Config, PathBuf)> {
    let (config, folder) = (std::env::var_os(CONFIG)?, std::env::var_os(FOLDER)?);
    let text = std::fs::read_to_string(&config).unwrap();
    let config = Config::read(Path::new(&config), &text).unwrap();
    Some((config, folder.into()))
}

/// What the gateway's process answers.
pub(crate) fn say(text: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "\ngateway: {text}").unwrap();
    out.flush().unwrap();
}

/// Runs a command; it must succeed.
fn run(command: &str) -> String {
    let mut words = command.split_whitespace();
    let ended = Command::new(words.next().unwrap())
        .args(words)
        .output()
        .unwrap();
    assert!(ended.status.success(), "{command}: {ended:?}");
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

/// The namespaces, removed when this is dropped.
pub(crate) struct Bed {
    name: String,
    roles: &'static [&'static str],
    pub(crate) folder: tempfile::TempDir,
}

impl Drop for Bed {
    fn drop(&mut self) {
        for role in self.roles {
            let name = self.namespace(role);
            let _ = Command::new("ip").args(["netns", "del", &name]).output();
        }
    }
}

impl Bed {
    /// A client `c`, a gateway `g` and a server `s`. `None`, with a line, where
    /// this machine cannot have them.
    pub(crate) fn new(test: &str) -> Option<Bed> {
        Bed::in_line(test, &["c", "g", "s"])
    }

    /// A client `c`, a terminal `g`, a hub `h` and a server `s`.
    pub(crate) fn pair(test: &str) -> Option<Bed> {
        Bed::in_line(test, &["c", "g", "h", "s"])
    }

    fn in_line(test: &str, roles: &'static [&'static str]) -> Option<Bed> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        if !rustix::process::geteuid().is_root() {
            bentpipe_testing::skip(test, "root");
            return None;
        }
        if Command::new("nft").arg("--version").output().is_err() {
            bentpipe_testing::skip(test, "nft");
            return None;
        }
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let bed = Bed {
            name: format!("edge-{}-{count}", std::process::id()),
            roles,
            folder: tempfile::tempdir().unwrap(),
        };
        for role in roles {
            run(&format!("ip netns add {}", bed.namespace(role)));
            bed.ip(role, "link set lo up");
        }
        for net in 1..roles.len() {
            bed.link(roles[net - 1], roles[net], net);
        }
        for (at, role) in roles.iter().enumerate() {
            bed.routes(role, at);
        }
        bed.inside("c", || {
            let range = "/proc/sys/net/ipv4/ping_group_range";
            std::fs::write(range, "0 2147483647").unwrap();
        });
        Some(bed)
    }

    /// Joins two neighbours: `wan0` of the one on the client's side, `lan0` of the
    /// other.
    fn link(&self, near: &str, far: &str, net: usize) {
        let (a, b) = (self.namespace(near), self.namespace(far));
        run(&format!(
            "ip link add wan0 netns {a} type veth peer name lan0 netns {b}"
        ));
        // A client has the address 2 in its only net, as every host has towards the
        // client.
        let last = if net == 1 { (2, 1) } else { (1, 2) };
        for (at, device, last) in [(near, "wan0", last.0), (far, "lan0", last.1)] {
            let v4 = format!("addr add 10.7.{net}.{last}/24 dev {device}");
            self.ip(at, &v4);
            let v6 = format!("addr add fd07:{net}::{last}/64 dev {device} nodad");
            self.ip(at, &v6);
            self.ip(at, &format!("link set {device} up"));
        }
    }

    /// Routes of the host at this place in the line, to all nets that it is not in.
    fn routes(&self, role: &str, at: usize) {
        self.inside(role, || {
            std::fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap();
            std::fs::write("/proc/sys/net/ipv6/conf/all/forwarding", "1").unwrap();
        });
        for net in 1..self.roles.len() {
            // The nets of the host itself are `at` and `at + 1`.
            let via = match net {
                _ if net < at => (at, if at == 1 { 2 } else { 1 }),
                _ if net > at + 1 => (at + 1, if at == 0 { 1 } else { 2 }),
                _ => continue,
            };
            let (through, host) = via;
            self.ip(
                role,
                &format!("route add 10.7.{net}.0/24 via 10.7.{through}.{host}"),
            );
            self.ip(
                role,
                &format!("route add fd07:{net}::/64 via fd07:{through}::{host}"),
            );
        }
    }

    /// The server's addresses.
    pub(crate) fn server(&self) -> [String; 2] {
        let net = self.roles.len() - 1;
        [format!("10.7.{net}.2"), format!("fd07:{net}::2")]
    }

    pub(crate) fn namespace(&self, role: &str) -> String {
        format!("{}-{role}", self.name)
    }

    pub(crate) fn ip(&self, role: &str, arguments: &str) -> String {
        run(&format!("ip -n {} {arguments}", self.namespace(role)))
    }

    /// Packets that a router returned as too large for the way on: IPv4, IPv6.
    pub(crate) fn too_large(&self, role: &str) -> [u64; 2] {
        let read = |file: &str| std::fs::read_to_string(format!("/proc/thread-self/net/{file}"));
        let (v4, v6) = self.inside(role, || (read("snmp").unwrap(), read("snmp6").unwrap()));
        // Two lines of IPv4, the names and the values.
        let mut lines = v4.lines().filter(|line| line.starts_with("Ip: "));
        let [names, values] = [lines.next().unwrap(), lines.next().unwrap()];
        let mut pairs = names.split(' ').zip(values.split(' '));
        let (_, v4) = pairs.find(|(name, _)| *name == "FragFails").unwrap();
        let v6 = v6.lines().find(|line| line.starts_with("Ip6FragFails"));
        let v6 = v6.unwrap().split_whitespace().last().unwrap();
        [v4.parse().unwrap(), v6.parse().unwrap()]
    }

    /// Adds rules in a namespace.
    pub(crate) fn nft(&self, role: &str, rules: &str) {
        let ended = Command::new("ip")
            .args(["netns", "exec", &self.namespace(role), "nft", rules])
            .output()
            .unwrap();
        assert!(ended.status.success(), "{ended:?}");
    }

    /// Runs `body` in a namespace, on its own thread.
    pub(crate) fn inside<T: Send>(&self, role: &str, body: impl FnOnce() -> T + Send) -> T {
        let file = Path::new("/run/netns").join(self.namespace(role));
        let run = || {
            let namespace = File::open(file).unwrap();
            nix::sched::setns(namespace, nix::sched::CloneFlags::CLONE_NEWNET).unwrap();
            body()
        };
        std::thread::scope(|scope| match scope.spawn(run).join() {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    }

    /// A server that says whom it sees, and then sends back what it gets.
    pub(crate) fn serve(&self, port: u16) {
        for address in self.server() {
            let address: IpAddr = address.parse().unwrap();
            let listener = self.inside("s", || TcpListener::bind((address, port)).unwrap());
            std::thread::spawn(move || {
                for tcp in listener.incoming() {
                    std::thread::spawn(move || greet(tcp.unwrap()));
                }
            });
        }
    }

    /// A client's connection, and the address that the server sees.
    pub(crate) fn connect(&self, server: &str, port: u16) -> std::io::Result<(TcpStream, String)> {
        let to = SocketAddr::new(server.parse().unwrap(), port);
        self.inside("c", || {
            let tcp = TcpStream::connect_timeout(&to, Duration::from_secs(3))?;
            tcp.set_read_timeout(Some(Duration::from_secs(5)))?;
            let mut seen = String::new();
            BufReader::new(tcp.try_clone()?).read_line(&mut seen)?;
            Ok((tcp, seen.trim().to_owned()))
        })
    }

    /// What the kernel of the gateway's namespace holds of a gateway.
    pub(crate) fn traces(&self) -> String {
        let namespace = self.namespace("g");
        let mut found = run(&format!("ip netns exec {namespace} nft list tables"));
        for family in ["-4", "-6"] {
            for line in self.ip("g", &format!("{family} rule")).lines() {
                if line.contains("fwmark") {
                    found.push_str(line);
                }
            }
            let table = format!("{family} route show table all type local default");
            found.push_str(&self.ip("g", &table));
        }
        found
    }

    /// Connections that the rules in `role` have sent to the gateway there.
    pub(crate) fn taken(&self, role: &str, table: &str) -> u64 {
        let namespace = self.namespace(role);
        let text = run(&format!(
            "ip netns exec {namespace} nft list counter inet {table} taken"
        ));
        let mut words = text
            .split_whitespace()
            .skip_while(|word| *word != "packets");
        words.nth(1).unwrap().parse().unwrap()
    }

    /// Starts the whole gateway in `role` with the file at `config`.
    pub(crate) fn whole(&self, role: &str, config: &Path) -> Whole {
        let process = Command::new("ip")
            .args(["netns", "exec", &self.namespace(role)])
            .arg(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "pair::the_whole_gateway",
                "--ignored",
                "--nocapture",
            ])
            .env(CONFIG, config)
            .env("RUNTIME_DIRECTORY", self.folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Whole { process }
    }

    /// Starts a gateway with this section on interception.
    pub(crate) fn gateway(&self, section: &str) -> Gateway {
        let config = self.folder.path().join("box.toml");
        let text = format!("role = \"single\"\n[intercept]\n{section}\n");
        std::fs::write(&config, text).unwrap();
        let mut process = Command::new("ip")
            .args(["netns", "exec", &self.namespace("g")])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "the_gateway", "--ignored", "--nocapture"])
            .env(CONFIG, config)
            .env(FOLDER, self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut gateway = Gateway {
            commands: process.stdin.take().unwrap(),
            answers: BufReader::new(process.stdout.take().unwrap()),
            process,
        };
        assert_eq!(gateway.answer(), "ready");
        gateway
    }
}

/// A process that is the whole gateway.
pub(crate) struct Whole {
    pub(crate) process: Child,
}

impl Drop for Whole {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Whole {
    /// Ends it with SIGTERM, and waits for that.
    pub(crate) fn terminate(mut self) {
        let id = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        self.process.wait().unwrap();
    }
}

/// A gateway's process.
pub(crate) struct Gateway {
    pub(crate) process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Gateway {
    /// Sends a command; returns its answer.
    pub(crate) fn tell(&mut self, command: &str) -> String {
        writeln!(self.commands, "{command}").unwrap();
        self.answer()
    }

    /// The next answer, past what the test harness prints.
    fn answer(&mut self) -> String {
        loop {
            let mut line = String::new();
            let read = self.answers.read_line(&mut line).unwrap();
            assert!(read > 0, "the gateway's process has ended");
            if let Some((_, answer)) = line.split_once("gateway: ") {
                return answer.trim().to_owned();
            }
        }
    }

    /// Connections that the rules have sent to it.
    pub(crate) fn taken(&mut self) -> u64 {
        self.tell("taken").parse().unwrap()
    }

    /// Ends it with SIGKILL.
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn greet(mut tcp: TcpStream) {
    let seen = tcp.peer_addr().unwrap();
    let _ = writeln!(tcp, "{seen}");
    let mut buffer = [0; 4096];
    while let Ok(read) = tcp.read(&mut buffer) {
        if read == 0 || tcp.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = tcp.shutdown(Shutdown::Write);
}

/// Sends `text` and returns what comes back until the end.
pub(crate) fn echo(mut tcp: TcpStream, text: &[u8]) -> Vec<u8> {
    tcp.write_all(text).unwrap();
    tcp.shutdown(Shutdown::Write).unwrap();
    let mut back = Vec::new();
    tcp.read_to_end(&mut back).unwrap();
    back
}

/// What comes back from a server that sends every datagram back, with the address that it sees; an error
/// where none does, or where ICMP says so.
pub(crate) fn say_by_udp(bed: &Bed, to: (&str, u16), payload: &[u8]) -> std::io::Result<Vec<u8>> {
    let address: IpAddr = to.0.parse().unwrap();
    let any: IpAddr = if address.is_ipv4() { "0.0.0.0" } else { "::" }
        .parse()
        .unwrap();
    bed.inside("c", || {
        let socket = UdpSocket::bind((any, 0))?;
        socket.set_read_timeout(Some(Duration::from_secs(2)))?;
        socket.connect((address, to.1))?;
        let own = socket.local_addr()?.to_string().into_bytes();
        socket.send(payload)?;
        let mut buffer = vec![0; 65_536];
        let read = socket.recv(&mut buffer)?;
        buffer.truncate(read);
        let echo = buffer.strip_prefix(&own[..]).map(<[u8]>::to_vec);
        echo.ok_or_else(|| std::io::Error::other("the server sees another address"))
    })
}

impl Bed {
    /// Serves [`say_by_udp`] on this port for as long as the test runs.
    pub(crate) fn serve_udp(&self, port: u16) {
        for address in self.server() {
            let address: IpAddr = address.parse().unwrap();
            let socket = self.inside("s", || UdpSocket::bind((address, port)).unwrap());
            std::thread::spawn(move || {
                let mut buffer = vec![0; 65_536];
                while let Ok((read, from)) = socket.recv_from(&mut buffer) {
                    let answer = [from.to_string().as_bytes(), &buffer[..read]].concat();
                    let _ = socket.send_to(&answer, from);
                }
            });
        }
    }
}

/// True if a datagram reaches the server and an answer comes back.
pub(crate) fn udp(bed: &Bed, server: &str) -> bool {
    let address: IpAddr = server.parse().unwrap();
    let socket = bed.inside("s", || UdpSocket::bind((address, 53)).unwrap());
    let answering = std::thread::spawn(move || {
        let mut buffer = [0; 64];
        socket
            .set_read_timeout(Some(Duration::from_secs(3)))
            .unwrap();
        if let Ok((read, from)) = socket.recv_from(&mut buffer) {
            socket.send_to(&buffer[..read], from).unwrap();
        }
    });
    let any: IpAddr = if address.is_ipv4() { "0.0.0.0" } else { "::" }
        .parse()
        .unwrap();
    let back = bed.inside("c", || {
        let socket = UdpSocket::bind((any, 0)).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(3)))
            .unwrap();
        socket.send_to(b"question", (address, 53)).unwrap();
        let mut buffer = [0; 64];
        socket
            .recv(&mut buffer)
            .is_ok_and(|read| &buffer[..read] == b"question")
    });
    answering.join().unwrap();
    back
}

/// True if the server answers an echo request of ICMP.
pub(crate) fn ping(bed: &Bed, server: &str) -> bool {
    use socket2::{Domain, Protocol, Socket, Type};
    let to = SocketAddr::new(server.parse().unwrap(), 0);
    let (protocol, request) = match to {
        SocketAddr::V4(_) => (Protocol::ICMPV4, 8),
        SocketAddr::V6(_) => (Protocol::ICMPV6, 128),
    };
    bed.inside("c", || {
        let socket = Socket::new(Domain::for_address(to), Type::DGRAM, Some(protocol)).unwrap();
        let wait = Some(Duration::from_secs(3));
        socket.set_read_timeout(wait).unwrap();
        // Type, code, checksum, identifier and sequence; the kernel fills in the
        // checksum and the identifier.
        socket
            .send_to(&[request, 0, 0, 0, 0, 0, 0, 1], &to.into())
            .unwrap();
        (&socket).read(&mut [0; 64]).is_ok()
    })
}

/// Waits until `ready`, five seconds at most.
pub(crate) fn wait(ready: impl Fn() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(5);
    while !ready() {
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}
