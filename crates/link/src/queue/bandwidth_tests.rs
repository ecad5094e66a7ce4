//! The share that a router gives a connection, by hand.

use super::*;
use bentpipe_units::Bytes;

fn router() -> Router {
    let link = QueueContext {
        rate: Rate::from_mbps(10),
        one_way_delay: Duration::from_millis(250),
        framing: Bytes::ZERO,
        seed: 1,
        name: "l",
    };
    Router::new(&BandwidthSettings::new(Limit::Packets(100)), &link)
}

/// Sends packets of 1000 bytes of each connection at a rate in kB/s until `end`
/// milliseconds, and what has no header at `other` kB/s.
fn feed(router: &mut Router, from: u64, end: u64, connections: &[u64], other: u64) {
    for ms in from..end {
        let now = Time::ZERO + Duration::from_millis(ms);
        let mut send = |flow: u32, rate: u64, has_header| {
            let before = (ms - from) * rate / 1000;
            for _ in before..(ms + 1 - from) * rate / 1000 {
                let meta = PacketMeta {
                    flow,
                    ..PacketMeta::plain(1000)
                };
                router.arrive(now, meta, has_header, 0);
            }
        };
        for (flow, rate) in (1..).zip(connections) {
            send(flow, *rate, true);
        }
        send(99, other, false);
    }
}

#[track_caller]
fn near(got: f64, want: f64) {
    assert!((got / want - 1.0).abs() < 0.02, "{got} instead of {want}");
}

#[test]
fn shares_of_the_worked_example() {
    let mut one = router();
    feed(&mut one, 0, 1600, &[1200], 0);
    near(one.share, 1.225e6);
    let mut two = router();
    feed(&mut two, 0, 1600, &[600, 600], 0);
    near(two.share, 612_500.0);
    let mut limited = router();
    feed(&mut limited, 0, 2600, &[1000, 100], 0);
    near(limited.share, 1.125e6);
}

#[test]
fn a_newcomer_counts_at_once() {
    let mut router = router();
    feed(&mut router, 0, 1100, &[1000], 0);
    let before = router.share;
    feed(&mut router, 1100, 1103, &[1000, 1000], 0);
    near(router.share, before / 2.0);
}

#[test]
fn traffic_without_a_header_and_a_queue_leave_less() {
    let mut router = router();
    feed(&mut router, 0, 1600, &[700], 500);
    near(router.share, 725_000.0);
    let now = Time::ZERO + Duration::from_secs(3);
    router.end_interval(now, 100_000);
    assert!(router.share < 1.225e6 - 199_000.0, "{}", router.share);
}

#[test]
fn framing_comes_off_the_capacity() {
    let mut router = router();
    router.framing = 250;
    feed(&mut router, 0, 1600, &[900], 0);
    near(router.share, 980_000.0);
}
