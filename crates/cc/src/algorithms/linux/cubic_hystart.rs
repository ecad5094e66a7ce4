//! HyStart of Linux' CUBIC: slow start ends where the ACKs of a round trip come
//! in one train for half of the smallest RTT, or where the RTT rises.
//!
//! Source: the behaviour of Linux `tcp_cubic.c` as of 6.18; Ha & Rhee, "Taming
//! the elephants: new TCP slow start", 2011. From a window of 16 segments on, in
//! each round trip:
//!
//! - ACK train: ACKs that follow each other within 2 ms are a train. When it has
//!   lasted for longer than (smallest RTT + slack) / 2, slow start ends. The slack
//!   is the time of four bursts of 64 kB at the rate at which the window would be
//!   spaced, at most 1 ms. Where a queue discipline spaces the packets (fq) the
//!   whole of it counts.
//! - Delay: the smallest of the first eight RTT samples and of those after them;
//!   from the ninth sample on it ends slow start when it exceeds the smallest RTT
//!   by an eighth of it, 4 ms at least and 16 ms at most.
//!
//! Either sets ssthresh = cwnd. Slow starts after a loss are not watched, those
//! after a timeout are.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | hystart | true | |
//! | low_window | 16 | segments below which it does not watch |
//! | ack_delta | 2 ms | the longest gap of a train |
//! | spaced | false | packets are spaced by the queue discipline (fq) |

use super::host::{Host, whole};
use crate::parameter::{flag, number, parameters, time};
use crate::{Ack, Window};
use bentpipe_units::{Duration, Segments};

/// Samples of a round trip that are collected before they are judged.
const SAMPLES: u32 = 8;
/// Permitted range of the RTT increase, microseconds.
const LEAST_RISE: u64 = 4_000;
const MOST_RISE: u64 = 16_000;
/// Bytes of the bursts whose time is the slack of a train, and the most of it in
/// microseconds.
const SLACK: u64 = 4 * 65_536;
const MOST_SLACK: u64 = 1_000;
/// Part of cwnd / RTT at which slow start spaces its packets.
const SPACING: f64 = 2.0;

parameters! {
    /// Settings of HyStart.
    #[derive(Copy)]
    pub struct HyStartParameters {
        hystart: bool = flag(true), "leave slow start on trains of ACKs and when the RTT rises";
        low_window: u64 = number(16.0, "segments", (0.0, 1_000_000.0)),
            "window below which HyStart does not watch";
        ack_delta: Duration =
            time(Duration::from_millis(2), (Duration::ZERO, Duration::from_secs(1))),
            "longest gap between the ACKs of a train";
        spaced: bool = flag(false), "the host's queue discipline spaces packets (fq)";
    }
}

/// State of HyStart. Times are in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HyStart {
    enabled: bool,
    low_window: u64,
    ack_delta: u64,
    spaced: bool,
    /// It has ended slow start.
    found: bool,
    round_start: u64,
    last_ack: u64,
    /// The round trip ends when more than so many segments are acknowledged.
    until: u64,
    least_rtt: u64,
    samples: u32,
}

impl HyStart {
    pub(super) fn new(p: &HyStartParameters) -> HyStart {
        HyStart {
            enabled: p.hystart,
            low_window: p.low_window,
            ack_delta: p.ack_delta.as_micros(),
            spaced: p.spaced,
            found: false,
            round_start: 0,
            last_ack: 0,
            until: 0,
            least_rtt: u64::MAX,
            samples: 0,
        }
    }

    /// A timeout: it watches again.
    pub(super) fn reset(&mut self, host: &Host) {
        self.found = false;
        self.begin_round(self.last_ack, host.next());
    }

    fn begin_round(&mut self, now: u64, next: Segments) {
        self.round_start = now;
        self.last_ack = now;
        self.until = next as u64;
        self.least_rtt = u64::MAX;
        self.samples = 0;
    }

    /// An ACK of slow start with an RTT of `delay`, where the smallest is
    /// `least`: true if slow start ends with it.
    pub(super) fn ends(
        &mut self,
        ack: &Ack,
        host: &Host,
        window: &Window,
        delay: u64,
        least: u64,
    ) -> bool {
        if !self.enabled || self.found {
            return false;
        }
        let now = ack.now.as_nanos() / 1000;
        if host.acknowledged() > self.until as f64 {
            self.begin_round(now, host.next());
        }
        if whole(window.cwnd) < self.low_window {
            return false;
        }
        if now.saturating_sub(self.last_ack) <= self.ack_delta {
            self.last_ack = now;
            let whole_path = least + slack(ack, window);
            let longest = if self.spaced {
                whole_path
            } else {
                whole_path / 2
            };
            self.found |= now.saturating_sub(self.round_start) > longest;
        }
        self.least_rtt = self.least_rtt.min(delay);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else {
            let rise = (least / 8).clamp(LEAST_RISE, MOST_RISE);
            self.found |= self.least_rtt > least + rise;
        }
        self.found
    }
}

/// The time of four bursts at twice the rate of the window.
fn slack(ack: &Ack, window: &Window) -> u64 {
    let srtt = ack.smoothed_rtt.as_secs();
    if srtt <= 0.0 {
        return 0;
    }
    let used = window.cwnd.max(ack.outstanding);
    let bytes_per_second = SPACING * used * f64::from(ack.mss) / srtt;
    ((SLACK as f64 / bytes_per_second.max(1.0) * 1e6) as u64).min(MOST_SLACK)
}
