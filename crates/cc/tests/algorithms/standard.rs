//! RFC 5681 and RFC 6582.

use crate::wire::{Wire, a_loss, a_timeout, an_exit, classic, close};
use bentpipe_cc::slots::{Growth, HalfOf, Halve, Reno, Standard};
use bentpipe_cc::{Avoidance, CongestionControl as _, HostRules, Phase, Reaction, Start};

fn newreno(cwnd: f64, ssthresh: f64) -> Wire {
    Wire::new(classic("newreno"), cwnd, ssthresh)
}

#[test]
fn slow_start_doubles_every_round() {
    assert_eq!(
        newreno(6.0, f64::INFINITY).rounds(5),
        [6.0, 12.0, 24.0, 48.0, 96.0]
    );
}

#[test]
fn ten_acks_of_congestion_avoidance() {
    let cwnds = newreno(10.0, 10.0).cwnds(10);
    close(cwnds[0], 10.1, 1e-9);
    close(cwnds[1], 10.199, 1e-4);
    close(cwnds[9], 10.958, 1e-3);
}

#[test]
fn linux_2_2_counts_whole_acks_and_calls_equality_slow_start() {
    let mut classic = classic("newreno");
    classic.apply_host_rules(HostRules {
        equality_is_slow_start: true,
        integer_avoidance: true,
        ..HostRules::default()
    });
    let mut wire = Wire::new(classic, 10.0, 10.0);
    assert_eq!(wire.controller.phase(&wire.window), Phase::SlowStart);
    assert_eq!(wire.cwnds(1), [11.0], "the first ACK is a slow start step");
    assert_eq!(wire.cwnds(11), [11.0; 11]);
    assert_eq!(wire.cwnds(1), [12.0], "cwnd + 1 after cwnd + 1 ACKs");
}

#[test]
fn per_segment_growth_makes_up_for_delayed_acks() {
    let mut classic = classic("newreno");
    classic.avoidance = Avoidance::Reno(Reno::new(Growth::PerSegment));
    let mut wire = Wire::new(classic, 10.0, 10.0);
    wire.next.acked = 2.0;
    close(wire.cwnds(1)[0], 10.2, 1e-9);
}

#[test]
fn byte_counting_adds_what_is_acknowledged_up_to_its_limit() {
    let mut classic = classic("newreno");
    classic.start = Start::Standard(Standard { byte_counting: 2.0 });
    let mut wire = Wire::new(classic, 10.0, 14.5);
    wire.next.acked = 7.0;
    assert_eq!(
        wire.cwnds(3),
        [12.0, 14.0, 15.0],
        "and stops about ssthresh"
    );
}

#[test]
fn timeout_halves_the_flight_and_starts_from_one() {
    let mut wire = newreno(21.0, f64::INFINITY);
    wire.controller
        .on_timeout(&a_timeout(21.0), &mut wire.window);
    assert_eq!((wire.window.ssthresh, wire.window.cwnd), (10.5, 1.0));

    let mut second = a_timeout(1.0);
    second.first = false;
    wire.controller.on_timeout(&second, &mut wire.window);
    assert_eq!(
        wire.window.ssthresh, 10.5,
        "the second timeout leaves ssthresh"
    );

    let mut classic = classic("newreno");
    classic.apply_host_rules(HostRules {
        whole_ssthresh: true,
        ..HostRules::default()
    });
    let mut wire = Wire::new(classic, 21.0, f64::INFINITY);
    wire.controller
        .on_timeout(&a_timeout(21.0), &mut wire.window);
    assert_eq!(wire.window.ssthresh, 10.0, "10.5 truncated");
}

#[test]
fn fast_recovery_halves_and_comes_back_to_ssthresh() {
    let mut wire = newreno(20.0, f64::INFINITY);
    wire.controller.on_loss(&a_loss(20.0), &mut wire.window);
    assert_eq!((wire.window.ssthresh, wire.window.cwnd), (10.0, 10.0));
    assert_eq!(wire.controller.phase(&wire.window), Phase::Recovery);
    // The transport inflates by three and by one for each of four duplicates.
    wire.window.cwnd += 7.0;
    wire.controller
        .on_recovery_exit(&an_exit(12.0, false), &mut wire.window);
    assert_eq!(wire.window.cwnd, 10.0);
    assert_eq!(
        wire.controller.phase(&wire.window),
        Phase::CongestionAvoidance
    );
}

#[test]
fn ssthresh_is_at_least_two() {
    let mut wire = newreno(3.0, f64::INFINITY);
    wire.controller.on_loss(&a_loss(1.0), &mut wire.window);
    assert_eq!(wire.window.ssthresh, 2.0);
}

#[test]
fn recovery_fix_keeps_a_burst_from_leaving() {
    for (fix, cwnd) in [(true, 5.0), (false, 16.0)] {
        let mut wire = newreno(30.0, 16.0);
        wire.controller
            .on_recovery_exit(&an_exit(4.0, fix), &mut wire.window);
        assert_eq!(wire.window.cwnd, cwnd);
    }
}

#[test]
fn hosts_that_halve_the_window() {
    let mut classic = classic("newreno");
    classic.reaction = Reaction::Halve(Halve {
        of: HalfOf::Window,
        whole: true,
        exact: false,
    });
    let mut wire = Wire::new(classic, 21.0, f64::INFINITY);
    wire.controller.on_loss(&a_loss(4.0), &mut wire.window);
    assert_eq!(wire.window.ssthresh, 10.0);
}

#[test]
fn a_spurious_timeout_is_undone() {
    let mut wire = newreno(40.0, 60.0);
    let before = wire.window.clone();
    wire.controller
        .on_timeout(&a_timeout(40.0), &mut wire.window);
    wire.controller.on_spurious(&before, &mut wire.window);
    assert_eq!(wire.window, before);
}

#[test]
fn an_unused_window_does_not_grow() {
    let mut wire = newreno(10.0, f64::INFINITY);
    wire.next.cwnd_limited = false;
    assert_eq!(wire.cwnds(3), [10.0; 3]);
}

/// RFC 8257: a tenth marked moves alpha from 1 by a sixteenth of the way in every
/// window; an echo cuts by half of alpha, a loss by half.
#[test]
fn dctcp_cuts_by_half_of_what_is_marked() {
    let mut wire = Wire::new(classic("dctcp"), 100.0, 2.0);
    let window = |wire: &mut Wire| {
        for i in 0..100 {
            wire.next.congestion_echo = i < 10;
            wire.next.round_start = i == 99;
            wire.acks(1);
        }
        wire.window.cwnd = 100.0;
    };
    window(&mut wire);
    let mut marked = a_loss(100.0);
    marked.ecn = true;
    wire.controller.on_loss(&marked, &mut wire.window);
    close(
        wire.window.cwnd,
        100.0 * (1.0 - (15.0 / 16.0 + 0.1 / 16.0) / 2.0),
        1e-9,
    );
    for _ in 0..200 {
        window(&mut wire);
    }
    wire.controller.on_loss(&marked, &mut wire.window);
    close(wire.window.cwnd, 95.0, 1e-3);
    wire.window.cwnd = 100.0;
    wire.controller.on_loss(&a_loss(100.0), &mut wire.window);
    close(wire.window.cwnd, 50.0, 1e-9);
}
