//! What a box sends to one other box: the turns of its streams, and repairs.

use super::WINDOW;
use super::coding::{Protection, packets_in};
use super::stream::Stream;
use super::turn::Left;
use super::turns::Turns;
use super::verified::Verified;
use crate::flow::Running;
use crate::network::Held;
use bentpipe_scenario::NodeId;
use bentpipe_tcp::{Endpoint, Packet};
use bentpipe_units::{Bytes, Duration, Rate, Time};

/// The association with one other box.
#[derive(Debug)]
pub(super) struct Association {
    /// Its number at its sender, and the other box.
    number: usize,
    pub(super) to: NodeId,
    turns: Turns,
    /// Bytes of its packets in flight.
    under_way: u64,
    /// No more may be in flight; until something happens at one of its streams.
    full: bool,
    pub(super) protection: Protection,
    /// What it has found out of the rate of its link, where nobody reports that.
    pub(super) verified: Option<Verified>,
    /// Bytes of a full packet.
    packet: u16,
}

/// What an association sends next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Leaving {
    /// A packet of the stream at this place.
    Stream(usize),
    /// A datagram.
    Datagram(Held),
    /// A packet that restores others.
    Repair(Packet),
}

impl Association {
    /// Number `number`, with the box at `to`, over a link of this round trip, where full packets have so
    /// many bytes.
    pub(super) fn new(
        number: usize,
        to: NodeId,
        rtt: Duration,
        packet: u16,
        verifies: bool,
    ) -> Association {
        Association {
            number,
            to,
            turns: Turns::new(),
            under_way: 0,
            full: false,
            protection: Protection::new(rtt, packet),
            verified: verifies.then(Verified::new),
            packet,
        }
    }

    /// When it has something to send; [`Time::MAX`]: once something happens at one of its streams.
    pub(super) fn ready_at(&mut self) -> Time {
        let at = match self.protection.has_repairs() || (!self.full && self.turns.is_waiting()) {
            true => Time::ZERO,
            false => self.protection.due(),
        };
        at.max(self.free_at())
    }

    /// When its next packet may leave at the rate that it has found.
    fn free_at(&self) -> Time {
        self.verified.as_ref().map_or(Time::ZERO, Verified::free_at)
    }

    /// What it may use of this rate of the link.
    fn limit(&self, rate: Rate) -> Rate {
        self.verified.as_ref().map_or(rate, |it| it.limit(rate))
    }

    /// A packet of it has left.
    pub(super) fn pass(&mut self, now: Time, bytes: Bytes, what: Left) {
        if what != Left::Repair {
            self.turns.pass(bytes.get());
        }
        if let Some(verified) = &mut self.verified {
            verified.sent(now, bytes, what == Left::Stream);
        }
    }

    /// Something has happened at the stream at `place`, on a link of this rate.
    pub(super) fn follow(
        &mut self,
        (now, rate): (Time, Rate),
        place: usize,
        stream: &mut Stream,
        flows: &mut [Running],
    ) {
        let Some(end) = stream.of_mut(flows) else {
            return;
        };
        let under_way = end.under_way().get();
        self.under_way = self.under_way + under_way - stream.under_way;
        stream.under_way = under_way;
        self.full = false;
        let lost = end.counters().lost - stream.lost;
        if lost > 0 {
            stream.lost += lost;
            self.protection.lost(lost);
            self.turns.lost(lost * u64::from(self.packet));
        }
        if let Some(verified) = &mut self.verified {
            end.log_arrivals();
            let header = end.header_bytes().get();
            let arrived = end.take_arrivals().into_iter();
            let arrived = arrived.map(|(at, payload)| (at, u64::from(payload) + header));
            verified.follow(now, arrived, lost * u64::from(self.packet), rate);
        }
        let answers = end.answered().get() - stream.answered.get();
        if answers > 0 {
            stream.answered = end.answered();
            let packets = packets_in(answers, end.header_bytes());
            self.protection.acknowledged(packets);
        }
        self.turns.follow(place, stream, flows);
    }

    /// What leaves next, over a link of this rate and round trip.
    pub(super) fn next(
        &mut self,
        now: Time,
        (rate, rtt): (Rate, Duration),
        streams: &mut [Stream],
        flows: &[Running],
    ) -> Option<Leaving> {
        if self.free_at() > now {
            return None;
        }
        let rate = self.limit(rate);
        let window = rate.bytes_in(rtt).get() * WINDOW;
        self.protection.protect(now, rate);
        if let Some(repair) = self.protection.take_repair() {
            return Some(Leaving::Repair(repair));
        }
        if self.under_way > window {
            let must = |stream: &Stream| {
                stream.association == self.number
                    && stream.of(flows).is_some_and(Endpoint::must_probe)
            };
            let probe = streams.iter().position(must);
            self.full = probe.is_none();
            return probe.map(Leaving::Stream);
        }
        let link = (rate, rtt);
        self.turns.release(now, link, streams, flows);
        if let Some(held) = self.turns.take_leaving() {
            return Some(Leaving::Datagram(held));
        }
        let in_flight = self.under_way > 0;
        let place = self.turns.next(now, (link, in_flight), streams, flows);
        // A turn that was given just now may be of a datagram.
        let held = || self.turns.take_leaving().map(Leaving::Datagram);
        place.map(Leaving::Stream).or_else(held)
    }

    /// A datagram of this subscriber waits for its turn.
    pub(super) fn push(&mut self, now: Time, subscriber: u32, held: Held) {
        self.turns.push(now, subscriber, held);
    }

    /// The stream at `place` has sent its packet.
    pub(super) fn sent(&mut self, place: usize, stream: &mut Stream, flows: &[Running]) {
        self.turns.sent(place, stream, flows);
    }
}
