//! Constellations of satellites.

use super::{Key, Kind, Presence, Section, key};

const UP_RATE: &str = "from a terminal to a satellite";
const DOWN_RATE: &str = "from a satellite to a terminal";

const QUEUE: Key = key(
    "queue",
    Kind::Queue,
    Presence::Default("50 packets"),
    "the queue of every link of the constellation",
);

const CHANNEL: Key = key(
    "channel",
    Kind::TableOrKind("link.NAME.channel"),
    Presence::Default("perfect"),
    "the loss process of links up and down; links between satellites lose nothing",
);

const HANDOVER: Key = key(
    "handover",
    Kind::OneOf(&["keep", "highest", "longest"]),
    Presence::Default("keep"),
    "how terminals choose a satellite: keep it while it is above the mask, and then take the one \
     that follows in its plane or else the highest (ns-2); always the highest; keep it, and then \
     take the one that stays longest",
);

const SEARCH: Key = key(
    "search",
    Kind::Duration { zero: false },
    Presence::Default("10 s"),
    "between two looks of a terminal for a satellite, and at the links between satellites",
);

const JITTER: Key = key(
    "jitter",
    Kind::Boolean,
    Presence::Default("false"),
    "pauses between looks are drawn from half to one and a half times `search`, by the seed of \
     the scenario",
);

const WHEN_DOWN: Key = key(
    "when_down",
    Kind::OneOf(&["lost", "waits"]),
    Presence::Default("lost"),
    "what waits for a satellite that is out of sight is lost when its turn comes (ns-2), or waits",
);

const IN_FLIGHT: Key = key(
    "in_flight",
    Kind::OneOf(&["delivered", "lost"]),
    Presence::Default("delivered"),
    "what becomes of packets that are on their way to or from a satellite at a handover",
);

/// From 0 to 90, or from -180 to 180.
const fn degrees(name: &'static str, min: f64, presence: Presence, meaning: &'static str) -> Key {
    let max = if min < 0.0 { -min } else { 90.0 };
    key(name, Kind::Number { min, max }, presence, meaning)
}

const fn mask(value: &'static str) -> Key {
    let presence = Presence::Default(value);
    let meaning = "degrees; terminals use satellites that stand higher than this";
    degrees("mask", 0.0, presence, meaning)
}

const fn isl(value: &'static str) -> Key {
    key(
        "isl",
        Kind::Boolean,
        Presence::Default(value),
        "true: satellites hand packets on over links between them; false: they repeat them to the \
         ground, and two terminals are joined while one satellite serves both (bent pipe)",
    )
}

const fn rate(name: &'static str, presence: Presence, meaning: &'static str) -> Key {
    key(name, Kind::Rate, presence, meaning)
}

const fn isl_rate(presence: Presence) -> Key {
    rate("isl_rate", presence, "of a link between satellites")
}

macro_rules! constellation {
    ($kind:literal, $meaning:literal, $mask:literal, $isl:literal, $rate:expr, $isl_rate:expr,
     [$($own:expr),* $(,)?]) => {
        Section {
            path: "constellation.NAME",
            kind: Some($kind),
            meaning: $meaning,
            keys: &[
                $($own,)*
                mask($mask),
                isl($isl),
                rate("up_rate", $rate.0, UP_RATE),
                rate("down_rate", $rate.1, DOWN_RATE),
                isl_rate($isl_rate),
                QUEUE, CHANNEL, HANDOVER, SEARCH, JITTER, WHEN_DOWN, IN_FLIGHT,
            ],
        }
    };
}

const REQUIRED: (Presence, Presence) = (Presence::Required, Presence::Required);
const NARROW: (Presence, Presence) = (
    Presence::Default("1.5 Mbit/s"),
    Presence::Default("1.5 Mbit/s"),
);
const WIDE: (Presence, Presence) = (
    Presence::Default("20 Mbit/s"),
    Presence::Default("200 Mbit/s"),
);
const OF_UP: Presence = Presence::Default("as `up_rate`");

pub(crate) static CONSTELLATIONS: [Section; 6] = [
    Section {
        path: "constellation.NAME",
        kind: Some("geo"),
        meaning: "a satellite that stands over the equator and repeats what it hears",
        keys: &[
            degrees(
                "longitude",
                -180.0,
                Presence::Required,
                "degrees east; negative: west",
            ),
            mask("0"),
            rate("up_rate", Presence::Required, UP_RATE),
            rate("down_rate", Presence::Required, DOWN_RATE),
            QUEUE,
            CHANNEL,
        ],
    },
    constellation!(
        "iridium",
        "66 satellites at 780 km in 6 polar planes, linked, as ns-2 places them",
        "8.2",
        "true",
        NARROW,
        Presence::Default("25 Mbit/s"),
        []
    ),
    constellation!(
        "teledesic",
        "288 satellites at 1375 km in 12 polar planes, linked, as ns-2 places them",
        "40",
        "true",
        NARROW,
        Presence::Default("155 Mbit/s"),
        [degrees(
            "stagger",
            0.0,
            Presence::Default("7.5"),
            "degrees by which every second plane is ahead; Table 3 of Salamanca (2008) says 0"
        )]
    ),
    constellation!(
        "starlink",
        "1584 satellites at 550 km in 72 planes of 53 degrees, linked in a grid",
        "25",
        "true",
        WIDE,
        Presence::Default("10 Gbit/s"),
        []
    ),
    constellation!(
        "walker",
        "a shell of circular orbits, linked in a grid",
        "10",
        "true",
        REQUIRED,
        OF_UP,
        [
            key(
                "pattern",
                Kind::Text,
                Presence::Required,
                "Walker's `INCLINATION: SATELLITES/PLANES/PHASING`, such as `53: 1584/72/65`",
            ),
            key(
                "altitude_km",
                Kind::Number {
                    min: 100.0,
                    max: 400_000.0
                },
                Presence::Required,
                "above the ground, km",
            ),
            key(
                "shape",
                Kind::OneOf(&["delta", "star"]),
                Presence::Default("delta"),
                "ascending nodes over 360 degrees, or over 180 with a seam without links",
            ),
            degrees(
                "isl_latitude",
                0.0,
                Presence::Default("none"),
                "degrees beyond which links across planes are down",
            ),
        ]
    ),
    constellation!(
        "elements",
        "satellites from a file of TLE or OMM, by SGP4",
        "10",
        "false",
        REQUIRED,
        OF_UP,
        [
            key(
                "file",
                Kind::Text,
                Presence::Required,
                "the file, seen from the scenario's folder",
            ),
            key(
                "start",
                Kind::Text,
                Presence::Default("the latest epoch in the file"),
                "the UTC instant at which the run begins, such as 2026-03-20T12:00:00Z",
            ),
            key(
                "links",
                Kind::Text,
                Presence::Default("none"),
                "a file with the links between satellites, two numbers counted from 0 a line \
                 (Hypatia's `isls.txt`)",
            ),
        ]
    ),
];
