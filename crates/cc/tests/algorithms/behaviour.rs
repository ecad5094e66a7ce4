//! Snapshot: cwnd at the start of each round of a scripted connection.
//!
//! 600 ms, 10 Mbit/s, initial window 2, receive window 1000 segments, an ACK
//! per segment. Round 8 loses a segment and recovers in one round; a timeout
//! ends round 12. Numbers are hundredths of a segment, so that a change of
//! behaviour shows as a change of a small table.
//!
//! Vegas and New Vegas have the same row: on this path nothing queues, so that slow
//! start never ends by gamma and there is nothing to converge to, and the rest of what
//! New Vegas changes is the spacing of packets. `new_vegas.rs` has where they differ.

use crate::wire::{Wire, a_loss, a_rate_sample, a_timeout, an_exit};
use bentpipe_cc::{Parameters, build, list};
use bentpipe_units::Duration;
use std::fmt::Write as _;

const ROUNDS: u32 = 16;
const RECEIVE_WINDOW: f64 = 1000.0;

fn rounds(name: &str) -> Vec<u64> {
    let classic = build(name, &Parameters::new()).unwrap();
    let mut wire = Wire::new(classic, 2.0, f64::INFINITY);
    wire.controller
        .on_established(Some(Duration::from_millis(600)), &mut wire.window);
    wire.next.receive_window = RECEIVE_WINDOW;
    (1..=ROUNDS)
        .map(|round| {
            let cwnd = wire.window.cwnd;
            let flight = cwnd.min(RECEIVE_WINDOW).floor();
            if round == 8 {
                wire.controller.on_loss(&a_loss(flight), &mut wire.window);
            }
            one_round(&mut wire, flight as u64, round == 8);
            if round == 8 {
                let exit = an_exit(wire.window.cwnd.floor(), false);
                wire.controller.on_recovery_exit(&exit, &mut wire.window);
            }
            if round == 12 {
                let flight = wire.window.cwnd.min(RECEIVE_WINDOW).floor();
                wire.controller
                    .on_timeout(&a_timeout(flight), &mut wire.window);
            }
            (cwnd * 100.0) as u64
        })
        .collect()
}

/// `flight` ACKs at the bottleneck's pace, duplicates where it recovers, then
/// the rest of the round trip.
fn one_round(wire: &mut Wire, flight: u64, recovers: bool) {
    let packet = Duration::from_micros(1200);
    let rtt = Duration::from_millis(600);
    // What a sender that paces by it would have measured: a window a round, at
    // most at the bottleneck's rate.
    let prior = wire.next.rate_sample.map_or(0.0, |s| s.total_delivered);
    let sample = a_rate_sample(prior, flight as f64, rtt.max(packet * flight));
    wire.next.rate_sample = Some(sample);
    for i in 0..flight {
        wire.next.round_start = i == 0;
        wire.next.duplicate = recovers;
        wire.next.in_recovery = recovers;
        wire.next.acked = if recovers { 0.0 } else { 1.0 };
        wire.next.flight_before = flight as f64;
        wire.next.outstanding = wire.window.cwnd.min(RECEIVE_WINDOW).floor() - 1.0;
        wire.next.flight = flight as f64 - 1.0;
        wire.next.cwnd_limited = wire.window.cwnd <= RECEIVE_WINDOW;
        wire.ack(packet);
    }
    wire.next.now += rtt.saturating_sub(packet * flight);
}

#[test]
fn cwnd_per_round() {
    let mut table = String::new();
    for described in list() {
        let _ = write!(table, "{:<13}", described.name);
        for cwnd in rounds(described.name) {
            let _ = write!(table, " {cwnd:>6}");
        }
        table.push('\n');
    }
    assert!(
        table == include_str!("behaviour.txt"),
        "cwnd per round is now:\n{table}"
    );
}
