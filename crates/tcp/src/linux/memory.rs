//! The send buffer as Linux counts it: memory, not payload.
//!
//! Source: Linux 6, `sk_wmem_queued`, `sk_stream_is_writeable`, and a kernel of version 6.1 whose
//! buffers were read out every half second.
//!
//! What an application has written takes memory until it is acknowledged, also what was
//! selectively acknowledged: in flight the payload of each super-segment and 768 bytes around it,
//! unsent 1.03 times the payload. The application writes until the buffer is full, which the kernel
//! checks at the start of each packet that it fills, and is woken when memory falls below two thirds
//! of it: between the two it writes nothing, however open the window is.
//!
//! The buffer begins with room for ten segments, twice: 87,040 bytes of memory where a segment has
//! 1448. It grows to twice cwnd when an ACK arrives, `tcp_wmem` at most, but only while the
//! application waits for room and the window lets more go than was written (`tcp_new_space`,
//! `tcp_sndbuf_expand`). It delays an application that writes more at once than ever before: a server
//! whose second page is larger than the first sends as much of it as the buffer holds, and the rest a
//! round trip later, however large cwnd has become. A transfer, whose application waits all the time,
//! is not delayed; when its application is woken depends on the buffer, and with that by how much slow
//! start overruns a queue.

use super::Linux;
use crate::sender_core::Core;

/// Memory of a packet besides its payload, bytes.
const OVERHEAD: u64 = 768;

/// Payload that takes a hundred bytes of memory before it is sent.
const UNSENT: u64 = 97;

/// What a kernel counts beside payload and headers of each segment when it sizes the buffer: the
/// end of its memory, which is part of what is rounded up to a power of two, and its descriptor.
const TAIL: u64 = 320;
const DESCRIPTOR: u64 = 256;

/// Bytes that timestamps take in each segment, which an MSS counts as payload.
const TIMESTAMPS: u64 = 12;

/// Bytes of a packet that waits in the buffer, at most; half of the receive window if that is less.
const LARGEST_PACKET: u64 = 65_535 - TAIL;

/// Segments that an application writes at once. Not the kernel's choice but that of servers: between
/// 16 kB, a record of TLS, and 64 kB.
const PIECE: u64 = 32;

/// The smallest window for which there is room (`TCP_INIT_CWND`).
const SMALLEST: u64 = 10;

impl Linux {
    /// The application writes, unless it waits for room.
    #[inline]
    pub(super) fn refill(&mut self, s: &Core) {
        let Some(limit) = s.options.kernel().send_memory else {
            return;
        };
        if self.memory == 0 {
            self.memory = Linux::room_for(s).min(limit.get());
        }
        let until = Linux::writes_until(s, self.written, self.memory, self.is_full);
        self.written = self.written.max(until).min(s.snd.offered);
        self.is_full = self.written < s.snd.offered;
    }

    /// An ACK has arrived and let go what it lets: the buffer grows with cwnd if it holds back an
    /// application that has more. True if it has grown.
    #[inline]
    pub(super) fn expand(&mut self, s: &Core) -> bool {
        let Some(limit) = s.options.kernel().send_memory.filter(|_| self.is_full) else {
            return false;
        };
        if s.board.flight() >= Linux::window(s) {
            return false;
        }
        let before = self.memory;
        self.memory = before.max(Linux::room_for(s).min(limit.get()));
        self.memory > before
    }

    /// The memory in which the window has room twice, or three times.
    fn room_for(s: &Core) -> u64 {
        let mss = u64::from(s.mss) + TIMESTAMPS * u64::from(s.headers.timestamps);
        let head = u64::from(s.options.kernel().header_room);
        let segment = (mss + head + TAIL).next_power_of_two() + DESCRIPTOR;
        // BBR, which sets the window itself, asks for three (`sndbuf_expand`).
        let times = if s.options.owns_window { 3 } else { 2 };
        times * segment * SMALLEST.max(Linux::window(s) as u64)
    }

    /// The byte up to which it writes where the buffer is `limit` bytes of memory and it has written
    /// all below `written`; with `is_full` it waits to be woken.
    fn writes_until(s: &Core, written: u64, limit: u64, is_full: bool) -> u64 {
        let mss = u64::from(s.mss).max(1);
        let together = match s.options.kernel().single_segments {
            true => 1,
            false => Linux::largest_super_segment(s) as u64,
        };
        let packet = (together * mss).max(1);
        let memory =
            |sent: u64, unsent: u64| sent + sent * OVERHEAD / packet + unsent * 100 / UNSENT;
        let mut flight = s.snd.next - s.snd.una;
        let mut unsent = written.saturating_sub(s.snd.next);
        if is_full && memory(flight, unsent) >= limit / 3 * 2 {
            return written;
        }
        // What the window lets go at once leaves while the application writes on.
        let window = Linux::window(s).saturating_sub(s.board.flight()) as u64;
        let mut goes = (window * mss).min(s.snd.window.saturating_sub(flight));
        let goal = LARGEST_PACKET.min(s.snd.window / 2) / mss * mss;
        let goal = goal.max(mss);
        let piece = goal.min(PIECE * mss);
        let left = s.snd.offered - s.snd.next.min(s.snd.offered);
        let mut all = unsent;
        while all < left && memory(flight, unsent) < limit {
            unsent += piece;
            all += piece;
            let now = unsent.min(goes);
            (flight, unsent, goes) = (flight + now, unsent - now, goes - now);
            // The last packet takes more until it is full, whatever there is room for.
            if unsent > 0 && unsent < goal {
                (all, unsent) = (all + goal - unsent, goal);
            }
        }
        s.snd.next + all
    }

    /// True if the application has written what would go next.
    #[inline]
    pub(super) fn is_written(&self, s: &Core) -> bool {
        s.options.kernel().send_memory.is_none() || s.snd.next < self.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffers::Buffers;
    use crate::profile::HostProfile;
    use crate::transport::Transport;
    use crate::{TransportSettings, find_transport};

    fn transport(offload: Option<bool>) -> Transport {
        let settings = TransportSettings {
            profile: Some(HostProfile::Linux),
            buffers: Some(Buffers::STOCK),
            offload,
            ..TransportSettings::default()
        };
        let below = find_transport("cubic").map(|named| named.settings());
        settings.over(below.unwrap_or_default()).resolve("stock")
    }

    #[test]
    fn stock_buffers_are_those_of_linux() {
        let stock = transport(None);
        assert_eq!(stock.receive_buffer, Buffers::STOCK_WINDOW);
        assert_eq!(stock.kernel.send_memory, Some(Buffers::STOCK_MEMORY));
    }

    /// What a kernel of version 6.18 took of 300 kB that were written at once, with a send buffer of
    /// 46,080 bytes or of 101,376: 41 segments at a window of 14, 30 at one of 42, 107 at one of 62.
    #[test]
    fn an_application_writes_until_the_buffer_is_full() {
        let stock = transport(None);
        let takes = |cwnd: f64, window: u64, limit: u64| {
            let mut core = Core::new(&stock, stock.controller().unwrap(), 1, window);
            (core.snd.offered, core.window.cwnd) = (300_000, cwnd);
            // At 10 Mbit/s super-segments are of two segments.
            core.window.pacing_rate = Some(bentpipe_units::Rate::from_mbps(10));
            Linux::writes_until(&core, 0, limit, false) / 1448
        };
        assert_eq!(takes(14.0, 80_896, 46_080), 41);
        assert_eq!(takes(42.0, 83_968, 46_080), 28);
        assert_eq!(takes(62.0, 139_264, 101_376), 107);
    }

    /// Of 4 MiB, 2,796,202 bytes of memory are two thirds: 1,827,000 bytes in flight in single
    /// segments of 1448 are just enough to sleep, a segment less wakes the application.
    #[test]
    fn an_application_is_woken_at_two_thirds() {
        let stock = transport(Some(false));
        let mut core = Core::new(&stock, stock.controller().unwrap(), 1, 3 << 20);
        let limit = Buffers::STOCK_MEMORY.get();
        (core.snd.offered, core.snd.next) = (100_000_000, 4_000_000);
        core.snd.una = core.snd.next - 1_828_000;
        let writes = |core: &Core| Linux::writes_until(core, 4_000_000, limit, true) - 4_000_000;
        assert_eq!(writes(&core), 0);
        core.snd.una = core.snd.next - 1_826_000;
        let unsent = (limit - 1_826_000 - 1_826_000 * 768 / 1448) * 97 / 100;
        assert!((unsent..unsent + LARGEST_PACKET).contains(&writes(&core)));
    }

    /// What a kernel of version 6.18 without wireless networks showed (`SO_MEMINFO`): 46,080 bytes
    /// at a window of 10, 101,376 at one of 22, 184,320 at one of 40; those of distributions begin
    /// with 87,040.
    #[test]
    fn the_buffer_has_room_for_twice_the_window() {
        let mut stock = transport(None);
        let room = |transport: &Transport, cwnd: f64| {
            let mut core = Core::new(transport, transport.controller().unwrap(), 1, 3 << 20);
            core.window.cwnd = cwnd;
            Linux::room_for(&core)
        };
        assert_eq!(room(&stock, 10.0), 87_040);
        stock.kernel.header_room = 256;
        let rooms = [2.0, 10.0, 22.0, 40.0].map(|cwnd| room(&stock, cwnd));
        assert_eq!(rooms, [46_080, 46_080, 101_376, 184_320]);
    }

    /// It grows when an ACK finds the application waiting and the window open, not when the
    /// application writes.
    #[test]
    fn the_buffer_grows_while_the_application_waits() {
        let stock = transport(None);
        let mut core = Core::new(&stock, stock.controller().unwrap(), 1, 3 << 20);
        let mut linux = Linux::new(10.0);
        // A small page leaves a large window behind and the buffer as it was.
        core.snd.offered = 14_480;
        linux.refill(&core);
        assert_eq!((linux.written, linux.is_full), (14_480, false));
        (core.snd.next, core.snd.una, core.window.cwnd) = (14_480, 14_480, 100.0);
        assert!(!linux.expand(&core));
        // Of a large one as much goes as 87,040 bytes hold.
        core.snd.offered += 1_000_000;
        linux.refill(&core);
        assert_eq!((linux.written, linux.is_full), (14_480 + 64 * 1448, true));
        // An ACK finds the window open: there is room for twice as much.
        assert!(linux.expand(&core));
        assert_eq!(linux.memory, 870_400);
        linux.refill(&core);
        assert!(linux.written > 700_000 && linux.is_full);
    }
}
