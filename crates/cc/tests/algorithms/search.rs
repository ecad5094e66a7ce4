//! SEARCH (draft-chung-ccwg-search): its rules, on deliveries that are given.

use crate::wire::{Wire, a_loss};
use bentpipe_cc::{Parameters, build_slots};
use bentpipe_units::{Duration, Segments, Time, math};

const RTT: Duration = Duration::from_millis(100);
/// Bins of 35 ms.
const STEP: Duration = Duration::from_millis(5);

fn search(parameters: &Parameters) -> Wire {
    let classic = build_slots("search", "reno", "halve", parameters).unwrap();
    let mut wire = Wire::new(classic, 10.0, f64::INFINITY);
    wire.controller.on_established(Some(RTT), &mut wire.window);
    wire.next.rtt = Some(RTT);
    wire
}

/// What a doubling slow start delivers in a step, up to `most` a round trip: the first ACKs arrive
/// after a round trip.
fn doubling(now: Time, most: Segments) -> Segments {
    let rounds = now.since(Time::ZERO).as_secs() / RTT.as_secs();
    let a_round = (10.0 * math::exp2(rounds - 1.0) * core::f64::consts::LN_2).min(most);
    a_round * STEP.as_secs() / RTT.as_secs()
}

/// Acknowledges what `delivers` says every 5 ms until `end`; returns when slow start ended.
fn drive(wire: &mut Wire, end: Time, delivers: impl Fn(Time) -> Segments) -> Option<Time> {
    while wire.next.now < end {
        let delivered = delivers(wire.next.now + STEP);
        (wire.next.acked, wire.next.delivered) = (delivered, delivered);
        if delivered > 0.0 {
            wire.ack(STEP);
        } else {
            wire.next.now += STEP;
        }
        if wire.window.ssthresh.is_finite() {
            return Some(wire.next.now);
        }
    }
    None
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

#[test]
fn slow_start_goes_on_while_deliveries_double() {
    let mut wire = search(&Parameters::new());
    assert_eq!(drive(&mut wire, at(2000), |now| doubling(now, 1e9)), None);
    assert!(wire.window.cwnd > 1e6, "{}", wire.window.cwnd);
}

/// Section 3.2: the threshold is reached some two round trips after the path is full, and cwnd
/// returns to what the path holds.
#[test]
fn it_leaves_two_round_trips_after_the_path_is_full() {
    let full = 1000.0;
    let mut wire = search(&Parameters::new());
    let left = drive(&mut wire, at(3000), |now| doubling(now, full)).expect("slow start ends");
    // 10 x ln 2 x 2^(n - 1) is 1,000 after 8.2 round trips.
    let after = left.since(at(820)).as_secs() / RTT.as_secs();
    assert!((1.0..=3.0).contains(&after), "{after} round trips");
    let cwnd = wire.window.cwnd;
    // The ACK that ends slow start counts for congestion avoidance.
    assert!(wire.window.ssthresh <= cwnd && cwnd <= wire.window.ssthresh + 1.0);
    assert!((1000.0..=2300.0).contains(&cwnd), "{cwnd}");

    let mut keeps = search(&Parameters::new().with("rolls_back", false));
    let same = drive(&mut keeps, at(3000), |now| doubling(now, full));
    assert_eq!(same, Some(left));
    assert!(keeps.window.cwnd > 1.5 * cwnd, "{}", keeps.window.cwnd);
}

#[test]
fn a_lower_threshold_leaves_earlier() {
    let leaves = |threshold: f64| {
        let mut wire = search(&Parameters::new().with("threshold", threshold));
        drive(&mut wire, at(3000), |now| doubling(now, 1000.0)).unwrap()
    };
    assert!(leaves(0.2) < leaves(0.35));
    assert!(leaves(0.35) < leaves(0.45));
}

/// A comparison that needs interpolation lies between those that need none: the further back it
/// looks, the less had been delivered then, and the later it leaves.
#[test]
fn a_round_trip_between_two_bins_is_interpolated() {
    let leaves = |rtt: u64| {
        let mut wire = search(&Parameters::new());
        wire.next.rtt = Some(RTT);
        drive(&mut wire, at(105), |now| doubling(now, 1000.0));
        wire.next.rtt = Some(Duration::from_millis(rtt));
        drive(&mut wire, at(3000), |now| doubling(now, 1000.0)).unwrap()
    };
    // Two bins, two and a half, three.
    let [short, between, long] = [70, 87, 105].map(leaves);
    assert!(
        short <= between && between <= long,
        "{short:?} {between:?} {long:?}"
    );
    assert!(long.since(short) <= Duration::from_millis(140));
}

/// Section 3.2: more than 25 bins are not kept, so that a comparison with an RTT of more than 15 of
/// them has to wait.
#[test]
fn a_far_longer_round_trip_waits() {
    let mut wire = search(&Parameters::new());
    drive(&mut wire, at(200), |now| doubling(now, 1000.0));
    wire.next.rtt = Some(Duration::from_millis(35 * 16));
    assert_eq!(
        drive(&mut wire, at(4000), |now| doubling(now, 1000.0)),
        None
    );
    wire.next.rtt = Some(RTT);
    let left = drive(&mut wire, at(4100), |now| doubling(now, 1000.0));
    assert!(left.is_some());
}

/// Bins in which nothing arrives hold nothing; more than 10 in a row begin anew.
#[test]
fn a_long_silence_begins_anew() {
    let mut wire = search(&Parameters::new());
    let silent = |from: u64, to: u64| {
        move |now: Time| {
            let is_silent = now > at(from) && now <= at(to);
            // As much as before the silence, which alone would end slow start.
            if is_silent {
                0.0
            } else {
                doubling(now.min(at(from)), 1e9)
            }
        }
    };
    assert_eq!(drive(&mut wire, at(1100), silent(600, 1050)), None);
    // Ten bins are filled again and a round trip passes before it may leave.
    let left = drive(&mut wire, at(3000), silent(600, 1050)).unwrap();
    assert!(left >= at(1055 + 350 + 100), "{left:?}");

    let mut short = search(&Parameters::new());
    let left = drive(&mut short, at(3000), silent(600, 800)).unwrap();
    assert!(left < at(1100), "{left:?}");
}

#[test]
fn a_loss_stops_it() {
    let mut wire = search(&Parameters::new());
    drive(&mut wire, at(500), |now| doubling(now, 1000.0));
    wire.controller.on_loss(&a_loss(100.0), &mut wire.window);
    let ssthresh = wire.window.ssthresh;
    drive(&mut wire, at(3000), |_| 5.0);
    assert_eq!(wire.window.ssthresh, ssthresh);
}
