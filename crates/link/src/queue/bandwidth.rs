//! Bandwidth awareness: a router that writes the available bandwidth and the
//! propagation delay into packets, for BA-TCP.
//!
//! Source: M. Gerla, W. Weng, R. Lo Cigno, "BA-TCP: a bandwidth aware TCP for
//! satellite networks", ICCCN 1999, of which the abstract could be read, and
//! Salamanca (2008), section 1.2.2: the network layer conveys the round-trip
//! propagation delay (RTPD) and the available bandwidth (ABW), in fields of an IPv6
//! extension header, to TCP receivers; connections of very different round trips
//! share a bottleneck fairly, and queues stay empty. How a router measures what is
//! available is not printed: **the law below is our reading.**
//!
//! A packet that leaves gets RTPD + the link's one-way delay and min(ABW, s), s being
//! the share of a connection. Once an interval the router works out
//!
//! - R = u C - q / interval - what came without a header, q the bytes that wait;
//! - a connection is limited elsewhere if it sent less than 4/5 of the last s;
//! - s = (R - the sum of what the limited ones sent) / the number of the others, at
//!   least 1, and no more than u C.
//!
//! A connection that was not there in the last interval changes s to s n / (n + 1)
//! at once, n being those known before.
//!
//! | parameter | default | |
//! |---|---|---|
//! | utilisation | 0.98 | u: the share of the rate that is given out |
//! | interval | 500 ms | about the longest round trip |
//!
//! - C, q and what came are bytes at the IP layer: the link's framing is taken off C
//!   by the mean size of the packets of the interval.
//! - Before the first packet s is u C.
//! - The router keeps a count for each connection with a header. That is more state
//!   than XCP's router has, and makes s exact after one interval.
//!
//! Example: 10 Mbit/s, u = 0.98, no queue: one connection gets 1.225 MB/s, two get
//! 612.5 kB/s each; if one of them sent 100 kB/s, the other gets 1.125 MB/s.

use super::fifo::{AdmissionRule, Fifo, FifoRule, Waiter};
use super::{Decision, QueueContext, QueueEvents, QueueKind, QueueState, XcpHeader};
use crate::{Limit, PacketMeta, Verdict};
use bentpipe_units::{Duration, Rate, Time};
use std::collections::{BTreeMap, VecDeque};

/// A connection that sends less than this part of its share is limited elsewhere.
const LIMITED: f64 = 0.8;

/// Parameters of a bandwidth-aware queue.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct BandwidthSettings {
    /// How much may wait; what does not fit is dropped.
    pub limit: Limit,
    /// Share of the rate that is given out.
    pub utilisation: f64,
    /// Time between two measurements.
    pub interval: Duration,
}

impl BandwidthSettings {
    /// The defaults with this limit.
    #[must_use]
    pub const fn new(limit: Limit) -> BandwidthSettings {
        BandwidthSettings {
            limit,
            utilisation: 0.98,
            interval: Duration::from_millis(500),
        }
    }
}

impl QueueKind for BandwidthSettings {
    const SIMULATED_ONLY: Option<&'static str> =
        Some("writes bandwidths into a header that no Linux host sends");
    const READS_HEADERS: bool = true;

    fn name(&self) -> &'static str {
        "bandwidth-aware"
    }

    fn limit(&self) -> Limit {
        self.limit
    }
}

/// Feedback that a router adds to the header of a departing packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// An f32, so that verdicts can be compared.
    share: u32,
    /// The link's one-way delay, microseconds.
    delay: u32,
}

impl Stamp {
    /// A share of `share` bytes a second behind a delay of `delay`.
    #[must_use]
    pub fn new(share: f64, delay: Duration) -> Stamp {
        let us = delay.as_nanos() / 1000;
        Stamp {
            share: (share as f32).to_bits(),
            delay: u32::try_from(us).unwrap_or(u32::MAX),
        }
    }

    /// Share of the connection, bytes per second.
    #[must_use]
    pub fn share(self) -> f32 {
        f32::from_bits(self.share)
    }

    /// One-way delay, microseconds.
    #[must_use]
    pub const fn delay_us(self) -> u32 {
        self.delay
    }
}

impl AdmissionRule for Router {
    type Settings = BandwidthSettings;

    fn new(settings: &BandwidthSettings, link: &QueueContext<'_>) -> Router {
        Router::new(settings, link)
    }

    fn decide(&mut self, state: QueueState, meta: PacketMeta) -> Decision {
        let has_header = std::mem::take(&mut self.announced);
        self.arrive(state.now, meta, has_header, state.bytes);
        let decision = state.drop_tail(self.settings.limit, meta);
        if decision.accepts() {
            self.headers.push_back(has_header);
        }
        decision
    }
}

impl<P: Copy> FifoRule<P> for Router {
    fn take(
        &mut self,
        fifo: &mut Fifo<P>,
        _: Time,
        events: &mut QueueEvents<'_, P>,
    ) -> Option<Waiter<P>> {
        let waiter = fifo.pop()?;
        if self.headers.pop_front() == Some(true) {
            let stamp = Stamp::new(self.share, self.delay);
            events.report(waiter.packet, Verdict::Stamped(stamp));
        }
        Some(waiter)
    }

    fn announce(&mut self, header: Option<XcpHeader>) {
        self.announced = header.is_some();
    }

    fn set_rate(&mut self, rate: Rate) {
        self.capacity = rate.bps() as f64 / 8.0;
    }
}

/// What came of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct Connection {
    /// Bytes in this interval.
    bytes: u64,
    /// It was there in the last one.
    known: bool,
}

/// State of the router at one link.
#[derive(Clone, Debug)]
pub(crate) struct Router {
    settings: BandwidthSettings,
    /// Whether each of the packets that wait has a header, and the next to come.
    headers: VecDeque<bool>,
    announced: bool,
    delay: Duration,
    /// C, bytes a second, framing included.
    capacity: f64,
    framing: u32,
    /// s, bytes a second.
    share: f64,
    ends: Time,
    connections: BTreeMap<u32, Connection>,
    /// Packets and bytes of this interval, and those of them without a header.
    packets: u64,
    bytes: u64,
    other: u64,
}

impl Router {
    fn new(settings: &BandwidthSettings, link: &QueueContext<'_>) -> Router {
        let capacity = link.rate.bps() as f64 / 8.0;
        Router {
            settings: *settings,
            headers: VecDeque::new(),
            announced: false,
            delay: link.one_way_delay,
            capacity,
            framing: u32::try_from(link.framing.get()).unwrap_or(u32::MAX),
            share: settings.utilisation * capacity,
            ends: Time::ZERO + settings.interval,
            connections: BTreeMap::new(),
            packets: 0,
            bytes: 0,
            other: 0,
        }
    }

    /// A packet arrives at `now` and finds `waiting` bytes.
    fn arrive(&mut self, now: Time, meta: PacketMeta, has_header: bool, waiting: u64) {
        if now >= self.ends {
            self.end_interval(now, waiting);
        }
        self.packets += 1;
        self.bytes += u64::from(meta.bytes);
        if !has_header {
            self.other += u64::from(meta.bytes);
            return;
        }
        let known = self.connections.len() as f64;
        let connection = self.connections.entry(meta.flow).or_default();
        if !connection.known && connection.bytes == 0 && known > 0.0 {
            self.share *= known / (known + 1.0);
        }
        connection.bytes += u64::from(meta.bytes);
    }

    /// Works s out from what came since the last time.
    fn end_interval(&mut self, now: Time, waiting: u64) {
        let interval = self.settings.interval;
        let passed = now.since(self.ends) + interval;
        let seconds = passed.as_secs();
        let framing = self.packets as f64 * f64::from(self.framing);
        let payload = if self.bytes > 0 {
            self.bytes as f64 / (self.bytes as f64 + framing)
        } else {
            1.0
        };
        let most = self.settings.utilisation * self.capacity * payload;
        let mut left = most - waiting as f64 / interval.as_secs() - self.other as f64 / seconds;
        let mut greedy = 0;
        for connection in self.connections.values() {
            let rate = connection.bytes as f64 / seconds;
            if connection.known && rate < LIMITED * self.share {
                left -= rate;
            } else {
                greedy += 1;
            }
        }
        // A connection always gets at least 1% of the rate.
        self.share = (left / f64::from(greedy.max(1))).clamp(0.01 * most, most);
        self.connections.retain(|_, c| c.bytes > 0);
        for connection in self.connections.values_mut() {
            *connection = Connection {
                bytes: 0,
                known: true,
            };
        }
        (self.packets, self.bytes, self.other) = (0, 0, 0);
        self.ends = now + interval;
    }
}

#[cfg(test)]
#[path = "bandwidth_tests.rs"]
mod tests;
