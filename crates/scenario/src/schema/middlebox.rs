//! Middleboxes.

use super::{Key, Kind, Presence, SIZE, Section, key};

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

pub(crate) static MIDDLEBOXES: [Section; 3] = [SNOOP, SPOOF, SPLIT];

const SNOOP: Section = Section {
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
};

const SPLIT: Section = Section {
    path: "middlebox.NAME",
    kind: Some("split"),
    meaning: "a PEP that ends connections and opens others onwards: each leg has its own window, \
              losses and transport",
    keys: &[
        NODE,
        key(
            "toward",
            Kind::Name("link"),
            Presence::Default("any"),
            "the link of its node that split flows cross; the leg on that side has the transport",
        ),
        key(
            "transport",
            Kind::Name("transport"),
            Presence::Default("the flow's"),
            "the TCP of the leg on the side of `toward`, else of that towards the flow's `to`",
        ),
        key(
            "buffer",
            SIZE,
            Presence::Default("1 MB"),
            "bytes relayed that the onward leg has not acknowledged, at most, each direction",
        ),
        key(
            "receive_buffer",
            SIZE,
            Presence::Default("as `buffer`"),
            "bytes that have arrived and wait for room in the relay: the window that it offers",
        ),
        key(
            "pool",
            Kind::OneOf(&["separate", "shared"]),
            Presence::Default("separate"),
            "shared: one room of `buffer` bytes for what waits, what is relayed and the window",
        ),
        key(
            "accept",
            Kind::OneOf(&["early", "late"]),
            Presence::Default("early"),
            "a SYN is answered at once, or when the onward leg is open",
        ),
        key(
            "flows",
            Kind::Names("flow"),
            Presence::Default("all TCP flows that pass"),
            "the flows that are split",
        ),
    ],
};

const SPOOF: Section = Section {
    path: "middlebox.NAME",
    kind: Some("spoof"),
    meaning: "acknowledges for the receiver, keeps what it has acknowledged, and sends it again \
              as often as it takes",
    keys: &[
        NODE,
        TOWARD,
        key(
            "cache",
            Kind::Integer {
                min: 1,
                max: 1_000_000,
            },
            Presence::Default("1000"),
            "packets of a connection that it keeps, at most; it advertises no more",
        ),
        key(
            "threshold",
            Kind::Integer { min: 0, max: 100 },
            Presence::Default("1"),
            "duplicate ACKs that it ignores before one makes it retransmit",
        ),
        key(
            "tick",
            Kind::Duration { zero: false },
            Presence::Default("100 ms"),
            "the shortest timer",
        ),
    ],
};
