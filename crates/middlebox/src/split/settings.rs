//! The settings of a split-connection PEP.

use bentpipe_tcp::Transport;
use bentpipe_units::{Bytes, Duration, Time};

/// When a PEP answers a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub enum Accept {
    /// The PEP answers the SYN at once.
    #[default]
    Early,
    /// When the onward leg is open; refused if that is refused.
    Late,
}

impl Accept {
    /// Both, with the names that scenarios use.
    pub const ALL: [(&'static str, Accept); 2] = [("early", Accept::Early), ("late", Accept::Late)];
}

/// What the relay buffer and the receive buffer have to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub enum Pool {
    /// Each has its own room.
    #[default]
    Separate,
    /// One room of [`SplitSettings::buffer`] for both: what the upstream sender
    /// may send, what waits, and what the onward leg has not acknowledged.
    Shared,
}

impl Pool {
    /// Both, with the names that scenarios use.
    pub const ALL: [(&'static str, Pool); 2] =
        [("separate", Pool::Separate), ("shared", Pool::Shared)];
}

/// How a PEP finds out whether there is another on the way of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub enum Discovery {
    /// It does not ask.
    #[default]
    None,
    /// By an option on the SYN, which the other PEP answers on the SYN-ACK.
    SynOption,
}

impl Discovery {
    /// Both, with the names that scenarios use.
    pub const ALL: [(&'static str, Discovery); 2] = [
        ("none", Discovery::None),
        ("syn-option", Discovery::SynOption),
    ];
}

/// What a PEP does with a connection on whose way it is the only one that
/// answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub enum Alone {
    /// It splits the connection nevertheless.
    #[default]
    Integrated,
    /// It lets the connection pass.
    EndToEnd,
}

impl Alone {
    /// Both, with the names that scenarios use.
    pub const ALL: [(&'static str, Alone); 2] = [
        ("integrated", Alone::Integrated),
        ("end-to-end", Alone::EndToEnd),
    ];
}

/// What the ends see of a PEP that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub enum Symptom {
    /// Its node runs on without the connections, and answers their packets with
    /// a RST.
    #[default]
    Reset,
    /// Packets of its connections vanish.
    Silence,
}

impl Symptom {
    /// Both, with the names that scenarios use.
    pub const ALL: [(&'static str, Symptom); 2] =
        [("reset", Symptom::Reset), ("silence", Symptom::Silence)];
}

/// What runs between two PEPs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub enum Tunnel {
    /// A connection for each that is split, with the transport of the leg.
    #[default]
    None,
    /// One QUIC association for all, as `bentpipe gateway` has it: each connection is a
    /// stream, and one sender at the known rate of the link serves all streams.
    Gateway,
}

/// Bytes of a stream that a box of the gateway holds, in each direction, unless it is
/// said.
pub const TUNNEL_BUFFER: Bytes = Bytes::new(16_000_000);

impl Tunnel {
    /// Both, with the names that scenarios use.
    pub const ALL: [(&'static str, Tunnel); 2] =
        [("none", Tunnel::None), ("gateway", Tunnel::Gateway)];
}

/// What the sender of a tunnel knows of the rate of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub enum KnownRate {
    /// Its timeline, as a modem reports it.
    #[default]
    Reported,
    /// The rate at the start, which is held against what the other box receives: nobody reports
    /// a change, as where the gateway's configuration has the rate.
    Verified,
}

impl KnownRate {
    /// Both, with the names that scenarios use.
    pub const ALL: [(&'static str, KnownRate); 2] = [
        ("reported", KnownRate::Reported),
        ("verified", KnownRate::Verified),
    ];
}

/// What decides how much is sent over the leg between two PEPs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub enum ProxyControl {
    /// The congestion window of the leg's transport.
    #[default]
    Window,
    /// Grants of the receiving PEP, and the known rate of the link (PETRA).
    Grants,
}

impl ProxyControl {
    /// Both, with the names that scenarios use.
    pub const ALL: [(&'static str, ProxyControl); 2] = [
        ("window", ProxyControl::Window),
        ("grants", ProxyControl::Grants),
    ];
}

/// A failure of a PEP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Failure {
    /// When it fails: what it holds is lost.
    pub at: Time,
    /// From when on it splits new connections again; never, where `None`.
    pub recovers: Option<Time>,
    /// What the ends see.
    pub symptom: Symptom,
    /// A host gives a connection up that has been silent for this long.
    pub gives_up: Duration,
}

impl Failure {
    /// True if the PEP splits no connection that begins at `start`.
    #[must_use]
    pub fn covers(&self, start: Time) -> bool {
        start >= self.at && self.recovers.is_none_or(|recovers| start < recovers)
    }
}

/// The settings of a split-connection PEP.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SplitSettings {
    /// Bytes that were relayed and that the onward leg has not acknowledged, at
    /// most, in each direction.
    pub buffer: Bytes,
    /// Bytes that have arrived and wait for the relay, at most, in each
    /// direction; as `buffer` where `None`. The largest window that the PEP
    /// advertises. Not used with [`Pool::Shared`].
    pub receive_buffer: Option<Bytes>,
    /// When a SYN is answered.
    pub accept: Accept,
    /// Whether the buffers share their room.
    pub pool: Pool,
    /// Transport of the leg that the PEP is there for; the flow's where `None`.
    pub transport: Option<Transport>,
    /// The flows that are split, by the names of their tables; all where empty.
    pub flows: Vec<String>,
    /// How it finds another PEP on the way.
    #[serde(skip_serializing_if = "is_default")]
    pub discovery: Discovery,
    /// What it does where it finds none.
    #[serde(skip_serializing_if = "is_default")]
    pub alone: Alone,
    /// The hosts confirm each so many bytes to each other above the connections;
    /// not at all, where `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirms: Option<Bytes>,
    /// What runs between it and the next PEP of the same kind.
    #[serde(skip_serializing_if = "is_default")]
    pub tunnel: Tunnel,
    /// With a tunnel: what its sender knows of the rate of the link.
    #[serde(skip_serializing_if = "is_default")]
    pub rate: KnownRate,
    /// What regulates the leg to the next PEP of the same kind, and from the one
    /// before.
    #[serde(skip_serializing_if = "is_default")]
    pub proxy_control: ProxyControl,
    /// With [`ProxyControl::Grants`]: bytes that it holds for its next leg, in each
    /// direction, with those that it has granted and that have not arrived; four
    /// bandwidth-delay products of the flow's way at the rate of the leg where `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog: Option<Bytes>,
    /// When and how it fails; never, where `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// True for what a scenario's hash leaves out.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for SplitSettings {
    fn default() -> SplitSettings {
        SplitSettings {
            buffer: Bytes::new(1_000_000),
            receive_buffer: None,
            accept: Accept::Early,
            pool: Pool::Separate,
            transport: None,
            flows: Vec::new(),
            discovery: Discovery::None,
            alone: Alone::Integrated,
            confirms: None,
            tunnel: Tunnel::None,
            rate: KnownRate::Reported,
            proxy_control: ProxyControl::Window,
            backlog: None,
            failure: None,
        }
    }
}

impl SplitSettings {
    /// When a SYN is answered. A PEP that looks for another waits for the answer
    /// to its option.
    #[must_use]
    pub fn accept(&self) -> Accept {
        match self.discovery {
            Discovery::None => self.accept,
            Discovery::SynOption => Accept::Late,
        }
    }

    /// The receive buffer of the PEP's endpoints.
    #[must_use]
    pub fn receive_buffer(&self) -> Bytes {
        match (self.pool, self.receive_buffer) {
            (Pool::Separate, Some(bytes)) => bytes,
            _ => self.buffer,
        }
    }
}
