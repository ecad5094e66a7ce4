//! A flow through split-connection PEPs: its endpoints and relays in a row.

use crate::connections::Connections;
use crate::options::RunError;
use crate::recorder::Recorder;
use bentpipe_cc::Controller;
use bentpipe_middlebox::split::Relay;
use bentpipe_outcome::LegOutcome;
use bentpipe_random::Stream;
use bentpipe_scenario::{Flow, Leg, Scenario, Split};
use bentpipe_tcp::{Endpoint, Packet, Transmit, Transport};
use bentpipe_units::{Bytes, Duration, Time};

/// The ends of a split flow. They are numbered along its way: 0 is its `from`,
/// 1 and 2 belong to the first PEP, and so on.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) server: Endpoint,
    pub(crate) client: Endpoint,
    pub(crate) relays: Vec<Relay>,
    /// By leg: when its sender had everything acknowledged.
    acknowledged_at: Vec<Option<Time>>,
    /// The series of every leg after the first.
    pub(crate) series: Vec<Recorder>,
}

impl Chain {
    pub(crate) fn new(
        flow: &Flow,
        split: &Split,
        index: usize,
        connections: &Connections,
        mut custom: Option<Controller>,
        seed: u64,
    ) -> Result<Chain, RunError> {
        let mut ends = Vec::with_capacity(2 * split.legs.len());
        for (l, leg) in split.legs.iter().enumerate() {
            let part = if l == 0 {
                String::new()
            } else {
                format!(" leg {l}")
            };
            let mut stream = Stream::new(seed, &format!("congestion control {}{part}", flow.name));
            for side in 0..2 {
                let mut controller = match custom.take() {
                    Some(own) => own,
                    None => leg
                        .transport
                        .controller()
                        .map_err(|e| RunError::Transport {
                            flow: flow.name.clone(),
                            reason: e.to_string(),
                        })?,
                };
                controller.seed(stream.bits());
                let end = 2 * l + side;
                let mut transport = leg.transport.clone();
                if let Some(bytes) = buffer_of(split, end) {
                    transport.send_buffer = bytes;
                }
                let peer = connections.endpoint(index, end ^ 1) as u32;
                ends.push(Endpoint::new(&transport, controller, peer));
            }
        }
        let mut ends = ends.into_iter();
        let mut next = || {
            ends.next().ok_or_else(|| RunError::Transport {
                flow: flow.name.clone(),
                reason: "a split flow has too few ends".to_owned(),
            })
        };
        let server = next()?;
        let mut relays = Vec::with_capacity(split.peps.len());
        for pep in &split.peps {
            relays.push(Relay::new(&pep.settings, [next()?, next()?]));
        }
        Ok(Chain {
            server,
            relays,
            client: next()?,
            acknowledged_at: vec![None; split.legs.len()],
            series: Vec::new(),
        })
    }

    /// How many ends there are.
    pub(crate) fn ends(&self) -> usize {
        2 * self.relays.len() + 2
    }

    pub(crate) fn end(&self, end: usize) -> &Endpoint {
        match end {
            0 => &self.server,
            _ if end + 1 == self.ends() => &self.client,
            _ => self.relays[(end - 1) / 2].end((end - 1) % 2),
        }
    }

    /// The same, to be told something.
    pub(crate) fn end_mut(&mut self, end: usize) -> &mut Endpoint {
        let last = self.ends() - 1;
        match end {
            0 => &mut self.server,
            _ if end == last => &mut self.client,
            _ => self.relays[(end - 1) / 2].end_mut((end - 1) % 2),
        }
    }

    /// The ends that the data go out from, leg after leg.
    pub(crate) fn senders(&self) -> impl Iterator<Item = &Endpoint> {
        (0..=self.relays.len()).map(|leg| self.end(2 * leg))
    }

    /// Makes every leg exist without a handshake.
    pub(crate) fn assume_open(&mut self, split: &Split) {
        let window = |end: usize| window_of(split, end);
        self.server.assume_window(window(1));
        self.server.assume_open();
        for (i, relay) in self.relays.iter_mut().enumerate() {
            relay.assume_open([window(2 * i), window(2 * i + 3)]);
        }
        let last = self.ends() - 1;
        self.client.assume_window(window(last - 1));
        self.client.assume_open();
    }

    pub(crate) fn on_packet<T: Transmit>(
        &mut self,
        now: Time,
        end: usize,
        packet: &Packet,
        net: &mut T,
    ) {
        match end {
            0 => self.server.on_packet(now, packet, net),
            _ if end + 1 == self.ends() => self.client.on_packet(now, packet, net),
            _ => self.relays[(end - 1) / 2].on_packet(now, (end - 1) % 2, packet, net),
        }
    }

    pub(crate) fn on_deadline<T: Transmit>(&mut self, now: Time, end: usize, net: &mut T) {
        match end {
            0 => self.server.on_deadline(now, net),
            _ if end + 1 == self.ends() => self.client.on_deadline(now, net),
            _ => self.relays[(end - 1) / 2].on_deadline(now, (end - 1) % 2, net),
        }
    }

    /// Notes what the sender of a leg has done, if `end` is one. `size` is what
    /// it is to send in all.
    pub(crate) fn note(&mut self, now: Time, end: usize, size: Option<Bytes>) {
        let leg = end / 2;
        let sender = self.end(2 * leg);
        if size.is_some_and(|size| sender.acknowledged() == size) {
            self.acknowledged_at[leg].get_or_insert(now);
        }
        let Some(at) = leg.checked_sub(1).filter(|&at| at < self.series.len()) else {
            return;
        };
        let (sender, receiver) = (self.end(2 * leg), self.end(2 * leg + 1));
        let (snapshot, twice) = (sender.snapshot(), receiver.duplicates_received());
        let delivered = receiver.delivered();
        let held = sender.unacknowledged();
        let mut recorder = std::mem::take(&mut self.series[at]);
        recorder.sender(now, &snapshot, self.end(2 * leg), twice);
        recorder.delivered(now, delivered.get(), size == Some(delivered));
        recorder.held(now, held);
        self.series[at] = recorder;
    }

    /// True once every leg's sender had everything acknowledged.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.acknowledged_at.iter().all(Option::is_some)
    }

    /// What each leg has done by `now`; `from` is when the transfer time begins.
    pub(crate) fn outcomes(
        &self,
        scenario: &Scenario,
        (index, split): (usize, &Split),
        from: Time,
        now: Time,
    ) -> Vec<LegOutcome> {
        let name = |leg: &Leg| {
            let node = |id: bentpipe_scenario::NodeId| &scenario.nodes[id.0 as usize].name;
            format!("{} > {}", node(leg.from), node(leg.to))
        };
        let each = split.legs.iter().enumerate();
        each.map(|(l, leg)| {
            let (sender, receiver) = (self.end(2 * l), self.end(2 * l + 1));
            let counters = sender.counters();
            let rtt = sender.rtt();
            let relay = l.checked_sub(1).map(|before| &self.relays[before]);
            LegOutcome {
                flow: index,
                leg: l,
                nodes: name(leg),
                transport: leg.transport.name.clone(),
                delivered: receiver.delivered(),
                acknowledged: sender.acknowledged(),
                acknowledged_after: self.acknowledged_at[l].map(|at| at.since(from)),
                sent: Bytes::new(counters.payload),
                packets_sent: counters.packets,
                retransmissions: counters.retransmissions,
                spurious_retransmissions: receiver.duplicates_received(),
                timeouts: counters.timeouts,
                recoveries: counters.recoveries,
                reductions: counters.reductions,
                min_rtt: (rtt.smallest() != Duration::MAX).then(|| rtt.smallest()),
                mean_rtt: rtt.mean(),
                max_cwnd: sender.max_cwnd(),
                max_buffered: relay.map_or(Bytes::ZERO, |r| r.occupancy(1).max()),
                mean_buffered: relay.map_or(Bytes::ZERO, |r| r.occupancy(1).mean(now)),
                max_waiting: relay.map_or(Bytes::ZERO, |r| r.most_waiting(0)),
            }
        })
        .collect()
    }
}

/// The relay buffer of the PEP that `end` belongs to.
fn buffer_of(split: &Split, end: usize) -> Option<Bytes> {
    let pep = split.peps.get(end.checked_sub(1)? / 2)?;
    Some(pep.settings.buffer)
}

/// The receive window of `end` before anything has arrived.
fn window_of(split: &Split, end: usize) -> Bytes {
    let pep = end.checked_sub(1).and_then(|at| split.peps.get(at / 2));
    match pep {
        Some(pep) => pep.settings.receive_buffer(),
        None => advertised(&split.legs[end / 2].transport),
    }
}

fn advertised(transport: &Transport) -> Bytes {
    let divisor = transport.profile.rules().receive_buffer_divisor.max(1);
    Bytes::new(transport.receive_buffer.get() / divisor)
}
