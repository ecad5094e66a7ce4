//! The rate at which a box sends into the satellite link: token buckets that the
//! socket of the association asks before each send.
//!
//! A [`Shaper`] belongs to one UDP socket. All associations of that socket share
//! its rate, each by its weight. An association may have its own rate
//! besides ([`Peer`]): that of its terminal's link, or the pacing rate of its
//! congestion control, whichever is lower. Rates count whole IP packets.
//!
//! Because the sender waits here and packets do not queue in the modem, data waits in the streams,
//! where the association can still choose the next stream.

mod line;

pub(super) use line::Sender;

use super::coding::Paths;
use bentpipe_quic::turns::WEIGHT;
use bentpipe_units::Rate;
use line::Line;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;
use std::time::{Duration, Instant};

/// What an idle link may send at once, besides the batch at hand.
const IDLE_DEPTH: Duration = Duration::from_millis(2);
/// Credit that a sender keeps which waited for its timer: timers have a resolution of 1 ms, and a busy
/// machine is later than that. With 12 other programs for each core, 50 ms carry a third more at
/// 200 Mbit/s than 10 ms do. The link had nothing to send meanwhile, so that its queue has room.
const LATE_DEPTH: Duration = Duration::from_millis(50);
/// Lower bound in bytes, for low rates: two packets.
const SMALLEST_DEPTH: f64 = 3_000.0;
/// Longest time that a batch of datagrams may take on the link.
const LONGEST_BATCH: Duration = Duration::from_millis(2);
/// Datagrams of one batch where nothing limits them.
const MOST_SEGMENTS: usize = 64;
/// A full IP packet, which sizes batches.
const FULL_PACKET: f64 = 1_500.0;

/// Bytes of a UDP datagram of `payload` bytes to `destination` as an IP packet.
#[must_use]
pub fn packet_bytes(payload: usize, destination: &SocketAddr) -> usize {
    const UDP: usize = 8;
    let ip = match destination.ip() {
        IpAddr::V4(_) => 20,
        IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some() => 20,
        IpAddr::V6(_) => 40,
    };
    payload + UDP + ip
}

/// A token bucket. Its level is in bytes, and below zero after a batch that was
/// larger than what it held; the next batch may leave at zero.
#[derive(Debug)]
struct Bucket {
    /// Bytes a second; `None` does not limit.
    rate: Option<f64>,
    level: f64,
    at: Instant,
    /// A sender waits for the bucket, so that lateness is the timer's.
    awaited: bool,
}

impl Bucket {
    fn new(rate: Option<Rate>, now: Instant) -> Bucket {
        Bucket {
            rate: rate.map(bytes_per_second),
            level: 0.0,
            at: now,
            awaited: false,
        }
    }

    fn set_rate(&mut self, rate: Option<Rate>, now: Instant) {
        self.refill(now);
        self.rate = rate.map(bytes_per_second);
        if self.rate.is_none() {
            self.level = 0.0;
        }
    }

    fn refill(&mut self, now: Instant) {
        let Some(rate) = self.rate else { return };
        let elapsed = now.saturating_duration_since(self.at);
        self.at = self.at.max(now);
        let late = self.awaited || elapsed < IDLE_DEPTH;
        let time = if late { LATE_DEPTH } else { IDLE_DEPTH };
        let depth = (rate * time.as_secs_f64()).max(SMALLEST_DEPTH);
        self.level = (self.level + rate * elapsed.as_secs_f64()).min(depth);
    }

    /// When the next batch may leave; `None`: now.
    fn wait(&mut self, now: Instant) -> Option<Instant> {
        let rate = self.rate?;
        self.refill(now);
        // Half a byte is what rounding to nanoseconds may leave.
        if self.level > -0.5 {
            self.awaited = false;
            return None;
        }
        self.awaited = true;
        // An hour bounds the arithmetic where the rate is next to nothing; a change
        // of the rate wakes the sender earlier.
        let seconds = (-self.level / rate).min(3600.0);
        Some(now + Duration::from_secs_f64(seconds))
    }

    fn charge(&mut self, bytes: usize, now: Instant) {
        if self.rate.is_some() {
            self.refill(now);
            self.level -= bytes as f64;
        }
    }
}

fn bytes_per_second(rate: Rate) -> f64 {
    // A link at rate zero carries nothing; 8 bit/s keeps the arithmetic finite.
    rate.bps_f64().max(8.0) / 8.0
}

/// Locks; what a panic of another thread left behind is still a bucket.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Next action of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// The packets may leave now.
    Now,
    /// It sends at that time.
    At(Instant),
    /// It is woken when those before it have sent.
    Behind,
}

/// The rates of one UDP socket.
#[derive(Debug)]
pub struct Shaper {
    line: Mutex<Line>,
    limited: AtomicBool,
    peers: Mutex<HashMap<SocketAddr, Weak<Peer>>>,
    has_peers: AtomicBool,
    segments: AtomicUsize,
    bytes: AtomicU64,
    next_sender: AtomicU64,
    /// The associations whose tails are coded.
    paths: Arc<Paths>,
}

impl Shaper {
    /// A shaper at `rate`; `None` does not limit (the rate is measured).
    #[must_use]
    pub fn new(rate: Option<Rate>) -> Arc<Shaper> {
        let shaper = Shaper {
            line: Mutex::new(Line::new(Bucket::new(rate, Instant::now()), rate)),
            limited: AtomicBool::new(rate.is_some()),
            peers: Mutex::default(),
            has_peers: AtomicBool::new(false),
            segments: AtomicUsize::new(MOST_SEGMENTS),
            bytes: AtomicU64::new(0),
            next_sender: AtomicU64::new(0),
            paths: Arc::default(),
        };
        shaper.size_batches();
        Arc::new(shaper)
    }

    /// Changes the rate of the socket; it holds from this moment on.
    pub fn set_rate(&self, rate: Option<Rate>) {
        let woken = {
            let mut line = lock(&self.line);
            self.limited.store(rate.is_some(), Ordering::Release);
            line.set_rate(rate, Instant::now())
        };
        self.size_batches();
        woken.into_iter().for_each(Waker::wake);
    }

    /// The rate of the socket; `None` where it is not limited.
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        lock(&self.line).rate
    }

    /// Bytes of IP packets sent since the start.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The bucket of the associations with `address`, which is made where there is
    /// none, and lasts for as long as it is held. It does not limit until it has a
    /// rate.
    pub fn peer(self: &Arc<Shaper>, address: SocketAddr) -> Arc<Peer> {
        let mut peers = lock(&self.peers);
        let address = canonical(address);
        if let Some(peer) = peers.get(&address).and_then(Weak::upgrade) {
            return peer;
        }
        peers.retain(|_, peer| peer.strong_count() > 0);
        let peer = Arc::new(Peer {
            shaper: Arc::downgrade(self),
            weight: AtomicU64::new(WEIGHT),
            limits: Mutex::new(Limits {
                bucket: Bucket::new(None, Instant::now()),
                link: None,
                part: None,
                cap: None,
                pace: None,
                waiting: Vec::new(),
            }),
        });
        peers.insert(address, Arc::downgrade(&peer));
        self.has_peers.store(true, Ordering::Release);
        peer
    }

    /// The associations whose tails are coded.
    pub(super) const fn paths(&self) -> &Arc<Paths> {
        &self.paths
    }

    /// Most datagrams of one batch: what the slowest link sends in 2 ms.
    pub(super) fn most_segments(&self) -> usize {
        self.segments.load(Ordering::Relaxed)
    }

    fn size_batches(&self) {
        let shared = self.rate();
        // The last holder of a peer may let go of it meanwhile: then it is dropped
        // here, which takes the lock again.
        let peers: Vec<Arc<Peer>> = lock(&self.peers)
            .values()
            .filter_map(Weak::upgrade)
            .collect();
        let rates = peers.iter().filter_map(|peer| lock(&peer.limits).slowest());
        let slowest = rates.chain(shared).min();
        let segments = slowest.map_or(MOST_SEGMENTS, |rate| {
            let packets = bytes_per_second(rate) * LONGEST_BATCH.as_secs_f64() / FULL_PACKET;
            (packets as usize).clamp(1, MOST_SEGMENTS)
        });
        self.segments.store(segments, Ordering::Relaxed);
    }

    /// One more that sends.
    pub(super) fn sender(&self) -> Sender {
        Sender::new(self.next_sender.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn is_limited(&self) -> bool {
        self.limited.load(Ordering::Acquire)
    }

    pub(super) fn has_peers(&self) -> bool {
        self.has_peers.load(Ordering::Acquire)
    }

    pub(super) fn find_peer(&self, address: SocketAddr) -> Option<Arc<Peer>> {
        lock(&self.peers).get(&canonical(address))?.upgrade()
    }

    /// Asks for the turn of `sender`. It keeps its place in the line until
    /// [`Shaper::sent`] or [`Shaper::leave`].
    pub(super) fn turn(&self, sender: &Sender, now: Instant, waker: &Waker) -> Turn {
        if !self.is_limited() {
            return Turn::Now;
        }
        lock(&self.line).turn(sender, now, waker, self.most_segments())
    }

    /// Charges a batch that was sent, by `sender` where that is known.
    pub(super) fn sent(&self, sender: Option<&Sender>, bytes: usize, now: Instant) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        if !self.is_limited() {
            return;
        }
        let next = lock(&self.line).sent(sender, bytes, now, self.most_segments());
        if let Some(waker) = next {
            waker.wake();
        }
    }

    /// Charges what something else has sent.
    #[cfg(test)]
    pub(crate) fn note_sent(&self, bytes: usize) {
        self.sent(None, bytes, Instant::now());
    }

    /// Gives up the place of `sender`.
    pub(super) fn leave(&self, sender: &Sender) {
        let next = lock(&self.line).leave(sender);
        if let Some(waker) = next {
            waker.wake();
        }
    }
}

/// IPv4 addresses mapped into IPv6 are those addresses.
pub(crate) fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[derive(Debug)]
struct Limits {
    bucket: Bucket,
    link: Option<Rate>,
    part: Option<Rate>,
    cap: Option<Rate>,
    pace: Option<Rate>,
    waiting: Vec<Waker>,
}

impl Limits {
    /// What the link takes of this association.
    fn link(&self) -> Option<Rate> {
        let rates = [self.link, self.part, self.cap];
        rates.into_iter().flatten().min()
    }

    /// What no modem is to be sent faster: a cap is no limit of the link.
    fn slowest(&self) -> Option<Rate> {
        let rates = [self.link, self.part, self.pace];
        rates.into_iter().flatten().min()
    }

    fn lowest(&self) -> Option<Rate> {
        self.link().into_iter().chain(self.pace).min()
    }
}

/// The rate of one association besides that of the socket.
#[derive(Debug)]
pub struct Peer {
    shaper: Weak<Shaper>,
    /// What it gets beside others.
    weight: AtomicU64,
    limits: Mutex<Limits>,
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Some(shaper) = self.shaper.upgrade() {
            shaper.size_batches();
        }
    }
}

impl Peer {
    /// True where the link is found to deliver less than its rate.
    pub(super) fn is_held(&self) -> bool {
        lock(&self.limits).link.is_some()
    }

    /// Sets the rate of this terminal's link; `None` does not limit.
    pub fn set_rate(&self, rate: Option<Rate>) {
        self.change(|limits| limits.link = rate);
    }

    /// Sets what this terminal gets beside others, 100 unless it is set.
    pub fn set_weight(&self, weight: u64) {
        self.weight.store(weight, Ordering::Relaxed);
    }

    /// What it gets beside others.
    pub(super) fn weight(&self) -> u64 {
        self.weight.load(Ordering::Relaxed)
    }

    /// Sets the part of the rate that is left to this box of a link into which others send as well;
    /// `None` does not limit.
    pub fn set_part(&self, rate: Option<Rate>) {
        self.change(|limits| limits.part = rate);
    }

    /// Sets what the operator gives this terminal at most; `None` does not limit.
    pub fn set_cap(&self, rate: Option<Rate>) {
        self.change(|limits| limits.cap = rate);
    }

    /// The rate of this terminal's link that this box may use, where it limits.
    #[must_use]
    pub fn link(&self) -> Option<Rate> {
        lock(&self.limits).link()
    }

    /// What this box may use of the link, whatever that delivers.
    pub(super) fn granted(&self) -> Option<Rate> {
        let limits = lock(&self.limits);
        limits.part.into_iter().chain(limits.cap).min()
    }

    /// Sets the pacing rate of the association's congestion control, in IP
    /// packets; `None` does not pace.
    pub fn set_pace(&self, rate: Option<Rate>) {
        self.change(|limits| limits.pace = rate);
    }

    /// The lowest of these rates.
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        lock(&self.limits).lowest()
    }

    fn change(&self, set: impl FnOnce(&mut Limits)) {
        let woken = {
            let mut limits = lock(&self.limits);
            let before = limits.lowest();
            set(&mut limits);
            let rate = limits.lowest();
            if rate == before {
                return;
            }
            limits.bucket.set_rate(rate, Instant::now());
            std::mem::take(&mut limits.waiting)
        };
        if let Some(shaper) = self.shaper.upgrade() {
            shaper.size_batches();
        }
        woken.into_iter().for_each(Waker::wake);
    }

    /// When a sender to this peer may send; `None`: now.
    pub(super) fn wait(&self, now: Instant, waker: &Waker) -> Option<Instant> {
        let mut limits = lock(&self.limits);
        let at = limits.bucket.wait(now)?;
        if !limits.waiting.iter().any(|known| known.will_wake(waker)) {
            limits.waiting.push(waker.clone());
        }
        Some(at)
    }

    pub(super) fn charge(&self, bytes: usize, now: Instant) {
        let mut limits = lock(&self.limits);
        limits.bucket.charge(bytes, now);
        limits.waiting.clear();
    }
}

#[cfg(test)]
mod tests;
