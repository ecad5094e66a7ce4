//! PIE against RFC 8033.

use super::*;
use crate::testing::Link;
use crate::{LinkSettings, QueueSettings};
use bentpipe_units::Rate;

const LIMIT: Limit = Limit::Packets(10_000);

fn pie(settings: PieSettings) -> Pie {
    let link = QueueContext {
        rate: Rate::from_mbps(8),
        one_way_delay: Duration::ZERO,
        framing: Bytes::ZERO,
        seed: 1,
        name: "l",
    };
    Pie::new(&settings, &link)
}

/// An arrival at `ms` that finds so many packets of 1000 bytes.
fn finds(ms: u64, packets: u64) -> QueueState {
    QueueState {
        now: Time::ZERO + Duration::from_millis(ms),
        idle_since: None,
        blocked: false,
        packets,
        bytes: 1000 * packets,
    }
}

fn packet(ecn_capable: bool) -> PacketMeta {
    PacketMeta {
        ecn_capable,
        ..PacketMeta::plain(1000)
    }
}

/// `calculate_drop_prob` of appendix A with section 5.5, and the reset of section 4.4 at updates,
/// as in Linux; delays in seconds.
#[derive(Default)]
struct Pseudocode {
    qdelay_ref: f64,
    drop_prob: f64,
    qdelay_old: f64,
    burst_allowance: f64,
}

impl Pseudocode {
    fn calculate_drop_prob(&mut self, current_qdelay: f64) {
        let mut p =
            0.125 * (current_qdelay - self.qdelay_ref) + 1.25 * (current_qdelay - self.qdelay_old);
        if self.drop_prob < 0.000_001 {
            p /= 2048.0;
        } else if self.drop_prob < 0.000_01 {
            p /= 512.0;
        } else if self.drop_prob < 0.0001 {
            p /= 128.0;
        } else if self.drop_prob < 0.001 {
            p /= 32.0;
        } else if self.drop_prob < 0.01 {
            p /= 8.0;
        } else if self.drop_prob < 0.1 {
            p /= 2.0;
        }
        if self.drop_prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        self.drop_prob += p;
        if current_qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.burst_allowance = (self.burst_allowance - 0.015).max(0.0);
        if self.drop_prob == 0.0 && current_qdelay < 0.0075 && self.qdelay_old < 0.0075 {
            self.burst_allowance = 0.15;
        }
        self.qdelay_old = current_qdelay;
    }
}

#[test]
fn the_probability_is_that_of_the_pseudocode() {
    let mut pie = pie(PieSettings::new(LIMIT));
    let mut reference = Pseudocode {
        qdelay_ref: Duration::from_millis(15).as_secs(),
        burst_allowance: 0.15,
        ..Pseudocode::default()
    };
    let up = (0..400).map(|i| i / 4);
    let down = (0..400).map(|i: u64| 100_u64.saturating_sub(i));
    let mut seen = [false; 2];
    for (i, ms) in up.chain(down).enumerate() {
        pie.delay = Duration::from_millis(ms);
        pie.advance(Time::ZERO + Duration::from_millis(15 * (i as u64 + 1)));
        // In its last bit, too: only a probability of zero resets the allowance.
        reference.calculate_drop_prob(pie.delay.as_secs());
        let (p, expected) = (pie.probability, reference.drop_prob);
        assert!((p - expected).abs() < 1e-9, "update {i}: {p}, {expected}");
        let allowance = pie.burst.as_secs();
        let expected = reference.burst_allowance;
        assert!(
            (allowance - expected).abs() < 1e-9,
            "update {i}: {allowance} s, {expected} s, {p:e}"
        );
        seen[0] |= p > 0.5;
        seen[1] |= i > 400 && p == 0.0;
    }
    assert_eq!(seen, [true; 2]);
}

#[test]
fn the_worked_example() {
    let mut pie = pie(PieSettings::new(LIMIT));
    pie.old_delay = Duration::from_millis(15);
    pie.delay = Duration::from_millis(30);
    pie.advance(Time::ZERO + Duration::from_millis(15));
    assert!((pie.probability - 1.007e-5).abs() < 1e-8);
}

#[test]
fn a_burst_passes_and_a_short_queue_too() {
    let mut pie = pie(PieSettings::new(LIMIT));
    pie.probability = 1.0;
    pie.delay = Duration::from_millis(100);
    pie.old_delay = pie.delay;
    for ms in 0..150 {
        assert_eq!(pie.decide(finds(ms, 9), packet(false)), Decision::Accept);
    }
    // Ten updates later the allowance is used up.
    assert_eq!(
        pie.decide(finds(150, 9), packet(false)),
        Decision::DropEarly
    );
    assert_eq!(pie.decide(finds(151, 3), packet(false)), Decision::Accept);
    let idle = QueueState {
        idle_since: Some(Time::ZERO),
        ..finds(152, 9)
    };
    assert_eq!(pie.decide(idle, packet(false)), Decision::Accept);
}

#[test]
fn marks_give_way_to_drops_at_ten_per_cent() {
    let decisions = |probability: f64, ecn: bool| -> [usize; 2] {
        let mut pie = pie(PieSettings {
            ecn,
            ..PieSettings::new(LIMIT)
        });
        pie.burst = Duration::ZERO;
        pie.old_delay = Duration::from_millis(20);
        pie.probability = probability;
        let all: Vec<_> = (0..1000)
            .map(|_| pie.decide(finds(0, 9), packet(true)))
            .collect();
        [Decision::Mark, Decision::DropEarly].map(|kind| all.iter().filter(|d| **d == kind).count())
    };
    let [marks, drops] = decisions(0.09, true);
    assert!((60..130).contains(&marks) && drops == 0, "{marks}");
    let [marks, drops] = decisions(0.11, true);
    assert!(marks == 0 && (80..150).contains(&drops), "{drops}");
    assert_eq!(decisions(0.09, false)[0], 0);
}

/// Packets of 1000 bytes at 8 Mbit/s that come by a fifth too often.
fn overloaded(seconds: u64) -> Link<u64> {
    let queue = QueueSettings::Pie(PieSettings::new(LIMIT));
    let settings = LinkSettings::new(Rate::from_mbps(8), Duration::ZERO, queue);
    let mut link = Link::new(&settings, 1, "l");
    for i in 0..seconds * 1200 {
        let now = Time::ZERO + Duration::from_nanos(i * 1_000_000_000 / 1200);
        while link.deliver_due(now).is_some() {}
        link.offer(now, i, PacketMeta::plain(1000));
    }
    link
}

#[test]
fn the_delay_of_an_overload_is_the_target() {
    let (before, after) = (overloaded(60), overloaded(120));
    let drops = after.counters().queue_drops - before.counters().queue_drops;
    let share = drops as f64 / 72_000.0;
    // What does not fit: 1 of 6.
    assert!((share - 1.0 / 6.0).abs() < 0.01, "{share}");
    let waited = after.counters().queueing.as_secs() - before.counters().queueing.as_secs();
    let mean = waited / (72_000.0 - drops as f64);
    assert!((mean - 0.015).abs() < 0.003, "{mean} s");
}

#[test]
fn an_idle_queue_needs_no_updates() {
    let mut pie = pie(PieSettings::new(LIMIT));
    pie.probability = 1.0;
    let day = Duration::from_secs(86_400);
    for days in 1..10_000 {
        pie.advance(Time::ZERO + day * days);
        assert_eq!(pie.probability, 0.0);
        assert!(pie.due > Time::ZERO + day * days);
        assert_eq!(pie.due.as_nanos() % 15_000_000, 0);
    }
}
