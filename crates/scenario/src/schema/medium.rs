//! Media: channels that several terminals share.

use super::{Key, Kind, Presence, Section, key};

const PATH: &str = "medium.NAME";

const RATE: Key = key(
    "rate",
    Kind::Rate,
    Presence::Required,
    "rate of the channel",
);
const DELAY: Key = key(
    "one_way_delay",
    Kind::Duration { zero: true },
    Presence::Required,
    "propagation delay of the whole hop, from a terminal over the satellite to the hub",
);
const FRAME: Key = key(
    "frame",
    Kind::Duration { zero: false },
    Presence::Required,
    "length of a frame",
);
const SLOTS: Key = key(
    "slots",
    Kind::Integer {
        min: 1,
        max: 100_000,
    },
    Presence::Required,
    "data slots in a frame",
);
const OVERHEAD: Key = key(
    "overhead",
    Kind::Size {
        min: 0,
        max: 65_535,
    },
    Presence::Default("0 B"),
    "bytes of a slot that carry no data: guard time, preamble, header",
);
const MINISLOT: Key = key(
    "minislot",
    Kind::Size {
        min: 0,
        max: 65_535,
    },
    Presence::Default("16 B"),
    "length of a minislot, in which requests for slots are sent",
);
const SCHEDULER: Key = key(
    "scheduler",
    Kind::OneOf(&["ground", "on-board"]),
    Presence::Default("ground"),
    "where slots are assigned: at the hub, or on the satellite",
);
const TO_SATELLITE: Key = key(
    "to_satellite",
    Kind::Duration { zero: true },
    Presence::Default("half of one_way_delay"),
    "propagation delay between a terminal and the satellite, for a scheduler on board",
);
const TIMEOUT: Key = key(
    "timeout",
    Kind::Duration { zero: false },
    Presence::Default("270 ms, or one_way_delay if that is longer"),
    "a packet that was not heard so long after its last bit has collided",
);
const BACKOFF: Key = key(
    "mean_backoff",
    Kind::Duration { zero: false },
    Presence::Default("1 s"),
    "mean of the exponential pause before a packet is sent again",
);
const AGAIN: Key = key(
    "retransmissions",
    Kind::Integer {
        min: 0,
        max: 1_000_000,
    },
    Presence::Default("3"),
    "how often a packet is sent again before it is given up",
);

const SPREAD: Key = key(
    "spread",
    Kind::Duration { zero: true },
    Presence::Default("2 ms"),
    "how much later than the nearest terminal the farthest one hears itself",
);

pub(crate) static MEDIA: [Section; 5] = [
    Section {
        path: PATH,
        kind: Some("tdma"),
        meaning: "a channel shared in fixed time slots, which belong to the terminals in turn",
        keys: &[RATE, DELAY, FRAME, SLOTS, OVERHEAD],
    },
    Section {
        path: PATH,
        kind: Some("dama"),
        meaning: "time slots in proportion to what the terminals ask for",
        keys: &[
            RATE,
            DELAY,
            FRAME,
            SLOTS,
            OVERHEAD,
            MINISLOT,
            SCHEDULER,
            TO_SATELLITE,
        ],
    },
    Section {
        path: PATH,
        kind: Some("cf-dama"),
        meaning: "time slots on request and, where nobody asks, to all in turn",
        keys: &[
            RATE,
            DELAY,
            FRAME,
            SLOTS,
            OVERHEAD,
            MINISLOT,
            SCHEDULER,
            TO_SATELLITE,
            key(
                "requests",
                Kind::OneOf(&["preassigned", "piggyback", "random"]),
                Presence::Default("preassigned"),
                "how requests travel: in a minislot of one's own, on packets, or in one picked at random",
            ),
            key(
                "minislots",
                Kind::Integer {
                    min: 1,
                    max: 100_000,
                },
                Presence::Default("4"),
                "minislots in a frame, for random requests",
            ),
        ],
    },
    Section {
        path: PATH,
        kind: Some("aloha"),
        meaning: "whoever has a packet sends it; those that overlap are lost and sent again",
        keys: &[RATE, DELAY, TIMEOUT, BACKOFF, AGAIN, SPREAD],
    },
    Section {
        path: PATH,
        kind: Some("slotted-aloha"),
        meaning: "ALOHA in which transmissions begin with a slot",
        keys: &[
            RATE,
            DELAY,
            key(
                "slot",
                Kind::Duration { zero: false },
                Presence::Required,
                "length of a slot",
            ),
            TIMEOUT,
            BACKOFF,
            AGAIN,
            SPREAD,
        ],
    },
];
