//! Named transports for large windows.

use super::named::{NamedTransport, control, named};

pub(super) static TRANSPORTS: [NamedTransport; 2] = [
    named(
        "highspeed",
        "the larger the window, the faster it grows and the less a loss takes",
        "RFC 3649",
        || control("highspeed"),
    ),
    named(
        "scalable",
        "grows by a hundredth per round trip, loses an eighth",
        "Kelly 2003",
        || control("scalable"),
    ),
];
