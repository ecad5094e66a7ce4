//! The receive buffer of an application that reads by itself: unread data occupies it, and the
//! advertised window is the remaining room.
//!
//! Source: RFC 9293, section 3.8.6 (flow control), 3.8.6.2.2 (the receiver
//! avoids silly windows) and 3.7 (a window should not shrink).
//!
//! What the standard leaves open: when to announce new room without a probe. Here as in 4.4BSD, once there are two segments of it, or half
//! of the buffer; and whatever there is, where the announced window is below a
//! segment.

use crate::packet::MAX_WINDOW;

/// A receive buffer that the application reads from. All numbers are bytes of the
/// stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiveBuffer {
    size: u64,
    /// How much is held at most; no more than `size`.
    limit: u64,
    read: u64,
    /// The first byte that the sender may not send.
    edge: u64,
    /// The edge moves by at least this much.
    least: u64,
    /// AckSummary worth a packet of their own.
    news: u64,
}

impl ReceiveBuffer {
    pub(crate) fn new(size: u64, mss: u32) -> ReceiveBuffer {
        let size = size.clamp(1, u64::from(MAX_WINDOW));
        ReceiveBuffer {
            size,
            limit: size,
            read: 0,
            edge: size,
            least: u64::from(mss).min(size / 2).max(1),
            news: (2 * u64::from(mss)).min(size / 2).max(1),
        }
    }

    /// The first byte that there is no room for.
    pub(crate) fn edge(&self) -> u64 {
        self.edge
    }

    pub(crate) fn bytes_read(&self) -> u64 {
        self.read
    }

    pub(crate) fn read(&mut self, bytes: u64) {
        self.read += bytes;
    }

    /// From now on at most `bytes` are held.
    pub(crate) fn limit(&mut self, bytes: u64) {
        self.limit = bytes.min(self.size);
    }

    /// From now on no less than `bytes` more of room are worth a packet of their own.
    pub(crate) fn announce_by(&mut self, bytes: u64) {
        self.news = self.news.max(bytes);
    }

    /// The edge that can be advertised now.
    fn possible(&self) -> u64 {
        let edge = self.read + self.limit;
        if edge >= self.edge + self.least {
            edge
        } else {
            self.edge
        }
    }

    /// The window in an acknowledgement of everything below `next`.
    pub(crate) fn advertise(&mut self, next: u64) -> u32 {
        self.edge = self.possible();
        self.edge.saturating_sub(next).min(u64::from(MAX_WINDOW)) as u32
    }

    /// True if new room is to be announced at once.
    pub(crate) fn wants_update(&self, next: u64) -> bool {
        let known = self.edge.saturating_sub(next);
        let more = self.possible() - self.edge;
        more >= self.news || (more > 0 && known < self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_read_takes_room() {
        let mut buffer = ReceiveBuffer::new(10_000, 1_000);
        assert_eq!(buffer.advertise(0), 10_000);
        assert_eq!(buffer.advertise(4_000), 6_000);
        assert_eq!(buffer.advertise(10_000), 0);
        buffer.read(999);
        // Below a segment the edge stays: no silly window.
        assert!(!buffer.wants_update(10_000));
        assert_eq!(buffer.advertise(10_000), 0);
        buffer.read(1);
        assert!(buffer.wants_update(10_000));
        assert_eq!(buffer.advertise(10_000), 1_000);
        buffer.read(9_000);
        assert_eq!(buffer.advertise(10_000), 10_000);
    }

    #[test]
    fn the_edge_never_moves_back() {
        let mut buffer = ReceiveBuffer::new(10_000, 1_000);
        buffer.limit(2_000);
        assert_eq!(buffer.advertise(0), 10_000);
        buffer.read(9_000);
        assert_eq!(buffer.advertise(9_000), 2_000);
    }

    #[test]
    fn room_can_be_announced_in_larger_steps() {
        let mut buffer = ReceiveBuffer::new(16_000, 1_000);
        buffer.announce_by(4_000);
        assert_eq!(buffer.advertise(0), 16_000);
        buffer.read(3_999);
        assert!(!buffer.wants_update(8_000));
        buffer.read(1);
        assert!(buffer.wants_update(8_000));
        // A sender that cannot fill a segment hears of the next one.
        assert_eq!(buffer.advertise(16_000), 4_000);
        buffer.read(1_000);
        assert!(!buffer.wants_update(16_000));
        assert!(buffer.wants_update(19_500));
    }

    #[test]
    fn a_buffer_below_a_segment_opens_by_halves() {
        let mut buffer = ReceiveBuffer::new(600, 1_000);
        assert_eq!(buffer.advertise(600), 0);
        buffer.read(300);
        assert!(buffer.wants_update(600));
        assert_eq!(buffer.advertise(600), 300);
    }
}
