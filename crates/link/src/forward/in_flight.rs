//! A packet on a link.

use crate::PacketMeta;
use bentpipe_units::{Duration, Time};

/// A packet on a link: what its next hop needs without access to the packet
/// itself, which by then has long left the cache.
#[derive(Clone, Copy, Debug)]
pub struct InFlight {
    /// Where the driver keeps the packet.
    pub handle: u32,
    /// The link that it is on, as an index over the hops of all paths.
    pub(super) hop: u32,
    /// What queues read of it. A middlebox may change its length.
    pub meta: PacketMeta,
    /// Microseconds from its entry into the link to its arrival, where it was
    /// offered ahead of time.
    pub(super) crossing_us: u32,
}

const _: () = assert!(size_of::<InFlight>() == 24);

impl InFlight {
    /// The packet that the driver keeps at `handle`, to be offered to the link
    /// of `hop`.
    #[inline]
    #[must_use]
    pub const fn new(handle: u32, hop: u32, meta: PacketMeta) -> InFlight {
        InFlight {
            handle,
            hop,
            meta,
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
        self.meta.bytes
    }

    /// Notes that the packet was offered ahead of time to a link that it enters at `enters` and
    /// leaves at `at`.
    #[inline(always)]
    pub(super) fn cross_from(&mut self, enters: Time, at: Time) {
        let crossing = at.since(enters).as_micros();
        self.crossing_us = u32::try_from(crossing).unwrap_or(u32::MAX);
    }

    /// When the packet, which arrives at `arrival`, enters its link, to the
    /// microsecond.
    #[must_use]
    pub fn enters(&self, arrival: Time) -> Time {
        let crossing = Duration::from_micros(u64::from(self.crossing_us));
        Time::from_nanos(arrival.as_nanos().saturating_sub(crossing.as_nanos()))
    }
}
