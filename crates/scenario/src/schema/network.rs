//! The top of a scenario, its limits and its nodes.

use super::{Key, Kind, LARGEST_COUNT, Presence, Section, key};

const TOP_KEYS: &[Key] = &[
    key(
        "name",
        Kind::Text,
        Presence::Default("the file's name"),
        "short name, for results",
    ),
    key(
        "description",
        Kind::Text,
        Presence::Default("empty"),
        "what it is about, in a sentence",
    ),
    key(
        "duration",
        Kind::Duration { zero: false },
        Presence::Required,
        "simulated time after which the run ends, if its flows have not ended it before",
    ),
    key(
        "seed",
        Kind::Integer {
            min: 0,
            max: u64::MAX,
        },
        Presence::Default("1"),
        "seed of the run, unless the command gives another",
    ),
    key(
        "stranded",
        Kind::OneOf(&["stays", "rerouted"]),
        Presence::Default("stays"),
        "a packet on its way that comes to a link that is down takes it all the same, or goes on \
         along the route that its flow has by then, if that leads through there",
    ),
    key(
        "limits",
        Kind::Table("limits"),
        Presence::Default("see there"),
        "what a run may use",
    ),
    key(
        "node",
        Kind::Table("node.NAME"),
        Presence::Required,
        "the nodes, one table each",
    ),
    key(
        "link",
        Kind::Table("link.NAME"),
        Presence::Required,
        "the links, one table each; none are needed where there is a constellation",
    ),
    key(
        "constellation",
        Kind::Table("constellation.NAME"),
        Presence::Default("none"),
        "constellations of satellites, one table each",
    ),
    key(
        "medium",
        Kind::Table("medium.NAME"),
        Presence::Default("none"),
        "channels that several links share, one table each",
    ),
    key(
        "transport",
        Kind::Table("transport.NAME"),
        Presence::Default("none"),
        "transports of the scenario's own, one table each",
    ),
    key(
        "flow",
        Kind::Table("flow.NAME"),
        Presence::Required,
        "the flows, one table each",
    ),
    key(
        "middlebox",
        Kind::Table("middlebox.NAME"),
        Presence::Default("none"),
        "boxes on nodes that touch packets, one table each",
    ),
];

pub(crate) static TOP: Section = Section {
    path: "",
    kind: None,
    meaning: "the scenario as a whole",
    keys: TOP_KEYS,
};

pub(crate) static LIMITS: Section = Section {
    path: "limits",
    kind: None,
    meaning: "what a run may use at most; hitting one is an error of that run",
    keys: &[
        key(
            "events",
            Kind::Integer {
                min: 1,
                max: u64::MAX,
            },
            Presence::Default("20000000000"),
            "events",
        ),
        key(
            "packets",
            Kind::Integer {
                min: 1,
                max: 4_000_000_000,
            },
            Presence::Default("20000000"),
            "packets alive at once",
        ),
    ],
};

pub(crate) static NODE: Section = Section {
    path: "node.NAME",
    kind: None,
    meaning: "a host or router",
    keys: &[
        key(
            "count",
            Kind::Integer {
                min: 1,
                max: LARGEST_COUNT,
            },
            Presence::Default("a single node without a number"),
            "this many of them, NAME[1] to NAME[count]",
        ),
        key(
            "terminal_of",
            Kind::Name("constellation"),
            Presence::Default("none"),
            "the constellation that it is a terminal of",
        ),
        key(
            "latitude",
            Kind::Number {
                min: -90.0,
                max: 90.0,
            },
            TERMINAL,
            "where a terminal stands, degrees north; negative: south",
        ),
        key(
            "longitude",
            Kind::Number {
                min: -180.0,
                max: 180.0,
            },
            TERMINAL,
            "where a terminal stands, degrees east; negative: west",
        ),
        key(
            "mask",
            Kind::Number {
                min: 0.0,
                max: 90.0,
            },
            AS_OTHERS,
            "degrees; this terminal uses satellites that stand higher than this",
        ),
        key(
            "up_rate",
            Kind::Rate,
            AS_OTHERS,
            "from this terminal to a satellite",
        ),
        key(
            "down_rate",
            Kind::Rate,
            AS_OTHERS,
            "from a satellite to this terminal",
        ),
    ],
};

const TERMINAL: Presence = Presence::Default("required of a terminal");
const AS_OTHERS: Presence = Presence::Default("the constellation's");
