//! A flow through split-connection PEPs: its endpoints and relays in a row.

use crate::connections::Connections;
use crate::options::RunError;
use crate::recorder::Recorder;
use bentpipe_cc::Controller;
use bentpipe_middlebox::split::{CONFIRMATION, Failure, Relay, Symptom};
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
    /// The failure of a PEP, where one is to come.
    detour: Option<Box<Detour>>,
    /// Bytes from one end-to-end confirmation to the next, and how many have been
    /// sent.
    confirms: Option<u64>,
    confirmed: u64,
}

/// What becomes of a flow when one of its PEPs fails.
#[derive(Debug)]
struct Detour {
    failure: Failure,
    /// The PEP that fails.
    pep: usize,
    state: DetourState,
    /// The ends of the connection past all PEPs.
    ends: [Endpoint; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DetourState {
    /// The PEP has not failed yet.
    Ahead,
    /// It has failed, and the ends do not know.
    Failed,
    /// The ends have a connection past it.
    Taken,
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
                    transport.set_send_buffer(bytes);
                }
                let peer = connections.endpoint(index, end ^ 1) as u32;
                ends.push(Endpoint::new(&transport, controller, peer));
            }
        }
        let detour = detour(flow, split, index, connections, seed)?;
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
            acknowledged_at: vec![None; split.connections().count()],
            series: Vec::new(),
            detour,
            confirms: split
                .peps
                .iter()
                .find_map(|pep| pep.settings.confirms)
                .map(Bytes::get),
            confirmed: 0,
        })
    }

    /// Makes leg `leg` a stream of the tunnel between the PEPs at its ends.
    pub(crate) fn join_tunnel(&mut self, split: &Split, leg: usize, rtt: Duration) {
        for end in [2 * leg, 2 * leg + 1] {
            let window = window_of(split, end ^ 1);
            if let Some(relay) = self.relays.get_mut((end - 1) / 2) {
                relay.join_tunnel((end - 1) % 2, rtt, window);
            }
        }
    }

    /// Lets the PEPs at the ends of leg `leg` regulate it by grants.
    pub(crate) fn join_grants(&mut self, leg: usize) {
        for end in [2 * leg, 2 * leg + 1] {
            if let Some(relay) = self.relays.get_mut((end - 1) / 2) {
                relay.join_grants((end - 1) % 2);
            }
        }
    }

    /// How many ends there are.
    pub(crate) fn ends(&self) -> usize {
        self.ends_of_legs() + if self.detour.is_some() { 2 } else { 0 }
    }

    /// How many of them are on the way through the PEPs.
    pub(crate) fn ends_of_legs(&self) -> usize {
        2 * self.relays.len() + 2
    }

    pub(crate) fn end(&self, end: usize) -> &Endpoint {
        if let Some(detour) = &self.detour
            && end >= self.ends_of_legs()
        {
            return &detour.ends[end % 2];
        }
        match end {
            0 => &self.server,
            _ if end + 1 == self.ends_of_legs() => &self.client,
            _ => self.relays[(end - 1) / 2].end((end - 1) % 2),
        }
    }

    /// The same, to be told something.
    pub(crate) fn end_mut(&mut self, end: usize) -> &mut Endpoint {
        let last = self.ends_of_legs() - 1;
        if let Some(detour) = &mut self.detour
            && end > last
        {
            return &mut detour.ends[end % 2];
        }
        match end {
            0 => &mut self.server,
            _ if end == last => &mut self.client,
            _ => self.relays[(end - 1) / 2].end_mut((end - 1) % 2),
        }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Endpoint> {
        (0..self.ends()).map(|end| self.end(end))
    }

    /// The ends that the data go out from, leg after leg, and that past the PEPs
    /// where it is taken.
    pub(crate) fn senders(&self) -> impl Iterator<Item = &Endpoint> {
        let legs = self.relays.len() + 1 + usize::from(self.has_detoured());
        (0..legs).map(|leg| self.end(2 * leg))
    }

    /// True once the connection past the PEPs is taken.
    pub(crate) fn has_detoured(&self) -> bool {
        let state = self.detour.as_ref().map(|detour| detour.state);
        state == Some(DetourState::Taken)
    }

    /// The host at the far end confirms what its application has, of `size` in
    /// all.
    pub(crate) fn confirm<T: Transmit>(&mut self, now: Time, size: Option<Bytes>, out: &mut T) {
        let (Some(every), Some(size)) = (self.confirms, size) else {
            return;
        };
        let delivered = self.client.delivered();
        let due = match delivered == size {
            true => size.get().div_ceil(every.max(1)),
            false => delivered.get() / every.max(1),
        };
        let bytes = CONFIRMATION.get() * due.saturating_sub(self.confirmed);
        self.confirmed = self.confirmed.max(due);
        if bytes > 0 {
            self.client.write(now, Bytes::new(bytes), out);
        }
    }

    /// True once the sender's host knows that the receiver's has `size`, where the
    /// hosts confirm; once the receiver's has it otherwise.
    pub(crate) fn is_complete(&self, size: Bytes) -> bool {
        let Some(every) = self.confirms else {
            return self.delivered() == size;
        };
        let all = CONFIRMATION.get() * size.get().div_ceil(every.max(1));
        self.server.delivered().get() >= all
    }

    /// Bytes that the application at the far end has, by both ways.
    pub(crate) fn delivered(&self) -> Bytes {
        let past = self
            .detour
            .as_ref()
            .map_or(Bytes::ZERO, |d| d.ends[1].delivered());
        self.client.delivered() + past
    }

    /// When [`Chain::on_deadline`] is to be called for `end`.
    pub(crate) fn deadline(&self, end: usize) -> Time {
        let own = self.end(end).deadline();
        let Some(detour) = self.detour.as_ref().filter(|_| end == 0) else {
            return own;
        };
        let Failure { at, gives_up, .. } = detour.failure;
        own.min(match detour.state {
            DetourState::Ahead => at,
            DetourState::Failed => at + gives_up,
            DetourState::Taken => Time::MAX,
        })
    }

    /// Lets a PEP fail that fails by `now`, and the ends reconnect once one of
    /// them knows. `size` is what is to be sent in all.
    pub(crate) fn follow_failure<T: Transmit>(
        &mut self,
        now: Time,
        size: Option<Bytes>,
        out: &mut T,
    ) {
        let delivered = self.client.delivered();
        let known = self.server.is_reset() || self.client.is_reset();
        let Some(detour) = &mut self.detour else {
            return;
        };
        let Failure {
            at,
            gives_up,
            symptom,
            ..
        } = detour.failure;
        if detour.state == DetourState::Ahead && now >= at {
            detour.state = DetourState::Failed;
            if let Some(relay) = self.relays.get_mut(detour.pep) {
                relay.fail(symptom == Symptom::Silence);
            }
        }
        if detour.state != DetourState::Failed || !(known || now >= at + gives_up) {
            return;
        }
        detour.state = DetourState::Taken;
        self.server.vanish();
        self.client.vanish();
        for relay in &mut self.relays {
            relay.fail(true);
        }
        let left = size.map_or(Bytes::MAX, |size| {
            Bytes::new(size.get().saturating_sub(delivered.get()))
        });
        let [from, _] = &mut detour.ends;
        from.open(now, out);
        from.write(now, left, out);
        if size.is_some() {
            from.close(now, out);
        }
    }

    /// Makes every leg exist without a handshake.
    pub(crate) fn assume_open(&mut self, split: &Split) {
        let window = |end: usize| window_of(split, end);
        self.server.assume_window(window(1));
        self.server.assume_open();
        for (i, relay) in self.relays.iter_mut().enumerate() {
            relay.assume_open([window(2 * i), window(2 * i + 3)]);
        }
        let last = self.ends_of_legs() - 1;
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
        let past = self.ends_of_legs();
        match end {
            0 => self.server.on_packet(now, packet, net),
            _ if end >= past => self.end_mut(end).on_packet(now, packet, net),
            _ if end + 1 == past => self.client.on_packet(now, packet, net),
            _ => self.relays[(end - 1) / 2].on_packet(now, (end - 1) % 2, packet, net),
        }
    }

    pub(crate) fn on_deadline<T: Transmit>(&mut self, now: Time, end: usize, net: &mut T) {
        let past = self.ends_of_legs();
        match end {
            0 => self.server.on_deadline(now, net),
            _ if end >= past => self.end_mut(end).on_deadline(now, net),
            _ if end + 1 == past => self.client.on_deadline(now, net),
            _ => self.relays[(end - 1) / 2].on_deadline(now, (end - 1) % 2, net),
        }
    }

    /// Notes what the sender of a leg has done, if `end` is one. `size` is what
    /// it is to send in all.
    pub(crate) fn note(&mut self, now: Time, end: usize, size: Option<Bytes>) {
        let leg = end / 2;
        let sender = self.end(2 * leg);
        let is_done = match size {
            // Past the PEPs goes what was left.
            Some(_) if end >= self.ends_of_legs() => sender.acknowledged() == sender.offered(),
            Some(size) => sender.acknowledged() == size,
            None => false,
        };
        if is_done {
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
        let legs = self.relays.len() + 1;
        if self.has_detoured() {
            return self.acknowledged_at[legs..].iter().all(Option::is_some);
        }
        self.acknowledged_at[..legs].iter().all(Option::is_some)
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
        let each = split.connections().take(self.senders().count()).enumerate();
        each.map(|(l, leg)| {
            let (sender, receiver) = (self.end(2 * l), self.end(2 * l + 1));
            let counters = sender.counters();
            let rtt = sender.rtt();
            let relay = l.checked_sub(1).and_then(|before| self.relays.get(before));
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

/// What becomes of the flow when its first PEP to fail does.
fn detour(
    flow: &Flow,
    split: &Split,
    index: usize,
    connections: &Connections,
    seed: u64,
) -> Result<Option<Box<Detour>>, RunError> {
    let Some(leg) = &split.bypass else {
        return Ok(None);
    };
    let failures = split.peps.iter().enumerate();
    let failures = failures.filter_map(|(pep, p)| Some((pep, p.settings.failure?)));
    let ahead = failures.filter(|(_, failure)| failure.at > flow.start);
    let Some((pep, failure)) = ahead.min_by_key(|(_, failure)| failure.at) else {
        return Ok(None);
    };
    let mut stream = Stream::new(seed, &format!("congestion control {} detour", flow.name));
    let mut end = |side: usize| -> Result<Endpoint, RunError> {
        let controller = leg.transport.controller();
        let mut controller = controller.map_err(|e| RunError::Transport {
            flow: flow.name.clone(),
            reason: e.to_string(),
        })?;
        controller.seed(stream.bits());
        let peer = connections.endpoint(index, (2 * split.legs.len() + side) ^ 1) as u32;
        Ok(Endpoint::new(&leg.transport, controller, peer))
    };
    Ok(Some(Box::new(Detour {
        failure,
        pep,
        state: DetourState::Ahead,
        ends: [end(0)?, end(1)?],
    })))
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
