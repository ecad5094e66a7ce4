//! The sender's end of explicit congestion control (XCP, BA-TCP) and of explicit
//! error notification (PBS).
//!
//! Under XCP the sender writes x = srtt / window and srtt into every data packet and
//! requests as much as it can use: its share of what the buffers allow above the
//! window, (room - window) / srtt over the packets of a window, and nothing where
//! no more data waits behind the packet, because routers would take a request
//! that is not used from other flows. ns-2 requests 10^24 B/s and rounds the
//! window down; so does the profile `ns-2`.

use super::Core;
use crate::packet::{CongestionHeader, Packet};
use bentpipe_cc::{Feedback, PathHeader};
use bentpipe_units::{Rate, Time, math};

/// What ns-2 requests, bytes a second.
const UNLIMITED: f64 = 1e24;

impl Core {
    /// Writes the congestion header of a data packet of `len` bytes at
    /// `sequence`.
    pub(super) fn write_congestion_header(&self, packet: &mut Packet, len: u16) {
        let srtt = self.rtt.fine().as_secs();
        let mut header = CongestionHeader::default();
        if srtt > 0.0 {
            let mss = f64::from(self.mss);
            let room = self.room() as f64 / mss;
            let exact = self.window.cwnd.min(room).max(1.0);
            let window = if self.rules.stack.is_ns2() {
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

    /// The change of throughput that the packet requests, bytes a second.
    fn request(&self, packet: &Packet, len: u16, (room, window): (f64, f64), srtt: f64) -> f64 {
        if self.rules.stack.is_ns2() {
            return UNLIMITED;
        }
        let end = packet.sequence + u64::from(len);
        if self.snd.offered <= end.max(self.snd.next) {
            return 0.0;
        }
        ((room - window) * f64::from(self.mss) / srtt / window).max(0.0)
    }

    /// Passes the number of packets that an ACK newly counts as corrupted to the
    /// congestion control.
    #[inline]
    pub(crate) fn take_error_count(&mut self, packet: &Packet) {
        let errors = packet.errors();
        if errors > self.errors && self.cc.needs_error_reports() {
            self.cc.on_error_report(errors - self.errors);
            self.errors = errors;
        }
    }

    /// Passes the feedback of an ACK to the congestion control.
    pub(crate) fn take_feedback(&mut self, now: Time, packet: &Packet) {
        let Some(change) = packet.reverse_feedback() else {
            return;
        };
        if self.headers.path == PathHeader::Bandwidth {
            let available = Rate::from_bps_f64(8.0 * f64::from(change.max(0.0)));
            self.cc.on_bandwidth(available, &mut self.window);
            return;
        }
        let feedback = Feedback {
            now,
            change: f64::from(change),
            smoothed_rtt: self.rtt.fine(),
            mss: self.mss,
        };
        self.cc.on_feedback(&feedback, &mut self.window);
    }
}
