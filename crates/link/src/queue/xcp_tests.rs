//! The router's laws, and that timers without events are timers.

use super::*;
use proptest::prelude::*;

fn settings() -> XcpSettings {
    XcpSettings::new(Limit::Packets(1000))
}

fn xcp() -> Xcp {
    Xcp::new(&settings(), Rate::from_mbps(10), 0, 1, "l")
}

/// Item by item: C = 10 Mbit/s, 8 Mbit/s of traffic, a persistent queue of 10 packets.
#[test]
fn the_aggregate_feedback_of_the_worked_example() {
    let found = budget(&settings(), 1.25e6, 1e6, 15_000.0, 0.6, 1.0);
    let phi = 0.4 * 250_000.0 - 0.226 * 15_000.0 / 0.6;
    assert!((phi - 94_350.0_f64).abs() < 1e-6);
    assert!((found.pos - (94_350.0 + 5_650.0)).abs() < 1e-6, "{found:?}");
    assert!((found.neg - 5_650.0).abs() < 1e-6, "{found:?}");
}

#[test]
fn p_xcp_scales_up_to_what_is_free() {
    let p_xcp = XcpSettings {
        p_xcp: true,
        ..settings()
    };
    let pos = |unlimited| budget(&p_xcp, 1.25e6, 1e6, 15_000.0, 0.6, unlimited).pos;
    assert!((pos(1.0) - 100_000.0).abs() < 1e-6);
    assert!((pos(0.5) - 200_000.0).abs() < 1e-6);
    // Three of four cannot use theirs: 400 000 B/s, but 250 000 are free.
    assert!((pos(0.25) - 250_000.0).abs() < 1e-6);
    // More traffic than the link carries: as without.
    let over = |s: &XcpSettings| budget(s, 1.25e6, 1.5e6, 0.0, 0.6, 0.5);
    assert_eq!(over(&p_xcp), over(&settings()));
}

/// One interval of a second's RTT in which ten packets of 1000 bytes came.
fn after_an_interval(header: XcpHeader) -> Xcp {
    let mut router = xcp();
    let begin = router.te_ends;
    for i in 0..10 {
        router.announced = Some(header);
        let at = begin + Duration::from_millis(i);
        router.arrive(at, None, PacketMeta::plain(1000), (0, 0));
        router.headers.push_back(router.announced.take());
    }
    router.pass(router.te_ends, 0.0);
    router
}

#[test]
fn a_packet_gets_its_share_and_no_more_than_it_asks_for() {
    let header = XcpHeader {
        x: 0.06,
        rtt: 0.6,
        request: 1e24,
    };
    let mut router = after_an_interval(header);
    // y = 10 000 B / 50 ms; no persistent queue; d = 0.6 s.
    let phi = 0.4 * (1.25e6 - 200_000.0);
    assert!((router.pos_left - phi).abs() < 1.0, "{}", router.pos_left);
    assert_eq!(router.neg_left, 0.0);
    assert!((router.te - 0.6).abs() < 1e-6);
    // Ten packets with the same x: a tenth each.
    let given = router.feedback(&header, 1000.0);
    assert!((given - phi / 10.0).abs() < 1.0, "{given}");
    // One that asks for less gets that, and the router takes the rest away
    // only as far as it may: nothing.
    let modest = XcpHeader {
        request: 1000.0,
        ..header
    };
    let left = router.pos_left;
    assert_eq!(router.feedback(&modest, 1000.0), 1000.0);
    assert!((left - router.pos_left - 1000.0).abs() < 1e-6);
    assert!(router.limited_x > 0.0 && router.limited_x < router.left_x);
    // All ten shares together are what there was to give.
    for _ in 0..9 {
        router.feedback(&header, 1000.0);
    }
    assert!(router.pos_left < 0.11 * phi);
}

#[test]
fn rtts_above_a_second_count_as_one() {
    let header = XcpHeader {
        x: 0.06,
        rtt: 1.5,
        request: 0.0,
    };
    assert!((after_an_interval(header).mean_rtt - 1.0).abs() < 1e-6);
}

#[test]
fn without_an_rtt_there_is_no_feedback() {
    let mut router = after_an_interval(XcpHeader::default());
    let told = router.depart(router.te_ends, PacketMeta::plain(1000), (1, 1000));
    assert_eq!(told, Some(Feedback::new(0.0)));
    assert_eq!(router.sum_x, 0.0);
    assert_eq!(
        router.mean_rtt, INITIAL_INTERVAL,
        "no header gave another one"
    );
}

/// What a router that is looked at only when a packet comes or goes knows is
/// what one knows that is looked at every half millisecond.
fn any_arrivals() -> impl Strategy<Value = Vec<(u64, f32)>> {
    let gap = prop_oneof![0u64..3_000, 0u64..4_000_000];
    proptest::collection::vec((gap, 0.001f32..2.0), 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn looking_more_often_changes_nothing(arrivals in any_arrivals()) {
        let (mut lazy, mut eager) = (xcp(), xcp());
        let mut now = Time::ZERO;
        let mut waiting = 0u64;
        for (gap_us, rtt) in arrivals {
            let next = now + Duration::from_micros(gap_us);
            while now + Duration::from_micros(500) < next {
                now += Duration::from_micros(500);
                eager.pass(now, (1000 * waiting) as f64);
            }
            now = next;
            let header = XcpHeader { x: rtt / 10.0, rtt, request: 1e24 };
            for router in [&mut lazy, &mut eager] {
                router.announced = Some(header);
                router.arrive(now, None, PacketMeta::plain(1000), (waiting, 1000 * waiting));
                router.headers.push_back(router.announced.take());
            }
            waiting += 1;
            // Leaves all at every fifth packet.
            while waiting > 0 && gap_us % 5 == 0 {
                let found = (waiting, 1000 * waiting);
                let told = [&mut lazy, &mut eager].map(|r| r.depart(now, PacketMeta::plain(1000), found));
                prop_assert_eq!(told[0], told[1]);
                waiting -= 1;
            }
            prop_assert_eq!((lazy.te_ends, lazy.tq_ends), (eager.te_ends, eager.tq_ends));
            prop_assert_eq!((lazy.queue, lazy.mean_rtt), (eager.queue, eager.mean_rtt));
        }
    }

    #[test]
    fn budgets_are_never_overspent(requests in proptest::collection::vec(-1e5f32..1e6, 1..100)) {
        let header = XcpHeader { x: 0.06, rtt: 0.6, request: 1e24 };
        let mut router = after_an_interval(header);
        let before = router.pos_left;
        let mut given = 0.0;
        for request in requests {
            let x = XcpHeader { request, ..header };
            // What one gives back another may have.
            given += router.feedback(&x, 1000.0);
            prop_assert!(router.pos_left >= 0.0 && router.neg_left >= 0.0);
        }
        prop_assert!(given <= before * (1.0 + 1e-6));
    }
}

/// Two links, one looked at all the time, give every packet the same feedback,
/// and a day without traffic takes no time.
#[test]
fn an_idle_router_needs_no_events() {
    use crate::{Link, LinkSettings, QueueSettings, Verdict};
    let settings = LinkSettings::new(
        Rate::from_mbps(10),
        Duration::ZERO,
        QueueSettings::Xcp(settings()),
    );
    let mut link: Link<u32> = Link::new(&settings, 1, "l");
    assert!(link.reads_headers());
    let header = XcpHeader {
        x: 0.06,
        rtt: 0.6,
        request: 1e24,
    };
    let mut told = Vec::new();
    let mut now = Time::ZERO;
    for day in 0..3 {
        for i in 0..200 {
            link.offer_xcp(now, i, PacketMeta::plain(1500), Some(header));
            link.advance(now);
            told.extend(std::iter::from_fn(|| link.poll_verdict()).map(|f| f.1));
            now += Duration::from_millis(2);
        }
        now = Time::ZERO + Duration::from_secs(86_400 * (day + 1));
    }
    link.advance(now);
    assert_eq!(told.len(), 600, "one for each packet");
    let positive =
        |v: &&Verdict| matches!(v, Verdict::Feedback(feedback) if feedback.change() > 0.0);
    // As many as came in the first interval share what that one gives.
    let given = told[..200].iter().filter(positive).count();
    assert!((20..40).contains(&given), "{given}");
    // The first packets after a day get nothing: no interval counted any.
    assert!(!told[200..205].iter().any(|v| positive(&v)));
}
