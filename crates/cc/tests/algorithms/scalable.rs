//! HighSpeed and Scalable TCP: worked examples.

use crate::wire::{Wire, a_loss, a_timeout, an_exit, close};
use bentpipe_cc::{Parameters, build};

fn at(name: &str, cwnd: f64, parameters: &Parameters) -> Wire {
    Wire::new(build(name, parameters).unwrap(), cwnd, 2.0)
}

#[test]
fn scalable_loses_an_eighth_and_has_it_back_after_12500_acks() {
    let mut wire = at("scalable", 1000.0, &Parameters::new());
    wire.controller.on_loss(&a_loss(1000.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (875.0, 875.0));
    wire.controller
        .on_recovery_exit(&an_exit(900.0, false), &mut wire.window);
    wire.acks(12_500);
    close(wire.window.cwnd, 1000.0, 1e-6);
    // That takes 13.4 round trips: ln(1000 / 875) / ln(1.01).
    let mut wire = at("scalable", 875.0, &Parameters::new());
    let starts = wire.rounds(15);
    assert!(starts[13] < 1000.0 && starts[14] > 1000.0, "{starts:?}");
}

#[test]
fn scalable_is_reno_below_16_segments() {
    let mut wire = at("scalable", 10.0, &Parameters::new());
    wire.acks(1);
    close(wire.window.cwnd, 10.1, 1e-12);
    wire.controller.on_loss(&a_loss(15.0), &mut wire.window);
    assert_eq!(wire.window.cwnd, 7.5);
    let mut wire = at("scalable", 16.0, &Parameters::new());
    wire.acks(1);
    close(wire.window.cwnd, 16.01, 1e-12);
    wire.controller.on_loss(&a_loss(16.0), &mut wire.window);
    assert_eq!(wire.window.cwnd, 14.0);
}

#[test]
fn scalable_may_count_segments() {
    let mut wire = at(
        "scalable",
        100.0,
        &Parameters::new().with("count", "segments"),
    );
    wire.next.acked = 2.0;
    wire.acks(1);
    close(wire.window.cwnd, 100.02, 1e-12);
}

#[test]
fn highspeed_at_the_windows_of_the_specification() {
    // a and b of 1000 segments: 8.03 and 0.330.
    let mut wire = at("highspeed", 1000.0, &Parameters::new());
    wire.acks(1);
    close(wire.window.cwnd, 1_000.008_03, 1e-5);
    wire.controller.on_loss(&a_loss(1000.0), &mut wire.window);
    close(wire.window.cwnd, 670.0, 0.5);
    let mut wire = at("highspeed", 83_000.0, &Parameters::new());
    wire.controller
        .on_timeout(&a_timeout(83_000.0), &mut wire.window);
    assert_eq!(wire.window.cwnd, 1.0);
    close(wire.window.ssthresh, 74_700.0, 1e-6);
    // Up to 38 segments it is Reno.
    let mut wire = at("highspeed", 38.0, &Parameters::new());
    wire.controller.on_loss(&a_loss(38.0), &mut wire.window);
    assert_eq!(wire.window.cwnd, 19.0);
}

#[test]
fn highspeed_may_count_segments() {
    for (count, added) in [("acks", 0.008_03), ("segments", 2.0 * 0.008_03)] {
        let mut wire = at("highspeed", 1000.0, &Parameters::new().with("count", count));
        wire.next.acked = 2.0;
        wire.acks(1);
        close(wire.window.cwnd, 1000.0 + added, 1e-5);
    }
}

/// a(w) segments per round trip, as RFC 3649 says, with an ACK per two segments: only
/// where segments count.
#[test]
fn delayed_acks_halve_the_growth_unless_segments_count() {
    for name in ["highspeed", "scalable"] {
        let grown = |count: &str, acked: f64| {
            let mut wire = at(name, 1000.0, &Parameters::new().with("count", count));
            wire.next.acked = acked;
            wire.acks((1000.0 / acked) as usize);
            wire.window.cwnd - 1000.0
        };
        let every = grown("acks", 1.0);
        close(grown("acks", 2.0) / every, 0.5, 0.01);
        close(grown("segments", 2.0) / every, 1.0, 0.01);
    }
}

#[test]
fn highspeed_by_the_table() {
    // 1000 segments lie in the row of 1058: a = 8, b = 83/256.
    let mut wire = at("highspeed", 1000.0, &Parameters::new().with("law", "table"));
    wire.acks(1);
    close(wire.window.cwnd, 1000.008, 1e-12);
    wire.controller.on_loss(&a_loss(1000.0), &mut wire.window);
    close(wire.window.cwnd, 675.78125, 1e-9);
}
