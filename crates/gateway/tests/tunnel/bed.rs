//! A terminal and a hub in one process, over loopback, with a proxy between them.

use crate::proxy::Proxy;
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
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
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
    /// The proxies of further WANs.
    pub(crate) wans: Vec<Proxy>,
}

/// Names, rates and round trips of further WANs: slower than the link, and the first with a shorter
/// delay.
const WANS: [(&str, &str, &str); 3] = [
    ("5g", "100 Mbit/s", "10 ms"),
    ("leo", "60 Mbit/s", "40 ms"),
    ("vsat", "40 Mbit/s", "100 ms"),
];

/// The sections of further WANs at these ports.
pub(crate) fn wans(ports: &[u16]) -> String {
    let sections = WANS.iter().zip(ports).map(|((name, rate, rtt), port)| {
        format!("[[wan]]\nname = \"{name}\"\nport = {port}\nrate = \"{rate}\"\nrtt = \"{rtt}\"\n")
    });
    sections.collect()
}

/// Ports of UDP that were free a moment ago.
pub(crate) fn free_ports<const N: usize>() -> [u16; N] {
    let sockets = [(); N].map(|()| std::net::UdpSocket::bind(ANY).unwrap());
    sockets.map(|socket| socket.local_addr().unwrap().port())
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
        Bed::start_with_wans::<1>(more).await
    }

    /// One with so many WANs besides the link, all of which are up.
    pub(crate) async fn start_with_wans<const N: usize>(more: &str) -> Bed {
        let keys = Keys::make();
        let (ports, hub) = (0..20)
            .find_map(|_| {
                let ports = free_ports::<N>();
                let text = format!("{more}{}", wans(&ports));
                let config = keys.config("hub", ANY, &text);
                let hub = Hub::start(&config, SharedState::new(&config));
                Some((ports, hub.ok()?))
            })
            .unwrap();
        let proxy = Proxy::start(hub.address().unwrap()).await;
        let mut others = Vec::new();
        for port in ports {
            others.push(Proxy::start(SocketAddr::new(ANY.ip(), port)).await);
        }
        let ports: Vec<u16> = others.iter().map(|it| it.address.port()).collect();
        let text = format!("{more}{}", wans(&ports));
        let (terminal, state) = keys.terminal_with_state(proxy.address, &text);
        terminal.ready().await;
        let bed = Bed {
            keys,
            hub,
            terminal,
            state,
            proxy,
            wans: others,
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
            wans: Vec::new(),
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
