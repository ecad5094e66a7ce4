//! A connection to drive by hand.

use bentpipe_bpf::{AckSample, CongestionEvent, CongestionState, Native, RateSample, Values, find};

const MSS: u32 = 1448;

/// The control `name` with `settings`, established with a window of `cwnd`
/// segments that is always full.
pub(crate) fn connection(name: &str, settings: &[&str], cwnd: u32) -> Native {
    let mut values = Values::new(find(name).unwrap());
    for setting in settings {
        values.set(setting).unwrap();
    }
    values.check().unwrap();
    let mut native = Native::new(&values).unwrap();
    native.socket.snd_cwnd = cwnd;
    native.socket.is_cwnd_limited = 1;
    native.socket.snd_wnd = u32::MAX;
    native.socket.tcp_mstamp = 1_000_000;
    native.init();
    fill(&mut native);
    native
}

/// Sends what the window allows.
pub(crate) fn fill(native: &mut Native) {
    let socket = &mut native.socket;
    socket.packets_out = socket.packets_out.max(socket.snd_cwnd);
    socket.snd_nxt = socket
        .snd_una
        .wrapping_add(socket.packets_out.wrapping_mul(MSS));
    socket.data_segs_out = socket.data_segs_out.max(socket.packets_out);
}

/// cwnd after each of `count` ACKs of one segment, without an RTT.
pub(crate) fn windows(native: &mut Native, count: usize) -> Vec<u32> {
    (0..count)
        .map(|_| {
            native.cong_avoid(1);
            native.socket.snd_cwnd
        })
        .collect()
}

/// An ACK of `acked` segments `gap` microseconds after the last, with the RTT
/// `rtt`, and what is sent then.
pub(crate) fn ack(native: &mut Native, gap: u64, acked: u32, rtt: u32) {
    let socket = &mut native.socket;
    socket.tcp_mstamp += gap;
    socket.snd_una = socket.snd_una.wrapping_add(acked * MSS);
    socket.packets_out = socket.packets_out.saturating_sub(acked);
    socket.delivered += acked;
    socket.srtt_us = rtt * 8;
    let rtt_us = i32::try_from(rtt).unwrap();
    let pkts_acked = acked;
    native.pkts_acked(&AckSample { pkts_acked, rtt_us });
    native.in_ack_event(1);
    if native.has_cong_control() {
        native.cong_control(&sample(acked));
    } else {
        native.cong_avoid(acked);
    }
    fill(native);
}

/// What an ACK that delivers `arrived` segments shows of the rate.
pub(crate) fn sample(arrived: u32) -> RateSample {
    RateSample {
        acked_sacked: arrived,
        ..RateSample::default()
    }
}

/// A loss with `out` segments outstanding, up to the state Recovery.
pub(crate) fn lose(native: &mut Native, out: u32) -> u32 {
    native.socket.packets_out = out;
    native.socket.prior_cwnd = native.socket.snd_cwnd;
    native.socket.snd_ssthresh = native.ssthresh();
    native.socket.prr_out = 0;
    native.set_state(CongestionState::Recovery);
    native.socket.snd_ssthresh
}

/// The end of that recovery, as the kernel has it for a control without
/// `cong_control`: the state comes first (`tcp_try_undo_recovery`).
pub(crate) fn recover(native: &mut Native) {
    native.set_state(CongestionState::Open);
    if !native.has_cong_control() {
        native.socket.snd_cwnd = native.socket.snd_ssthresh;
        native.cwnd_event(CongestionEvent::ReductionComplete);
    }
}

/// A timeout with `out` segments outstanding.
pub(crate) fn time_out(native: &mut Native, out: u32) {
    native.socket.packets_out = out;
    native.socket.prior_cwnd = native.socket.snd_cwnd;
    native.socket.snd_ssthresh = native.ssthresh();
    native.cwnd_event(CongestionEvent::Loss);
    native.socket.snd_cwnd = 1;
    native.set_state(CongestionState::Loss);
}
