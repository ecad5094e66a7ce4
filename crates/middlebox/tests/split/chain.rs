//! A server, one or two PEPs and a client, over legs of constant delay that may
//! lose packets.

use bentpipe_middlebox::split::{Relay, SplitSettings};
use bentpipe_tcp::{Endpoint, Packet, Transport, find_transport};
use bentpipe_units::{Bytes, Duration, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub(crate) fn cubic() -> Transport {
    let mut transport = find_transport("cubic").unwrap().transport();
    transport.delayed_ack.count = 1;
    transport
}

/// Decides whether a packet to an end is lost.
type Losses = dyn FnMut(usize, &Packet) -> bool;

/// Ends are numbered along the way: 0 is the server, 1 and 2 the PEP's, and so
/// on; the last is the client.
pub(crate) struct Chain {
    pub(crate) server: Endpoint,
    pub(crate) client: Endpoint,
    pub(crate) relays: Vec<Relay>,
    pub(crate) now: Time,
    /// One way, by leg.
    delays: Vec<Duration>,
    queue: BinaryHeap<Reverse<(Time, u64, usize)>>,
    packets: Vec<Packet>,
    order: u64,
    losses: Box<Losses>,
    /// Ends that send in turns, with the time of a packet and when the next may leave.
    turns: Vec<(usize, Duration, Time)>,
}

fn endpoint(transport: &Transport, peer: usize, send_buffer: Option<Bytes>) -> Endpoint {
    let mut transport = transport.clone();
    if let Some(bytes) = send_buffer {
        transport.send_buffer = bytes;
    }
    Endpoint::new(&transport, transport.controller().unwrap(), peer as u32)
}

impl Chain {
    /// A chain of legs with these one-way delays in ms.
    pub(crate) fn new(
        delays: &[u64],
        settings: &SplitSettings,
        losses: impl FnMut(usize, &Packet) -> bool + 'static,
    ) -> Chain {
        Chain::with(delays, settings, |_| cubic(), losses)
    }

    /// The same with the transport of each leg.
    pub(crate) fn with(
        delays: &[u64],
        settings: &SplitSettings,
        transport: impl Fn(usize) -> Transport,
        losses: impl FnMut(usize, &Packet) -> bool + 'static,
    ) -> Chain {
        let last = 2 * delays.len() - 1;
        let end = |end: usize, buffer| endpoint(&transport(end / 2), end ^ 1, buffer);
        let relays = (1..delays.len()).map(|leg| {
            let buffer = Some(settings.buffer);
            let ends = [end(2 * leg - 1, buffer), end(2 * leg, buffer)];
            Relay::new(settings, ends)
        });
        Chain {
            server: end(0, None),
            client: end(last, None),
            relays: relays.collect(),
            now: Time::ZERO,
            delays: delays.iter().map(|&ms| Duration::from_millis(ms)).collect(),
            queue: BinaryHeap::new(),
            packets: Vec::new(),
            order: 0,
            losses: Box::new(losses),
            turns: Vec::new(),
        }
    }

    /// The relays at the ends of leg `leg` regulate it by grants; a packet takes `time`.
    pub(crate) fn grant(&mut self, leg: usize, time: Duration) {
        for end in [2 * leg, 2 * leg + 1] {
            self.relays[(end - 1) / 2].join_grants((end - 1) % 2);
            self.turns.push((end, time, Time::ZERO));
        }
    }

    /// When the next turn is due, and at which place of `turns`.
    fn next_turn(&self) -> Option<(Time, usize)> {
        let turns = self.turns.iter().enumerate();
        let due = turns.filter(|(_, turn)| {
            let end = turn.0;
            self.relays[(end - 1) / 2].end((end - 1) % 2).wants_turn()
        });
        due.map(|(place, turn)| (turn.2.max(self.now), place)).min()
    }

    fn take_turn(&mut self, at: Time, place: usize) {
        let (end, time, _) = self.turns[place];
        let mut out = Vec::new();
        let relay = &mut self.relays[(end - 1) / 2];
        relay.end_mut((end - 1) % 2).take_turn(at, &mut out);
        self.turns[place].2 = at + time;
        self.now = at;
        self.carry(out);
    }

    pub(crate) fn last(&self) -> usize {
        2 * self.delays.len() - 1
    }

    /// Lets the server (0) or the client use its endpoint now.
    pub(crate) fn act(
        &mut self,
        end: usize,
        act: impl FnOnce(&mut Endpoint, Time, &mut Vec<Packet>),
    ) {
        let mut out = Vec::new();
        let endpoint = if end == 0 {
            &mut self.server
        } else {
            &mut self.client
        };
        act(endpoint, self.now, &mut out);
        self.carry(out);
    }

    /// PEP `index` gives up.
    pub(crate) fn abort(&mut self, index: usize) {
        let mut out = Vec::new();
        self.relays[index].abort(self.now, &mut out);
        self.carry(out);
    }

    fn carry(&mut self, packets: Vec<Packet>) {
        for packet in packets {
            let to = packet.destination as usize;
            if (self.losses)(to, &packet) {
                continue;
            }
            self.order += 1;
            self.packets.push(packet);
            let at = self.now + self.delays[to / 2];
            self.queue
                .push(Reverse((at, self.order, self.packets.len() - 1)));
        }
    }

    fn deadline(&self, end: usize) -> Time {
        match end {
            0 => self.server.deadline(),
            _ if end == self.last() => self.client.deadline(),
            _ => self.relays[(end - 1) / 2].deadline((end - 1) % 2),
        }
    }

    pub(crate) fn step(&mut self, until: Time) -> bool {
        let arrival = self.queue.peek().map_or(Time::MAX, |Reverse((at, ..))| *at);
        let timer = (0..=self.last())
            .min_by_key(|&end| self.deadline(end))
            .unwrap_or(0);
        let next = arrival.min(self.deadline(timer));
        if let Some((at, place)) = self
            .next_turn()
            .filter(|(at, _)| *at < next && *at <= until)
        {
            self.take_turn(at, place);
            return true;
        }
        if next > until {
            return false;
        }
        self.now = next;
        let (last, mut out) = (self.last(), Vec::new());
        if arrival == next {
            let Some(Reverse((_, _, i))) = self.queue.pop() else {
                return false;
            };
            let packet = self.packets[i];
            match packet.destination as usize {
                0 => self.server.on_packet(next, &packet, &mut out),
                end if end == last => self.client.on_packet(next, &packet, &mut out),
                end => self.relays[(end - 1) / 2].on_packet(next, (end - 1) % 2, &packet, &mut out),
            }
        } else {
            match timer {
                0 => self.server.on_deadline(next, &mut out),
                end if end == last => self.client.on_deadline(next, &mut out),
                end => self.relays[(end - 1) / 2].on_deadline(next, (end - 1) % 2, &mut out),
            }
        }
        self.carry(out);
        true
    }

    pub(crate) fn run_for(&mut self, time: Duration) {
        let end = self.now + time;
        while self.step(end) {}
        self.now = end;
    }

    pub(crate) fn run_ms(&mut self, ms: u64) {
        self.run_for(Duration::from_millis(ms));
    }
}
