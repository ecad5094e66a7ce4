//! Delivery-rate samples (draft-ietf-ccwg-bbr, section 4.1.2) for packets that quinn identifies by
//! their send time.
//!
//! Packets that quinn builds together are sent at one instant and share an entry. This includes
//! packets without data, which are never acknowledged; therefore the oldest entries are dropped
//! beyond a bound.

use bentpipe_cc::RateSample;
use bentpipe_units::{Bytes, Duration as Span, Rate};
use std::collections::VecDeque;
use std::time::Instant;

/// Most entries: half a second of 2 Gbit/s in batches of 15 kB, four times over.
const MOST: usize = 1 << 15;

/// Record of the packets that were sent at one instant.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    /// Bytes not yet acknowledged.
    left: u64,
    /// Bytes delivered by then, and when the last of them was.
    delivered: u64,
    delivered_at: Instant,
    /// When the newest packet delivered by then was sent.
    first_sent_at: Instant,
    /// Bytes in flight, these not counted.
    flight: u64,
    app_limited: bool,
}

/// The record of one association.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    packets: VecDeque<Sent>,
    delivered: u64,
    times: Option<Times>,
    /// What is sent until so many bytes are delivered shows the application's rate
    /// and not the network's.
    limited_until: Option<u64>,
    newest: Option<Sent>,
}

/// When the newest packet delivered so far arrived, and when it was sent.
#[derive(Clone, Copy, Debug)]
struct Times {
    delivered_at: Instant,
    first_sent_at: Instant,
}

impl Record {
    /// Packets of `bytes` in all are sent while `flight` bytes are in flight.
    pub(super) fn sent(&mut self, now: Instant, bytes: u64, flight: u64) {
        if let Some(last) = self.packets.back_mut()
            && last.at == now
        {
            last.left += bytes;
            return;
        }
        let idle = Times {
            delivered_at: now,
            first_sent_at: now,
        };
        if flight == 0 {
            self.times = Some(idle);
        }
        let times = self.times.unwrap_or(idle);
        if self.packets.len() == MOST {
            self.packets.pop_front();
        }
        self.packets.push_back(Sent {
            at: now,
            left: bytes,
            delivered: self.delivered,
            delivered_at: times.delivered_at,
            first_sent_at: times.first_sent_at,
            flight,
            app_limited: self.limited_until.is_some(),
        });
    }

    /// A packet of `bytes` that was sent at `sent` is acknowledged.
    pub(super) fn acknowledged(&mut self, sent: Instant, bytes: u64) {
        let place = self.packets.partition_point(|packet| packet.at < sent);
        let Some(packet) = self.packets.get_mut(place).filter(|it| it.at == sent) else {
            return;
        };
        packet.left = packet.left.saturating_sub(bytes);
        let packet = *packet;
        self.delivered += bytes;
        if self.newest.is_none_or(|newest| packet.at >= newest.at) {
            self.newest = Some(packet);
        }
        while self.packets.front().is_some_and(|first| first.left == 0) {
            self.packets.pop_front();
        }
    }

    /// The sample of an acknowledgement that ends at `now`. An interval shorter than
    /// the smallest RTT is none.
    pub(super) fn sample(&mut self, now: Instant, min_rtt: Span, mss: u32) -> Option<RateSample> {
        if self.limited_until.is_some_and(|it| self.delivered > it) {
            self.limited_until = None;
        }
        let packet = self.newest.take()?;
        self.times = Some(Times {
            delivered_at: now,
            first_sent_at: packet.at,
        });
        let sending = packet.at.saturating_duration_since(packet.first_sent_at);
        let acknowledging = now.saturating_duration_since(packet.delivered_at);
        let interval = span(sending.max(acknowledging));
        if interval.is_zero() || (min_rtt != Span::MAX && interval < min_rtt) {
            return None;
        }
        let delivered = self.delivered - packet.delivered;
        let segments = |bytes: u64| bytes as f64 / f64::from(mss.max(1));
        Some(RateSample {
            rate: Rate::of(Bytes::new(delivered), interval),
            delivered: segments(delivered),
            interval,
            prior_delivered: segments(packet.delivered),
            total_delivered: segments(self.delivered),
            app_limited: packet.app_limited,
            prior_flight: segments(packet.flight),
            rtt: Some(span(now.saturating_duration_since(packet.at))),
        })
    }

    /// The application has nothing more to send, or the control holds it back, with
    /// `flight` bytes in flight.
    pub(super) fn limit(&mut self, flight: u64) {
        self.limited_until = Some(self.delivered + flight.max(1));
    }
}

fn span(duration: std::time::Duration) -> Span {
    Span::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}
