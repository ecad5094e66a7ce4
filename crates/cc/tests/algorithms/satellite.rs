//! Jersey, STAR, Fast Start, Astart and Bulk Repeat.

use crate::wire::{Wire, a_loss, a_timeout, an_exit, close};
use bentpipe_cc::{Parameters, Phase, build};
use bentpipe_units::{Duration, Rate};

fn named(name: &str, parameters: &Parameters, cwnd: f64, ssthresh: f64) -> Wire {
    Wire::new(build(name, parameters).unwrap(), cwnd, ssthresh)
}

/// The bandwidth estimate, bytes per second.
fn estimate(wire: &Wire) -> f64 {
    wire.controller
        .bandwidth_estimate()
        .map_or(0.0, Rate::bps_f64)
        / 8.0
}

/// ACKs at 10 Mbit/s for ten round trips of 600 ms: the estimate is there, and
/// 500 segments fit. The window is put back.
fn at_ten_mbps(name: &str, cwnd: f64, ssthresh: f64) -> Wire {
    let mut wire = named(name, &Parameters::new(), cwnd, ssthresh);
    wire.acks(5_000);
    (wire.window.cwnd, wire.window.ssthresh) = (cwnd, ssthresh);
    wire
}

#[test]
fn the_estimate_of_jersey() {
    // R_n = (RTT R_{n-1} + L_n) / ((t_n - t_{n-1}) + RTT) from zero: the first
    // ACK sets the clock, L = 1500 B, 10 ms apart.
    let mut wire = named("jersey", &Parameters::new(), 2.0, f64::INFINITY);
    let ten = Duration::from_millis(10);
    wire.ack(ten);
    assert_eq!(wire.controller.bandwidth_estimate(), None);
    wire.ack(ten);
    close(estimate(&wire), 1500.0 / 0.61, 0.2);
    let before = estimate(&wire);
    wire.ack(ten);
    close(estimate(&wire), (0.6 * before + 1500.0) / 0.61, 0.3);
    // At 100 kB/s an ACK more makes it 100 819.7 B/s.
    let mut wire = named("jersey", &Parameters::new(), 2.0, f64::INFINITY);
    wire.next.acked = 1.0;
    wire.ack(ten);
    for _ in 0..10_000 {
        wire.ack(Duration::from_millis(15));
    }
    close(estimate(&wire), 100_000.0, 0.2);
    wire.ack(ten);
    close(estimate(&wire), 100_819.7, 0.2);
}

#[test]
fn jersey_repairs_without_a_warning_and_cuts_with_one() {
    let mut wire = at_ten_mbps("jersey", 700.0, 600.0);
    wire.controller.on_loss(&a_loss(700.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (700.0, 600.0));
    wire.controller
        .on_recovery_exit(&an_exit(3.0, true), &mut wire.window);
    assert_eq!(wire.window.cwnd, 700.0);

    let mut marked = a_loss(700.0);
    marked.ecn = true;
    wire.controller.on_loss(&marked, &mut wire.window);
    close(wire.window.cwnd, 500.0, 1.0);
    assert_eq!(wire.window.ssthresh, wire.window.cwnd);

    // A duplicate ACK with the echo makes the loss one of congestion.
    let mut wire = at_ten_mbps("jersey", 700.0, 600.0);
    wire.next.congestion_echo = true;
    wire.acks(1);
    wire.controller.on_loss(&a_loss(700.0), &mut wire.window);
    close(wire.window.cwnd, 500.0, 1.0);
}

#[test]
fn a_warning_does_not_raise_the_window_of_jersey() {
    let mut wire = at_ten_mbps("jersey", 100.0, f64::INFINITY);
    let mut marked = a_loss(100.0);
    marked.ecn = true;
    wire.controller.on_loss(&marked, &mut wire.window);
    assert_eq!(wire.window.cwnd, 100.0);
    close(wire.window.ssthresh, 500.0, 1.0);
    wire.controller
        .on_timeout(&a_timeout(100.0), &mut wire.window);
    assert_eq!(wire.window.cwnd, 1.0);
    close(wire.window.ssthresh, 500.0, 1.0);
}

#[test]
fn star_sets_the_window_by_the_cause_of_a_loss() {
    // 700 segments where 500 fit: congestion.
    let mut wire = at_ten_mbps("star", 700.0, 600.0);
    wire.controller.on_loss(&a_loss(700.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (350.0, 350.0));
    // 520 is within the margin: an error, and 500 stay.
    let mut wire = at_ten_mbps("star", 520.0, 600.0);
    wire.controller.on_loss(&a_loss(520.0), &mut wire.window);
    close(wire.window.cwnd, 500.0, 1.0);
    // Fewer than fit all stay.
    let mut wire = at_ten_mbps("star", 400.0, 400.0);
    wire.controller.on_loss(&a_loss(400.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (400.0, 400.0));
    wire.controller
        .on_recovery_exit(&an_exit(3.0, true), &mut wire.window);
    assert_eq!(wire.window.cwnd, 400.0, "nothing was cut, nothing is fixed");
}

#[test]
fn star_lifts_growth_up_to_a_share_of_what_fits() {
    let mut wire = at_ten_mbps("star", 200.0, 100.0);
    let cwnds = wire.cwnds(2);
    assert_eq!(cwnds, [202.0, 204.0], "two segments an ACK");
    wire.window.cwnd = 374.5;
    let lifted = wire.cwnds(1)[0];
    close(lifted, 0.75 * 500.0, 1.0);
    wire.window.cwnd = 400.0;
    close(wire.cwnds(1)[0], 400.0 + 1.0 / 400.0, 1e-9);
}

#[test]
fn fast_start_begins_with_the_cached_window_at_low_priority() {
    let cache = Parameters::new().with("cached_cwnd", 80.0);
    let mut wire = named("fast-start", &cache, 4.0, f64::INFINITY);
    wire.controller.on_established(None, &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (80.0, 80.0));
    assert_eq!(wire.window.actions.low_priority, 80);
    assert_eq!(
        wire.controller.phase(&wire.window),
        Phase::Own("fast_start")
    );
    // A loss in the burst: as if there had been no cache.
    wire.acks(10);
    let ssthresh = wire.window.ssthresh;
    wire.controller.on_loss(&a_loss(80.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (4.0, ssthresh));
}

#[test]
fn fast_start_goes_on_after_idling() {
    let mut wire = named("fast-start", &Parameters::new(), 10.0, f64::INFINITY);
    wire.controller.on_established(None, &mut wire.window);
    assert_eq!(wire.window.actions.low_priority, 0, "nothing is cached yet");
    wire.acks(50);
    wire.controller.after_idle(10.0, &mut wire.window);
    assert_eq!(wire.window.cwnd, 60.0);
    assert_eq!(wire.window.actions.low_priority, 60);
    // Once the burst is acknowledged a loss halves as usual.
    wire.acks(60);
    wire.controller.on_loss(&a_loss(100.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (50.0, 50.0));
    // A stale cache costs a timeout no threshold.
    wire.controller.after_idle(10.0, &mut wire.window);
    wire.controller
        .on_timeout(&a_timeout(50.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (1.0, 50.0));
}

#[test]
fn astart_follows_the_estimate_until_a_loss() {
    let mut wire = at_ten_mbps("astart", 2.0, f64::INFINITY);
    wire.acks(1);
    let fits = estimate(&wire) * 0.6 / 1500.0;
    close(wire.window.ssthresh, fits, 1e-6);
    close(fits, 500.0, 1.0);
    assert_eq!(wire.window.cwnd, 3.0, "below it: slow start");
    wire.window.cwnd = 600.0;
    wire.acks(1);
    assert!(wire.window.cwnd < 600.01, "above it: a segment a round");
    wire.controller.on_loss(&a_loss(600.0), &mut wire.window);
    let after = wire.window.ssthresh;
    wire.next.now += Duration::from_secs(2);
    wire.acks(1);
    assert_eq!(wire.window.ssthresh, after);
}

#[test]
fn bulk_repeat_sends_everything_again_where_the_queue_is_short() {
    let mut wire = at_ten_mbps("bulk-repeat", 400.0, 300.0);
    wire.controller.on_loss(&a_loss(400.0), &mut wire.window);
    assert!(wire.window.actions.repeat_all);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (400.0, 300.0));
    wire.controller
        .on_timeout(&a_timeout(400.0), &mut wire.window);
    assert!(wire.window.actions.keeps_rto);
    assert_eq!(wire.window.cwnd, 1.0);

    // 700 segments over 720 ms instead of 600: 116 of them wait.
    let mut wire = at_ten_mbps("bulk-repeat", 700.0, 300.0);
    wire.next.rtt = Some(Duration::from_millis(720));
    wire.acks(1);
    wire.controller.on_loss(&a_loss(700.0), &mut wire.window);
    assert!(!wire.window.actions.repeat_all);
    close(wire.window.cwnd, 500.0, 2.0);
    wire.controller
        .on_timeout(&a_timeout(500.0), &mut wire.window);
    assert!(!wire.window.actions.keeps_rto);
}
