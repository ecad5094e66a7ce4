//! `LeoCC` where the path changes every 15 s.

use crate::line::{Line, named};
use bentpipe_link::{Loss, Piece, Timeline};
use bentpipe_outcome::Outcome;
use bentpipe_sim::{Options, run};
use bentpipe_tcp::{Recovery, Transport};
use bentpipe_traffic::Application;
use bentpipe_units::{Duration, Rate, Time};
use std::sync::Arc;

const SECONDS: u64 = 180;
const RATE: Rate = Rate::from_mbps(50);
/// Payload of 50 Mbit/s.
const PAYLOAD: f64 = 48.27;

/// One-way delays from 0, 12, 27 and 42 s of each minute on; two of the steps go up.
const DELAYS: [(u64, u64); 4] = [(0, 20), (12, 40), (27, 25), (42, 60)];

fn piece((at, ms): (u64, u64)) -> Piece {
    Piece {
        from: Time::ZERO + Duration::from_secs(at),
        rate: RATE,
        one_way_delay: Duration::from_millis(ms),
        sloped: false,
        loss: Loss::Channel,
        up: true,
        route: 0,
    }
}

/// A control over 50 Mbit/s with a queue of 500 packets, 120 ms.
fn over(control: &str) -> Outcome {
    let transport = Transport {
        initial_window: 10.0,
        ..named(control, Recovery::SackRepeat)
    };
    let line = Line {
        rate: RATE,
        rtt: Duration::from_millis(40),
        queue: 500,
        loss: 0.0,
        duration: Duration::from_secs(SECONDS),
        flows: Vec::new(),
    };
    let mut scenario = line
        .with(Application::Persistent, Some(transport))
        .scenario();
    let pieces = DELAYS.map(piece).to_vec();
    let timeline = Timeline::new(pieces).unwrap();
    let timeline = Arc::new(timeline.repeating(Duration::from_secs(60)).unwrap());
    for link in [1, 2] {
        scenario.links[link].timeline = Some(Arc::clone(&timeline));
    }
    run(&scenario, &Options::default()).unwrap()
}

fn mbps(outcome: &Outcome) -> f64 {
    outcome.flows[0].delivered.as_f64() * 8e-6 / SECONDS as f64
}

#[test]
fn it_follows_steps_of_the_delay_with_a_short_queue() {
    let (leocc, bbr, cubic) = (over("leocc"), over("bbr"), over("cubic"));
    // After a step up BBR's smallest RTT is out of date for up to 10 s, and its window
    // of two bandwidth-delay products too small where the delay more than doubled.
    let (own, first) = (mbps(&leocc), mbps(&bbr));
    assert!(own > 0.96 * PAYLOAD, "{own}");
    assert!(own > 1.02 * first, "{own} {first}");
    let queue = |outcome: &Outcome| outcome.links[1].mean_queue_packets;
    let (own, full) = (queue(&leocc), queue(&cubic));
    assert!(own < 0.3 * full, "{own} {full}");
}
