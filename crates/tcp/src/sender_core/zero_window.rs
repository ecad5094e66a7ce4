//! Zero-window probes: how a sender learns that a closed receive window has
//! opened.
//!
//! Source: RFC 9293, section 3.8.6.1; RFC 1122, section 4.2.2.17. The first
//! probe is sent one retransmission timeout after the window closed, and each
//! interval is twice the one before, up to the largest timeout. A probe is an
//! empty segment below the window, which the receiver answers at once, as Linux
//! sends it (`tcp_xmit_probe_skb`).
//!
//! While data is outstanding the retransmission timer runs, and the answers to
//! retransmissions carry the window as well: there is no second timer.

use super::Core;
use crate::packet::{Transmit, flags};
use bentpipe_units::Time;

impl Core {
    /// Nothing more can be sent: arms the timer for a window probe if the
    /// window is closed and nothing is outstanding.
    #[inline]
    pub(crate) fn arm_window_probe(&mut self, now: Time) {
        if self.has_data() && self.board.outstanding() == 0 && self.timer.window_probes.is_none() {
            self.timer.window_probes = Some(0);
            self.timer.deadline = now + self.rtt.rto();
        }
    }

    /// The timer ran out with nothing outstanding.
    #[cold]
    pub(crate) fn probe_window<T: Transmit>(&mut self, now: Time, out: &mut T) {
        let Some(probes) = self.timer.window_probes.filter(|_| self.has_data()) else {
            self.timer.deadline = Time::MAX;
            return;
        };
        let mut packet = self.packet(now, self.snd.next, 0);
        packet.flags = flags::ACK | flags::DUMMY;
        let sent = probes.saturating_add(1);
        self.timer.window_probes = Some(sent);
        let doubled = self.rtt.rto().scaled(f64::from(1u32 << sent.min(16)));
        let interval = doubled.min(self.rules.maximum_rto).max(self.rtt.rto());
        self.timer.deadline = now + interval;
        out.transmit(packet);
    }
}
