//! The top of a scenario, its limits and its nodes.

use super::LARGEST_COUNT;
use super::constellation::ConstellationTable;
use super::control::ControlTable;
use super::flow::FlowTable;
use super::link::LinkTable;
use super::medium::MediumTable;
use super::middlebox::MiddleboxTable;
use super::transport::TransportTable;
use crate::model::{Limits, LinkDownPolicy};
use bentpipe_document::schema::{SPAN, integer, number};
use bentpipe_document::{Named, NamedKinds, table};
use bentpipe_units::{Duration, Rate};

table! {
    /// the scenario as a whole
    pub(crate) Top at "", called "the scenario",
        example "name = \"geo\"\nduration = \"300 s\"\nseed = 7";
    /// short name, for results
    name: String, or "the file's name";
    /// what it is about, in a sentence
    description: String, or "empty";
    /// simulated time after which the run ends, if its flows have not ended it before
    duration: Duration [SPAN], required;
    /// seed of the run, unless the command gives another
    seed: u64, default 1;
    /// a packet on its way that comes to a link that is down takes it all the same, or goes on
    /// along the route that its flow has by then, if that leads through there
    stranded: LinkDownPolicy {
        "stays" => LinkDownPolicy::Stays,
        "rerouted" => LinkDownPolicy::Rerouted,
    }, default "stays";
    /// what a run may use
    limits: LimitsTable, or "the limits of a usual run";
    /// the nodes, one table each
    node: Named<NodeTable>, or "at least one is needed";
    /// the links, one table each
    link: Named<LinkTable>, or "at least one is needed, unless there is a constellation";
    /// constellations of satellites, one table each
    constellation: NamedKinds<ConstellationTable>, or "none";
    /// channels that several links share, one table each
    medium: NamedKinds<MediumTable>, or "none";
    /// congestion controls of one's own, one table each
    control: Named<ControlTable>, or "none";
    /// transports of the scenario's own, one table each
    transport: Named<TransportTable>, or "none";
    /// the flows, one table each
    flow: Named<FlowTable>, or "at least one is needed";
    /// boxes on nodes that touch packets, one table each
    middlebox: NamedKinds<MiddleboxTable>, or "none";
}

table! {
    /// what a run may use at most; hitting one is an error of that run
    pub(crate) LimitsTable at "limits", called "the `limits` of",
        example "[limits]\npackets = 1_000_000";
    /// events
    events: u64 [integer(1, u64::MAX)], default 20e9;
    /// packets alive at once
    packets: u32 [integer(1, 4_000_000_000)], default 20_000_000;
    => [()] Limits { events, packets }
}

table! {
    /// a host or router
    pub(crate) NodeTable at "node.NAME", named "node",
        example "[node.users]\ncount = 20\n[link.users]\nbetween = [\"gateway\", \"users\"]\n\
                 rate = \"10 Mbit/s\"\none_way_delay = \"1 ms\"";
    /// this many of them, NAME[1] to NAME[count]
    count: u32 [integer(1, LARGEST_COUNT)], or "a single node without a number";
    /// the constellation that it is a terminal of
    terminal_of: String [bentpipe_document::schema::Kind::Name("constellation")], or "none";
    /// where a terminal stands: a city, such as `Berlin` or `Portland, Oregon`; a terminal has this,
    /// or `latitude` and `longitude`
    place: String [bentpipe_document::schema::Kind::Text], or "by `latitude` and `longitude`";
    /// where a terminal stands, degrees north; negative: south
    latitude: f64 [number(-90.0, 90.0)], or "by `place`";
    /// where a terminal stands, degrees east; negative: west
    longitude: f64 [number(-180.0, 180.0)], or "by `place`";
    /// degrees; this terminal uses satellites that stand higher than this
    mask: f64 [number(0.0, 90.0)], or "the constellation's";
    /// from this terminal to a satellite
    up_rate: Rate, or "the constellation's";
    /// from a satellite to this terminal
    down_rate: Rate, or "the constellation's";
}
