//! The receiver's end of explicit congestion control (XCP): it adds up what the routers left of the
//! requests of the packets since its last ACK. Packets that passed no router add nothing: without
//! routers the window does not change.

use crate::packet::Packet;

/// The sum that the next ACK carries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Feedback {
    /// A packet with a header has come.
    seen: bool,
    /// Sum of the feedback, bytes per second.
    sum: f64,
}

impl Feedback {
    /// Takes a data packet that arrived.
    #[inline]
    pub(crate) fn take(&mut self, packet: &Packet) {
        if packet.congestion_header().is_some() {
            self.seen = true;
            self.sum += f64::from(packet.change_left().unwrap_or(0.0));
        }
    }

    /// True if ACKs carry feedback.
    pub(crate) fn is_wanted(&self) -> bool {
        self.seen
    }

    /// Writes the sum into an ACK and starts over.
    pub(crate) fn give(&mut self, ack: &mut Packet) {
        if self.seen {
            ack.set_reverse_feedback(std::mem::take(&mut self.sum));
        }
    }
}
