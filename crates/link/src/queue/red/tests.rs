//! RED against worked examples and against its definition, told again.

use super::*;
use crate::testing::Link;
use crate::{Admission, LinkSettings, QueueSettings, Verdict};
use bentpipe_units::{Bytes, Rate, Ratio};
use proptest::prelude::*;

const RATE: Rate = Rate::from_mbps(10);
const DELAY: Duration = Duration::from_millis(10);

fn preset(preset: RedPreset, packets: u32) -> RedSettings {
    RedSettings::preset(preset, Limit::Packets(packets))
}

fn context(rate: Rate) -> QueueContext<'static> {
    QueueContext {
        rate,
        one_way_delay: DELAY,
        framing: Bytes::ZERO,
        seed: 1,
        name: "l",
    }
}

fn red(settings: &RedSettings) -> Red {
    Red::new(settings, &context(RATE))
}

fn link(settings: RedSettings) -> Link<usize> {
    let settings = LinkSettings::new(RATE, DELAY, QueueSettings::Red(settings));
    Link::new(&settings, 1, "l")
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1e-9)
}

/// A busy link with `packets` of 1000 bytes waiting.
fn found(now_ms: u64, packets: u64) -> QueueState {
    QueueState {
        now: Time::ZERO + Duration::from_millis(now_ms),
        idle_since: None,
        blocked: false,
        packets,
        bytes: 1000 * packets,
    }
}

#[test]
fn the_probability_of_an_average() {
    // Thresholds 5 and 15, max_p 0.1.
    let mut queue = red(&preset(RedPreset::Ns2001, 50));
    for (average, p) in [
        (5.0, 0.0),
        (10.0, 0.05),
        (15.0, 0.1),
        (20.0, 0.4),
        (30.0, 1.0),
    ] {
        queue.average = average;
        assert!(
            close(queue.probability(), p),
            "{average}: {}",
            queue.probability()
        );
    }
    queue.gentle = false;
    queue.average = 15.0;
    assert!(close(queue.probability(), 1.0));
}

#[test]
fn drops_are_spread_by_the_count() {
    let mut queue = red(&preset(RedPreset::Ns2001, 50));
    let spread = |queue: &mut Red, count: u64, p: f64| {
        queue.count = count;
        queue.spread(p, 1000)
    };
    // Waiting: none before 1 / p = 20, then p / (2 - count p).
    for (count, expected) in [(19, 0.0), (20, 0.05), (30, 0.1), (39, 1.0), (40, 1.0)] {
        let got = spread(&mut queue, count, 0.05);
        assert!(close(got, expected), "{count}: {got}");
    }
    queue.wait = false;
    for (count, expected) in [(0, 0.05), (10, 0.1), (19, 1.0), (20, 1.0)] {
        let got = spread(&mut queue, count, 0.05);
        assert!(close(got, expected), "{count}: {got}");
    }
}

#[test]
fn in_bytes_the_count_is_in_mean_packets_and_size_weighs() {
    let mut queue = red(&preset(RedPreset::Ns235, 50));
    queue.count_bytes = 12_499; // 24 whole packets of 500
    assert!(close(queue.spread(0.05, 1500), 3.0 * 0.05 / 0.8));
    assert!(close(queue.spread(0.05, 40), 0.08 * 0.05 / 0.8));
    queue.count_bytes = 9_999; // 19: still waiting
    assert!(close(queue.spread(0.05, 1500), 0.0));
}

#[test]
fn automatic_parameters_at_ten_megabits() {
    // 2500 packets of 500 bytes a second: 5 ms x 2500 / 2 = 6.25 packets.
    let queue = red(&preset(RedPreset::Ns2002, 50));
    assert!(close(queue.minimum, 6.25) && close(queue.maximum, 18.75));
    // Three times 10.4 ms is below 100 ms: 1 - exp(-1 / 2500).
    assert!(close(queue.weight, 1.0 - math::exp(-1.0 / 2500.0)));
    let queue = red(&preset(RedPreset::Ns235, 50).adaptive(RedPreset::Ns235));
    assert!(close(queue.minimum, 3125.0) && close(queue.maximum, 9375.0));
    assert_eq!(queue.limit, Limit::Bytes(Bytes::new(25_000)));
    assert!(close(queue.adaptive.unwrap().bottom, 0.008));
    // A long link: ten times 3 (0.3 + 0.0004) s of packets.
    let long = automatic_weight(2500.0, Duration::from_millis(300));
    assert!(close(long, 1.0 - math::exp(-1.0 / (9.012 * 2500.0))));
    // A slow one: at least 5 packets, bottom 0.01.
    let settings = preset(RedPreset::Ns235, 50).adaptive(RedPreset::Ns235);
    let slow = Red::new(&settings, &context(Rate::from_mbps(1)));
    assert!(close(slow.minimum, 2500.0) && close(slow.maximum, 7500.0));
    assert!(close(slow.adaptive.unwrap().bottom, 0.01));
}

#[test]
fn an_idle_time_counts_as_packets_that_were_not_there() {
    let mut queue = red(&preset(RedPreset::Ns2001, 50));
    queue.average = 10.0;
    // 2500 packets/s: 4 ms are 10 packets (9.9 would be 9), and the arrival.
    let idle = QueueState {
        idle_since: Some(Time::ZERO),
        packets: 0,
        ..found(4, 0)
    };
    queue.decide(idle, PacketMeta::plain(1000));
    assert!(close(queue.average, 10.0 * math::pow(0.998, 11.0)));
}

#[test]
fn max_p_moves_in_steps_of_its_own_size() {
    let settings = preset(RedPreset::Ns2001, 1000).adaptive(RedPreset::Ns235);
    let mut queue = red(&settings);
    // Too long an average: + min(0.01, a quarter) every 0.5 s, up to 0.5.
    queue.average = 14.0;
    queue.weight = 0.0;
    queue.decide(found(500, 14), PacketMeta::plain(1000));
    assert!(
        close(queue.max_p, 0.1),
        "not before the interval has passed"
    );
    queue.decide(found(501, 14), PacketMeta::plain(1000));
    assert!(close(queue.max_p, 0.11));
    queue.decide(found(1001, 14), PacketMeta::plain(1000));
    assert!(close(queue.max_p, 0.11));
    // In the middle fifth (9 to 11) nothing moves, nor does the clock.
    queue.average = 10.0;
    queue.decide(found(1002, 10), PacketMeta::plain(1000));
    queue.average = 8.9;
    queue.decide(found(1003, 10), PacketMeta::plain(1000));
    assert!(close(queue.max_p, 0.11 * 0.9));
    queue.max_p = 0.02;
    queue.average = 11.1;
    queue.decide(found(2000, 10), PacketMeta::plain(1000));
    assert!(close(queue.max_p, 0.025));
}

#[test]
fn marks_reach_only_the_capable_and_only_below_the_limit() {
    let mut settings = preset(RedPreset::Ns2001, 1000);
    settings.ecn = true;
    settings.weight = Some(0.0);
    let decide = |settings: &RedSettings, average: f64, ecn_capable: bool| {
        let mut queue = red(settings);
        (queue.average, queue.above, queue.count) = (average, true, 10_000);
        let offered = PacketMeta {
            ecn_capable,
            ..PacketMeta::plain(1000)
        };
        queue.decide(found(1, 20), offered)
    };
    assert_eq!(decide(&settings, 10.0, true), Decision::Mark);
    assert_eq!(decide(&settings, 10.0, false), Decision::DropEarly);
    assert_eq!(decide(&settings, 29.0, true), Decision::Mark);
    assert_eq!(decide(&settings, 30.0, true), Decision::DropForced);
    settings.mark_below = Some(0.1);
    assert_eq!(decide(&settings, 10.0, true), Decision::Mark);
    assert_eq!(decide(&settings, 16.0, true), Decision::DropEarly);
    assert_eq!(decide(&settings, 31.0, true), Decision::DropEarly);
    settings.ecn = false;
    assert_eq!(decide(&settings, 10.0, true), Decision::DropEarly);
}

/// The definition, with a list of all packets ever taken and the average as a
/// loop. Returns for each arrival whether it was refused, and marked.
fn definition(s: &RedSettings, arrivals: &[(u64, u32)], seed: u64) -> Vec<(bool, bool)> {
    let packet_bits = 8.0 * s.mean_packet.as_f64();
    let rate = RATE.bps_f64() / packet_bits;
    let automatic = Red::new(
        s,
        &QueueContext {
            seed,
            ..context(RATE)
        },
    );
    let (low, high, w) = (automatic.minimum, automatic.maximum, automatic.weight);
    let in_bytes = s.mode == RedMode::Bytes;
    let mut draws = Stream::new(seed, "queue l");
    let (mut average, mut max_p, mut changed) = (0.0f64, s.max_p.get(), 0.0f64);
    let (mut since, mut since_bytes, mut was_above) = (0u64, 0u64, false);
    let mut taken: Vec<(u64, u64, u32)> = Vec::new(); // start, end, bytes
    let mut verdicts = Vec::new();
    for &(at, bytes) in arrivals {
        let free = taken.last().map_or(0, |t| t.1);
        let waiting = || taken.iter().filter(|t| t.0 > at);
        let packets = waiting().count() as u64;
        let queued_bytes: u64 = waiting().map(|t| u64::from(t.2)).sum();
        let queue = if in_bytes { queued_bytes } else { packets };
        let seconds = at as f64 * 1e-9;
        if free <= at {
            let idle = ((at - free) as f64 * 1e-9 * rate) as u64;
            (0..idle).for_each(|_| average *= 1.0 - w);
        }
        average += w * (queue as f64 - average);
        if let Some(a) = s.adaptive
            && seconds - changed > a.interval.as_secs()
        {
            let bottom = a.bottom.unwrap_or(0.01f64.min(8e4 / RATE.bps_f64()));
            let fifth = (high - low) / 5.0;
            if average < low + 2.0 * fifth && max_p > bottom {
                (max_p, changed) = (a.beta * max_p, seconds);
            } else if average > high - 2.0 * fifth && max_p < a.top {
                (max_p, changed) = (max_p + a.alpha.min(max_p / 4.0), seconds);
            }
        }
        since += 1;
        since_bytes += u64::from(bytes);
        let end = if s.gentle { 2.0 * high } else { high };
        let congested = average >= low && queue > 1;
        let mut refused = false;
        let mut marked = false;
        if congested && average >= end && s.mark_below.is_none() {
            refused = true;
            (since, since_bytes) = (0, 0);
        } else if congested && !was_above {
            (since, since_bytes) = (1, u64::from(bytes));
        } else if congested {
            let first = s.max_p.get();
            let p = if average < high {
                max_p * (average - low) / (high - low)
            } else if s.gentle {
                (first + (1.0 - first) * (average - high) / high).min(1.0)
            } else {
                1.0
            };
            let mean = s.mean_packet.get();
            let n = if in_bytes { since_bytes / mean } else { since } as f64;
            let q = match (s.wait, n * p) {
                (true, x) if x < 1.0 => 0.0,
                (true, x) if x < 2.0 => p / (2.0 - x),
                (false, x) if x < 1.0 => p / (1.0 - x),
                _ => 1.0,
            };
            let q = if in_bytes && q < 1.0 {
                q * f64::from(bytes) / mean as f64
            } else {
                q
            };
            if q >= 1.0 || (q > 0.0 && draws.uniform() < q) {
                (since, since_bytes) = (0, 0);
                marked = s.ecn && s.mark_below.is_none_or(|most| p < most);
                refused = !marked;
            }
        }
        // Only the average's forced drop and none (queue <= 1) leave this.
        was_above = congested && (was_above || average < end || s.mark_below.is_some());
        let room = match (s.limit, in_bytes) {
            (Limit::Packets(n), false) => packets < u64::from(n),
            (Limit::Packets(n), true) => queued_bytes < u64::from(n) * s.mean_packet.get(),
            (Limit::Bytes(n), _) => queued_bytes < n.get(),
        };
        if free > at && !room {
            (since, since_bytes) = (0, 0);
            (refused, marked) = (true, false);
        }
        if !refused {
            let start = free.max(at);
            taken.push((
                start,
                start + RATE.transmission_time(Bytes::new(bytes.into())).as_nanos(),
                bytes,
            ));
        }
        verdicts.push((refused, marked));
    }
    verdicts
}

fn any_settings() -> impl Strategy<Value = RedSettings> {
    let choices = (0usize..3, any::<[bool; 6]>(), 1u32..80);
    (
        choices,
        1.0..10.0f64,
        0.5..20.0f64,
        0.001..0.3f64,
        0.01..0.9f64,
    )
        .prop_map(|((n, flags, limit), low, span, weight, max_p)| {
            let preset = RedPreset::ALL[n].1;
            let limit = if flags[0] {
                Limit::Packets(limit)
            } else {
                Limit::Bytes(Bytes::new(500 * u64::from(limit)))
            };
            let mut s = RedSettings::preset(preset, limit);
            if flags[1] {
                s = s.adaptive(preset);
            }
            (s.gentle, s.wait, s.ecn) = (flags[2], flags[3], flags[4]);
            if flags[5] {
                (s.minimum, s.maximum) = (Some(low), Some(low + span));
                (s.weight, s.max_p) = (Some(weight), Ratio::new(max_p).unwrap());
            }
            s
        })
}

proptest! {
    #[test]
    fn what_is_dropped_and_marked_is_the_definitions(
        settings in any_settings(),
        // Bursts of 1 to 60 packets and pauses of up to 0.2 s.
        bursts in proptest::collection::vec((1usize..60, 0u64..1_500_000, 40u32..1500, 0u64..200_000_000), 1..12),
    ) {
        let mut at = 0;
        let mut arrivals = Vec::new();
        for (n, gap, bytes, pause) in bursts {
            for _ in 0..n {
                arrivals.push((at, bytes));
                at += gap;
            }
            at += pause;
        }
        let mut link = link(settings);
        let got: Vec<(bool, bool)> = arrivals
            .iter()
            .map(|&(at, bytes)| {
                let offered = PacketMeta { ecn_capable: true, ..PacketMeta::plain(bytes) };
                match link.admit(Time::from_nanos(at), offered) {
                    Admission::Arrives { marked, .. } => (false, marked),
                    refused => {
                        assert!(matches!(refused, Admission::Lost { verdict: Verdict::QueueDrop, .. }));
                        (true, false)
                    }
                }
            })
            .collect();
        prop_assert_eq!(&got, &definition(&settings, &arrivals, 1));
        let c = link.counters();
        prop_assert_eq!(c.marks, got.iter().filter(|g| g.1).count() as u64);
        prop_assert_eq!(c.queue_drops, got.iter().filter(|g| g.0).count() as u64);
        prop_assert!(c.early_drops <= c.queue_drops);
        match settings.effective_limit() {
            Limit::Packets(n) => prop_assert!(c.max_packets <= n.into()),
            Limit::Bytes(n) => prop_assert!(c.max_bytes < n.get() + 1500),
        }
    }

    #[test]
    fn absurd_settings_do_no_harm(
        limit in 0u32..3,
        numbers in proptest::collection::vec(prop_oneof![
            Just(0.0f64), Just(-1.0), Just(1e300), Just(1e-300), Just(f64::INFINITY), Just(f64::NAN), Just(0.5)
        ], 7),
        mean in prop_oneof![Just(0u64), Just(1), Just(u64::MAX)],
        rate in prop_oneof![Just(0u64), Just(1), Just(u64::MAX)],
        delay in prop_oneof![Just(0u64), Just(u64::MAX / 4)],
        bytes_mode in any::<bool>(),
    ) {
        let mut s = preset(RedPreset::Ns235, limit).adaptive(RedPreset::Ns235);
        s.mode = if bytes_mode { RedMode::Bytes } else { RedMode::Packets };
        (s.minimum, s.maximum) = (Some(numbers[0]), Some(numbers[1]));
        (s.weight, s.mark_below) = (Some(numbers[2]), Some(numbers[3]));
        s.mean_packet = Bytes::new(mean);
        s.adaptive = Some(AdaptiveSettings {
            interval: Duration::ZERO,
            alpha: numbers[4],
            beta: numbers[5],
            bottom: Some(numbers[6]),
            top: 0.5,
        });
        let mut queue = Red::new(&s, &QueueContext { one_way_delay: Duration::from_nanos(delay), ..context(Rate::from_bps(rate)) });
        for i in 0..50 {
            let idle_since = (i % 7 == 0).then_some(Time::ZERO);
            let found = QueueState { idle_since, ..found(i, i % 5) };
            queue.decide(found, PacketMeta::plain(u32::MAX));
        }
    }
}
