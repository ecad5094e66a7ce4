//! The selective negative acknowledgement of SCPS-TP in a [`Packet`].
//!
//! CCSDS 714.0-B, TCP option 21: kind, length, the offset and the size of the
//! first hole in segments (units of the MSS) above the acknowledgement number,
//! 16 bits each, and a bit vector of the segments behind that hole. In memory it
//! takes the place of two SACK blocks, which an ACK of such a receiver does not
//! carry; what a congestion header needs is left free.
//!
//! Left open, with the reading chosen: a bit of the vector is 1 where the segment has arrived and 0
//! where it is missing, the first behind the hole in the highest bit; zeros after the last 1 have
//! no meaning. At most [`SNACK_SEGMENTS`] segments are covered.
//!
//! Example: MSS 1000, acknowledgement 5000, bytes 7000 to 8999 missing: offset
//! 2, size 2.

use super::{Packet, SACK_BLOCKS_BESIDE, SackBlock, priority};

/// Segments that the bit vector covers at most.
pub const SNACK_SEGMENTS: u32 = 64;

/// Bytes of the option that reports corruption (23), padded.
pub const CORRUPTION_BYTES: u32 = 4;

/// A selective negative acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snack {
    /// Segments from the acknowledgement number to the first hole.
    pub offset: u16,
    /// Segments of the first hole.
    pub size: u16,
    /// Segments behind it: 1 arrived, 0 missing.
    pub vector: u64,
}

impl Snack {
    /// The option for the hole from byte `start` to `end` above the
    /// acknowledgement number: whole segments that cover it.
    #[must_use]
    pub fn hole(start: u64, end: u64, mss: u32) -> Snack {
        let mss = u64::from(mss.max(1));
        let offset = start / mss;
        let size = end.div_ceil(mss).saturating_sub(offset);
        Snack {
            offset: u16::try_from(offset).unwrap_or(u16::MAX),
            size: u16::try_from(size).unwrap_or(u16::MAX),
            vector: 0,
        }
    }

    /// Bytes of the bit vector that say something.
    #[must_use]
    pub const fn vector_bytes(self) -> u32 {
        (SNACK_SEGMENTS - self.vector.trailing_zeros()).div_ceil(8)
    }

    /// Bytes of the option, padded to a multiple of 4.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        (6 + self.vector_bytes()).next_multiple_of(4)
    }

    /// The holes, each by its first byte and the one behind its last, above
    /// the acknowledgement number.
    pub fn holes(self, mss: u32) -> impl Iterator<Item = (u64, u64)> {
        let mss = u64::from(mss);
        let first = u64::from(self.offset);
        let behind = first + u64::from(self.size);
        let covered = SNACK_SEGMENTS - self.vector.trailing_zeros();
        let missing =
            (0..covered).filter(move |i| self.vector >> (SNACK_SEGMENTS - 1 - i) & 1 == 0);
        let others = missing.map(move |i| (behind + u64::from(i), behind + u64::from(i) + 1));
        std::iter::once((first, behind))
            .chain(others)
            .map(move |(from, to)| (from * mss, to * mss))
    }
}

impl Packet {
    /// Writes the option into an ACK.
    pub fn set_snack(&mut self, snack: Snack) {
        self.priority |= priority::SNACK;
        self.sack[0] = SackBlock {
            start: u32::from(snack.offset),
            end: u32::from(snack.size),
        };
        // The two halves.
        self.sack[1] = SackBlock {
            start: (snack.vector >> 32) as u32,
            end: snack.vector as u32,
        };
    }

    /// Links report `packets` corrupted packets of this data packet's flow.
    pub fn report_corruption(&mut self, packets: u32) {
        if packets > 0 && self.payload > 0 {
            self.priority |= priority::CORRUPTION;
            self.timestamp_echo = packets;
        }
    }

    /// Corrupted packets of the flow that links report with this data packet.
    #[must_use]
    pub const fn corruption_reports(&self) -> u32 {
        if self.payload > 0 && self.carries(priority::CORRUPTION) {
            self.timestamp_echo
        } else {
            0
        }
    }

    /// Writes into an ACK how many packets of the connection were corrupted so far
    /// (explicit error notification). In memory it takes the place of the last
    /// SACK block.
    pub(crate) fn count_errors(&mut self, corrupted: u32) {
        self.priority |= priority::CORRUPTION;
        self.sack[SACK_BLOCKS_BESIDE].start = corrupted;
    }

    /// Packets of the connection that an ACK without negative acknowledgements says
    /// were corrupted so far; 0 where it does not say.
    #[must_use]
    pub const fn errors(&self) -> u32 {
        if self.names_corruption() && !self.carries(priority::SNACK) {
            self.sack[SACK_BLOCKS_BESIDE].start
        } else {
            0
        }
    }

    /// True for an ACK that says that what it names was corrupted, or that counts
    /// corrupted packets.
    #[must_use]
    pub const fn names_corruption(&self) -> bool {
        self.payload == 0 && self.carries(priority::CORRUPTION)
    }

    /// The option of an ACK, if it has one.
    #[must_use]
    pub fn snack(&self) -> Option<Snack> {
        (self.payload == 0 && self.carries(priority::SNACK)).then(|| Snack {
            offset: self.sack[0].start as u16,
            size: self.sack[0].end as u16,
            vector: u64::from(self.sack[1].start) << 32 | u64::from(self.sack[1].end),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hole_of_the_worked_example() {
        let ack = 5000;
        let snack = Snack::hole(7000 - ack, 9000 - ack, 1000);
        assert_eq!((snack.offset, snack.size), (2, 2));
        assert_eq!((snack.bytes(), snack.vector_bytes()), (8, 0));
        let holes: Vec<_> = snack.holes(1000).map(|(a, b)| (ack + a, ack + b)).collect();
        assert_eq!(holes, [(7000, 9000)]);
    }

    #[test]
    fn the_vector_tells_of_further_holes() {
        // Behind the hole: arrived, missing, missing, arrived, nothing known.
        let snack = Snack {
            vector: 0b1001 << 60,
            ..Snack::hole(0, 1448, 1448)
        };
        assert_eq!((snack.vector_bytes(), snack.bytes()), (1, 8));
        let holes: Vec<_> = snack
            .holes(1448)
            .map(|(a, b)| (a / 1448, b / 1448))
            .collect();
        assert_eq!(holes, [(0, 1), (2, 3), (3, 4)]);
    }

    #[test]
    fn a_packet_keeps_it_beside_a_congestion_header() {
        let snack = Snack {
            offset: 60_000,
            size: 3,
            vector: 0x8000_0000_0000_0001,
        };
        let mut packet = Packet::new(0);
        packet.set_snack(snack);
        packet.set_reverse_feedback(-2.0);
        assert_eq!(
            (packet.snack(), packet.reverse_feedback()),
            (Some(snack), Some(-2.0))
        );
        assert_eq!(packet.sack_count, 0);
    }

    #[test]
    fn short_segments_and_far_holes_are_covered() {
        let snack = Snack::hole(1500, 1600, 1000);
        assert_eq!((snack.offset, snack.size), (1, 1));
        let far = Snack::hole(u64::MAX - 10, u64::MAX, 1000);
        assert_eq!(far.offset, u16::MAX);
    }
}
