//! What a box has sent and has not made repairs for, and the repairs.

use super::field::{self, MOST_PACKETS};
use super::loss;
use super::repair::{self, LENGTH, Part, Repair, fingerprint};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Most packets that repairs are made for at once: what a page's object of 100 kB takes.
pub(super) const MOST_RECENT: usize = 96;
/// The part of the rate that repairs may take.
const PART: f64 = 0.1;
/// What they may take at once, bytes: a repair of full length for each of so many packets.
const DEPTH: f64 = 24.0 * 1_500.0;

/// A packet that was sent.
#[derive(Debug)]
struct Packet {
    at: Instant,
    bytes: Box<[u8]>,
}

/// What repairs are made with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditions {
    /// The share of packets that is lost.
    pub(super) share: f64,
    /// A packet that is older has been acknowledged, or QUIC knows that it is lost.
    pub(super) rtt: Duration,
    /// Bytes a second that the link takes.
    pub(super) rate: f64,
}

/// The packets of one association that are not covered.
#[derive(Debug)]
pub(super) struct Outgoing {
    recent: VecDeque<Packet>,
    /// When a stream paused after sending.
    paused: Option<Instant>,
    /// Bytes that repairs may take now, and when that was so.
    credit: (f64, Instant),
}

impl Outgoing {
    pub(super) fn new(now: Instant) -> Outgoing {
        Outgoing {
            recent: VecDeque::new(),
            paused: None,
            credit: (DEPTH, now),
        }
    }

    /// Takes a packet that was sent.
    pub(super) fn sent(&mut self, now: Instant, packet: &[u8]) {
        if self.recent.len() == MOST_RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(Packet {
            at: now,
            bytes: packet.into(),
        });
    }

    /// A stream has nothing more to send for now.
    pub(super) fn pause(&mut self, now: Instant) {
        self.paused = Some(now);
    }

    /// When repairs are due: `wait` after the last packet where nothing waits to be sent (`idle`) or after
    /// a stream has paused. Where something waits, packets are only apart: the end comes later, and within
    /// `patience` in any case.
    pub(super) fn due(&self, wait: Duration, idle: bool, patience: Duration) -> Option<Instant> {
        let last = self.recent.back()?.at;
        let silent = last + if idle { wait } else { patience.max(wait) };
        let paused = self.paused.map(|paused| paused + wait);
        Some(paused.map_or(silent, |paused| silent.min(paused)))
    }

    /// The repairs for what is not covered, as datagrams, one after the other; it is covered then.
    pub(super) fn take(&mut self, now: Instant, conditions: &Conditions) -> Vec<Vec<u8>> {
        let Conditions { share, rtt, rate } = *conditions;
        self.paused = None;
        let passed = now.saturating_duration_since(self.credit.1).as_secs_f64();
        let credit = (self.credit.0 + PART * rate * passed).min(DEPTH);
        self.credit = (credit, now);
        let all: Vec<Packet> = self.recent.drain(..).collect();
        let fresh = all
            .iter()
            .filter(|it| now.saturating_duration_since(it.at) <= rtt);
        let packets: Vec<&[u8]> = fresh.map(|it| &*it.bytes).collect();
        let groups = packets.len().div_ceil(MOST_PACKETS);
        let mut repairs = Vec::new();
        for at in 0..groups {
            // Losses come in bursts, which groups that take packets in turn share.
            let group: Vec<&[u8]> = packets.iter().skip(at).step_by(groups).copied().collect();
            for datagram in of_group(&group, share) {
                if self.credit.0 <= 0.0 {
                    return repairs;
                }
                self.credit.0 -= datagram.len() as f64;
                repairs.push(datagram);
            }
        }
        repairs
    }
}

/// The repairs for a group of packets.
fn of_group(group: &[&[u8]], share: f64) -> Vec<Vec<u8>> {
    let repairs = loss::repairs(group.len(), share);
    if let [packet] = group {
        // QUIC takes no packet twice, so that a copy is a repair that needs nothing more.
        return vec![packet.to_vec(); repairs];
    }
    let fingerprints: Option<Vec<_>> = group.iter().map(|it| fingerprint(it)).collect();
    let Some(packets) = fingerprints else {
        return Vec::new();
    };
    let longest = group.iter().map(|it| it.len()).max().unwrap_or(0);
    let coded = LENGTH + longest;
    // The path carries what is as long as a packet, but for certain no more.
    let parts: &[Part] = match repair::length(packets.len(), coded) <= longest.max(1_200) {
        true => &[Part::Whole],
        false => &[Part::First, Part::Second],
    };
    let mut datagrams = Vec::new();
    for number in 0..repairs {
        let mut sum = vec![0; coded];
        for (at, packet) in group.iter().enumerate() {
            let by = field::factor(number, at);
            // A packet of UDP is shorter than 64 KiB.
            field::add(&mut sum, &(packet.len() as u16).to_be_bytes(), by);
            field::add(&mut sum[LENGTH..], packet, by);
        }
        datagrams.extend(parts.iter().map(|&part| {
            let repair = Repair {
                part,
                number,
                coded,
                packets: packets.clone(),
                bytes: &sum[part.range(coded)],
            };
            repair.encode()
        }));
    }
    datagrams
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;
    const CONDITIONS: Conditions = Conditions {
        share: 0.01,
        rtt: Duration::from_millis(550),
        rate: 2.5e6,
    };

    fn packet(of: u8, length: usize) -> Vec<u8> {
        vec![of; length]
    }

    #[test]
    fn repairs_are_due_when_nothing_more_comes() {
        let start = Instant::now();
        let mut outgoing = Outgoing::new(start);
        let due = |outgoing: &Outgoing, idle| {
            let due = outgoing.due(MS(17), idle, MS(275))?;
            Some(due - start)
        };
        assert_eq!(due(&outgoing, true), None);
        outgoing.sent(start, &packet(1, 100));
        outgoing.sent(start + MS(5), &packet(2, 100));
        assert_eq!(due(&outgoing, true), Some(MS(22)));
        // Data waits: a slow link only has gaps between packets.
        assert_eq!(due(&outgoing, false), Some(MS(280)));
        outgoing.pause(start + MS(3));
        assert_eq!(due(&outgoing, false), Some(MS(20)));
        assert_eq!(outgoing.take(start + MS(22), &CONDITIONS).len(), 1);
        assert_eq!(due(&outgoing, true), None);
    }

    #[test]
    fn a_single_packet_is_sent_again() {
        let now = Instant::now();
        let mut outgoing = Outgoing::new(now);
        outgoing.sent(now, &packet(1, 1452));
        assert_eq!(outgoing.take(now, &CONDITIONS), [packet(1, 1452)]);
    }

    #[test]
    fn what_is_older_than_a_round_trip_needs_none() {
        let now = Instant::now();
        let mut outgoing = Outgoing::new(now);
        outgoing.sent(now, &packet(1, 100));
        outgoing.sent(now + MS(600), &packet(2, 100));
        assert_eq!(outgoing.take(now + MS(617), &CONDITIONS), [packet(2, 100)]);
    }

    #[test]
    fn no_repair_is_longer_than_a_packet() {
        let now = Instant::now();
        for (length, packets) in [(1_452, 96), (1_452, 8), (700, 8), (60, 2)] {
            let mut outgoing = Outgoing::new(now);
            (0..packets).for_each(|of| outgoing.sent(now, &packet(of, length)));
            let repairs = outgoing.take(now, &CONDITIONS);
            assert!(!repairs.is_empty());
            assert!(
                repairs.iter().all(|it| it.len() <= length.max(1_200)),
                "{length}"
            );
            assert!(repairs.iter().all(|it| repair::decode(it).is_some()));
        }
    }

    #[test]
    fn repairs_take_a_tenth_of_the_link_at_most() {
        let start = Instant::now();
        let mut outgoing = Outgoing::new(start);
        let mut bytes = 0;
        for at in 0..1_000 {
            let now = start + MS(at * 10);
            outgoing.sent(now, &packet(at as u8, 1_452));
            bytes += outgoing
                .take(now, &CONDITIONS)
                .iter()
                .map(Vec::len)
                .sum::<usize>();
        }
        let most = DEPTH + PART * CONDITIONS.rate * 10.0 + 1_452.0;
        assert!(
            (bytes as f64) < most && bytes as f64 > 0.5 * most,
            "{bytes}"
        );
    }
}
