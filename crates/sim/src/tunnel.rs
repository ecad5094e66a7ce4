//! Senders that all connections between two PEPs share: those of a gateway's boxes, one at each end
//! of a tunnel for all of its streams, and those of PEPs that regulate each other by grants.
//!
//! A sender knows the rate of the slowest link on its path and is paced at [`SHARE`] of it, packet
//! by packet: data waits in the streams, and the next stream is chosen when a packet may leave. The
//! streams take turns, one packet each.
//!
//! The rate follows the timeline of the link, as in a gateway that the modem informs. For links
//! shared with others it is the full rate. Where the flow takes other ways later on, it is that of
//! the first.
//!
//! A box with tunnels to several others, such as a hub to its terminals, has one sender for those
//! whose slowest link is the same: they share its rate, as in a gateway whose associations take
//! turns at its socket. What is in flight is bounded for all of them together.
//!
//! - **In a tunnel** streams that have sent less than [`YOUNG`] bytes come first, so that a short
//!   request does not wait behind downloads. At most [`WINDOW`] bandwidth-delay products are in
//!   flight. Acknowledgements leave at once: they are small, and the sender counts its data alone.
//! - **With grants** a stream may send what it was granted: one that the receiving PEP grants nothing
//!   leaves its turns to the others. What is in flight has no other bound. While a link on the way
//!   is down nothing is sent, as the relay knows its link. Acknowledgements leave at
//!   once, too, but count: the next data packet is followed by a pause that they would have needed,
//!   no longer than the packet itself, so that data passes however many there are.

use crate::flow::{Ends, Running};
use crate::ideal;
use bentpipe_link::Timeline;
use bentpipe_scenario::{LinkId, NodeId, Scenario};
use bentpipe_tcp::Endpoint;
use bentpipe_units::{Bytes, Duration, Rate, Time};

/// Bytes of a stream that go before what other streams have sent more of.
pub(crate) const YOUNG: u64 = 64 * 1024;

/// The share of the link's rate that a sender uses, so that its queue stays empty.
const SHARE: f64 = 0.99;

/// Maximum of bandwidth-delay products in flight.
const WINDOW: u64 = 2;

/// An end of a stream at the sender.
#[derive(Clone, Copy, Debug)]
struct Stream {
    flow: usize,
    end: usize,
    wants: bool,
    /// Bytes of acknowledgements that are counted, with grants.
    answered: Bytes,
}

/// The sender of one box.
#[derive(Debug)]
struct Sender {
    /// The box, and that at the other end.
    nodes: [NodeId; 2],
    links: Vec<LinkId>,
    rtt: Duration,
    streams: Vec<Stream>,
    /// The stream that sent last.
    turn: usize,
    /// When the next packet may leave.
    free_at: Time,
    /// An event is due then.
    is_scheduled: bool,
    /// Its streams send what they were granted; else those of a tunnel.
    grants: bool,
    /// Bytes of acknowledgements since the last data packet, with grants.
    answers: u64,
}

/// All senders of a run.
#[derive(Debug)]
pub(crate) struct Tunnels {
    senders: Vec<Sender>,
    /// For each flow the senders that it has streams at, with their places there.
    of: Vec<Vec<(usize, usize)>>,
}

impl Tunnels {
    /// `None` where no PEP has a tunnel or grants, which costs nothing then.
    pub(crate) fn new(scenario: &Scenario, flows: &mut [Running]) -> Option<Box<Tunnels>> {
        let mut tunnels = Tunnels {
            senders: Vec::new(),
            of: vec![Vec::new(); flows.len()],
        };
        for (index, (flow, running)) in scenario.flows.iter().zip(flows).enumerate() {
            let (Some(split), Ends::Split(chain)) = (&flow.split, &mut running.ends) else {
                continue;
            };
            for (number, leg) in split.legs.iter().enumerate() {
                if !(leg.tunnel || leg.grants) {
                    continue;
                }
                let rtt = ideal::round_trip_of(scenario, &leg.forward, &leg.reverse);
                if leg.tunnel {
                    chain.join_tunnel(split, number, rtt);
                } else {
                    chain.join_grants(number);
                }
                let ways = [&leg.forward, &leg.reverse];
                for (side, way) in ways.into_iter().enumerate() {
                    let nodes = match side {
                        0 => [leg.from, leg.to],
                        _ => [leg.to, leg.from],
                    };
                    let at = tunnels.sender(scenario, nodes, way, rtt, leg.grants);
                    tunnels.join(at, index, 2 * number + side);
                }
            }
        }
        (!tunnels.senders.is_empty()).then(|| Box::new(tunnels))
    }

    /// The number of the sender between these PEPs.
    fn sender(
        &mut self,
        scenario: &Scenario,
        nodes: [NodeId; 2],
        way: &[LinkId],
        rtt: Duration,
        grants: bool,
    ) -> usize {
        let slowest = |way: &[LinkId]| {
            let rate = |id: &LinkId| scenario.links[id.0 as usize].settings.rate.bps();
            way.iter().copied().min_by_key(rate)
        };
        let shares = |sender: &Sender| {
            !grants && sender.nodes[0] == nodes[0] && slowest(&sender.links) == slowest(way)
        };
        let is_it =
            |sender: &Sender| sender.grants == grants && (sender.nodes == nodes || shares(sender));
        if let Some(known) = self.senders.iter().position(is_it) {
            return known;
        }
        self.senders.push(Sender {
            nodes,
            links: way.to_vec(),
            rtt,
            streams: Vec::new(),
            turn: 0,
            free_at: Time::ZERO,
            is_scheduled: false,
            grants,
            answers: 0,
        });
        self.senders.len() - 1
    }

    fn join(&mut self, at: usize, flow: usize, end: usize) {
        let streams = &mut self.senders[at].streams;
        self.of[flow].push((at, streams.len()));
        streams.push(Stream {
            flow,
            end,
            wants: false,
            answered: Bytes::ZERO,
        });
    }

    /// Something happened at `flow`. Returns the senders that are to be called, and
    /// when.
    pub(crate) fn after(
        &mut self,
        now: Time,
        flow: usize,
        flows: &[Running],
        mut call: impl FnMut(usize, Time),
    ) {
        for &(at, place) in &self.of[flow] {
            let sender = &mut self.senders[at];
            let stream = &mut sender.streams[place];
            let end = end(flows, stream);
            stream.wants = end.is_some_and(Endpoint::wants_turn);
            if let Some(end) = end.filter(|_| sender.grants) {
                let before = std::mem::replace(&mut stream.answered, end.answered());
                sender.answers += stream.answered.get() - before.get();
            }
            if stream.wants && !sender.is_scheduled {
                sender.is_scheduled = true;
                call(at, sender.free_at.max(now));
            }
        }
    }

    /// With grants: when sender `at` may send again, where a link on its way is down now. It is to
    /// be called then.
    pub(crate) fn resumes(&self, scenario: &Scenario, now: Time, at: usize) -> Option<Time> {
        let sender = self.senders.get(at).filter(|sender| sender.grants)?;
        let links = sender.links.iter().map(|id| &scenario.links[id.0 as usize]);
        let timelines = links.filter_map(|link| link.timeline.as_deref());
        let is_down = |timeline: &&Timeline| {
            let state = timeline.at(now);
            !state.up || state.rate.bps() == 0
        };
        // One that stays down for ever is tried, as by everybody else.
        timelines
            .filter(is_down)
            .filter_map(|t| t.next_change(now))
            .max()
    }

    /// Sender `at` may send a packet: the stream that does, as its flow and end.
    /// Without one the sender waits until something happens at one of its flows.
    pub(crate) fn next(
        &mut self,
        scenario: &Scenario,
        now: Time,
        at: usize,
        flows: &[Running],
    ) -> Option<(usize, usize)> {
        let sender = &mut self.senders[at];
        sender.is_scheduled = false;
        if !sender.grants {
            let limit = sender.rate(scenario, now).bytes_in(sender.rtt).get() * WINDOW;
            let ends = sender.streams.iter().filter_map(|s| end(flows, s));
            let under_way: u64 = ends.map(|end| end.under_way().get()).sum();
            if under_way > limit {
                return None;
            }
        }
        let place = sender.pick(flows)?;
        sender.turn = place;
        let Stream { flow, end, .. } = sender.streams[place];
        Some((flow, end))
    }

    /// Sender `at` has sent a packet of `bytes` at the IP layer.
    pub(crate) fn sent(&mut self, scenario: &Scenario, now: Time, at: usize, bytes: Bytes) {
        let sender = &mut self.senders[at];
        let answers = std::mem::take(&mut sender.answers).min(bytes.get());
        let bytes = bytes + Bytes::new(answers);
        sender.free_at = sender.free_at.max(now) + sender.time(scenario, now, bytes);
    }

    /// True if a stream of sender `at` is waiting; the sender is to be called at the
    /// time returned then.
    pub(crate) fn again(&mut self, at: usize) -> Option<Time> {
        let sender = &mut self.senders[at];
        let waits = sender.streams.iter().any(|stream| stream.wants);
        (waits && !std::mem::replace(&mut sender.is_scheduled, true)).then_some(sender.free_at)
    }
}

impl Sender {
    /// The stream that sends next: the one after the last, in a tunnel young ones first.
    fn pick(&self, flows: &[Running]) -> Option<usize> {
        let count = self.streams.len();
        let mut found = None;
        for place in (1..=count).map(|step| (self.turn + step) % count) {
            let stream = &self.streams[place];
            if !stream.wants {
                continue;
            }
            let sent = end(flows, stream).map_or(0, |end| end.counters().payload);
            if sent < YOUNG || self.grants {
                return Some(place);
            }
            found = found.or(Some(place));
        }
        found
    }

    /// The rate of the slowest link of its way at `now`.
    fn rate(&self, scenario: &Scenario, now: Time) -> Rate {
        let links = self.links.iter().map(|id| &scenario.links[id.0 as usize]);
        let rates = links.map(|link| match &link.timeline {
            Some(timeline) => timeline.at(now).rate,
            None => link.settings.rate,
        });
        let slowest = rates.min_by_key(|rate| rate.bps());
        slowest.filter(|rate| rate.bps() > 0).unwrap_or(STANDSTILL)
    }

    /// The time that a packet of `bytes` takes at its share of that rate.
    fn time(&self, scenario: &Scenario, now: Time, bytes: Bytes) -> Duration {
        let rate = Rate::from_bps_f64(self.rate(scenario, now).bps_f64() * SHARE);
        let links = self.links.iter().map(|id| &scenario.links[id.0 as usize]);
        let times = links.map(|link| link.settings.time_at(rate, bytes));
        times.max().unwrap_or_default()
    }
}

/// The rate at which a sender tries a link that has none for now.
const STANDSTILL: Rate = Rate::from_bps(12_000);

fn end<'a>(flows: &'a [Running], stream: &Stream) -> Option<&'a Endpoint> {
    match &flows.get(stream.flow)?.ends {
        Ends::Split(chain) => Some(chain.end(stream.end)),
        Ends::Tcp(_) | Ends::Datagrams { .. } | Ends::Stream(_) | Ends::Quic(_) | Ends::Ideal => {
            None
        }
    }
}
