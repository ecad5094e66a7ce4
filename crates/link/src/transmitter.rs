//! The transmitter: puts packets on the wire, one after the other.

use crate::LinkSettings;
use bentpipe_units::{Bytes, Duration, Rate, Time};

/// What packets take on the wire of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    /// Bytes that framing adds to a packet.
    framing: u32,
    preamble: Duration,
}

impl Wire {
    pub(crate) fn new(settings: &LinkSettings) -> Wire {
        Wire {
            framing: u32::try_from(settings.framing.get()).unwrap_or(u32::MAX),
            preamble: settings.preamble,
        }
    }

    /// The time that the preambles of `packets` packets take.
    #[inline]
    pub(crate) fn preambles(self, packets: u64) -> Duration {
        self.preamble * packets
    }

    /// Bytes of a packet of `bytes` on the wire.
    #[inline]
    pub(crate) fn packet(self, bytes: u32) -> u32 {
        bytes.saturating_add(self.framing)
    }

    /// Bytes of `packets` packets of `bytes` in all on the wire.
    pub(crate) fn packets(self, packets: u64, bytes: u64) -> u64 {
        bytes.saturating_add(packets.saturating_mul(u64::from(self.framing)))
    }
}

/// The transmitter of a link.
#[derive(Clone, Debug)]
pub(crate) struct Transmitter {
    rate: Rate,
    pub(crate) wire: Wire,
    /// When it has sent all that it has taken; where an event-driven link with a timeline is down,
    /// when it can send again.
    pub(crate) next_free: Time,
    /// The last two packet sizes, and their transmission times: traffic is nearly all
    /// full packets or bare ACKs, and a division costs more than a look.
    sizes: [u32; 2],
    times: [Duration; 2],
}

impl Transmitter {
    pub(crate) fn new(settings: &LinkSettings) -> Transmitter {
        Transmitter {
            rate: settings.rate,
            wire: Wire::new(settings),
            next_free: Time::ZERO,
            sizes: [u32::MAX; 2],
            times: [Duration::ZERO; 2],
        }
    }

    /// The time that a packet of `bytes` takes.
    #[inline]
    pub(crate) fn time(&mut self, bytes: u32) -> Duration {
        if self.sizes[0] == bytes {
            return self.times[0];
        }
        if self.sizes[1] != bytes {
            self.sizes[1] = bytes;
            self.times[1] = self.time_of(1, u64::from(bytes));
        }
        self.sizes.swap(0, 1);
        self.times.swap(0, 1);
        self.times[0]
    }

    /// The time that `packets` packets of `bytes` in all take.
    pub(crate) fn time_of(&self, packets: u64, bytes: u64) -> Duration {
        let wire = self.wire.packets(packets, bytes);
        self.wire.preambles(packets) + self.rate.transmission_time(Bytes::new(wire))
    }
}
