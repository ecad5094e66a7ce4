//! Every table and key of a scenario, in one place.
//!
//! The reader takes kinds and limits from here, messages take names and
//! meanings, and documentation is printed from it, so that none of them can
//! say something else. The parameters of congestion controls are not repeated
//! here: [`bentpipe_cc::list`] describes them.

mod constellation;
mod flow;
mod link;
mod medium;
mod middlebox;
mod network;
mod queue;
mod transport;

use std::fmt;

pub(crate) use constellation::CONSTELLATIONS;
pub(crate) use flow::{APPLICATIONS, FLOW, PERIODS};
pub(crate) use link::{
    ARQS, CHANNELS, CODING, CODINGS, FADE, LINK, POINTS, REVERSE, TIMELINE, TRACE,
};
pub(crate) use medium::MEDIA;
pub(crate) use middlebox::MIDDLEBOXES;
pub(crate) use network::{LIMITS, NODE, TOP};
pub(crate) use queue::QUEUES;
pub(crate) use transport::{DELAYED_ACK, PACINGS, TRANSPORT};

/// Nodes, links and flows of a scenario, of each at most this many.
pub const LARGEST_COUNT: u64 = 100_000;

/// A table of a scenario and its keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    /// Where it stands, such as `link.NAME.channel`; empty for the top.
    pub path: &'static str,
    /// The value of `kind` that these keys belong to, where there are several.
    pub kind: Option<&'static str>,
    /// What it describes.
    pub meaning: &'static str,
    /// Its keys. `kind` is not among them.
    pub keys: &'static [Key],
}

/// A key of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// As written.
    pub name: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// What holds where it is not written.
    pub presence: Presence,
    /// What it means.
    pub meaning: &'static str,
}

/// Whether a key must be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It must.
    Required,
    /// It need not; this holds instead.
    Default(&'static str),
}

/// What the value of a key may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A string.
    Text,
    /// The name of something that the scenario or the program knows: what.
    Name(&'static str),
    /// Names of nodes, this many.
    Nodes(usize),
    /// One name or several of something that the scenario knows: what.
    Names(&'static str),
    /// A time.
    Duration {
        /// Whether it may be zero.
        zero: bool,
    },
    /// A rate above zero.
    Rate,
    /// A size.
    Size {
        /// Smallest, bytes.
        min: u64,
        /// Largest, bytes.
        max: u64,
    },
    /// A probability or share.
    Ratio,
    /// A whole number.
    Integer {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A number.
    Number {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// A number or the word `unlimited`.
    NumberOrUnlimited {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// How much a queue holds: packets, bytes or BDP.
    QueueLimit,
    /// A length of a queue: packets, bytes or BDP.
    QueueLength,
    /// True or false.
    Boolean,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A table with the keys of the section of this path.
    Table(&'static str),
    /// An array of tables with the keys of the section of this path.
    Tables(&'static str),
    /// A table, or the name of a kind alone if it needs no more keys.
    TableOrKind(&'static str),
    /// A table, a kind alone, or how much the queue holds.
    Queue,
    /// A time, or a table with the keys of the section of this path.
    Period(&'static str),
}

/// Every table of a scenario, in the order of the documentation.
pub fn schema() -> impl Iterator<Item = &'static Section> {
    let network = [&TOP, &LIMITS, &NODE, &LINK, &REVERSE];
    let network = network.into_iter().chain(&QUEUES).chain(&CHANNELS);
    let network = network.chain(&MEDIA).chain(&CONSTELLATIONS);
    let network = network.chain(&CODINGS).chain([&POINTS]).chain(&ARQS);
    let network = network.chain([&TIMELINE, &FADE, &CODING, &TRACE]);
    let transport = [&TRANSPORT, &DELAYED_ACK].into_iter().chain(&PACINGS);
    let flow = [&FLOW].into_iter().chain(&APPLICATIONS).chain(&PERIODS);
    network.chain(transport).chain(flow).chain(&MIDDLEBOXES)
}

const fn key(name: &'static str, kind: Kind, presence: Presence, meaning: &'static str) -> Key {
    Key {
        name,
        kind,
        presence,
        meaning,
    }
}

/// A size of at least a byte and less than an exabyte.
const SIZE: Kind = Kind::Size {
    min: 1,
    max: 1_000_000_000_000_000_000,
};

impl Section {
    /// The key of that name.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|k| k.name == name)
    }
}

impl fmt::Display for Presence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Presence::Required => "required",
            Presence::Default(text) => text,
        })
    }
}

impl fmt::Display for Kind {
    /// What is expected, as a message says it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Text => f.write_str("a string, in quotes"),
            Kind::Name(what) => write!(f, "the name of a {what}, in quotes"),
            Kind::Names(what) => {
                write!(f, "the name of a {what}, in quotes, or an array of names")
            }
            Kind::Nodes(n) => write!(f, "an array with the names of {n} nodes"),
            Kind::Duration { zero: true } => {
                f.write_str("a time with its unit, such as `255.5 ms`, `2 s` or `0 s`")
            }
            Kind::Duration { zero: false } => {
                f.write_str("a time above zero with its unit, such as `300 s` or `255.5 ms`")
            }
            Kind::Rate => f.write_str("a rate above zero with its unit, such as `2 Mbit/s`"),
            Kind::Size { min: 0, .. } => {
                f.write_str("a size with its unit, such as `320 kB` or `0 B`")
            }
            Kind::Size { min: 1, .. } => {
                f.write_str("a size above zero with its unit, such as `3 MB` or `320 kB`")
            }
            Kind::Size { min, max } => write!(f, "a size from `{min} B` to `{max} B`"),
            Kind::Ratio => f.write_str("a ratio from 0 to 1, such as `0.01` or \"1%\""),
            Kind::Integer { min, max: u64::MAX } => write!(f, "a whole number, at least {min}"),
            Kind::Integer { min, max } => write!(f, "a whole number from {min} to {max}"),
            Kind::Number { min, max } => write!(f, "a number from {min} to {max}"),
            Kind::NumberOrUnlimited { min, max } => {
                write!(f, "a number from {min} to {max}, or \"unlimited\"")
            }
            Kind::QueueLimit => {
                f.write_str("how much it holds, such as `100 packets`, `60 kB` or `1 BDP`")
            }
            Kind::QueueLength => {
                f.write_str("a length of the queue, such as `5 packets`, `7500 B` or `0.1 BDP`")
            }
            Kind::Boolean => f.write_str("`true` or `false`, without quotes"),
            Kind::OneOf(words) => {
                f.write_str("one of ")?;
                for (i, word) in words.iter().enumerate() {
                    write!(f, "{}\"{word}\"", if i == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            Kind::Table(_) => f.write_str("a table"),
            Kind::Tables(_) => f.write_str("an array of tables, such as `[{ ... }, { ... }]`"),
            Kind::TableOrKind(_) => f.write_str("a table such as `{ kind = \"...\" }`"),
            Kind::Queue => f.write_str("how much it holds, such as `100 packets`, or a table"),
            Kind::Period(_) => f.write_str(
                "a time such as `50 s`, or a table such as `{ kind = \"exponential\", mean = \"1 s\" }`",
            ),
        }
    }
}
