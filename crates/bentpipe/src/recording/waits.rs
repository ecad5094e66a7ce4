//! When a sender waits for something else than its congestion window: a timer, room in
//! the receive window, or the application.

use bentpipe_tcp::Packet;
use bentpipe_units::Time;

/// Times from one instant to another.
pub(super) type Interval = [Time; 2];

/// What is seen of a sender's waiting, each list in the order of time.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    /// From the last packet that the sender sent or was sent, to the timeout that
    /// followed.
    pub(super) for_timeout: Vec<Interval>,
    /// While the receive window has no room for a segment.
    pub(super) for_receiver: Vec<Interval>,
    /// While everything that was sent is acknowledged.
    pub(super) for_application: Vec<Interval>,
    /// The last two instants at which a packet left or arrived.
    active: [Option<Time>; 2],
    /// One past the last byte that was sent, and what of it is acknowledged.
    highest: u64,
    acknowledged: u64,
    /// One past the last byte that the receiver takes; `None` before it has said so.
    edge: Option<u64>,
    /// Bytes of the largest segment.
    segment: u64,
    blocked_since: Option<Time>,
    nothing_since: Option<Time>,
}

impl Waits {
    /// The sender sends data up to byte `end`.
    pub(super) fn sent(&mut self, now: Time, end: u64, payload: u16) {
        self.acts(now);
        self.segment = self.segment.max(u64::from(payload));
        if end > self.highest {
            self.highest = end;
            if let Some(since) = self.nothing_since.take() {
                self.for_application.push([since, now]);
            }
        }
        self.look_at_window(now);
    }

    /// An acknowledgement arrives at the sender.
    pub(super) fn acknowledged(&mut self, now: Time, packet: &Packet) {
        self.acts(now);
        self.acknowledged = self.acknowledged.max(packet.acknowledgement);
        if packet.window > 0 {
            let edge = packet.acknowledgement + u64::from(packet.window);
            self.edge = Some(self.edge.map_or(edge, |before| before.max(edge)));
        }
        if self.highest > 0 && self.acknowledged >= self.highest {
            self.nothing_since.get_or_insert(now);
        }
        self.look_at_window(now);
    }

    /// The retransmission timer has expired. What is sent at the same instant is the
    /// answer to that.
    pub(super) fn timed_out(&mut self, now: Time) {
        let [before, last] = self.active;
        let last = if last == Some(now) { before } else { last };
        if let Some(last) = last {
            self.for_timeout.push([last, now]);
        }
        // A further timeout waits from this one on.
        self.acts(now);
    }

    fn acts(&mut self, now: Time) {
        if self.active[1] != Some(now) {
            self.active = [self.active[1], Some(now)];
        }
    }

    fn look_at_window(&mut self, now: Time) {
        let is_blocked = self.edge.is_some_and(|edge| {
            self.highest > self.acknowledged && self.highest + self.segment > edge
        });
        match (is_blocked, self.blocked_since) {
            (true, None) => self.blocked_since = Some(now),
            (false, Some(since)) => {
                self.for_receiver.push([since, now]);
                self.blocked_since = None;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn ack(acknowledgement: u64, window: u32) -> Packet {
        let mut packet = Packet::new(0);
        (packet.acknowledgement, packet.window) = (acknowledgement, window);
        packet
    }

    #[test]
    fn a_timeout_is_waited_for_since_the_last_packet() {
        let mut waits = Waits::default();
        waits.sent(at(10), 1000, 1000);
        // What is sent again because of the timeout is seen before the timeout.
        waits.sent(at(210), 1000, 1000);
        waits.timed_out(at(210));
        waits.sent(at(610), 1000, 1000);
        waits.timed_out(at(610));
        assert_eq!(waits.for_timeout, [[at(10), at(210)], [at(210), at(610)]]);
    }

    #[test]
    fn a_window_without_room_for_a_segment_blocks() {
        let mut waits = Waits::default();
        waits.acknowledged(at(1), &ack(0, 2500));
        waits.sent(at(2), 1000, 1000);
        waits.sent(at(3), 2000, 1000);
        waits.acknowledged(at(50), &ack(1000, 2500));
        assert_eq!(waits.for_receiver, [[at(3), at(50)]]);
        assert!(waits.for_application.is_empty());
    }

    #[test]
    fn a_sender_whose_data_are_acknowledged_waits_for_its_application() {
        let mut waits = Waits::default();
        waits.sent(at(1), 1000, 1000);
        waits.acknowledged(at(20), &ack(1000, 60_000));
        waits.acknowledged(at(25), &ack(1000, 60_000));
        waits.sent(at(70), 2000, 1000);
        assert_eq!(waits.for_application, [[at(20), at(70)]]);
    }
}
