//! Hubs with keys of their own, and a terminal that has several.

use crate::bed::{ANY, Keys, connect};
use bentpipe_gateway::config::Config;
use bentpipe_gateway::hub::Hub;
use bentpipe_gateway::operate::SharedState;
use bentpipe_gateway::terminal::Terminal;
use bentpipe_gateway::tunnel::codec::Hello;
use bentpipe_gateway::tunnel::keys::Identity;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

pub(crate) const SOON: Duration = Duration::from_secs(20);

/// A hub with a key of its own.
pub(crate) struct OneHub {
    pub(crate) hub: Hub,
    pub(crate) state: Arc<SharedState>,
    pub(crate) address: SocketAddr,
    pub(crate) key: String,
    pub(crate) file: String,
}

impl OneHub {
    pub(crate) fn start(keys: &Keys, name: &str) -> OneHub {
        OneHub::start_at(keys, name, ANY, "").unwrap()
    }

    /// `None` where a port is not free.
    pub(crate) fn start_at(
        keys: &Keys,
        name: &str,
        address: SocketAddr,
        more: &str,
    ) -> Option<OneHub> {
        let identity = Identity::generate().unwrap();
        let path = keys.path().join(format!("{name}.key"));
        identity.write_new(&path).unwrap();
        let file = format!(
            "role = \"hub\"\n[policy]\nallow = [\"127.0.0.0/8\"]\n[link]\n{link}\
             [tunnel]\naddress = \"{address}\"\nkey = \"{name}.key\"\npeers = [\"{peer}\"]\n{more}",
            link = keys.link,
            peer = keys.terminal.public(),
        );
        let config = Config::read(&keys.path().join("hub.toml"), &file).unwrap();
        let state = SharedState::new(&config);
        // A free UDP port may be that of a TCP connection of another test.
        let hub = (0..20).find_map(|_| Hub::start(&config, Arc::clone(&state)).ok());
        let hub = hub?;
        Some(OneHub {
            address: hub.address().unwrap(),
            hub,
            state,
            key: identity.public().to_string(),
            file,
        })
    }
}

/// A terminal with the hubs that it is told.
pub(crate) struct Ship {
    pub(crate) keys: Keys,
    pub(crate) terminal: Arc<Terminal>,
    pub(crate) state: Arc<SharedState>,
}

/// The configuration of a terminal.
pub(crate) fn ship(keys: &Keys, hubs: &[String], peers: &[&str], more: &str) -> Config {
    let text = format!(
        "role = \"terminal\"\n[socks]\n[link]\n{link}[limits]\ndrain = \"2 s\"\n\
         [tunnel]\naddress = {hubs:?}\nkey = \"terminal.key\"\npeers = {peers:?}\n{more}",
        link = keys.link,
    );
    Config::read(&keys.path().join("terminal.toml"), &text).unwrap()
}

impl Ship {
    pub(crate) async fn start(keys: Keys, hubs: &[String], peers: &[&str], more: &str) -> Ship {
        let config = ship(&keys, hubs, peers, more);
        let state = SharedState::new(&config);
        let terminal = Terminal::start(&config, Arc::clone(&state), Hello::fresh()).unwrap();
        let terminal = Arc::new(terminal);
        terminal.ready().await;
        Ship {
            keys,
            terminal,
            state,
        }
    }

    /// What the status says of a hub.
    pub(crate) fn says(&self, hub: usize, what: &str) -> serde_json::Value {
        self.state.status()["hubs"][hub][what].clone()
    }

    pub(crate) async fn uses(&self, hub: usize) {
        // The first is in use before any answers.
        let works = || {
            ["up", "fallback"]
                .iter()
                .any(|it| self.says(hub, "state") == *it)
        };
        until("its use", || self.says(hub, "used") == true && works()).await;
    }

    /// A connection that has carried something, and how long that took.
    pub(crate) async fn echo(&self, server: SocketAddr) -> (TcpStream, Duration) {
        let begin = Instant::now();
        let mut client = connect(&self.terminal, server, false).await;
        answers(&mut client).await;
        (client, begin.elapsed())
    }
}

/// A question and its answer.
pub(crate) async fn answers(client: &mut TcpStream) {
    client.write_all(b"hello").await.unwrap();
    let mut answer = [0; 5];
    let read = timeout(SOON, client.read_exact(&mut answer)).await;
    read.unwrap().unwrap();
    assert_eq!(&answer, b"hello");
}

pub(crate) async fn until(what: &str, mut happens: impl FnMut() -> bool) {
    let happened = timeout(SOON, async {
        while !happens() {
            sleep(Duration::from_millis(10)).await;
        }
    });
    assert!(happened.await.is_ok(), "{what} did not happen");
}

pub(crate) async fn is_reset(mut client: TcpStream) {
    let read = timeout(SOON, client.read(&mut [0; 10])).await.unwrap();
    assert_eq!(read.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
}
