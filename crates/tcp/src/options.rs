//! Independent settings of a transport: recovery, delayed acknowledgements, pacing.

use bentpipe_units::{Bytes, Duration};

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
    /// The same, and a retransmission counts as lost once three segments sent
    /// after it are selectively acknowledged; with the other forms it waits for
    /// the timer. ns-2's scoreboard can detect it (`CheckSndNxt`), and Linux does.
    SackRepeat,
    /// Losses found by time, with tail loss probes (RFC 8985), and a window that
    /// is reduced in proportion (RFC 9937), as in Linux 6. Only the profile
    /// `linux` has it, and no other with SACK.
    Rack,
    /// Forward acknowledgement: what lies three segments below the highest
    /// selectively acknowledged one is lost (Mathis & Mahdavi 1996).
    Fack,
    /// Negative acknowledgements of SCPS-TP (CCSDS 714.0-B): the receiver names
    /// what is missing, and the sender sends it again at once.
    Snack,
    /// Polls of the sender and status reports of the receiver, as the Satellite
    /// Transport Protocol has them. On hosts that run the stack of the RFCs.
    Stp,
}

impl Recovery {
    /// Every form, with the name that scenarios use.
    pub const ALL: [(&'static str, Recovery); 9] = [
        ("tahoe", Recovery::Tahoe),
        ("reno", Recovery::Reno),
        ("newreno", Recovery::NewReno),
        ("sack", Recovery::Sack),
        ("sack-repeat", Recovery::SackRepeat),
        ("rack", Recovery::Rack),
        ("fack", Recovery::Fack),
        ("snack", Recovery::Snack),
        ("stp", Recovery::Stp),
    ];

    /// The name that scenarios use.
    #[must_use]
    pub fn name(self) -> &'static str {
        let named = Self::ALL.iter().find(|(_, recovery)| *recovery == self);
        named.map_or("", |(name, _)| name)
    }

    /// True for the forms that need the SACK option.
    #[must_use]
    pub const fn uses_sack(self) -> bool {
        matches!(
            self,
            Recovery::Sack | Recovery::SackRepeat | Recovery::Rack | Recovery::Fack
        )
    }
}

/// How a sender polls its receiver, with [`Recovery::Stp`].
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Polling {
    /// Polls in a round trip.
    pub per_round_trip: f64,
    /// A poll follows this many data segments at the latest; `None`: polls are
    /// timed alone.
    pub segments: Option<u32>,
    /// A retransmission timeout without a status report sends everything again,
    /// as TCP's.
    pub timeout: bool,
}

impl Default for Polling {
    fn default() -> Polling {
        Polling {
            per_round_trip: 3.0,
            segments: None,
            timeout: false,
        }
    }
}

impl Polling {
    /// True for the default, which no hash of a scenario counts.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Polling::default()
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

/// Settings of a kernel of profile `linux`: what its build and its sysctls say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct KernelSettings {
    /// Time between two ticks of its clock, by which timers are late (`CONFIG_HZ`).
    pub tick: Duration,
    /// cwnd decays after idle times (`tcp_slow_start_after_idle`); where `None`, as the
    /// profile has it.
    pub restart_after_idle: Option<bool>,
    /// Tail losses are probed for (`tcp_early_retrans`).
    pub tail_loss_probes: bool,
    /// Segmentation offload (TSO, GSO) is switched off: segments leave one by one. Else they leave
    /// together where the way carries super-segments whole.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub single_segments: bool,
    /// The send buffer in bytes of memory (the third number of `tcp_wmem`); where `None`, the
    /// transport's send buffer counts payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_memory: Option<Bytes>,
    /// Room for headers that it counts for each segment when it sizes a send buffer
    /// (`MAX_TCP_HEADER`): 320 bytes where it has wireless networks, as those of distributions have,
    /// 256 bytes where it has none.
    #[serde(skip_serializing_if = "is_default_room")]
    pub header_room: u16,
}

/// True for what no hash of a scenario counts.
fn is_default_room(room: &u16) -> bool {
    *room == KernelSettings::DEFAULT.header_room
}

impl KernelSettings {
    /// Those of most distributions: 250 ticks a second, everything on.
    pub const DEFAULT: KernelSettings = KernelSettings {
        tick: Duration::from_millis(4),
        restart_after_idle: None,
        tail_loss_probes: true,
        single_segments: false,
        send_memory: None,
        header_room: 320,
    };

    /// True for the default, which no hash of a scenario counts.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == KernelSettings::DEFAULT
    }
}

impl Default for KernelSettings {
    fn default() -> KernelSettings {
        KernelSettings::DEFAULT
    }
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

/// What carries a transport's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum Protocol {
    /// TCP (RFC 9293).
    #[default]
    Tcp,
    /// QUIC (RFC 9000).
    Quic,
}

impl Protocol {
    /// Every value with its name.
    pub const ALL: [(&'static str, Protocol); 2] =
        [("tcp", Protocol::Tcp), ("quic", Protocol::Quic)];
}

/// What a client of QUIC or TLS has of an earlier connection to the same server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum Resumption {
    /// Nothing: the handshake has certificates.
    #[default]
    None,
    /// A session ticket (RFC 8446, section 2.2).
    OneRtt,
    /// A ticket, and data leave with the first flight (RFC 8446, section 2.3).
    ZeroRtt,
}

impl Resumption {
    /// Every value with its name.
    pub const ALL: [(&'static str, Resumption); 3] = [
        ("none", Resumption::None),
        ("1-rtt", Resumption::OneRtt),
        ("0-rtt", Resumption::ZeroRtt),
    ];
}

/// What protects the packets of a QUIC connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum Ciphers {
    /// Nothing: a session of TLS's lengths without its ciphers.
    #[default]
    None,
    /// TLS 1.3 with AES-128-GCM.
    Tls,
}

impl Ciphers {
    /// Every value with its name.
    pub const ALL: [(&'static str, Ciphers); 2] = [("none", Ciphers::None), ("tls", Ciphers::Tls)];

    fn is_none(&self) -> bool {
        *self == Ciphers::None
    }
}

/// The end that opens a connection of QUIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum Opener {
    /// The one that sends the data.
    #[default]
    From,
    /// The one that receives them, and that asks for them with the last packet of the handshake.
    To,
}

impl Opener {
    /// Every value with its name.
    pub const ALL: [(&'static str, Opener); 2] = [("from", Opener::From), ("to", Opener::To)];

    fn is_from(&self) -> bool {
        *self == Opener::From
    }
}

/// Settings of QUIC that differ from those that TCP has.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct QuicSettings {
    /// Payload of UDP in a full packet; `None`: 1200 bytes, and what path MTU discovery finds.
    pub mtu: Option<u32>,
    /// How packets are spaced; `None`: as quinn does, at 5/4 of the window in a round trip.
    pub pacing: Option<Pacing>,
    /// Packets that are acknowledged at once, and the longest delay, where the sender asks for
    /// another rule than the receiver's own.
    pub acks: Option<(u32, bentpipe_units::Duration)>,
    /// Packets are built and leave in batches of up to ten (GSO).
    pub batches: bool,
    /// What its client has of an earlier connection.
    pub resumption: Resumption,
    /// The receiver's limit at the start, which doubles whenever half of it has arrived until its
    /// buffer is a window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_receive_window: Option<Bytes>,
    /// The end that opens the connection.
    #[serde(skip_serializing_if = "Opener::is_from")]
    pub opener: Opener,
    /// What protects its packets.
    #[serde(skip_serializing_if = "Ciphers::is_none")]
    pub ciphers: Ciphers,
}

/// Keys of a transport that TCP has and QUIC has not.
pub const NOT_OF_QUIC: [&str; 10] = [
    "tls",
    "profile",
    "recovery",
    "timestamps",
    "limited_transmit",
    "recovery_fix",
    "undo",
    "minimum_rto",
    "polling",
    "buffers",
];
