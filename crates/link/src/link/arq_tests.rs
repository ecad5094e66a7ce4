//! Links that send again what was lost, against the formulas.

use super::kinds_tests::{any_queue, any_steps, drive, event_driven, settings};
use super::*;
use crate::{ArqScheme, ArqSettings, ChannelSettings, Limit, LinkSettings, QueueSettings};
use bentpipe_units::{Bytes, Rate, Ratio};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn power(x: f64, n: i32) -> f64 {
    libm::pow(x, f64::from(n))
}

fn arq(scheme: ArqScheme) -> ArqSettings {
    ArqSettings {
        scheme,
        window: u32::MAX,
        timeout: None,
        transmissions: u32::MAX,
        in_order: true,
    }
}

/// 12 Mbit/s, a packet of 1500 bytes a millisecond, 10 ms one way.
fn lossy(p: f64) -> LinkSettings {
    LinkSettings {
        rate: Rate::from_mbps(12),
        one_way_delay: Duration::from_millis(10),
        queue: QueueSettings::drop_tail(Limit::Packets(1_000_000)),
        channel: ChannelSettings::Uniform {
            packet_error_rate: Ratio::new(p).unwrap(),
        },
        framing: Bytes::ZERO,
    }
}

fn arq_link(settings: &LinkSettings, arq: &ArqSettings, seed: u64) -> Link<usize> {
    Link::build(&LinkPlan {
        arq: Some(arq),
        ..LinkPlan::new(settings, seed, "l")
    })
}

/// Packets of 1500 bytes, the first at 1 ns, one every `gap_ms`: when each
/// arrived after it came, in milliseconds, and the link at the end.
fn delays(
    settings: &LinkSettings,
    arq: &ArqSettings,
    (packets, gap_ms): (usize, u64),
) -> (Vec<f64>, Link<usize>) {
    let mut link = arq_link(settings, arq, 7);
    let steps = vec![(gap_ms * MS, PacketMeta::plain(1500)); packets];
    let done = drive(&mut link, &steps, false);
    let came = |i: usize| (i as u64 + 1) * gap_ms * MS;
    let delay = |&(i, at): &(usize, Time)| (at.as_nanos() - came(i)) as f64 / MS as f64;
    (done.arrived.iter().map(delay).collect(), link)
}

#[test]
fn every_loss_costs_a_round_trip() {
    // Far apart, so that packets do not meet: 1 + 10 ms, and 1 + 20 more for
    // each loss, which come with probability p^k (1 - p).
    for scheme in [ArqScheme::SelectiveRepeat, ArqScheme::GoBackN] {
        let n = 20_000;
        let (delays, link) = delays(&lossy(0.3), &arq(scheme), (n, 1000));
        assert_eq!(delays.len(), n);
        for k in 0..5 {
            let expected = 0.7 * power(0.3, k);
            let share = delays.iter().filter(|d| **d == 11.0 + 21.0 * f64::from(k));
            let share = share.count() as f64 / n as f64;
            assert!((share - expected).abs() < 0.01, "{scheme:?} {k}: {share}");
        }
        let repeats = link.counters().repeats as f64 / n as f64;
        assert!((repeats - 0.3 / 0.7).abs() < 0.02, "{repeats}");
    }
}

#[test]
fn a_timeout_takes_the_place_of_the_round_trip() {
    let arq = ArqSettings {
        timeout: Some(Duration::from_millis(50)),
        ..arq(ArqScheme::SelectiveRepeat)
    };
    let (delays, _) = delays(&lossy(0.3), &arq, (2000, 1000));
    let on_grid = |d: &f64| ((d - 11.0) / 51.0).fract() == 0.0;
    assert!(delays.iter().all(on_grid));
    assert!(delays.contains(&62.0));
}

#[test]
fn selective_repeat_carries_one_minus_p() {
    for p in [0.0, 0.01, 0.1, 0.5] {
        for in_order in [false, true] {
            let arq = ArqSettings {
                in_order,
                ..arq(ArqScheme::SelectiveRepeat)
            };
            let n = 200_000;
            let mut link = arq_link(&lossy(p), &arq, 7);
            let mut arrived = 0;
            for i in 0..n {
                link.offer(Time::ZERO, i, PacketMeta::plain(1500));
            }
            // Never idle: 100 s are 100,000 packets.
            let end = Time::from_nanos(100_000 * MS);
            while link.next_event().is_some_and(|at| at <= end) {
                let now = link.next_event().unwrap();
                arrived += usize::from(link.deliver_due(now).is_some());
            }
            link.advance(end);
            let share = arrived as f64 / 1e5;
            assert!((share / (1.0 - p) - 1.0).abs() < 0.01, "{p}: {share}");
            assert!((link.utilisation(end) - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn go_back_n_loses_a_round_trip_with_each_packet() {
    // 20 ms of feedback are 20 packets.
    for p in [0.001, 0.01, 0.1] {
        let n = 200_000;
        let mut link = arq_link(&lossy(p), &arq(ArqScheme::GoBackN), 7);
        for i in 0..n {
            link.offer(Time::ZERO, i, PacketMeta::plain(1500));
        }
        let end = Time::from_nanos(100_000 * MS);
        let mut arrived = 0;
        while link.next_event().is_some_and(|at| at <= end) {
            let now = link.next_event().unwrap();
            arrived += usize::from(link.deliver_due(now).is_some());
        }
        let (share, expected) = (arrived as f64 / 1e5, (1.0 - p) / (1.0 + p * 20.0));
        assert!(
            (share / expected - 1.0).abs() < 0.02,
            "{p}: {share} for {expected}"
        );
    }
}

#[test]
fn a_window_lets_so_many_out_in_a_round_trip() {
    // 7 packets in 1 + 20 ms.
    for scheme in [ArqScheme::SelectiveRepeat, ArqScheme::GoBackN] {
        let arq = ArqSettings {
            window: 7,
            ..arq(scheme)
        };
        let mut link = arq_link(&lossy(0.0), &arq, 7);
        for i in 0..10_000 {
            link.offer(Time::ZERO, i, PacketMeta::plain(1500));
        }
        let end = Time::from_nanos(21_000 * MS);
        let mut arrived = 0;
        while link.next_event().is_some_and(|at| at <= end) {
            let now = link.next_event().unwrap();
            arrived += u64::from(link.deliver_due(now).is_some());
        }
        assert!(arrived.abs_diff(7_000) <= 7, "{scheme:?} {arrived}");
    }
}

#[test]
fn what_is_given_up_is_lost() {
    for scheme in [ArqScheme::SelectiveRepeat, ArqScheme::GoBackN] {
        for (p, n) in [(0.3, 3), (0.5, 2), (0.1, 1)] {
            let arq = ArqSettings {
                transmissions: n,
                ..arq(scheme)
            };
            let (delays, link) = delays(&lossy(p), &arq, (50_000, 3));
            let lost = link.counters().channel_losses as f64 / 5e4;
            let expected = power(p, n as i32);
            assert!(
                (lost - expected).abs() < 0.004,
                "{scheme:?} {p} {n}: {lost}"
            );
            assert_eq!(delays.len() as u64, 50_000 - link.counters().channel_losses);
        }
    }
}

fn any_arq() -> impl Strategy<Value = ArqSettings> {
    let scheme = prop_oneof![Just(ArqScheme::SelectiveRepeat), Just(ArqScheme::GoBackN)];
    let timeout = proptest::option::of(0u64..60);
    (scheme, 1u32..40, timeout, 1u32..5, any::<bool>()).prop_map(
        |(scheme, window, timeout, transmissions, in_order)| ArqSettings {
            scheme,
            window,
            timeout: timeout.map(Duration::from_millis),
            transmissions,
            in_order,
        },
    )
}

proptest! {
    #[test]
    fn every_packet_is_accounted_for(
        steps in any_steps(), queue in any_queue(), loss in 0.0..0.6f64, arq in any_arq(),
    ) {
        let settings = settings(queue, loss);
        let mut link = arq_link(&settings, &arq, 1);
        link.record_delays();
        let (mut now, mut delivered) = (Time::ZERO, 0);
        let mut early = link.clone();
        for (i, (gap, offered)) in steps.iter().enumerate() {
            now += Duration::from_nanos(*gap);
            while early.next_event().is_some_and(|at| at <= now) {
                delivered += u64::from(early.deliver_due(now).is_some());
            }
            early.offer(now, i, *offered);
            prop_assert_eq!(early.delivered(), delivered);
            let inside = early.waiting_packets().count() + early.under_way().count();
            prop_assert_eq!(inside, early.in_flight());
        }
        let mut other = link.clone();
        let done = drive(&mut link, &steps, false);
        prop_assert_eq!(link.in_flight(), 0);
        let ends = done.arrived.len() + done.dropped.len() + done.lost.len();
        prop_assert_eq!(ends, steps.len());
        prop_assert!(done.arrived.windows(2).all(|w| w[0].1 <= w[1].1));
        if arq.in_order || arq.scheme == ArqScheme::GoBackN {
            prop_assert!(done.arrived.windows(2).all(|w| w[0].0 < w[1].0));
        }
        prop_assert_eq!(link.counters().channel_losses, done.lost.len() as u64);
        // How often one looks changes nothing.
        prop_assert_eq!(&done, &drive(&mut other, &steps, true));
        prop_assert_eq!(link.counters(), other.counters());
    }

    #[test]
    fn a_link_that_loses_nothing_repeats_nothing(steps in any_steps(), queue in any_queue()) {
        let settings = settings(queue, 0.0);
        for scheme in [ArqScheme::SelectiveRepeat, ArqScheme::GoBackN] {
            let mut one = arq_link(&settings, &arq(scheme), 1);
            let mut other = event_driven(&settings);
            one.record_delays();
            other.record_delays();
            prop_assert_eq!(drive(&mut one, &steps, false), drive(&mut other, &steps, false));
            prop_assert_eq!(one.counters(), other.counters());
            let end = Time::from_nanos(10_000 * MS);
            prop_assert_eq!(one.mean_waiting(end), other.mean_waiting(end));
            prop_assert!((one.utilisation(end) - other.utilisation(end)).abs() < 1e-6);
        }
    }
}
