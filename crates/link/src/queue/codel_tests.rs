//! CoDel against RFC 8289.

use crate::Verdict;
use crate::testing::Link;
use crate::{CoDelSettings, Limit, LinkSettings, PacketMeta, QueueSettings};
use bentpipe_units::{Duration, Rate, Time};
use std::collections::VecDeque;

const SIZE: u32 = 1000;
/// 10 Mbit/s.
const TRANSMISSION_NS: u64 = 800_000;
const TARGET_NS: i64 = 5_000_000;
const INTERVAL_NS: i64 = 100_000_000;
const MAXPACKET: u64 = 1500;

/// The pseudocode of section 5, in its words, with times in nanoseconds and
/// zero for none.
#[derive(Default)]
struct Pseudocode {
    queue: VecDeque<(usize, i64)>,
    first_above_time: i64,
    drop_next: i64,
    count: u32,
    lastcount: u32,
    dropping: bool,
    drops: Vec<(usize, i64)>,
}

impl Pseudocode {
    fn dodequeue(&mut self, now: i64) -> (Option<(usize, i64)>, bool) {
        let Some(p) = self.queue.pop_front() else {
            self.first_above_time = 0;
            return (None, false);
        };
        let mut ok_to_drop = false;
        let sojourn_time = now - p.1;
        if sojourn_time < TARGET_NS || self.queue.len() as u64 * u64::from(SIZE) <= MAXPACKET {
            self.first_above_time = 0;
        } else if self.first_above_time == 0 {
            self.first_above_time = now + INTERVAL_NS;
        } else if now >= self.first_above_time {
            ok_to_drop = true;
        }
        (Some(p), ok_to_drop)
    }

    fn control_law(t: i64, count: u32) -> i64 {
        t + (INTERVAL_NS as f64 / f64::from(count).sqrt()) as i64
    }

    fn drop(&mut self, p: Option<(usize, i64)>, now: i64) {
        self.drops.extend(p.map(|p| (p.0, now)));
    }

    fn deque(&mut self, now: i64) -> Option<usize> {
        let (mut p, mut ok_to_drop) = self.dodequeue(now);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.drop(p, now);
                self.count += 1;
                (p, ok_to_drop) = self.dodequeue(now);
                if ok_to_drop {
                    self.drop_next = Self::control_law(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            self.drop(p, now);
            (p, _) = self.dodequeue(now);
            self.dropping = true;
            let delta = self.count - self.lastcount;
            self.count = 1;
            if delta > 1 && now - self.drop_next < 16 * INTERVAL_NS {
                self.count = delta;
            }
            self.drop_next = Self::control_law(now, self.count);
            self.lastcount = self.count;
        }
        p.map(|p| p.0)
    }
}

/// Overload for 5 s (three packets in the time of two), light load for 0.3 s,
/// overload for 3 s, a pause, then a burst of 300 packets.
fn arrivals() -> Vec<u64> {
    let mut at = 0;
    let mut times = Vec::new();
    for (n, gap) in [
        (5_000_000 / 533, 533_333),
        (200, 1_500_000),
        (3_000_000 / 533, 533_333),
        (1, 5_000_000_000),
        (300, 0),
    ] {
        for _ in 0..n {
            times.push(at);
            at += gap;
        }
    }
    times
}

/// Packets and what happened to them, or when.
type At<T> = Vec<(usize, T)>;

/// Arrivals at the far end and drops, by the pseudocode.
fn expected() -> (At<u64>, At<i64>) {
    let mut codel = Pseudocode::default();
    let mut sent = Vec::new();
    let mut free = 0u64;
    let arrivals = arrivals();
    let mut next = 0;
    // The transmitter asks when it is free and something is there; once more
    // when it has become free and nothing is.
    let mut asked_in_vain = true;
    loop {
        while next < arrivals.len() && arrivals[next] < free {
            codel.queue.push_back((next, arrivals[next] as i64));
            next += 1;
        }
        let now = if codel.queue.is_empty() {
            if !asked_in_vain {
                codel.deque(free as i64);
                asked_in_vain = true;
            }
            let Some(&at) = arrivals.get(next) else {
                break;
            };
            codel.queue.push_back((next, at as i64));
            next += 1;
            at.max(free)
        } else {
            free
        };
        if let Some(packet) = codel.deque(now as i64) {
            free = now + TRANSMISSION_NS;
            sent.push((packet, free));
            asked_in_vain = false;
        }
    }
    (sent, codel.drops)
}

fn link(ecn: bool) -> Link<usize> {
    let settings = LinkSettings::new(
        Rate::from_mbps(10),
        Duration::ZERO,
        QueueSettings::CoDel(CoDelSettings {
            ecn,
            ..CoDelSettings::new(Limit::Packets(100_000))
        }),
    );
    Link::new(&settings, 1, "l")
}

/// Gives a link the arrivals, as `offered`, and runs it dry. Returns what
/// arrived when, and what was told in between.
fn drive(link: &mut Link<usize>, offered: PacketMeta) -> (At<u64>, At<Verdict>) {
    let (mut arrived, mut verdicts) = (Vec::new(), Vec::new());
    let arrivals = arrivals();
    let mut next = 0;
    loop {
        let offer = arrivals.get(next).copied();
        let event = link.next_event().map(Time::as_nanos);
        match (offer, event) {
            (None, None) => break,
            (Some(at), event) if event.is_none_or(|e| at < e) => {
                link.offer(Time::from_nanos(at), next, offered);
                next += 1;
            }
            (_, Some(at)) => {
                arrived.extend(link.deliver_due(Time::from_nanos(at)).map(|p| (p, at)));
            }
            (Some(_), None) => {}
        }
        verdicts.extend(std::iter::from_fn(|| link.poll_verdict()));
    }
    (arrived, verdicts)
}

#[test]
fn packets_and_drops_are_those_of_the_pseudocode() {
    let (sent, drops) = expected();
    let mut link = link(false);
    let (arrived, verdicts) = drive(&mut link, PacketMeta::plain(SIZE));
    assert_eq!(arrived, sent);
    let dropped: Vec<_> = drops.iter().map(|d| (d.0, Verdict::QueueDrop)).collect();
    assert_eq!(verdicts, dropped);
    assert!(drops.len() > 100, "{}", drops.len());
    assert_eq!(link.counters().early_drops, drops.len() as u64);
    // The first drop comes one interval after the first packet that waited
    // for the target, give or take a packet; then by the control law.
    let at: Vec<f64> = drops.iter().take(4).map(|d| d.1 as f64 * 1e-6).collect();
    assert!((115.0..117.0).contains(&at[0]), "{at:?}");
    for (n, expected) in [(1, 100.0), (2, 70.71), (3, 57.74)] {
        let gap = at[n] - at[n - 1];
        assert!((gap - expected).abs() < 0.9, "{at:?}");
    }
}

#[test]
fn capable_packets_are_marked_instead() {
    let mut link = link(true);
    let capable = PacketMeta {
        ecn_capable: true,
        ..PacketMeta::plain(SIZE)
    };
    let (arrived, verdicts) = drive(&mut link, capable);
    assert_eq!(arrived.len(), arrivals().len());
    assert!(verdicts.iter().all(|f| f.1 == Verdict::Marked));
    assert_eq!(link.counters().marks, verdicts.len() as u64);
    assert!(verdicts.len() > 100);
    // Those that are not are dropped as ever.
    let (_, verdicts) = drive(&mut self::link(true), PacketMeta::plain(SIZE));
    assert!(verdicts.iter().all(|f| f.1 == Verdict::QueueDrop));
}
