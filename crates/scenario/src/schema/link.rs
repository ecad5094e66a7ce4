//! Links and their channels.

use super::jitter::JitterTable;
use super::protection::{ArqTable, CodingTable};
use super::queue::QueueTable;
use super::slots::SlotsTable;
use super::timeline::TimeKeys;
use crate::model::Offload;
use crate::queue_length::LinkContext;
use bentpipe_document::schema::{HEADER, Kind, SPAN, number};
use bentpipe_document::{Item, kinds, table};
use bentpipe_link::{ChannelSettings, LinkSettings};
use bentpipe_units::{Bytes, Duration, Rate, Ratio};

table! {
    /// the line of one direction; what it does not say is as forth, or follows from other keys
    pub(crate) LineKeys at "link.NAME", called "a direction of";
    /// transmission rate
    rate: Rate, or "required, but of a shared medium or with a `trace`; on the way back as forth";
    /// propagation delay
    one_way_delay: Duration, or "this or `round_trip_delay` is required, but with a `trace` of delays; \
                               on the way back as forth";
    /// the waiting room; the packet in transmission does not count
    queue: QueueTable, or "1000 packets; on the way back as forth";
    /// the loss process behind the transmitter
    channel: ChannelTable, or "perfect; on the way back as forth";
    /// bytes that framing adds to every packet on the wire
    framing: Bytes [HEADER], or "0 B; on the way back as forth";
    /// time that the preamble of a burst takes on the wire before every packet
    preamble: Duration, or "0 s; on the way back as forth";
    => [LinkContext<'_>] LinkSettings { rate, one_way_delay, queue, channel, framing, preamble }
        over |link| link.base.clone()
}

table! {
    /// what decides over the line of one direction
    pub(crate) AccessKeys at "link.NAME", called "a direction of";
    /// the round trip that `BDP` of the queue refers to
    bdp_round_trip: Duration [SPAN], or "the link's own round trip";
    /// the medium that this direction shares with others; its rate and delay are the link's
    medium: String [Kind::Name("medium")], or "none";
    /// forward error correction, which takes a share of the rate; instead of `channel`
    coding: CodingTable, or "none; on the way back as forth";
    /// the link sends again what its channel loses
    arq: ArqTable, or "none; on the way back as forth";
    /// the delay varies from packet to packet, and packets keep their order
    jitter: JitterTable, or "none; on the way back as forth";
}

table! {
    /// what a link is like in one direction
    pub(crate) DirectionKeys at "link.NAME", called "a direction of",
        with line: LineKeys, with access: AccessKeys, with time: TimeKeys;
}

table! {
    /// a pair of links, forth and back, between two nodes
    pub(crate) LinkTable at "link.NAME", named "link",
        example "[link.satellite]\nbetween = [\"gateway\", \"client\"]\nrate = \"2 Mbit/s\"\n\
                 round_trip_delay = \"511 ms\"\nqueue = \"1 BDP\"",
        with direction: DirectionKeys;
    /// the two nodes; a counted one makes a link for each of its nodes
    between: Item [Kind::Nodes(2)], required;
    /// propagation delay forth and back, split evenly; instead of `one_way_delay`
    round_trip_delay: Duration, or "twice `one_way_delay`";
    /// the far ends tell receivers which packets the channels destroyed; transports with
    /// recovery `snack`, and `pbs`, use it
    reports_corruption: bool, default false;
    /// whether the super-segments of hosts with `offload` are cut: `segments`, packets of the wire, as
    /// a modem takes them; `whole`, each queued, sent and lost as one packet, as veth and netem do
    offload: Offload { all Offload::ALL }, default "segments";
    /// both directions are another path every so often
    slots: SlotsTable, or "none";
    /// what differs on the way back, from the second node to the first
    reverse: ReverseTable, or "nothing";
}

table! {
    /// what differs on the way back, from the second node to the first
    pub(crate) ReverseTable at "link.NAME.reverse", called "the reverse of",
        example "[link.satellite.reverse]\nrate = \"256 kbit/s\"\nchannel = \"perfect\"",
        with direction: DirectionKeys;
}

kinds! {
    /// the loss process behind a transmitter
    pub(crate) ChannelTable at "link.NAME.channel", called "channel",
        makes ChannelSettings;
    /// nothing is lost
    Perfect "perfect", example "[link.satellite]\nchannel = \"perfect\"" {} => { ChannelSettings::Perfect }
    /// each packet is lost independently
    Uniform "uniform",
        example "[link.satellite]\nchannel = { kind = \"uniform\", packet_error_rate = \"1%\" }"
    {
        /// share of packets that are lost, in the long run
        packet_error_rate: Ratio, required;
    } => { ChannelSettings::Uniform { packet_error_rate } }
    /// each bit on the wire is wrong independently; a packet with one is lost
    BitErrors "bit-errors",
        example "[link.satellite]\nchannel = { kind = \"bit-errors\", bit_error_rate = 1e-7 }"
    {
        /// share of wrong bits, after any coding
        bit_error_rate: Ratio, required;
    } => { ChannelSettings::BitErrors { bit_error_rate } }
    /// losses come in bursts: two states, one step per packet
    GilbertElliott "gilbert-elliott",
        example "[link.satellite.channel]\nkind = \"gilbert-elliott\"\n\
                 packet_error_rate = 0.01\nmean_burst = 4"
    {
        /// share of packets that are lost, in the long run
        packet_error_rate: Ratio, required;
        /// mean number of packets in a loss burst
        mean_burst: f64 [number(1.0, 1e9)], required;
    } => { ChannelSettings::GilbertElliott { packet_error_rate, mean_burst } }
    /// losses come in bursts that last a time, whether packets come or not
    Bursts "bursts",
        example "[link.satellite.channel]\nkind = \"bursts\"\n\
                 packet_error_rate = \"5%\"\nmean_burst = \"200 ms\""
    {
        /// share of the time in which packets are lost, in the long run
        packet_error_rate: Ratio, required;
        /// mean length of a burst
        mean_burst: Duration, required;
    } => { ChannelSettings::Bursts { packet_error_rate, mean_burst } }
}
