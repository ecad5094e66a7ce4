//! Segmentation offload (TSO, GSO): how many segments leave together.
//!
//! Source: Linux 6, `tcp_tso_autosize` and `tcp_cwnd_test`, and packets of kernels 6.1 and 6.12 in
//! virtual time. A *super-segment* carries what the pacing rate sends in about a millisecond (1/1024
//! s), more where the smallest RTT is below 16 ms, and at least two segments (BBR below 1.2
//! Mbit/s: one). A control without a pacing rate of its own has one for this purpose: twice a
//! window in a smoothed RTT below half of ssthresh, 1.2 windows from there on. No super-segment
//! is larger than half of cwnd, nor than what cwnd has room for: where that is odd, a single
//! segment follows the pairs.
//!
//! A super-segment stays one packet on a way of links with `offload = "whole"`; else it is cut into
//! its segments as it leaves, as a network card would.
//!
//! Left out:
//!
//! - **Deferral** (`tcp_tso_should_defer`), which would hold that single segment back until the next
//!   ACK. Downloads on both kernels send it at once: 1.75 segments a packet at 10 Mbit/s, 20 ms and
//!   1% lost; with deferral they would be 1.96, without 1.71.
//! - What a retransmission has in common with the super-segment that it was sent in at first.
//!   Segments that were lost side by side go together again.

use super::Linux;
use crate::packet::{Packet, Transmit};
use crate::sender_core::Core;
use bentpipe_units::math;

/// Bytes that an interface takes at once (`gso_max_size` less the largest header).
const LARGEST: f64 = 65_215.0;

/// Bytes at the IP layer that a packet can count.
const LARGEST_PACKET: u32 = 65_535;

/// Segments of a super-segment at least (`tcp_min_tso_segs`).
const LEAST: usize = 2;

/// Below this pacing rate, bytes a second, BBR sends single segments (1.2 Mbit/s).
const SLOW: f64 = 150_000.0;

/// Puts contiguous segments together into one packet.
pub(super) struct SuperSegments<'a, T> {
    out: &'a mut T,
    /// Segments are put together.
    joins: bool,
    pending: Option<Packet>,
}

impl<'a, T: Transmit> SuperSegments<'a, T> {
    pub(super) fn new(out: &'a mut T, joins: bool) -> SuperSegments<'a, T> {
        SuperSegments {
            out,
            joins,
            pending: None,
        }
    }

    /// What comes next starts another packet.
    #[inline]
    pub(super) fn end(&mut self) {
        if let Some(packet) = self.pending.take() {
            self.out.transmit(packet);
        }
    }
}

/// `next` behind `packet` in one packet, where both fit.
fn joined(packet: &Packet, next: &Packet) -> Option<Packet> {
    let follows = packet.sequence + u64::from(packet.payload) == next.sequence;
    if !follows || packet.priority != next.priority || packet.ecn != next.ecn {
        return None;
    }
    Some(Packet {
        payload: packet.payload.checked_add(next.payload)?,
        bytes: packet.bytes.checked_add(next.bytes)?,
        flags: packet.flags | next.flags,
        acknowledgement: next.acknowledgement,
        ..*packet
    })
}

impl<T: Transmit> Transmit for SuperSegments<'_, T> {
    #[inline]
    fn transmit(&mut self, packet: Packet) {
        if !self.joins {
            self.out.transmit(packet);
            return;
        }
        match self.pending.as_ref().and_then(|p| joined(p, &packet)) {
            Some(both) => self.pending = Some(both),
            None => {
                self.end();
                self.pending = Some(packet);
            }
        }
    }

    fn is_full(&self) -> bool {
        self.out.is_full()
    }
}

impl Linux {
    /// Segments of a super-segment at most (`tcp_tso_autosize`).
    pub(super) fn largest_super_segment(s: &Core) -> usize {
        let mss = f64::from(s.mss);
        let own = s.window.pacing_rate.map(|rate| rate.bps_f64() / 8.0);
        let rate = own.unwrap_or_else(|| {
            let smoothed = s.rtt.smoothed();
            if smoothed.is_zero() {
                return f64::INFINITY;
            }
            let window = Linux::window(s);
            let gain = if (window as f64) < s.window.ssthresh / 2.0 {
                2.0
            } else {
                1.2
            };
            gain * window.max(s.board.outstanding()) as f64 * mss / smoothed.as_secs()
        });
        let halvings = s.rtt.smallest().as_nanos() / 1000 / 512;
        let near = if halvings < 32 {
            math::floor(LARGEST / (1_u64 << halvings) as f64)
        } else {
            0.0
        };
        let bytes = (rate / 1024.0 + near).min(LARGEST);
        let least = if own.is_some_and(|rate| rate < SLOW) {
            1
        } else {
            LEAST
        };
        let most = (LARGEST_PACKET / u32::from(s.full_packet())).max(1) as usize;
        (math::floor(bytes / mss) as usize).max(least).min(most)
    }

    /// Segments that leave together now, where the window has room for `free` more.
    pub(super) fn super_segment(s: &Core, free: usize) -> usize {
        let half = (Linux::window(s) / 2).max(1);
        free.min(half).min(Linux::largest_super_segment(s)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(sequence: u64, payload: u16) -> Packet {
        Packet {
            sequence,
            payload,
            bytes: payload + 52,
            ..Packet::new(1)
        }
    }

    /// The sizes of the packets that `segments` make.
    fn sizes(joins: bool, segments: &[Packet]) -> Vec<(u64, u16, u16)> {
        let mut sent = Vec::new();
        let mut out = SuperSegments::new(&mut sent, joins);
        for packet in segments {
            out.transmit(*packet);
        }
        out.end();
        sent.iter()
            .map(|p| (p.sequence, p.payload, p.bytes))
            .collect()
    }

    #[test]
    fn what_is_contiguous_is_one_packet() {
        let segments = [segment(0, 1448), segment(1448, 1448), segment(2896, 100)];
        assert_eq!(sizes(true, &segments), [(0, 2996, 3152)]);
        assert_eq!(sizes(false, &segments).len(), 3);
    }

    #[test]
    fn a_gap_and_a_full_packet_begin_another() {
        let gap = [segment(0, 1448), segment(2896, 1448)];
        assert_eq!(sizes(true, &gap), [(0, 1448, 1500), (2896, 1448, 1500)]);
        let many: Vec<Packet> = (0..44).map(|i| segment(i * 1448, 1448)).collect();
        // 43 packets of 1500 bytes are 64,500; the next does not fit 16 bits.
        assert_eq!(
            sizes(true, &many),
            [(0, 43 * 1448, 64_500), (43 * 1448, 1448, 1500)]
        );
    }

    #[test]
    fn a_fin_goes_with_what_precedes_it() {
        let mut last = segment(1448, 10);
        last.flags |= crate::packet::flags::FIN;
        last.acknowledgement = 7;
        let mut sent = Vec::new();
        let mut out = SuperSegments::new(&mut sent, true);
        out.transmit(segment(0, 1448));
        out.transmit(last);
        out.end();
        assert_eq!(sent.len(), 1);
        assert!(sent[0].has(crate::packet::flags::FIN));
        assert_eq!((sent[0].payload, sent[0].acknowledgement), (1458, 7));
    }
}
