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
const REPEAT: &str = "what changes does so again and again, every this long";
const WHEN_DOWN: &str = "while the link is down, what is sent is lost, or the transmitter waits and \
                         the queue holds what comes";
const IN_FLIGHT: &str = "what becomes of packets that propagate when the link goes down or its \
                         `route` changes";
const SAME: Presence = Presence::Default("as forth");

const DEFAULT_QUEUE: Presence = Presence::Default("1000 packets");

const MEDIUM: Key = key(
    "medium",
    Kind::Name("medium"),
    Presence::Default("none"),
    "the medium that this direction shares with others; its rate and delay are the link's",
);

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
        MEDIUM,
        key(
            "coding",
            Kind::TableOrKind("link.NAME.coding"),
            Presence::Default("none"),
            "forward error correction, which takes a share of the rate; instead of `channel`",
        ),
        key(
            "arq",
            Kind::TableOrKind("link.NAME.arq"),
            Presence::Default("none"),
            "the link sends again what its channel loses",
        ),
        key(
            "timeline",
            Kind::Tables("link.NAME.timeline"),
            Presence::Default("nothing changes"),
            "what changes with time, in pieces",
        ),
        key(
            "trace",
            Kind::Table("link.NAME.trace"),
            Presence::Default("none"),
            "a file that says what changes, instead of `timeline`",
        ),
        key(
            "fade",
            Kind::Table("link.NAME.fade"),
            Presence::Default("none"),
            "a rain fade against which the coding is adapted, instead of `timeline`",
        ),
        key(
            "repeat",
            Kind::Duration { zero: false },
            Presence::Default("the last piece stays"),
            REPEAT,
        ),
        key(
            "when_down",
            Kind::OneOf(&["lost", "waits"]),
            Presence::Default("lost"),
            WHEN_DOWN,
        ),
        key(
            "in_flight",
            Kind::OneOf(&["delivered", "lost"]),
            Presence::Default("delivered"),
            IN_FLIGHT,
        ),
        key(
            "reports_corruption",
            Kind::Boolean,
            Presence::Default("false"),
            "the far ends tell receivers which packets the channels destroyed; transports with \
             recovery `snack` listen",
        ),
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
        key(
            "coding",
            Kind::TableOrKind("link.NAME.coding"),
            SAME,
            "forward error correction, which takes a share of the rate; instead of `channel`",
        ),
        key(
            "arq",
            Kind::TableOrKind("link.NAME.arq"),
            SAME,
            "the link sends again what its channel loses",
        ),
        key(
            "timeline",
            Kind::Tables("link.NAME.timeline"),
            SAME,
            "what changes with time, in pieces",
        ),
        key(
            "trace",
            Kind::Table("link.NAME.trace"),
            SAME,
            "a file that says what changes, instead of `timeline`",
        ),
        key(
            "fade",
            Kind::Table("link.NAME.fade"),
            SAME,
            "a rain fade against which the coding is adapted, instead of `timeline`",
        ),
        key("repeat", Kind::Duration { zero: false }, SAME, REPEAT),
        key(
            "when_down",
            Kind::OneOf(&["lost", "waits"]),
            SAME,
            WHEN_DOWN,
        ),
        key(
            "in_flight",
            Kind::OneOf(&["delivered", "lost"]),
            SAME,
            IN_FLIGHT,
        ),
        MEDIUM,
    ],
};

const STAYS: Presence = Presence::Default("as before");

const OWN_LOSSES: [Key; 2] = [
    key(
        "packet_error_rate",
        Kind::Ratio,
        STAYS,
        "share of packets that are lost, instead of what the channel loses",
    ),
    key(
        "bit_error_rate",
        Kind::Ratio,
        STAYS,
        "share of wrong bits, instead of what the channel loses",
    ),
];

pub(crate) static TIMELINE: Section = Section {
    path: "link.NAME.timeline",
    kind: None,
    meaning: "what the link is like from some time on; what is not written stays as it was",
    keys: &[
        key(
            "at",
            Kind::Duration { zero: true },
            Presence::Required,
            "from when on; with `repeat`, since the start of the period",
        ),
        key("rate", Kind::Rate, STAYS, "transmission rate"),
        key(
            "one_way_delay",
            Kind::Duration { zero: true },
            STAYS,
            "propagation delay at `at`",
        ),
        key(
            "linear",
            Kind::Boolean,
            Presence::Default("false"),
            "the delay goes in a straight line to that of the next piece",
        ),
        OWN_LOSSES[0],
        OWN_LOSSES[1],
        key(
            "up",
            Kind::Boolean,
            STAYS,
            "false while the link is down; true at the start",
        ),
        key(
            "route",
            Kind::Integer {
                min: 0,
                max: u32::MAX as u64,
            },
            STAYS,
            "number of the route that the link stands for; only where it changes may packets \
             overtake. 0 at the start",
        ),
    ],
};

pub(crate) static TRACE: Section = Section {
    path: "link.NAME.trace",
    kind: None,
    meaning: "a trace of a link in the format of an emulator; `bentpipe trace` writes them",
    keys: &[
        key(
            "file",
            Kind::Text,
            Presence::Required,
            "its path, relative to the scenario",
        ),
        key(
            "format",
            Kind::OneOf(&["mahimahi", "theaterq"]),
            Presence::Required,
            "mahimahi: delivery opportunities instead of the rate; theaterq: rate, delay, loss \
             and route",
        ),
        key(
            "wraps",
            Kind::Boolean,
            Presence::Default("true"),
            "it begins again after its end",
        ),
    ],
};

pub(crate) static FADE: Section = Section {
    path: "link.NAME.fade",
    kind: None,
    meaning: "an attenuation that rises in a straight line, stays and falls",
    keys: &[
        key(
            "depth_db",
            DECIBELS,
            Presence::Required,
            "greatest attenuation, dB",
        ),
        key(
            "begins",
            Kind::Duration { zero: true },
            Presence::Required,
            "when it begins; with `repeat`, since the start of the period",
        ),
        key(
            "slope",
            Kind::Duration { zero: true },
            Presence::Required,
            "how long it rises, and falls",
        ),
        key(
            "stays",
            Kind::Duration { zero: true },
            Presence::Default("0 s"),
            "how long it stays at `depth_db`",
        ),
        key(
            "coding",
            Kind::Tables("link.NAME.fade.coding"),
            Presence::Required,
            "the codings, by what they stand; beyond the last one the link is down",
        ),
    ],
};

const DECIBELS: Kind = Kind::Number {
    min: 0.001,
    max: 200.0,
};

pub(crate) static CODING: Section = Section {
    path: "link.NAME.fade.coding",
    kind: None,
    meaning: "a coding and modulation that stands some attenuation",
    keys: &[
        key(
            "up_to_db",
            DECIBELS,
            Presence::Required,
            "it is used up to this attenuation, dB",
        ),
        key(
            "rate",
            Kind::Rate,
            Presence::Default("the link's"),
            "rate on the channel",
        ),
        key(
            "code_rate",
            Kind::Ratio,
            Presence::Default("1"),
            "share of `rate` that is left for packets",
        ),
        key(
            "packet_error_rate",
            Kind::Ratio,
            AS_CHANNEL,
            "share of packets that are lost",
        ),
        key(
            "bit_error_rate",
            Kind::Ratio,
            AS_CHANNEL,
            "share of wrong bits",
        ),
    ],
};

const AS_CHANNEL: Presence = Presence::Default("as the channel");

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

const CODE_RATE: Key = key(
    "code_rate",
    Kind::Ratio,
    Presence::Required,
    "share of the rate that is left for packets",
);

const RAW: Key = key(
    "raw_bit_error_rate",
    Kind::Ratio,
    Presence::Required,
    "share of wrong bits on the channel, before decoding",
);

const BITS: Kind = Kind::Integer {
    min: 1,
    max: 65_535,
};

pub(crate) static CODINGS: [Section; 5] = [
    Section {
        path: "link.NAME.coding",
        kind: Some("none"),
        meaning: "no code",
        keys: &[],
    },
    Section {
        path: "link.NAME.coding",
        kind: Some("marchese"),
        meaning: "the code of the ITALSAT test bed: rate 1/2, raw 1e-2, 1e-8 after decoding",
        keys: &[],
    },
    Section {
        path: "link.NAME.coding",
        kind: Some("given"),
        meaning: "a code whose bit error rate after decoding is known",
        keys: &[
            CODE_RATE,
            key(
                "bit_error_rate",
                Kind::Ratio,
                Presence::Required,
                "share of wrong bits after decoding",
            ),
        ],
    },
    Section {
        path: "link.NAME.coding",
        kind: Some("block"),
        meaning: "a block code decided hard; the bit error rate after decoding is the usual bound",
        keys: &[
            key("n", BITS, Presence::Required, "bits of a code word"),
            key("k", BITS, Presence::Required, "bits of data in it"),
            key(
                "t",
                Kind::Integer {
                    min: 0,
                    max: 65_535,
                },
                Presence::Required,
                "wrong bits in a word that are corrected",
            ),
            RAW,
        ],
    },
    Section {
        path: "link.NAME.coding",
        kind: Some("table"),
        meaning: "a code by points, with straight lines of the logarithms between them",
        keys: &[
            CODE_RATE,
            RAW,
            key(
                "points",
                Kind::Tables("link.NAME.coding.points"),
                Presence::Required,
                "the points, the smallest raw bit error rate first",
            ),
        ],
    },
];

pub(crate) static POINTS: Section = Section {
    path: "link.NAME.coding.points",
    kind: None,
    meaning: "what a code makes of a raw bit error rate",
    keys: &[
        key(
            "raw",
            Kind::Ratio,
            Presence::Required,
            "before decoding, above zero",
        ),
        key(
            "decoded",
            Kind::Ratio,
            Presence::Required,
            "after decoding, above zero",
        ),
    ],
};

const WINDOW: Key = key(
    "window",
    Kind::Integer {
        min: 1,
        max: u32::MAX as u64,
    },
    Presence::Default("no limit"),
    "packets whose fate may be unknown at once, from the oldest on",
);

const TIMEOUT: Key = key(
    "timeout",
    Kind::Duration { zero: true },
    Presence::Default("the link's round trip"),
    "when a loss is known after the end of the transmission",
);

const TRANSMISSIONS: Key = key(
    "transmissions",
    Kind::Integer {
        min: 1,
        max: u32::MAX as u64,
    },
    Presence::Default("8"),
    "transmissions of a packet at most; then it is lost",
);

pub(crate) static ARQS: [Section; 3] = [
    Section {
        path: "link.NAME.arq",
        kind: Some("none"),
        meaning: "nothing is sent again",
        keys: &[],
    },
    Section {
        path: "link.NAME.arq",
        kind: Some("selective-repeat"),
        meaning: "what was lost is sent again, a round trip later",
        keys: &[
            WINDOW,
            TIMEOUT,
            TRANSMISSIONS,
            key(
                "in_order",
                Kind::Boolean,
                Presence::Default("true"),
                "packets after a loss wait at the far end until it is repaired or given up",
            ),
        ],
    },
    Section {
        path: "link.NAME.arq",
        kind: Some("go-back-n"),
        meaning: "what was lost and all that followed is sent again",
        keys: &[WINDOW, TIMEOUT, TRANSMISSIONS],
    },
];
