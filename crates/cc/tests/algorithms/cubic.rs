//! CUBIC (RFC 9438) and HyStart++ (RFC 9406).

use crate::wire::{Wire, a_loss, a_timeout, an_exit, classic, close};
use bentpipe_cc::slots::{Cubic, HyStart};
use bentpipe_cc::{Avoidance, Classic, HostRules, Start};
use bentpipe_units::Duration;

fn cubic() -> Cubic {
    match classic("cubic").avoidance {
        Avoidance::Cubic(cubic) => *cubic,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_time_back_to_the_peak() {
    let cubic = cubic();
    close(cubic.k(100.0, 70.0), 4.217, 5e-4);
    close(cubic.k(500.0, 350.0), 7.211, 5e-4);
    assert_eq!(cubic.k(50.0, 70.0), 0.0);
}

/// After a loss at `cwnd`, all in flight.
fn after_loss(cwnd: f64) -> Wire {
    let mut wire = Wire::new(classic("cubic"), cwnd, cwnd);
    wire.controller.on_loss(&a_loss(cwnd), &mut wire.window);
    wire.controller
        .on_recovery_exit(&an_exit(cwnd, false), &mut wire.window);
    wire
}

/// One round of full use over 600 ms.
fn round(wire: &mut Wire) {
    let n = wire.window.cwnd as u64;
    for _ in 0..n {
        wire.ack(Duration::from_millis(600) / n);
    }
}

#[test]
fn the_cut_leaves_seven_tenths() {
    let wire = after_loss(100.0);
    close(wire.window.cwnd, 70.0, 1e-9);
    close(wire.window.ssthresh, 70.0, 1e-9);
}

#[test]
fn twelve_rounds_back_to_the_peak_at_600_ms() {
    let mut wire = after_loss(500.0);
    let rounds: Vec<f64> = (0..14)
        .map(|_| {
            round(&mut wire);
            wire.window.cwnd
        })
        .collect();
    // K is 7.2 s: 12 rounds. A step per ACK trails the cubic by part of a round.
    assert!(
        rounds[3] > 430.0 && rounds[3] < 470.0,
        "concave: {rounds:?}"
    );
    close(rounds[11], 500.0, 2.0);
    assert!(rounds.windows(2).all(|pair| pair[0] <= pair[1]));
}

#[test]
fn reno_friendly_on_short_paths() {
    let mut wire = after_loss(20.0);
    let rtt = Duration::from_millis(10);
    (wire.next.rtt, wire.next.min_rtt, wire.next.smoothed_rtt) = (Some(rtt), rtt, rtt);
    let before = wire.window.cwnd;
    for _ in 0..10 {
        let n = wire.window.cwnd as u64;
        for _ in 0..n {
            wire.ack(rtt / n);
        }
    }
    // alpha = 3 (1 - .7) / (1 + .7) = .529 a round.
    close(wire.window.cwnd - before, 5.29, 0.2);
}

#[test]
fn fast_convergence_remembers_a_lower_peak() {
    let mut wire = after_loss(100.0);
    wire.controller.on_loss(&a_loss(70.0), &mut wire.window);
    wire.controller
        .on_recovery_exit(&an_exit(70.0, false), &mut wire.window);
    close(wire.window.cwnd, 49.0, 1e-9);
    // The peak is 70 x (1 + .7) / 2 = 59.5, which is reached after K = 2.97 s, five rounds; a peak of
    // 70 would be almost reached by then.
    close(cubic().k(59.5, 49.0), 2.97, 0.01);
    for _ in 0..5 {
        round(&mut wire);
    }
    close(wire.window.cwnd, 59.5, 1.5);
}

#[test]
fn after_a_timeout_the_cubic_starts_where_avoidance_starts() {
    let mut wire = after_loss(100.0);
    wire.controller
        .on_timeout(&a_timeout(70.0), &mut wire.window);
    assert_eq!(wire.window.cwnd, 1.0);
    close(wire.window.ssthresh, 49.0, 1e-9);
    wire.window.cwnd = wire.window.ssthresh;
    wire.acks(1);
    // K = 0, W_max = 49: the target is 49 + .4 x .6^3.
    let cubic = 49.0 + 0.4 * 0.216 / 49.0;
    let reno = 49.0 + 9.0 / 17.0 / 49.0;
    close(wire.window.cwnd, f64::max(cubic, reno), 1e-9);
}

#[test]
fn idle_time_does_not_count() {
    let mut used = after_loss(500.0);
    let mut idle = after_loss(500.0);
    round(&mut used);
    round(&mut idle);
    idle.next.cwnd_limited = false;
    idle.ack(Duration::from_nanos(1));
    idle.ack(Duration::from_secs(60));
    idle.next.cwnd_limited = true;
    used.ack(Duration::from_millis(1));
    idle.ack(Duration::from_millis(1));
    close(idle.window.cwnd, used.window.cwnd, 0.1);
}

#[test]
fn a_spurious_loss_is_undone() {
    let mut wire = after_loss(500.0);
    round(&mut wire);
    let before = wire.window.clone();
    let mut twin = after_loss(500.0);
    round(&mut twin);
    wire.controller.on_loss(&a_loss(400.0), &mut wire.window);
    wire.controller.on_spurious(&before, &mut wire.window);
    wire.acks(50);
    twin.acks(50);
    assert_eq!(wire.window, twin.window);
}

fn hystart() -> Wire {
    hystart_of(8.0)
}

fn hystart_of(limit: f64) -> Wire {
    let start = Start::HyStart(HyStart::new(limit, true));
    Wire::new(
        Classic {
            start,
            ..classic("newreno")
        },
        10.0,
        f64::INFINITY,
    )
}

/// A round of ten ACKs with this RTT; cwnd's growth per ACK in its last one.
fn hystart_round(wire: &mut Wire, rtt_ms: u64) -> f64 {
    wire.next.rtt = Some(Duration::from_millis(rtt_ms));
    wire.next.round_start = true;
    wire.acks(1);
    wire.next.round_start = false;
    wire.acks(8);
    let before = wire.window.cwnd;
    wire.acks(1);
    wire.window.cwnd - before
}

#[test]
fn the_threshold_of_a_geostationary_path_is_16_ms() {
    let mut wire = hystart();
    assert_eq!(hystart_round(&mut wire, 600), 1.0);
    assert_eq!(hystart_round(&mut wire, 615), 1.0, "stay");
    let mut wire = hystart();
    hystart_round(&mut wire, 600);
    assert_eq!(
        hystart_round(&mut wire, 616),
        0.25,
        "conservative slow start"
    );
}

#[test]
fn conservative_slow_start_ends_after_five_rounds() {
    let mut wire = hystart();
    hystart_round(&mut wire, 600);
    for _ in 0..5 {
        assert_eq!(hystart_round(&mut wire, 620), 0.25);
    }
    assert!(hystart_round(&mut wire, 620) < 0.1);
    assert!(wire.window.ssthresh < 100.0);
}

#[test]
fn noise_does_not_end_slow_start() {
    let mut wire = hystart();
    hystart_round(&mut wire, 600);
    assert_eq!(hystart_round(&mut wire, 620), 0.25);
    assert_eq!(hystart_round(&mut wire, 600), 1.0);
}

/// RFC 9406, section 4.3: an ACK adds eight segments at most, unless packets are spaced. Another limit
/// holds for those, too.
#[test]
fn pacing_lifts_the_limit_of_slow_start() {
    for (limit, spaces_packets, grows) in [(8.0, false, 8.0), (8.0, true, 40.0), (4.0, true, 4.0)] {
        let mut wire = hystart_of(limit);
        wire.controller.apply_host_rules(HostRules {
            spaces_packets,
            ..HostRules::default()
        });
        wire.next.acked = 40.0;
        let before = wire.window.cwnd;
        wire.acks(1);
        assert_eq!(wire.window.cwnd - before, grows);
    }
}
