//! A transport: a whole TCP endpoint's settings under one name.

use crate::catalogue::TransportSettings;
use crate::options::{
    DelayedAck, KernelSettings, Pacing, Polling, QuicSettings, Recovery, Resumption,
};
use crate::packet::CONGESTION_HEADER_BYTES;
use crate::profile::{HostProfile, StackKind};
use bentpipe_cc::{
    BuildError, Controller, Described, EcnEcho, HostRules, OwnControl, Parameters, PathHeader,
};
use bentpipe_units::{Bytes, Duration, Segments};

/// The congestion control of a transport.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum CongestionControlChoice {
    /// A named, built-in combination.
    Named(String),
    /// A control that a user brought along, in the version that the name stood
    /// for when it was resolved.
    Own(OwnControl),
    /// Three slots by name.
    Slots {
        /// Name of the slow-start slot.
        start: String,
        /// Name of the congestion-avoidance slot.
        avoidance: String,
        /// Name of the slot that reacts to loss.
        reaction: String,
    },
    /// The analytic bound of Marchese 2006, section 4.3.1: no packets are
    /// simulated, the flow takes the time that the bottleneck's rate and one
    /// round trip need.
    Ideal,
}

impl CongestionControlChoice {
    /// The control that a name currently denotes: a registered one, or a built-in one.
    #[must_use]
    pub fn named(name: &str) -> CongestionControlChoice {
        match bentpipe_cc::own::find(name) {
            Some(control) => CongestionControlChoice::Own(control),
            None => CongestionControlChoice::Named(name.to_owned()),
        }
    }

    /// Properties of a named control.
    #[must_use]
    pub fn described(&self) -> Option<&'static Described> {
        match self {
            CongestionControlChoice::Named(name) => bentpipe_cc::find(name),
            CongestionControlChoice::Own(control) => Some(control.described()),
            CongestionControlChoice::Slots { .. } | CongestionControlChoice::Ideal => None,
        }
    }
}

/// A whole TCP endpoint: congestion control, host profile, recovery, windows,
/// buffers and options.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Transport {
    /// The name under which results are listed.
    pub name: String,
    /// The algorithm that moves the window.
    pub congestion_control: CongestionControlChoice,
    /// Parameters of the congestion control.
    pub parameters: Parameters,
    /// How the host behaves around it.
    pub profile: HostProfile,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Maximum segment size: payload bytes of a full packet.
    pub mss: u32,
    /// Initial window in segments.
    pub initial_window: Segments,
    /// Initial slow start threshold, segments; infinite where `None`.
    pub initial_ssthresh: Option<Segments>,
    /// Send buffer, bytes.
    pub send_buffer: Bytes,
    /// Receive buffer. The profile determines the advertised part.
    pub receive_buffer: Bytes,
    /// Acknowledgement rule of the receiver.
    pub delayed_ack: DelayedAck,
    /// Timestamps option (RFC 7323): 12 bytes a packet.
    pub timestamps: bool,
    /// New segments on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// At the end of recovery cwnd is at most flight + 1 (RFC 3782).
    pub recovery_fix: bool,
    /// Detect and undo spurious retransmissions (RFC 3522, RFC 3708).
    pub undo: bool,
    /// How packets are spaced over a round trip.
    pub pacing: Pacing,
    /// Explicit congestion notification (RFC 3168). It takes effect where a
    /// queue marks; drop-tail does not.
    pub ecn: bool,
    /// Smallest retransmission timeout; the profile's where `None`.
    pub minimum_rto: Option<Duration>,
    /// How the sender polls its receiver, with [`Recovery::Stp`].
    #[serde(skip_serializing_if = "Polling::is_default")]
    pub polling: Polling,
    /// Settings of QUIC, where that carries the data and not TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quic: Option<QuicSettings>,
    /// TLS 1.3 between TCP and the data, and what its client has of an earlier connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<Resumption>,
    /// Settings of the kernel, on profile `linux`.
    #[serde(skip_serializing_if = "KernelSettings::is_default")]
    pub kernel: KernelSettings,
}

/// Bytes around the payload of a stream between two boxes of the gateway: IPv4 20,
/// UDP 8, a short header of 11 (1, a connection id of 8, a packet number of 2), the
/// tag of the encryption 16 (RFC 9001, section 5.3), and the header of a STREAM frame 5
/// that fills its packet (type, stream id of 2, offset of 2; RFC 9000, section 19.8).
pub const TUNNEL_HEADER: u32 = 20 + 8 + 11 + 16 + 5;

/// No limit of appropriate byte counting.
const SEGMENTS_COUNTED: f64 = 1e6;

/// Bytes at the IP layer of the longest packet between two boxes of the gateway.
pub const TUNNEL_PACKET: u32 = 1480;

/// Why a transport cannot run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TransportError {
    /// The congestion control cannot be built.
    CongestionControl(BuildError),
    /// The host profile has no such recovery ([`HostProfile::has`]).
    Recovery {
        /// Name of the host profile.
        profile: &'static str,
        /// Name of the recovery.
        recovery: &'static str,
    },
    /// The host has no bytes towards the sender, which TLS needs.
    OneWay {
        /// Name of the host profile.
        profile: &'static str,
    },
    /// Only profile `linux` has this.
    NotLinux {
        /// Name of the host profile.
        profile: &'static str,
        /// The key that asks for it.
        key: &'static str,
    },
}

impl TransportError {
    /// The key of a transport's table that the error is about; empty where it
    /// is about no single one.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            TransportError::CongestionControl(BuildError::BadValue { parameter, .. }) => parameter,
            TransportError::CongestionControl(_) => "",
            TransportError::Recovery { .. } => "recovery",
            TransportError::OneWay { .. } => "tls",
            TransportError::NotLinux { key, .. } => key,
        }
    }
}

impl std::fmt::Display for TransportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TransportError::CongestionControl(error) => error.fmt(f),
            TransportError::Recovery {
                profile,
                recovery: "rack",
            } => write!(
                f,
                "profile `{profile}` has no recovery `rack`, which is part of the \
                 Linux stack: expected profile `linux`, or another recovery"
            ),
            TransportError::Recovery {
                profile,
                recovery: "stp",
            } => write!(
                f,
                "profile `{profile}` has no recovery `stp`, which is built on the stack \
                 of the RFCs: expected profile `rfc`, or another recovery"
            ),
            TransportError::Recovery { profile, recovery } => write!(
                f,
                "profile `{profile}` has no recovery `{recovery}`: its stack has `rack`, and \
                 `newreno` where SACK is switched off"
            ),
            TransportError::OneWay { profile } => write!(
                f,
                "the agents of ns-2 send data one way, and TLS needs both: expected profile `rfc` \
                 or `linux`, and this transport has profile `{profile}`"
            ),
            TransportError::NotLinux { profile, key } => write!(
                f,
                "`{key}` expects profile `linux`, and this transport has profile `{profile}`"
            ),
        }
    }
}

impl std::error::Error for TransportError {}

impl From<BuildError> for TransportError {
    fn from(error: BuildError) -> TransportError {
        TransportError::CongestionControl(error)
    }
}

impl Transport {
    /// The transport of a stream between two boxes of the gateway, which knows the rate
    /// of the link and shares one sender with all other streams.
    #[must_use]
    pub fn of_tunnel() -> Transport {
        let settings = TransportSettings {
            congestion_control: Some(CongestionControlChoice::Named(
                "complete-knowledge".to_owned(),
            )),
            profile: Some(HostProfile::Quic),
            mss: Some(TUNNEL_PACKET - TUNNEL_HEADER),
            ..TransportSettings::default()
        };
        settings.resolve("gateway")
    }

    /// Bytes of IP and TCP header of a data packet, with that for routers where it
    /// carries one.
    #[must_use]
    pub fn header_bytes(&self) -> u32 {
        if self.profile == HostProfile::Quic || self.quic.is_some() {
            return TUNNEL_HEADER;
        }
        let base = if self.timestamps { 52 } else { 40 };
        if self.is_explicit() {
            base + CONGESTION_HEADER_BYTES
        } else {
            base
        }
    }

    /// How its receivers report ECN marks.
    pub(crate) fn ecn_echo(&self) -> EcnEcho {
        let control = self.congestion_control.described();
        control.map_or(EcnEcho::default(), |control| control.transport.ecn_echo)
    }

    /// The header for routers that packets carry.
    #[must_use]
    pub fn path_header(&self) -> PathHeader {
        let control = self.congestion_control.described();
        control.map_or(PathHeader::None, |control| control.transport.path_header)
    }

    /// True if packets carry a header for routers (XCP, BA-TCP).
    #[must_use]
    pub fn is_explicit(&self) -> bool {
        self.path_header() != PathHeader::None
    }
}

impl Transport {
    /// Lets `bytes` of payload be unacknowledged, however much memory they take.
    pub fn set_send_buffer(&mut self, bytes: Bytes) {
        self.send_buffer = bytes;
        self.kernel.send_memory = None;
    }

    /// The congestion control of this transport, for one connection.
    ///
    /// # Errors
    /// When a name or parameter is unknown or out of range, or when the host
    /// profile has no such recovery.
    pub fn controller(&self) -> Result<Controller, TransportError> {
        let rules = self.profile.rules();
        if !self.profile.has(self.profile.runs(self.recovery)) {
            return Err(TransportError::Recovery {
                profile: self.profile.name(),
                recovery: self.recovery.name(),
            });
        }
        if rules.stack != StackKind::Linux && self.kernel.send_memory.is_some() {
            return Err(TransportError::NotLinux {
                profile: self.profile.name(),
                key: "buffers",
            });
        }
        let mut controller = match &self.congestion_control {
            CongestionControlChoice::Named(name) => {
                bentpipe_cc::build(name, &self.parameters_on(rules.stack))?
            }
            CongestionControlChoice::Own(control) => control.build(&self.parameters)?,
            CongestionControlChoice::Slots {
                start,
                avoidance,
                reaction,
            } => bentpipe_cc::build_slots(start, avoidance, reaction, &self.parameters)?.into(),
            // The bound never sends; this is the baseline.
            CongestionControlChoice::Ideal => bentpipe_cc::build("newreno", &Parameters::new())?,
        };
        controller.apply_host_rules(HostRules {
            equality_is_slow_start: rules.equality_is_slow_start,
            integer_avoidance: rules.whole_segments,
            whole_ssthresh: rules.whole_segments || rules.stack != StackKind::Rfc,
            exact_halves: rules.stack == StackKind::Ns2Agent,
            spaces_packets: self.pacing != Pacing::Off,
            ..HostRules::default()
        });
        Ok(controller)
    }

    /// The parameters, with the defaults of a host of ns-2 where they are not
    /// set: TCP/Linux's own modules, and a SYN that is a segment.
    fn parameters_on(&self, stack: StackKind) -> Parameters {
        let mut parameters = self.parameters.clone();
        if self.quic.is_some()
            && self.congestion_control.knows("byte_counting")
            && parameters.get("byte_counting").is_none()
        {
            // RFC 9002, section 7.3.1: the window grows by what is acknowledged.
            parameters.set("byte_counting", SEGMENTS_COUNTED);
        }
        let known = |name: &str| self.congestion_control.knows(name);
        match stack {
            StackKind::Ns2Linux if known("version") && parameters.get("version").is_none() => {
                parameters.set("version", "ns-2");
            }
            StackKind::Ns2Agent
                if known("syn_is_segment") && parameters.get("syn_is_segment").is_none() =>
            {
                parameters.set("syn_is_segment", true);
            }
            _ => {}
        }
        parameters
    }
}
