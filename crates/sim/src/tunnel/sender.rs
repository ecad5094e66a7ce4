//! The sender of one box.

use super::SHARE;
use super::association::{Association, Leaving};
use super::stream::Stream;
use super::turn::{Left, Turn, number, number_of};
use crate::carried;
use crate::flow::Running;
use crate::network::Held;
use bentpipe_link::Timeline;
use bentpipe_scenario::{LinkId, NodeId, Scenario};
use bentpipe_tcp::Packet;
use bentpipe_tcp::packet::priority;
use bentpipe_units::{Bytes, Duration, Rate, Time};

/// The rate at which a sender tries a link that has none for now.
const STANDSTILL: Rate = Rate::from_bps(12_000);

/// The sender of one box.
#[derive(Debug)]
pub(super) struct Sender {
    /// The box, and that at the other end of the first association.
    pub(super) nodes: [NodeId; 2],
    pub(super) links: Vec<LinkId>,
    rtt: Duration,
    streams: Vec<Stream>,
    /// The association, or with grants the stream, that sent last.
    turn: usize,
    /// The stream that sent last.
    sending: usize,
    /// When the next packet may leave.
    free_at: Time,
    /// When a link on the way is up again, with grants, as far as one is known to be down.
    up_at: Time,
    /// When it is called next.
    wakes_at: Time,
    /// Its streams send what they were granted; else those of a tunnel.
    pub(super) grants: bool,
    /// Bytes of acknowledgements since the last data packet, with grants.
    answers: u64,
    /// The other boxes, in a tunnel.
    associations: Vec<Association>,
    /// Nobody reports the rate of the link, which is that of the start as far as it knows.
    verifies: bool,
}

impl Sender {
    pub(super) fn new(
        nodes: [NodeId; 2],
        links: Vec<LinkId>,
        rtt: Duration,
        (grants, verifies): (bool, bool),
    ) -> Sender {
        Sender {
            nodes,
            links,
            rtt,
            streams: Vec::new(),
            turn: 0,
            sending: 0,
            free_at: Time::ZERO,
            up_at: Time::ZERO,
            wakes_at: Time::MAX,
            grants,
            answers: 0,
            associations: Vec::new(),
            verifies,
        }
    }

    /// Adds the stream that is end `end` of `flow`, of full packets of `packet` bytes, to the box at
    /// `to`. Returns its place.
    pub(super) fn join(
        &mut self,
        (flow, end, packet): (usize, usize, u16),
        to: NodeId,
        subscriber: u32,
    ) -> usize {
        let association = match self.grants {
            true => 0,
            false => self.association(to, packet),
        };
        let stream = Stream::new(flow, end, association, subscriber);
        self.streams.push(stream);
        self.streams.len() - 1
    }

    /// The number of the association with the box at `to`, of full packets of `packet` bytes.
    pub(super) fn association(&mut self, to: NodeId, packet: u16) -> usize {
        let known = self.associations.iter().position(|it| it.to == to);
        known.unwrap_or_else(|| {
            let number = self.associations.len();
            let new = Association::new(number, to, self.rtt, packet, self.verifies);
            self.associations.push(new);
            number
        })
    }

    /// A datagram of this subscriber waits for its turn in an association.
    pub(super) fn push(&mut self, now: Time, association: usize, subscriber: u32, held: Held) {
        self.associations[association].push(now, subscriber, held);
    }

    /// Something has happened at the stream at `place`.
    pub(super) fn follow(
        &mut self,
        scenario: &Scenario,
        now: Time,
        place: usize,
        flows: &mut [Running],
    ) {
        // The rate that is verified does not change.
        let rate = match self.verifies {
            true => Rate::from_bps_f64(self.rate(scenario, now).bps_f64() * SHARE),
            false => STANDSTILL,
        };
        let stream = &mut self.streams[place];
        let end = stream.of(flows);
        stream.wants = end.is_some_and(bentpipe_tcp::Endpoint::wants_turn);
        if !self.grants {
            let association = &mut self.associations[stream.association];
            association.follow((now, rate), place, stream, flows);
        } else if let Some(end) = end {
            let before = std::mem::replace(&mut stream.answered, end.answered());
            self.answers += stream.answered.get() - before.get();
        }
    }

    /// When it wants to be called; [`Time::MAX`]: once something happens at one of its streams.
    fn next_call(&mut self, now: Time) -> Time {
        let ready = match self.grants {
            true if self.streams.iter().any(|stream| stream.wants) => self.up_at,
            true => Time::MAX,
            false => {
                let associations = self.associations.iter_mut();
                let ready = associations.map(Association::ready_at);
                ready.min().unwrap_or(Time::MAX)
            }
        };
        ready.max(self.free_at).max(now)
    }

    /// When it is to be called, where that is earlier than it already is.
    pub(super) fn wake(&mut self, now: Time) -> Option<Time> {
        // It cannot be earlier than this, and a hub has many associations to look at.
        if self.wakes_at <= self.free_at.max(now) {
            return None;
        }
        let at = self.next_call(now);
        (at < self.wakes_at).then(|| {
            self.wakes_at = at;
            at
        })
    }

    /// True if it was to be called now.
    pub(super) fn is_due(&mut self, now: Time) -> bool {
        let is_due = self.wakes_at == now;
        if is_due {
            self.wakes_at = Time::MAX;
        }
        is_due
    }

    /// What it sends now.
    pub(super) fn next(
        &mut self,
        scenario: &Scenario,
        now: Time,
        flows: &[Running],
    ) -> Option<Turn> {
        if self.free_at > now {
            return None;
        }
        let leaving = match self.grants {
            true => Leaving::Stream(self.next_granted(scenario, now)?),
            false => self.next_in_tunnel(scenario, now, flows)?,
        };
        let place = match leaving {
            Leaving::Stream(place) => place,
            Leaving::Datagram(held) => {
                let (mut packet, _) = carried::pack(held.packet);
                let protection = &mut self.associations[self.turn].protection;
                number(&mut packet, protection.next_number());
                protection.sent(now, None, packet, false);
                return Some(Turn::Datagram(held, packet));
            }
            Leaving::Repair(repair) => return Some(Turn::Repair(repair)),
        };
        self.sending = place;
        let stream = &self.streams[place];
        let association = self.associations.get(stream.association);
        Some(Turn::Stream {
            flow: stream.flow,
            end: stream.end,
            number: association.map_or(0, |it| it.protection.next_number()),
        })
    }

    /// The next association that has something to send does.
    fn next_in_tunnel(
        &mut self,
        scenario: &Scenario,
        now: Time,
        flows: &[Running],
    ) -> Option<Leaving> {
        let rate = self.rate(scenario, now);
        let link = (rate, self.rtt);
        let count = self.associations.len();
        for at in (1..=count).map(|step| (self.turn + step) % count) {
            let association = &mut self.associations[at];
            if let Some(leaving) = association.next(now, link, &mut self.streams, flows) {
                self.turn = at;
                return Some(leaving);
            }
        }
        None
    }

    /// The stream after the last one that has something to send.
    fn next_granted(&mut self, scenario: &Scenario, now: Time) -> Option<usize> {
        // One that stays down for ever is tried, as by everybody else.
        self.up_at = self.resumes(scenario, now).unwrap_or(now);
        if self.up_at > now {
            return None;
        }
        let count = self.streams.len();
        let mut places = (1..=count).map(|step| (self.turn + step) % count);
        self.turn = places.find(|place| self.streams[*place].wants)?;
        Some(self.turn)
    }

    /// When all links on its way are up again, where one is down now.
    fn resumes(&self, scenario: &Scenario, now: Time) -> Option<Time> {
        let links = self.links.iter().map(|id| &scenario.links[id.0 as usize]);
        let timelines = links.filter_map(|link| link.timeline.as_deref());
        let is_down = |timeline: &&Timeline| {
            let state = timeline.at(now);
            !state.up || state.rate.bps() == 0
        };
        timelines
            .filter(is_down)
            .filter_map(|t| t.next_change(now))
            .max()
    }

    /// A packet of so many bytes at the IP layer has left in a turn.
    pub(super) fn pass(&mut self, scenario: &Scenario, now: Time, bytes: Bytes, what: Left) {
        let answers = match self.grants {
            true => std::mem::take(&mut self.answers).min(bytes.get()),
            false => 0,
        };
        let bytes = bytes + Bytes::new(answers);
        self.free_at = self.free_at.max(now) + self.time(scenario, now, bytes);
        if !self.grants
            && let Some(association) = self.associations.get_mut(self.turn)
        {
            association.pass(now, bytes, what);
        }
    }

    /// The stream whose turn it was has sent this packet of its association.
    pub(super) fn sent(&mut self, now: Time, packet: Option<Packet>, flows: &[Running]) {
        let place = self.sending;
        let stream = &mut self.streams[place];
        let Some(association) = self.associations.get_mut(stream.association) else {
            return;
        };
        association.sent(place, stream, flows);
        if let Some(packet) = packet {
            let goes_on = stream
                .of(flows)
                .is_some_and(bentpipe_tcp::Endpoint::wants_turn);
            association
                .protection
                .sent(now, Some(place), packet, !goes_on);
        }
    }

    /// True if this end of a flow sends here, at `place`.
    pub(super) fn is_end(&self, place: usize, end: usize) -> bool {
        self.streams[place].end == end
    }

    /// A packet has arrived that the stream at `place`, or a box in its name, has sent. Adds what is
    /// restored by it.
    pub(super) fn arrived(&mut self, place: usize, packet: &Packet, restored: &mut Vec<Packet>) {
        let association = self.streams[place].association;
        self.arrived_of(association, packet, restored);
    }

    /// The same of a packet of this association.
    pub(super) fn arrived_of(
        &mut self,
        association: usize,
        packet: &Packet,
        restored: &mut Vec<Packet>,
    ) {
        let Some(association) = self.associations.get_mut(association) else {
            return;
        };
        if packet.carries(priority::REPAIR) {
            association.protection.repaired(packet, restored);
        } else if packet.sack_count == 0
            && let Some(number) = number_of(packet)
        {
            association.protection.arrived(number, restored);
        }
    }

    /// The rate of the slowest link of its way at `now`, as far as it is told.
    fn rate(&self, scenario: &Scenario, now: Time) -> Rate {
        let now = if self.verifies { Time::ZERO } else { now };
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
