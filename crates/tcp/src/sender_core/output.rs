//! Building, recording and sending data packets.

use super::Core;
use crate::endpoint::SYN_BYTES_OF_NS2;
use crate::packet::{BandwidthHeader, Packet, Transmit, ecn, flags, priority, timestamp};
use crate::scoreboard::Hole;
use bentpipe_cc::PathHeader;
use bentpipe_units::Time;

impl Core {
    /// Bytes of a full packet at the IP layer.
    pub(crate) fn full_packet(&self) -> u16 {
        (self.mss + self.headers.bytes) as u16
    }

    /// Sequence numbers of the next new segment, if data, buffer and receive
    /// window let it leave: its payload, and the FIN where it carries that.
    #[inline]
    pub(crate) fn next_new(&self) -> Option<u16> {
        let room = self.room();
        // A window below a segment is used in part (RFC 1122, 4.2.3.4).
        let len = self
            .snd
            .offered
            .saturating_sub(self.snd.next)
            .min(u64::from(self.mss))
            .min(room);
        let left = room.saturating_sub(self.snd.next - self.snd.una);
        // A FIN takes no room in a full segment, but a sequence number.
        let fin = u64::from(self.snd.next + len == self.snd.fin && len < left);
        // The MSS fits a u16 and leaves room for the FIN.
        (len > 0 && len <= left).then_some((len + fin) as u16)
    }

    /// The packet that carries `len` bytes from `sequence` on.
    #[inline]
    pub(crate) fn packet(&self, now: Time, sequence: u64, len: u16) -> Packet {
        let headers = &self.headers;
        let mut packet = Packet {
            sequence,
            payload: len,
            bytes: (u32::from(len) + headers.bytes) as u16,
            flags: flags::ACK,
            ..Packet::new(headers.destination)
        };
        if sequence + u64::from(len) > self.snd.fin {
            packet.flags |= flags::FIN;
            packet.payload -= 1;
            packet.bytes -= 1;
            packet.acknowledgement = headers.fin_acknowledges;
        }
        if headers.special {
            if headers.timestamps {
                packet.timestamp = timestamp(now);
                packet.timestamp_echo = headers.echo;
            }
            match headers.path {
                PathHeader::None => {}
                PathHeader::Congestion => self.write_congestion_header(&mut packet, len),
                PathHeader::Bandwidth => packet.set_bandwidth_header(BandwidthHeader::NEW),
            }
        }
        packet
    }

    /// Marks a data packet ECN-capable, with CWR after a reduction.
    #[inline]
    fn write_ecn(&mut self, packet: &mut Packet) {
        if self.headers.special && self.headers.ecn {
            packet.ecn = ecn::CAPABLE;
            if std::mem::take(&mut self.headers.cwr_pending) {
                packet.flags |= flags::CWR;
            }
        }
    }

    /// Sends the SYN of a one-way agent of ns-2 once more.
    pub(crate) fn send_syn_again<T: Transmit>(&mut self, now: Time, out: &mut T) {
        let mut packet = Packet::new(self.headers.destination);
        packet.flags = flags::SYN;
        packet.bytes = SYN_BYTES_OF_NS2;
        packet.timestamp = timestamp(now);
        out.transmit(packet);
    }

    /// Sends `len` new bytes.
    #[inline]
    pub(crate) fn send_new<T: Transmit>(&mut self, now: Time, len: u16, out: &mut T) {
        let mut packet = self.packet(now, self.snd.next, len);
        self.write_ecn(&mut packet);
        if self.snd.next < self.headers.low_priority_until {
            packet.priority |= priority::LOW;
        }
        if let Some(rate) = &mut self.rate {
            let outstanding = self.board.outstanding();
            if outstanding == 0 && self.snd.next > self.snd.first && rate.is_limited() {
                self.cc.on_restart(now, &mut self.window);
            }
            rate.sent(now, self.board.flight(), outstanding);
        }
        self.board.push(self.snd.next, len, now);
        self.snd.next += u64::from(len);
        self.note_sent(now, packet.payload, false);
        out.transmit(packet);
    }

    /// Sends `hole` again without marking it lost.
    pub(crate) fn send_again<T: Transmit>(&mut self, now: Time, hole: Hole, out: &mut T) {
        let mut packet = self.packet(now, hole.start, hole.len);
        self.write_ecn(&mut packet);
        self.board.sent_again(hole.index, now);
        self.note_sent(now, packet.payload, true);
        out.transmit(packet);
    }

    /// Retransmits `hole`, which then counts as lost and in flight.
    pub(crate) fn retransmit<T: Transmit>(&mut self, now: Time, hole: Hole, out: &mut T) {
        let packet = self.packet(now, hole.start, hole.len);
        if let Some(rate) = &mut self.rate {
            rate.resent(hole.index, now, self.board.flight());
        }
        self.board.resent(hole.index, now);
        self.note_sent(now, packet.payload, true);
        out.transmit(packet);
    }

    #[inline]
    fn note_sent(&mut self, now: Time, len: u16, again: bool) {
        self.counters.sent(len, again);
        self.last_sent_at = now;
        if self.timer.deadline == Time::MAX || self.timer.window_probes.is_some() {
            self.timer.window_probes = None;
            self.restart_timer(now);
        }
    }
}
