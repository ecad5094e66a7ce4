//! What a box has received lately, and the packets that repairs restore of it.

use super::field::{self, Multiples};
use super::repair::{self, Fingerprint, LENGTH, Part, Repair, fingerprint};
use bentpipe_quic::coding::PROTECTED;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Packets that are kept: those that repairs are made for, and as many acknowledgements between them.
const MOST_KEPT: usize = 2 * PROTECTED;
/// Groups that wait for more repairs.
const MOST_GROUPS: usize = 16;
/// Time without a repair after which nothing is kept any more.
const LASTS: Duration = Duration::from_secs(30);

/// The packets of an association that were received last.
#[derive(Debug)]
pub(super) struct Incoming {
    kept: VecDeque<(Fingerprint, Box<[u8]>)>,
    groups: VecDeque<Group>,
    /// When the last repair came.
    repaired: Instant,
}

/// Packets that were coded together, and what has come of their repairs.
#[derive(Debug)]
struct Group {
    packets: Vec<Fingerprint>,
    coded: usize,
    /// The number, the part and the coded bytes of each.
    repairs: Vec<(usize, Part, Box<[u8]>)>,
    /// Nothing of it is missing any more.
    done: bool,
}

impl Incoming {
    pub(super) fn new(now: Instant) -> Incoming {
        Incoming {
            kept: VecDeque::new(),
            groups: VecDeque::new(),
            repaired: now,
        }
    }

    /// No repair has come for long.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.repaired) > LASTS
    }

    /// Takes a packet that was received.
    pub(super) fn received(&mut self, packet: &[u8]) {
        let Some(fingerprint) = fingerprint(packet) else {
            return;
        };
        if self.kept.len() == MOST_KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back((fingerprint, packet.into()));
    }

    /// Takes a repair; returns the packets that can be restored with it.
    pub(super) fn repair(&mut self, now: Instant, repair: &Repair<'_>) -> Vec<Box<[u8]>> {
        self.repaired = now;
        let is_of = |it: &Group| it.coded == repair.coded && it.packets == repair.packets;
        let at = match self.groups.iter().position(is_of) {
            Some(at) => at,
            None => {
                if self.groups.len() == MOST_GROUPS {
                    self.groups.pop_front();
                }
                self.groups.push_back(Group {
                    packets: repair.packets.clone(),
                    coded: repair.coded,
                    repairs: Vec::new(),
                    done: false,
                });
                self.groups.len() - 1
            }
        };
        let Some(group) = self.groups.get_mut(at).filter(|group| !group.done) else {
            return Vec::new();
        };
        let known = |it: &(usize, Part, _)| (it.0, it.1) == (repair.number, repair.part);
        if group.repairs.iter().any(known) {
            return Vec::new();
        }
        let bytes = repair.bytes.into();
        group.repairs.push((repair.number, repair.part, bytes));
        let kept = &self.kept;
        let packets: Vec<Option<&[u8]>> = group
            .packets
            .iter()
            .map(|of| kept.iter().rev().find(|it| it.0 == *of).map(|it| &*it.1))
            .collect();
        let Some(restored) = group.restore(&packets) else {
            return Vec::new();
        };
        group.done = true;
        group.repairs = Vec::new();
        let restored = restored.unwrap_or_default();
        restored.iter().for_each(|packet| self.received(packet));
        restored
    }
}

impl Group {
    /// Restores what is missing of `packets`; `None` while that takes more repairs. `Some(None)` where what
    /// comes out is not what was sent: two packets have the same fingerprint, or a repair is forged.
    fn restore(&self, packets: &[Option<&[u8]>]) -> Option<Option<Vec<Box<[u8]>>>> {
        let missing = |(at, it): (usize, &Option<_>)| it.is_none().then_some(at);
        let missing: Vec<usize> = packets.iter().enumerate().filter_map(missing).collect();
        let mut restored = vec![vec![0; self.coded]; missing.len()];
        for part in self.parts() {
            let range = part.range(self.coded);
            let of_part = self.repairs.iter().filter(|it| it.1 == *part);
            let repairs: Vec<_> = of_part.take(missing.len()).collect();
            if repairs.len() < missing.len() {
                return None;
            }
            // What the repairs say of those that are missing alone.
            let sums = repairs.iter().map(|(number, _, bytes)| {
                let mut sum = bytes.to_vec();
                for (at, packet) in packets.iter().enumerate() {
                    if let Some(packet) = packet {
                        let multiples = Multiples::of(field::factor(*number, at));
                        repair::add(&mut sum, packet, range.clone(), &multiples);
                    }
                }
                sum
            });
            let sums: Vec<Vec<u8>> = sums.collect();
            let numbers: Vec<usize> = repairs.iter().map(|it| it.0).collect();
            let inverse = field::inverse(&numbers, &missing);
            for (packet, factors) in restored.iter_mut().zip(inverse) {
                for (sum, by) in sums.iter().zip(factors) {
                    Multiples::of(by).add(&mut packet[range.clone()], sum);
                }
            }
        }
        let all = restored.into_iter().zip(missing);
        let all = all.map(|(coded, at)| {
            let (length, packet) = coded.split_first_chunk::<LENGTH>()?;
            let length = usize::from(u16::from_be_bytes(*length));
            let packet = packet.get(..length)?;
            (fingerprint(packet)? == self.packets[at]).then(|| packet.into())
        });
        Some(all.collect())
    }

    /// The parts in which its repairs come.
    fn parts(&self) -> &'static [Part] {
        match self.repairs.first() {
            Some((_, Part::Whole, _)) | None => &[Part::Whole],
            _ => &[Part::First, Part::Second],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::outgoing::{Conditions, Credit, Outgoing};
    use super::*;
    use proptest::prelude::*;

    /// Packets of these lengths that differ from each other.
    fn packets(lengths: &[usize]) -> Vec<Vec<u8>> {
        let packet = |(of, &length): (usize, &usize)| {
            let byte = |at: usize| (at * 31 + of * 97 + at / 7 * of) as u8;
            let mut bytes: Vec<u8> = (0..length).map(byte).collect();
            // The end of each is as good as random, and here only different.
            let end = bytes.len() - 3;
            bytes[end..].copy_from_slice(&[of as u8, 200 - of as u8, 7]);
            bytes
        };
        lengths.iter().enumerate().map(packet).collect()
    }

    fn repairs(packets: &[Vec<u8>], share: f64) -> Vec<Vec<u8>> {
        let now = Instant::now();
        let mut outgoing = Outgoing::default();
        packets.iter().for_each(|packet| outgoing.sent(now, packet));
        let conditions = Conditions {
            share,
            rtt: Duration::from_secs(1),
            rate: 1e9,
            wait: Duration::from_millis(20),
        };
        let groups = outgoing.take(now, true, &conditions);
        let credit = Credit::default();
        groups
            .iter()
            .flat_map(|it| it.repairs(&conditions, &credit))
            .collect()
    }

    proptest! {
        #[test]
        fn as_many_packets_as_repairs_are_restored_and_no_more(
            lengths in proptest::collection::vec(20..1_452usize, 2..=24),
            share in 0.005..0.2f64,
            order in any::<u64>(),
        ) {
            let sent = packets(&lengths);
            let repairs = repairs(&sent, share);
            let parts = repair::decode(&repairs[0]).map(|it| if it.part == Part::Whole { 1 } else { 2 });
            let count = repairs.len() / parts.unwrap();
            for lost in 1..=(count + 1).min(sent.len()) {
                let is_lost = |at: usize| (at * 7 + order as usize) % sent.len() < lost;
                let now = Instant::now();
                let mut incoming = Incoming::new(now);
                for (at, packet) in sent.iter().enumerate() {
                    if !is_lost(at) {
                        incoming.received(packet);
                    }
                }
                let missing: Vec<&Vec<u8>> =
                    (0..sent.len()).filter(|at| is_lost(*at)).map(|at| &sent[at]).collect();
                let mut restored = Vec::new();
                for repair in &repairs {
                    let repair = repair::decode(repair).unwrap();
                    restored.extend(incoming.repair(now, &repair));
                    // None is restored twice.
                    restored.extend(incoming.repair(now, &repair));
                }
                if missing.len() <= count {
                    prop_assert_eq!(restored.len(), missing.len());
                    prop_assert!(restored.iter().zip(missing).all(|(a, b)| **a == **b));
                } else {
                    prop_assert!(restored.is_empty());
                }
            }
        }

        #[test]
        fn no_repair_does_harm(
            lengths in proptest::collection::vec(20..300usize, 2..=24),
            at in any::<prop::sample::Index>(),
            bytes in proptest::collection::vec(any::<u8>(), 1..400),
        ) {
            let sent = packets(&lengths);
            let now = Instant::now();
            let mut incoming = Incoming::new(now);
            sent.iter().skip(1).for_each(|packet| incoming.received(packet));
            for mut forged in repairs(&sent, 0.2) {
                let from = at.index(forged.len());
                for (old, new) in forged[from..].iter_mut().zip(&bytes) {
                    *old = *new;
                }
                if let Some(repair) = repair::decode(&forged) {
                    for packet in incoming.repair(now, &repair) {
                        prop_assert_eq!(fingerprint(&packet).map(|it| it.to_vec()),
                            packet.last_chunk::<3>().map(|it| it.to_vec()));
                    }
                }
            }
        }
    }

    #[test]
    fn groups_take_packets_in_turn_so_that_a_burst_is_restored() {
        let sent = packets(&[1_452; 60]);
        let now = Instant::now();
        let mut incoming = Incoming::new(now);
        let burst = 20..26;
        for (at, packet) in sent.iter().enumerate() {
            if !burst.contains(&at) {
                incoming.received(packet);
            }
        }
        let all = repairs(&sent, 0.01);
        let all = all.iter().map(|it| repair::decode(it).unwrap());
        let restored: usize = all.map(|it| incoming.repair(now, &it).len()).sum();
        assert_eq!(restored, burst.len());
    }

    #[test]
    fn nothing_is_kept_for_long_without_repairs() {
        let now = Instant::now();
        let mut incoming = Incoming::new(now);
        (0..500).for_each(|_| incoming.received(&[3; 100]));
        assert_eq!(incoming.kept.len(), MOST_KEPT);
        assert!(!incoming.is_over(now + LASTS));
        assert!(incoming.is_over(now + LASTS + Duration::from_millis(1)));
    }
}
