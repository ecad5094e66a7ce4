//! Flows and applications.

use super::{Key, Kind, LARGEST_COUNT, Presence, SIZE, Section, key};

pub(crate) static FLOW: Section = Section {
    path: "flow.NAME",
    kind: None,
    meaning: "an application over a transport between two nodes",
    keys: &[
        key(
            "from",
            Kind::Name("node"),
            Presence::Required,
            "the side that sends the data; counted nodes pair up one to one, or fan in or out",
        ),
        key(
            "to",
            Kind::Name("node"),
            Presence::Required,
            "the side that receives the data",
        ),
        key(
            "transport",
            Kind::Name("transport"),
            Presence::Default(
                "required, but for constant-rate, which has none, and on-off, which may have none",
            ),
            "the TCP that carries it",
        ),
        key(
            "application",
            Kind::TableOrKind("flow.NAME.application"),
            Presence::Required,
            "what it carries",
        ),
        key(
            "start",
            Kind::Duration { zero: true },
            Presence::Default("0 s"),
            "when it starts",
        ),
        key(
            "stop",
            Kind::Duration { zero: false },
            Presence::Default("never"),
            "when its application stops offering data",
        ),
        key(
            "count",
            Kind::Integer {
                min: 1,
                max: LARGEST_COUNT,
            },
            Presence::Default("1"),
            "parallel flows for each pair of nodes, NAME[1] to NAME[count]",
        ),
        key(
            "spacing",
            Kind::Duration { zero: true },
            Presence::Default("0 s"),
            "time between the starts of the flows that this table makes",
        ),
        key(
            "handshake",
            Kind::OneOf(&["counted", "not-counted", "skipped"]),
            Presence::Default("counted"),
            "whether a SYN exchange comes first, and counts in the transfer time",
        ),
    ],
};

const PERIOD: Kind = Kind::Period("flow.NAME.application.PERIOD");

pub(crate) static APPLICATIONS: [Section; 6] = [
    Section {
        path: "flow.NAME.application",
        kind: Some("transfer"),
        meaning: "one file; the flow ends when its last acknowledgement arrives",
        keys: &[key("size", SIZE, Presence::Required, "bytes of the file")],
    },
    Section {
        path: "flow.NAME.application",
        kind: Some("persistent"),
        meaning: "data without end",
        keys: &[],
    },
    Section {
        path: "flow.NAME.application",
        kind: Some("request-response"),
        meaning: "`to` asks, `from` answers, over one connection",
        keys: &[
            key("request", SIZE, Presence::Required, "bytes of each request"),
            key(
                "response",
                SIZE,
                Presence::Required,
                "bytes of each response",
            ),
            key(
                "count",
                Kind::Integer {
                    min: 1,
                    max: 1_000_000_000,
                },
                Presence::Default("1"),
                "how many exchanges",
            ),
            key(
                "think_time",
                Kind::Duration { zero: true },
                Presence::Default("0 s"),
                "pause between a complete response and the next request",
            ),
        ],
    },
    Section {
        path: "flow.NAME.application",
        kind: Some("constant-rate"),
        meaning: "datagrams at a constant bit rate, without a transport",
        keys: &[
            key(
                "rate",
                Kind::Rate,
                Presence::Required,
                "rate of packets at the IP layer",
            ),
            key(
                "packet_size",
                Kind::Size {
                    min: 20,
                    max: 65_535,
                },
                Presence::Default("1500 B"),
                "size of each packet at the IP layer",
            ),
        ],
    },
    Section {
        path: "flow.NAME.application",
        kind: Some("on-off"),
        meaning: "a constant bit rate in on-periods, nothing in off-periods: datagrams, or \
                  writes to a transport",
        keys: &[
            key("on", PERIOD, Presence::Required, "length of the on-periods"),
            key(
                "off",
                PERIOD,
                Presence::Required,
                "length of the off-periods",
            ),
            key(
                "rate",
                Kind::Rate,
                Presence::Required,
                "rate in on-periods: of packets at the IP layer, or of payload over a transport",
            ),
            key(
                "packet_size",
                Kind::Size {
                    min: 20,
                    max: 65_535,
                },
                Presence::Default("1500 B; over a transport, its MSS"),
                "size of each packet at the IP layer, or of each write to a transport",
            ),
        ],
    },
    Section {
        path: "flow.NAME.application",
        kind: Some("web"),
        meaning: "`to` reads pages: asks for one, `from` sends it, `to` reads and asks for the next",
        keys: &[
            key(
                "mean",
                SIZE,
                Presence::Default("4100 B"),
                "mean size of a page, log-normal, before it is truncated",
            ),
            key(
                "deviation",
                SIZE,
                Presence::Default("30 kB"),
                "standard deviation of that",
            ),
            key(
                "largest",
                SIZE,
                Presence::Default("100 kB"),
                "largest page: a larger one is drawn again",
            ),
            key(
                "reading",
                Kind::Duration { zero: true },
                Presence::Default("10 s"),
                "mean of the exponential pause between a page and the next request",
            ),
            key(
                "request",
                SIZE,
                Presence::Default("300 B"),
                "bytes of each request",
            ),
            key(
                "connection",
                Kind::OneOf(&["page", "persistent"]),
                Presence::Default("page"),
                "a connection for each page, or one for all",
            ),
            key(
                "count",
                Kind::Integer {
                    min: 1,
                    max: 1_000_000_000,
                },
                Presence::Default("without end"),
                "how many pages",
            ),
        ],
    },
];

/// The mean of a random period. Shorter ones would make more periods than
/// packets.
const MEAN: Key = key(
    "mean",
    Kind::Duration { zero: false },
    Presence::Required,
    "mean length",
);

pub(crate) static PERIODS: [Section; 2] = [
    Section {
        path: "flow.NAME.application.PERIOD",
        kind: Some("exponential"),
        meaning: "lengths without memory",
        keys: &[MEAN],
    },
    Section {
        path: "flow.NAME.application.PERIOD",
        kind: Some("pareto"),
        meaning: "most lengths short, a few very long",
        keys: &[
            MEAN,
            key(
                "shape",
                Kind::Number {
                    min: 1.01,
                    max: 100.0,
                },
                Presence::Default("1.5"),
                "exponent of the tail; the variance is infinite up to 2",
            ),
        ],
    },
];
