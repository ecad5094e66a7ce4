//! The congestion header of XCP in a [`Packet`].
//!
//! It has 20 bytes on the wire (draft-falk-xcp-spec; ns-2 defines the length and
//! does not count it). In memory it takes the place of SACK blocks, so that a
//! packet stays one cache line: data packets carry none, and an ACK with
//! feedback carries at most [`SACK_BLOCKS_BESIDE`] of them. That is also as many
//! as fit the option space of an ACK with timestamps whose congestion header is
//! an option.

use super::{MAX_SACK_BLOCKS, Packet, SackBlock, priority};

/// Bytes of the header on the wire.
pub const CONGESTION_HEADER_BYTES: u32 = 20;

/// Most SACK blocks in an ACK with feedback.
pub const SACK_BLOCKS_BESIDE: usize = MAX_SACK_BLOCKS - 1;

/// What a sender writes into a data packet for the routers on its way. The
/// numbers have 32 bits, as on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CongestionHeader {
    /// x: RTT over window, seconds a packet.
    pub x: f32,
    /// RTT, seconds; zero before there is one.
    pub rtt: f32,
    /// The change of throughput that is asked for, bytes a second; what routers
    /// left of it once they have seen it.
    pub change: f32,
}

impl Packet {
    /// Writes the header of a data packet.
    pub fn set_congestion_header(&mut self, header: CongestionHeader) {
        self.priority |= priority::CONGESTION_HEADER;
        self.sack[0] = SackBlock {
            start: header.x.to_bits(),
            end: header.rtt.to_bits(),
        };
        self.sack[1] = SackBlock {
            start: header.change.to_bits(),
            end: 0,
        };
        self.sack[2] = SackBlock::default();
    }

    /// The header of a data packet, if it has one.
    #[must_use]
    pub fn congestion_header(&self) -> Option<CongestionHeader> {
        let is_data = self.payload > 0
            && self.priority & priority::CONGESTION_HEADER != 0
            && !self.is_bandwidth_kind();
        is_data.then(|| CongestionHeader {
            x: f32::from_bits(self.sack[0].start),
            rtt: f32::from_bits(self.sack[0].end),
            change: f32::from_bits(self.sack[1].start),
        })
    }

    /// A router leaves the packet this change of throughput, bytes a second.
    pub fn leave_change(&mut self, change: f32) {
        if self.congestion_header().is_some() {
            self.sack[1].start = change.to_bits();
            self.sack[1].end = self.sack[1].end.saturating_add(1);
        }
    }

    /// What the routers on its way left a data packet, bytes a second; `None`
    /// where it passed none.
    #[must_use]
    pub fn change_left(&self) -> Option<f32> {
        let header = self.congestion_header()?;
        (self.sack[1].end > 0).then_some(header.change)
    }

    /// Writes what an ACK brings back, bytes a second.
    pub(crate) fn set_reverse_feedback(&mut self, change: f64) {
        self.priority |= priority::CONGESTION_HEADER;
        self.sack[SACK_BLOCKS_BESIDE] = SackBlock {
            start: (change as f32).to_bits(),
            end: 0,
        };
    }

    /// Feedback returned by an ACK, bytes per second.
    #[must_use]
    pub fn reverse_feedback(&self) -> Option<f32> {
        let is_ack = self.payload == 0 && self.priority & priority::CONGESTION_HEADER != 0;
        is_ack.then(|| f32::from_bits(self.sack[SACK_BLOCKS_BESIDE].start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routers_change_what_a_data_packet_asks_for() {
        let mut packet = Packet::new(1);
        packet.payload = 1000;
        assert_eq!(packet.congestion_header(), None);
        let header = CongestionHeader {
            x: 0.06,
            rtt: 0.6,
            change: 1e24,
        };
        packet.set_congestion_header(header);
        assert_eq!(packet.congestion_header(), Some(header));
        assert_eq!(packet.change_left(), None, "no router yet");
        packet.leave_change(-500.0);
        assert_eq!(packet.change_left(), Some(-500.0));
        assert_eq!(packet.reverse_feedback(), None);
    }

    #[test]
    fn feedback_stands_beside_two_sack_blocks() {
        let mut packet = Packet::new(0);
        let block = SackBlock { start: 1, end: 2 };
        (packet.sack[0], packet.sack[1], packet.sack_count) = (block, block, 2);
        packet.set_reverse_feedback(1234.5);
        assert_eq!(packet.reverse_feedback(), Some(1234.5));
        assert_eq!(packet.sack[..2], [block, block]);
        assert_eq!(packet.congestion_header(), None);
    }
}
