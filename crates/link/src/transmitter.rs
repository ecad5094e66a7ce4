//! What puts packets on the wire, one after the other.

use bentpipe_units::{Bytes, Duration, Rate, Time};

/// The transmitter of a link.
#[derive(Clone, Debug)]
pub(crate) struct Transmitter {
    pub(crate) rate: Rate,
    /// Bytes that framing adds to a packet.
    pub(crate) framing: u32,
    /// When it has sent all that it has taken.
    pub(crate) next_free: Time,
    /// Transmission times of the last two packet sizes: traffic is nearly all
    /// full packets or bare ACKs, and a division costs more than a look.
    recent: [(u32, Duration); 2],
}

impl Transmitter {
    pub(crate) fn new(rate: Rate, framing: Bytes) -> Transmitter {
        Transmitter {
            rate,
            framing: u32::try_from(framing.get()).unwrap_or(u32::MAX),
            next_free: Time::ZERO,
            recent: [(u32::MAX, Duration::ZERO); 2],
        }
    }

    /// The time that a packet of `bytes` takes.
    #[inline]
    pub(crate) fn time(&mut self, bytes: u32) -> Duration {
        if self.recent[0].0 == bytes {
            return self.recent[0].1;
        }
        if self.recent[1].0 != bytes {
            let wire = u64::from(bytes) + u64::from(self.framing);
            self.recent[1] = (bytes, self.rate.transmission_time(Bytes::new(wire)));
        }
        self.recent.swap(0, 1);
        self.recent[0].1
    }

    /// Bytes of `packets` packets of `bytes` in all on the wire.
    pub(crate) fn wire(&self, packets: u64, bytes: u64) -> Bytes {
        let framing = packets.saturating_mul(u64::from(self.framing));
        Bytes::new(bytes.saturating_add(framing))
    }
}
