//! TCP-Peach and TCP-Peach+: which probes they ask for and what the answers do.

use crate::wire::{Wire, a_loss, a_timeout, an_exit};
use bentpipe_cc::algorithms::peach::Peach;
use bentpipe_cc::{Monolithic, Phase, ProbeContent, Probes};
use bentpipe_units::Duration;

const RTT: Duration = Duration::from_millis(550);

/// An established connection with a receive window of 64 segments.
fn peach(content: ProbeContent) -> Wire {
    let peach = Monolithic::Peach(Peach::new(content, 1000.0));
    let mut wire = Wire::new(peach, 10.0, f64::INFINITY);
    wire.next.receive_window = 64.0;
    (wire.next.rtt, wire.next.smoothed_rtt) = (Some(RTT), RTT);
    wire.controller.on_open(64.0);
    wire.controller.on_established(Some(RTT), &mut wire.window);
    wire
}

/// The probes asked for since the last call.
fn asked(wire: &mut Wire) -> Option<Probes> {
    wire.window.actions.probes.take().map(|probes| *probes)
}

/// `n` answers to probes.
fn answers(wire: &mut Wire, n: u32) {
    let mut answer = wire.next;
    (answer.acked, answer.delivered, answer.rtt) = (0.0, 0.0, None);
    answer.probes = 1;
    for _ in 0..n {
        wire.controller.on_sample(&answer, &mut wire.window);
    }
}

/// In congestion avoidance at `cwnd`.
fn at(cwnd: f64) -> Wire {
    let mut wire = peach(ProbeContent::Copy);
    asked(&mut wire);
    wire.acks(1);
    wire.next.now += RTT * 2;
    wire.acks(1);
    wire.window.cwnd = cwnd;
    assert_eq!(
        wire.controller.phase(&wire.window),
        Phase::CongestionAvoidance
    );
    wire
}

#[test]
fn the_sudden_start_probes_for_the_receive_window_within_a_round_trip() {
    for content in [ProbeContent::Copy, ProbeContent::Unacknowledged] {
        let mut wire = peach(content);
        assert_eq!(wire.window.cwnd, 1.0);
        let expected = Probes {
            count: 63,
            // 550 ms / 64 = 8.594 ms
            interval: Duration::from_nanos(8_593_750),
            content,
            ..Probes::default()
        };
        assert_eq!(asked(&mut wire), Some(expected));
    }
}

#[test]
fn every_answer_of_the_sudden_start_adds_a_segment() {
    let mut wire = peach(ProbeContent::Copy);
    wire.acks(1);
    answers(&mut wire, 40);
    assert_eq!(wire.window.cwnd, 42.0);
    wire.acks(1);
    assert_eq!(wire.window.cwnd, 43.0, "and so does data");
    answers(&mut wire, 100);
    assert_eq!(wire.window.cwnd, 64.0, "as far as the receive window");
    // The start ends a round trip after its first ACK.
    wire.next.now += RTT;
    wire.window.cwnd = 50.0;
    wire.acks(1);
    assert_eq!(wire.window.cwnd, 50.02);
}

#[test]
fn without_a_round_trip_time_it_waits_for_one() {
    let peach = Monolithic::Peach(Peach::new(ProbeContent::Copy, 1000.0));
    let mut wire = Wire::new(peach, 10.0, f64::INFINITY);
    wire.next.receive_window = 32.0;
    wire.controller.on_open(32.0);
    wire.controller.on_established(None, &mut wire.window);
    assert_eq!(asked(&mut wire), None);
    wire.next.smoothed_rtt = Duration::from_millis(640);
    wire.acks(1);
    let probes = asked(&mut wire).unwrap();
    assert_eq!(
        (probes.count, probes.interval),
        (31, Duration::from_millis(20))
    );
}

#[test]
fn reach_bounds_the_probes() {
    let peach = Monolithic::Peach(Peach::new(ProbeContent::Copy, 100.0));
    let mut wire = Wire::new(peach, 10.0, f64::INFINITY);
    wire.controller.on_open(11_000.0);
    wire.controller.on_established(Some(RTT), &mut wire.window);
    assert_eq!(asked(&mut wire).unwrap().count, 99);
}

#[test]
fn rapid_recovery_restores_the_window_if_every_probe_arrives() {
    let mut wire = at(40.0);
    wire.controller.on_loss(&a_loss(40.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (20.0, 20.0));
    wire.next.duplicate = true;
    wire.next.acked = 0.0;
    let mut sent = 0;
    for ack in 1..=30 {
        wire.acks(1);
        let Some(probes) = asked(&mut wire) else {
            assert!(ack > 20);
            break;
        };
        assert_eq!((probes.count, probes.interval), (2, Duration::ZERO));
        sent += probes.count;
    }
    assert_eq!(sent, 40, "W0 probes, two per ACK");
    wire.controller
        .on_recovery_exit(&an_exit(19.0, true), &mut wire.window);
    assert_eq!(wire.window.cwnd, 20.0);
    answers(&mut wire, 20);
    assert_eq!(wire.window.cwnd, 20.0, "the first W0/2 are ignored");
    assert_eq!(
        wire.controller.phase(&wire.window),
        Phase::CongestionAvoidance
    );
    answers(&mut wire, 20);
    assert_eq!(wire.window.cwnd, 40.0, "the others restore W0");
}

#[test]
fn rapid_recovery_stays_at_half_where_the_queue_drops_the_probes() {
    let mut wire = at(40.0);
    wire.controller.on_loss(&a_loss(40.0), &mut wire.window);
    // Half of them arrive: no more than the window has.
    answers(&mut wire, 20);
    assert_eq!(wire.window.cwnd, 20.0);
}

#[test]
fn a_timeout_starts_suddenly_again() {
    let mut wire = at(40.0);
    wire.controller
        .on_timeout(&a_timeout(40.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (1.0, 20.0));
    assert_eq!(asked(&mut wire).unwrap().count, 63);
    assert_eq!(
        wire.controller.phase(&wire.window),
        Phase::Own("sudden_start")
    );
}
