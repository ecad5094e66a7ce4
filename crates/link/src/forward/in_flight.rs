//! A packet on a link.

use crate::PacketMeta;
use bentpipe_units::{Duration, Time};

/// A packet on a link: what its next hop needs without access to the packet
/// itself, which by then has long left the cache.
#[derive(Clone, Copy, Debug)]
pub struct InFlight {
    /// Where the driver keeps the packet.
    pub handle: u32,
    /// The link that it is on, as an index of [`Paths::hops`](super::Paths).
    pub(super) hop: u32,
    /// Bytes at the IP layer and, below them, the bits of its class.
    size: u32,
    /// Microseconds from its entry into the link to its arrival, which tells
    /// packets that were offered ahead of time and have not entered yet.
    pub(super) crossing_us: u32,
}

/// Bits of the class.
const CLASS_BITS: u32 = 8;
/// The packet may be marked.
const ECN_CAPABLE: u32 = 1;
/// The packet may be dropped first.
const LOW_PRIORITY: u32 = 2;

const _: () = assert!(size_of::<InFlight>() == 16);

impl InFlight {
    /// The packet that the driver keeps at `handle`, to be offered to
    /// the link of `hop`. Packets have 16 MB at most.
    #[inline]
    #[must_use]
    pub const fn new(handle: u32, hop: u32, meta: PacketMeta) -> InFlight {
        let mut size = meta.bytes << CLASS_BITS;
        if meta.ecn_capable {
            size |= ECN_CAPABLE;
        }
        if meta.low_priority {
            size |= LOW_PRIORITY;
        }
        InFlight {
            handle,
            hop,
            size,
            crossing_us: 0,
        }
    }

    /// The hop at which it is, an index over the hops of all paths.
    #[inline]
    #[must_use]
    pub const fn hop(&self) -> u32 {
        self.hop
    }

    /// Bytes at the IP layer.
    #[inline]
    #[must_use]
    pub const fn bytes(&self) -> u32 {
        self.size >> CLASS_BITS
    }

    /// A middlebox has changed its length.
    pub const fn set_bytes(&mut self, bytes: u32) {
        self.size = bytes << CLASS_BITS | self.size & ((1 << CLASS_BITS) - 1);
    }

    /// What queues must know about it.
    #[inline]
    #[must_use]
    pub const fn meta(&self) -> PacketMeta {
        PacketMeta {
            bytes: self.bytes(),
            ecn_capable: self.size & ECN_CAPABLE != 0,
            low_priority: self.size & LOW_PRIORITY != 0,
        }
    }

    /// When the packet, which arrives at `arrival`, enters its link, to the
    /// microsecond.
    #[must_use]
    pub fn enters(&self, arrival: Time) -> Time {
        let crossing = Duration::from_micros(u64::from(self.crossing_us));
        Time::from_nanos(arrival.as_nanos().saturating_sub(crossing.as_nanos()))
    }
}
