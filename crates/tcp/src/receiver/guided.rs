//! The receiver's end of BA-TCP: it advertises the connection's share of the path's capacity as its
//! window.
//!
//! The newest data packet's header says ABW and the one-way delay of the links behind the routers
//! on its way. The return path is assumed to be as long, so that RTPD is twice that. The window is
//! ABW x RTPD, of which headers take their part, and two segments for delayed acknowledgements;
//! never more than the buffer.
//!
//! Example: ABW 1.25 MB/s, RTPD 500 ms, segments of 1460 bytes in packets of 1520: 625
//! kB, of which 600.3 kB are payload, and 2.9 kB: 603 kB.

use crate::packet::Packet;

/// Segments that the window has beyond ABW x RTPD.
const SLACK: f64 = 2.0;

/// Header of the last data packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Guided {
    /// Bytes, and the bandwidth in bytes a second at the IP layer; `None` before a
    /// router has written anything.
    window: Option<(u32, f32)>,
}

impl Guided {
    /// Takes a data packet that arrived.
    #[inline]
    pub(crate) fn take(&mut self, packet: &Packet) {
        let Some(header) = packet
            .bandwidth_header()
            .filter(|h| h.available.is_finite())
        else {
            return;
        };
        let payload = f64::from(packet.payload);
        let part = payload / f64::from(packet.bytes.max(1));
        let round_trip = 2.0 * f64::from(header.delay_us) / 1e6;
        let bytes = f64::from(header.available) * part * round_trip + SLACK * payload;
        self.window = Some((bytes.min(f64::from(u32::MAX)) as u32, header.available));
    }

    /// Writes window and bandwidth into an ACK; true if it did.
    pub(crate) fn give(&self, ack: &mut Packet) -> bool {
        if let Some((window, available)) = self.window {
            ack.window = ack.window.min(window);
            ack.set_reverse_feedback(f64::from(available));
        }
        self.window.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::BandwidthHeader;

    #[test]
    fn the_window_of_the_worked_example() {
        let mut packet = Packet::new(0);
        (packet.payload, packet.bytes) = (1460, 1520);
        let mut guided = Guided::default();
        let mut ack = Packet::new(1);
        ack.window = 4_000_000;
        packet.set_bandwidth_header(BandwidthHeader::NEW);
        guided.take(&packet);
        assert!(!guided.give(&mut ack), "no router yet");
        packet.stamp(1.25e6, 250_000);
        guided.take(&packet);
        assert!(guided.give(&mut ack));
        assert_eq!(ack.window, 603_248);
        assert_eq!(ack.reverse_feedback(), Some(1.25e6));
        ack.window = 100_000;
        guided.give(&mut ack);
        assert_eq!(ack.window, 100_000, "no more than the buffer");
    }
}
