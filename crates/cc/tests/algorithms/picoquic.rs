//! The initial slow start of picoquic, against the arithmetic of its `cc_common.c` and `pacing.c`.

use crate::wire::{Wire, close};
use bentpipe_cc::{CongestionControl as _, HostRules, Parameters, build_slots};
use bentpipe_units::{Duration, Rate};

fn picoquic(parameters: &Parameters, rtt: u64) -> Wire {
    let classic = build_slots("picoquic", "reno", "halve", parameters).unwrap();
    let mut wire = Wire::new(classic, 10.0, f64::INFINITY);
    let rtt = Duration::from_millis(rtt);
    wire.controller.on_established(Some(rtt), &mut wire.window);
    (wire.next.rtt, wire.next.min_rtt) = (Some(rtt), rtt);
    wire.next.smoothed_rtt = rtt;
    wire.next.now += rtt;
    wire
}

fn alone() -> Parameters {
    Parameters::new()
        .with("probes_bandwidth", false)
        .with("paces", false)
}

#[test]
fn a_long_round_trip_begins_with_a_larger_window() {
    for (rtt, cwnd) in [
        (50, 10.0),
        (100, 10.0),
        (300, 30.0),
        (600, 60.0),
        (900, 61.0),
    ] {
        let mut wire = picoquic(&alone(), rtt);
        wire.ack(Duration::from_millis(1));
        // The ACK adds its segment.
        close(wire.window.cwnd, cwnd + 1.0, 1e-9);
    }
}

#[test]
fn half_of_the_bandwidth_is_in_flight() {
    let mut wire = picoquic(&Parameters::new().with("paces", false), 100);
    (wire.next.acked, wire.next.delivered) = (2.0, 2.0);
    // Two segments each 2 ms are 1,000 a second, 100 of them a round trip.
    wire.ack(Duration::from_millis(150));
    // Only what was sent after the first ACK is measured.
    wire.ack(Duration::from_millis(101));
    close(wire.window.cwnd, 14.0, 1e-9);
    wire.ack(Duration::from_millis(2));
    close(wire.window.cwnd, 52.0, 1e-9);
    // What is closer than 1 ms is no sample.
    wire.ack(Duration::from_micros(10));
    close(wire.window.cwnd, 54.0, 1e-9);
}

/// Seven samples whose smallest exceeds the reference by a quarter, seven times in a row.
#[test]
fn it_leaves_when_the_delay_stays() {
    let mut wire = picoquic(&alone(), 100);
    for _ in 0..7 {
        wire.ack(Duration::from_millis(2));
    }
    wire.next.rtt = Some(Duration::from_millis(126));
    for _ in 0..12 {
        wire.ack(Duration::from_millis(2));
        assert!(wire.window.ssthresh.is_infinite());
    }
    let before = wire.window.cwnd;
    wire.ack(Duration::from_millis(2));
    assert_eq!(wire.window.ssthresh, before);

    let mut noisy = picoquic(&alone(), 100);
    for n in 0..200 {
        let ms = if n % 6 == 0 { 100 } else { 200 };
        noisy.next.rtt = Some(Duration::from_millis(ms));
        noisy.ack(Duration::from_millis(2));
    }
    assert!(noisy.window.ssthresh.is_infinite());
}

/// A sender that something else than the window held back grows again when what it sent after that
/// is acknowledged.
#[test]
fn a_round_trip_without_need_does_not_grow_the_window() {
    let mut wire = picoquic(&alone(), 100);
    wire.ack(Duration::from_millis(2));
    let cwnd = wire.window.cwnd;
    wire.next.cwnd_limited = false;
    wire.ack(Duration::from_millis(2));
    wire.next.cwnd_limited = true;
    wire.ack(Duration::from_millis(50));
    wire.ack(Duration::from_millis(49));
    assert_eq!(wire.window.cwnd, cwnd);
    wire.ack(Duration::from_millis(2));
    assert_eq!(wire.window.cwnd, cwnd + 1.0);
}

#[test]
fn it_paces_as_picoquic() {
    let parameters = Parameters::new().with("probes_bandwidth", false);
    let mut wire = picoquic(&parameters, 100);
    wire.window.cwnd = 100.0;
    wire.ack(Duration::from_millis(2));
    // 1.25 x 100 segments of 1,500 bytes in 100 ms, and a quarter of them at once.
    assert_eq!(wire.window.pacing_rate, Some(Rate::from_mbps(15)));
    assert_eq!(wire.window.send_quantum, 25);
    wire.window.ssthresh = 50.0;
    wire.ack(Duration::from_millis(2));
    let rate = wire.window.pacing_rate.unwrap().bps_f64() / 1e6;
    assert!((12.0..12.2).contains(&rate), "{rate}");
    assert_eq!(wire.window.send_quantum, 16);
    wire.window.cwnd = 7.0;
    wire.ack(Duration::from_millis(2));
    assert_eq!(wire.window.pacing_rate, None);
}

/// RFC 9002, appendices B.5 and B.6: what QUIC's Reno counts and halves.
#[test]
fn quic_counts_what_is_acknowledged_and_halves_the_window() {
    let reno = |rules| {
        let mut classic = crate::wire::classic("newreno");
        classic.apply_host_rules(rules);
        let mut wire = Wire::new(classic, 10.0, f64::INFINITY);
        wire.next.acked = 4.0;
        wire.ack(Duration::from_millis(1));
        let started = wire.window.cwnd;
        (wire.window.cwnd, wire.window.ssthresh) = (20.0, 10.0);
        wire.ack(Duration::from_millis(1));
        let avoided = wire.window.cwnd;
        wire.window.cwnd = 20.0;
        let loss = crate::wire::a_loss(12.0);
        wire.controller.on_loss(&loss, &mut wire.window);
        (started, avoided, wire.window.cwnd)
    };
    assert_eq!(reno(HostRules::default()), (11.0, 20.05, 6.0));
    let quic = HostRules {
        counts_bytes: true,
        halves_window: true,
        ..HostRules::default()
    };
    assert_eq!(reno(quic), (14.0, 20.2, 10.0));
}
