//! Named transports that run a control for the kernel, as the kernel would.

use super::TransportSettings;
use super::named::{NamedTransport, control, named};
use crate::Pacing;

/// The kernel lets ten segments of a paced connection go at once.
fn paced(name: &str) -> TransportSettings {
    TransportSettings {
        pacing: Some(Pacing::Window {
            gain: 1.0,
            initial_burst: 10,
        }),
        ..control(name)
    }
}

pub(super) static TRANSPORTS: [NamedTransport; 4] = [
    named(
        "bp_const",
        "K segments per ACK in slow start, in the C that runs in the kernel",
        "Marchese 2006, eq. 6",
        || control("bp_const"),
    ),
    named(
        "bp_linear",
        "one segment more with every ACK of slow start, in the C that runs in the kernel",
        "Marchese 2006, eq. 7",
        || control("bp_linear"),
    ),
    named(
        "bp_mtsi",
        "multi-threshold slow start 20-30-40, in the C that runs in the kernel",
        "Marchese 2006, eq. 3-5",
        || control("bp_mtsi"),
    ),
    named(
        "bp_hybla",
        "Hybla with gate, Hoe's estimate and pacing, in the C that runs in the kernel",
        "Caini & Firrincieli 2004 and 2006, section IV",
        || paced("bp_hybla"),
    ),
];
