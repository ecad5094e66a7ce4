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
/// Times of a pause after which repairs come, although more streams pause.
const PAUSES: u32 = 4;
/// What they may take at once, bytes: a repair of full length for each of so many packets.
const DEPTH: f64 = 24.0 * 1_500.0;

/// A packet that was sent.
#[derive(Debug)]
struct Packet {
    at: Instant,
    bytes: Box<[u8]>,
}

/// When small streams have sent what they had.
#[derive(Clone, Copy, Debug)]
struct Pause {
    /// Before the first of their packets.
    from: Instant,
    /// After the last of them.
    until: Instant,
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
    /// Time without a packet that is a pause.
    pub(super) wait: Duration,
}

/// What repairs may take of a link.
#[derive(Debug, Default)]
pub(super) struct Credit(Option<(f64, Instant)>);

impl Credit {
    /// Bytes that they may take now, over a link of so many bytes a second.
    pub(super) fn bytes(&mut self, now: Instant, rate: f64) -> f64 {
        let (bytes, since) = self.0.unwrap_or((DEPTH, now));
        let passed = now.saturating_duration_since(since).as_secs_f64();
        let bytes = (bytes + PART * rate * passed).min(DEPTH);
        self.0 = Some((bytes, now));
        bytes
    }

    /// They take so many; the last one may be longer than what is left.
    fn spend(&mut self, bytes: usize) {
        if let Some((left, _)) = &mut self.0 {
            *left -= bytes as f64;
        }
    }
}

/// The packets of one association that are not covered.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    recent: VecDeque<Packet>,
    /// Small streams that have paused while others send.
    paused: Option<Pause>,
}

impl Outgoing {
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

    /// A stream has nothing more to send after so many bytes, which go before what others send.
    pub(super) fn pause(&mut self, now: Instant, bytes: u64, conditions: &Conditions) {
        let Conditions { wait, rate, .. } = *conditions;
        let takes = Duration::from_secs_f64((bytes as f64 / rate).min(1.0));
        let from = now.checked_sub(wait / 4).unwrap_or(now);
        let pause = self.paused.get_or_insert(Pause { from, until: now });
        // Where one pauses after the other, repairs come all the same.
        let until = (now + wait / 2 + takes).min(pause.from + PAUSES * wait);
        pause.until = pause.until.max(until);
    }

    /// When nothing has been sent for long enough: `wait` after the last packet where nothing waits to be
    /// sent (`idle`); where something does, packets are only apart, and the end comes later.
    fn silent(&self, idle: bool, conditions: &Conditions) -> Option<Instant> {
        let Conditions { wait, rtt, .. } = *conditions;
        let last = self.recent.back()?.at;
        Some(last + if idle { wait } else { wait.max(rtt / 2) })
    }

    /// When repairs are due.
    pub(super) fn due(&self, idle: bool, conditions: &Conditions) -> Option<Instant> {
        let silent = self.silent(idle, conditions)?;
        let paused = self.paused.map(|it| it.until);
        Some(paused.map_or(silent, |paused| silent.min(paused)))
    }

    /// The repairs that are due, as datagrams, one after the other; what they are for is covered then.
    pub(super) fn take(
        &mut self,
        now: Instant,
        idle: bool,
        conditions: &Conditions,
        credit: &mut Credit,
    ) -> Vec<Vec<u8>> {
        let Conditions {
            share, rtt, rate, ..
        } = *conditions;
        let is_silent = self.silent(idle, conditions).is_some_and(|at| at <= now);
        // What others have sent before is none of those that have paused.
        let first = match self.paused.take().filter(|_| !is_silent) {
            Some(pause) => self.recent.partition_point(|it| it.at < pause.from),
            None => 0,
        };
        let all = self.recent.split_off(first);
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
                if credit.bytes(now, rate) <= 0.0 {
                    return repairs;
                }
                credit.spend(datagram.len());
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
        wait: Duration::from_millis(16),
    };

    fn packet(of: u8, length: usize) -> Vec<u8> {
        vec![of; length]
    }

    #[test]
    fn repairs_are_due_when_nothing_more_comes() {
        let start = Instant::now();
        let mut outgoing = Outgoing::default();
        let due = |outgoing: &Outgoing, idle| Some(outgoing.due(idle, &CONDITIONS)? - start);
        assert_eq!(due(&outgoing, true), None);
        outgoing.sent(start, &packet(1, 100));
        outgoing.sent(start + MS(5), &packet(2, 100));
        assert_eq!(due(&outgoing, true), Some(MS(21)));
        // Data waits: a slow link only has gaps between packets.
        assert_eq!(due(&outgoing, false), Some(MS(280)));
        assert_eq!(
            outgoing
                .take(start + MS(21), true, &CONDITIONS, &mut Credit::default())
                .len(),
            1
        );
        assert_eq!(due(&outgoing, true), None);
    }

    #[test]
    fn a_small_stream_that_pauses_while_others_send_has_repairs_of_its_own() {
        let start = Instant::now();
        let mut outgoing = Outgoing::default();
        (0..60).for_each(|at| outgoing.sent(start + MS(at), &packet(at as u8, 100)));
        // 5 kB take 2 ms; its packets leave between 36 and 50 ms.
        outgoing.pause(start + MS(40), 5_000, &CONDITIONS);
        assert_eq!(outgoing.due(false, &CONDITIONS), Some(start + MS(50)));
        let repairs = outgoing.take(start + MS(50), false, &CONDITIONS, &mut Credit::default());
        let covered = repairs
            .iter()
            .map(|it| repair::decode(it).map(|it| it.packets.len()));
        assert_eq!(covered.collect::<Vec<_>>(), [Some(24); 2]);
        // The others are covered when they pause.
        assert_eq!(outgoing.recent.len(), 36);
        for at in 60..200 {
            outgoing.pause(start + MS(at), 5_000, &CONDITIONS);
        }
        assert_eq!(outgoing.due(false, &CONDITIONS), Some(start + MS(120)));
    }

    #[test]
    fn a_single_packet_is_sent_again() {
        let now = Instant::now();
        let mut outgoing = Outgoing::default();
        outgoing.sent(now, &packet(1, 1452));
        assert_eq!(
            outgoing.take(now, true, &CONDITIONS, &mut Credit::default()),
            [packet(1, 1452)]
        );
    }

    #[test]
    fn what_is_older_than_a_round_trip_needs_none() {
        let now = Instant::now();
        let mut outgoing = Outgoing::default();
        outgoing.sent(now, &packet(1, 100));
        outgoing.sent(now + MS(600), &packet(2, 100));
        let repairs = outgoing.take(now + MS(617), true, &CONDITIONS, &mut Credit::default());
        assert_eq!(repairs, [packet(2, 100)]);
    }

    #[test]
    fn no_repair_is_longer_than_a_packet() {
        let now = Instant::now();
        for (length, packets) in [(1_452, 96), (1_452, 8), (700, 8), (60, 2)] {
            let mut outgoing = Outgoing::default();
            (0..packets).for_each(|of| outgoing.sent(now, &packet(of, length)));
            let repairs = outgoing.take(now, true, &CONDITIONS, &mut Credit::default());
            assert!(!repairs.is_empty());
            assert!(repairs.iter().all(|it| it.len() <= length.max(1_200)));
            assert!(repairs.iter().all(|it| repair::decode(it).is_some()));
        }
    }

    #[test]
    fn repairs_of_all_take_a_tenth_of_the_link_at_most() {
        let start = Instant::now();
        let mut outgoing = [Outgoing::default(), Outgoing::default()];
        let (mut bytes, mut credit) = (0, Credit::default());
        for at in 0..1_000 {
            let now = start + MS(at * 10);
            for outgoing in &mut outgoing {
                outgoing.sent(now, &packet(at as u8, 1_452));
                let repairs = outgoing.take(now, true, &CONDITIONS, &mut credit);
                bytes += repairs.iter().map(Vec::len).sum::<usize>();
            }
        }
        let most = DEPTH + PART * CONDITIONS.rate * 10.0 + 1_452.0;
        assert!(
            (bytes as f64) < most && bytes as f64 > 0.5 * most,
            "{bytes}"
        );
    }
}
