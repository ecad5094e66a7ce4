//! Named transports that are told what to send.

use super::named::{NamedTransport, control, named};

pub(super) static TRANSPORTS: [NamedTransport; 3] = [
    named(
        "xcp",
        "explicit control: routers on the path set the window; needs queues of kind `xcp`",
        "Katabi, Handley & Rohrs 2002",
        || control("xcp"),
    ),
    named(
        "p-xcp",
        "XCP that keeps its window when three duplicate ACKs show a loss; needs queues of kind \
         `xcp`",
        "Zhou, Yeung & Li 2004 (our reading of its abstract)",
        || control("p-xcp"),
    ),
    named(
        "open-loop",
        "sends at a given rate whatever happens, for a link that is known and reserved",
        "CCSDS 714.0-B without congestion control (our reading)",
        || control("open-loop"),
    ),
];
