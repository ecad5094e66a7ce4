//! Delivery-rate sampling: how fast the network delivered between the sending
//! of a packet and its acknowledgement.
//!
//! Source: draft-cheng-iccrg-delivery-rate-estimation-02, taken over by draft-ietf-ccwg-bbr,
//! section 4.1.2; Linux `tcp_rate.c`. Every packet records how much had been delivered when it was
//! sent, and the time of that delivery. The newest packet that an ACK covers then gives a sample:
//! the data delivered since, divided by the longer of the send and the ACK interval. So compressed
//! ACKs or bursts of packets do not raise the rate.
//!
//! Counts are in segments, as in Linux, and include what an ACK reports to have been delivered
//! twice, where the host counts that. One record per packet, in a ring parallel to the
//! scoreboard's: connections that need no samples pay nothing for it.

use bentpipe_cc::RateSample;
use bentpipe_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;

/// RTT samples by timestamps may exceed the truth by so much: the clock of the
/// timestamps counts microseconds.
const CLOCK: Duration = Duration::from_micros(1);

/// Record of a packet in flight.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// When it was sent last.
    sent_at: Time,
    /// Segments delivered by then, and when the last of them was.
    delivered: u64,
    delivered_at: Time,
    /// When the newest packet delivered by then was sent.
    first_sent_at: Time,
    /// Segments in flight, this one not counted.
    flight: u32,
    app_limited: bool,
    again: bool,
}

/// The sampler of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateSampler {
    packets: VecDeque<Sent>,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    /// The application has run out of data; what is sent until so many segments
    /// are delivered shows its rate and not the network's.
    app_limited_until: Option<u64>,
    /// The newest packet of the ACK at hand.
    newest: Option<Sent>,
}

impl RateSampler {
    /// A new segment is sent; `flight` and `outstanding` segments were in
    /// flight and unacknowledged before it.
    pub(crate) fn sent(&mut self, now: Time, flight: usize, outstanding: usize) {
        if outstanding == 0 {
            // The network is empty: the sample begins now.
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        let packet = self.record(now, flight, false);
        self.packets.push_back(packet);
    }

    /// The segment at `index` of those outstanding is sent again.
    pub(crate) fn resent(&mut self, index: usize, now: Time, flight: usize) {
        let packet = self.record(now, flight, true);
        if let Some(slot) = self.packets.get_mut(index) {
            *slot = packet;
        }
    }

    fn record(&self, now: Time, flight: usize, again: bool) -> Sent {
        Sent {
            sent_at: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            flight: u32::try_from(flight).unwrap_or(u32::MAX),
            app_limited: self.app_limited_until.is_some(),
            again,
        }
    }

    /// The first segment is acknowledged cumulatively; `newly` if it was not
    /// selectively acknowledged before.
    #[inline]
    pub(crate) fn acknowledged(&mut self, newly: bool) {
        if let Some(packet) = self.packets.pop_front()
            && newly
        {
            self.arrived(packet);
        }
    }

    /// The segment at `index` is selectively acknowledged for the first time.
    #[inline]
    pub(crate) fn sacked(&mut self, index: usize) {
        if let Some(&packet) = self.packets.get(index) {
            self.arrived(packet);
        }
    }

    fn arrived(&mut self, packet: Sent) {
        self.delivered += 1;
        // Of packets sent together the later one is the newer.
        if self.newest.is_none_or(|n| packet.sent_at >= n.sent_at) {
            self.newest = Some(packet);
        }
    }

    /// An ACK at `now` reports `segments` duplicates (RFC 2883): retransmissions that were not
    /// needed were delivered, too (`C.delivered` of draft-ietf-ccwg-bbr, Linux `tp->delivered`).
    pub(crate) fn duplicated(&mut self, now: Time, segments: u32) {
        self.delivered += u64::from(segments);
        self.delivered_at = now;
    }

    /// Ends the ACK at `now`: the sample of the packets that were reported, if
    /// it is one. An interval shorter than the smallest RTT, `min_rtt`, comes
    /// from a retransmission that was not needed.
    pub(crate) fn sample(&mut self, now: Time, min_rtt: Duration, mss: u32) -> Option<RateSample> {
        if self.app_limited_until.is_some_and(|u| self.delivered > u) {
            self.app_limited_until = None;
        }
        let packet = self.newest.take()?;
        self.delivered_at = now;
        self.first_sent_at = packet.sent_at;
        let sending = packet.sent_at.since(packet.first_sent_at);
        let acknowledging = now.since(packet.delivered_at);
        let interval = sending.max(acknowledging);
        let known = min_rtt != Duration::MAX;
        if interval.is_zero() || (known && interval + CLOCK < min_rtt) {
            return None;
        }
        let delivered = self.delivered - packet.delivered;
        Some(RateSample {
            rate: Rate::of(Bytes::new(delivered * u64::from(mss)), interval),
            delivered: delivered as f64,
            interval,
            prior_delivered: packet.delivered as f64,
            total_delivered: self.delivered as f64,
            app_limited: packet.app_limited,
            prior_flight: f64::from(packet.flight),
            rtt: (!packet.again).then(|| now.since(packet.sent_at)),
        })
    }

    /// The application has nothing more to send, or the algorithm holds it
    /// back, with `flight` segments in flight.
    pub(crate) fn limit(&mut self, flight: usize) {
        self.app_limited_until = Some(self.delivered + flight as u64);
    }

    /// True while what is sent is limited by the application.
    pub(crate) fn is_limited(&self) -> bool {
        self.app_limited_until.is_some()
    }
}

#[cfg(test)]
mod tests;
