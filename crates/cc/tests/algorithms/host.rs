//! Phases and the fixed window.

use crate::wire::{Wire, a_loss, a_timeout, an_exit, classic, classic_with};
use bentpipe_cc::{Parameters, Phase, build_slots};

#[test]
fn the_fixed_window_ignores_everything() {
    let mut wire = Wire::new(
        classic_with("fixed-window", "window", 42.0),
        3.0,
        f64::INFINITY,
    );
    wire.controller.on_established(None, &mut wire.window);
    assert_eq!(wire.window.cwnd, 42.0);
    wire.controller.on_loss(&a_loss(42.0), &mut wire.window);
    // A transport that inflates the window in recovery.
    wire.window.cwnd += 3.0;
    wire.controller
        .on_recovery_exit(&an_exit(1.0, true), &mut wire.window);
    assert_eq!(wire.window.cwnd, 42.0);
    wire.controller
        .on_timeout(&a_timeout(42.0), &mut wire.window);
    assert_eq!(wire.cwnds(2), [42.0; 2]);
    assert_eq!(wire.window.ssthresh, f64::INFINITY);
}

#[test]
fn a_reaction_that_ignores_losses_combines_with_any_growth() {
    let classic = build_slots("standard", "reno", "ignore", &Parameters::new()).unwrap();
    let mut wire = Wire::new(classic, 30.0, 20.0);
    wire.controller.on_loss(&a_loss(30.0), &mut wire.window);
    wire.window.cwnd += 3.0;
    wire.controller
        .on_recovery_exit(&an_exit(30.0, false), &mut wire.window);
    assert_eq!(wire.window.cwnd, 30.0);
}

#[test]
fn an_ecn_mark_is_not_a_recovery() {
    let mut wire = Wire::new(classic("newreno"), 30.0, 20.0);
    let mut loss = a_loss(30.0);
    loss.ecn = true;
    wire.controller.on_loss(&loss, &mut wire.window);
    assert_eq!(wire.window.cwnd, 15.0);
    assert_eq!(
        wire.controller.phase(&wire.window),
        Phase::CongestionAvoidance
    );
    wire.controller
        .on_timeout(&a_timeout(15.0), &mut wire.window);
    assert_eq!(wire.controller.phase(&wire.window), Phase::SlowStart);
}
