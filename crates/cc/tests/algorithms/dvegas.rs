//! DVegas: Vegas without cuts, and what reports of the queue do. All of it is
//! our reading.

use crate::wire::{Wire, a_head, a_loss, a_timeout, an_exit, close};
use bentpipe_cc::{Parameters, QueueReport, build};
use bentpipe_units::{Duration, Time};
use proptest::prelude::*;

const BASE: Duration = Duration::from_millis(600);

fn wire(name: &str, cwnd: f64, ssthresh: f64, parameters: &Parameters) -> Wire {
    let mut wire = Wire::new(build(name, parameters).unwrap(), cwnd, ssthresh);
    wire.controller.on_established(Some(BASE), &mut wire.window);
    wire.next.rtt = Some(BASE);
    wire
}

fn dvegas(cwnd: f64, ssthresh: f64) -> Wire {
    wire("dvegas", cwnd, ssthresh, &Parameters::new())
}

fn report(wire: &mut Wire, waiting: f64, limit: Option<f64>, frames: u32) {
    let report = QueueReport {
        now: wire.next.now,
        waiting,
        limit,
        frames,
    };
    wire.controller.on_queue(&report, &mut wire.window);
}

/// One ACK for one segment with a window in full use.
fn full_ack(wire: &mut Wire) {
    wire.next.outstanding = wire.window.cwnd.floor() - 1.0;
    wire.ack(Duration::from_micros(1200));
}

proptest! {
    /// With an empty queue and no loss it is Vegas, whatever the RTT does.
    #[test]
    fn without_a_queue_it_is_vegas(
        cwnd in 2.0..200.0_f64,
        slow_start in any::<bool>(),
        rtts in proptest::collection::vec(600u64..700, 1..400),
        every in 1usize..20,
    ) {
        let ssthresh = if slow_start { f64::INFINITY } else { 2.0 };
        let mut vegas = wire("vegas", cwnd, ssthresh, &Parameters::new());
        let mut dvegas = dvegas(cwnd, ssthresh);
        for (i, rtt) in rtts.into_iter().enumerate() {
            for wire in [&mut vegas, &mut dvegas] {
                wire.next.rtt = Some(Duration::from_millis(rtt));
                full_ack(wire);
            }
            if i % every == 0 {
                report(&mut dvegas, 0.0, Some(50.0), 1);
            }
            prop_assert_eq!(&dvegas.window, &vegas.window);
        }
    }
}

#[test]
fn a_loss_leaves_the_window_alone() {
    let mut wire = dvegas(50.0, 2.0);
    wire.controller.on_loss(&a_loss(50.0), &mut wire.window);
    close(wire.window.cwnd, 50.0, 0.0);
    let exit = an_exit(20.0, true);
    wire.controller.on_recovery_exit(&exit, &mut wire.window);
    close(wire.window.cwnd, 50.0, 0.0);
}

#[test]
fn between_the_thresholds_it_holds_and_above_it_shrinks() {
    let mut wire = dvegas(50.0, 2.0);
    // A weight of 0.1: one report of 60 makes a mean of 6.
    report(&mut wire, 60.0, None, 1);
    for _ in 0..200 {
        full_ack(&mut wire);
        // The RTT alone would let it grow; 6 segments more than the RTT shows
        // are above beta.
        assert!(wire.window.cwnd <= 50.0);
    }
    let held = wire.window.cwnd;
    // 6, 11.4, 16.3: above the maximum of 15 each report takes a segment.
    report(&mut wire, 60.0, None, 1);
    close(wire.window.cwnd, held, 0.0);
    report(&mut wire, 60.0, None, 1);
    close(wire.window.cwnd, held - 1.0, 1e-9);
    // A full queue takes an eighth.
    let before = wire.window.cwnd;
    report(&mut wire, 60.0, Some(60.0), 1);
    close(wire.window.cwnd, before * 7.0 / 8.0, 1e-9);
    // Empty for twenty frames, it grows again.
    report(&mut wire, 0.0, Some(60.0), 40);
    let before = wire.window.cwnd;
    for _ in 0..200 {
        full_ack(&mut wire);
    }
    assert!(wire.window.cwnd > before, "{}", wire.window.cwnd);
}

#[test]
fn thresholds_as_shares_of_the_buffer() {
    let parameters = Parameters::new().with("share", true).with("weight", 1.0);
    for (waiting, cwnd) in [(74.0, 50.0), (76.0, 49.0), (100.0, 43.75)] {
        let mut wire = wire("dvegas", 50.0, 2.0, &parameters);
        report(&mut wire, waiting, Some(100.0), 1);
        close(wire.window.cwnd, cwnd, 1e-9);
    }
}

#[test]
fn a_queue_ends_slow_start() {
    let mut wire = dvegas(20.0, f64::INFINITY);
    report(&mut wire, 49.0, None, 1);
    assert!(wire.window.in_slow_start(), "a mean of 4.9");
    report(&mut wire, 49.0, None, 1);
    assert!(!wire.window.in_slow_start());
    close(wire.window.cwnd, 20.0, 0.0);
}

#[test]
fn a_timeout_counts_only_where_the_queue_was_long() {
    // Sent before the queue grew: the channel lost it.
    let mut wire = dvegas(50.0, 2.0);
    wire.next.now = Time::ZERO + Duration::from_secs(5);
    let mut head = a_head();
    head.sent_at = Time::ZERO + Duration::from_secs(4);
    wire.next.head = Some(head);
    full_ack(&mut wire);
    let cwnd = wire.window.cwnd;
    report(&mut wire, 100.0, None, 1);
    wire.controller
        .on_timeout(&a_timeout(50.0), &mut wire.window);
    close(wire.window.cwnd, cwnd, 0.0);
    // Sent after that.
    head.sent_at = wire.next.now + Duration::from_millis(1);
    wire.next.head = Some(head);
    wire.next.duplicate = true;
    wire.ack(Duration::from_millis(2));
    wire.controller
        .on_timeout(&a_timeout(50.0), &mut wire.window);
    close(wire.window.cwnd, 2.0, 0.0);
}
