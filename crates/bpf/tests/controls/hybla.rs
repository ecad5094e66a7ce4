//! Hybla in whole numbers, Hoe's estimate and recovery (RFC 9937).

use super::common::{ack, connection, lose, recover, sample};
use bentpipe_bpf::{AckSample, CongestionState, Native};

/// A connection of the given RTT in slow start, without an estimate.
fn started(rtt: u32, settings: &[&str]) -> Native {
    let mut all = vec!["hoe=off", "gate=off", "pacing_gain=0"];
    all.extend(settings);
    let mut native = connection("bp_hybla", &all, 10);
    native.socket.srtt_us = rtt * 8;
    native.init();
    native
}

#[test]
fn a_step_of_slow_start_is_two_to_the_rho_less_one() {
    for (rho, step) in [(1, 1), (2, 3), (4, 15), (8, 255), (10, 1023), (16, 65_535)] {
        let mut native = started(rho * 25_000, &[]);
        ack(&mut native, 1_000, 1, rho * 25_000);
        assert_eq!(native.socket.snd_cwnd, 10 + step, "rho {rho}");
    }
    // 600 ms: 2^24 - 1, where the receive window holds that.
    let mut native = started(600_000, &[]);
    native.socket.mss_cache = 100;
    ack(&mut native, 1_000, 1, 600_000);
    assert_eq!(native.socket.snd_cwnd, 10 + 16_777_215);
    // 60 ms, rho 2.4: 2^2.4 - 1 = 4.278, in Linux' eighths 4.156.
    let mut native = started(60_000, &[]);
    for _ in 0..1000 {
        ack(&mut native, 1_000, 1, 60_000);
    }
    assert_eq!(native.socket.snd_cwnd, 10 + 4_278);
}

#[test]
fn a_step_of_avoidance_is_rho_squared_over_the_window() {
    // rho 24, W = 100: + 5.76.
    let mut native = started(600_000, &[]);
    (native.socket.snd_cwnd, native.socket.snd_ssthresh) = (100, 50);
    ack(&mut native, 1_000, 1, 600_000);
    assert_eq!(native.socket.snd_cwnd, 105);
    ack(&mut native, 1_000, 1, 600_000);
    // 105.76 + 576 / 105.76 = 111.206.
    assert_eq!(native.socket.snd_cwnd, 111);
    // With delayed ACKs the step counts segments.
    let mut native = started(600_000, &[]);
    (native.socket.snd_cwnd, native.socket.snd_ssthresh) = (100, 50);
    ack(&mut native, 1_000, 2, 600_000);
    assert_eq!(native.socket.snd_cwnd, 111);
}

#[test]
fn hoes_estimate_ends_slow_start_and_closes_the_gate() {
    // Ten segments at 10 Mbit/s and 600 ms: 1.2 ms apart, 500 segments.
    let mut native = connection("bp_hybla", &[], 10);
    native.socket.srtt_us = 600_000 * 8;
    native.init();
    native.socket.snd_nxt = 10 * 1448;
    ack(&mut native, 600_000, 1, 600_000);
    assert_eq!(native.socket.snd_cwnd, 20, "an ACK at most doubles");
    ack(&mut native, 1_200, 1, 600_000);
    assert_eq!(native.socket.snd_cwnd, 40);
    assert!(native.has_infinite_ssthresh());
    ack(&mut native, 1_200, 1, 600_000);
    assert_eq!(native.socket.snd_ssthresh, 500);
    assert_eq!(native.socket.snd_cwnd, 500);
    // At the product the gate is closed: 1/cwnd.
    ack(&mut native, 1_200, 1, 600_000);
    assert_eq!(native.socket.snd_cwnd, 500);
}

#[test]
fn the_pace_is_a_window_a_round_trip() {
    let mut native = connection("bp_hybla", &["hoe=off"], 100);
    native.socket.srtt_us = 600_000 * 8;
    native.init();
    assert_eq!(native.socket.sk_pacing_status, 1);
    assert_eq!(
        native.socket.sk_pacing_rate,
        100 * 1448 * 1_000_000 / 600_000
    );
    assert_eq!(native.min_tso_segs(), Some(1));
}

#[test]
fn recovery_reduces_in_proportion_and_ends_with_what_is_in_flight() {
    let mut native = connection("bp_hybla", &["hoe=off", "pacing_gain=0"], 20);
    native.socket.snd_ssthresh = 2;
    // 20 out, one of them reported, the first three below taken for lost.
    native.socket.packets_out = 20;
    native.socket.sacked_out = 3;
    native.socket.lost_out = 1;
    assert_eq!(lose(&mut native, 20), 10);
    let mut arrive = |sent: u32, sacked: u32| {
        native.socket.sacked_out = sacked;
        native.socket.prr_out = sent;
        native.pkts_acked(&AckSample {
            pkts_acked: 0,
            rtt_us: -1,
        });
        native.cong_control(&sample(1));
        native.socket.snd_cwnd
    };
    // RecoverFS 17 + 1 = 18; in flight 16, ceil(1 x 10 / 18) = 1 may go.
    assert_eq!(arrive(0, 3), 17);
    // One sent; the second delivered: ceil(20 / 18) = 2, so one more.
    assert_eq!(arrive(1, 4), 16);
    // Then nothing until ceil(30 / 18) = 2 becomes 3.
    assert_eq!(arrive(2, 5), 14);
    assert_eq!(arrive(2, 6), 14);
    // The end: ten, but only four are in flight.
    native.socket.packets_out = 4;
    native.socket.sacked_out = 0;
    native.socket.lost_out = 0;
    recover(&mut native);
    assert_eq!(native.socket.snd_cwnd, 5);
    // The ACK that ended it grows nothing.
    native.pkts_acked(&AckSample {
        pkts_acked: 4,
        rtt_us: 600_000,
    });
    native.cong_control(&sample(4));
    assert_eq!(native.socket.snd_cwnd, 5);
}

#[test]
fn undo_brings_the_window_back_and_it_stays() {
    let mut native = connection("bp_hybla", &["hoe=off", "pacing_gain=0"], 40);
    native.socket.snd_ssthresh = 20;
    lose(&mut native, 40);
    native.socket.snd_cwnd = 25;
    native.socket.snd_cwnd = native.undo_cwnd();
    native.set_state(CongestionState::Open);
    assert_eq!(native.socket.snd_cwnd, 40);
}
