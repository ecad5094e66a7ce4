//! Links, queues and channels.

use super::{Key, Kind, Presence, Section, key};

const RATE: &str = "transmission rate of each direction";
const QUEUE: &str = "the waiting room of each direction; the packet in transmission does not count";
const CHANNEL: &str = "the loss process behind each transmitter";
const FRAMING: &str = "bytes that framing adds to every packet on the wire";
const BDP: &str = "the round trip that `BDP` of the queue refers to";
const FRAMING_KIND: Kind = Kind::Size {
    min: 0,
    max: 65_535,
};
const SAME: Presence = Presence::Default("as forth");

const DEFAULT_QUEUE: Presence = Presence::Default("1000 packets");

pub(crate) static LINK: Section = Section {
    path: "link.NAME",
    kind: None,
    meaning: "a pair of links, forth and back, between two nodes",
    keys: &[
        key(
            "between",
            Kind::Nodes(2),
            Presence::Required,
            "the two nodes; a counted one makes a link for each of its nodes",
        ),
        key("rate", Kind::Rate, Presence::Required, RATE),
        key(
            "one_way_delay",
            Kind::Duration { zero: true },
            Presence::Required,
            "propagation delay of each direction; `round_trip_delay` says the same in other words",
        ),
        key(
            "round_trip_delay",
            Kind::Duration { zero: true },
            Presence::Default("twice one_way_delay"),
            "propagation delay forth and back, split evenly; instead of `one_way_delay`",
        ),
        key("queue", Kind::Queue, DEFAULT_QUEUE, QUEUE),
        key(
            "bdp_round_trip",
            Kind::Duration { zero: false },
            Presence::Default("the link's own round trip"),
            BDP,
        ),
        key(
            "channel",
            Kind::TableOrKind("link.NAME.channel"),
            Presence::Default("perfect"),
            CHANNEL,
        ),
        key("framing", FRAMING_KIND, Presence::Default("0 B"), FRAMING),
        key(
            "reverse",
            Kind::Table("link.NAME.reverse"),
            Presence::Default("as forth"),
            "what differs on the way back, from the second node to the first",
        ),
    ],
};

pub(crate) static REVERSE: Section = Section {
    path: "link.NAME.reverse",
    kind: None,
    meaning: "what differs on the way back, from the second node to the first",
    keys: &[
        key("rate", Kind::Rate, SAME, "transmission rate"),
        key(
            "one_way_delay",
            Kind::Duration { zero: true },
            SAME,
            "propagation delay",
        ),
        key("queue", Kind::Queue, SAME, "the waiting room"),
        key("bdp_round_trip", Kind::Duration { zero: false }, SAME, BDP),
        key(
            "channel",
            Kind::TableOrKind("link.NAME.channel"),
            SAME,
            "the loss process",
        ),
        key("framing", FRAMING_KIND, SAME, FRAMING),
    ],
};

const PER: Key = key(
    "packet_error_rate",
    Kind::Ratio,
    Presence::Required,
    "share of packets that are lost, in the long run",
);

pub(crate) static CHANNELS: [Section; 4] = [
    Section {
        path: "link.NAME.channel",
        kind: Some("perfect"),
        meaning: "nothing is lost",
        keys: &[],
    },
    Section {
        path: "link.NAME.channel",
        kind: Some("uniform"),
        meaning: "each packet is lost independently",
        keys: &[PER],
    },
    Section {
        path: "link.NAME.channel",
        kind: Some("bit-errors"),
        meaning: "each bit on the wire is wrong independently; a packet with one is lost",
        keys: &[key(
            "bit_error_rate",
            Kind::Ratio,
            Presence::Required,
            "share of wrong bits, after any coding",
        )],
    },
    Section {
        path: "link.NAME.channel",
        kind: Some("gilbert-elliott"),
        meaning: "losses come in bursts: two states, one step per packet",
        keys: &[
            PER,
            key(
                "mean_burst",
                Kind::Number { min: 1.0, max: 1e9 },
                Presence::Required,
                "mean number of packets in a loss burst",
            ),
        ],
    },
];
