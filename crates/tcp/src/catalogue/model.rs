//! Named transports that keep a model of the path.

use super::named::{NamedTransport, control, named};

pub(super) static TRANSPORTS: [NamedTransport; 2] = [
    named(
        "bbr",
        "BBR version 1: paces at the measured bandwidth, whatever is lost",
        "draft-cardwell-iccrg-bbr-congestion-control-00",
        || control("bbr"),
    ),
    named(
        "careful-resume",
        "CUBIC that jumps to half of what the path carried last time",
        "RFC 9959",
        || control("careful-resume"),
    ),
];
