//! Helpers to write the tables of the catalogue.

use crate::{Control, Kind, Parameter};

pub(super) const fn count(
    name: &'static str,
    unit: &'static str,
    default: &'static [u64],
    (minimum, maximum): (u64, u64),
    summary: &'static str,
) -> Parameter {
    Parameter {
        name,
        kind: Kind::Count,
        unit,
        default,
        minimum,
        maximum,
        summary,
    }
}

/// Millionths.
pub(crate) const MILLIONTH: Kind = Kind::Decimal(1_000_000);

pub(super) const fn decimal(
    name: &'static str,
    unit: &'static str,
    default: &'static [u64],
    (minimum, maximum): (u64, u64),
    summary: &'static str,
) -> Parameter {
    Parameter {
        kind: MILLIONTH,
        ..count(name, unit, default, (minimum, maximum), summary)
    }
}

pub(super) const fn time(
    name: &'static str,
    default: &'static [u64],
    (minimum, maximum): (u64, u64),
    summary: &'static str,
) -> Parameter {
    Parameter {
        kind: Kind::Time,
        ..count(name, "time", default, (minimum, maximum), summary)
    }
}

pub(super) const fn list(
    name: &'static str,
    most: usize,
    unit: &'static str,
    default: &'static [u64],
    (minimum, maximum): (u64, u64),
    summary: &'static str,
) -> Parameter {
    Parameter {
        kind: Kind::List(most),
        ..count(name, unit, default, (minimum, maximum), summary)
    }
}

/// A word; the first is the default.
pub(super) const fn choice(
    name: &'static str,
    words: &'static [&'static str],
    summary: &'static str,
) -> Parameter {
    Parameter {
        kind: Kind::Choice(words),
        ..count(name, "", &[0], (0, words.len() as u64 - 1), summary)
    }
}

pub(super) const fn flag(
    name: &'static str,
    default: &'static [u64],
    summary: &'static str,
) -> Parameter {
    Parameter {
        kind: Kind::Flag,
        ..count(name, "", default, (0, 1), summary)
    }
}

pub(super) const INITIAL_WINDOW: Parameter = count(
    "initial_window",
    "segments",
    &[0],
    (0, 65_535),
    "cwnd when the connection begins; 0: the kernel's",
);

pub(super) const WINDOW_CLAMP: Parameter = count(
    "window_clamp",
    "segments",
    &[0],
    (0, 1 << 30),
    "what cwnd never exceeds; 0: no limit",
);

pub(super) const RECOVERY_FIX: Parameter = flag(
    "exit_fix",
    &[1],
    "recovery ends with no more than what is in flight and one segment",
);

pub(super) const ACCOUNTING: Parameter = choice(
    "accounting",
    &["dupack", "delivered"],
    "what an ACK accounts for: a duplicate is one segment, or what SACK says",
);

pub(super) const HOE: Parameter = choice(
    "hoe",
    &["round", "off"],
    "Hoe's estimate of the initial ssthresh, from the closest ACKs of one round",
);

/// A control, named after its file: `bp_NAME` and `NAME.bpf.c`; last come summary
/// and source of its transport.
macro_rules! control {
    (
        $name:literal, $summary:literal, $origin:literal, $parameters:ident,
        $brief:literal => $source:literal
    ) => {
        crate::Control {
            name: concat!("bp_", $name),
            source: concat!($name, ".bpf.c"),
            summary: $summary,
            origin: $origin,
            transport: crate::Brief {
                summary: concat!($brief, ", in the C that runs in the kernel"),
                source: $source,
            },
            parameters: $parameters,
        }
    };
}
pub(super) use control;

/// The parameters of a control after those that all have first:
/// `kind name: what the function of that name takes;`, or `shared CONSTANT;`.
macro_rules! parameters {
    ($NAME:ident: $($kind:ident $name:ident $(: $($argument:expr),+)?;)*) => {
        static $NAME: &[Parameter] = &[
            crate::catalogue::table::INITIAL_WINDOW,
            crate::catalogue::table::WINDOW_CLAMP,
            $(parameters!(@one $kind $name $($($argument),+)?)),*
        ];
    };
    (@one shared $constant:ident) => { $constant };
    (@one $kind:ident $name:ident $($argument:expr),+) => {
        $kind(stringify!($name), $($argument),+)
    };
}
pub(super) use parameters;

impl Control {
    /// How many words its parameters take.
    #[must_use]
    pub fn width(&self) -> usize {
        self.parameters.iter().map(Parameter::width).sum()
    }
}
