//! TCP New Vegas: pacing, pairing, convergence.

use crate::wire::{Wire, a_loss, close};
use bentpipe_cc::{Parameters, build};
use bentpipe_units::{Duration, Rate};

const BASE: Duration = Duration::from_millis(600);

fn new_vegas(parameters: &Parameters, cwnd: f64) -> Wire {
    let controller = build("new-vegas", parameters).unwrap();
    let mut wire = Wire::new(controller, cwnd, f64::INFINITY);
    wire.controller.on_established(Some(BASE), &mut wire.window);
    wire
}

/// An ACK for `acked` segments, `gap_us` after the last one, window in use.
fn ack(wire: &mut Wire, acked: f64, gap_us: u64) {
    wire.next.acked = acked;
    wire.next.outstanding = wire.window.cwnd.floor() - 1.0;
    wire.ack(Duration::from_micros(gap_us));
    wire.next.round_start = false;
}

#[test]
fn slow_start_goes_in_pairs_over_the_round_trip() {
    let mut wire = new_vegas(&Parameters::new(), 10.0);
    ack(&mut wire, 1.0, 1200);
    // 11 segments of 1500 bytes in 600 ms.
    let rate = Rate::from_bps(11 * 1500 * 8 * 10 / 6);
    assert_eq!(
        (wire.window.pacing_rate, wire.window.send_quantum),
        (Some(rate), 2)
    );
    // Neither lasts beyond slow start.
    wire.window.ssthresh = 2.0;
    ack(&mut wire, 1.0, 1200);
    assert_eq!(
        (wire.window.pacing_rate, wire.window.send_quantum),
        (None, 1)
    );
    let off = Parameters::new()
        .with("paced_start", false)
        .with("pairs", false);
    let mut wire = new_vegas(&off, 10.0);
    ack(&mut wire, 1.0, 1200);
    assert_eq!(
        (wire.window.pacing_rate, wire.window.send_quantum),
        (None, 1)
    );
}

/// Slow start of 160 segments that ends with a queue of 2; pairs come `gap_us`
/// apart inside. Then cwnd after the exit and after each of `rounds` rounds
/// without a queue.
fn rounds_after_the_exit(gap_us: u64, rounds: usize, parameters: &Parameters) -> Vec<f64> {
    let mut wire = new_vegas(parameters, 160.0);
    // Growth has its turn in the first round of data; the next one has not.
    wire.next.outstanding = 159.0;
    wire.next.round_start = true;
    for _ in 0..2 {
        wire.next.round_start = true;
        wire.window.cwnd = 160.0;
        for i in 0..160 {
            let gap = if i % 2 == 0 { 7500 - gap_us } else { gap_us };
            wire.window.cwnd = 160.0;
            ack(&mut wire, 1.0, gap);
            wire.next.rtt = Some(Duration::from_micros(608_000));
        }
    }
    wire.window.cwnd = 160.0;
    wire.next.round_start = true;
    ack(&mut wire, 1.0, 7500 - gap_us);
    assert_eq!(wire.window.ssthresh, 2.0, "slow start is over");
    wire.next.rtt = Some(BASE);
    let mut windows = vec![wire.window.cwnd];
    for _ in 0..rounds {
        wire.next.round_start = true;
        for _ in 0..wire.window.cwnd as usize {
            ack(&mut wire, 1.0, 3750);
        }
        windows.push(wire.window.cwnd);
    }
    windows
}

#[test]
fn convergence_goes_to_the_window_of_the_packet_pairs() {
    // Pairs 3 ms apart: 200 segments in 600 ms, and alpha: 201. 160 less an
    // eighth is 140, which a queue of 2 in the round of the exit holds.
    let windows = rounds_after_the_exit(3000, 8, &Parameters::new());
    assert_eq!(windows[0], 140.0);
    let last = windows[8];
    assert!((199.0..=202.5).contains(&last), "{windows:?}");
    // Half of the way in a round, not a segment.
    assert!(windows[2] > 165.0, "{windows:?}");
    let off = Parameters::new().with("convergence", false);
    let windows = rounds_after_the_exit(3000, 8, &off);
    assert!(windows[8] <= 149.0, "{windows:?}");
}

#[test]
fn a_receiver_that_answers_pairs_shows_no_bandwidth() {
    // One ACK per pair, 8 ms apart: 4 ms a segment, 150 segments and alpha.
    let mut wire = new_vegas(&Parameters::new(), 150.0);
    for _ in 0..3 {
        wire.next.round_start = true;
        for _ in 0..75 {
            wire.window.cwnd = 150.0;
            ack(&mut wire, 2.0, 8000);
            wire.next.rtt = Some(Duration::from_millis(610));
        }
    }
    wire.window.cwnd = 150.0;
    ack(&mut wire, 2.0, 8000);
    assert_eq!(wire.window.ssthresh, 2.0);
    // 131 now; the target is where slow start was, not the pairs' burst.
    wire.next.rtt = Some(BASE);
    for _ in 0..20 {
        for _ in 0..75 {
            ack(&mut wire, 2.0, 8000);
        }
    }
    assert!(wire.window.cwnd < 160.0, "{}", wire.window.cwnd);
}

#[test]
fn a_loss_is_vegas_and_ends_the_pacing() {
    let mut wire = new_vegas(&Parameters::new(), 40.0);
    ack(&mut wire, 1.0, 1200);
    wire.controller.on_loss(&a_loss(40.0), &mut wire.window);
    close(wire.window.cwnd, 30.0, 1e-9);
    assert_eq!(wire.window.pacing_rate, None);
}

/// cwnd after each of `acks` ACKs, with the spacing that is asked for, of a control
/// that leaves slow start with a queue of two segments. Pairs come 3 ms apart.
fn trace(name: &str, parameters: &Parameters) -> Vec<(f64, Option<Rate>, u32)> {
    let mut wire = Wire::new(build(name, parameters).unwrap(), 160.0, f64::INFINITY);
    wire.controller.on_established(Some(BASE), &mut wire.window);
    let mut trace = Vec::new();
    for round in 0..10 {
        let queued = if (1..3).contains(&round) { 8 } else { 0 };
        wire.next.rtt = Some(BASE + Duration::from_millis(queued));
        wire.next.round_start = true;
        for i in 0..wire.window.cwnd as usize {
            ack(&mut wire, 1.0, if i % 2 == 0 { 4500 } else { 3000 });
            let window = &wire.window;
            trace.push((window.cwnd, window.pacing_rate, window.send_quantum));
        }
    }
    trace
}

/// Each of the three changes makes a difference by itself, and without them New Vegas
/// is Vegas.
#[test]
fn each_change_by_itself_is_not_vegas() {
    const PARTS: [&str; 3] = ["paced_start", "pairs", "convergence"];
    let with = |on: Option<&str>| {
        let parts = PARTS.iter().fold(Parameters::new(), |parameters, part| {
            parameters.with(*part, Some(*part) == on)
        });
        trace("new-vegas", &parts)
    };
    let vegas = trace("vegas", &Parameters::new());
    assert_eq!(with(None), vegas);
    let paced = with(Some("paced_start"));
    assert!(paced.iter().any(|(_, rate, _)| rate.is_some()));
    assert!(paced.iter().all(|(_, _, quantum)| *quantum == 1));
    let pairs = with(Some("pairs"));
    assert!(pairs.iter().any(|(_, _, quantum)| *quantum == 2));
    assert!(pairs.iter().all(|(_, rate, _)| rate.is_none()));
    // Convergence asks for no spacing and moves the window alone.
    let parts = |convergence| {
        let parameters = Parameters::new().with("paced_start", false);
        parameters
            .with("pairs", false)
            .with("convergence", convergence)
    };
    let (on, off) = (
        rounds_after_the_exit(3000, 8, &parts(true)),
        rounds_after_the_exit(3000, 8, &parts(false)),
    );
    assert_eq!((on[0], off[0]), (140.0, 140.0));
    assert!(on[8] > off[8] + 40.0, "{on:?} {off:?}");
    let converged = with(Some("convergence"));
    assert!(
        converged
            .iter()
            .all(|(_, rate, quantum)| rate.is_none() && *quantum == 1)
    );
    // The windows of pacing and pairs are Vegas' where nothing reacts to spacing.
    let windows = |trace: &[(f64, Option<Rate>, u32)]| -> Vec<f64> {
        trace.iter().map(|(cwnd, _, _)| *cwnd).collect()
    };
    assert_eq!(windows(&paced), windows(&vegas));
    assert_eq!(windows(&pairs), windows(&vegas));
}
