//! The send buffer as Linux counts it: memory, not payload.
//!
//! Source: Linux 6, `sk_wmem_queued`, `sk_stream_is_writeable`, and a kernel of version 6.1 whose
//! buffers were read out every half second.
//!
//! What an application has written takes memory until it is acknowledged, also what was
//! selectively acknowledged: in flight the payload of each super-segment and 768 bytes around it,
//! unsent 1.03 times the payload. The application writes until `tcp_wmem` is full and is woken when
//! memory falls below two thirds of that: between the two it writes nothing, however open the window
//! is.
//!
//! Left out: how the buffer grows to its largest size, which takes no longer than the window's own
//! growth and never limited a transfer.

use super::Linux;
use crate::sender_core::Core;

/// Memory of a packet besides its payload, bytes.
const OVERHEAD: u64 = 768;

/// Payload that takes a hundred bytes of memory before it is sent.
const UNSENT: u64 = 97;

impl Linux {
    /// The application writes if it has been woken.
    #[inline]
    pub(super) fn refill(&mut self, s: &Core) {
        if let Some(limit) = s.options.kernel.send_memory {
            self.written = self
                .written
                .max(Linux::writes_until(s, self.written, limit.get()));
        }
    }

    /// The byte up to which it writes where the buffer is `limit` bytes of memory and it has written
    /// all below `written`.
    fn writes_until(s: &Core, written: u64, limit: u64) -> u64 {
        let together = if s.options.kernel.single_segments {
            1
        } else {
            Linux::largest_super_segment(s) as u64
        };
        let packet = (together * u64::from(s.mss)).max(1);
        let flight = s.snd.next - s.snd.una;
        let sent = flight + flight * OVERHEAD / packet;
        let unsent = written.saturating_sub(s.snd.next);
        if written > s.snd.first && sent + unsent * 100 / UNSENT >= limit / 3 * 2 {
            return written;
        }
        s.snd.next + limit.saturating_sub(sent) * UNSENT / 100
    }

    /// True if the application has written what would go next.
    #[inline]
    pub(super) fn is_written(&self, s: &Core) -> bool {
        s.options.kernel.send_memory.is_none() || s.snd.next < self.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Buffers;
    use crate::profile::HostProfile;
    use crate::transport::Transport;
    use crate::{TransportSettings, find_transport};

    fn transport() -> Transport {
        let settings = TransportSettings {
            profile: Some(HostProfile::Linux),
            buffers: Some(Buffers::Stock),
            offload: Some(false),
            ..TransportSettings::default()
        };
        let below = find_transport("cubic").map(|named| named.settings());
        settings.over(below.unwrap_or_default()).resolve("stock")
    }

    #[test]
    fn stock_buffers_are_those_of_linux() {
        let stock = transport();
        assert_eq!(stock.receive_buffer, Buffers::STOCK_WINDOW);
        assert_eq!(stock.kernel.send_memory, Some(Buffers::STOCK_MEMORY));
    }

    /// 4 MiB of memory: 4,068,474 bytes that were not sent; with 1 MB in flight in single
    /// segments of 1448, 1.53 MB of memory, the rest of it; woken below 2.796 MB.
    #[test]
    fn memory_counts_headers_and_wakes_at_two_thirds() {
        let stock = transport();
        let mut core = Core::new(&stock, stock.controller().unwrap(), 1, 3 << 20);
        let limit = Buffers::STOCK_MEMORY.get();
        assert_eq!(Linux::writes_until(&core, 0, limit), 4_068_474);
        // All of it in flight is 6.2 MB of memory: the application sleeps.
        core.snd.next = 4_068_474;
        assert_eq!(Linux::writes_until(&core, 4_068_474, limit), 4_068_474);
        // 1,827,000 bytes in flight are 2.796 MB of memory, just enough to sleep; a segment less
        // wakes it.
        core.snd.una = core.snd.next - 1_828_000;
        assert_eq!(Linux::writes_until(&core, 4_068_474, limit), 4_068_474);
        core.snd.una = core.snd.next - 1_826_000;
        let more = Linux::writes_until(&core, 4_068_474, limit) - core.snd.next;
        assert_eq!(
            more,
            (limit - 1_826_000 - 1_826_000 * 768 / 1448) * 97 / 100
        );
    }
}
