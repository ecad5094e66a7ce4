//! The declaration of a congestion control: one value next to the algorithm with its description,
//! its parameters, its constructor, and the other settings of the transport of the same name.

use crate::parameter::{ParameterSet, Reader, listed};
use crate::slot::{Fills, NamedSlots, Parts};
use crate::{BuildError, CongestionControl, Parameter};
use bentpipe_units::{Bytes, Duration, Segments};

/// What a congestion control is; lists of transports are ordered by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// The standards, and slots that replace a part of them.
    #[default]
    Standard,
    /// Controls that watch the queueing delay.
    Delay,
    /// Made for satellite links.
    Satellite,
    /// Made for large windows.
    LargeWindow,
    /// The kernel's controls of `bpf/`.
    Kernel,
    /// The modules of Linux.
    Linux,
    /// Controls that keep a model of the path.
    Model,
    /// Controls whose window or rate the network sets.
    Explicit,
    /// Controls that a user brings along.
    Own,
}

/// A named congestion control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Described {
    /// As scenarios write it.
    pub name: &'static str,
    /// One-line summary.
    pub summary: &'static str,
    /// Paper with section or equation, or RFC.
    pub source: &'static str,
    /// Points that the source leaves open, and the readings chosen.
    pub open: &'static str,
    /// The group under which `bentpipe transports` lists it.
    pub family: Family,
    /// The slots that it is made of; `None` where its parts share one state.
    pub slots: Option<NamedSlots>,
    /// The control that a transport of this name runs on the host profile
    /// `linux`: the kernel's own, which has the same name there. `None` where the
    /// kernel has none, or where this is it.
    pub on_linux: Option<&'static str>,
    /// The module of the Linux kernel whose behaviour this is.
    pub module: Option<&'static str>,
    /// What can be set: the parameters of its slots and of Hoe's estimate.
    pub parameters: &'static [Parameter],
    /// As long as nothing is lost or marked, its window and its rate follow from the
    /// acknowledgements of the last seconds: it draws nothing at random, and has no timer and no
    /// memory of ten seconds or more that could move them later.
    pub settles: bool,
    /// The transport of the same name.
    pub transport: TransportDefaults,
}

impl Described {
    /// Defaults of a declaration.
    pub(crate) const NEW: Described = Described {
        name: "",
        summary: "",
        source: "",
        open: "",
        family: Family::Standard,
        slots: None,
        on_linux: None,
        module: None,
        parameters: &[],
        settles: false,
        transport: TransportDefaults::NEW,
    };
}

/// How a transport repairs losses, if its congestion control requires it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossRecovery {
    /// Fast recovery with partial ACKs (RFC 6582).
    NewReno,
    /// Selective acknowledgements (RFC 6675).
    Sack,
    /// Selective acknowledgements that also find lost retransmissions.
    SackRepeat,
}

/// What the packets of a transport carry for routers on their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathHeader {
    /// No pacing: packets leave as the window allows.
    #[default]
    None,
    /// A congestion header (XCP).
    Congestion,
    /// Fields for propagation delay and available bandwidth (BA-TCP).
    Bandwidth,
}

/// Packets spaced by cwnd over the smoothed RTT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowPacing {
    /// So many times cwnd / smoothed RTT.
    pub gain: f64,
    /// Segments at the start that are not paced.
    pub initial_burst: u32,
}

/// How the receiver reports ECN marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnEcho {
    /// Every ACK from the first mark on carries the echo, until the sender says
    /// that it has reduced its window (RFC 3168, section 6.1.3).
    #[default]
    UntilReduced,
    /// An ACK carries the echo where what it covers was marked, and each change
    /// between marked and unmarked packets is acknowledged at once (RFC 8257,
    /// section 3.2).
    EachChange,
}

/// What the transport that is named after a congestion control has around it;
/// `None` leaves a setting to the host profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransportDefaults {
    /// What it is, in a line; empty: the summary of the congestion control.
    pub summary: &'static str,
    /// Its source; empty: that of the congestion control.
    pub source: &'static str,
    /// Initial window, segments.
    pub initial_window: Option<Segments>,
    /// How losses are repaired.
    pub recovery: Option<LossRecovery>,
    /// Send and receive buffer.
    pub buffers: Option<Bytes>,
    /// Longest delay of an ACK.
    pub ack_timer: Option<Duration>,
    /// Timestamps option.
    pub timestamps: Option<bool>,
    /// At the end of recovery cwnd is at most flight + 1 (RFC 3782).
    pub recovery_fix: Option<bool>,
    /// Undo of spurious retransmissions.
    pub undo: Option<bool>,
    /// Explicit congestion notification.
    pub ecn: Option<bool>,
    /// How the receiver reports ECN marks.
    pub ecn_echo: EcnEcho,
    /// Packet spacing.
    pub pacing: Option<WindowPacing>,
    /// It runs on the host profile `linux`.
    pub on_linux: bool,
    /// The header for routers that its packets carry.
    pub path_header: PathHeader,
}

impl TransportDefaults {
    /// A transport that leaves everything to the host profile.
    pub(crate) const NEW: TransportDefaults = TransportDefaults {
        summary: "",
        source: "",
        initial_window: None,
        recovery: None,
        buffers: None,
        ack_timer: None,
        timestamps: None,
        recovery_fix: None,
        undo: None,
        ecn: None,
        ecn_echo: EcnEcho::UntilReduced,
        pacing: None,
        on_linux: false,
        path_header: PathHeader::None,
    };
}

impl Default for TransportDefaults {
    fn default() -> TransportDefaults {
        TransportDefaults::NEW
    }
}

/// How something is built from the parameters that a scenario gives.
pub(crate) type Builder<T> = Box<dyn Fn(&Reader<'_>) -> Result<T, BuildError> + Send + Sync>;

/// A congestion control, described, with how one is built.
pub(crate) struct Control<T> {
    pub(crate) described: Described,
    pub(crate) build: Builder<T>,
}

impl<T: 'static> Control<T> {
    /// A control that `build` makes from its parameters.
    pub(crate) fn new<P: ParameterSet + 'static>(
        described: Described,
        build: fn(P) -> T,
    ) -> Control<T> {
        Control {
            described: Described {
                parameters: listed::<P>(),
                ..described
            },
            build: Box::new(move |reader| Ok(build(P::read(reader)?))),
        }
    }

    /// Conversion to a larger type.
    pub(crate) fn map<U>(self, into: impl Fn(T) -> U + Send + Sync + 'static) -> Control<U> {
        let build = self.build;
        Control {
            described: self.described,
            build: Box::new(move |reader| Ok(into(build(reader)?))),
        }
    }
}

/// A control made of three slots, with the setting `H` of Hoe's estimate.
pub(crate) fn of_slots<S, A, R, H>(described: Described) -> Control<Parts<S, A, R, H>>
where
    S: Fills + 'static,
    A: Fills + 'static,
    R: Fills + 'static,
    H: 'static,
    Parts<S, A, R, H>: ParameterSet,
{
    let slots = NamedSlots {
        start: S::NAME,
        avoidance: A::NAME,
        reaction: R::NAME,
    };
    let described = Described {
        slots: Some(slots),
        ..described
    };
    Control::new::<Parts<S, A, R, H>>(described, |parts| parts)
}

/// An algorithm whose parts share one state, under one or more names.
pub(crate) trait Algorithm: CongestionControl + Sized {
    /// Its names, each with its description and how it is built.
    fn controls() -> Vec<Control<Self>>;
}
