//! Algorithms that are told what to send.

use crate::wire::{Wire, a_loss, a_timeout, an_exit, close};
use bentpipe_cc::{Feedback, Parameters, PathHint, Window, build};
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

fn path(utilisation: f64) -> PathHint {
    PathHint {
        capacity: Rate::from_mbps(8),
        share: 0.25,
        active: 4,
        utilisation,
        min_rtt: Some(Duration::from_millis(500)),
    }
}

#[test]
fn complete_knowledge_paces_at_what_it_is_told() {
    let mut wire = at("complete-knowledge", 10.0);
    assert!(wire.controller.needs_path() && wire.controller.owns_window());
    wire.window.mss = 1000;
    wire.controller.on_path(&path(0.0), &mut wire.window);
    assert_eq!(wire.window.pacing_rate, Some(Rate::from_mbps(2)));
    // Two bandwidth-delay products of 125 segments.
    close(wire.window.cwnd, 250.0, 1e-9);
    let before = wire.window.clone();
    wire.controller.on_loss(&a_loss(100.0), &mut wire.window);
    wire.controller
        .on_timeout(&a_timeout(100.0), &mut wire.window);
    let exit = an_exit(50.0, true);
    wire.controller.on_recovery_exit(&exit, &mut wire.window);
    assert_eq!(wire.window, before);
    // Its own rate, which nothing changes.
    let parameters = Parameters::new().with("rate", 1.0);
    let own = build("complete-knowledge", &parameters).unwrap();
    assert!(!own.needs_path());
}

/// 8 Mbit/s x 0.5 s / 1000 bytes / 4 connections: 125 segments.
#[test]
fn satpep_shares_the_link_out_while_it_is_not_full() {
    let mut wire = at("satpep", 10.0);
    wire.window.mss = 1000;
    wire.controller
        .on_established(Some(Duration::from_millis(500)), &mut wire.window);
    wire.controller.on_path(&path(0.5), &mut wire.window);
    close(wire.window.cwnd, 125.0, 1e-9);
    // Full: what it delivers, and it has delivered nothing yet.
    wire.controller.on_path(&path(0.96), &mut wire.window);
    close(wire.window.cwnd, 125.0, 1e-9);
    wire.controller.on_loss(&a_loss(100.0), &mut wire.window);
    wire.controller
        .on_timeout(&a_timeout(100.0), &mut wire.window);
    close(wire.window.cwnd, 125.0, 1e-9);
}
