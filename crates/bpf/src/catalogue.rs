//! The controls and their parameters. The order of a control's parameters is
//! that of the `enum` in its C file.

use crate::{Kind, Parameter};

/// A congestion control for the kernel.
#[derive(Debug, PartialEq, Eq)]
pub struct Control {
    /// The name that programs choose it by, unless it is loaded under another.
    pub name: &'static str,
    /// Its file in `bpf/`.
    pub source: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it comes from.
    pub origin: &'static str,
    /// What it takes, in the order of the words that the C reads.
    pub parameters: &'static [Parameter],
}

impl Control {
    /// How many words its parameters take.
    #[must_use]
    pub fn width(&self) -> usize {
        self.parameters.iter().map(Parameter::width).sum()
    }
}

const fn count(
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

const INITIAL_WINDOW: Parameter = count(
    "initial_window",
    "segments",
    &[0],
    (0, 65_535),
    "cwnd when the connection begins; 0: the kernel's",
);

const WINDOW_CLAMP: Parameter = count(
    "window_clamp",
    "segments",
    &[0],
    (0, 1 << 30),
    "what cwnd never exceeds; 0: no limit",
);

/// Every control.
pub static CONTROLS: &[Control] = &[Control {
    name: "bp_const",
    source: "const.bpf.c",
    summary: "F_CONST: every ACK of slow start adds K segments, however much it covers",
    origin: "Marchese 2006, eq. 6; K = 1 is the baseline that counts ACKs",
    parameters: &[
        INITIAL_WINDOW,
        WINDOW_CLAMP,
        count(
            "k",
            "segments",
            &[4],
            (1, 1_000_000),
            "segments that an ACK adds; the papers test 2, 4, 10",
        ),
    ],
}];

/// The control of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Control> {
    CONTROLS.iter().find(|control| control.name == name)
}

/// The name that was probably meant.
#[must_use]
pub fn nearest(name: &str) -> Option<&'static str> {
    bentpipe_units::nearest(name, CONTROLS.iter().map(|control| control.name))
}
