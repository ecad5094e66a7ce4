//! TCP Veno: worked examples.

use crate::wire::{Wire, a_loss, a_timeout, close};
use bentpipe_cc::{Parameters, build};
use bentpipe_units::Duration;

/// Base RTT 600 ms, then a last sample of `milliseconds`, cwnd 50.
fn at(milliseconds: u64, parameters: &Parameters) -> Wire {
    let mut wire = Wire::new(build("veno", parameters).unwrap(), 50.0, 2.0);
    wire.acks(1);
    wire.next.rtt = Some(Duration::from_millis(milliseconds));
    wire.acks(1);
    wire.window.cwnd = 50.0;
    wire
}

#[test]
fn a_short_queue_means_a_random_loss() {
    // N = 1.61 at 620 ms, 4.55 at 660 ms.
    for (milliseconds, ssthresh) in [(620, 40.0), (660, 25.0)] {
        let mut wire = at(milliseconds, &Parameters::new());
        wire.controller.on_loss(&a_loss(50.0), &mut wire.window);
        close(wire.window.ssthresh, ssthresh, 1e-9);
        assert_eq!(wire.window.cwnd, wire.window.ssthresh);
    }
}

#[test]
fn a_long_queue_halves_the_growth() {
    let mut wire = at(620, &Parameters::new());
    wire.acks(50);
    close(wire.window.cwnd, 51.0, 1e-2);
    // Every other ACK: half a segment in the round trip.
    let mut wire = at(660, &Parameters::new());
    wire.acks(50);
    close(wire.window.cwnd, 50.5, 1e-2);
}

#[test]
fn a_timeout_is_renos() {
    let mut wire = at(620, &Parameters::new());
    wire.controller
        .on_timeout(&a_timeout(50.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (1.0, 25.0));
}

#[test]
fn the_smoothed_rtt_may_decide() {
    // The smoothed RTT of the script stays 600 ms: no queue.
    let smoothed = Parameters::new().with("rtt", "smoothed");
    let mut wire = at(660, &smoothed);
    wire.controller.on_loss(&a_loss(50.0), &mut wire.window);
    assert_eq!(wire.window.ssthresh, 40.0);
}

#[test]
fn ns3_never_sees_a_queue_with_one_sample_per_ack() {
    let ns3 = Parameters::new().with("form", "ns-3");
    let mut wire = at(660, &ns3);
    wire.acks(50);
    close(wire.window.cwnd, 51.0, 1e-2);
    wire.controller.on_loss(&a_loss(50.0), &mut wire.window);
    assert_eq!(wire.window.ssthresh, 40.0);
    // ACKs that are not increases add to the interval, as those of recovery do.
    wire.window.cwnd = 50.0;
    for _ in 0..3 {
        let ack = wire.next;
        wire.controller.on_sample(&ack, &mut wire.window);
    }
    wire.acks(1);
    wire.controller.on_loss(&a_loss(50.0), &mut wire.window);
    assert_eq!(wire.window.ssthresh, 25.0);
}
