//! Algorithms that are told what to send.

use crate::wire::{Wire, a_loss, a_timeout, an_exit, close};
use bentpipe_cc::{Feedback, Parameters, Window, build};
use bentpipe_units::{Duration, Rate, Time};

fn at(name: &str, cwnd: f64) -> Wire {
    Wire::new(build(name, &Parameters::new()).unwrap(), cwnd, 2.0)
}

fn feedback(change: f64) -> Feedback {
    Feedback {
        now: Time::ZERO,
        change,
        smoothed_rtt: Duration::from_millis(600),
        mss: 1000,
    }
}

fn told(wire: &mut Wire, change: f64) -> f64 {
    wire.controller
        .on_feedback(&feedback(change), &mut wire.window);
    wire.window.cwnd
}

#[test]
fn feedback_and_nothing_else_moves_the_window() {
    for name in ["xcp", "p-xcp"] {
        let mut wire = at(name, 100.0);
        assert!(wire.controller.needs_feedback());
        wire.acks(500);
        assert_eq!(wire.window.cwnd, 100.0);
        // 2000 B/s over 0.6 s are 1.2 segments.
        close(told(&mut wire, 2000.0), 101.2, 1e-9);
        close(told(&mut wire, -2000.0), 100.0, 1e-9);
        assert_eq!(told(&mut wire, -1e9), 1.0, "at least one segment");
        assert!(told(&mut wire, f64::from(f32::MAX)).is_finite());
    }
}

#[test]
fn a_loss_halves_xcp_and_leaves_p_xcp() {
    let mut wire = at("xcp", 100.0);
    wire.controller.on_loss(&a_loss(90.0), &mut wire.window);
    assert_eq!(wire.window.cwnd, 45.0);
    told(&mut wire, 2000.0);
    let before = wire.window.cwnd;
    wire.controller
        .on_recovery_exit(&an_exit(10.0, true), &mut wire.window);
    assert_eq!(wire.window.cwnd, before, "what feedback made of it stays");
    let mut wire = at("p-xcp", 100.0);
    wire.controller.on_loss(&a_loss(90.0), &mut wire.window);
    assert_eq!(wire.window.cwnd, 100.0);
    wire.controller
        .on_timeout(&a_timeout(90.0), &mut wire.window);
    assert_eq!(wire.window.cwnd, 1.0);
}

#[test]
fn an_open_loop_sends_at_its_rate() {
    let given = Parameters::new().with("rate", 1.5);
    let mut controller = build("open-loop", &given).unwrap();
    let mut window = Window::new(10.0);
    controller.on_established(None, &mut window);
    assert_eq!(window.pacing_rate, Some(Rate::from_bps(1_500_000)));
    let open = window.cwnd;
    controller.on_loss(&a_loss(90.0), &mut window);
    controller.on_timeout(&a_timeout(90.0), &mut window);
    assert_eq!(window.cwnd, open);
    assert_eq!(window.pacing_rate, Some(Rate::from_bps(1_500_000)));
}
