//! The validated model of a scenario: everything that a run needs, already checked.

use crate::Document;
use bentpipe_link::medium::MediumSettings;
use bentpipe_link::{
    ArqSettings, JitterSettings, LinkConflict, LinkSettings, SlotSettings, Timeline, Way,
};
use bentpipe_middlebox::Ipsec;
use bentpipe_middlebox::split::SplitSettings;
use bentpipe_tcp::{Opener, Transport};
use bentpipe_traffic::Application;
use bentpipe_units::{Duration, Time};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Index of a node in [`Scenario::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct NodeId(pub u32);

/// Index of a link in [`Scenario::links`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct LinkId(pub u32);

/// Index of a medium in [`Scenario::media`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct MediumId(pub u32);

/// What a link does to the super-segments of hosts with segmentation offload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Offload {
    /// It carries packets of the wire.
    #[default]
    Segments,
    /// It queues, sends and loses a super-segment as one packet, where all links of a flow's way
    /// do and nothing in between looks at its packets.
    Whole,
}

impl Offload {
    /// Every value with its name.
    pub const ALL: [(&'static str, Offload); 2] =
        [("segments", Offload::Segments), ("whole", Offload::Whole)];

    /// True for the default, which no hash of a scenario counts.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Offload::default()
    }
}

/// A network, the flows that cross it, and for how long.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scenario {
    /// Short name, for results.
    #[serde(skip)]
    pub name: String,
    /// What it is about, in a sentence.
    #[serde(skip)]
    pub description: String,
    /// Simulated time after which the run ends, if its flows have not ended
    /// it before.
    pub duration: Duration,
    /// Seed of the run, unless the caller gives another.
    #[serde(skip)]
    pub seed: u64,
    /// All nodes, by index.
    pub nodes: Vec<Node>,
    /// The links, one per direction.
    pub links: Vec<Link>,
    /// Channels that several links share.
    pub media: Vec<Medium>,
    /// The flows, with their routes.
    pub flows: Vec<Flow>,
    /// Behaviour of a packet whose path leads over a link that is down.
    pub stranded: LinkDownPolicy,
    /// Middleboxes on nodes, which modify passing packets.
    pub middleboxes: Vec<Middlebox>,
    /// The split-connection PEPs, which end connections; [`Flow::split`] says
    /// what becomes of a flow.
    pub peps: Vec<SplitPep>,
    /// Limits on the resources of a run.
    pub limits: Limits,
    /// What it was read from.
    #[serde(skip)]
    pub kept: Kept,
}

/// The document that a scenario was read from, so that it can be written again with the
/// counted names, traces and constellations that the model spells out. It takes no part in
/// comparisons: two scenarios are the same whatever they were read from.
#[derive(Clone, Debug, Default)]
pub struct Kept(pub(crate) Option<Arc<Document>>);

impl PartialEq for Kept {
    fn eq(&self, _: &Kept) -> bool {
        true
    }
}

/// A host or router.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Its name in the file; `sender[3]` for the third of a counted node.
    pub name: String,
}

/// One direction between two nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Link {
    /// Its name in the file; the reverse direction is `NAME.reverse`.
    pub name: String,
    /// Node at which packets enter the link.
    pub from: NodeId,
    /// Node at which packets leave.
    pub to: NodeId,
    /// Its reverse direction; `None` for a link in one direction only.
    pub reverse: Option<LinkId>,
    /// Rate, delay, queue, channel and further settings. Links that are the same share them.
    pub settings: Arc<LinkSettings>,
    /// How rate, delay, loss and state change with time; the settings hold for
    /// ever, where `None`. Then the rate and the delay of the settings are
    /// those that routes, the ideal bound and automatic parameters go by.
    pub timeline: Option<Arc<Timeline>>,
    /// How it sends again what its channel loses; not at all, where `None`. A
    /// link with a timeline has none.
    pub arq: Option<Box<ArqSettings>>,
    /// How its delay varies from packet to packet; not at all, where `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Box<JitterSettings>>,
    /// Slots in which it is another path, the same for its other direction; none, where `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<Arc<SlotSettings>>,
    /// The medium that it shares: when its packets go is up to that. The rate
    /// and the delay in its settings are those of the medium.
    pub medium: Option<MediumId>,
    /// Its far end tells the receivers of flows which of their packets its
    /// channel destroyed (SCPS-TP listens).
    pub reports_corruption: bool,
    /// What it does to super-segments.
    #[serde(skip_serializing_if = "Offload::is_default")]
    pub offload: Offload,
}

impl Link {
    /// A link in one direction only, with nothing but its settings.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        [from, to]: [NodeId; 2],
        settings: impl Into<Arc<LinkSettings>>,
        timeline: Option<Arc<Timeline>>,
    ) -> Link {
        Link {
            name: name.into(),
            from,
            to,
            reverse: None,
            settings: settings.into(),
            timeline,
            arq: None,
            jitter: None,
            slots: None,
            medium: None,
            reports_corruption: false,
            offload: Offload::Segments,
        }
    }

    /// The name that both directions have in common, and which of them it is.
    #[must_use]
    pub fn way(&self) -> (&str, Way) {
        match self.name.strip_suffix(".reverse") {
            Some(forth) => (forth, Way::Back),
            None => (&self.name, Way::Forth),
        }
    }

    /// How it changes with time in the run with seed `seed`, for `length` from its start.
    #[must_use]
    pub fn course(&self, seed: u64, length: Duration) -> Option<Arc<Timeline>> {
        let Some(slots) = &self.slots else {
            return self.timeline.clone();
        };
        let below = match &self.timeline {
            Some(below) => Arc::clone(below),
            None => Arc::new(Timeline::steady(&self.settings)),
        };
        let (name, way) = self.way();
        Some(Arc::new(slots.over(&below, (way, length), seed, name)))
    }

    /// What it has and cannot have together.
    pub(crate) fn conflict(&self) -> Option<LinkConflict> {
        let timeline = self.timeline.as_deref();
        if self.slots.is_some() && self.medium.is_some() {
            return Some(LinkConflict::MediumAndTimeline);
        }
        self.settings
            .conflict(timeline, self.arq.is_some(), self.medium.is_some())
    }
}

/// What a packet does that has come to a link that is down, on a way that was
/// chosen when it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub enum LinkDownPolicy {
    /// It takes the link: by the link's own rule it is lost there or waits. As in ns-2, where
    /// packets in flight are not rerouted.
    #[default]
    Stays,
    /// It continues along the current route of its flow, if that leads through the node where it is
    /// and on over another link that is up. It stays on its way otherwise.
    Rerouted,
}

/// A flow takes other ways from some time on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RouteChange {
    /// From when on. Packets that were sent before keep their way.
    pub at: Time,
    /// Links from `from` to `to`; empty: there is no way, and what is sent is
    /// lost.
    pub forward: Vec<LinkId>,
    /// Links from `to` to `from`; empty: there is no way.
    pub reverse: Vec<LinkId>,
}

/// A channel that several links share, one for each terminal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Medium {
    /// Its name in the file.
    pub name: String,
    /// Its rate, delay and rule of access.
    pub settings: MediumSettings,
}

impl Scenario {
    /// The links that share a medium: its terminals, in their order.
    pub fn terminals(&self, medium: MediumId) -> impl Iterator<Item = LinkId> {
        let links = self.links.iter().zip(0..);
        links.filter_map(move |(link, i)| (link.medium == Some(medium)).then_some(LinkId(i)))
    }
}

/// One application over one transport between two nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flow {
    /// Its name in the file; `download[3]` for the third of a counted flow.
    pub name: String,
    /// The side that sends the data.
    pub from: NodeId,
    /// The side that receives it.
    pub to: NodeId,
    /// Its transport; `None` for datagrams. Flows that have the same share it.
    pub transport: Option<Arc<Transport>>,
    /// Its application.
    pub application: Application,
    /// Start of the application.
    pub start: Time,
    /// When its application stops offering data; never, where `None`.
    pub stop: Option<Time>,
    /// Whether a SYN exchange comes first, and counts in the transfer time.
    pub handshake: Handshake,
    /// The side that opens the connection looks the other's name up before, at a resolver beside it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dns: bool,
    /// Whose it is where the boxes of a gateway share a link among subscribers; its `to` node's
    /// where `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscriber: Option<String>,
    /// Links from `from` to `to`, in order; empty: no way at the start.
    pub forward: Vec<LinkId>,
    /// Links from `to` to `from`, in order.
    pub reverse: Vec<LinkId>,
    /// Other ways later on, in order of time.
    pub changes: Vec<RouteChange>,
    /// IPsec between its ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipsec: Option<Ipsec>,
    /// What it is made of where split-connection PEPs are on its way, which
    /// follows from the PEPs and the routes.
    #[serde(skip)]
    pub split: Option<Box<Split>>,
}

/// A flow through split-connection PEPs.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// Its connections, from `from` to `to`: one more than PEPs.
    pub legs: Vec<Leg>,
    /// The PEPs between them.
    pub peps: Vec<Pep>,
    /// The connection past them, which takes their place when one fails.
    pub bypass: Option<Leg>,
}

impl Split {
    /// The connections, that past the PEPs last.
    pub fn connections(&self) -> impl Iterator<Item = &Leg> {
        self.legs.iter().chain(&self.bypass)
    }
}

/// One of the connections of a split flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Leg {
    /// The end nearer to the flow's `from`.
    pub from: NodeId,
    /// The end nearer to the flow's `to`.
    pub to: NodeId,
    /// Its transport, at both ends.
    pub transport: Transport,
    /// Links from `from` to `to`, in order.
    pub forward: Vec<LinkId>,
    /// Links from `to` to `from`, in order.
    pub reverse: Vec<LinkId>,
    /// Other ways later on, in order of time.
    pub changes: Vec<RouteChange>,
    /// A stream of the association between the PEPs at its ends.
    pub tunnel: bool,
    /// The PEPs at its ends regulate it by grants at the rate of the link.
    pub grants: bool,
}

/// A split-connection PEP on a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SplitPep {
    /// Its name in the file.
    pub name: String,
    /// Node of the box.
    pub node: NodeId,
    /// The links that leave the node and that flows must cross, there or back,
    /// to be split; any where there is none. The leg on their side has the PEP's
    /// transport.
    pub toward: Vec<LinkId>,
    /// What it was told.
    pub settings: SplitSettings,
}

/// A split-connection PEP on the way of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Pep {
    /// The name of the middlebox.
    pub name: String,
    /// Its index in [`Scenario::peps`].
    pub pep_index: usize,
    /// What it was told.
    pub settings: SplitSettings,
}

/// A connection, or the way of datagrams, of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Connection<'a> {
    /// Index of the flow.
    pub flow: usize,
    /// Which leg of it; 0 where it is not split, one behind the last for the connection past its
    /// PEPs, and [`Connection::LOOKUP`] for the look-up of its name.
    pub leg: usize,
    /// The two end nodes.
    pub nodes: [NodeId; 2],
    /// Its transport; `None` for datagrams.
    pub transport: Option<&'a Transport>,
    /// Links of the forward path, in order.
    pub forward: &'a [LinkId],
    /// Links of the return path, in order.
    pub reverse: &'a [LinkId],
    /// Other ways later on, in order of time.
    pub changes: &'a [RouteChange],
}

impl Scenario {
    /// All connections: the first leg of each flow, in their order, then the further legs of those
    /// that are split, then the look-ups of names.
    pub fn connections(&self) -> impl Iterator<Item = Connection<'_>> {
        let first = self.flows.iter().enumerate().map(|(i, f)| f.leg(i, 0));
        let further = self.flows.iter().enumerate().flat_map(|(i, f)| {
            let legs = f.split.as_ref().map_or(1, |s| s.connections().count());
            (1..legs).map(move |leg| f.leg(i, leg))
        });
        let lookups = self.flows.iter().enumerate().filter(|(_, f)| f.dns);
        let lookups = lookups.map(|(i, f)| f.whole(i, Connection::LOOKUP, None));
        first.chain(further).chain(lookups)
    }
}

/// Whose a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Owner<'a> {
    Node(NodeId),
    Named(&'a str),
}

impl Scenario {
    /// By flow the number of its subscriber, among whom the boxes of a gateway share a link first:
    /// numbered from zero, in the order of the flows.
    #[must_use]
    pub fn subscribers(&self) -> Vec<u32> {
        let mut known = BTreeMap::new();
        let owners = self.flows.iter().map(|flow| match &flow.subscriber {
            Some(name) => Owner::Named(name),
            None => Owner::Node(flow.to),
        });
        owners
            .map(|owner| {
                let next = known.len() as u32;
                *known.entry(owner).or_insert(next)
            })
            .collect()
    }
}

impl Connection<'_> {
    /// The leg of the datagrams by which a flow looks a name up.
    pub const LOOKUP: usize = 1 << 20;
}

impl Flow {
    /// Leg `leg` of this flow, which is number `flow`.
    fn leg(&self, flow: usize, leg: usize) -> Connection<'_> {
        match self.split.as_ref().and_then(|s| s.connections().nth(leg)) {
            Some(l) => Connection {
                flow,
                leg,
                nodes: [l.from, l.to],
                transport: Some(&l.transport),
                forward: &l.forward,
                reverse: &l.reverse,
                changes: &l.changes,
            },
            None => self.whole(flow, leg, self.transport.as_deref()),
        }
    }

    /// The side that opens its connection, and looks a name up before: 0 is `from`.
    #[must_use]
    pub fn opener(&self) -> usize {
        let quic = self.transport.as_ref().and_then(|t| t.quic);
        match quic.map(|quic| quic.opener) {
            Some(Opener::To) => 1,
            _ => usize::from(self.application.asks()),
        }
    }

    /// A connection all the way.
    fn whole<'a>(
        &'a self,
        flow: usize,
        leg: usize,
        transport: Option<&'a Transport>,
    ) -> Connection<'a> {
        Connection {
            flow,
            leg,
            nodes: [self.from, self.to],
            transport,
            forward: &self.forward,
            reverse: &self.reverse,
            changes: &self.changes,
        }
    }
}

/// A box on a node, at the near end of a link or of several. It sees the packets that pass the node
/// into such a link, or out of its reverse direction. Packets of flows that begin or end at the
/// node do not pass it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Middlebox {
    /// Its name in the file.
    pub name: String,
    /// Node of the box.
    pub node: NodeId,
    /// The links that leave the node and whose far side it helps.
    pub toward: Vec<LinkId>,
    /// The ways back of those, in the same order.
    #[serde(skip)]
    pub back: Vec<LinkId>,
    /// Its kind, and the settings of that.
    pub settings: bentpipe_middlebox::Settings,
}

/// Handshake before the first data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub enum Handshake {
    /// A SYN exchange is simulated and counts in the transfer time.
    #[default]
    Counted,
    /// A SYN exchange is simulated; the transfer time starts with the first
    /// data segment.
    NotCounted,
    /// The connection exists when the flow starts.
    Skipped,
}

/// Bounds of a run. Hitting one is an error of that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Maximum number of events.
    pub events: u64,
    /// Packets alive at once.
    pub packets: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            events: 20_000_000_000,
            packets: 20_000_000,
        }
    }
}
