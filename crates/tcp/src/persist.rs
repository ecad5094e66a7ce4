//! What a sender does about a receive window that is shut.
//!
//! Source: RFC 9293, section 3.8.6.1; RFC 1122, section 4.2.2.17. The first
//! probe goes one retransmission timeout after the window shut, and each
//! interval doubles the one before, up to the largest timeout. A probe is an
//! empty segment below the window, which is answered at once and carries
//! nothing, as Linux sends it (`tcp_xmit_probe_skb`).
//!
//! With something outstanding the retransmission timer is at work, and its
//! answers tell the window, too: there is no second timer.

use crate::packet::{Packet, Transmit, flags};
use crate::sender::Sender;
use bentpipe_units::Time;

impl Sender {
    /// Nothing more can go: if that is because the window is shut and nothing
    /// is under way, it must be asked after.
    #[inline]
    pub(crate) fn mind_shut_window(&mut self, now: Time) {
        if self.has_data() && self.board.outstanding() == 0 && self.window_probes.is_none() {
            self.window_probes = Some(0);
            self.retransmission_deadline = now + self.rtt.rto();
        }
    }

    /// The timer ran out with nothing outstanding.
    #[cold]
    pub(crate) fn probe_window<T: Transmit>(&mut self, now: Time, out: &mut T) {
        let Some(probes) = self.window_probes.filter(|_| self.has_data()) else {
            self.retransmission_deadline = Time::MAX;
            return;
        };
        let mut packet = self.packet(now, self.next, 0);
        packet.flags = flags::ACK | flags::DUMMY;
        self.window_probes = Some(probes.saturating_add(1));
        let doubled = self.rtt.rto().scaled(f64::from(1u32 << probes.min(16)));
        let interval = doubled.min(self.rules.maximum_rto).max(self.rtt.rto());
        self.retransmission_deadline = now + interval;
        out.transmit(packet);
    }

    /// The connection is gone: nothing is sent and nothing is due any more.
    pub(crate) fn stop(&mut self) {
        self.offered = self.next;
        self.window_probes = None;
        self.retransmission_deadline = Time::MAX;
        self.probing = crate::probes::Probing::default();
        self.stop_pacing();
    }

    /// True for the empty segment that asks for the window.
    pub(crate) fn is_window_probe(packet: &Packet) -> bool {
        packet.flags & (flags::PROBE | flags::DUMMY) == flags::DUMMY
    }
}
