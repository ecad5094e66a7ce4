//! The packet that endpoints exchange: headers only, one cache line.

mod bandwidth;
mod congestion;
mod snack;
mod timestamps;

pub use bandwidth::BandwidthHeader;
pub use congestion::{CONGESTION_HEADER_BYTES, CongestionHeader, SACK_BLOCKS_BESIDE};
pub use snack::{CORRUPTION_BYTES, SNACK_SEGMENTS, Snack};
pub(crate) use timestamps::{echoed_at, is_older, timestamp};

/// Most SACK blocks in a packet; with timestamps no more fit the option space.
pub const MAX_SACK_BLOCKS: usize = 3;

/// Flag bits of [`Packet::flags`]: those of a TCP header, not all at their
/// places, and two that TCP-Peach puts into reserved bits of it.
pub mod flags {
    /// With payload, a probe ([`bentpipe_cc::Probes`]); without, the answer to
    /// one. It never is a duplicate ACK.
    pub const PROBE: u8 = 0x01;
    /// What the probe carries is to be thrown away; on the answer to a probe: the
    /// probe had normal priority. Without [`PROBE`]: an empty segment that is to be
    /// answered at once, to learn the receive window (as Linux does it, by a
    /// sequence number below the window).
    pub const DUMMY: u8 = 0x04;
    /// The sender of the packet has no more data: its FIN takes the sequence
    /// number after the payload.
    pub const FIN: u8 = 0x08;
    /// The connection does not exist, or no longer.
    pub const RST: u8 = 0x20;
    /// Synchronises sequence numbers, to open a connection.
    pub const SYN: u8 = 0x02;
    /// The acknowledgement field is valid.
    pub const ACK: u8 = 0x10;
    /// The receiver echoes a congestion mark (RFC 3168).
    pub const ECE: u8 = 0x40;
    /// The sender has reduced its congestion window (RFC 3168).
    pub const CWR: u8 = 0x80;
}

/// Values of [`Packet::ecn`], as in an IP header.
pub mod ecn {
    /// Not-ECT: routers must drop instead of marking.
    pub const NOT_CAPABLE: u8 = 0;
    /// ECT(0): routers may mark.
    pub const CAPABLE: u8 = 2;
    /// CE: a router has marked the packet.
    pub const MARKED: u8 = 3;
}

/// Values of [`Packet::priority`].
pub mod priority {
    /// Ordinary data and ACKs.
    pub const NORMAL: u8 = 0;
    /// The first to be dropped where a queue distinguishes priorities.
    pub const LOW: u8 = 1;
    /// Not a priority, but a bit in the same byte (flags has none left): a data packet carries a
    /// header for routers, or an ACK returns one (XCP, BA-TCP).
    pub const CONGESTION_HEADER: u8 = 0x80;
    /// Another: the ACK carries a selective negative acknowledgement (SCPS-TP).
    pub const SNACK: u8 = 0x40;
    /// Another, of a tunnel: no packet of its connection, but one that restores others which were lost.
    pub const REPAIR: u8 = 0x02;
    /// Another: IPsec protects all that follows the IP header of the packet.
    pub const SEALED: u8 = 0x04;
    /// Another, of the Satellite Transport Protocol: an empty packet of the sender
    /// is a poll, one of the receiver the status that answers it.
    pub const POLL: u8 = 0x08;
    /// Another: no packet of TCP, but a router's notification of congestion to
    /// the sender (backward ECN).
    pub const BACKWARD: u8 = 0x10;
    /// Another: on data, links report corrupted packets of the flow; on an ACK,
    /// what it names as missing was corrupted (SCPS-TP, TCP option 23), or, where it
    /// names nothing, so many packets of the connection were (PBS).
    pub const CORRUPTION: u8 = 0x20;
}

/// One selectively acknowledged range, in bytes above the packet's
/// acknowledgement number. A range below it is a duplicate report (D-SACK) and
/// wraps below zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// Sequence number of the first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// The largest window that can be advertised, about 2^30 (RFC 7323, section
/// 2.3). It also keeps SACK blocks within 31 bits of the acknowledgement.
pub(crate) const MAX_WINDOW: u32 = 65_535 << 14;

/// A packet. Payload never exists; sequence numbers are byte offsets of the
/// stream and do not wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// One cache line and aligned to it, so that moving a packet touches one line.
#[repr(C, align(64))]
pub struct Packet {
    /// Offset of the first payload byte.
    pub sequence: u64,
    /// Next byte expected by the sender of this packet.
    pub acknowledgement: u64,
    /// Selective acknowledgements, the most recent first. Congestion headers
    /// ([`CongestionHeader`]) and negative acknowledgements ([`Snack`]) take the
    /// place of some.
    pub sack: [SackBlock; MAX_SACK_BLOCKS],
    /// Timestamp of the sender, microseconds, wrapping.
    pub timestamp: u32,
    /// Timestamp that is echoed. Data packets echo one only on hosts whose
    /// receivers use it; with [`priority::CORRUPTION`] it counts the packets that
    /// links have reported.
    pub timestamp_echo: u32,
    /// Receive window of the sender of this packet, bytes.
    pub window: u32,
    /// The endpoint that the packet goes to.
    pub destination: u32,
    /// Payload, bytes.
    pub payload: u16,
    /// Bytes at the IP layer: payload and headers.
    pub bytes: u16,
    /// TCP flags: bits of [`flags`].
    pub flags: u8,
    /// Valid entries of `sack`.
    pub sack_count: u8,
    /// ECN field of the IP header: one of [`ecn`].
    pub ecn: u8,
    /// Drop priority: one of [`priority`].
    pub priority: u8,
}

const _: () = assert!(size_of::<Packet>() == 64);

impl Packet {
    /// An empty packet to `destination`.
    #[inline]
    #[must_use]
    pub const fn new(destination: u32) -> Packet {
        Packet {
            sequence: 0,
            acknowledgement: 0,
            sack: [SackBlock { start: 0, end: 0 }; MAX_SACK_BLOCKS],
            timestamp: 0,
            timestamp_echo: 0,
            window: 0,
            destination,
            payload: 0,
            bytes: 0,
            flags: 0,
            sack_count: 0,
            ecn: ecn::NOT_CAPABLE,
            priority: priority::NORMAL,
        }
    }

    /// True if this bit next to the [`priority`] is set.
    #[inline]
    #[must_use]
    pub const fn carries(&self, bit: u8) -> bool {
        self.priority & bit != 0
    }

    /// The SACK blocks as ranges of the stream: first byte, and one past the
    /// last.
    #[inline]
    pub(crate) fn sack_ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let absolute = |x: u32| {
            self.acknowledgement
                .wrapping_add_signed(i64::from(x.cast_signed()))
        };
        self.sack[..usize::from(self.sack_count)]
            .iter()
            .map(move |block| (absolute(block.start), absolute(block.end)))
    }

    /// True for the answer to a probe of low priority, or, if `high`, of normal
    /// priority.
    #[inline]
    pub(crate) const fn answers_probe(&self, high: bool) -> bool {
        self.has(flags::PROBE) && self.has(flags::DUMMY) == high
    }

    /// True for the empty segment that probes a closed receive window.
    pub(crate) const fn is_window_probe(&self) -> bool {
        self.flags & (flags::PROBE | flags::DUMMY) == flags::DUMMY
    }

    /// True if `flag` is set.
    #[inline]
    #[must_use]
    pub const fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Where an endpoint's packets go.
pub trait Transmit {
    /// Hands `packet` to the network at the current time.
    fn transmit(&mut self, packet: Packet);

    /// The payload of UDP that `packet`, which is transmitted next, stands for: for who watches.
    fn carries(&mut self, packet: &Packet, datagram: &[u8]) {
        let _ = (packet, datagram);
    }

    /// True if no more packets can be taken: the bound on packets in flight is
    /// reached, and the run is about to end with that error.
    fn is_full(&self) -> bool {
        false
    }
}

impl Transmit for Vec<Packet> {
    fn transmit(&mut self, packet: Packet) {
        self.push(packet);
    }
}
