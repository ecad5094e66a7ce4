//! Westwood+ as Linux has it: two filters in whole bytes per tick of the kernel's clock.
//!
//! Source: Linux `tcp_westwood.c` (Dell'Aera, Hemminger). Once per smoothed RTT,
//! and at least 50 ms, the bytes acknowledged since the last time go, divided by
//! the ticks it took, through two cascaded 7/8 filters; the first sample
//! fills both. Growth is Reno's. BWE x RTTmin / MSS, at least 2, is
//!
//! - today: cwnd and ssthresh when recovery ends, after Reno's half at the loss,
//!   and ssthresh after a timeout;
//! - 2.6.22 under ns-2: cwnd during recovery; ssthresh is Reno's half always, and
//!   cwnd goes up to it when recovery ends.
//!
//! The clock ticks 250 times a second, in 2.6.22 under ns-2 1000 times. Today RTTs are rounded up
//! to whole ticks, and an ACK is counted before its RTT is taken (`in_ack_event`, `pkts_acked`;
//! kernels up to 6.15): the RTT of the ACK before it decides whether an interval ends, and the
//! smallest RTT lags by one ACK, too. In state Open what an ACK advances by
//! counts; otherwise a duplicate counts one segment, which a later cumulative
//! ACK does not count again.

use super::host::{Host, LinuxParameters, Version};
use super::module::{Linux, Module, described};
use crate::declaration::{Algorithm, Control};
use crate::{Ack, Window};
use bentpipe_units::{Duration, Rate};

/// Shortest interval of a sample, milliseconds.
const SHORTEST: u64 = 50;

/// The RTT before any sample, milliseconds.
const NO_RTT: u64 = 20_000;

/// Westwood+. Times in ticks, volumes in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Westwood {
    version: Version,
    /// Both filters, bytes per tick.
    stages: [u64; 2],
    /// When the interval began; `None` before the first ACK.
    since: Option<u64>,
    /// Bytes acknowledged in it.
    acked: u64,
    /// Bytes that duplicates counted and no cumulative ACK has covered.
    accounted: u64,
    rtt: u64,
    least_rtt: u64,
    /// The next sample replaces `least_rtt`.
    forgets_rtt: bool,
    /// The handshake was reported, so the first ACK is one of data.
    shaken: bool,
}

/// Milliseconds of a tick of the kernel's clock: HZ is 250 where distributions build it.
const fn tick(version: Version) -> u64 {
    match version {
        Version::Current => 4,
        Version::Ns2 => 1,
    }
}

impl Westwood {
    /// Westwood+ of the given Linux.
    #[must_use]
    pub const fn new(version: Version) -> Westwood {
        Westwood {
            version,
            stages: [0; 2],
            since: None,
            acked: 0,
            accounted: 0,
            rtt: NO_RTT / tick(version),
            least_rtt: NO_RTT / tick(version),
            forgets_rtt: true,
            shaken: false,
        }
    }

    /// The window that fits the path, segments.
    fn fitting(&self, mss: u32) -> u64 {
        (self.stages[1].saturating_mul(self.least_rtt) / u64::from(mss.max(1))).clamp(2, 1 << 30)
    }

    fn end_interval(&mut self, now: u64, since: u64) {
        let interval = now.saturating_sub(since);
        if self.rtt == 0 || interval <= self.rtt.max(SHORTEST / tick(self.version)) {
            return;
        }
        let sample = core::mem::take(&mut self.acked) / interval;
        let eighth = |old: u64, new: u64| old.saturating_mul(7).saturating_add(new) >> 3;
        self.stages = if self.stages == [0; 2] {
            [sample; 2]
        } else {
            let first = eighth(self.stages[0], sample);
            [first, eighth(self.stages[1], first)]
        };
        self.since = Some(now);
    }

    /// Bytes that an ACK accounts for.
    fn count(&mut self, ack: &Ack, open: bool) -> u64 {
        let mss = u64::from(ack.mss);
        let bytes = (ack.acked * f64::from(ack.mss)) as u64;
        if open && !ack.duplicate {
            return bytes;
        }
        if bytes == 0 {
            self.accounted += mss;
            return mss;
        }
        if bytes <= mss {
            return bytes;
        }
        if self.accounted >= bytes {
            self.accounted -= bytes;
            return mss;
        }
        bytes - core::mem::take(&mut self.accounted)
    }
}

impl Algorithm for Linux<Westwood> {
    fn controls() -> Vec<Control<Linux<Westwood>>> {
        let described = described(
            ("westwood-linux", "westwood"),
            "Westwood+ of Linux: two filters in whole bytes per millisecond",
            "Linux tcp_westwood.c",
            "Westwood+ of Linux: cuts when recovery ends",
        );
        vec![Control::new(described, |p: LinuxParameters| {
            Linux::new(p.version, Westwood::new(p.version))
        })]
    }
}

impl Module for Westwood {
    fn name(&self) -> &'static str {
        "westwood-linux"
    }

    fn init(&mut self, rtt: Option<Duration>, host: &mut Host, _: &mut Window) {
        // In ns-2 the SYN's ACK is the first one, from which bytes count.
        self.shaken = host.next() == 0.0 && rtt.is_some();
        if let (true, Version::Ns2, Some(rtt)) = (self.shaken, self.version, rtt) {
            self.rtt = rtt.as_nanos() / 1_000_000;
            self.least_rtt = self.rtt;
            self.forgets_rtt = false;
        }
    }

    fn acked(&mut self, ack: &Ack, host: &Host, _: &mut Window) {
        let tick = 1_000_000 * tick(self.version);
        let now = ack.now.as_nanos() / tick;
        if self.version == Version::Ns2 && !ack.duplicate {
            self.rtt = ack.smoothed_rtt.as_nanos() / tick;
        }
        let (since, counts) = match self.since {
            Some(since) => (since, true),
            None => {
                // The connection was established when the first data left.
                let rtt = ack.rtt.filter(|_| self.shaken).unwrap_or_default();
                let began = ack.now.as_nanos().saturating_sub(rtt.as_nanos());
                let since = began / tick;
                self.since = Some(since);
                if self.version == Version::Ns2 && (ack.duplicate || !host.is_open()) {
                    // The SYN was lost: this ACK counts as a duplicate.
                    self.accounted += u64::from(ack.mss);
                    self.acked += u64::from(ack.mss);
                }
                (since, self.shaken && self.version == Version::Ns2)
            }
        };
        self.end_interval(now, since);
        let bytes = self.count(ack, host.is_open());
        if counts {
            self.acked += bytes;
        }
        if self.forgets_rtt {
            self.least_rtt = self.rtt;
            self.forgets_rtt = false;
        } else {
            self.least_rtt = self.least_rtt.min(self.rtt);
        }
        if let (Version::Current, Some(rtt)) = (self.version, ack.rtt) {
            self.rtt = rtt.as_nanos().div_ceil(tick);
        }
    }

    fn least(&self, _: u64, mss: u32) -> u64 {
        self.fitting(mss)
    }

    fn replaced_threshold(&mut self, timeout: bool, mss: u32) -> Option<u64> {
        self.forgets_rtt |= timeout;
        Some(self.fitting(mss))
    }

    fn bandwidth_estimate(&self) -> Option<Rate> {
        let bits = self.stages[1].saturating_mul(8_000) / tick(self.version);
        (bits > 0).then(|| Rate::from_bps(bits))
    }
}
