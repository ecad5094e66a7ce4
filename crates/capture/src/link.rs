//! The link behind a connection.

use crate::estimate::{Estimate, quantile};
use crate::loss::Losses;
use crate::{History, loss, rate, round_trip};

/// A wait that is longer than one of whole packets by this part of a packet is one of as many.
const WHOLE: f64 = 0.05;

/// What a capture shows of the link. Rates and sizes are at the IP layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Bit/s towards the receiver.
    pub rate: Estimate,
    /// The round trip without queues, seconds.
    pub rtt: Estimate,
    /// What was lost.
    pub losses: Losses,
    /// What the queue before the link holds, bytes.
    pub queue: Estimate,
    /// The longest wait in the queue, seconds.
    pub longest_wait: f64,
    /// The receive window that limited the sender, bytes.
    pub window: Option<u64>,
}

impl Link {
    /// Estimates the link; `None` if nothing was acknowledged.
    #[must_use]
    pub fn of(history: &History) -> Option<Link> {
        let rate = rate::rate(history)?;
        let known = (!rate.is_bound()).then_some(rate.value);
        let rtt = round_trip::base(history, known)?;
        let packet = known.map_or(0.0, |rate| 8.0 * f64::from(history.packet()) / rate);
        let losses = loss::losses(history, rtt.value, packet);
        let queue = queue(&losses, rate.value, f64::from(history.packet()));
        Some(Link {
            rate,
            rtt,
            queue,
            longest_wait: losses.longest_wait,
            losses,
            window: window(history),
        })
    }

    /// The bandwidth-delay product, bytes.
    #[must_use]
    pub fn bdp(&self) -> f64 {
        self.rate.value * self.rtt.value / 8.0
    }
}

/// The queue's size, in whole packets: what left it while the packet waited that waited longest
/// of those around drops. It was admitted last, behind all that fit but itself, and a part of the
/// one in transmission.
fn queue(losses: &Losses, rate: f64, packet: f64) -> Estimate {
    let bytes = |wait: f64| wait * rate / 8.0;
    let waits = &losses.waits_at_drops;
    match (quantile(waits, 0.1), quantile(waits, 1.0)) {
        (Some(low), Some(most)) => {
            // A single acknowledgement may have been delayed for longer than any queue.
            let most = bytes(most.min(losses.longest_wait));
            let most = (most / packet.max(1.0) - WHOLE).ceil() * packet;
            Estimate {
                value: most,
                low: bytes(low).min(most - packet).max(0.0),
                high: most + packet,
            }
        }
        _ => Estimate::at_least(bytes(losses.longest_wait)),
    }
}

/// The window of the receiver, where it and nothing else held the sender back: most of the time
/// all of it was in flight.
fn window(history: &History) -> Option<u64> {
    let mss = u64::from(history.mss);
    let mut limited = 0_usize;
    let mut all = 0_usize;
    let mut largest = 0;
    for (index, ack) in history.acks.iter().enumerate() {
        let window = ack.window?;
        all += 1;
        largest = largest.max(window);
        let flight = history.flight_after(index) as u64 * mss;
        limited += usize::from(flight + 2 * mss >= window);
    }
    (all > 0 && 2 * limited > all).then_some(largest)
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
