//! NewReno's three slots: the baseline of all others.
//!
//! Sources: RFC 5681, section 3.1 and 3.2, and RFC 3465 (slow start); RFC 3782,
//! section 3 (end of recovery).
//!
//! | parameter | default | |
//! |---|---|---|
//! | byte_counting | 0 | limit L of RFC 3465; 0 counts ACKs |
//! | growth | per-ack | 1/cwnd per ACK, as the papers and ns-2 |
//! | | per-segment | 1/cwnd per segment acknowledged: one segment a round also with delayed ACKs |
//! | | integer | cwnd + 1 after more than cwnd ACKs, counted whole, as Linux 2.2 |
//! | half_of | flight | `window`: half of cwnd, as ns-2 and Linux |
//! | whole_ssthresh | false | true: rounded down to whole segments, as ns-2 and Linux |
//!
//! Left open, and the reading chosen:
//! - RFC 5681 allows growth per ACK and per segment; the papers count ACKs. The
//!   counter of `integer` starts again at a loss and at a timeout.
//! - RFC 5681 halves bytes, so ssthresh may be a fraction of a segment; 21
//!   segments in flight give 10.5, and 10 with `whole_ssthresh`.
//! - QUIC counts what is acknowledged and halves cwnd (RFC 9002, appendices B.5 and B.6), whatever
//!   these parameters say.
//! - A timeout sets cwnd to 1 and never to the initial window (Marchese 2006,
//!   sec. 3.2, says both). The second timeout of a segment leaves ssthresh.

use super::SEGMENTS_OR_NONE;
use crate::declaration::{Control, Described, LossRecovery, TransportDefaults, of_slots};
use crate::hoe::HoeOff;
use crate::parameter::{flag, number, parameters, word, words};
use crate::slot::{CongestionAvoidance, LossReaction, Parts, SlowStart};
use crate::{Ack, Hoe, HostRules, Loss, RecoveryExit, Timeout, Window};
use bentpipe_units::Segments;

/// The control `newreno`.
pub(crate) fn newreno() -> Control<Parts<Standard, Reno, Halve, HoeOff>> {
    of_slots(Described {
        name: "newreno",
        on_linux: Some("reno-linux"),
        summary: "the baseline: one segment per ACK, then one per round trip, half at a loss",
        source: "RFC 5681, section 3.1; the recovery (RFC 6582, RFC 6675) is the transport's",
        open: "1/cwnd per ACK or per segment: per ACK, as the papers and ns-2; \
               ssthresh keeps its fraction of a segment",
        transport: TransportDefaults {
            summary: "fast recovery with partial ACKs, no SACK: the baseline of most papers",
            source: "RFC 5681, RFC 6582",
            recovery: Some(LossRecovery::NewReno),
            ..TransportDefaults::NEW
        },
        settles: true,
        ..Described::NEW
    })
}

parameters! {
    /// RFC 5681: one segment per ACK that advances; or appropriate byte counting
    /// (RFC 3465), where an ACK adds min(newly acknowledged, L) and stops at
    /// ssthresh. The papers, ns-2 and Linux 2.2 count ACKs.
    #[derive(Copy, Default)]
    pub struct Standard {
        byte_counting: f64 = number(0.0, "segments", SEGMENTS_OR_NONE),
            "limit L of appropriate byte counting (RFC 3465); 0 counts ACKs";
    }
}

fills! { Standard, "standard", "one segment per ACK (RFC 5681)",
    |parameters: Standard| parameters
}

impl SlowStart for Standard {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window, _: bool) {
        if self.byte_counting <= 0.0 {
            window.cwnd += 1.0;
            return;
        }
        // A stretch ACK must not carry the window far past ssthresh.
        let ceiling = window.ssthresh.max(window.cwnd + 1.0);
        window.cwnd = (window.cwnd + ack.acked.min(self.byte_counting)).min(ceiling);
    }

    fn apply_host_rules(&mut self, rules: HostRules) {
        if rules.counts_bytes {
            self.byte_counting = f64::INFINITY;
        }
    }
}

words! {
    /// What one segment per window means.
    pub enum Growth {
        /// 1/cwnd per ACK.
        PerAck = "per-ack",
        /// 1/cwnd per segment acknowledged.
        PerSegment = "per-segment",
        /// One segment after more than cwnd ACKs.
        Integer = "integer",
    }
}

parameters! {
    /// Settings of [`Reno`].
    pub struct RenoParameters {
        growth: Growth = word(),
            "1/cwnd per ACK, per segment acknowledged, or one segment after cwnd ACKs (Linux 2.2)";
    }
}

/// RFC 5681: one segment per window of ACKs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reno {
    /// How the window of ACKs is counted.
    pub growth: Growth,
    /// ACKs since the last step of [`Growth::Integer`].
    counter: Segments,
}

impl Reno {
    /// Reno with the given way of counting.
    #[must_use]
    pub const fn new(growth: Growth) -> Reno {
        Reno {
            growth,
            counter: 0.0,
        }
    }
}

fills! { Reno, "reno", "one segment per round trip (RFC 5681)",
    |parameters: RenoParameters| Reno::new(parameters.growth)
}

impl CongestionAvoidance for Reno {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window, _: Option<&Hoe>) {
        match self.growth {
            Growth::PerAck => window.cwnd += 1.0 / window.cwnd,
            // At most one segment, however much a stretch ACK covers.
            Growth::PerSegment => window.cwnd += (ack.acked / window.cwnd).min(1.0),
            Growth::Integer => {
                if self.counter >= window.cwnd {
                    window.cwnd += 1.0;
                    self.counter = 0.0;
                } else {
                    self.counter += 1.0;
                }
            }
        }
    }

    fn on_loss(&mut self, _: Segments) {
        self.counter = 0.0;
    }

    fn on_timeout(&mut self, _: Segments, _: bool) {
        self.counter = 0.0;
    }

    fn apply_host_rules(&mut self, rules: HostRules) {
        if rules.integer_avoidance {
            self.growth = Growth::Integer;
        }
        if rules.counts_bytes {
            self.growth = Growth::PerSegment;
        }
    }
}

words! {
    /// What is halved.
    pub enum HalfOf {
        /// The segments in flight (RFC 5681).
        Flight = "flight",
        /// cwnd (ns-2, Linux).
        Window = "window",
    }
}

parameters! {
    /// Settings of [`Halve`].
    pub struct HalveParameters {
        half_of: HalfOf = word(), "half of what: in flight (RFC 5681) or cwnd (ns-2)";
        whole_ssthresh: bool = flag(false), "round ssthresh down to whole segments (ns-2, Linux)";
    }
}

/// RFC 5681: ssthresh = max(flight / 2, 2).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Halve {
    /// The quantity that a loss halves.
    pub of: HalfOf,
    /// Round ssthresh down to whole segments.
    pub whole: bool,
    /// cwnd becomes the half itself, not ssthresh, and does not change at the end of recovery. Set
    /// by the host profile.
    pub exact: bool,
}

impl Halve {
    fn half(self, flight: Segments, window: &Window) -> Segments {
        match self.of {
            // Such a host reports the window in use.
            _ if self.exact => flight / 2.0,
            HalfOf::Flight => flight / 2.0,
            HalfOf::Window => window.cwnd / 2.0,
        }
    }

    fn ssthresh(self, half: Segments) -> Segments {
        (if self.whole { half.floor() } else { half }).max(2.0)
    }
}

fills! { Halve, "halve", "half of what is in flight (RFC 5681)",
    |parameters: HalveParameters| Halve {
        of: parameters.half_of,
        whole: parameters.whole_ssthresh,
        exact: false,
    }
}

impl LossReaction for Halve {
    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        let half = self.half(loss.flight, window);
        window.ssthresh = self.ssthresh(half);
        window.cwnd = if self.exact { half } else { window.ssthresh };
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        if timeout.first {
            window.ssthresh = self.ssthresh(self.half(timeout.flight, window));
        }
        window.cwnd = 1.0;
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        if self.exact {
            exit.leave_as_agent(window);
        } else {
            exit.leave(window.ssthresh, window);
        }
    }

    fn apply_host_rules(&mut self, rules: HostRules) {
        self.whole |= rules.whole_ssthresh;
        self.exact |= rules.exact_halves;
        if rules.halves_window {
            self.of = HalfOf::Window;
        }
    }
}
