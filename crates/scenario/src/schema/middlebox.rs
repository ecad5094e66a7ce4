//! Middleboxes.

use super::{Key, Kind, Presence, Section, key};

/// The node of every box.
const NODE: Key = key(
    "node",
    Kind::Name("node"),
    Presence::Required,
    "where it stands; it sees what passes through, not what begins or ends there",
);

/// The link of every box.
const TOWARD: Key = key(
    "toward",
    Kind::Name("link"),
    Presence::Required,
    "the link of its node on whose far side it helps; counted links: all of them",
);

pub(crate) static MIDDLEBOXES: [Section; 1] = [Section {
    path: "middlebox.NAME",
    kind: Some("snoop"),
    meaning: "repairs losses of a link from a cache, and keeps duplicate ACKs from the sender",
    keys: &[
        NODE,
        TOWARD,
        key(
            "cache",
            Kind::Integer {
                min: 1,
                max: 1_000_000,
            },
            Presence::Default("100"),
            "packets of a connection that it keeps, at most",
        ),
        key(
            "threshold",
            Kind::Integer { min: 0, max: 100 },
            Presence::Default("1"),
            "duplicate ACKs that pass before one makes it retransmit",
        ),
        key(
            "tick",
            Kind::Duration { zero: false },
            Presence::Default("100 ms"),
            "the shortest timer",
        ),
        key(
            "srtt",
            Kind::Duration { zero: true },
            Presence::Default("100 ms"),
            "smoothed round trip of the link before the first sample",
        ),
        key(
            "rttvar",
            Kind::Duration { zero: true },
            Presence::Default("250 ms"),
            "its mean deviation before the first sample; the timer is srtt + 4 rttvar",
        ),
        key(
            "gain",
            Kind::Number { min: 0.0, max: 1.0 },
            Presence::Default("0.125"),
            "gain of both averages",
        ),
        key(
            "retransmissions",
            Kind::Integer { min: 0, max: 1000 },
            Presence::Default("10"),
            "local retransmissions of one packet, at most",
        ),
        key(
            "variant",
            Kind::OneOf(&["standard", "ns-2"]),
            Presence::Default("standard"),
            "ns-2: with the quirks of ns-2.35",
        ),
    ],
}];
