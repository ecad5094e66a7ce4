//! A transport: a whole TCP endpoint's settings under one name.

use crate::packet::CONGESTION_HEADER_BYTES;
use crate::profile::{HostProfile, SenderRules};
use bentpipe_cc::{BuildError, Controller, HostRules, Parameters};
use bentpipe_units::{Bytes, Duration, Segments};

/// Which congestion control a transport runs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum CongestionControlChoice {
    /// A named, built-in combination.
    Named(String),
    /// Three slots by name.
    Slots {
        /// Slow start.
        start: String,
        /// Congestion avoidance.
        avoidance: String,
        /// Reaction to loss.
        reaction: String,
    },
    /// The analytic bound of Marchese 2006, section 4.3.1: no packets are
    /// simulated, the flow takes the time that the bottleneck's rate and one
    /// round trip need.
    Ideal,
}

/// How losses are found and repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Recovery {
    /// Three duplicate ACKs, then slow start from one segment; no fast
    /// recovery.
    Tahoe,
    /// Fast recovery that ends with the first new ACK (RFC 2581).
    Reno,
    /// Fast recovery with partial ACKs (RFC 6582).
    NewReno,
    /// Selective acknowledgements with pipe (RFC 6675).
    Sack,
    /// The same, and a retransmission is lost, too, once three segments sent
    /// after it are selectively acknowledged; elsewhere it waits for the timer.
    /// The scoreboard of ns-2 can tell (`CheckSndNxt`), and Linux does.
    SackRepeat,
    /// Losses found by time, with tail loss probes (RFC 8985), and a window that
    /// is reduced in proportion (RFC 9937), as Linux 6 has them.
    Rack,
    /// Forward acknowledgement: what lies three segments below the highest
    /// selectively acknowledged one is lost (Mathis & Mahdavi 1996).
    Fack,
    /// Negative acknowledgements of SCPS-TP (CCSDS 714.0-B): the receiver names
    /// what is missing, and the sender sends it again at once.
    Snack,
}

impl Recovery {
    /// Every form, with the name that scenarios use.
    pub const ALL: [(&'static str, Recovery); 8] = [
        ("tahoe", Recovery::Tahoe),
        ("reno", Recovery::Reno),
        ("newreno", Recovery::NewReno),
        ("sack", Recovery::Sack),
        ("sack-repeat", Recovery::SackRepeat),
        ("rack", Recovery::Rack),
        ("fack", Recovery::Fack),
        ("snack", Recovery::Snack),
    ];

    /// True for the forms that need the SACK option.
    #[must_use]
    pub const fn uses_sack(self) -> bool {
        matches!(
            self,
            Recovery::Sack | Recovery::SackRepeat | Recovery::Rack | Recovery::Fack
        )
    }
}

/// When a receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DelayedAck {
    /// One ACK per this many full segments; 1 acknowledges every segment.
    pub count: u32,
    /// At the latest after this time.
    pub timer: Duration,
    /// Segments at the start of a connection that are acknowledged at once.
    pub quick_acks: u32,
}

/// How the sender spaces its packets.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub enum Pacing {
    /// Packets leave as soon as the window allows.
    Off,
    /// Packets leave at `gain` x cwnd / smoothed RTT.
    Window {
        /// Factor on cwnd / RTT.
        gain: f64,
        /// Segments that leave at once at the start, before an RTT is known.
        initial_burst: u32,
    },
}

/// A whole TCP endpoint: congestion control, host profile, recovery, windows,
/// buffers and options.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Transport {
    /// The name under which results are listed.
    pub name: String,
    /// The algorithm that moves the window.
    pub congestion_control: CongestionControlChoice,
    /// Its parameters.
    pub parameters: Parameters,
    /// How the host behaves around it.
    pub profile: HostProfile,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Maximum segment size: payload bytes of a full packet.
    pub mss: u32,
    /// Initial window, segments.
    pub initial_window: Segments,
    /// Initial slow start threshold, segments; infinite where `None`.
    pub initial_ssthresh: Option<Segments>,
    /// Send buffer.
    pub send_buffer: Bytes,
    /// Receive buffer. The profile says which part of it is advertised.
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
    /// Packet spacing.
    pub pacing: Pacing,
    /// Explicit congestion notification (RFC 3168). It takes effect where a
    /// queue marks; drop-tail does not.
    pub ecn: bool,
    /// Smallest retransmission timeout; the profile's where `None`.
    pub minimum_rto: Option<Duration>,
}

impl Transport {
    /// Bytes of IP and TCP header of a data packet, with that of XCP where it
    /// carries one.
    #[must_use]
    pub fn header_bytes(&self) -> u32 {
        let base = if self.timestamps { 52 } else { 40 };
        if self.is_explicit() {
            base + CONGESTION_HEADER_BYTES
        } else {
            base
        }
    }

    /// True if packets carry congestion headers for routers (XCP).
    #[must_use]
    pub fn is_explicit(&self) -> bool {
        match &self.congestion_control {
            CongestionControlChoice::Named(name) => bentpipe_cc::needs_feedback(name),
            _ => false,
        }
    }
}

impl Transport {
    /// The congestion control of this transport, for one connection.
    ///
    /// # Errors
    /// When a name or parameter is unknown or out of range.
    pub fn controller(&self) -> Result<Controller, BuildError> {
        let rules = self.profile.rules();
        let mut controller = match &self.congestion_control {
            CongestionControlChoice::Named(name) => {
                bentpipe_cc::build(name, &self.parameters_on(rules.sender))?
            }
            CongestionControlChoice::Slots {
                start,
                avoidance,
                reaction,
            } => bentpipe_cc::build_slots(start, avoidance, reaction, &self.parameters)?.into(),
            // The bound never sends; whoever asks gets the baseline.
            CongestionControlChoice::Ideal => bentpipe_cc::build("newreno", &Parameters::new())?,
        };
        controller.apply_host_rules(HostRules {
            equality_is_slow_start: rules.equality_is_slow_start,
            integer_avoidance: rules.whole_segments,
            whole_ssthresh: rules.whole_segments || rules.sender != SenderRules::Rfc,
            exact_halves: rules.sender == SenderRules::Ns2Agent,
        });
        Ok(controller)
    }

    /// The parameters, with what a host of ns-2 takes unless somebody says
    /// otherwise: TCP/Linux's own modules, and a SYN that is a segment.
    fn parameters_on(&self, sender: SenderRules) -> Parameters {
        let mut parameters = self.parameters.clone();
        let known = |name: &str| self.congestion_control.knows(name);
        match sender {
            SenderRules::Ns2Linux if known("version") && parameters.get("version").is_none() => {
                parameters.set("version", "ns-2");
            }
            SenderRules::Ns2Agent
                if known("syn_is_segment") && parameters.get("syn_is_segment").is_none() =>
            {
                parameters.set("syn_is_segment", true);
            }
            _ => {}
        }
        parameters
    }
}
