//! Detects signs that UDP is throttled.
//!
//! The signs are that for ten seconds data waits while less than half of the link's rate is
//! delivered, and packets are lost or queued as by a policer or a shaper. A measurement then shows
//! whether TCP gets more.

use crate::tunnel::budget::Budget;
use crate::tunnel::known::Knowledge;
use crate::tunnel::shaper::Peer;
use quinn::ConnectionStats;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between samples.
const SAMPLE: Duration = Duration::from_secs(1);
/// Samples in which it must be so.
const SAMPLES: u32 = 10;
/// Pause after a suspicion.
const PAUSE: Duration = Duration::from_secs(300);
/// Share of packets lost, in percent, above which something drops them.
const LOSS: u64 = 5;
/// Round trip beyond twice the shortest at which something queues them.
const QUEUE: Duration = Duration::from_millis(200);

/// Watches one association as it sends.
#[derive(Debug)]
pub(super) struct Throttle {
    knowledge: Arc<Knowledge>,
    peer: Arc<Peer>,
    budget: Arc<Budget>,
    next: Instant,
    last: Sample,
    shortest: Duration,
    slow: u32,
    /// Streams had to wait since the last sample.
    waited: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    sent_bytes: u64,
    lost_bytes: u64,
    sent: u64,
    lost: u64,
}

impl Throttle {
    pub(super) fn new(
        knowledge: &Arc<Knowledge>,
        peer: &Arc<Peer>,
        budget: &Arc<Budget>,
    ) -> Throttle {
        Throttle {
            knowledge: Arc::clone(knowledge),
            peer: Arc::clone(peer),
            budget: Arc::clone(budget),
            next: Instant::now() + SAMPLE,
            last: Sample::default(),
            shortest: Duration::MAX,
            slow: 0,
            waited: false,
        }
    }

    /// True where it is suspected that UDP is throttled.
    ///
    /// `waited` where streams had to wait for others since the last call.
    pub(super) fn suspects(
        &mut self,
        now: Instant,
        outage: bool,
        waited: bool,
        stats: &ConnectionStats,
    ) -> bool {
        self.waited |= waited;
        if now < self.next {
            return false;
        }
        self.next = now + SAMPLE;
        let sample = Sample {
            sent_bytes: stats.udp_tx.bytes,
            lost_bytes: stats.path.lost_bytes,
            sent: stats.path.sent_packets,
            lost: stats.path.lost_packets,
        };
        let slow = !outage && self.is_slow(sample, stats.path.rtt, self.budget.unacknowledged());
        self.waited = false;
        self.last = sample;
        self.slow = if slow { self.slow + 1 } else { 0 };
        let suspects = self.slow >= SAMPLES;
        if suspects {
            self.slow = 0;
            self.next = now + PAUSE;
        }
        suspects
    }

    fn is_slow(&mut self, sample: Sample, rtt: Duration, held: u64) -> bool {
        self.shortest = self.shortest.min(rtt);
        let Some(rate) = self.knowledge.rate() else {
            return false;
        };
        // Where it sends less of itself, less arrives.
        let rate = self.peer.granted().map_or(rate, |own| own.min(rate));
        let rate = rate.bps() / 8;
        let sent = sample.sent_bytes.saturating_sub(self.last.sent_bytes);
        let lost = sample.lost_bytes.saturating_sub(self.last.lost_bytes);
        let packets = sample.sent.saturating_sub(self.last.sent);
        let packets_lost = sample.lost.saturating_sub(self.last.lost);
        let lossy = packets_lost * 100 > packets * LOSS;
        let queued = rtt > 2 * self.shortest + QUEUE;
        let millis = u64::try_from(self.shortest.as_millis()).unwrap_or(u64::MAX);
        let in_flight = rate.saturating_mul(millis) / 1000;
        let waits = self.waited || held > in_flight / 2 + 64 * 1024;
        waits && sent.saturating_sub(lost) < rate / 2 && (lossy || queued)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_units::Rate;
    use bytes::Bytes;

    fn seconds(
        throttle: &mut Throttle,
        count: u32,
        sent: u64,
        lost: u64,
        stats: &mut ConnectionStats,
    ) -> bool {
        let mut suspects = false;
        for _ in 0..count {
            stats.udp_tx.bytes += sent * 1200;
            stats.path.sent_packets += sent;
            stats.path.lost_packets += lost;
            stats.path.lost_bytes += lost * 1200;
            let now = throttle.next;
            suspects |= throttle.suspects(now, false, false, stats);
        }
        suspects
    }

    #[test]
    fn only_loss_or_a_queue_while_data_waits_below_half_the_rate_is_suspect() {
        let knowledge = Knowledge::new(Some(Rate::from_mbps(20)), Duration::from_millis(550));
        let peer = knowledge.shaper().peer("192.0.2.1:4433".parse().unwrap());
        let budget = Budget::new(100_000_000, 100_000_000, 4_000_000);
        let account = budget.account();
        let mut stats = ConnectionStats::default();
        stats.path.rtt = Duration::from_millis(550);
        let mut throttle = Throttle::new(&knowledge, &peer, &budget);
        // 20 Mbit/s is 2083 packets of 1200 bytes a second.
        assert!(!seconds(&mut throttle, 30, 2000, 1800, &mut stats));
        let held = account.hold(Bytes::from(vec![0; 3_000_000]));
        assert!(!seconds(&mut throttle, 30, 2000, 20, &mut stats));
        assert!(!seconds(&mut throttle, 30, 200, 2, &mut stats));
        assert!(!seconds(&mut throttle, 9, 2000, 1800, &mut stats));
        assert!(!seconds(&mut throttle, 1, 2000, 0, &mut stats));
        assert!(seconds(&mut throttle, 10, 2000, 1800, &mut stats));
        stats.path.rtt = Duration::from_secs(2);
        assert!(seconds(&mut throttle, 10, 200, 0, &mut stats));
        drop(held);
        // Data that waits in the kernel until the streams have their turns.
        assert!(!throttle.suspects(throttle.next, false, true, &stats) && throttle.slow == 1);
        let held = account.hold(Bytes::from(vec![0; 3_000_000]));
        // 200 packets are 1.9 Mbit/s: all of a cap, but little of the rate, also where less is found to
        // arrive.
        peer.set_cap(Some(Rate::from_mbps(2)));
        assert!(!seconds(&mut throttle, 30, 200, 0, &mut stats));
        peer.set_cap(None);
        peer.set_rate(Some(Rate::from_mbps(2)));
        assert!(seconds(&mut throttle, 10, 200, 0, &mut stats));
        knowledge.set_rate(None);
        assert!(!seconds(&mut throttle, 30, 200, 0, &mut stats));
        drop(held);
    }
}
