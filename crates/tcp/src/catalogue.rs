//! Ready-made transports by name, and how settings become a transport.
//!
//! Four layers decide each setting; the first that specifies it wins:
//!
//! 1. the settings of a scenario's transport,
//! 2. what makes up the named transport itself: its congestion control with
//!    parameters and pacing, MTSI's initial window of 6 and buffers, the recovery
//!    of those that are a recovery (`tahoe`, `fack`, `scps-tp`),
//! 3. what the named transport only suggests ([`Suggested`]: the recovery of
//!    `newreno`, timestamps of `hybla`), unless the host has its own stack
//!    ([`crate::Rules::decides_alone`]),
//! 4. the rules of the host profile (an acknowledgement per two segments).
//!
//! So the profile alone chooses the stack: `sack`, `newreno` and `hybla` on the
//! profile `linux` all run RACK-TLP. On `rfc` and `ns-2` the suggestions hold; on
//! `ns-2` they choose among its agents (Newreno, Sack1). A recovery that a profile
//! does not have is refused ([`HostProfile::has`]).
//!
//! The default profile is `rfc`. Buffers that no layer sets are so large that they
//! do not bind.

mod named;

pub use named::{
    NamedTransport, check_name, find_transport, nearest_transport, register_control, transports,
};

use crate::profile::StackKind;
use crate::{
    Buffers, Ciphers, CongestionControlChoice, DelayedAck, HostProfile, KernelSettings, Opener,
    Pacing, Polling, Protocol, QuicSettings, Recovery, Resumption, Transport, TransportError,
};
use bentpipe_cc::Parameters;
use bentpipe_units::{Bytes, Duration, Segments};

/// Default buffer of a transport: 16 MB, more than the bandwidth-delay product of 200 Mbit/s x 0.6
/// s.
pub const DEFAULT_BUFFER: Bytes = Bytes::new(16_000_000);

/// The buffers of a host that has none: the largest window that can be advertised.
const UNBOUNDED_BUFFER: Bytes = Bytes::new(1 << 30);

/// The `max_ack_delay` of a QUIC receiver that does not say (RFC 9000, section 18.2).
const QUIC_ACK_DELAY: Duration = Duration::from_millis(25);

/// Headers of a QUIC packet within UDP.
fn full_header(transport: &Transport) -> u32 {
    transport.header_bytes() - 28
}

/// Size of a full packet at the IP layer where no MSS is set.
pub const DEFAULT_PACKET: u32 = 1500;

/// Settings of a transport of which each may be left to the layer below.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransportSettings {
    /// The algorithm that moves the window; `newreno` where no layer says.
    pub congestion_control: Option<CongestionControlChoice>,
    /// The control that runs in its place on the host profile `linux`: the
    /// kernel's own of the same name. A layer that names a congestion control
    /// itself gets that one on every profile.
    pub on_linux: Option<&'static str>,
    /// Its parameters. They belong to the algorithm of this layer or, where it
    /// names none, of the layer below.
    pub parameters: Parameters,
    /// How the host behaves around it.
    pub profile: Option<HostProfile>,
    /// How losses are repaired.
    pub recovery: Option<Recovery>,
    /// Maximum segment size; where no layer says, what fills a packet of
    /// [`DEFAULT_PACKET`] bytes: 1448 with timestamps, 1460 without.
    pub mss: Option<u32>,
    /// Initial window in segments.
    pub initial_window: Option<Segments>,
    /// Initial slow start threshold, segments, which may be infinite.
    pub initial_ssthresh: Option<Segments>,
    /// Send buffer, bytes; limits the data in flight.
    pub send_buffer: Option<Bytes>,
    /// Receive buffer, bytes; the profile determines the advertised part.
    pub receive_buffer: Option<Bytes>,
    /// Full segments per ACK.
    pub ack_count: Option<u32>,
    /// Longest delay of an ACK.
    pub ack_timer: Option<Duration>,
    /// Segments at the start that are acknowledged at once.
    pub quick_acks: Option<u32>,
    /// Whether segments carry RFC 7323 timestamps.
    pub timestamps: Option<bool>,
    /// Whether the first two duplicate ACKs release new segments (RFC 3042).
    pub limited_transmit: Option<bool>,
    /// Whether the window after recovery is at most flight + 1 (RFC 3782).
    pub recovery_fix: Option<bool>,
    /// Undo of spurious retransmissions.
    pub undo: Option<bool>,
    /// How packets are spaced over a round trip.
    pub pacing: Option<Pacing>,
    /// Whether the connection negotiates ECN.
    pub ecn: Option<bool>,
    /// Lower bound of the retransmission timeout.
    pub minimum_rto: Option<Duration>,
    /// Settings that a host with its own stack overrides.
    pub suggested: Suggested,
    /// How an STP sender polls its receiver.
    pub polling: Option<Polling>,
    /// The buffers that are not given, on profile `linux`.
    pub buffers: Option<Buffers>,
    /// Whether segments leave together as segmentation offload sends them: so on profile `linux`
    /// where no layer says.
    pub offload: Option<bool>,
    /// What carries the data: TCP where no layer says.
    pub protocol: Option<Protocol>,
    /// Whether TLS 1.3 is between TCP and the data: no where no layer says.
    pub tls: Option<bool>,
    /// What a client of QUIC or TLS has of an earlier connection.
    pub resumption: Option<Resumption>,
    /// The end that opens a connection of QUIC: the sender where no layer says.
    pub opener: Option<Opener>,
    /// What protects the packets of QUIC: nothing where no layer says.
    pub ciphers: Option<Ciphers>,
    /// What a receiver of QUIC has room for at the start: its buffer where no layer says.
    pub initial_receive_window: Option<Bytes>,
}

/// Settings that a named transport comes with and that are not what it is: the
/// host's own take their place where its profile decides alone
/// ([`crate::Rules::decides_alone`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Suggested {
    /// How losses are repaired.
    pub recovery: Option<Recovery>,
    /// Whether segments carry RFC 7323 timestamps.
    pub timestamps: Option<bool>,
    /// Whether the window after recovery is at most flight + 1 (RFC 3782).
    pub recovery_fix: Option<bool>,
    /// Undo of spurious retransmissions.
    pub undo: Option<bool>,
    /// Packet spacing; only the kernel's controls do without it.
    pub pacing: Option<Pacing>,
}

impl Suggested {
    fn over(self, below: Suggested) -> Suggested {
        Suggested {
            recovery: self.recovery.or(below.recovery),
            timestamps: self.timestamps.or(below.timestamps),
            recovery_fix: self.recovery_fix.or(below.recovery_fix),
            undo: self.undo.or(below.undo),
            pacing: self.pacing.or(below.pacing),
        }
    }
}

impl TransportSettings {
    /// These settings, completed by those of `below`.
    ///
    /// Parameters are merged name by name; those of `below` are dropped where
    /// this layer chooses another congestion control that does not have them.
    #[must_use]
    pub fn over(self, below: TransportSettings) -> TransportSettings {
        let changed = self.congestion_control.is_some();
        let congestion_control = self.congestion_control.or(below.congestion_control);
        let mut parameters = below.parameters;
        if let (true, Some(choice)) = (changed, &congestion_control) {
            let unknown: Vec<String> = parameters
                .iter()
                .filter(|(name, _)| !choice.knows(name))
                .map(|(name, _)| name.to_string())
                .collect();
            for name in unknown {
                parameters.remove(&name);
            }
        }
        for (name, value) in self.parameters.iter() {
            parameters.set(name, value.clone());
        }
        TransportSettings {
            on_linux: if changed {
                self.on_linux
            } else {
                below.on_linux
            },
            congestion_control,
            parameters,
            profile: self.profile.or(below.profile),
            recovery: self.recovery.or(below.recovery),
            mss: self.mss.or(below.mss),
            initial_window: self.initial_window.or(below.initial_window),
            initial_ssthresh: self.initial_ssthresh.or(below.initial_ssthresh),
            send_buffer: self.send_buffer.or(below.send_buffer),
            receive_buffer: self.receive_buffer.or(below.receive_buffer),
            ack_count: self.ack_count.or(below.ack_count),
            ack_timer: self.ack_timer.or(below.ack_timer),
            quick_acks: self.quick_acks.or(below.quick_acks),
            timestamps: self.timestamps.or(below.timestamps),
            limited_transmit: self.limited_transmit.or(below.limited_transmit),
            recovery_fix: self.recovery_fix.or(below.recovery_fix),
            undo: self.undo.or(below.undo),
            pacing: self.pacing.or(below.pacing),
            ecn: self.ecn.or(below.ecn),
            minimum_rto: self.minimum_rto.or(below.minimum_rto),
            suggested: self.suggested.over(below.suggested),
            polling: self.polling.or(below.polling),
            offload: self.offload.or(below.offload),
            protocol: self.protocol.or(below.protocol),
            tls: self.tls.or(below.tls),
            resumption: self.resumption.or(below.resumption),
            opener: self.opener.or(below.opener),
            ciphers: self.ciphers.or(below.ciphers),
            initial_receive_window: self.initial_receive_window.or(below.initial_receive_window),
            buffers: self.buffers.or(below.buffers),
        }
    }

    /// The congestion control that runs under these settings and their profile.
    #[must_use]
    pub fn control(&self) -> CongestionControlChoice {
        match self.kernels() {
            Some(name) => CongestionControlChoice::Named(name.to_owned()),
            None => self
                .congestion_control
                .clone()
                .unwrap_or_else(|| CongestionControlChoice::Named("newreno".to_owned())),
        }
    }

    /// The kernel's control, where the profile runs it in place of the named one.
    fn kernels(&self) -> Option<&'static str> {
        self.on_linux
            .filter(|_| self.profile == Some(HostProfile::Linux))
    }

    /// Whether these settings make a transport that can run, under `name`.
    ///
    /// # Errors
    /// As [`Transport::controller`], and where they ask for offload or TLS on a profile without it.
    pub fn check(&self, name: &str) -> Result<(), TransportError> {
        let profile = self.profile.unwrap_or_default();
        let is_quic = self.protocol == Some(Protocol::Quic);
        if self.offload == Some(true) && !is_quic && profile.rules().stack != StackKind::Linux {
            return Err(TransportError::NotLinux {
                profile: profile.name(),
                key: "offload",
            });
        }
        if self.tls == Some(true) && !is_quic && profile.rules().stack.is_ns2() {
            return Err(TransportError::OneWay {
                profile: profile.name(),
            });
        }
        self.clone().resolve(name).controller().map(|_| ())
    }

    /// The transport that these settings and the rules of their profile make.
    #[must_use]
    pub fn resolve(self, name: impl Into<String>) -> Transport {
        let profile = self.profile.unwrap_or_default();
        let rules = profile.rules();
        let congestion_control = self.control();
        // The kernel's controls do not space packets by the window.
        let spacing = match self.kernels() {
            Some(_) => None,
            None => self.suggested.pacing,
        };
        let suggested = if rules.decides_alone {
            Suggested::default()
        } else {
            self.suggested
        };
        let timestamps = self.timestamps.or(suggested.timestamps);
        let recovery = self.recovery.or(suggested.recovery);
        let recovery_fix = self.recovery_fix.or(suggested.recovery_fix);
        let undo = self.undo.or(suggested.undo);
        let stock_window = self.buffers.unwrap_or(rules.buffers).stock_window();
        let stock_memory = stock_window.map(|_| Buffers::STOCK_MEMORY);
        let quic = (self.protocol == Some(Protocol::Quic)).then(|| QuicSettings {
            mtu: self.mss,
            pacing: self.pacing,
            acks: (self.ack_count.is_some() || self.ack_timer.is_some()).then(|| {
                let delay = self.ack_timer.unwrap_or(QUIC_ACK_DELAY);
                (self.ack_count.unwrap_or(2), delay)
            }),
            batches: self.offload != Some(false),
            resumption: self.resumption.unwrap_or_default(),
            initial_receive_window: self.initial_receive_window,
            opener: self.opener.unwrap_or_default(),
            ciphers: self.ciphers.unwrap_or_default(),
        });
        let tls = self.tls == Some(true) && quic.is_none();
        let mut transport = Transport {
            quic,
            tls: tls.then(|| self.resumption.unwrap_or_default()),
            name: name.into(),
            congestion_control,
            parameters: self.parameters,
            profile,
            recovery: recovery.map_or(rules.recovery, |recovery| profile.runs(recovery)),
            mss: 0,
            initial_window: self.initial_window.unwrap_or(match quic {
                // RFC 9002, section 7.2.
                Some(_) => 10.0,
                None => rules.initial_window,
            }),
            initial_ssthresh: self.initial_ssthresh.filter(|s| s.is_finite()),
            send_buffer: self.send_buffer.or(stock_memory).unwrap_or(DEFAULT_BUFFER),
            receive_buffer: self
                .receive_buffer
                .or(stock_window)
                .unwrap_or(DEFAULT_BUFFER),
            delayed_ack: DelayedAck {
                count: self.ack_count.unwrap_or(rules.delayed_ack.count),
                timer: self.ack_timer.unwrap_or(rules.delayed_ack.timer),
                quick_acks: self.quick_acks.unwrap_or(rules.delayed_ack.quick_acks),
            },
            timestamps: timestamps.unwrap_or(rules.timestamps),
            limited_transmit: self.limited_transmit.unwrap_or(rules.limited_transmit),
            recovery_fix: recovery_fix.unwrap_or(rules.recovery_fix),
            undo: undo.unwrap_or(rules.undo),
            pacing: self.pacing.or(spacing).unwrap_or(Pacing::Off),
            ecn: self.ecn.unwrap_or(false),
            minimum_rto: self.minimum_rto,
            polling: self.polling.unwrap_or_default(),
            kernel: KernelSettings {
                single_segments: self.offload == Some(false),
                send_memory: stock_memory.filter(|_| self.send_buffer.is_none()),
                ..KernelSettings::DEFAULT
            },
        };
        let full = DEFAULT_PACKET - transport.header_bytes();
        transport.mss = match (self.mss, quic) {
            (Some(payload), Some(_)) => payload.saturating_sub(full_header(&transport)).max(1),
            (Some(mss), None) => mss,
            (None, _) => full,
        };
        if !rules.has_buffers && self.send_buffer.is_none() && self.receive_buffer.is_none() {
            transport.send_buffer = UNBOUNDED_BUFFER;
            transport.receive_buffer = UNBOUNDED_BUFFER;
            let window = DEFAULT_BUFFER.get() / u64::from(transport.mss.max(1));
            transport.initial_ssthresh = transport.initial_ssthresh.or(Some(window as f64));
        }
        transport
    }
}

impl CongestionControlChoice {
    /// True if it has a parameter of that name.
    #[must_use]
    pub fn knows(&self, parameter: &str) -> bool {
        self.described_parameters().any(|p| p.name == parameter)
    }

    /// The parameters that it takes; a name may come more than once.
    pub fn described_parameters(&self) -> impl Iterator<Item = &'static bentpipe_cc::Parameter> {
        use bentpipe_cc::{SlotKind, slots};
        let slot = |kind: SlotKind, name: &str| {
            slots(kind)
                .iter()
                .find(|s| s.name == name)
                .map_or(&[][..], |s| s.parameters)
        };
        let lists = match self {
            CongestionControlChoice::Named(_) | CongestionControlChoice::Own(_) => [
                self.described().map_or(&[][..], |d| d.parameters),
                &[],
                &[],
                &[],
            ],
            CongestionControlChoice::Slots {
                start,
                avoidance,
                reaction,
            } => [
                slot(SlotKind::Start, start),
                slot(SlotKind::Avoidance, avoidance),
                slot(SlotKind::Reaction, reaction),
                hoe(),
            ],
            CongestionControlChoice::Ideal => [&[][..]; 4],
        };
        lists.into_iter().flatten()
    }
}

/// Hoe's estimate, which every combination of slots takes.
fn hoe() -> &'static [bentpipe_cc::Parameter] {
    let newreno = bentpipe_cc::find("newreno").map_or(&[][..], |d| d.parameters);
    match newreno.iter().position(|p| p.name == "hoe") {
        Some(at) => &newreno[at..=at],
        None => &[],
    }
}

#[cfg(test)]
mod tests;
