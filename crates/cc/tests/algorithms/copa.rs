//! Copa: the target rate, the velocity, the modes.

use crate::wire::{Wire, a_loss, a_timeout, close};
use bentpipe_cc::{Parameters, Phase, build};
use bentpipe_units::{Duration, Rate};

fn copa(parameters: &Parameters, cwnd: f64) -> Wire {
    let mut wire = Wire::new(build("copa", parameters).unwrap(), cwnd, f64::INFINITY);
    wire.controller
        .on_established(Some(Duration::from_millis(600)), &mut wire.window);
    wire
}

/// One ACK `after` the last with this RTT; `round` begins a round trip.
fn ack(wire: &mut Wire, after: Duration, rtt: Duration, round: bool) -> f64 {
    wire.next.rtt = Some(rtt);
    wire.next.round_start = round;
    wire.ack(after);
    wire.window.cwnd
}

const RTT: Duration = Duration::from_millis(600);
const GAP: Duration = Duration::from_micros(1200);

/// RTTmin 600 ms, and slow start over: 10 ms queued at 500 segments make a target
/// of 200 segments a second and a rate of 820.
fn after_slow_start(mode: &str) -> Wire {
    let mut wire = copa(&Parameters::new().with("mode", mode), 500.0);
    ack(&mut wire, GAP, RTT, true);
    wire.window.cwnd = 500.0;
    // The samples of 600 ms leave the window of srtt/2.
    ack(&mut wire, RTT, RTT + Duration::from_millis(10), false);
    assert_eq!(
        wire.controller.phase(&wire.window),
        Phase::Own("default_mode")
    );
    wire
}

#[test]
fn slow_start_doubles_until_the_rate_passes_the_target() {
    let mut wire = copa(&Parameters::new(), 10.0);
    assert_eq!(wire.rounds(5), [10.0, 20.0, 40.0, 80.0, 160.0]);
    assert_eq!(wire.controller.phase(&wire.window), Phase::SlowStart);
    // 320 segments, 600 ms: 533 a second. 2 ms queued: the target is 1000 a second;
    // 10 ms: 200 a second.
    assert_eq!(
        ack(&mut wire, RTT, RTT + Duration::from_millis(2), false),
        321.0
    );
    let cwnd = ack(&mut wire, RTT, RTT + Duration::from_millis(10), false);
    close(cwnd, 321.0 - 2.0 / 321.0, 1e-9);
}

#[test]
fn two_segments_in_the_queue_are_the_balance() {
    // 600 ms at 10 Mbit/s: 500 segments, and each queued one takes 1.2 ms.
    for (queued, grows) in [(1, true), (3, false)] {
        let mut wire = after_slow_start("switching");
        wire.window.cwnd = 500.0 + f64::from(queued);
        let rtt = RTT + GAP * u64::from(queued as u32);
        let before = wire.window.cwnd;
        let cwnd = ack(&mut wire, RTT, rtt, false);
        assert_eq!(cwnd > before, grows, "{queued}: {before} to {cwnd}");
        close((cwnd - before).abs(), 2.0 / before, 1e-9);
    }
}

#[test]
fn packets_are_paced_at_twice_the_window_per_standing_rtt() {
    let mut wire = copa(&Parameters::new(), 10.0);
    assert_eq!(wire.window.pacing_rate, Some(Rate::from_bps(400_000)));
    ack(&mut wire, GAP, RTT, true);
    let rate = wire.window.pacing_rate.unwrap().bps_f64();
    close(rate, 2.0 * 11.0 * 12_000.0 / 0.6, 1.0);
}

#[test]
fn the_velocity_doubles_after_three_round_trips_in_one_direction() {
    let mut wire = after_slow_start("default");
    let queued = RTT + Duration::from_millis(10);
    let steps: Vec<f64> = (0..8)
        .map(|_| {
            let before = wire.window.cwnd;
            let cwnd = ack(&mut wire, RTT, queued, true);
            ((before - cwnd) * before / 2.0 * 1e6).round() / 1e6
        })
        .collect();
    // The first round trip finds the window where slow start left it.
    assert_eq!(steps, [1.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
    // The other direction starts again from 1.
    let before = wire.window.cwnd;
    let cwnd = ack(&mut wire, RTT, RTT, false);
    close(cwnd - before, 2.0 / before, 1e-9);
}

#[test]
fn a_queue_that_is_never_empty_means_competition() {
    let mut wire = after_slow_start("switching");
    // The RTT swings by 50 ms, and never comes within 5 ms of the smallest.
    for i in 0..12 {
        let queued = Duration::from_millis(if i % 2 == 0 { 20 } else { 50 });
        ack(
            &mut wire,
            Duration::from_millis(301),
            RTT + queued,
            i % 2 == 0,
        );
    }
    let competes = Phase::Own("competitive_mode");
    assert_eq!(wire.controller.phase(&wire.window), competes);
    // One empty queue ends it.
    ack(&mut wire, RTT, RTT, false);
    assert_eq!(
        wire.controller.phase(&wire.window),
        Phase::Own("default_mode")
    );
}

#[test]
fn the_competitive_mode_moves_one_over_delta_as_reno_its_window() {
    let mut wire = copa(&Parameters::new().with("mode", "competitive"), 500.0);
    ack(&mut wire, GAP, RTT, false);
    wire.window.cwnd = 500.0;
    let queued = RTT + Duration::from_millis(100);
    // The step of an ACK is (1/delta) / cwnd.
    let mut step = |round: bool, lost: bool| {
        if lost {
            wire.controller.on_loss(&a_loss(500.0), &mut wire.window);
        }
        let before = wire.window.cwnd;
        ((before - ack(&mut wire, RTT, queued, round)) * before).round()
    };
    assert_eq!(step(false, false), 2.0);
    assert_eq!(step(true, false), 3.0);
    assert_eq!(step(true, false), 4.0);
    // 1/delta 5 and a velocity of 2; then half of it, and a velocity of 4.
    assert_eq!(step(true, false), 10.0);
    assert_eq!(step(true, true), 10.0);
}

#[test]
fn losses_cut_nothing_and_a_timeout_starts_again() {
    let mut wire = after_slow_start("switching");
    let before = wire.window.cwnd;
    wire.controller.on_loss(&a_loss(500.0), &mut wire.window);
    assert_eq!(wire.window.cwnd, before);
    wire.controller
        .on_timeout(&a_timeout(500.0), &mut wire.window);
    assert_eq!(wire.window.cwnd, 1.0);
    assert_eq!(wire.controller.phase(&wire.window), Phase::SlowStart);
}
