//! XCP: the router's part of the explicit control protocol.
//!
//! Sources: D. Katabi, M. Handley, C. Rohrs, "Congestion Control for High
//! Bandwidth-Delay Product Networks", SIGCOMM 2002; `xcp/xcpq.cc` of ns-2.35,
//! which states the laws in bytes per second. P-XCP: K. Zhou, K. L. Yeung,
//! V. O. K. Li, "P-XCP: a transport layer protocol for satellite IP networks",
//! GLOBECOM 2004.
//!
//! Packets carry a congestion header ([`XcpHeader`]): x, the sender's RTT over
//! its window; the RTT; the change of throughput that it asks for. Every packet
//! that arrives is counted (input += size, sum_x += x, sum_rx += min(RTT,
//! `longest_rtt`) x x). Once a control interval Te the router works out
//!
//! - d = sum_rx / sum_x, y = input / Te,
//! - phi = alpha (C - y) - beta Q / d, Q the smallest queue of the last Tq,
//! - shuffled = max(0, gamma y - |phi|),
//! - pos = max(0, phi) + shuffled, neg = max(0, -phi) + shuffled,
//! - Cp = pos / sum_x, Cn = neg / input,
//!
//! and a packet that leaves gets min(pos left, Cp x) - min(neg left, Cn size)
//! where it asked for no less. Where it asked for less, that stays, and the
//! difference counts as taken away. The next Te is d; Tq = max(2 ms, (d - q /
//! C) / 2), q the queue at that time.
//!
//! | parameter | default | |
//! |---|---|---|
//! | alpha | 0.4 | share of the free rate that is given out |
//! | beta | 0.226 | share of the standing queue that is taken back |
//! | gamma | 0.1 | share of the traffic that is shuffled between flows |
//! | longest_rtt | 1 s | longer RTTs count as this (`XCP_MAX_INTERVAL`) |
//! | p_xcp | false | scale the positive feedback |
//!
//! What the sources leave open, with the reading chosen:
//! - Before a packet has come Te, Tq and d are 50 ms, as in ns-2, which draws
//!   the first ends of Te and Tq from a normal distribution around that, so that
//!   routers do not step together. Here they are drawn uniformly from 40 to 60 ms.
//! - Sizes are those on the wire, framing included: C is the link's rate.
//! - The queue takes all traffic in one line. What carries no header counts in
//!   y and Q and gets no feedback (ns-2 gives TCP a line and a half of the link
//!   of its own, or none).
//! - Where the rate changes with time, C is that of the last arrival.
//! - A packet whose header has no RTT yet gets no feedback and is not counted
//!   in the sums of x.
//! - P-XCP: only the abstract is known, which scales the aggregate feedback by
//!   the number of rate-limited connections over all. Here: pos x N / (N - L),
//!   L of N connections being limited, and at most C - y in all. A connection
//!   counts as limited by a packet that asked for less than the router would
//!   have given. N is sum_x / Te (each sender's x sum to one Te), L the same over
//!   the packets that were limited, both of the last interval, so that no state
//!   is kept for a flow. At least a tenth of the connections counts as not
//!   limited.
//!
//! Timers need no events: between two packets nothing changes, so what Te and
//! Tq would have done is done, in their order, when the next packet comes or
//! goes. Once two intervals without a packet have passed every further one does
//! the same, and they are passed over at once.
//!
//! Example: C = 1.25 MB/s, y = 1 MB/s, Q = 15 000 B, d = 0.6 s: phi = 94 350 B/s,
//! shuffled 5 650 B/s.

use super::fifo::{AdmissionRule, Fifo, FifoRule, Waiter};
use super::{Decision, QueueContext, QueueEvents, QueueKind, QueueState};
use crate::{Limit, PacketMeta, Verdict};
use bentpipe_random::Stream;
use bentpipe_units::{Duration, Rate, Time};
use std::collections::VecDeque;

/// Te, Tq and d before a packet has come, seconds.
const INITIAL_INTERVAL: f64 = 0.05;
/// Te is at least this, seconds.
const SHORTEST_INTERVAL: f64 = 0.001;
/// Tq is at least this, seconds.
const SHORTEST_QUEUE_INTERVAL: f64 = 0.002;
/// P-XCP: at least this share of the connections counts as not limited.
const LEAST_UNLIMITED: f64 = 0.1;

/// Parameters of an XCP queue.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct XcpSettings {
    /// How much may wait; what does not fit is dropped.
    pub limit: Limit,
    /// Share of the free rate that is given out in a control interval.
    pub alpha: f64,
    /// Share of the standing queue that is taken back in a control interval.
    pub beta: f64,
    /// Share of the traffic that is shuffled in a control interval.
    pub gamma: f64,
    /// Longer RTTs of senders count as this.
    pub longest_rtt: Duration,
    /// Scales positive feedback where connections cannot use theirs (P-XCP).
    pub p_xcp: bool,
}

impl XcpSettings {
    /// The values of Katabi 2002 and ns-2.35 with this limit.
    #[must_use]
    pub fn new(limit: Limit) -> XcpSettings {
        XcpSettings {
            limit,
            alpha: 0.4,
            beta: 0.226,
            gamma: 0.1,
            longest_rtt: Duration::from_secs(1),
            p_xcp: false,
        }
    }
}

impl QueueKind for XcpSettings {
    const SIMULATED_ONLY: Option<&'static str> =
        Some("has a router of XCP, whose congestion header no Linux host sends");
    const READS_HEADERS: bool = true;

    fn name(&self) -> &'static str {
        if self.p_xcp { "P-XCP" } else { "XCP" }
    }

    fn limit(&self) -> Limit {
        self.limit
    }
}

impl AdmissionRule for Xcp {
    type Settings = XcpSettings;

    fn new(settings: &XcpSettings, link: &QueueContext<'_>) -> Xcp {
        let framing = u32::try_from(link.framing.get()).unwrap_or(u32::MAX);
        Xcp::new(settings, link.rate, framing, link.seed, link.name)
    }

    fn decide(&mut self, state: QueueState, meta: PacketMeta) -> Decision {
        let found = (state.packets, state.bytes);
        self.arrive(state.now, state.idle_since, meta, found);
        let decision = state.drop_tail(self.settings.limit, meta);
        if decision.accepts() {
            self.headers.push_back(self.announced.take());
        }
        decision
    }
}

impl<P: Copy> FifoRule<P> for Xcp {
    fn take(
        &mut self,
        fifo: &mut Fifo<P>,
        now: Time,
        events: &mut QueueEvents<'_, P>,
    ) -> Option<Waiter<P>> {
        let found = (fifo.packets(), fifo.bytes());
        let waiter = fifo.pop()?;
        if let Some(feedback) = self.depart(now, waiter.meta, found) {
            events.report(waiter.packet, Verdict::Feedback(feedback));
        }
        Some(waiter)
    }

    fn announce(&mut self, header: Option<XcpHeader>) {
        self.announced = header;
    }

    fn set_rate(&mut self, rate: Rate) {
        self.capacity = rate.bps() as f64 / 8.0;
    }
}

/// What a packet's congestion header says to a router. As on a wire, its numbers
/// have 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct XcpHeader {
    /// x: the sender's RTT over its window, seconds a packet.
    pub x: f32,
    /// The sender's RTT, seconds; zero before it has one.
    pub rtt: f32,
    /// The change of throughput that the packet asks for, bytes a second.
    pub request: f32,
}

/// The change of throughput that a router leaves a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// An f32, so that verdicts can be compared.
    bits: u32,
}

impl Feedback {
    /// `change` in bytes a second.
    #[must_use]
    pub fn new(change: f64) -> Feedback {
        let bits = (change as f32).to_bits();
        Feedback { bits }
    }

    /// Change of the sender's rate, bytes per second.
    #[must_use]
    pub fn change(self) -> f32 {
        f32::from_bits(self.bits)
    }
}

/// State of an XCP router at one link.
#[derive(Clone, Debug)]
pub(crate) struct Xcp {
    settings: XcpSettings,
    /// C, bytes a second.
    capacity: f64,
    /// Framing on a packet.
    framing: u32,
    /// The headers of the packets that wait, and that of the next to be offered.
    headers: VecDeque<Option<XcpHeader>>,
    announced: Option<XcpHeader>,
    /// The control interval and its end.
    te: f64,
    te_ends: Time,
    /// The next end of a queue interval.
    tq_ends: Time,
    /// Mean RTT d, seconds.
    mean_rtt: f64,
    /// Sums over the packets that arrived in this interval.
    input: f64,
    sum_x: f64,
    sum_rx: f64,
    /// Sums of x over the packets that left in it, and the limited ones of them.
    left_x: f64,
    limited_x: f64,
    /// Smallest queue so far in this Tq, and of the last: Q.
    least_queue: f64,
    queue: f64,
    cp: f64,
    cn: f64,
    pos_left: f64,
    neg_left: f64,
}

/// Feedback that a router distributes in an interval, bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Budget {
    pos: f64,
    neg: f64,
}

/// The aggregate feedback at rate `c` with `y` of traffic, both bytes a second, a persistent queue
/// of `queue` bytes, and mean RTT `d`, seconds. `unlimited` is the share of connections that can
/// use it.
fn budget(s: &XcpSettings, c: f64, y: f64, queue: f64, d: f64, unlimited: f64) -> Budget {
    let phi = s.alpha * (c - y) - s.beta * queue / d;
    let shuffled = (s.gamma * y - phi.abs()).max(0.0);
    let mut pos = phi.max(0.0) + shuffled;
    if s.p_xcp {
        let scaled = pos / unlimited.max(LEAST_UNLIMITED);
        pos = pos.max(scaled.min(c - y));
    }
    Budget {
        pos,
        neg: (-phi).max(0.0) + shuffled,
    }
}

impl Xcp {
    fn new(settings: &XcpSettings, rate: Rate, framing: u32, seed: u64, name: &str) -> Xcp {
        let mut stream = Stream::new(seed, &format!("xcp {name}"));
        let mut first = || seconds(INITIAL_INTERVAL * (0.8 + 0.4 * stream.uniform()));
        let (te_ends, tq_ends) = (Time::ZERO + first(), Time::ZERO + first());
        Xcp {
            settings: *settings,
            capacity: rate.bps() as f64 / 8.0,
            framing,
            headers: VecDeque::new(),
            announced: None,
            te: INITIAL_INTERVAL,
            te_ends,
            tq_ends,
            mean_rtt: INITIAL_INTERVAL,
            input: 0.0,
            sum_x: 0.0,
            sum_rx: 0.0,
            left_x: 0.0,
            limited_x: 0.0,
            least_queue: 0.0,
            queue: 0.0,
            cp: 0.0,
            cn: 0.0,
            pos_left: 0.0,
            neg_left: 0.0,
        }
    }

    /// A packet arrives at `now` and finds `packets` of `bytes` in all waiting;
    /// the transmitter has found nothing to send since `idle_since`, if it did.
    fn arrive(
        &mut self,
        now: Time,
        idle_since: Option<Time>,
        meta: PacketMeta,
        (packets, bytes): (u64, u64),
    ) {
        if let Some(since) = idle_since {
            self.pass(since, 0.0);
            self.least_queue = 0.0;
        }
        self.pass(now, self.on_wire(packets, bytes));
        self.input += self.on_wire(1, u64::from(meta.bytes));
        if let Some(header) = self.announced.filter(|h| h.rtt > 0.0) {
            let (x, rtt) = (f64::from(header.x), f64::from(header.rtt));
            self.sum_x += x;
            self.sum_rx += rtt.min(self.settings.longest_rtt.as_secs()) * x;
        }
    }

    /// The packet at the head leaves at `now`, `packets` of `bytes` in all,
    /// itself counted, waiting. Returns its feedback, if it has a header.
    fn depart(
        &mut self,
        now: Time,
        meta: PacketMeta,
        (packets, bytes): (u64, u64),
    ) -> Option<Feedback> {
        let queue = self.on_wire(packets, bytes);
        self.pass(now, queue);
        self.least_queue = self.least_queue.min(queue);
        let header = self.headers.pop_front().flatten()?;
        if header.rtt <= 0.0 {
            return Some(Feedback::new(0.0));
        }
        let size = self.on_wire(1, u64::from(meta.bytes));
        Some(Feedback::new(self.feedback(&header, size)))
    }

    fn feedback(&mut self, header: &XcpHeader, size: f64) -> f64 {
        let (x, request) = (f64::from(header.x), f64::from(header.request));
        let mut pos = self.pos_left.min(self.cp * x);
        let mut neg = self.neg_left.min(self.cn * size);
        let given = pos - neg;
        self.left_x += x;
        let change = if request >= given {
            given
        } else {
            self.limited_x += x;
            neg = self.neg_left.min(neg + (given - request));
            pos = request + neg;
            request
        };
        self.pos_left = (self.pos_left - pos).max(0.0);
        self.neg_left = (self.neg_left - neg).max(0.0);
        change
    }

    /// Bytes on the wire of `packets` packets of `bytes` in all.
    fn on_wire(&self, packets: u64, bytes: u64) -> f64 {
        (bytes + packets.saturating_mul(u64::from(self.framing))) as f64
    }

    /// Does what the timers do up to `now`, with `queue` bytes waiting all the
    /// time since the last packet came or went.
    fn pass(&mut self, now: Time, queue: f64) {
        loop {
            let next = self.te_ends.min(self.tq_ends);
            // Behind the end of time no timer moves on.
            if next > now || next == Time::MAX {
                return;
            }
            if self.is_steady(queue) {
                self.te_ends = after(self.te_ends, now, seconds(self.te));
                let tq = seconds(self.queue_interval(queue));
                self.tq_ends = after(self.tq_ends, now, tq);
                return;
            }
            // Te first where both end at once.
            if self.te_ends == next {
                self.end_interval();
                self.te_ends = next + seconds(self.te);
            } else {
                self.queue = self.least_queue;
                self.least_queue = queue;
                self.tq_ends = next + seconds(self.queue_interval(queue));
            }
        }
    }

    /// True if no timer would change anything but its own end.
    fn is_steady(&self, queue: f64) -> bool {
        self.input == 0.0
            && self.sum_x == 0.0
            && self.left_x == 0.0
            && self.mean_rtt == INITIAL_INTERVAL
            && self.te == INITIAL_INTERVAL
            && self.pos_left == 0.0
            && self.neg_left == 0.0
            && self.queue == queue
            && self.least_queue == queue
    }

    fn queue_interval(&self, queue: f64) -> f64 {
        ((self.mean_rtt - queue / self.capacity) / 2.0).max(SHORTEST_QUEUE_INTERVAL)
    }

    fn end_interval(&mut self) {
        self.mean_rtt = if self.sum_x > 0.0 {
            self.sum_rx / self.sum_x
        } else {
            INITIAL_INTERVAL
        };
        (self.pos_left, self.neg_left, self.cp, self.cn) = (0.0, 0.0, 0.0, 0.0);
        if self.input > 0.0 {
            let unlimited = if self.left_x > 0.0 {
                1.0 - self.limited_x / self.left_x
            } else {
                1.0
            };
            let y = self.input / self.te;
            let (s, c, d) = (&self.settings, self.capacity, self.mean_rtt);
            let budget = budget(s, c, y, self.queue, d, unlimited);
            (self.pos_left, self.neg_left) = (budget.pos, budget.neg);
            // As ns-2: without a header in the interval, a sum of one second.
            let sum_x = if self.sum_x > 0.0 { self.sum_x } else { 1.0 };
            self.cp = budget.pos / sum_x;
            self.cn = budget.neg / self.input;
        }
        (self.input, self.sum_x, self.sum_rx) = (0.0, 0.0, 0.0);
        (self.left_x, self.limited_x) = (0.0, 0.0);
        self.te = self.mean_rtt.max(SHORTEST_INTERVAL);
    }
}

/// The first of the times `from` + n `step` that lies after `now`.
fn after(from: Time, now: Time, step: Duration) -> Time {
    if from > now {
        return from;
    }
    let steps = now.since(from).as_nanos() / step.as_nanos().max(1) + 1;
    from + step * steps
}

/// To the nanosecond, and at least one.
fn seconds(s: f64) -> Duration {
    Duration::from_nanos((s * 1e9 + 0.5).max(1.0) as u64)
}

#[cfg(test)]
#[path = "xcp_tests.rs"]
mod tests;
