//! Proactive TCP: the detector and what follows from it.

use crate::wire::{Wire, a_loss, a_timeout, an_exit, close};
use bentpipe_cc::algorithms::proactive::{
    AfterError, Proactive, ProactiveCounters, ProactiveSettings, ProactiveStart, StartSsthresh,
    TimeoutSsthresh,
};
use bentpipe_cc::{Controller, Monolithic, Phase};
use bentpipe_units::Duration;

fn settings() -> ProactiveSettings {
    ProactiveSettings {
        rises: 2,
        dead_band: 0.0,
        penalty: 0.85,
        slow_start: ProactiveStart::Same,
        after_error: AfterError::Avoidance,
        timeout_ssthresh: TimeoutSsthresh::Previous,
        start_ssthresh: StartSsthresh::HalfReceiveWindow,
    }
}

/// In congestion avoidance at 40 segments with a receive window of 64.
fn at_forty(settings: ProactiveSettings) -> Wire {
    let proactive = Monolithic::Proactive(Proactive::new(settings));
    let mut wire = Wire::new(proactive, 40.0, 32.0);
    wire.next.receive_window = 64.0;
    wire
}

/// Windows of one ACK each with these mean RTTs, in milliseconds, and one more
/// to end the last. Only the detector moves cwnd: the wire's ACKs do not grow.
fn windows(wire: &mut Wire, means_ms: &[u64]) -> Vec<f64> {
    means_ms
        .iter()
        .chain(&means_ms[means_ms.len() - 1..])
        .map(|ms| {
            wire.next.round_start = true;
            wire.next.rtt = Some(Duration::from_millis(*ms));
            wire.controller.on_sample(&wire.next, &mut wire.window);
            wire.window.cwnd
        })
        .skip(1)
        .collect()
}

fn counters(wire: &Wire) -> ProactiveCounters {
    let Controller::Monolithic(monolithic) = &wire.controller else {
        panic!("{:?}", wire.controller);
    };
    match &**monolithic {
        Monolithic::Proactive(p) => p.counters(),
        other => panic!("{other:?}"),
    }
}

const INCIPIENT: Phase = Phase::Own("proactive_incipient");

#[test]
fn the_second_rise_of_three_windows_is_penalised() {
    let mut wire = at_forty(settings());
    let cwnds = windows(&mut wire, &[550, 560, 570, 580, 590]);
    // The penalty comes with the end of the third window and of the fifth.
    for (got, want) in cwnds.iter().zip([40.0, 40.0, 34.0, 34.0, 28.9]) {
        close(*got, want, 1e-9);
    }
    assert_eq!(counters(&wire).detections, 2);
    assert_eq!(wire.controller.phase(&wire.window), INCIPIENT);
}

#[test]
fn a_fall_between_starts_the_count_again() {
    let mut wire = at_forty(settings());
    let cwnds = windows(&mut wire, &[550, 560, 555, 570, 580]);
    assert_eq!(cwnds, [40.0, 40.0, 40.0, 40.0, 34.0]);
}

#[test]
fn three_rises_take_four_windows() {
    let mut wire = at_forty(ProactiveSettings {
        rises: 3,
        ..settings()
    });
    let cwnds = windows(&mut wire, &[550, 560, 570, 580]);
    assert_eq!(cwnds, [40.0, 40.0, 40.0, 34.0]);
}

#[test]
fn equal_means_and_those_in_the_dead_band_are_neither() {
    let mut wire = at_forty(settings());
    windows(&mut wire, &[550, 560, 560, 570, 570, 580]);
    assert_eq!(wire.window.cwnd, 40.0);
    let mut wire = at_forty(ProactiveSettings {
        dead_band: 0.02,
        ..settings()
    });
    // 1.8% each: below the band, however long it goes on.
    windows(&mut wire, &[550, 560, 570, 580, 590]);
    assert_eq!(wire.window.cwnd, 40.0);
    // 2.2% above 590, then 2.2% above that.
    windows(&mut wire, &[603, 616]);
    assert_eq!(wire.window.cwnd, 34.0);
}

#[test]
fn two_falls_end_the_incipient_state() {
    let mut wire = at_forty(settings());
    windows(&mut wire, &[550, 560, 570]);
    assert_eq!(wire.controller.phase(&wire.window), INCIPIENT);
    windows(&mut wire, &[565]);
    assert_eq!(wire.controller.phase(&wire.window), INCIPIENT);
    windows(&mut wire, &[560, 555]);
    let phase = wire.controller.phase(&wire.window);
    assert_eq!(phase, Phase::CongestionAvoidance);
}

#[test]
fn a_loss_cuts_only_in_the_incipient_state() {
    let mut wire = at_forty(settings());
    wire.window.cwnd = 34.0;
    wire.controller.on_loss(&a_loss(34.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (34.0, 32.0));
    // The recovery fix does not do what the loss did not.
    wire.controller
        .on_recovery_exit(&an_exit(3.0, true), &mut wire.window);
    assert_eq!(wire.window.cwnd, 34.0);

    let mut wire = at_forty(settings());
    windows(&mut wire, &[550, 560, 570]);
    assert_eq!(wire.window.cwnd, 34.0);
    wire.controller.on_loss(&a_loss(34.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (17.0, 17.0));
    wire.controller
        .on_recovery_exit(&an_exit(10.0, true), &mut wire.window);
    assert_eq!(wire.window.cwnd, 11.0);
    let expected = ProactiveCounters {
        detections: 1,
        losses_incipient: 1,
        losses_uncongested: 0,
    };
    assert_eq!(counters(&wire), expected);
}

#[test]
fn recovery_gives_back_what_the_host_inflated() {
    // Linux 2.2 adds three segments at the loss.
    let mut wire = at_forty(settings());
    wire.controller.on_loss(&a_loss(40.0), &mut wire.window);
    wire.window.cwnd += 3.0;
    wire.controller
        .on_recovery_exit(&an_exit(40.0, false), &mut wire.window);
    assert_eq!(wire.window.cwnd, 40.0);
}

#[test]
fn the_window_in_use_is_what_is_cut() {
    // ns-2 lets cwnd grow above the receive window of 64.
    let mut wire = at_forty(settings());
    wire.window.cwnd = 200.0;
    windows(&mut wire, &[550, 560, 570]);
    close(wire.window.cwnd, 54.4, 1e-9);
    wire.window.cwnd = 200.0;
    wire.controller.on_loss(&a_loss(64.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (32.0, 32.0));
}

#[test]
fn a_timeout_halves_the_previous_ssthresh_and_keeps_the_state() {
    let mut wire = at_forty(settings());
    windows(&mut wire, &[550, 560, 570]);
    wire.controller
        .on_timeout(&a_timeout(60.0), &mut wire.window);
    assert_eq!((wire.window.cwnd, wire.window.ssthresh), (1.0, 16.0));
    assert_eq!(wire.controller.phase(&wire.window), INCIPIENT);
    let mut again = a_timeout(1.0);
    again.first = false;
    wire.controller.on_timeout(&again, &mut wire.window);
    assert_eq!(wire.window.ssthresh, 16.0);
}

#[test]
fn ssthresh_begins_at_half_of_the_receive_window() {
    let proactive = Proactive::new(settings());
    let mut wire = Wire::new(Monolithic::Proactive(proactive), 1.0, f64::INFINITY);
    wire.next.receive_window = 64.0;
    assert_eq!(wire.rounds(6), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
    assert!(wire.window.cwnd < 33.0, "linear from 32 on");
    assert_eq!(wire.window.ssthresh, 32.0);
}

#[test]
fn slow_start_does_not_double_after_a_penalty() {
    let mut wire = at_forty(ProactiveSettings {
        slow_start: ProactiveStart::OneRise,
        ..settings()
    });
    (wire.window.cwnd, wire.window.ssthresh) = (10.0, 32.0);
    let cwnds = windows(&mut wire, &[550, 560]);
    assert_eq!(cwnds, [10.0, 8.5]);
    wire.next.round_start = false;
    wire.acks(8);
    assert_eq!(wire.window.cwnd, 8.5, "the window after the penalty");
    wire.next.round_start = true;
    wire.acks(1);
    assert_eq!(wire.window.cwnd, 9.5, "the next one grows");
}

#[test]
fn a_loss_by_error_ends_slow_start() {
    for (ends, after) in [(true, 10.1), (false, 11.0)] {
        let mut wire = at_forty(ProactiveSettings {
            after_error: if ends {
                AfterError::Avoidance
            } else {
                AfterError::BySsthresh
            },
            ..settings()
        });
        wire.window.cwnd = 10.0;
        wire.controller.on_loss(&a_loss(10.0), &mut wire.window);
        wire.controller
            .on_recovery_exit(&an_exit(9.0, false), &mut wire.window);
        wire.acks(1);
        close(wire.window.cwnd, after, 1e-12);
    }
}

#[test]
fn windows_that_were_not_needed_do_not_count() {
    let mut wire = at_forty(settings());
    wire.next.cwnd_limited = false;
    windows(&mut wire, &[550, 560, 570, 580]);
    assert_eq!(wire.window.cwnd, 40.0);
    // Stopped by the receive window is not idle.
    wire.next.outstanding = 63.0;
    windows(&mut wire, &[550, 560, 570]);
    assert_eq!(wire.window.cwnd, 34.0);
}
