//! TCP-Swift and TCP PBS: which probes they ask for, and what answers, losses and
//! error reports do.

use crate::wire::{Wire, a_loss, a_timeout, an_exit};
use bentpipe_cc::algorithms::pbs::{Pbs, initial_window};
use bentpipe_cc::algorithms::swift::Swift;
use bentpipe_cc::{Monolithic, Phase, ProbeContent, Probes};
use bentpipe_units::Duration;

const RTT: Duration = Duration::from_millis(550);

/// An established connection with a receive window of 64 segments.
fn established(control: Monolithic) -> Wire {
    let mut wire = Wire::new(control, 10.0, f64::INFINITY);
    wire.window.mss = 1460;
    wire.next.receive_window = 64.0;
    (wire.next.rtt, wire.next.smoothed_rtt) = (Some(RTT), RTT);
    wire.controller.on_open(64.0);
    wire.controller.on_established(Some(RTT), &mut wire.window);
    wire
}

fn swift() -> Wire {
    established(Monolithic::Swift(Swift::new(1000.0, 0.75)))
}

fn pbs() -> Wire {
    established(Monolithic::Pbs(Pbs::new(1000.0)))
}

fn asked(wire: &mut Wire) -> Option<Probes> {
    wire.window.actions.probes.take().map(|probes| *probes)
}

fn answers(wire: &mut Wire, n: u32) {
    let mut answer = wire.next;
    (answer.acked, answer.delivered, answer.rtt) = (0.0, 0.0, None);
    answer.probes = 1;
    for _ in 0..n {
        wire.controller.on_sample(&answer, &mut wire.window);
    }
}

/// In congestion avoidance at `cwnd`.
fn at(mut wire: Wire, cwnd: f64) -> Wire {
    asked(&mut wire);
    wire.acks(1);
    wire.next.now += RTT * 2;
    wire.acks(1);
    wire.window.cwnd = cwnd;
    let phase = wire.controller.phase(&wire.window);
    assert_eq!(phase, Phase::CongestionAvoidance);
    wire
}

#[test]
fn speedy_start_opens_the_window_in_two_round_trips() {
    let mut wire = swift();
    assert_eq!(wire.window.cwnd, 1.0, "one SMSS");
    let expected = Probes {
        count: 63,
        interval: Duration::from_nanos(8_593_750),
        content: ProbeContent::Unacknowledged,
        ..Probes::default()
    };
    assert_eq!(asked(&mut wire), Some(expected));
    // The first round trip: the segment's ACK, and the answers to its copies. The
    // second: an ACK for each segment sent by then.
    wire.acks(1);
    answers(&mut wire, 30);
    assert_eq!(wire.window.cwnd, 32.0);
    wire.acks(10);
    assert_eq!(wire.window.cwnd, 42.0);
    wire.next.now += RTT;
    wire.window.cwnd = 50.0;
    wire.acks(1);
    assert_eq!(wire.window.cwnd, 50.02);
}

/// The worked example: 40 halves to 20, and the 30th answer restores it.
#[test]
fn speedy_recovery_restores_the_window_at_once() {
    let mut wire = at(swift(), 40.0);
    wire.controller.on_loss(&a_loss(40.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (20.0, 20.0));
    wire.next.duplicate = true;
    wire.next.acked = 0.0;
    let mut sent = 0;
    for _ in 0..30 {
        wire.acks(1);
        let Some(probes) = asked(&mut wire) else {
            break;
        };
        assert_eq!((probes.count, probes.interval), (2, Duration::ZERO));
        assert_eq!(probes.content, ProbeContent::Unacknowledged);
        sent += probes.count;
    }
    assert_eq!(sent, 40);
    answers(&mut wire, 29);
    assert_eq!(wire.window.cwnd, 20.0);
    answers(&mut wire, 1);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (40.0, 40.0));
    answers(&mut wire, 10);
    assert_eq!(wire.window.cwnd, 40.0, "no further");
    wire.controller
        .on_recovery_exit(&an_exit(19.0, false), &mut wire.window);
    assert_eq!(wire.window.cwnd, 40.0);
}

#[test]
fn speedy_recovery_stays_at_half_where_half_of_the_probes_are_dropped() {
    let mut wire = at(swift(), 40.0);
    wire.controller.on_loss(&a_loss(40.0), &mut wire.window);
    answers(&mut wire, 20);
    wire.controller
        .on_recovery_exit(&an_exit(19.0, false), &mut wire.window);
    assert_eq!(wire.window.cwnd, 20.0);
}

/// min(4 SMSS, max(2 SMSS, 4380 bytes)).
#[test]
fn the_initial_window_of_pbs_in_bytes() {
    for (mss, bytes) in [
        (536, 2144.0),
        (1095, 4380.0),
        (1448, 4380.0),
        (1460, 4380.0),
        (2190, 4380.0),
        (4000, 8000.0),
        (9000, 18_000.0),
    ] {
        let window = initial_window(mss) * f64::from(mss);
        assert!((window - bytes).abs() < 1e-9, "{mss}: {window}");
    }
    assert_eq!(initial_window(1460), 3.0);
}

#[test]
fn accelerative_start_sends_the_initial_window_and_probes_for_the_rest() {
    let mut wire = pbs();
    assert_eq!(wire.window.cwnd, 3.0);
    let probes = asked(&mut wire).unwrap();
    assert_eq!((probes.count, probes.content), (61, ProbeContent::Copy));
    wire.acks(3);
    answers(&mut wire, 61);
    assert_eq!(wire.window.cwnd, 64.0, "as far as the receive window");
}

/// A loss at 40 of `lost` segments, after `reports` reports.
fn loses(lost: f64, reports: u32) -> Wire {
    let mut wire = at(pbs(), 40.0);
    wire.controller.on_error_report(reports);
    (wire.next.duplicate, wire.next.acked, wire.next.lost) = (true, 0.0, lost);
    wire.acks(1);
    wire.controller.on_loss(&a_loss(40.0), &mut wire.window);
    (wire.next.in_recovery, wire.next.lost) = (true, 0.0);
    wire.next.flight_before = 40.0;
    wire
}

#[test]
fn losses_that_errors_explain_leave_the_window() {
    for (lost, reports, cwnd) in [
        (1.0, 0, 20.0),
        (1.0, 1, 40.0),
        (3.0, 2, 20.0),
        (3.0, 3, 40.0),
        (1.0, 5, 40.0),
    ] {
        let mut wire = loses(lost, reports);
        assert_eq!(wire.window.cwnd, cwnd, "{reports} of {lost}");
        wire.controller
            .on_recovery_exit(&an_exit(5.0, true), &mut wire.window);
        let left = if cwnd < 40.0 { 6.0 } else { 40.0 };
        assert_eq!(wire.window.cwnd, left, "{reports} of {lost}");
    }
}

#[test]
fn a_congestion_loss_in_the_course_of_a_recovery_halves_once() {
    let mut wire = loses(1.0, 2);
    wire.next.lost = 1.0;
    wire.acks(1);
    assert_eq!(wire.window.cwnd, 40.0, "the second report explains it");
    wire.acks(1);
    assert_eq!(wire.window.cwnd, 20.0, "nothing explains that");
    wire.acks(1);
    assert_eq!(wire.window.cwnd, 20.0);
}

/// What a recovery found lost and did not repair begins the next one: it was judged
/// when it was found.
#[test]
fn losses_are_judged_once() {
    let mut wire = loses(1.0, 3);
    wire.next.lost = 2.0;
    wire.acks(1);
    wire.controller
        .on_recovery_exit(&an_exit(30.0, false), &mut wire.window);
    (wire.next.in_recovery, wire.next.lost) = (false, 0.0);
    wire.acks(1);
    wire.controller.on_loss(&a_loss(40.0), &mut wire.window);
    assert_eq!(wire.window.cwnd, 40.0);
    wire.controller
        .on_recovery_exit(&an_exit(30.0, false), &mut wire.window);
    wire.controller.on_loss(&a_loss(40.0), &mut wire.window);
    assert_eq!(wire.window.cwnd, 20.0, "another one");
}

#[test]
fn timeouts_start_over() {
    let mut wire = at(pbs(), 40.0);
    let timeout = a_timeout(40.0);
    wire.controller.on_timeout(&timeout, &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (3.0, 20.0));
    assert_eq!(asked(&mut wire).unwrap().count, 61);
    let mut wire = at(pbs(), 40.0);
    wire.window.ssthresh = 30.0;
    wire.controller.on_error_report(1);
    wire.controller.on_timeout(&timeout, &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (3.0, 30.0));
    let mut wire = at(swift(), 40.0);
    wire.controller.on_timeout(&timeout, &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (1.0, 20.0));
    let phase = wire.controller.phase(&wire.window);
    assert_eq!(phase, Phase::Own("speedy_start"));
}
