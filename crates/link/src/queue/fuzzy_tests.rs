use super::*;
use bentpipe_units::{Bytes, Rate};

const LIMIT: Limit = Limit::Packets(100);

fn context() -> QueueContext<'static> {
    QueueContext {
        rate: Rate::from_bps(8_000_000),
        one_way_delay: Duration::ZERO,
        framing: Bytes::ZERO,
        seed: 1,
        name: "l",
    }
}

/// An arrival at `ms` that finds so many packets.
fn finds(ms: u64, packets: u64) -> QueueState {
    QueueState {
        now: Time::ZERO + Duration::from_millis(ms),
        idle_since: None,
        blocked: false,
        packets,
        bytes: 1500 * packets,
    }
}

fn packet(ecn_capable: bool, flow: u32) -> PacketMeta {
    PacketMeta {
        ecn_capable,
        flow,
        ..PacketMeta::plain(1500)
    }
}

#[test]
fn the_worked_examples() {
    let settings = FuzzySettings::new(LIMIT);
    let near = |p: f64, expected: f64| assert!((p - expected).abs() < 1e-12, "{p} {expected}");
    near(settings.probability(0.5, 0.0), 0.02);
    near(settings.probability(0.625, 0.5), 0.125);
    near(settings.probability(1.0, 1.0), 1.0);
    near(settings.probability(0.0, 1.0), 0.0);
    // Beyond the ends, the ends.
    near(settings.probability(7.0, -9.0), 0.1);
}

#[test]
fn the_probability_never_falls_with_the_level_or_its_change() {
    let settings = FuzzySettings::new(LIMIT);
    for i in 0..100 {
        for j in -50..50 {
            let (level, change) = (f64::from(i) / 100.0, f64::from(j) / 50.0);
            let p = settings.probability(level, change);
            assert!((0.0..=1.0).contains(&p));
            assert!(settings.probability(level + 0.01, change) >= p - 1e-12);
            assert!(settings.probability(level, change + 0.02) >= p - 1e-12);
        }
    }
}

#[test]
fn the_controller_reads_the_queue_once_a_period() {
    let mut fuzzy = Fuzzy::with_settings(FuzzySettings::new(LIMIT), &context());
    fuzzy.read(finds(0, 50));
    // Half full, and it rises fast.
    assert!((fuzzy.probability - 0.1).abs() < 1e-12);
    fuzzy.read(finds(9, 100));
    assert!((fuzzy.probability - 0.1).abs() < 1e-12);
    fuzzy.read(finds(10, 50));
    assert!((fuzzy.probability - 0.02).abs() < 1e-12);
}

#[test]
fn it_marks_what_is_capable_and_drops_the_rest_at_that_rate() {
    let mut fuzzy = Fuzzy::with_settings(FuzzySettings::new(LIMIT), &context());
    let mut count = |capable: bool, wanted: Decision| {
        let each = (0..10_000).map(|i| fuzzy.decide(finds(1000 + i, 75), packet(capable, 0)));
        each.filter(|decision| *decision == wanted).count()
    };
    // Level 3/4, no change: 10%.
    let marks = count(true, Decision::Mark);
    assert!((900..1100).contains(&marks), "{marks}");
    let drops = count(false, Decision::DropEarly);
    assert!((900..1100).contains(&drops), "{drops}");
    assert_eq!(
        fuzzy.decide(finds(20_000, 100), packet(true, 0)),
        Decision::DropForced
    );
}

#[test]
fn becn_marks_below_severe_and_notifies_a_connection_less_often_for_a_while() {
    let settings = BecnSettings {
        fuzzy: FuzzySettings::new(LIMIT),
        severe: 0.1,
        quiet: Duration::from_millis(600),
    };
    let mut becn = Becn::new(&settings, &context());
    let decisions = |becn: &mut Becn, from: u64, packets: u64| -> Vec<Decision> {
        let each = (from..from + 10_000).map(|ms| becn.decide(finds(ms, packets), packet(true, 3)));
        each.collect()
    };
    let count = |all: &[Decision], wanted| all.iter().filter(|d| **d == wanted).count();
    let mild = decisions(&mut becn, 1000, 50);
    assert_eq!(count(&mild, Decision::Notify), 0);
    assert!((150..250).contains(&count(&mild, Decision::Mark)));
    // At 10% a packet each ms would bring 1000 messages. After each the next
    // comes when the integral of 0.1 t / 600 ms is about 1: every 110 to 140 ms.
    let severe = decisions(&mut becn, 20_000, 75);
    let messages = count(&severe, Decision::Notify);
    assert!((60..110).contains(&messages), "{messages}");
    assert!(count(&severe, Decision::Mark) <= 1);
    // Another connection is not held back; what is not capable is dropped.
    assert!((becn.decay(finds(30_000, 75).now, 3)) < 1.0);
    assert_eq!(
        becn.decay(finds(30_000, 75).now, 4).to_bits(),
        1f64.to_bits()
    );
    let drops = (40_000..41_000).map(|ms| becn.decide(finds(ms, 75), packet(false, 3)));
    assert!(drops.filter(|d| *d == Decision::DropEarly).count() > 50);
}
