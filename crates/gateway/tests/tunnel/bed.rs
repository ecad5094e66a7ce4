//! A terminal and a hub in one process, over loopback, with a UDP proxy between
//! them that can lose packets.

use bentpipe_gateway::config::Config;
use bentpipe_gateway::entry::{Arrival, Reply};
use bentpipe_gateway::hub::Hub;
use bentpipe_gateway::operate::SharedState;
use bentpipe_gateway::terminal::Terminal;
use bentpipe_gateway::tunnel::codec::Hello;
use bentpipe_gateway::tunnel::keys::Identity;
use bentpipe_gateway::{Destination, Open};
use bytes::Bytes;
use socket2::SockRef;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use tokio::task::JoinHandle;

/// Aborts a task when it is dropped.
pub(crate) struct Task(JoinHandle<()>);

impl Task {
    pub(crate) fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Task {
        Task(tokio::spawn(work))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The keys of both boxes, in files.
pub(crate) struct Keys {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) terminal: Identity,
    pub(crate) hub: Identity,
    /// The link that both boxes are told.
    pub(crate) link: &'static str,
}

impl Keys {
    pub(crate) fn make() -> Keys {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let identity = Identity::generate().unwrap();
            identity.write_new(&folder.path().join(name)).unwrap();
            identity
        };
        let (terminal, hub) = (make("terminal.key"), make("hub.key"));
        Keys {
            folder,
            terminal,
            hub,
            link: "rate = \"200 Mbit/s\"\nrtt = \"20 ms\"\n",
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The configuration of a box.
    pub(crate) fn config(&self, role: &str, address: SocketAddr, more: &str) -> Config {
        let (peer, ways_in) = match role {
            "terminal" => (self.hub.public(), "[socks]\n"),
            _ => (
                self.terminal.public(),
                "[policy]\nallow = [\"127.0.0.0/8\"]\n",
            ),
        };
        let text = format!(
            "role = \"{role}\"\n{ways_in}[link]\n{link}\
             [tunnel]\naddress = \"{address}\"\nkey = \"{role}.key\"\npeers = [\"{peer}\"]\n{more}",
            link = self.link,
        );
        let path = self.path().join(format!("{role}.toml"));
        Config::read(&path, &text).unwrap_or_else(|errors| panic!("{errors}"))
    }

    pub(crate) fn terminal(&self, address: SocketAddr, more: &str) -> Arc<Terminal> {
        self.terminal_with_state(address, more).0
    }

    fn terminal_with_state(
        &self,
        address: SocketAddr,
        more: &str,
    ) -> (Arc<Terminal>, Arc<SharedState>) {
        let config = self.config("terminal", address, more);
        let state = SharedState::new(&config);
        let terminal = Terminal::start(&config, Arc::clone(&state), Hello::fresh()).unwrap();
        (Arc::new(terminal), state)
    }

    pub(crate) fn hub(&self, address: SocketAddr, more: &str) -> Hub {
        let config = self.config("hub", address, more);
        // A UDP port that is free may have the number of a TCP connection of another
        // test.
        let is_taken = |error: &io::Error| error.kind() == io::ErrorKind::AddrInUse;
        let mut started = Hub::start(&config, SharedState::new(&config));
        for _ in 0..20 {
            if address.port() != 0 || !started.as_ref().is_err_and(is_taken) {
                break;
            }
            started = Hub::start(&config, SharedState::new(&config));
        }
        started.unwrap()
    }
}

pub(crate) const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A terminal and a hub that are associated, or are about to be.
pub(crate) struct Bed {
    pub(crate) keys: Keys,
    pub(crate) hub: Hub,
    pub(crate) terminal: Arc<Terminal>,
    /// What the terminal shows to its operator.
    pub(crate) state: Arc<SharedState>,
    pub(crate) proxy: Proxy,
    /// The proxy of the further WAN, where there is one.
    pub(crate) wan: Option<Proxy>,
}

/// The section of a further WAN: it is slower than the link and has a shorter delay.
fn wan(port: u16) -> String {
    format!("[[wan]]\nname = \"5g\"\nport = {port}\nrate = \"100 Mbit/s\"\nrtt = \"10 ms\"\n")
}

impl Bed {
    pub(crate) async fn start(more: &str) -> Bed {
        Bed::start_with(more, |_| {}).await
    }

    /// Where UDP does not pass and TCP does.
    pub(crate) async fn start_without_udp() -> Bed {
        Bed::start_without_udp_after(Duration::ZERO).await
    }

    /// The same; over TCP first bytes arrive so much later than the connection.
    pub(crate) async fn start_without_udp_after(delay: Duration) -> Bed {
        Bed::start_with("", |proxy| {
            proxy.pass_tcp_after(delay);
            proxy.go_dark(true);
        })
        .await
    }

    /// One of each: over QUIC, over TLS, and over two WANs.
    pub(crate) async fn each() -> [Bed; 3] {
        let (quic, tls, bonded) = tokio::join!(
            Bed::start(""),
            Bed::start_without_udp(),
            Bed::start_with_wan("")
        );
        [quic, tls, bonded]
    }

    /// One with two WANs, both of which are up.
    pub(crate) async fn start_with_wan(more: &str) -> Bed {
        let keys = Keys::make();
        // The hub's port for it is one that was free a moment ago.
        let (port, hub) = (0..20)
            .find_map(|_| {
                let free = std::net::UdpSocket::bind(ANY).unwrap();
                let port = free.local_addr().unwrap().port();
                drop(free);
                let text = format!("{more}{}", wan(port));
                let config = keys.config("hub", ANY, &text);
                let hub = Hub::start(&config, SharedState::new(&config));
                Some((port, hub.ok()?))
            })
            .unwrap();
        let proxy = Proxy::start(hub.address().unwrap()).await;
        let other = Proxy::start(SocketAddr::new(ANY.ip(), port)).await;
        let text = format!("{more}{}", wan(other.address.port()));
        let (terminal, state) = keys.terminal_with_state(proxy.address, &text);
        terminal.ready().await;
        let bed = Bed {
            keys,
            hub,
            terminal,
            state,
            proxy,
            wan: Some(other),
        };
        bed.is_up().await;
        bed
    }

    /// Waits until all WANs are.
    pub(crate) async fn is_up(&self) {
        let up = |hub: &serde_json::Value| hub["state"] == "up";
        let hubs = || self.state.status()["hubs"].as_array().cloned();
        while !hubs().unwrap_or_default().iter().all(up) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn start_with(more: &str, set: impl FnOnce(&mut Proxy)) -> Bed {
        Bed::start_between(Keys::make(), [more; 2], set).await
    }

    /// One whose hub's configuration says this as well.
    pub(crate) async fn start_with_hub(hub: &str) -> Bed {
        Bed::start_between(Keys::make(), [hub, ""], |_| {}).await
    }

    /// One whose terminal's configuration says this as well.
    pub(crate) async fn start_with_terminal(terminal: &str) -> Bed {
        Bed::start_between(Keys::make(), ["", terminal], |_| {}).await
    }

    /// One over a link of which both boxes are told this.
    pub(crate) async fn start_over(link: &'static str, more: &str) -> Bed {
        let mut keys = Keys::make();
        keys.link = link;
        Bed::start_between(keys, [more; 2], |_| {}).await
    }

    /// `more` is what the configurations of the hub and of the terminal say as well.
    async fn start_between(keys: Keys, more: [&str; 2], set: impl FnOnce(&mut Proxy)) -> Bed {
        let hub = keys.hub(ANY, more[0]);
        let mut proxy = Proxy::start(hub.address().unwrap()).await;
        set(&mut proxy);
        let (terminal, state) = keys.terminal_with_state(proxy.address, more[1]);
        terminal.ready().await;
        Bed {
            keys,
            hub,
            terminal,
            state,
            proxy,
            wan: None,
        }
    }

    /// A client's connection through the tunnel to `server`.
    pub(crate) async fn connect(&self, server: SocketAddr) -> TcpStream {
        connect(&self.terminal, server, false).await
    }
}

/// A client's connection that arrives at `terminal`.
pub(crate) async fn connect(
    terminal: &Arc<Terminal>,
    server: SocketAddr,
    confirm: bool,
) -> TcpStream {
    connect_from(terminal, ANY.ip(), server, confirm).await
}

/// The same of the client at this address of the loopback interface.
pub(crate) async fn connect_from(
    terminal: &Arc<Terminal>,
    client: IpAddr,
    server: SocketAddr,
    confirm: bool,
) -> TcpStream {
    let listener = TcpListener::bind(ANY).await.unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((client, 0).into()).unwrap();
    let connected = socket.connect(listener.local_addr().unwrap());
    let client = connected.await.unwrap();
    let (tcp, _) = listener.accept().await.unwrap();
    SockRef::from(&tcp)
        .set_linger(Some(Duration::ZERO))
        .unwrap();
    tcp.set_nodelay(true).unwrap();
    let arrival = Arrival {
        tcp,
        open: Open {
            destination: Destination::Address(server),
            source: None,
            subscriber: None,
            urgency: None,
            confirm,
        },
        first: Bytes::new(),
        reply: if confirm {
            Reply::Socks
        } else {
            Reply::Nothing
        },
    };
    let terminal = Arc::clone(terminal);
    tokio::spawn(async move { terminal.serve(arrival).await });
    client
}

/// Bytes of a datagram that is full.
const FULL: usize = 1200;

/// Loses datagrams at random, and in each run the same.
struct Noise {
    one_of: Arc<AtomicU64>,
    state: u64,
}

impl Noise {
    fn new(one_of: &Arc<AtomicU64>) -> Noise {
        Noise {
            one_of: Arc::clone(one_of),
            state: 1,
        }
    }

    fn loses(&mut self) -> bool {
        let one_of = self.one_of.load(Ordering::Relaxed);
        // Knuth's MMIX generator, whose high bits are random enough.
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005);
        self.state = self.state.wrapping_add(1_442_695_040_888_963_407);
        one_of > 0 && (self.state >> 33).is_multiple_of(one_of)
    }
}

/// Passes datagrams between terminals and the hub, or loses them.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    dark: Arc<AtomicBool>,
    /// Nothing of the terminal's passes.
    up_dark: Arc<AtomicBool>,
    /// Nothing of the hub's passes.
    down_dark: Arc<AtomicBool>,
    /// Bytes a second that pass in each direction.
    police: Arc<AtomicU64>,
    /// Full datagrams of the terminal's of which every second is lost.
    halved: Arc<AtomicU64>,
    /// Of so many datagrams one is lost, at random and in each direction; 0 loses none.
    noisy: Arc<AtomicU64>,
    /// Datagrams of either side that are no packets of QUIC: repairs.
    repairs: Arc<AtomicU64>,
    hub: SocketAddr,
    _udp: Task,
    tcp: Option<Task>,
}

impl Proxy {
    pub(crate) async fn start(hub: SocketAddr) -> Proxy {
        // The port must be free for TCP as well: see `pass_tcp`.
        let mut front = UdpSocket::bind(ANY).await.unwrap();
        while std::net::TcpListener::bind(front.local_addr().unwrap()).is_err() {
            front = UdpSocket::bind(ANY).await.unwrap();
        }
        let front = Arc::new(front);
        let back = Arc::new(UdpSocket::bind(ANY).await.unwrap());
        let address = front.local_addr().unwrap();
        let dark = Arc::new(AtomicBool::new(false));
        let is_dark = Arc::clone(&dark);
        let up_dark = Arc::new(AtomicBool::new(false));
        let is_up_dark = Arc::clone(&up_dark);
        let down_dark = Arc::new(AtomicBool::new(false));
        let is_down_dark = Arc::clone(&down_dark);
        let police = Arc::new(AtomicU64::new(u64::MAX));
        let halved = Arc::new(AtomicU64::new(0));
        let left = Arc::clone(&halved);
        let noisy = Arc::new(AtomicU64::new(0));
        let mut noise = Noise::new(&noisy);
        let repairs = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&repairs);
        // QUIC's have the bit 0x40 (RFC 9000, section 17).
        let count = move |first: u8| {
            counted.fetch_add(u64::from(first & 0x40 == 0), Ordering::Relaxed);
        };
        let (mut up_police, mut down_police) = (Policer::new(&police), Policer::new(&police));
        let task = Task::spawn(async move {
            let mut terminal = None;
            let (mut up, mut down) = (vec![0; 65_536], vec![0; 65_536]);
            loop {
                tokio::select! {
                    Ok((n, from)) = front.recv_from(&mut up) => {
                        terminal = Some(from);
                        count(up[0]);
                        let dark = is_dark.load(Ordering::Relaxed) || is_up_dark.load(Ordering::Relaxed);
                        let counts = |left: u64| left.checked_sub(u64::from(n >= FULL));
                        let halves = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, counts);
                        let lost = dark || noise.loses() || halves.is_ok_and(|left| n >= FULL && left % 2 == 0);
                        if !lost && up_police.passes(n) {
                            let _ = back.send_to(&up[..n], hub).await;
                        }
                    }
                    Ok((n, _)) = back.recv_from(&mut down) => {
                        let lost = is_dark.load(Ordering::Relaxed) || is_down_dark.load(Ordering::Relaxed);
                        let lost = lost || noise.loses();
                        count(down[0]);
                        if let Some(terminal) = terminal && !lost && down_police.passes(n) {
                            let _ = front.send_to(&down[..n], terminal).await;
                        }
                    }
                    else => return,
                }
            }
        });
        Proxy {
            address,
            dark,
            up_dark,
            down_dark,
            police,
            halved,
            noisy,
            repairs,
            hub,
            _udp: task,
            tcp: None,
        }
    }

    /// Passes TCP connections to the same port as well.
    pub(crate) fn pass_tcp(&mut self) {
        self.pass_tcp_after(Duration::ZERO);
    }

    /// The same; first bytes arrive so much later than the connection.
    pub(crate) fn pass_tcp_after(&mut self, delay: Duration) {
        let listener = std::net::TcpListener::bind(self.address).unwrap();
        listener.set_nonblocking(true).unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        let hub = self.hub;
        self.tcp = Some(Task::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let Ok(mut far) = TcpStream::connect(hub).await else {
                        return;
                    };
                    tokio::time::sleep(delay).await;
                    let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
                });
            }
        }));
    }

    /// Drops datagrams beyond this many bytes a second in each direction.
    pub(crate) fn police(&self, rate: u64) {
        self.police.store(rate, Ordering::Relaxed);
    }

    /// Loses one of so many datagrams in each direction, at random.
    pub(crate) fn be_noisy(&self, one_of: u64) {
        self.noisy.store(one_of, Ordering::Relaxed);
    }

    /// Repairs that either side has sent.
    pub(crate) fn repairs(&self) -> u64 {
        self.repairs.load(Ordering::Relaxed)
    }

    /// Loses every second of so many full datagrams that the terminal sends from now on.
    pub(crate) fn halve_upward(&self, datagrams: u64) {
        self.halved.store(datagrams, Ordering::Relaxed);
    }

    /// How many of these have not been sent yet.
    pub(crate) fn halved(&self) -> u64 {
        self.halved.load(Ordering::Relaxed)
    }

    /// Loses what the terminal sends, and nothing of the hub's.
    pub(crate) fn go_dark_upward(&self, dark: bool) {
        self.up_dark.store(dark, Ordering::Relaxed);
    }

    /// Loses what the hub sends, and nothing of the terminal's.
    pub(crate) fn go_dark_downward(&self, dark: bool) {
        self.down_dark.store(dark, Ordering::Relaxed);
    }

    pub(crate) fn go_dark(&self, dark: bool) {
        self.dark.store(dark, Ordering::Relaxed);
    }
}

/// A token bucket of 50 ms.
struct Policer {
    rate: Arc<AtomicU64>,
    tokens: u64,
    last: Instant,
}

impl Policer {
    fn new(rate: &Arc<AtomicU64>) -> Policer {
        Policer {
            rate: Arc::clone(rate),
            tokens: 0,
            last: Instant::now(),
        }
    }

    fn passes(&mut self, bytes: usize) -> bool {
        let rate = self.rate.load(Ordering::Relaxed);
        if rate == u64::MAX {
            return true;
        }
        let micros = u64::try_from(self.last.elapsed().as_micros()).unwrap_or(u64::MAX);
        if micros >= 1000 {
            self.last = Instant::now();
            let earned = rate.saturating_mul(micros) / 1_000_000;
            self.tokens = (self.tokens + earned).min(rate / 20);
        }
        let passes = self.tokens >= bytes as u64;
        if passes {
            self.tokens -= bytes as u64;
        }
        passes
    }
}
