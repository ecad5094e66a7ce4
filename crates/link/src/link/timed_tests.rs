//! Links that change with time.

use super::kinds_tests::{any_queue, any_steps, drive, event_driven, settings};
use super::*;
use crate::testing::Link;
use crate::timeline::tests::any_timeline;
use crate::{
    ChannelSettings, InFlightPolicy, Limit, LinkSettings, Loss, Piece, QueueSettings, Timeline,
    WhenDown,
};
use bentpipe_units::{Bytes, Rate, Ratio};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;

const MS: u64 = 1_000_000;

fn at(ms: u64) -> Time {
    Time::from_nanos(ms * MS)
}

/// From `ms` on, at 12 Mbit/s: a packet of 1500 bytes a millisecond.
fn piece(ms: u64, delay_ms: u64) -> Piece {
    Piece {
        from: at(ms),
        rate: Rate::from_mbps(12),
        one_way_delay: Duration::from_millis(delay_ms),
        sloped: false,
        loss: Loss::Channel,
        up: true,
        route: 0,
        jitter: None,
    }
}

fn timed_link(settings: &LinkSettings, timeline: Timeline) -> Link<usize> {
    Link::build(&LinkPlan {
        timeline: Some(&Arc::new(timeline)),
        ..LinkPlan::new(settings, 1, "l")
    })
}

fn link(timeline: Timeline) -> Link<usize> {
    let mut settings = settings(QueueSettings::drop_tail(Limit::Packets(100)), 0.0);
    settings.channel = ChannelSettings::Perfect;
    settings.framing = Bytes::ZERO;
    let mut link = timed_link(&settings, timeline);
    link.record_delays();
    link
}

/// Offers packets of 1500 bytes at these milliseconds; arrivals in
/// milliseconds, and what was lost.
fn run(timeline: Timeline, offers: &[u64]) -> (Vec<(usize, u64)>, Vec<usize>) {
    let mut before = 0;
    let steps: Vec<_> = offers
        .iter()
        .map(|ms| {
            let gap = (ms - before) * MS;
            before = *ms;
            (gap, PacketMeta::plain(1500))
        })
        .collect();
    let done = drive(&mut link(timeline), &steps, false);
    let ms = |(packet, at): &(usize, Time)| (*packet, at.as_nanos() / MS);
    (done.arrived.iter().map(ms).collect(), done.lost)
}

#[test]
fn order_is_kept_when_the_delay_falls() {
    let line = Timeline::new(vec![piece(0, 100), piece(2, 10)]).unwrap();
    let (arrived, _) = run(line, &[0, 1, 2, 95]);
    // Sent by 1 and 2 ms over 100 ms, by 3 ms over 10 ms.
    assert_eq!(arrived, [(0, 101), (1, 102), (2, 102), (3, 106)]);
}

#[test]
fn a_preamble_takes_the_same_time_at_any_rate() {
    let slow = Piece {
        rate: Rate::from_mbps(6),
        ..piece(10, 0)
    };
    let mut settings = settings(QueueSettings::drop_tail(Limit::Packets(100)), 0.0);
    settings.framing = Bytes::ZERO;
    settings.preamble = Duration::from_millis(3);
    let mut link = timed_link(&settings, Timeline::new(vec![piece(0, 0), slow]).unwrap());
    // 3 and 1 ms, then 3 and 2 ms.
    for (packet, from, until) in [(0, 0, 4), (1, 20, 25)] {
        link.offer(at(from), packet, PacketMeta::plain(1500));
        assert_eq!(link.free_at(), at(until));
    }
}

#[test]
fn another_route_may_overtake() {
    let other = Piece {
        route: 1,
        ..piece(2, 10)
    };
    let line = Timeline::new(vec![piece(0, 100), other]).unwrap();
    let (arrived, _) = run(line, &[0, 1, 2, 95]);
    assert_eq!(arrived, [(2, 13), (0, 101), (1, 102), (3, 106)]);
}

#[test]
fn packets_in_flight_at_a_handover_are_delivered_or_lost() {
    let other = Piece {
        route: 1,
        ..piece(50, 10)
    };
    let line = Timeline::new(vec![piece(0, 100), other]).unwrap();
    let (arrived, lost) = run(line.clone(), &[0, 20, 49, 60]);
    assert_eq!(arrived, [(3, 71), (0, 101), (1, 121), (2, 150)]);
    assert_eq!(lost, []);
    let (arrived, lost) = run(line.in_flight(InFlightPolicy::Lost), &[0, 20, 49, 60]);
    assert_eq!(arrived, [(3, 71)]);
    assert_eq!(lost, [0, 1, 2]);
}

#[test]
fn a_link_that_is_down_loses_or_waits() {
    let down = Piece {
        up: false,
        ..piece(10, 5)
    };
    let line = Timeline::new(vec![piece(0, 5), down, piece(20, 5)]).unwrap();
    // The packet of 9.5 ms would be in transmission at 10 ms.
    let offers = [0, 9, 9, 15, 19, 20];
    let (arrived, lost) = run(line.clone(), &offers);
    assert_eq!(arrived, [(0, 6), (1, 15), (5, 26)]);
    assert_eq!(lost, [2, 3, 4]);
    let (arrived, lost) = run(line.when_down(WhenDown::Waits), &offers);
    assert_eq!(
        arrived,
        [(0, 6), (1, 15), (2, 26), (3, 27), (4, 28), (5, 29)]
    );
    assert_eq!(lost, []);
}

#[test]
fn what_waits_for_an_outage_to_end_fills_the_queue() {
    let dark = Piece {
        rate: Rate::ZERO,
        ..piece(10, 5)
    };
    let line = Timeline::new(vec![piece(0, 5), dark, piece(1010, 5)]).unwrap();
    let mut link = link(line);
    for _ in 0..150 {
        link.offer(at(500), 0, PacketMeta::plain(1500));
    }
    assert_eq!(link.waiting(at(500)), 100);
    assert_eq!(link.counters().queue_drops, 50);
    assert_eq!(link.counters().max_packets, 100);
    // All are sent by 1110 ms.
    let end = at(2000);
    link.advance(end);
    assert_eq!(link.free_at(), at(1110));
    assert!((link.utilisation(end) - 0.05).abs() < 1e-12);
    // 100 of them wait 510 ms and then half of the 99 before them on average.
    let waited = 100.0 * 0.51 + 99.0 * 50.0 * 1e-3;
    assert!((link.mean_waiting(end) - waited / 2.0).abs() < 1e-9);
    // The delay at a random instant: none for 10 + 890 ms, from 1000 to 510 ms
    // before the packets came, from 610 ms down after that.
    for (quantile, expected) in [
        (0.44, 0.0),
        (0.5, 0.1),
        (0.7, 0.5),
        (0.75, 0.555),
        (1.0, 1.0),
    ] {
        let delay = link.queueing_delay_quantile(end, quantile).as_secs();
        // Bins are a 64th of their delay.
        let bin = f64::max(expected / 64.0, 0.005);
        assert!((delay - expected).abs() < bin, "{quantile}: {delay}");
    }
}

#[test]
fn losses_follow_the_timeline() {
    let lossy = Piece {
        loss: Loss::Packets(Ratio::new(0.5).unwrap()),
        ..piece(1000, 5)
    };
    let bits = Piece {
        // 1 - (1 - 1e-5)^12000 = 0.1131.
        loss: Loss::Bits(Ratio::new(1e-5).unwrap()),
        ..piece(2000, 5)
    };
    let line = Timeline::new(vec![piece(0, 5), lossy, bits]).unwrap();
    let line = line.repeating(Duration::from_secs(3)).unwrap();
    let mut link = link(line);
    let mut lost = [0; 3];
    for ms in 0..300_000 {
        let losses = link.counters().channel_losses;
        // At the end of its transmission, that is in the next millisecond.
        link.offer(Time::from_nanos(ms * MS + 1), 0, PacketMeta::plain(1400));
        link.advance(Time::from_nanos((ms + 1) * MS));
        while link.deliver_due(at(ms)).is_some() {}
        lost[(ms % 3000 / 1000) as usize] += link.counters().channel_losses - losses;
    }
    assert_eq!(lost[0], 0);
    assert!(
        (f64::from(lost[1] as u32) / 1e5 - 0.5).abs() < 0.005,
        "{lost:?}"
    );
    assert!(
        (f64::from(lost[2] as u32) / 1e5 - 0.1060).abs() < 0.004,
        "{lost:?}"
    );
}

/// Opportunities at these milliseconds, repeated after the last.
fn opportunities(text: &str) -> Timeline {
    let given = crate::trace::mahimahi::read(text, true).unwrap();
    let line = Timeline::new(vec![piece(0, 5)]).unwrap();
    line.with_opportunities(given)
}

#[test]
fn an_opportunity_serves_what_waits_then() {
    // Two at 10 ms, one at 20 and 40 ms.
    let line = opportunities("10\n10\n20\n40\n");
    let offers = [
        // Two small ones and 100 bytes of the next in the first opportunity,
        // the rest of that in the second.
        (0, 700),
        (0, 700),
        (0, 1500),
        // Too late for what is left at 10 ms.
        (10, 100),
        // With that one at 20 ms, and its rest at 40 ms.
        (15, 1500),
        // In the next period.
        (45, 3000),
        (45, 3000),
    ];
    let mut before = 0;
    let steps: Vec<_> = offers
        .iter()
        .map(|(ms, bytes)| {
            let gap = (ms - before) * MS;
            before = *ms;
            (gap, PacketMeta::plain(*bytes))
        })
        .collect();
    let mut link = link(line);
    let done = drive(&mut link, &steps, false);
    let left: Vec<u64> = done
        .arrived
        .iter()
        .map(|a| a.1.as_nanos() / MS - 5)
        .collect();
    assert_eq!(left, [10, 10, 10, 20, 40, 50, 80]);
    assert_eq!(done.dropped, []);
    // 10,500 of 12,000 bytes by 80 ms.
    assert!((link.utilisation(at(80)) - 10_500.0 / 12_000.0).abs() < 1e-9);
    // An idle link makes whoever comes wait for the next opportunity: no longer
    // than x for 3 x of 40 ms, up to 10 ms. Bins are a millisecond.
    let mut idle = self::link(opportunities("10\n20\n40\n"));
    let median = idle.queueing_delay_quantile(at(4000), 0.5).as_secs();
    assert!((median - 0.0067).abs() < 0.0011, "{median}");
}

#[test]
fn a_trace_that_does_not_wrap_ends() {
    let given = crate::trace::mahimahi::read("10\n20\n", false).unwrap();
    let line = Timeline::new(vec![piece(0, 5)]).unwrap();
    let mut link = link(line.with_opportunities(given));
    for i in 0..3 {
        link.offer(Time::ZERO, i, PacketMeta::plain(1500));
    }
    link.advance(at(1_000_000));
    assert_eq!(link.under_way().count(), 2);
    assert_eq!(link.waiting(at(1_000_000)), 1);
}

proptest! {
    #[test]
    fn opportunities_are_served_as_mahimahi_does(
        steps in any_steps(), gaps in proptest::collection::vec(0u64..6, 1..20),
    ) {
        let mut now = 1;
        let mut text = String::new();
        for gap in gaps {
            now += gap;
            text += &format!("{now}\n");
        }
        let steps: Vec<_> = steps.into_iter().take(100).collect();
        let mut settings = settings(QueueSettings::drop_tail(Limit::Packets(1000)), 0.0);
        settings.channel = ChannelSettings::Perfect;
        settings.framing = Bytes::ZERO;
        let line = opportunities(&text);
        let mut one = timed_link(&settings, line.clone());
        let done = drive(&mut one, &steps, false);
        // One opportunity after the other, as the emulator does it.
        let mut came = Vec::new();
        let mut at = Time::ZERO;
        for (gap, offered) in &steps {
            at += Duration::from_nanos(*gap);
            came.push((at, offered.bytes));
        }
        let mut left: VecDeque<(usize, Time, u32)> =
            came.iter().enumerate().map(|(i, c)| (i, c.0, c.1)).collect();
        let mut expected = Vec::new();
        let mut index = 0;
        while !left.is_empty() {
            let now = line.opportunities().unwrap().at(index).unwrap();
            let mut budget = 1500;
            while let Some(first) = left.front_mut().filter(|f| f.1 < now && budget > 0) {
                let served = first.2.min(budget);
                first.2 -= served;
                budget -= served;
                if first.2 == 0 {
                    expected.push((first.0, now + Duration::from_millis(5)));
                    left.pop_front();
                }
            }
            index += 1;
        }
        prop_assert_eq!(done.arrived, expected);
        let mut other = timed_link(&settings, line);
        drive(&mut other, &steps, true);
        prop_assert_eq!(one.counters(), other.counters());
    }

    #[test]
    fn a_constant_timeline_is_a_plain_link(
        steps in any_steps(), queue in any_queue(), loss in 0.0..0.2f64, own in any::<bool>(),
    ) {
        let settings = settings(queue, loss);
        let mut piece = Piece {
            rate: settings.rate,
            one_way_delay: settings.one_way_delay,
            ..piece(0, 0)
        };
        let mut timed = settings.clone();
        if own {
            timed.channel = ChannelSettings::Perfect;
            piece.loss = Loss::Packets(Ratio::new(loss).unwrap());
        }
        let line = Timeline::new(vec![piece]).unwrap();
        let line = line.repeating(Duration::from_millis(3)).unwrap();
        let mut one = timed_link(&timed, line);
        let mut other = event_driven(&settings);
        one.record_delays();
        other.record_delays();
        prop_assert_eq!(drive(&mut one, &steps, false), drive(&mut other, &steps, false));
        prop_assert_eq!(one.counters(), other.counters());
        let end = at(10_000);
        prop_assert_eq!(one.mean_waiting(end), other.mean_waiting(end));
        let apart = one.utilisation(end) - other.utilisation(end);
        prop_assert!(apart.abs() < 1e-6, "{apart}");
    }

    #[test]
    fn every_packet_of_a_changing_link_is_accounted_for(
        steps in any_steps(), queue in any_queue(), line in any_timeline(), curious in any::<bool>(),
    ) {
        let settings = settings(queue, 0.05);
        let mut link = timed_link(&settings, line.clone());
        link.record_delays();
        // At any time: offered = delivered + dropped + lost + inside.
        let mut early = link.clone();
        let mut now = Time::ZERO;
        let mut delivered = 0;
        for (i, (gap, offered)) in steps.iter().enumerate() {
            now += Duration::from_nanos(*gap);
            while early.next_event().is_some_and(|at| at <= now) {
                delivered += u64::from(early.deliver_due(now).is_some());
            }
            early.offer(now, i, *offered);
            prop_assert_eq!(early.delivered(), delivered);
            prop_assert_eq!(early.sent().count(), early.under_way().count());
        }
        let done = drive(&mut link, &steps, curious);
        let inside = link.in_flight();
        let ends = done.arrived.len() + done.dropped.len() + done.lost.len();
        prop_assert_eq!(ends + inside, steps.len());
        let mut all: Vec<usize> = done.arrived.iter().map(|a| a.0).collect();
        all.extend(done.dropped.iter().chain(&done.lost));
        all.sort_unstable();
        all.dedup();
        prop_assert_eq!(all.len(), ends);
        let c = link.counters();
        prop_assert_eq!(c.queue_drops, done.dropped.len() as u64);
        prop_assert_eq!(c.channel_losses + c.outage_losses, done.lost.len() as u64);
        prop_assert_eq!(link.delivered(), done.arrived.len() as u64);
        // Times never go back; the order changes only where the route does.
        prop_assert!(done.arrived.windows(2).all(|w| w[0].1 <= w[1].1));
        if !line.changes_route() {
            prop_assert!(done.arrived.windows(2).all(|w| w[0].0 < w[1].0));
        }
        let end = at(100_000);
        prop_assert!((0.0..=1.0).contains(&link.utilisation(end)));
    }

    #[test]
    fn a_precomputed_timeline_does_what_the_event_driven_one_does(
        steps in any_steps(), queue in any_queue(), line in any_timeline(), stop in 0usize..400,
        loss in 0.0..0.2f64, preamble in prop_oneof![Just(0), 0u64..3_000_000],
    ) {
        if queue.is_event_driven() || !line.always_resumes() {
            return Ok(());
        }
        let mut settings = settings(queue, loss);
        settings.preamble = Duration::from_nanos(preamble);
        let line = Arc::new(line);
        let plan = LinkPlan {
            timeline: Some(&line),
            record_delays: true,
            ..LinkPlan::new(&settings, 1, "l")
        };
        let mut one: Link<usize> = Link::build(&plan);
        let mut other = Link::build(&LinkPlan { precompute: false, ..plan });
        prop_assert!(!one.is_event_driven() && other.is_event_driven());
        // In the middle of it, where packets wait: all that is measured.
        let (mut early, mut late) = (one.clone(), other.clone());
        let mut now = Time::ZERO;
        let mut ahead = Vec::new();
        for (i, (gap, meta)) in steps[..stop.min(steps.len())].iter().enumerate() {
            now += Duration::from_nanos(*gap);
            loop {
                let (at, other_at) = (early.next_arrival(), late.next_event());
                let Some(next) = at.into_iter().chain(other_at).min().filter(|at| *at < now) else {
                    break;
                };
                prop_assert_eq!(early.deliver(next), late.deliver_due(next));
            }
            match early.admit(now, *meta) {
                Admission::Arrives { at, .. } => {
                    early.carry(at, i);
                }
                Admission::Lost { verdict: Verdict::QueueDrop, at } => prop_assert_eq!(at, now),
                Admission::Lost { at, .. } => ahead.push(at),
                Admission::EventDriven => unreachable!(),
            }
            late.offer(now, i, *meta);
        }
        now += Duration::from_nanos(100);
        late.advance(now);
        early.advance(now);
        let (a, b) = (early.counters(), late.counters());
        let ahead = ahead.into_iter().filter(|at| *at > now).count() as u64;
        let lost = a.channel_losses + a.outage_losses;
        prop_assert_eq!(lost - ahead, b.channel_losses + b.outage_losses);
        prop_assert_eq!((a.queueing, a.queue_drops), (b.queueing, b.queue_drops));
        prop_assert_eq!((a.max_packets, a.max_bytes), (b.max_packets, b.max_bytes));
        prop_assert_eq!(early.waiting(now), late.waiting(now));
        prop_assert_eq!(early.mean_waiting(now), late.mean_waiting(now));
        prop_assert_eq!(early.utilisation(now), late.utilisation(now));
        prop_assert_eq!(early.is_down(now), late.is_down(now));
        prop_assert_eq!(early.has_room(now, 700), late.has_room(now, 700));
        let sent: Vec<Time> = early.sent().filter(|at| *at <= now).collect();
        let mut also: Vec<Time> = late.sent().filter(|at| *at <= now).collect();
        also.sort_unstable();
        let mut sorted = sent.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, also);
        for q in [0.5, 0.95] {
            let quantile = early.queueing_delay_quantile(now, q);
            prop_assert_eq!(quantile, late.queueing_delay_quantile(now, q));
        }
        // And to the end.
        prop_assert_eq!(drive(&mut one, &steps, false), drive(&mut other, &steps, false));
        one.advance(Time::MAX);
        prop_assert_eq!(one.counters(), other.counters());
        let end = one.free_at() + Duration::from_secs(1);
        prop_assert_eq!(one.mean_waiting(end), other.mean_waiting(end));
        prop_assert_eq!(one.utilisation(end), other.utilisation(end));
        for q in [0.5, 0.95] {
            let quantile = one.queueing_delay_quantile(end, q);
            prop_assert_eq!(quantile, other.queueing_delay_quantile(end, q));
        }
    }

    #[test]
    fn looking_at_a_changing_link_changes_nothing(
        steps in any_steps(), queue in any_queue(), line in any_timeline(),
    ) {
        let settings = settings(queue, 0.05);
        let new = || timed_link(&settings, line.clone());
        let (mut one, mut other) = (new(), new());
        prop_assert_eq!(drive(&mut one, &steps, false), drive(&mut other, &steps, true));
        prop_assert_eq!(one.counters(), other.counters());
    }
}
