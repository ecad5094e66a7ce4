//! Host profiles: how a host's TCP behaves around its congestion control.

use crate::buffers::Buffers;
use crate::options::{DelayedAck, Recovery};
use bentpipe_units::Duration;

/// A host whose TCP is modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub enum HostProfile {
    /// The standards as written (RFC 5681, 6298, 6582, 6675, 7323).
    #[default]
    Rfc,
    /// The one-way agents of ns-2.35.
    Ns2,
    /// The agent TCP/Linux of ns-2.35, made for the modules of Linux 2.6.22
    /// (`reno-linux`, `hybla-linux`, ...).
    Ns2Linux,
    /// Linux 2.2, the platform of Marchese's test-bed.
    Linux22,
    /// Linux 2.4, the platform of Marchese's Westwood+.
    Linux24,
    /// Linux 6: RACK-TLP, PRR, quick and delayed ACKs as its kernels have them.
    Linux,
    /// A stream between two boxes of the gateway: QUIC's loss detection (RFC 9002)
    /// and a sender that all streams share. No scenario names it: PEPs with a
    /// tunnel have it ([`crate::Transport::of_tunnel`]).
    Quic,
}

/// How the retransmission timeout is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoRule {
    /// RFC 6298, section 2.
    Rfc6298,
    /// ns-2: scaled integers in ticks.
    Ns2,
    /// TCP/Linux of ns-2: the same, but a sample below the mean raises the
    /// deviation by an eighth only.
    Ns2Linux,
    /// Linux 2.2: 1.25 (srtt + 4 mdev) and more for small windows.
    Linux22,
    /// Linux since 2.4: RFC 6298 with the floor under the variance term, so
    /// that the timeout stays that much above the smoothed RTT.
    Linux,
    /// Linux 6: the same, but the deviation is the largest of a flight.
    Linux6,
    /// RFC 9002, section 6.2.1: smoothed RTT, four deviations and the largest delay
    /// of an acknowledgement.
    Quic,
}

/// The host stack of a profile: the code between an acknowledgement and the
/// congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackKind {
    /// The standards, with the changes that the other rules make.
    Rfc,
    /// The one-way agents of ns-2: Tahoe, Reno, Newreno, Sack1, Vegas.
    Ns2Agent,
    /// The agent TCP/Linux of ns-2.
    Ns2Linux,
    /// Linux 6, both halves; with a recovery without SACK only the receiving
    /// half.
    Linux,
    /// A stream between two boxes of the gateway.
    Quic,
}

impl StackKind {
    /// True for the agents of ns-2, whose connections have no three-way
    /// handshake and whose receivers are ns-2's sinks.
    #[must_use]
    pub const fn is_ns2(self) -> bool {
        matches!(self, StackKind::Ns2Agent | StackKind::Ns2Linux)
    }
}

/// The rules of a host profile, as the endpoint reads them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The sender and receiver that the host runs.
    pub stack: StackKind,
    /// The host repairs losses in its own way, whatever transport it runs: what a
    /// named transport suggests ([`crate::Suggested`]) gives way.
    pub decides_alone: bool,
    /// How the retransmission timeout follows from RTT samples.
    pub rto: RtoRule,
    /// Clock tick of RTT measurements and timers.
    pub tick: Duration,
    /// Lower bound of the retransmission timeout.
    pub minimum_rto: Duration,
    /// Upper bound of the retransmission timeout.
    pub maximum_rto: Duration,
    /// Retransmission timeout before the first RTT sample.
    pub initial_rto: Duration,
    /// The receive buffer is divided by this for the advertised window.
    pub receive_buffer_divisor: u64,
    /// Buffers that no layer sets have a default size; otherwise there are none.
    pub has_buffers: bool,
    /// That default size.
    pub buffers: Buffers,
    /// `cwnd <= ssthresh` is slow start.
    pub equality_is_slow_start: bool,
    /// The last segment is sent again once when nothing else can be (RFC 6675,
    /// NextSeg rule 4).
    pub rescues_tail: bool,
    /// The window keeps growing during recovery.
    pub grows_in_recovery: bool,
    /// The window grows even when the sender did not fill it.
    pub grows_when_application_limited: bool,
    /// A loss halves the window in use, min(cwnd, receive window), and not the
    /// flight.
    pub reduces_window: bool,
    /// Windows and thresholds are whole segments.
    pub whole_segments: bool,
    /// With SACK, too, recovery begins with cwnd = ssthresh + 3; it ends with
    /// cwnd = ssthresh only after more than three duplicate ACKs.
    pub inflates_with_sack: bool,
    /// cwnd falls back to the initial window after an idle RTO (RFC 5681,
    /// section 4.1).
    pub restart_after_idle: bool,
    /// When its receiver acknowledges, unless the transport says otherwise.
    pub delayed_ack: DelayedAck,
    /// Loss recovery, unless the transport says otherwise.
    pub recovery: Recovery,
    /// Default initial window, segments.
    pub initial_window: f64,
    /// Default for the timestamps option.
    pub timestamps: bool,
    /// Default for limited transmit.
    pub limited_transmit: bool,
    /// Default for the undo of spurious retransmissions.
    pub undo: bool,
    /// Default for the recovery fix.
    pub recovery_fix: bool,
}

impl HostProfile {
    /// Every profile of a host, with the name that scenarios use.
    pub const ALL: [(&'static str, HostProfile); 6] = [
        ("rfc", HostProfile::Rfc),
        ("ns-2", HostProfile::Ns2),
        ("ns-2-linux", HostProfile::Ns2Linux),
        ("linux-2.2", HostProfile::Linux22),
        ("linux-2.4", HostProfile::Linux24),
        ("linux", HostProfile::Linux),
    ];

    /// The name that scenarios use.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, p)| *p == self)
            .map_or("quic", |(n, _)| n)
    }

    /// True if the host has this recovery. RACK-TLP belongs to the stack of Linux
    /// 6, which has no other with SACK, and NewReno where SACK is switched off.
    #[must_use]
    pub const fn has(self, recovery: Recovery) -> bool {
        match (self, recovery) {
            (HostProfile::Linux, Recovery::Rack | Recovery::NewReno)
            | (HostProfile::Quic, Recovery::Sack) => true,
            (HostProfile::Quic, _) => false,
            (HostProfile::Linux, _) | (_, Recovery::Rack) => false,
            (HostProfile::Ns2 | HostProfile::Ns2Linux, Recovery::Stp) => false,
            _ => true,
        }
    }

    /// What the host runs where a transport is to have this recovery: SACK on
    /// Linux 6 is RACK-TLP.
    #[must_use]
    pub const fn runs(self, recovery: Recovery) -> Recovery {
        match (self, recovery) {
            (HostProfile::Linux, Recovery::Sack) => Recovery::Rack,
            _ => recovery,
        }
    }

    /// The rules of the profile, in one place for all endpoints.
    pub(crate) fn static_rules(self) -> &'static Rules {
        static RULES: [Rules; 7] = {
            let mut rules = [HostProfile::Quic.rules(); 7];
            let mut i = 0;
            while i < HostProfile::ALL.len() {
                rules[i] = HostProfile::ALL[i].1.rules();
                i += 1;
            }
            rules
        };
        &RULES[self as usize]
    }

    /// The rules of the profile.
    #[must_use]
    pub const fn rules(self) -> Rules {
        match self {
            HostProfile::Rfc => RFC,
            HostProfile::Ns2 => NS2,
            HostProfile::Ns2Linux => NS2_LINUX,
            HostProfile::Linux22 => LINUX_22,
            HostProfile::Linux24 => LINUX_24,
            HostProfile::Linux => LINUX,
            HostProfile::Quic => QUIC,
        }
    }
}

const RFC: Rules = Rules {
    stack: StackKind::Rfc,
    decides_alone: false,
    rto: RtoRule::Rfc6298,
    tick: Duration::from_millis(1),
    minimum_rto: Duration::from_secs(1),
    maximum_rto: Duration::from_secs(60),
    initial_rto: Duration::from_secs(1),
    receive_buffer_divisor: 1,
    has_buffers: true,
    buffers: Buffers::Ample,
    equality_is_slow_start: false,
    rescues_tail: true,
    grows_in_recovery: false,
    grows_when_application_limited: false,
    reduces_window: false,
    whole_segments: false,
    inflates_with_sack: false,
    restart_after_idle: true,
    delayed_ack: DelayedAck {
        count: 2,
        timer: Duration::from_millis(200),
        quick_acks: 0,
    },
    recovery: Recovery::Sack,
    initial_window: 10.0,
    timestamps: true,
    limited_transmit: true,
    undo: true,
    recovery_fix: true,
};

// ns-default.tcl of 2.35: tick_ 0.01, minrto_ 0.2, maxrto_ 60,
// rtxcur_init_ 3.0, windowInit_ 2, singledup_ 1, no timestamps.
const NS2: Rules = Rules {
    stack: StackKind::Ns2Agent,
    rescues_tail: false,
    rto: RtoRule::Ns2,
    tick: Duration::from_millis(10),
    minimum_rto: Duration::from_millis(200),
    initial_rto: Duration::from_secs(3),
    grows_when_application_limited: true,
    reduces_window: true,
    restart_after_idle: false,
    delayed_ack: DelayedAck {
        count: 1,
        timer: Duration::from_millis(100),
        quick_acks: 0,
    },
    initial_window: 2.0,
    timestamps: false,
    undo: false,
    recovery_fix: false,
    ..RFC
};

// Agent/TCP/Linux: maxrto_ 120, ticks of 1 ms with a module.
const NS2_LINUX: Rules = Rules {
    stack: StackKind::Ns2Linux,
    decides_alone: true,
    rto: RtoRule::Ns2Linux,
    has_buffers: false,
    tick: Duration::from_millis(1),
    maximum_rto: Duration::from_secs(120),
    timestamps: true,
    ..NS2
};

// HZ = 100; tcp_input.c 1.164.2.8 for RTO, growth and hole
// filling; half of the receive buffer by Marchese 2006, sec. 2.1.
const LINUX_22: Rules = Rules {
    decides_alone: true,
    rescues_tail: false,
    rto: RtoRule::Linux22,
    tick: Duration::from_millis(10),
    minimum_rto: Duration::from_millis(200),
    maximum_rto: Duration::from_secs(120),
    initial_rto: Duration::from_secs(3),
    receive_buffer_divisor: 2,
    equality_is_slow_start: true,
    grows_in_recovery: true,
    reduces_window: true,
    whole_segments: true,
    inflates_with_sack: true,
    restart_after_idle: false,
    delayed_ack: DelayedAck {
        count: 2,
        timer: Duration::from_millis(40),
        quick_acks: 1,
    },
    recovery: Recovery::Fack,
    initial_window: 2.0,
    limited_transmit: false,
    undo: false,
    recovery_fix: false,
    ..RFC
};

const LINUX_24: Rules = Rules {
    decides_alone: true,
    rescues_tail: false,
    rto: RtoRule::Linux,
    tick: Duration::from_millis(10),
    minimum_rto: Duration::from_millis(200),
    maximum_rto: Duration::from_secs(120),
    initial_rto: Duration::from_secs(3),
    delayed_ack: DelayedAck {
        count: 2,
        timer: Duration::from_millis(40),
        // tcp_incr_quickack: rcv_wnd / 2 MSS, and the first window is
        // four segments (tcp_select_initial_window).
        quick_acks: 2,
    },
    recovery: Recovery::Fack,
    initial_window: 3.0,
    ..RFC
};

// include/net/tcp.h; the ACK timer is the largest delay, which the
// receiver works out below it.
const LINUX: Rules = Rules {
    buffers: Buffers::STOCK,
    stack: StackKind::Linux,
    decides_alone: true,
    rto: RtoRule::Linux6,
    minimum_rto: Duration::from_millis(200),
    maximum_rto: Duration::from_secs(120),
    reduces_window: true,
    delayed_ack: DelayedAck {
        count: 2,
        timer: Duration::from_millis(200),
        quick_acks: 16,
    },
    recovery: Recovery::Rack,
    recovery_fix: false,
    ..RFC
};

// RFC 9002, sections 5.3 and 6.2; an acknowledgement for every tenth packet, at once where one is
// missing, and after max_ack_delay of 25 ms at the latest. Timestamps replace the packet numbers
// that make every RTT sample unambiguous; they take no bytes.
const QUIC: Rules = Rules {
    stack: StackKind::Quic,
    decides_alone: true,
    rto: RtoRule::Quic,
    minimum_rto: Duration::from_millis(1),
    delayed_ack: DelayedAck {
        count: 10,
        timer: MAX_ACK_DELAY,
        quick_acks: 0,
    },
    limited_transmit: false,
    undo: false,
    recovery_fix: false,
    ..RFC
};

/// The largest delay of an acknowledgement in QUIC, by default.
pub(crate) const MAX_ACK_DELAY: Duration = Duration::from_millis(25);
