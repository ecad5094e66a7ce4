//! Hybla (Caini & Firrincieli 2004, 2006) and Hoe's estimate.

use crate::wire::{Wire, classic, close};
use bentpipe_cc::slots::{Counted, Gate, HyblaAvoidance, HyblaStart};
use bentpipe_cc::{Avoidance, Classic, Hoe, HoeForm, Start};
use bentpipe_units::{Duration, Rate};

const RTT0: Duration = Duration::from_millis(25);

/// Hybla without Hoe's estimate and without a gate, as in Linux.
fn bare() -> Classic {
    Classic {
        hoe: None,
        avoidance: Avoidance::from(HyblaAvoidance::new(RTT0, Gate::Off, Counted::Segments)),
        ..classic("hybla")
    }
}

#[test]
fn steps_of_slow_start() {
    let steps = [
        1.0,
        3.0,
        15.0,
        255.0,
        1023.0,
        4095.0,
        65_535.0,
        1_048_575.0,
        16_777_215.0,
    ];
    for (rho, step) in [1, 2, 4, 8, 10, 12, 16, 20, 24].into_iter().zip(steps) {
        let mut wire = Wire::new(bare(), 1.0, f64::INFINITY);
        wire.next.min_rtt = RTT0 * rho;
        assert_eq!(wire.cwnds(1), [1.0 + step], "rho {rho}");
    }
}

#[test]
fn a_path_shorter_than_the_reference_is_standard() {
    let mut wire = Wire::new(bare(), 1.0, f64::INFINITY);
    wire.next.min_rtt = Duration::from_millis(10);
    assert_eq!(wire.cwnds(2), [2.0, 3.0]);
}

#[test]
fn steps_of_congestion_avoidance() {
    for (cwnd, step) in [(100.0, 5.76), (336.0, 1.714), (500.0, 1.152)] {
        let mut wire = Wire::new(bare(), cwnd, 50.0);
        close(wire.cwnds(1)[0] - cwnd, step, 5e-4);
    }
}

#[test]
fn a_delayed_ack_counts_for_its_segments() {
    let mut wire = Wire::new(bare(), 100.0, 50.0);
    wire.next.acked = 2.0;
    close(wire.cwnds(1)[0], 111.52, 1e-9);
}

#[test]
fn the_gate_of_hoe_closes_at_the_bandwidth_delay_product() {
    let mut wire = Wire::new(classic("hybla"), 2.0, f64::INFINITY);
    wire.acks(3);
    assert_eq!(wire.window.ssthresh, 500.0);
    wire.window.cwnd = 499.9;
    wire.window.ssthresh = 100.0;
    close(wire.cwnds(1)[0], 499.9 + 576.0 / 499.9, 1e-9);
    let above = wire.window.cwnd;
    close(wire.cwnds(1)[0] - above, 0.002, 1e-5);
}

#[test]
fn the_gate_of_the_delivery_rate() {
    let avoidance = Avoidance::from(HyblaAvoidance::new(
        RTT0,
        Gate::DeliveryRate,
        Counted::Segments,
    ));
    let mut wire = Wire::new(
        Classic {
            avoidance,
            ..bare()
        },
        600.0,
        100.0,
    );
    close(wire.cwnds(1)[0], 600.96, 1e-9);
    wire.next.delivery_rate = Some(Rate::from_mbps(10));
    close(wire.cwnds(1)[0], 600.96 + 1.0 / 600.96, 1e-9);
    // Ten rounds later that sample is forgotten.
    wire.next.delivery_rate = Some(Rate::from_mbps(100));
    wire.next.round_start = true;
    let before = wire.window.cwnd;
    close(wire.cwnds(1)[0] - before, 576.0 / before, 1e-9);
}

#[test]
fn until_the_estimate_is_there_an_ack_doubles_at_most() {
    let mut wire = Wire::new(classic("hybla"), 2.0, f64::INFINITY);
    // The third ACK brings the estimate and takes cwnd to ssthresh.
    assert_eq!(wire.cwnds(3), [4.0, 8.0, 500.0]);
    assert_eq!(wire.window.ssthresh, 500.0);
}

#[test]
fn never_above_the_receive_window() {
    let mut wire = Wire::new(bare(), 2.0, f64::INFINITY);
    wire.next.receive_window = 113.0;
    assert_eq!(wire.cwnds(3), [113.0; 3]);
    wire.window.ssthresh = 50.0;
    assert_eq!(wire.cwnds(3), [113.0; 3]);
}

#[test]
fn equality_with_ssthresh_is_congestion_avoidance_on_every_host() {
    let mut classic = bare();
    classic.equality_is_slow_start = true;
    let mut wire = Wire::new(classic, 100.0, 100.0);
    close(wire.cwnds(1)[0], 105.76, 1e-9);
}

#[test]
fn the_initial_window_may_be_rho() {
    let start = Start::Hybla(HyblaStart::new(RTT0, true, true));
    let mut wire = Wire::new(
        Classic {
            start,
            ..classic("hybla")
        },
        2.0,
        f64::INFINITY,
    );
    wire.controller
        .on_established(Some(Duration::from_millis(600)), &mut wire.window);
    assert_eq!(wire.window.cwnd, 24.0);
}

fn hoe(form: HoeForm) -> Wire {
    Wire::new(
        classic("newreno").with_hoe(Hoe::new(form, true)),
        1.0,
        f64::INFINITY,
    )
}

#[test]
fn hoe_of_ns2() {
    let mut wire = hoe(HoeForm::Ns2);
    wire.acks(3);
    assert_eq!(wire.window.ssthresh, 500.0);

    let mut wire = hoe(HoeForm::Ns2);
    wire.next.mss = 1000;
    for _ in 0..3 {
        wire.ack(Duration::from_micros(800));
    }
    assert_eq!(wire.window.ssthresh, 750.0);

    // Without a handshake, and with an initial window of 2, the third ACK is
    // one round later.
    let mut wire = hoe(HoeForm::Ns2);
    wire.acks(2);
    wire.ack(Duration::from_millis(600));
    assert_eq!(wire.window.ssthresh, 1.0);
}

#[test]
fn hoe_of_ns2_counts_the_ack_of_the_handshake() {
    let mut wire = hoe(HoeForm::Ns2);
    wire.controller
        .on_established(Some(Duration::from_millis(600)), &mut wire.window);
    wire.acks(1);
    assert_eq!(wire.window.ssthresh, f64::INFINITY);
    wire.acks(1);
    assert_eq!(wire.window.ssthresh, 500.0);
}

#[test]
fn hoe_within_a_round() {
    // Initial window 2 with delayed ACKs: rounds of 1, then 2, then 3 ACKs.
    let mut wire = hoe(HoeForm::Round);
    for acks in [1, 2, 3] {
        wire.next.round_start = true;
        wire.next.acked = 2.0;
        wire.ack(Duration::from_millis(600));
        wire.next.round_start = false;
        for _ in 1..acks {
            assert_eq!(wire.window.ssthresh, f64::INFINITY);
            wire.ack(Duration::from_micros(2400));
        }
    }
    assert_eq!(wire.window.ssthresh, 500.0);
    assert_eq!(
        wire.controller.bandwidth_estimate(),
        Some(Rate::from_mbps(10))
    );
}

#[test]
fn hoe_is_refined_until_the_round_ends_and_then_stays() {
    let mut wire = hoe(HoeForm::Round);
    for gap in [0, 4800, 2400] {
        wire.ack(Duration::from_micros(gap));
    }
    assert_eq!(wire.window.ssthresh, 250.0);
    wire.acks(1);
    assert_eq!(wire.window.ssthresh, 500.0);
    wire.next.round_start = true;
    wire.ack(Duration::from_micros(100));
    wire.next.round_start = false;
    wire.ack(Duration::from_micros(100));
    wire.ack(Duration::from_micros(100));
    assert_eq!(wire.window.ssthresh, 500.0);
}

#[test]
fn hoe_only_lowers_ssthresh() {
    let mut wire = hoe(HoeForm::Ns2);
    wire.window.ssthresh = 64.0;
    wire.acks(3);
    assert_eq!(wire.window.ssthresh, 64.0);
}
