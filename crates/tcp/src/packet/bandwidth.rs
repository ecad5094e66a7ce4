//! The bandwidth header of BA-TCP in a [`Packet`]: fields of an IPv6 extension
//! header that routers fill.
//!
//! In memory it takes the place of SACK blocks, as the congestion header of XCP
//! does. On the wire it counts with as many bytes as that one; an IPv6 packet is 20
//! bytes longer still, which is not counted, so that sizes are those of the other
//! transports.

use super::{Packet, SackBlock, priority};

/// In the last block: this is no congestion header.
const KIND: u32 = 1;

/// What the routers on its way have written into a data packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandwidthHeader {
    /// ABW: the smallest share that a router had, bytes a second; infinite before
    /// the first.
    pub available: f32,
    /// The propagation delay of the links behind those routers, microseconds, one
    /// way. RTPD is twice that.
    pub delay_us: u32,
}

impl BandwidthHeader {
    /// As a sender writes it.
    pub const NEW: BandwidthHeader = BandwidthHeader {
        available: f32::INFINITY,
        delay_us: 0,
    };
}

impl Packet {
    /// Writes the header of a data packet.
    pub fn set_bandwidth_header(&mut self, header: BandwidthHeader) {
        self.priority |= priority::CONGESTION_HEADER;
        self.sack[0] = SackBlock {
            start: header.available.to_bits(),
            end: header.delay_us,
        };
        self.sack[2] = SackBlock {
            start: KIND,
            end: 0,
        };
    }

    /// True if the header for routers of a data packet is this one.
    pub(super) const fn is_bandwidth_kind(&self) -> bool {
        self.sack[2].start == KIND
    }

    /// The header of a data packet, if it has one.
    #[must_use]
    pub fn bandwidth_header(&self) -> Option<BandwidthHeader> {
        let is_data = self.payload > 0 && self.carries(priority::CONGESTION_HEADER);
        (is_data && self.is_bandwidth_kind()).then(|| BandwidthHeader {
            available: f32::from_bits(self.sack[0].start),
            delay_us: self.sack[0].end,
        })
    }

    /// A router has `share` bytes a second for the connection, and a link of
    /// `delay_us` behind it.
    pub fn stamp(&mut self, share: f32, delay_us: u32) {
        if let Some(header) = self.bandwidth_header() {
            self.set_bandwidth_header(BandwidthHeader {
                available: header.available.min(share),
                delay_us: header.delay_us.saturating_add(delay_us),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::CongestionHeader;

    #[test]
    fn routers_add_delays_and_leave_the_smallest_share() {
        let mut packet = Packet::new(1);
        packet.payload = 1000;
        assert_eq!(packet.bandwidth_header(), None);
        packet.set_bandwidth_header(BandwidthHeader::NEW);
        assert_eq!(
            packet.congestion_header(),
            None,
            "no router of XCP reads it"
        );
        packet.stamp(2e6, 10_000);
        packet.stamp(1e6, 250_000);
        packet.stamp(3e6, 5_000);
        let header = packet.bandwidth_header().unwrap();
        assert_eq!((header.available, header.delay_us), (1e6, 265_000));
        packet.leave_change(5.0);
        assert_eq!(packet.bandwidth_header(), Some(header));
        let mut other = Packet::new(1);
        other.payload = 1000;
        other.set_congestion_header(CongestionHeader::default());
        other.stamp(1e6, 1);
        assert_eq!(other.bandwidth_header(), None);
    }
}
