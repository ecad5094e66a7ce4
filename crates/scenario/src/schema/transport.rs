//! Transports.

use super::{Key, Kind, Presence, SIZE, Section, key};

const BASE: Presence = Presence::Default("the base's");
const PROFILE: Presence = Presence::Default("the base's, or the profile's");
const SEGMENTS: Kind = Kind::Number { min: 1.0, max: 1e9 };

const KEYS: &[Key] = &[
    key(
        "base",
        Kind::Name("transport"),
        Presence::Default("the named transport of the same name"),
        "the transport that this one refines",
    ),
    key(
        "congestion_control",
        Kind::Name("congestion control"),
        BASE,
        "the algorithm that moves the window; its parameters are keys beside this one",
    ),
    key(
        "start",
        Kind::Name("slow start"),
        BASE,
        "another slow start",
    ),
    key(
        "avoidance",
        Kind::Name("congestion avoidance"),
        BASE,
        "another congestion avoidance",
    ),
    key(
        "reaction",
        Kind::Name("reaction"),
        BASE,
        "another reaction to losses",
    ),
    key(
        "profile",
        Kind::OneOf(&PROFILES),
        BASE,
        "the host whose TCP is imitated",
    ),
    key(
        "recovery",
        Kind::OneOf(&RECOVERIES),
        PROFILE,
        "how losses are repaired",
    ),
    key(
        "mss",
        Kind::Size {
            min: 1,
            max: 65_000,
        },
        Presence::Default("what fills a packet of 1500 B"),
        "payload of a full packet",
    ),
    key(
        "initial_window",
        SEGMENTS,
        PROFILE,
        "initial window, segments",
    ),
    key(
        "initial_ssthresh",
        Kind::NumberOrUnlimited { min: 1.0, max: 1e9 },
        Presence::Default("unlimited"),
        "initial slow start threshold, segments",
    ),
    key(
        "send_buffer",
        SIZE,
        Presence::Default("16 MB"),
        "send buffer",
    ),
    key(
        "receive_buffer",
        SIZE,
        Presence::Default("16 MB"),
        "receive buffer; the profile says which part of it is advertised",
    ),
    key(
        "delayed_ack",
        Kind::Table("transport.NAME.delayed_ack"),
        PROFILE,
        "when the receiver acknowledges",
    ),
    key(
        "timestamps",
        Kind::Boolean,
        PROFILE,
        "timestamps option (RFC 7323): 12 bytes a packet",
    ),
    key(
        "limited_transmit",
        Kind::Boolean,
        PROFILE,
        "new data on duplicate ACKs 1, 2 (RFC 3042)",
    ),
    key(
        "recovery_fix",
        Kind::Boolean,
        PROFILE,
        "after recovery cwnd is at most flight + 1",
    ),
    key(
        "undo",
        Kind::Boolean,
        PROFILE,
        "detect and undo spurious retransmissions",
    ),
    key(
        "pacing",
        Kind::TableOrKind("transport.NAME.pacing"),
        Presence::Default("the base's, or off"),
        "how the sender spaces its packets",
    ),
    key(
        "ecn",
        Kind::Boolean,
        Presence::Default("false"),
        "explicit congestion notification; takes effect where a queue marks, drop-tail does not",
    ),
    key(
        "minimum_rto",
        Kind::Duration { zero: true },
        PROFILE,
        "smallest retransmission timeout",
    ),
];

const PROFILES: [&str; bentpipe_tcp::HostProfile::ALL.len()] = {
    let mut names = [""; bentpipe_tcp::HostProfile::ALL.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = bentpipe_tcp::HostProfile::ALL[i].0;
        i += 1;
    }
    names
};

const RECOVERIES: [&str; bentpipe_tcp::Recovery::ALL.len()] = {
    let mut names = [""; bentpipe_tcp::Recovery::ALL.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = bentpipe_tcp::Recovery::ALL[i].0;
        i += 1;
    }
    names
};

pub(crate) static TRANSPORT: Section = Section {
    path: "transport.NAME",
    kind: None,
    meaning: "a transport that refines another; parameters of its congestion control are keys too",
    keys: KEYS,
};

pub(crate) static DELAYED_ACK: Section = Section {
    path: "transport.NAME.delayed_ack",
    kind: None,
    meaning: "when the receiver acknowledges; what is left out is the base's or the profile's",
    keys: &[
        key(
            "count",
            Kind::Integer {
                min: 1,
                max: 1_000_000,
            },
            PROFILE,
            "one ACK per this many full segments; 1 acknowledges every segment",
        ),
        key(
            "timer",
            Kind::Duration { zero: true },
            PROFILE,
            "at the latest after this time",
        ),
        key(
            "quick_acks",
            Kind::Integer {
                min: 0,
                max: 1_000_000,
            },
            PROFILE,
            "segments at the start of a connection that are acknowledged at once",
        ),
    ],
};

pub(crate) static PACINGS: [Section; 2] = [
    Section {
        path: "transport.NAME.pacing",
        kind: Some("off"),
        meaning: "packets leave as soon as the window allows",
        keys: &[],
    },
    Section {
        path: "transport.NAME.pacing",
        kind: Some("window"),
        meaning: "packets leave at gain x cwnd / smoothed RTT",
        keys: &[
            key(
                "gain",
                Kind::Number {
                    min: 0.01,
                    max: 100.0,
                },
                Presence::Default("1"),
                "factor on cwnd / RTT",
            ),
            key(
                "initial_burst",
                Kind::Integer {
                    min: 1,
                    max: 1_000_000,
                },
                Presence::Default("10"),
                "segments that leave at once at the start, before an RTT is known",
            ),
        ],
    },
];
