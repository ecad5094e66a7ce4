//! The structures of `bpf/native.h`, and the C behind them.

#![allow(
    unsafe_code,
    reason = "the one place that declares and reaches the C of bpf/"
)]

use core::ffi::c_char;

/// Words that a socket holds of a control's state.
const STATE_WORDS: usize = 13;

/// Words that a socket holds of parameters.
const MAX_PARAMETERS: usize = 32;

/// What a control sees of a connection: the kernel's `sock`,
/// `inet_connection_sock` and `tcp_sock` in one, with the kernel's names and
/// units. A driver keeps the fields that say so up to date; the control writes
/// `snd_cwnd`, `snd_ssthresh`, the pacing fields and its own state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Socket {
    pub(super) icsk_ca_priv: [u64; STATE_WORDS],
    pub(super) parameters: [u64; MAX_PARAMETERS],
    /// Bytes per second to pace at.
    pub sk_pacing_rate: u64,
    /// The most that it may be.
    pub sk_max_pacing_rate: u64,
    /// The time of this call, microseconds.
    pub tcp_mstamp: u64,
    /// 1 where the control paces.
    pub sk_pacing_status: u32,
    /// The congestion window, segments.
    pub snd_cwnd: u32,
    /// What it never exceeds.
    pub snd_cwnd_clamp: u32,
    /// The slow start threshold, segments.
    pub snd_ssthresh: u32,
    /// The window before the last cut.
    pub prior_cwnd: u32,
    /// Segments that are not acknowledged cumulatively.
    pub packets_out: u32,
    /// Retransmitted segments in flight.
    pub retrans_out: u32,
    /// Segments that are acknowledged selectively.
    pub sacked_out: u32,
    /// Segments that are taken for lost.
    pub lost_out: u32,
    /// The most segments that were out in the last round.
    pub max_packets_out: u32,
    /// First byte that is not acknowledged.
    pub snd_una: u32,
    /// First byte that has not been sent.
    pub snd_nxt: u32,
    /// The receive window, bytes.
    pub snd_wnd: u32,
    /// Segments that have arrived.
    pub delivered: u32,
    /// Eight times the smoothed RTT, microseconds.
    pub srtt_us: u32,
    /// Bytes of a segment.
    pub mss_cache: u32,
    /// Segments with data sent so far.
    pub data_segs_out: u32,
    /// Retransmissions since the start of the connection.
    pub total_retrans: u32,
    /// 1 where the window was full.
    pub is_cwnd_limited: u32,
    /// Segments sent since recovery began.
    pub prr_out: u32,
}

/// What an ACK acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct AckSample {
    /// Segments covered by the ACK.
    pub pkts_acked: u32,
    /// RTT of the newest that was sent once, microseconds; -1 without one.
    pub rtt_us: i32,
}

/// How fast data arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct RateSample {
    /// The time that it took, microseconds; -1 without a sample.
    pub interval_us: i64,
    /// RTT of the newest segment, microseconds; -1 without one.
    pub rtt_us: i64,
    /// Segments delivered over the interval; -1 without a sample.
    pub delivered: i32,
    /// Segments newly taken for lost.
    pub losses: i32,
    /// Segments newly delivered by this ACK.
    pub acked_sacked: u32,
    /// Segments in flight before this ACK.
    pub prior_in_flight: u32,
    /// 1 where the application limited the sending.
    pub is_app_limited: u32,
    /// Padding of the structure.
    pub reserved: u32,
}

/// The hooks of a control.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Ops {
    pub(super) ssthresh: Option<extern "C" fn(&mut Socket) -> u32>,
    pub(super) cong_avoid: Option<extern "C" fn(&mut Socket, u32)>,
    pub(super) set_state: Option<extern "C" fn(&mut Socket, u8)>,
    pub(super) cwnd_event: Option<extern "C" fn(&mut Socket, i32)>,
    pub(super) in_ack_event: Option<extern "C" fn(&mut Socket, u32)>,
    pub(super) pkts_acked: Option<extern "C" fn(&mut Socket, &AckSample)>,
    pub(super) min_tso_segs: Option<extern "C" fn(&mut Socket) -> u32>,
    pub(super) cong_control: Option<extern "C" fn(&mut Socket, &RateSample)>,
    pub(super) undo_cwnd: Option<extern "C" fn(&mut Socket) -> u32>,
    pub(super) init: Option<extern "C" fn(&mut Socket)>,
    name: [c_char; 16],
    flags: u32,
}

impl Ops {
    /// The name in the C.
    pub(super) fn name(&self) -> String {
        let letters = self.name.iter().take_while(|letter| **letter != 0);
        letters.map(|letter| char::from(*letter as u8)).collect()
    }
}

// The ops of every file of bpf/ and `ops(name)`, which finds them: build.rs.
include!(concat!(env!("OUT_DIR"), "/ops.rs"));

// SAFETY: constants of bpf/native.c.
#[cfg(test)]
unsafe extern "C" {
    static bentpipe_native_sizes: [u32; 4];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_those_of_the_c() {
        let ours = [
            size_of::<Socket>(),
            size_of::<AckSample>(),
            size_of::<RateSample>(),
            size_of::<Ops>(),
        ];
        // SAFETY: constant data.
        let theirs = unsafe { bentpipe_native_sizes };
        assert_eq!(ours.map(|size| size as u32), theirs);
    }
}
