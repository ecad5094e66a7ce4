//! Vegas, New Vegas, Veno and Proactive.

use super::common::{ack, connection, fill, lose, recover, time_out};
use bentpipe_bpf::Native;

/// A Vegas in avoidance with a window of `cwnd` and the smallest RTT of 600 ms.
fn vegas(name: &str, cwnd: u32) -> Native {
    let mut native = connection(name, &["whole_diff=false"], cwnd);
    native.socket.snd_ssthresh = 2;
    // A round of one ACK shows the smallest RTT.
    ack(&mut native, 600_000, cwnd, 600_000);
    native.socket.snd_cwnd = cwnd;
    native.socket.packets_out = 0;
    fill(&mut native);
    native
}

/// cwnd after a round in which every RTT is `rtt`.
fn round(native: &mut Native, rtt: u32) -> u32 {
    let cwnd = native.socket.snd_cwnd;
    for _ in 0..=cwnd {
        ack(native, 1_000, 1, rtt);
    }
    native.socket.snd_cwnd
}

#[test]
fn vegas_keeps_one_to_three_segments_in_the_queue() {
    for name in ["bp_vegas", "bp_newvegas"] {
        for (rtt, want) in [(612_000, 51), (630_000, 50), (660_000, 49)] {
            // W = 50, base .6: 0.98, 2.38 and 4.55 segments are queued.
            let mut native = vegas(name, 50);
            round(&mut native, rtt);
            round(&mut native, rtt);
            let cwnd = native.socket.snd_cwnd;
            assert_eq!(cwnd.cmp(&50), want.cmp(&50), "{name} at {rtt}: {cwnd}");
        }
    }
}

#[test]
fn vegas_cuts_by_a_quarter() {
    for name in ["bp_vegas", "bp_newvegas"] {
        let mut native = vegas(name, 40);
        assert_eq!(lose(&mut native, 40), 30);
        recover(&mut native);
        assert_eq!(
            (native.socket.snd_cwnd, native.socket.snd_ssthresh),
            (30, 2)
        );
        native.socket.snd_cwnd = 3;
        assert_eq!(lose(&mut native, 3), 2);
        recover(&mut native);
        native.socket.snd_cwnd = 21;
        time_out(&mut native, 21);
        assert_eq!(
            (native.socket.snd_cwnd, native.socket.snd_ssthresh),
            (2, 10)
        );
    }
}

#[test]
fn veno_tells_random_losses_from_congestion() {
    // W = 50, base .6: RTT .62 means 1.61 segments, .66 means 4.55.
    for (rtt, want) in [(620_000, 40), (660_000, 25)] {
        let mut native = connection("bp_veno", &[], 50);
        native.socket.snd_ssthresh = 50;
        ack(&mut native, 1_000, 1, 600_000);
        native.socket.snd_cwnd = 50;
        ack(&mut native, 1_000, 1, rtt);
        assert_eq!(lose(&mut native, 50), want, "{rtt}");
    }
    // A timeout is Reno's.
    let mut native = connection("bp_veno", &[], 50);
    ack(&mut native, 1_000, 1, 600_000);
    native.socket.snd_cwnd = 50;
    time_out(&mut native, 50);
    assert_eq!(native.socket.snd_ssthresh, 25);
}

/// A window after which every segment is acknowledged with that RTT.
fn window_of(native: &mut Native, rtt: u32) -> u32 {
    let before = native.socket.snd_cwnd;
    ack(native, u64::from(rtt), before, rtt);
    native.socket.snd_cwnd
}

#[test]
fn proactive_pays_for_two_rises_in_a_row() {
    let mut native = connection("bp_proactive", &["start_ssthresh=transport"], 40);
    native.socket.snd_ssthresh = 20;
    // A window of one ACK adds 1/cwnd. The mean of a window is known when the
    // next one ends.
    for rtt in [550_000, 560_000, 570_000] {
        assert_eq!(window_of(&mut native, rtt), 40);
    }
    assert_eq!(window_of(&mut native, 580_000), 34);
    // In the incipient state a loss halves.
    assert_eq!(lose(&mut native, 34), 17);
    recover(&mut native);
    assert_eq!(
        (native.socket.snd_cwnd, native.socket.snd_ssthresh),
        (17, 17)
    );
}

#[test]
fn proactive_leaves_the_window_after_other_losses() {
    let mut native = connection("bp_proactive", &["start_ssthresh=transport"], 34);
    native.socket.snd_ssthresh = 20;
    lose(&mut native, 34);
    recover(&mut native);
    assert_eq!(
        (native.socket.snd_cwnd, native.socket.snd_ssthresh),
        (34, 20)
    );
    // A timeout halves the previous ssthresh.
    time_out(&mut native, 34);
    assert_eq!(native.socket.snd_ssthresh, 10);
}

#[test]
fn proactive_begins_at_half_of_the_receive_window() {
    let mut native = connection("bp_proactive", &[], 1);
    native.socket.snd_wnd = 64 * 1448;
    ack(&mut native, 1_000, 1, 550_000);
    assert_eq!(native.socket.snd_ssthresh, 32);
}
