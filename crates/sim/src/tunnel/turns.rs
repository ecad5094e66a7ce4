//! Who of an association sends next: two stages, as in the gateway.
//!
//! Streams wait for turns, which are given by the gateway's own rules ([`bentpipe_quic::turns`]):
//! subscribers share the association first, their streams second. A turn is for several packets, and
//! turns are given while QUIC has less to send than the link takes in [`AHEAD`]. QUIC sends from the
//! streams that have had turns one packet each, from young ones before others: so a stream that has many
//! turns at once, since its subscriber has no other, is held up for a moment by those of others.
//!
//! The gateway only estimates what QUIC has to send: what it was given, less what has left, of which it
//! takes a little more for headers than they are. So the estimate grows until QUIC has nothing left,
//! which the gateway learns with the next acknowledgement, and begins anew. What QUIC really has is
//! between all of that and nothing, and so is the time for which such a stream is held up.

use super::stream::Stream;
use crate::carried;
use crate::flow::Running;
use crate::network::Held;
use bentpipe_quic::Clock;
use bentpipe_quic::turns::{
    self, AHEAD, DATAGRAMS_AHEAD, HEADERS, LEAVING, Next, Queue, Side, WEIGHT,
};
use bentpipe_units::{Duration, Rate, Time};
use std::collections::VecDeque;

/// The part of a subscriber's share that its datagrams have where its streams want the rest, per cent.
const DATAGRAMS: u64 = 60;
/// The headers of UDP, which QUIC does not see.
const UDP: u64 = 28;
/// The places of the young and of the others among a subscriber's streams: those of the normal class.
const RANKS: (usize, usize) = (2, 3);

/// The turns of an association.
#[derive(Debug)]
pub(super) struct Turns {
    queue: Queue<u32, usize, Held>,
    /// Datagrams whose turn it is, and their bytes.
    leaving: VecDeque<Held>,
    leaving_bytes: u64,
    /// Bytes that QUIC has to send, as the gateway estimates it.
    backlog: u64,
    /// The streams that QUIC sends from, in turn: the young, and the others.
    sending: [VecDeque<usize>; 2],
    /// As far as it estimates QUIC has enough to send, although it has nothing.
    is_full: bool,
    clock: Clock,
}

impl Turns {
    pub(super) fn new() -> Turns {
        let mut queue = Queue::default();
        queue.set_datagrams(DATAGRAMS);
        Turns {
            queue,
            leaving: VecDeque::new(),
            leaving_bytes: 0,
            backlog: 0,
            sending: Default::default(),
            is_full: false,
            clock: Clock::new(),
        }
    }

    /// True if something waits.
    pub(super) fn is_waiting(&self) -> bool {
        !self.is_drained() || (!self.queue.is_empty() && !self.is_full)
    }

    /// Something has happened at the stream at `place`.
    pub(super) fn follow(&mut self, place: usize, stream: &mut Stream, flows: &[Running]) {
        stream.spend(flows);
        let Some(end) = stream.of(flows) else { return };
        let acks = end.counters().acks;
        if std::mem::replace(&mut stream.acks, acks) < acks && self.is_drained() {
            self.backlog = 0;
            self.is_full = false;
        }
        if !stream.wants {
            return;
        }
        let unsent = end.unsent().get();
        if unsent > stream.granted && !stream.waits {
            stream.waits = true;
            let rank = if stream.is_young() { RANKS.0 } else { RANKS.1 };
            self.queue.push(stream.subscriber, rank, place);
        }
        // What was lost needs no turn.
        let repeats = stream.granted == 0 && end.has_lost();
        if repeats && !stream.sends {
            self.send_from(place, stream);
        }
    }

    /// A datagram of this subscriber waits for its turn, or is dropped for want of room.
    pub(super) fn push(&mut self, now: Time, subscriber: u32, held: Held) {
        let (_, bytes) = carried::sizes(held.packet.bytes);
        let flow = held.packet.destination;
        let now = self.clock.instant(now);
        self.queue
            .push_datagram(subscriber, flow, held, bytes as usize, now);
    }

    /// The datagram that leaves now.
    pub(super) fn take_leaving(&mut self) -> Option<Held> {
        let held = self.leaving.pop_front()?;
        self.leaving_bytes -= carried::sizes(held.packet.bytes).1;
        Some(held)
    }

    /// True if QUIC has nothing to send.
    fn is_drained(&self) -> bool {
        self.leaving.is_empty() && self.sending.iter().all(VecDeque::is_empty)
    }

    /// A packet of so many bytes at the IP layer has left.
    pub(super) fn pass(&mut self, bytes: u64) {
        let bytes = bytes.saturating_sub(UDP);
        self.backlog = self.backlog.saturating_sub(bytes - bytes / HEADERS);
    }

    /// So many bytes of packets were lost, and are to be sent again.
    pub(super) fn lost(&mut self, bytes: u64) {
        self.backlog += bytes - bytes / HEADERS;
    }

    fn send_from(&mut self, place: usize, stream: &mut Stream) {
        stream.sends = true;
        self.sending[usize::from(!stream.goes_first)].push_back(place);
    }

    /// Gives turns while QUIC has little to send, on a link of this rate and round trip.
    pub(super) fn release(
        &mut self,
        now: Time,
        (rate, rtt): (Rate, Duration),
        streams: &mut [Stream],
        flows: &[Running],
    ) {
        self.is_full = false;
        let (ahead, turn) = turns::ahead(takes(rate, AHEAD));
        self.queue.set_credit(ahead / 2);
        let now = self.clock.instant(now);
        let rtt = std::time::Duration::from_nanos(rtt.as_nanos());
        // Those that quinn holds, and those that are about to be given to it.
        let most = turns::datagrams_ahead(takes(rate, DATAGRAMS_AHEAD)) + LEAVING;
        while self.backlog < ahead
            && self.leaving_bytes < most
            && let Some((subscriber, next)) = self.queue.pop(now, rtt, &mut 0)
        {
            let place = match next {
                Next::Stream(place) => place,
                Next::Datagram(held) => {
                    let (_, bytes) = carried::sizes(held.packet.bytes);
                    let side = Side::Datagrams;
                    self.queue.charge(subscriber, side, bytes, WEIGHT);
                    self.backlog += bytes;
                    self.leaving_bytes += bytes;
                    self.leaving.push_back(held);
                    continue;
                }
            };
            let stream = &mut streams[place];
            stream.waits = false;
            let unsent = stream.of(flows).map_or(0, |end| end.unsent().get());
            let has = unsent.saturating_sub(stream.granted);
            let bytes = (turn + self.queue.missed(subscriber, WEIGHT)).min(has);
            if bytes == 0 || !stream.wants {
                continue;
            }
            self.queue.charge(subscriber, Side::Streams, bytes, WEIGHT);
            self.backlog += bytes;
            stream.grant(bytes);
            if !stream.sends {
                self.send_from(place, stream);
            }
            if has > bytes {
                stream.waits = true;
                let rank = if stream.is_young() { RANKS.0 } else { RANKS.1 };
                self.queue.push(subscriber, rank, place);
            }
        }
    }

    /// The place of the stream that sends a packet, on a link of this rate and round trip, with packets
    /// in flight or none.
    pub(super) fn next(
        &mut self,
        now: Time,
        (link, in_flight): ((Rate, Duration), bool),
        streams: &mut [Stream],
        flows: &[Running],
    ) -> Option<usize> {
        loop {
            self.release(now, link, streams, flows);
            let mut sending = self.sending.iter_mut();
            let Some(place) = sending.find_map(VecDeque::pop_front) else {
                // Without anything in flight there is no acknowledgement to wait for.
                if !in_flight && self.backlog > 0 {
                    self.backlog = 0;
                    continue;
                }
                self.is_full = in_flight && !self.queue.is_empty();
                return None;
            };
            let stream = &mut streams[place];
            stream.sends = false;
            let end = stream.of(flows);
            let has_lost = end.is_some_and(bentpipe_tcp::Endpoint::has_lost);
            if stream.wants && (stream.granted > 0 || has_lost) {
                return Some(place);
            }
            // The other end has no room, or the stream has ended: others have its turn.
            let granted = std::mem::take(&mut stream.granted);
            self.backlog = self.backlog.saturating_sub(granted);
            self.queue.refund(stream.subscriber, granted, WEIGHT);
        }
    }

    /// The stream at `place` has sent its packet: it goes on after the others.
    pub(super) fn sent(&mut self, place: usize, stream: &mut Stream, flows: &[Running]) {
        stream.spend(flows);
        let has_lost = stream
            .of(flows)
            .is_some_and(bentpipe_tcp::Endpoint::has_lost);
        if (stream.granted > 0 || has_lost) && !stream.sends {
            self.send_from(place, stream);
        }
    }
}

/// Bytes that a link of this rate takes in a time.
fn takes(rate: Rate, time: std::time::Duration) -> u64 {
    // Milliseconds.
    rate.bytes_in(Duration::from_nanos(time.as_nanos() as u64))
        .get()
}
