//! The interface of a congestion control module in Linux, and what Linux does
//! around it.

use super::host::{Host, Version, whole};
use crate::declaration::{Described, Family, TransportDefaults};
use crate::{Ack, CongestionControl, Loss, RecoveryExit, Timeout, Window};
use bentpipe_units::{Duration, Rate, Time};

/// Segments that may leave at once when recovery ends (`tcp_max_burst` of
/// ns-2).
const MAX_BURST: f64 = 3.0;

/// The hooks of a module. The defaults are Reno's.
pub(super) trait Module {
    /// The name under which results are listed.
    fn name(&self) -> &'static str;

    /// The connection is established (`init`); `rtt` is its smoothed RTT.
    fn init(&mut self, rtt: Option<Duration>, host: &mut Host, window: &mut Window) {
        let _ = (rtt, host, window);
    }

    /// Every ACK, duplicates included (`pkts_acked`, then the events for ACKs);
    /// a slow start that watches the delay lowers ssthresh here.
    fn acked(&mut self, ack: &Ack, host: &Host, window: &mut Window) {
        let _ = (ack, host, window);
    }

    /// An ACK that advances, outside fast recovery (`cong_avoid`).
    fn grow(&mut self, ack: &Ack, host: &mut Host, window: &mut Window) {
        host.reno(ack, window);
    }

    /// The threshold after a loss at a window of `cwnd` segments, or after an ECN
    /// echo (`ssthresh`, and what a module does when it enters Recovery).
    fn threshold(&mut self, cwnd: u64, ecn: bool) -> u64 {
        let _ = ecn;
        cwnd / 2
    }

    /// The retransmission timer ran out (`set_state` with Loss).
    fn lost(&mut self, host: &Host) {
        let _ = host;
    }

    /// Data is sent at `now` while nothing is in flight, `idle` after the last
    /// (`CA_EVENT_TX_START`).
    fn restarted(&mut self, now: Time, idle: Duration) {
        let _ = (now, idle);
    }

    /// The window that 2.6.22 goes down to while it recovers (`min_cwnd`).
    fn least(&self, ssthresh: u64, mss: u32) -> u64 {
        let _ = mss;
        ssthresh / 2
    }

    /// The threshold that replaces that of a timeout, or that of a loss when
    /// its recovery ends, in today's kernels (`CA_EVENT_LOSS`,
    /// `CA_EVENT_COMPLETE_CWR`).
    fn replaced_threshold(&mut self, timeout: bool, mss: u32) -> Option<u64> {
        let _ = (timeout, mss);
        None
    }

    /// The state has become another than Open (`set_state`).
    fn left_open(&mut self) {}

    /// The state has become Open (`set_state`).
    fn opened(&mut self, host: &Host) {
        let _ = host;
    }

    /// The bandwidth that the module estimates.
    fn bandwidth_estimate(&self) -> Option<Rate> {
        None
    }
}

/// The kernel's `module` under `name` and what it is; `transport` is the summary
/// of its transport.
pub(super) const fn described(
    (name, module): (&'static str, &'static str),
    summary: &'static str,
    source: &'static str,
    transport: &'static str,
) -> Described {
    Described {
        name,
        summary,
        source,
        open: "state Disorder is left out; cwnd stops growing at the receive window",
        family: Family::Linux,
        module: Some(module),
        transport: TransportDefaults {
            summary: transport,
            ..TransportDefaults::NEW
        },
        settles: true,
        ..Described::NEW
    }
}

/// A module at work.
#[derive(Clone, Debug, PartialEq)]
pub struct Linux<M> {
    host: Host,
    module: M,
    /// `init` has been called.
    begun: bool,
}

impl<M> Linux<M> {
    /// `module` in the given Linux.
    #[must_use]
    pub const fn new(version: Version, module: M) -> Linux<M> {
        Linux {
            host: Host::new(version),
            module,
            begun: false,
        }
    }
}

impl<M: Module + core::fmt::Debug + Send> CongestionControl for Linux<M> {
    fn name(&self) -> &str {
        self.module.name()
    }

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        self.begun = true;
        self.module.init(rtt, &mut self.host, window);
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack, window: &mut Window) {
        self.host.observe(ack);
        // 2.6.22 under ns-2 initialises its module with the first ACK of any kind.
        if !self.begun && (!ack.duplicate || self.host.version == Version::Ns2) {
            self.begun = true;
            let srtt = Some(ack.smoothed_rtt).filter(|rtt| !rtt.is_zero());
            // Without a report of the handshake, what is acknowledged first opens
            // the connection, as the SYN does in ns-2.
            if ack.cwnd_limited {
                self.module.init(srtt, &mut self.host, window);
            }
        }
        self.module.acked(ack, &self.host, window);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if self.host.is_recovering() {
            return;
        }
        self.module.grow(ack, &mut self.host, window);
        if self.host.ends_loss() {
            self.module.opened(&self.host);
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        let ssthresh = self.module.threshold(whole(window.cwnd), loss.ecn).max(2);
        window.ssthresh = ssthresh as f64;
        window.cwnd = window.ssthresh;
        if loss.ecn {
            self.host.count = 0;
            return;
        }
        self.host.recover();
        self.module.left_open();
        if self.host.version == Version::Ns2 {
            window.cwnd = self.module.least(ssthresh, loss.mss).max(1) as f64;
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        if timeout.first {
            let ssthresh = self.module.threshold(whole(window.cwnd), false).max(2);
            let replaced = match self.host.version {
                Version::Current => self.module.replaced_threshold(true, timeout.mss),
                Version::Ns2 => None,
            };
            window.ssthresh = replaced.unwrap_or(ssthresh) as f64;
        }
        window.cwnd = 1.0;
        self.host.lose();
        self.module.left_open();
        self.module.lost(&self.host);
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        match self.host.version {
            Version::Current => {
                if let Some(ssthresh) = self.module.replaced_threshold(false, exit.mss) {
                    window.ssthresh = ssthresh as f64;
                }
                window.cwnd = window.ssthresh;
            }
            Version::Ns2 if window.cwnd < window.ssthresh => {
                window.cwnd = window.ssthresh.min(exit.flight.floor() + MAX_BURST);
            }
            Version::Ns2 => {}
        }
        if exit.recovery_fix {
            window.cwnd = window.cwnd.min(exit.flight + 1.0);
        }
        self.host.open();
        self.module.opened(&self.host);
    }

    fn on_spurious(&mut self, before: &Window, window: &mut Window) {
        window.cwnd = window.cwnd.max(before.cwnd);
        window.ssthresh = before.ssthresh;
        self.host.open();
        self.module.opened(&self.host);
    }

    fn on_transmission_start(&mut self, now: Time, idle: Duration) {
        self.module.restarted(now, idle);
    }

    fn bandwidth_estimate(&self) -> Option<Rate> {
        self.module.bandwidth_estimate()
    }
}
