//! A congestion control for the kernel, as the catalogue describes it.

use crate::Parameter;

/// What lists of transports say of a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brief {
    /// One-line summary.
    pub summary: &'static str,
    /// Paper with section or equation, or RFC.
    pub source: &'static str,
}

/// A congestion control for the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// The name that programs choose it by, unless it is loaded under another.
    pub name: &'static str,
    /// Its file in `bpf/`.
    pub source: &'static str,
    /// One-line summary.
    pub summary: &'static str,
    /// Where it comes from.
    pub origin: &'static str,
    /// The transport of the same name in the simulator.
    pub transport: Brief,
    /// What it takes, in the order of the words that the C reads.
    pub parameters: &'static [Parameter],
}
