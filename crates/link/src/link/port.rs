//! A link whose transmitter belongs to a medium that several share.
//!
//! Queue, channel and counters are the link's own. When its packets go is up
//! to the medium: it takes a packet, sends it whole or in pieces, and says when
//! it is done with it.

use super::{Carried, Link, Service};
use crate::jitter::Jitter;
use crate::queue::{ManagedQueue, Waiter};
use crate::ring::Ring;
use crate::{PacketMeta, Verdict};
use bentpipe_units::{Bytes, Duration, LogLinear, Rate, Time};

/// The terminal's side of a medium.
#[derive(Clone, Debug)]
pub(super) struct Port<P> {
    pub(super) queue: ManagedQueue<P>,
    /// Packets that the medium has sent.
    pub(super) carried: Ring<Carried<P>>,
    /// The medium's rate, and what a code leaves of it for packets.
    rates: (Rate, Rate),
    held: Option<Held<P>>,
    waits: Waits,
    /// Since when nothing has waited here and nothing has been held.
    idle_since: Option<Time>,
    /// How the delay varies, if it does.
    jitter: Option<Box<Jitter>>,
}

/// A packet that the medium has taken and not finished.
#[derive(Clone, Copy, Debug)]
struct Held<P> {
    waiter: Waiter<P>,
    /// Bytes on the wire that are still to go.
    left: u64,
}

/// Fate of a packet that a medium has finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finished {
    /// When it arrives; `None` where the channel destroyed it.
    pub(crate) arrival: Option<Time>,
    /// From its entry into the link to its end there.
    pub(crate) delay: Duration,
}

/// How many packets waited how long, in sixteenths of a power of two.
#[derive(Clone, Debug)]
struct Waits {
    bins: Vec<u64>,
    total: u64,
}

/// Bins per factor of two, as a power of two.
const FINE: u32 = 4;

/// Bins of [`Waits`]: longer waits count in the last.
const BINS: usize = 1024;

impl Waits {
    fn new() -> Waits {
        Waits {
            bins: Vec::new(),
            total: 0,
        }
    }

    fn add(&mut self, wait: Duration) {
        if self.bins.is_empty() {
            self.bins = vec![0; BINS];
        }
        let (bin, _) = LogLinear::<FINE>::bin_of(wait.as_nanos());
        self.bins[bin.min(BINS - 1)] += 1;
        self.total += 1;
    }

    /// The upper end of the bin in which a share `quantile` of all is reached.
    fn quantile(&self, quantile: f64) -> Duration {
        let target = (self.total as f64 * quantile) as u64;
        let mut so_far = 0;
        for (bin, n) in self.bins.iter().enumerate() {
            so_far += n;
            if so_far > target || (so_far == self.total && so_far > 0) {
                if bin == 0 {
                    return Duration::ZERO;
                }
                let end = LogLinear::<FINE>::floor(bin + 1);
                return Duration::from_nanos(u64::try_from(end).unwrap_or(u64::MAX));
            }
        }
        Duration::ZERO
    }
}

impl<P: Copy> Port<P> {
    /// A port to a medium of the first of `rates`, of which a code leaves the
    /// second for packets.
    pub(super) fn new(
        queue: ManagedQueue<P>,
        rates: (Rate, Rate),
        jitter: Option<Jitter>,
    ) -> Port<P> {
        Port {
            queue,
            carried: Ring::new(),
            rates,
            held: None,
            waits: Waits::new(),
            idle_since: Some(Time::ZERO),
            jitter: jitter.map(Box::new),
        }
    }
}

impl<P> Port<P> {
    /// Bytes that the medium carries for so many of packets with their framing.
    fn on_air(&self, wire: u64) -> u64 {
        let (medium, own) = self.rates;
        if medium == own {
            return wire;
        }
        let coded = (u128::from(wire) * u128::from(medium.bps())).div_ceil(own.bps().max(1).into());
        u64::try_from(coded).unwrap_or(u64::MAX)
    }
}

impl<P: Copy> Link<P> {
    fn port_mut(&mut self) -> Option<&mut Port<P>> {
        match &mut self.service {
            Service::Port(port) => Some(port),
            _ => None,
        }
    }

    fn as_port(&self) -> Option<&Port<P>> {
        match &self.service {
            Service::Port(port) => Some(port),
            _ => None,
        }
    }

    /// The packet that a medium has taken and not finished.
    fn held_packet(&self) -> Option<&Held<P>> {
        self.as_port()?.held.as_ref()
    }

    /// Lets a packet wait for the medium, or drops it.
    pub(super) fn enqueue_at_port(&mut self, now: Time, packet: P, meta: PacketMeta) -> Verdict {
        let counters = &mut self.counters;
        counters.offered += 1;
        let Service::Port(port) = &mut self.service else {
            return Verdict::QueueDrop;
        };
        let idle = port.idle_since;
        let queue = &mut port.queue;
        let decision = queue.enqueue(now, (idle, false), packet, meta, counters);
        if !decision.accepts() {
            return Verdict::QueueDrop;
        }
        port.idle_since = None;
        let (packets, bytes) = queue.backlog();
        counters.max_packets = counters.max_packets.max(packets);
        counters.max_bytes = counters.max_bytes.max(bytes);
        Verdict::Waits
    }

    /// Takes the next packet at `at`, where none is held. True if one is held
    /// then.
    pub(crate) fn port_take(&mut self, at: Time) -> bool {
        let wire = self.transmitter.wire;
        let Service::Port(port) = &mut self.service else {
            return false;
        };
        let port = &mut **port;
        if port.held.is_some() {
            return true;
        }
        let Some(waiter) = port.queue.dequeue(at, &mut self.counters) else {
            port.idle_since.get_or_insert(at);
            return false;
        };
        let left = port.on_air(u64::from(wire.packet(waiter.meta.bytes)));
        port.held = Some(Held { waiter, left });
        true
    }

    /// Bytes on the wire that are still to go of the packet that is held.
    pub(crate) fn port_left(&self) -> u64 {
        self.held_packet().map_or(0, |held| held.left)
    }

    /// A piece of the packet that is held went.
    pub(crate) fn port_send(&mut self, bytes: u64) {
        if let Some(held) = self.port_mut().and_then(|port| port.held.as_mut()) {
            held.left = held.left.saturating_sub(bytes);
        }
    }

    /// The last byte of the packet that is held went at `end`.
    pub(crate) fn port_done(&mut self, end: Time) -> Option<Finished> {
        let (waiter, delay) = self.port_let_go(end)?;
        let bytes = waiter.meta.bytes;
        let own = self.transmitter.time(bytes);
        self.counters.queueing += delay.saturating_sub(own);
        self.transmitter.next_free = end;
        let wire = self.transmitter.wire.packet(bytes);
        let mut propagation = self.propagation;
        if let Some(jitter) = self.port_mut().and_then(|port| port.jitter.as_mut()) {
            propagation = jitter.vary(propagation, end, None);
        }
        if self.channel.as_mut().is_some_and(|c| c.loses(wire, end)) {
            self.port_lose(&waiter);
            return Some(Finished {
                arrival: None,
                delay,
            });
        }
        self.counters.accepted_bytes += u64::from(bytes);
        let port = self.port_mut()?;
        let last = port.carried.len().checked_sub(1);
        let before = last.and_then(|last| port.carried.get(last));
        let before = before.map_or(Time::ZERO, |before| before.arrival);
        let arrival = (end + propagation).max(before);
        port.carried.push_back(Carried {
            arrival,
            packet: waiter.packet,
        });
        port.waits.add(delay.saturating_sub(own));
        Some(Finished {
            arrival: Some(arrival),
            delay,
        })
    }

    /// The medium gives the packet that is held up at `now`.
    pub(crate) fn port_give_up(&mut self, now: Time) {
        if let Some((waiter, delay)) = self.port_let_go(now) {
            self.counters.queueing += delay;
            self.port_lose(&waiter);
        }
    }

    fn port_let_go(&mut self, now: Time) -> Option<(Waiter<P>, Duration)> {
        let port = self.port_mut()?;
        let held = port.held.take()?;
        if port.queue.packets() == 0 {
            port.idle_since = Some(now);
        }
        Some((held.waiter, now.since(held.waiter.entered)))
    }

    fn port_lose(&mut self, waiter: &Waiter<P>) {
        self.counters.lose(Verdict::ChannelLoss, waiter.meta.bytes);
        if let Some(port) = self.port_mut() {
            port.queue.report(waiter.packet, Verdict::ChannelLoss);
        }
    }

    /// Bytes on the wire that wait for the medium.
    pub(crate) fn port_backlog(&self) -> Bytes {
        let Some(port) = self.as_port() else {
            return Bytes::ZERO;
        };
        let (packets, bytes) = port.queue.backlog();
        let waiting = self.transmitter.wire.packets(packets, bytes);
        Bytes::new(port.on_air(waiting) + self.port_left())
    }

    /// Packets that wait for the medium, that which is held among them.
    pub(crate) fn port_packets(&self) -> u64 {
        self.unsent()
    }

    /// True if [`Link::poll_verdict`] has something to return.
    pub(crate) fn port_has_verdict(&self) -> bool {
        self.as_port().is_some_and(|port| port.queue.has_verdict())
    }

    /// The packet that a medium has taken and not finished.
    pub(super) fn held(&self) -> Option<&P> {
        Some(&self.held_packet()?.waiter.packet)
    }

    /// How long the packet that is held has been here at `now`.
    pub(super) fn held_since(&self, now: Time) -> Duration {
        let held = self.held_packet();
        held.map_or(Duration::ZERO, |held| now.since(held.waiter.entered))
    }

    /// Packets that have not gone: they wait, or a medium holds them.
    pub(super) fn unsent(&self) -> u64 {
        self.managed_queue().map_or(0, ManagedQueue::packets) + u64::from(self.held().is_some())
    }

    /// True for a port, which keeps how long its packets waited.
    pub(super) fn port_records_waits(&self) -> bool {
        self.as_port().is_some()
    }

    /// How long a share `quantile` (0 to 1) of its packets waited at most.
    pub(super) fn port_wait_quantile(&self, quantile: f64) -> Duration {
        let port = self.as_port();
        port.map_or(Duration::ZERO, |port| port.waits.quantile(quantile))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_waits_are_within_a_sixteenth() {
        let mut waits = Waits::new();
        for us in 1..=1000 {
            waits.add(Duration::from_micros(us));
        }
        for (quantile, ms) in [(0.5, 0.5), (0.95, 0.95), (1.0, 1.0)] {
            let got = waits.quantile(quantile).as_secs() * 1e3;
            assert!((got / ms - 1.0).abs() < 0.07, "{quantile}: {got} ms");
        }
        assert_eq!(Waits::new().quantile(0.5), Duration::ZERO);
        let mut none = Waits::new();
        none.add(Duration::ZERO);
        assert_eq!(none.quantile(0.5), Duration::ZERO);
    }
}
