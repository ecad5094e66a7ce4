//! The controls and their parameters. The order of a control's parameters is
//! that of the `enum` in its C file.

mod general;
mod marchese;
mod satellite;
mod table;

use crate::Parameter;

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

static ALL: [Control; 13] = {
    let [constant, linear, mtsi] = marchese::CONTROLS;
    let [hybla, westwood, westwood_plus, enhanced, proactive] = satellite::CONTROLS;
    let [vegas, new_vegas, veno, scalable, highspeed] = general::CONTROLS;
    [
        constant,
        linear,
        mtsi,
        hybla,
        westwood,
        westwood_plus,
        enhanced,
        vegas,
        new_vegas,
        veno,
        proactive,
        scalable,
        highspeed,
    ]
};

/// Every control.
pub static CONTROLS: &[Control] = &ALL;

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
