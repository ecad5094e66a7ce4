//! Marchese 2001 and 2006.

use super::common::{connection, windows};
use bentpipe_bpf::CongestionEvent;

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
