//! The information of an ACK for the algorithm of an agent: segments, round trips, flight.

use super::agent::Agent;
use super::kind::Kind;
use crate::packet::{Packet, echoed_at, flags};
use crate::sender_core::Core;
use bentpipe_cc::Ack;
use bentpipe_units::{Duration, Time};

impl Agent {
    /// Takes what is acknowledged off the record; returns the ACK as the
    /// congestion control receives it.
    pub(super) fn observe(
        &mut self,
        s: &mut Core,
        now: Time,
        packet: &Packet,
        advances: bool,
    ) -> Ack {
        let answers = packet.has(flags::PROBE);
        let duplicate = !advances
            && !answers
            && packet.acknowledgement == s.snd.una
            && packet.payload == 0
            && self.maxseq > 0;
        let acked = if advances {
            s.snd.una = packet.acknowledgement;
            s.board.acknowledge(s.snd.una)
        } else {
            crate::scoreboard::Acked::default()
        };
        let sacked = if self.kind == Kind::Sack1 && !self.timed_out && self.takes_sack(advances) {
            s.take_sack_blocks(packet).0
        } else {
            0
        };
        let number = self.highest_ack + i64::from(acked.segments);
        self.echoed = (s.headers.timestamps && advances && !self.is_partial(number))
            .then(|| echoed_at(now, packet));
        // The algorithm receives more round trips than the timer.
        let sent_at = if self.kind == Kind::Vegas {
            // What lay below does not matter here.
            let last = acked.last.filter(|last| last.transmissions == 1);
            last.map(|last| last.sent_at)
        } else if s.headers.timestamps && advances {
            Some(echoed_at(now, packet))
        } else {
            acked.sent_once_at
        };
        let delivered = acked.delivered + sacked;
        let (mut round_start, delivery_rate) =
            s.count_delivered(now, advances, u64::from(delivered));
        let mut rtt = sent_at.map(|sent| now.since(sent));
        if self.westwood.is_some() {
            rtt = self.timed_by(now, number, advances);
            round_start = rtt.is_some();
        }
        self.smallest = self.smallest.min(rtt.unwrap_or(Duration::MAX));
        let flight = (self.in_flight() as f64 - f64::from(acked.segments)).max(0.0);
        let (outstanding, head) = if self.kind == Kind::Vegas {
            (flight, s.board.head().or(Some(Self::NO_HEAD)))
        } else {
            (s.board.outstanding() as f64, s.board.head())
        };
        Ack {
            now,
            acked: f64::from(acked.segments),
            delivered: f64::from(delivered),
            duplicate,
            rtt,
            min_rtt: self.smallest,
            smoothed_rtt: s.rtt.smoothed(),
            delivery_rate,
            rate_sample: None,
            lost: 0.0,
            probes: u32::from(packet.answers_probe(false)),
            high_probes: u32::from(packet.answers_probe(true)),
            congestion_echo: packet.has(flags::ECE),
            flight_before: 0.0,
            flight,
            outstanding,
            head,
            cwnd_limited: true,
            round_start,
            in_recovery: self.recovering || self.inflation > 0,
            receive_window: s.receive_window(),
            mss: s.mss,
        }
    }

    /// The round trip that an ACK up to `number` gives the timer: the Westwood
    /// agents read no other.
    fn timed_by(&self, now: Time, number: i64, advances: bool) -> Option<Duration> {
        if !advances || self.is_partial(number) {
            return None;
        }
        let timed = self.timed.filter(|&(timed, _)| number >= timed);
        self.echoed
            .or(timed.map(|(_, since)| since))
            .map(|sent| now.since(sent))
    }
}
