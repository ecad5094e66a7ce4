//! Links that send again what was lost, against the formulas.

use super::kinds_tests::{any_queue, any_steps, drive, event_driven, settings};
use super::*;
use crate::testing::Link;
use crate::timeline::tests::any_timeline;
use crate::{
    ArqScheme, ArqSettings, ChannelSettings, InFlightPolicy, Limit, LinkSettings, Loss, Piece,
    QueueSettings, Timeline, WhenDown,
};
use bentpipe_units::{Rate, Ratio};
use proptest::prelude::*;
use std::sync::Arc;

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
        channel: ChannelSettings::Uniform {
            packet_error_rate: Ratio::new(p).unwrap(),
        },
        ..LinkSettings::new(
            Rate::from_mbps(12),
            Duration::from_millis(10),
            QueueSettings::drop_tail(Limit::Packets(1_000_000)),
        )
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

/// The same link with a timeline.
fn changing(settings: &LinkSettings, arq: &ArqSettings, timeline: Timeline) -> Link<usize> {
    Link::build(&LinkPlan {
        timeline: Some(&Arc::new(timeline)),
        arq: Some(arq),
        ..LinkPlan::new(settings, 1, "l")
    })
}

/// From `ms` on, as in `settings`.
fn piece(ms: u64, settings: &LinkSettings) -> Piece {
    Piece {
        from: Time::from_nanos(ms * MS),
        rate: settings.rate,
        one_way_delay: settings.one_way_delay,
        sloped: false,
        loss: Loss::Channel,
        up: true,
        route: 0,
        jitter: None,
    }
}

#[test]
fn what_an_outage_destroys_is_sent_again() {
    let settings = lossy(0.0);
    let up = piece(0, &settings);
    let down = Piece {
        up: false,
        ..piece(105, &settings)
    };
    let up_again = piece(205, &settings);
    let line = Timeline::new(vec![up, down, up_again]).unwrap();
    let line = line.in_flight(InFlightPolicy::Lost);
    let line = line.when_down(WhenDown::Waits);
    // A packet of 1 ms every 10 ms: that of 100 ms is under way when the
    // link goes down, those of 110 to 200 ms wait.
    let steps = vec![(10 * MS, PacketMeta::plain(1500)); 30];
    for scheme in [ArqScheme::SelectiveRepeat, ArqScheme::GoBackN] {
        let mut link = changing(&settings, &arq(scheme), line.clone());
        let done = drive(&mut link, &steps, false);
        let numbers: Vec<usize> = done.arrived.iter().map(|(i, _)| *i).collect();
        assert_eq!(numbers, (0..30).collect::<Vec<_>>(), "{scheme:?}");
        let at = |i: usize| done.arrived[i].1.as_nanos() / MS;
        assert_eq!(at(8), 90 + 11);
        // 100 ms + 1 ms + the round trip: it is known by 121 ms, and goes when
        // the link is up.
        assert_eq!(at(9), 205 + 11, "{scheme:?}");
        assert_eq!(link.counters().outage_losses, 0);
        assert!(link.counters().repeats >= 1);
    }
    // Without retransmission it is lost.
    let once = ArqSettings {
        transmissions: 1,
        ..arq(ArqScheme::SelectiveRepeat)
    };
    let mut link = changing(&settings, &once, line);
    let done = drive(&mut link, &steps, false);
    assert_eq!(done.arrived.len(), 29);
    assert_eq!(link.counters().outage_losses, 1);
}

#[test]
fn what_is_lost_goes_first_after_an_outage() {
    let settings = lossy(0.0);
    // The first of three packets of 1 ms is lost, which is known at 6 ms, in the outage; the
    // third waits from before it.
    let lossy = Piece {
        loss: Loss::Packets(Ratio::new(1.0).unwrap()),
        ..piece(0, &settings)
    };
    let mut clear = piece(0, &settings);
    clear.from = Time::from_nanos(3 * MS / 2);
    let down = Piece {
        up: false,
        ..piece(2, &settings)
    };
    let line = vec![lossy, clear, down, piece(10, &settings)];
    let line = Timeline::new(line).unwrap().when_down(WhenDown::Waits);
    let arq = ArqSettings {
        timeout: Some(Duration::from_millis(5)),
        in_order: false,
        ..arq(ArqScheme::SelectiveRepeat)
    };
    let steps = vec![(0, PacketMeta::plain(1500)); 3];
    for curious in [false, true] {
        let mut link = changing(&settings, &arq, line.clone());
        let arrived = drive(&mut link, &steps, curious).arrived;
        let arrived: Vec<_> = arrived
            .iter()
            .map(|(i, at)| (*i, at.as_nanos() / MS))
            .collect();
        assert_eq!(arrived, [(1, 12), (0, 21), (2, 22)], "{curious}");
    }
}

proptest! {
    #[test]
    fn a_timeline_that_changes_nothing_changes_nothing(
        steps in any_steps(), queue in any_queue(), loss in 0.0..0.6f64, arq in any_arq(),
    ) {
        let settings = settings(queue, loss);
        let line = Timeline::new(vec![piece(0, &settings)]).unwrap();
        let mut one = changing(&settings, &arq, line);
        let mut other = arq_link(&settings, &arq, 1);
        prop_assert_eq!(drive(&mut one, &steps, false), drive(&mut other, &steps, false));
        prop_assert_eq!(one.counters(), other.counters());
    }

    #[test]
    fn on_any_timeline_every_packet_is_accounted_for(
        steps in any_steps(), queue in any_queue(), loss in 0.0..0.6f64, arq in any_arq(),
        line in any_timeline(),
    ) {
        let settings = settings(queue, loss);
        let mut link = changing(&settings, &arq, line);
        let mut other = link.clone();
        let done = drive(&mut link, &steps, false);
        let ends = done.arrived.len() + done.dropped.len() + done.lost.len();
        prop_assert_eq!(ends + link.in_flight(), steps.len());
        let lost = link.counters().channel_losses + link.counters().outage_losses;
        prop_assert_eq!(lost, done.lost.len() as u64);
        // How often one looks changes nothing.
        prop_assert_eq!(&done, &drive(&mut other, &steps, true));
        prop_assert_eq!(link.counters(), other.counters());
    }

    #[test]
    fn opportunities_serve_what_is_sent_again(
        steps in any_steps(), gaps in proptest::collection::vec(0u64..6, 1..20),
        loss in 0.0..0.6f64, arq in any_arq(),
    ) {
        let mut now = 1;
        let mut text = String::new();
        for gap in gaps {
            now += gap;
            text += &format!("{now}\n");
        }
        let settings = settings(QueueSettings::drop_tail(Limit::Packets(1000)), loss);
        let given = crate::trace::mahimahi::read(&text, true).unwrap();
        let line = Timeline::new(vec![piece(0, &settings)]).unwrap().with_opportunities(given);
        let steps: Vec<_> = steps.into_iter().take(100).collect();
        let mut link = changing(&settings, &arq, line.clone());
        let mut other = link.clone();
        let done = drive(&mut link, &steps, false);
        prop_assert_eq!(link.in_flight(), 0);
        prop_assert_eq!(done.arrived.len() + done.lost.len(), steps.len());
        let served = |at: Time| {
            let left = Time::from_nanos(at.as_nanos() - settings.one_way_delay.as_nanos());
            let opportunities = line.opportunities().unwrap();
            opportunities.at(opportunities.until(left) - 1) == Some(left)
        };
        if arq.scheme == ArqScheme::GoBackN || !arq.in_order {
            prop_assert!(done.arrived.iter().all(|(_, at)| served(*at)));
        }
        prop_assert_eq!(&done, &drive(&mut other, &steps, true));
        prop_assert_eq!(link.counters(), other.counters());
    }

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
