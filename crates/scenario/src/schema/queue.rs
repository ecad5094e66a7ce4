//! Queue disciplines.

use super::{Key, Kind, Presence, Section, key};

const PATH: &str = "link.NAME.queue";

const PLAIN_LIMIT: Key = key(
    "limit",
    Kind::QueueLimit,
    Presence::Required,
    "how much may wait",
);

const RED_LIMIT: Key = key(
    "limit",
    Kind::QueueLimit,
    Presence::Required,
    "how much may wait; under `mode = \"bytes\"`, packets are of `mean_packet`",
);

const RED_PRESETS: &[&str] = &["ns-2001", "ns-2002", "ns-2.35"];
const RED_MODES: &[&str] = &["packets", "bytes"];

/// The keys of RED, then those that Adaptive RED has on top.
const RED: &[Key] = &[
    RED_LIMIT,
    key(
        "preset",
        Kind::OneOf(RED_PRESETS),
        Presence::Default("ns-2002"),
        "the defaults of all other keys: those of ns-2 in 2001 (packets, thresholds 5 and 15, \
         weight 0.002), from 2002 to 2004 (packets, automatic) or in 2.35 (bytes, automatic)",
    ),
    key(
        "mode",
        Kind::OneOf(RED_MODES),
        Presence::Default("packets; bytes in ns-2.35"),
        "what the average, the count between drops and the limit are in",
    ),
    key(
        "mean_packet",
        Kind::Size {
            min: 1,
            max: 65_535,
        },
        Presence::Default("500 B"),
        "the packet that thresholds, automatic values and idle times are reckoned in",
    ),
    key(
        "minimum",
        Kind::QueueLength,
        Presence::Default("automatic; 5 packets in ns-2001"),
        "average from which packets are dropped; automatic: half of what waits for \
         `target_delay`, at least 5 packets",
    ),
    key(
        "maximum",
        Kind::QueueLength,
        Presence::Default("3 minimum; 15 packets in ns-2001"),
        "average at which the probability is `max_p`",
    ),
    key(
        "weight",
        Kind::Number { min: 0.0, max: 1.0 },
        Presence::Default("automatic; 0.002 in ns-2001"),
        "weight of the present queue in the average; automatic: 1 - exp(-1 / (10 R C)), R the \
         greater of 100 ms and 3 one-way delays, C the rate in packets",
    ),
    key(
        "max_p",
        Kind::Ratio,
        Presence::Default("0.1"),
        "probability of a drop at the maximum; where it adapts, the first one",
    ),
    key(
        "gentle",
        Kind::Boolean,
        Presence::Default("true"),
        "the probability rises from `max_p` to 1 between the maximum and twice that; else it is \
         1 above the maximum",
    ),
    key(
        "wait",
        Kind::Boolean,
        Presence::Default("true"),
        "after a drop none follows for 1 / probability packets",
    ),
    key(
        "ecn",
        Kind::Boolean,
        Presence::Default("false"),
        "marks ECN-capable packets instead of dropping them early",
    ),
    key(
        "mark_below",
        Kind::NumberOrUnlimited { min: 0.0, max: 1.0 },
        Presence::Default("unlimited; 0.1 in ns-2.35"),
        "probability above which ECN-capable packets, too, are dropped",
    ),
    key(
        "target_delay",
        Kind::Duration { zero: false },
        Presence::Default("5 ms"),
        "queueing delay that an automatic minimum is reckoned from",
    ),
    key(
        "interval",
        Kind::Duration { zero: true },
        Presence::Default("500 ms"),
        "least time between two changes of `max_p`",
    ),
    key(
        "alpha",
        Kind::Number { min: 0.0, max: 1.0 },
        Presence::Default("0.01"),
        "added to `max_p` when the average is too long, at most a quarter of it",
    ),
    key(
        "beta",
        Kind::Number { min: 0.0, max: 1.0 },
        Presence::Default("0.9"),
        "factor of `max_p` when the average is too short",
    ),
    key(
        "bottom",
        Kind::Ratio,
        Presence::Default("0.01; in ns-2.35 80 kbit/s over the rate, if less"),
        "`max_p` falls no further from here",
    ),
    key(
        "top",
        Kind::Ratio,
        Presence::Default("0.5"),
        "`max_p` rises no further from here",
    ),
];

/// Keys of `RED` that Adaptive RED shares with it.
const SHARED: usize = 13;

pub(crate) static QUEUES: [Section; 7] = [
    Section {
        path: PATH,
        kind: Some("drop-tail"),
        meaning: "first in, first out; what does not fit is dropped",
        keys: &[PLAIN_LIMIT],
    },
    Section {
        path: PATH,
        kind: Some("red"),
        meaning: "random early detection: drops with a probability that rises with the average \
                  queue, as in ns-2.35",
        keys: RED.split_at(SHARED).0,
    },
    Section {
        path: PATH,
        kind: Some("adaptive-red"),
        meaning: "RED whose `max_p` adapts to hold the average between the thresholds",
        keys: RED,
    },
    Section {
        path: PATH,
        kind: Some("codel"),
        meaning: "controlled delay (RFC 8289): drops when packets have waited too long for an \
                  interval",
        keys: &[
            PLAIN_LIMIT,
            key(
                "target",
                Kind::Duration { zero: false },
                Presence::Default("5 ms"),
                "the waiting time that is acceptable for good",
            ),
            key(
                "interval",
                Kind::Duration { zero: false },
                Presence::Default("100 ms"),
                "how long it must be exceeded before a drop; about the longest round trip",
            ),
            key(
                "mtu",
                Kind::Size {
                    min: 1,
                    max: 65_535,
                },
                Presence::Default("1500 B"),
                "nothing is dropped while not more than this is left behind",
            ),
            key(
                "ecn",
                Kind::Boolean,
                Presence::Default("false"),
                "marks ECN-capable packets instead of dropping them",
            ),
        ],
    },
    Section {
        path: PATH,
        kind: Some("xcp"),
        meaning: "first in, first out, with a router of XCP: senders with transport `xcp` or \
                  `p-xcp` hear from it how to change their windows",
        keys: &[
            PLAIN_LIMIT,
            key(
                "p_xcp",
                Kind::Boolean,
                Presence::Default("false"),
                "gives connections what others cannot use, as P-XCP",
            ),
            key(
                "alpha",
                Kind::Number { min: 0.0, max: 1.0 },
                Presence::Default("0.4"),
                "share of the free rate that is given out in a control interval",
            ),
            key(
                "beta",
                Kind::Number { min: 0.0, max: 1.0 },
                Presence::Default("0.226"),
                "share of the standing queue that is taken back in a control interval",
            ),
            key(
                "gamma",
                Kind::Number { min: 0.0, max: 1.0 },
                Presence::Default("0.1"),
                "share of the traffic that is shuffled between senders in a control interval",
            ),
            key(
                "longest_rtt",
                Kind::Duration { zero: false },
                Presence::Default("1 s"),
                "longer round trips of senders count as this",
            ),
        ],
    },
    Section {
        path: PATH,
        kind: Some("priority-drop"),
        meaning: "first in, first out; when it is full, a packet of low priority gives way to \
                  another: the one nearest to the tail",
        keys: &[
            PLAIN_LIMIT,
            key(
                "low_limit",
                Kind::QueueLimit,
                Presence::Default("limit"),
                "a packet of low priority is dropped if more than this would wait with it",
            ),
        ],
    },
    Section {
        path: PATH,
        kind: Some("ack-filter"),
        meaning: "first in, first out; an ACK takes the older ones of its flow that wait out of \
                  it, unless they say more (RFC 3449, section 5.2.1)",
        keys: &[PLAIN_LIMIT],
    },
];
