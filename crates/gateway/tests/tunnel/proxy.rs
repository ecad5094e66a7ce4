//! A proxy between the boxes that passes datagrams, delays first bytes of TCP, or loses what it is told to.

use crate::bed::{ANY, Task};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

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
