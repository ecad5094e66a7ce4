//! The ends of explicit congestion control (XCP): what a sender asks for, and
//! what a receiver brings back.
//!
//! The sender writes x = srtt / window and srtt into every data packet, and asks
//! for as much as it can use: ns-2 asks for 10^24 B/s, here a packet asks for
//! its share of what the buffers allow above the window, (room - window) / srtt
//! over the packets of a window, and for nothing where no more data waits behind
//! it. Routers give what is asked for in vain to others. Under the profile `ns-2`
//! it asks for as much as ns-2 and rounds its window down.
//!
//! The receiver adds up what the routers left of the packets since its last ACK.
//! Packets that passed no router add nothing: without routers the window stays
//! as it is.

use crate::packet::{CongestionHeader, Packet};
use crate::sender::Sender;
use bentpipe_cc::Feedback;
use bentpipe_units::{Time, math};

/// What ns-2 asks for, bytes a second.
const UNLIMITED: f64 = 1e24;

/// The receiver's sum.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Returned {
    /// A packet with a header has come.
    seen: bool,
    /// Bytes a second.
    sum: f64,
}

impl Returned {
    /// Takes a data packet that arrived.
    #[inline]
    pub(crate) fn take(&mut self, packet: &Packet) {
        if packet.congestion_header().is_some() {
            self.seen = true;
            self.sum += f64::from(packet.change_left().unwrap_or(0.0));
        }
    }

    /// True if ACKs are to carry feedback.
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

impl Sender {
    /// Writes the congestion header of a data packet of `len` bytes at
    /// `sequence`.
    pub(crate) fn write_congestion_header(&self, packet: &mut Packet, len: u16) {
        let srtt = self.rtt.fine().as_secs();
        let mut header = CongestionHeader::default();
        if srtt > 0.0 {
            let mss = f64::from(self.mss);
            let room = self.room() as f64 / mss;
            let exact = self.window.cwnd.min(room).max(1.0);
            let window = if self.rules.sender.is_ns2() {
                math::floor(exact)
            } else {
                exact
            };
            header = CongestionHeader {
                x: (srtt / window) as f32,
                rtt: srtt as f32,
                change: self.request(packet, len, (room, window), srtt) as f32,
            };
        }
        packet.set_congestion_header(header);
    }

    /// The change of throughput that the packet asks for, bytes a second.
    fn request(&self, packet: &Packet, len: u16, (room, window): (f64, f64), srtt: f64) -> f64 {
        if self.rules.sender.is_ns2() {
            return UNLIMITED;
        }
        let end = packet.sequence + u64::from(len);
        if self.offered <= end.max(self.next) {
            return 0.0;
        }
        ((room - window) * f64::from(self.mss) / srtt / window).max(0.0)
    }

    /// Hands the feedback of an ACK to the congestion control.
    pub(crate) fn take_feedback(&mut self, now: Time, packet: &Packet) {
        let Some(change) = packet.reverse_feedback() else {
            return;
        };
        let feedback = Feedback {
            now,
            change: f64::from(change),
            smoothed_rtt: self.rtt.fine(),
            mss: self.mss,
        };
        self.cc.on_feedback(&feedback, &mut self.window);
    }
}
