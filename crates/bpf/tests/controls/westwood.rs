//! The Westwoods: filters and cuts.

use super::common::{ack, connection, lose, recover, time_out};
use bentpipe_bpf::{CongestionEvent, CongestionState, Native};

/// ssthresh that a loss would set, with an RTT of 1 s, is the estimate in
/// segments per second.
fn estimate(native: &Native) -> u32 {
    let mut copy = native.clone();
    copy.socket.snd_cwnd = 1 << 20;
    lose(&mut copy, 1 << 20);
    copy.socket.snd_ssthresh
}

/// Estimates after ACKs of one segment a millisecond.
fn estimates(filter: &str, count: usize) -> Vec<u32> {
    let mut native = connection("bp_westwood", &[filter], 10);
    ack(&mut native, 1_000, 1, 1_000_000);
    (0..count)
        .map(|_| {
            ack(&mut native, 1_000, 1, 1_000_000);
            estimate(&native)
        })
        .collect()
}

#[test]
fn the_filters_of_the_agent() {
    // Samples of 1000, item 13: 47.6, 138.3, 220.3, 294.5, 361.6.
    assert_eq!(estimates("filter=type-1", 5), [47, 138, 220, 294, 361]);
    // 100, 190, 271 less what the division of a microsecond rounds away.
    assert_eq!(estimates("filter=type-0", 3), [99, 189, 270]);
}

#[test]
fn tustin_weighs_by_time() {
    // tau 0.5 s, D 1.2 ms: .997603 and .00119856 twice.
    let mut native = connection("bp_westwood", &[], 10);
    let rate: f64 = 1e6 / 1200.0;
    let mut expected = 0.0;
    let mut last = 0.0;
    ack(&mut native, 1_200, 1, 1_000_000);
    for _ in 0..2000 {
        ack(&mut native, 1_200, 1, 1_000_000);
        expected = 0.997_602_876_548 * expected + 0.001_198_561_726 * (rate + last);
        last = rate;
        let got = f64::from(estimate(&native).max(2));
        assert!((got - expected.max(2.0)).abs() <= 1.0, "{got} {expected}");
    }
    // A second of silence: eight zero samples would be 0.6^k; two steps of tau/2.
    let before = f64::from(estimate(&native));
    ack(&mut native, 1_000_000, 1, 1_000_000);
    assert!(f64::from(estimate(&native)) < 0.35 * before);
}

#[test]
fn a_loss_cuts_to_what_fits_and_a_small_window_stays() {
    // 9 Mbit/s of 1500-byte packets and 600 ms: 450 segments.
    let mut native = connection("bp_etcpw", &["filter=type-0", "hoe=off"], 10);
    for _ in 0..400 {
        ack(&mut native, 1_333, 1, 600_000);
    }
    native.socket.snd_cwnd = 700;
    assert_eq!(lose(&mut native, 700), 450);
    native.socket.packets_out = 300;
    recover(&mut native);
    assert_eq!(native.socket.snd_cwnd, 301, "the recovery fix");
    assert_eq!(native.socket.snd_ssthresh, 450);
    // Below what fits the window stays where it is.
    native.socket.snd_cwnd = 100;
    lose(&mut native, 100);
    native.socket.packets_out = 300;
    recover(&mut native);
    assert_eq!(native.socket.snd_cwnd, 100);
    assert_eq!(native.socket.snd_ssthresh, 450);
    time_out(&mut native, 100);
    assert_eq!(native.socket.snd_ssthresh, 450);
}

#[test]
fn westwood_plus_samples_once_a_round() {
    // ns-3's filter, item 14: 50, 145, 230.5, 307.5, 376.7.
    let mut native = connection("bp_westwoodp", &["filter=tustin"], 10);
    let mut seen = vec![];
    for round in 0..5 {
        // The first interval begins an RTT before the first ACK.
        ack(
            &mut native,
            if round == 0 { 0 } else { 1_000_000 },
            1000,
            1_000_000,
        );
        seen.push(estimate(&native));
    }
    assert_eq!(seen, [49, 144, 230, 307, 376], "rounded down");
}

#[test]
fn what_is_undone_stays_when_the_end_of_recovery_is_told() {
    for name in [
        "bp_westwood",
        "bp_westwoodp",
        "bp_etcpw",
        "bp_vegas",
        "bp_proactive",
    ] {
        let mut native = connection(name, &[], 100);
        native.socket.snd_ssthresh = 50;
        ack(&mut native, 1_000, 1, 600_000);
        native.socket.snd_cwnd = 100;
        lose(&mut native, 100);
        native.socket.snd_cwnd = 60;
        native.socket.snd_cwnd = native.undo_cwnd();
        native.socket.snd_ssthresh = 50;
        native.set_state(CongestionState::Open);
        native.cwnd_event(CongestionEvent::ReductionComplete);
        assert_eq!(native.socket.snd_cwnd, 100, "{name}");
        assert_eq!(native.socket.snd_ssthresh, 50, "{name}");
    }
}
