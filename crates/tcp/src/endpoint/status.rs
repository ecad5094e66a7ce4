//! Answers to the polls of the Satellite Transport Protocol.

use super::Endpoint;
use crate::packet::{Packet, Transmit, flags, priority};

/// True for a poll of the sender.
pub(super) fn is_poll(packet: &Packet) -> bool {
    packet.carries(priority::POLL) && packet.has(flags::DUMMY)
}

impl Endpoint {
    /// Answers a poll: what is missing of all that was sent before it. A report
    /// that names more gaps than fit a packet here leaves as several, which
    /// together have the bytes of one. `sequence` says up to where each reports.
    #[cold]
    pub(super) fn report_status<T: Transmit>(&mut self, poll: &Packet, out: &mut T) {
        self.receiver.forget_gap();
        let mut from = 0;
        loop {
            let mut packet = Packet::new(self.peer);
            self.receiver.acknowledge(&mut packet);
            packet.priority = priority::POLL;
            packet.timestamp_echo = poll.timestamp;
            packet.sack_count = 0;
            let next = self.receiver.write_gaps(from, poll.sequence, &mut packet);
            packet.sequence = next.unwrap_or(poll.sequence.max(packet.acknowledgement));
            let header = if from == 0 { self.header } else { 0 };
            packet.bytes = (header + 8 * u32::from(packet.sack_count)) as u16;
            self.answered += u64::from(packet.bytes);
            out.transmit(packet);
            match next {
                Some(next) if !out.is_full() => from = next,
                _ => return,
            }
        }
    }
}
