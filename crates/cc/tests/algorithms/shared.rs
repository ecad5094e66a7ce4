//! STCP and BA-TCP: windows that a host shares, and one that routers give.

use crate::wire::{Wire, a_loss, a_timeout, an_exit, close};
use bentpipe_cc::{Parameters, Phase, SharedState, build};
use bentpipe_units::{Duration, Rate};

const RTT: Duration = Duration::from_millis(600);

fn stcp() -> Wire {
    let control = build("stcp", &Parameters::new()).unwrap();
    Wire::new(control, 10.0, f64::INFINITY)
}

fn share(wire: &mut Wire, cwnd: f64, ssthresh: f64, active: u32, age: u64) {
    let shared = SharedState {
        cwnd,
        ssthresh,
        active,
        age: Duration::from_secs(age),
    };
    wire.controller.on_shared(&shared, &mut wire.window);
}

fn establish(wire: &mut Wire) -> (f64, f64) {
    wire.controller.on_established(Some(RTT), &mut wire.window);
    (wire.window.cwnd, wire.window.ssthresh)
}

/// The worked example: what a connection left, what a third has, what one that ends
/// leaves another.
#[test]
fn stcp_begins_with_its_part() {
    let mut wire = stcp();
    share(&mut wire, 40.0, 30.0, 1, 5);
    assert_eq!(wire.window.cwnd, 10.0, "not before it is established");
    assert_eq!(establish(&mut wire), (40.0, 30.0));
    share(&mut wire, 30.0, 15.0, 2, 0);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (30.0, 15.0));
    wire.window.cwnd = 34.0;
    share(&mut wire, 66.0, 31.0, 1, 0);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (66.0, 31.0));
}

#[test]
fn stcp_without_a_past_is_reno_and_forgets_after_its_lifetime() {
    let mut wire = stcp();
    assert_eq!(establish(&mut wire), (10.0, f64::INFINITY));
    assert_eq!(wire.rounds(3), [10.0, 20.0, 40.0]);
    wire.controller.on_loss(&a_loss(60.0), &mut wire.window);
    wire.controller
        .on_recovery_exit(&an_exit(29.0, false), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (30.0, 30.0));
    wire.acks(30);
    close(wire.window.cwnd, 31.0, 0.05);
    wire.controller
        .on_timeout(&a_timeout(31.0), &mut wire.window);
    assert_eq!(wire.window.cwnd, 1.0);

    let mut wire = stcp();
    share(&mut wire, 40.0, 30.0, 1, 601);
    assert_eq!(establish(&mut wire), (10.0, f64::INFINITY));
    // Never worse off than without sharing.
    let mut wire = stcp();
    share(&mut wire, 4.0, 6.0, 3, 0);
    assert_eq!(establish(&mut wire), (10.0, 6.0));
}

#[test]
fn stcp_goes_on_after_idling_with_what_is_shared() {
    let mut wire = stcp();
    establish(&mut wire);
    wire.window.cwnd = 80.0;
    wire.controller.after_idle(10.0, &mut wire.window);
    assert_eq!(wire.window.cwnd, 10.0, "nothing is");
    share(&mut wire, 80.0, 50.0, 1, 20);
    wire.controller.after_idle(10.0, &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (80.0, 50.0));
}

fn ba_tcp() -> Wire {
    let control = build("ba-tcp", &Parameters::new()).unwrap();
    let mut wire = Wire::new(control, 10.0, f64::INFINITY);
    wire.next.receive_window = 500.0;
    establish(&mut wire);
    wire
}

#[test]
fn ba_tcp_takes_the_advertised_window_once_routers_speak() {
    let mut wire = ba_tcp();
    assert_eq!(wire.rounds(2), [10.0, 20.0], "Reno before");
    wire.next.receive_window = 413.0;
    wire.acks(1);
    let available = Rate::from_mbps(10);
    wire.controller.on_bandwidth(available, &mut wire.window);
    assert_eq!(wire.window.cwnd, 413.0);
    assert_eq!(wire.controller.bandwidth_estimate(), Some(available));
    assert_eq!(wire.controller.phase(&wire.window), Phase::Own("explicit"));
    wire.acks(10);
    assert_eq!(wire.window.cwnd, 413.0, "nothing else moves it");
    wire.controller.on_loss(&a_loss(413.0), &mut wire.window);
    wire.controller
        .on_recovery_exit(&an_exit(5.0, true), &mut wire.window);
    assert_eq!(wire.window.cwnd, 413.0);
    wire.controller
        .on_timeout(&a_timeout(413.0), &mut wire.window);
    assert_eq!(wire.window.cwnd, 1.0);
    wire.next.receive_window = 200.0;
    wire.acks(1);
    wire.controller.on_bandwidth(available, &mut wire.window);
    assert_eq!(wire.window.cwnd, 200.0);
}

#[test]
fn ba_tcp_without_routers_is_reno() {
    let mut wire = ba_tcp();
    wire.acks(30);
    assert_eq!(wire.window.cwnd, 40.0);
    wire.controller.on_loss(&a_loss(40.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (20.0, 20.0));
}
