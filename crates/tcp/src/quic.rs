//! The sending half of a stream between two boxes of the gateway: QUIC's loss
//! detection, and no congestion control of its own.
//!
//! Source: RFC 9002, sections 5 and 6. A packet is lost once one that was sent
//! three packets later is acknowledged, or one that was sent later is and nine
//! eighths of a round trip have passed. Where no acknowledgement comes for a probe
//! timeout, the oldest two packets are sent again, and nothing is taken for lost.
//! Probes and then lost data are retransmitted before new data is sent.
//!
//! A stream sends when it has its turn ([`crate::Endpoint::take_turn`]), one packet a
//! turn: the boxes have one sender for all streams, which is paced at the rate of
//! the link.
//!
//! What differs from QUIC: each stream detects losses from its own packets, whereas an association
//! numbers the packets of all its streams together; receivers report three ranges at a time; a
//! packet carries data of one stream.

use crate::packet::{Packet, Transmit, echoed_at};
use crate::scoreboard::{Covered, Hole};
use crate::sender_core::Core;
use crate::stack::Stack;
use bentpipe_cc::Phase;
use bentpipe_units::{Duration, Time};
use std::collections::VecDeque;

/// Packets after one that are acknowledged before it is lost (RFC 9002, section
/// 6.1.1).
const PACKET_THRESHOLD: u64 = 3;

/// Packets that a probe timeout sends, at most (RFC 9002, section 6.2.4).
const PROBES: usize = 2;

/// A packet whose fate is open.
#[derive(Clone, Copy, Debug)]
struct Sent {
    number: u64,
    segment: u64,
    at: Time,
    /// A probe timeout sent it, with an earlier copy still in flight.
    probes: bool,
}

/// The state of the stream besides what all stacks share.
#[derive(Debug)]
pub(crate) struct Quic {
    /// In the order in which they were sent.
    sent: VecDeque<Sent>,
    /// The number of the next packet.
    next: u64,
    /// The last packet of each segment outstanding.
    last: VecDeque<u64>,
    /// The largest number that is acknowledged.
    largest: Option<u64>,
    /// When a packet is lost by time; [`Time::MAX`] if none may be.
    loss_at: Time,
    /// What was found lost is being repaired until this byte is acknowledged.
    recover: u64,
    /// Segments that a probe timeout sends again.
    probing: VecDeque<u64>,
    /// Packets that have arrived and were not asked for yet, where somebody asks: when they were sent,
    /// and their payload.
    arrivals: Option<Vec<(Time, u16)>>,
}

impl Quic {
    pub(crate) fn new() -> Quic {
        Quic {
            sent: VecDeque::new(),
            next: 0,
            last: VecDeque::new(),
            largest: None,
            loss_at: Time::MAX,
            recover: 0,
            probing: VecDeque::new(),
            arrivals: None,
        }
    }

    fn record(&mut self, now: Time, segment: u64, probes: bool) -> u64 {
        let number = self.next;
        self.next += 1;
        self.sent.push_back(Sent {
            number,
            segment,
            at: now,
            probes,
        });
        number
    }

    fn send_new<T: Transmit>(&mut self, s: &mut Core, now: Time, len: u16, out: &mut T) {
        let segment = s.board.first_number() + s.board.outstanding() as u64;
        s.send_new(now, len, out);
        let number = self.record(now, segment, false);
        self.last.push_back(number);
    }

    fn resend<T: Transmit>(
        &mut self,
        s: &mut Core,
        now: Time,
        hole: Hole,
        probes: bool,
        out: &mut T,
    ) {
        let segment = s.board.first_number() + hole.index as u64;
        s.retransmit(now, hole, out);
        let number = self.record(now, segment, probes);
        if let Some(last) = self.last.get_mut(hole.index) {
            *last = number;
        }
    }

    /// A segment is acknowledged whose last packet has this number. `echoed` is
    /// when the packet left that the acknowledgement answers. Returns how many packets are known to be
    /// lost by it: the copy before, where a probe brought the data.
    fn arrived(&mut self, number: Option<u64>, covered: &Covered, echoed: Time) -> u64 {
        // The copy may still be in flight.
        let is_last = covered.transmissions == 1
            || covered.sent_at.as_nanos() / 1_000 <= echoed.as_nanos() / 1_000;
        if !(covered.newly && is_last) {
            return 0;
        }
        self.largest = self.largest.max(number);
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.push((covered.sent_at, (covered.end - covered.start) as u16));
        }
        let Some(number) = number.filter(|_| covered.transmissions > 1) else {
            return 0;
        };
        let place = self.sent.binary_search_by_key(&number, |sent| sent.number);
        u64::from(place.is_ok_and(|place| self.sent[place].probes))
    }

    /// Takes the acknowledged segments off the record; true if there were any.
    fn update_record(&mut self, s: &mut Core, now: Time, packet: &Packet) -> bool {
        let echoed = echoed_at(now, packet);
        let mut news = packet.acknowledgement > s.snd.una;
        let mut lost = 0;
        if news {
            s.snd.una = packet.acknowledgement;
            s.rtt.sample(echoed, now, s.window.cwnd);
            s.board.acknowledge_with(packet.acknowledgement, |covered| {
                let number = self.last.pop_front();
                lost += self.arrived(number, &covered, echoed);
            });
        }
        for (start, end) in packet.sack_ranges() {
            if start < packet.acknowledgement {
                continue;
            }
            let (newly, _) = s.board.sack_with(start, end, |index, covered| {
                let number = self.last.get(index).copied();
                lost += self.arrived(number, &covered, echoed);
            });
            news |= newly > 0;
        }
        s.counters.lost += lost;
        news
    }

    /// Finds what is lost (RFC 9002, appendix A.10).
    fn find_lost(&mut self, s: &mut Core, now: Time) {
        self.loss_at = Time::MAX;
        let Some(largest) = self.largest else {
            return;
        };
        let rtt = s.rtt.smoothed().max(s.rtt.latest());
        let delay = (rtt + rtt / 8).max(Duration::from_millis(1));
        let before = s.board.lost();
        while let Some(&Sent {
            number,
            segment,
            at,
            ..
        }) = self.sent.front()
        {
            let view = s.board.view(segment);
            let last = view.and_then(|view| self.last.get(view.index));
            let is_open = last == Some(&number) && view.is_some_and(|view| !view.sacked);
            if is_open && number >= largest {
                break;
            }
            if is_open && largest - number < PACKET_THRESHOLD && at + delay > now {
                self.loss_at = at + delay;
                break;
            }
            if is_open {
                s.board.lose_number(segment);
                s.counters.lost += 1;
            }
            self.sent.pop_front();
        }
        if s.board.lost() > before && s.snd.una >= self.recover {
            self.recover = s.snd.next;
            s.counters.recoveries += 1;
        }
    }

    /// Sets the timer: to when a packet is lost by time, or else to the probe
    /// timeout, which counts from the last packet.
    fn set_timer(&self, s: &mut Core) {
        if s.board.outstanding() == 0 {
            if s.timer.window_probes.is_none() {
                s.timer.deadline = Time::MAX;
            }
            return;
        }
        s.timer.window_probes = None;
        s.timer.deadline = self.loss_at.min(s.last_sent_at + s.rtt.rto());
    }

    /// Nothing came back for a probe timeout: the oldest packets go again in the next turns.
    fn probe(&mut self, s: &mut Core) {
        s.counters.timeouts += 1;
        s.rtt.back_off();
        let first = s.board.first_number();
        let all = first..first + s.board.outstanding() as u64;
        let missing = all.filter(|segment| s.board.view(*segment).is_some_and(|it| !it.sacked));
        self.probing = missing.take(PROBES).collect();
    }

    /// The next segment to send for a probe timeout.
    fn next_probe(&mut self, s: &Core) -> Option<Hole> {
        while let Some(segment) = self.probing.pop_front() {
            let view = s.board.view(segment).filter(|view| !view.sacked);
            if let Some(view) = view {
                return Some(Hole {
                    index: view.index,
                    start: view.start,
                    len: view.len,
                });
            }
        }
        None
    }
}

impl Stack for Quic {
    fn uses_sack(&self, _: &Core) -> bool {
        true
    }

    fn start_at(&mut self, sequence: u64) {
        *self = Quic {
            recover: sequence,
            arrivals: self.arrivals.take(),
            ..Quic::new()
        };
    }

    /// A stream waits for its turn; all it does is ask after a closed window.
    fn send<T: Transmit>(&mut self, s: &mut Core, now: Time, _: &mut T) {
        if s.next_new().is_none() {
            s.arm_window_probe(now);
        }
        self.set_timer(s);
    }

    fn on_ack<T: Transmit>(&mut self, s: &mut Core, now: Time, packet: &Packet, out: &mut T) {
        if packet.acknowledgement > s.snd.next {
            return; // Acknowledges what was never sent.
        }
        s.counters.acks += 1;
        s.snd.window = u64::from(packet.window);
        let delivered = s.board.outstanding();
        if self.update_record(s, now, packet) {
            self.find_lost(s, now);
        }
        s.count_delivered(now, true, (delivered - s.board.outstanding()) as u64);
        self.send(s, now, out);
    }

    fn on_timeout<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        if s.board.outstanding() == 0 {
            s.probe_window(now, out);
            return;
        }
        if self.loss_at <= now {
            self.find_lost(s, now);
        } else {
            self.probe(s);
        }
        self.set_timer(s);
    }

    fn flight(&self, s: &Core) -> usize {
        s.board.flight()
    }

    fn phase(&self, s: &Core) -> Phase {
        if s.snd.una < self.recover {
            Phase::Recovery
        } else {
            s.cc.phase(&s.window)
        }
    }

    fn wants_turn(&self, s: &Core) -> bool {
        self.must_probe() || s.board.lost() > s.board.retransmitted() || s.next_new().is_some()
    }

    fn must_probe(&self) -> bool {
        !self.probing.is_empty()
    }

    fn log_arrivals(&mut self) {
        self.arrivals.get_or_insert_default();
    }

    fn take_arrivals(&mut self) -> Vec<(Time, u16)> {
        self.arrivals
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    fn take_turn<T: Transmit>(&mut self, s: &mut Core, now: Time, out: &mut T) {
        if let Some(hole) = self.next_probe(s) {
            self.resend(s, now, hole, true, out);
        } else if let Some(hole) = s.board.next_lost() {
            self.resend(s, now, hole, false, out);
        } else if let Some(len) = s.next_new() {
            self.send_new(s, now, len, out);
        }
        self.send(s, now, out);
    }
}

#[cfg(test)]
mod tests;
