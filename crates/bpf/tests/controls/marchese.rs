//! Marchese 2001 and 2006.

use super::common::{connection, windows};
use bentpipe_bpf::{AckSample, CongestionEvent, CongestionState};

#[test]
fn an_ack_adds_k() {
    for (k, after_twelve) in [("k=1", 18), ("k=2", 30), ("k=4", 54)] {
        let mut native = connection("bp_const", &[k], 6);
        assert_eq!(windows(&mut native, 12).last(), Some(&after_twelve));
    }
}

#[test]
fn an_ack_counts_once_however_much_it_covers() {
    let mut native = connection("bp_const", &["k=1"], 6);
    native.cong_avoid(5);
    assert_eq!(native.socket.snd_cwnd, 7);
}

#[test]
fn the_initial_window_is_set_before_data_and_not_after() {
    let mut native = connection("bp_const", &["initial_window=6"], 10);
    assert_eq!(native.socket.snd_cwnd, 6);
    native.socket.data_segs_out = 3;
    native.socket.snd_cwnd = 40;
    native.init();
    assert_eq!(native.socket.snd_cwnd, 40);
}

#[test]
fn the_clamp_holds() {
    let mut native = connection("bp_const", &["k=4", "window_clamp=22"], 10);
    assert_eq!(windows(&mut native, 4), [14, 18, 22, 22]);
    let native = connection("bp_const", &["window_clamp=5"], 10);
    assert_eq!(native.socket.snd_cwnd, 5);
}

#[test]
fn an_unused_window_does_not_grow() {
    let mut native = connection("bp_const", &[], 10);
    native.socket.is_cwnd_limited = 0;
    native.socket.max_packets_out = 5;
    assert_eq!(windows(&mut native, 1), [10]);
    // In slow start the kernel lets cwnd reach twice of what was sent.
    native.socket.max_packets_out = 6;
    assert_eq!(windows(&mut native, 1), [14]);
}

#[test]
fn avoidance_and_the_cut_are_renos() {
    let mut native = connection("bp_const", &[], 10);
    native.socket.snd_ssthresh = 10;
    // 10.1, 10.199, ... 10.958 after ten ACKs: one more brings 11.
    assert_eq!(windows(&mut native, 11)[9..], [10, 11]);
    native.socket.packets_out = 21;
    native.socket.snd_cwnd = 21;
    assert_eq!(native.ssthresh(), 10);
    native.socket.packets_out = 3;
    assert_eq!(native.ssthresh(), 2);
    // What recovery leaves is whole.
    native.socket.snd_cwnd = 10;
    native.cwnd_event(CongestionEvent::ReductionComplete);
    assert_eq!(windows(&mut native, 11)[9..], [10, 11]);
}

#[test]
fn linear_grows_by_one_more_with_every_ack() {
    for (threshold, want) in [
        ("threshold=10", vec![7, 9, 12, 13, 14]),
        ("threshold=20", vec![7, 9, 12, 16, 21, 22, 23]),
        (
            "threshold=50",
            vec![7, 9, 12, 16, 21, 27, 34, 42, 51, 52, 53, 54],
        ),
    ] {
        let mut native = connection("bp_linear", &[threshold], 6);
        assert_eq!(windows(&mut native, want.len()), want);
    }
}

/// cwnd after each ACK of one segment, as the kernel tells of it.
fn mtsi(settings: &[&str], count: usize) -> Vec<u32> {
    let mut native = connection("bp_mtsi", settings, 6);
    let sample = AckSample {
        pkts_acked: 1,
        rtt_us: 511_000,
    };
    (0..count)
        .map(|_| {
            native.pkts_acked(&sample);
            native.cong_avoid(1);
            native.socket.snd_cwnd
        })
        .collect()
}

#[test]
fn mtsi_by_hand() {
    let slower = "thresholds=10-20-30";
    let larger = "thresholds=50-100-150";
    for (settings, want) in [
        (&[][..], "10 18 30 43 44 45 46 47 48 49 50 51"),
        (&["rule=B", "tie=le"], "10 18 30 38 43 44 45 46 47 48 49 50"),
        (&["rule=B"], "10 18 30 34 39 45 46 47 48 49 50 51"),
        (&["f0=1"], "11 20 31 43 44 45 46 47 48 49 50 51"),
        (&[slower], "10 16 24 33 34 35 36 37 38 39 40 41"),
        (
            &[slower, "rule=B", "tie=le"],
            "10 18 24 28 33 34 35 36 37 38 39 40",
        ),
        (&[slower, "rule=B"], "10 14 20 24 29 35 36 37 38 39 40 41"),
        (&[larger], "10 18 30 46 66 88 112 137 163 164"),
        (
            &[larger, "rule=B", "tie=le"],
            "10 18 30 46 66 78 92 108 117 127 138 150 163 164",
        ),
    ] {
        let want: Vec<u32> = want.split(' ').map(|w| w.parse().unwrap()).collect();
        assert_eq!(mtsi(settings, want.len()), want, "{settings:?}");
    }
}

#[test]
fn mtsi_begins_again_after_a_timeout() {
    let mut native = connection("bp_mtsi", &[], 6);
    windows(&mut native, 6);
    native.socket.snd_ssthresh = native.ssthresh();
    native.cwnd_event(CongestionEvent::Loss);
    native.socket.snd_cwnd = 1;
    native.set_state(CongestionState::Loss);
    native.socket.snd_ssthresh = 100;
    assert_eq!(windows(&mut native, 3), [5, 13, 25]);
}
