//! Named transports that watch the queueing delay.

use super::named::{NamedTransport, control, named};

pub(super) static TRANSPORTS: [NamedTransport; 4] = [
    named(
        "vegas",
        "keeps one to three segments in the queue; retransmits by a fine timer",
        "Brakmo & Peterson 1995, with the numbers of ns-2",
        || control("vegas"),
    ),
    named(
        "new-vegas",
        "Vegas with paced pairs in slow start and rapid window convergence (our reading)",
        "Sing & Soh 2005 and 2006",
        || control("new-vegas"),
    ),
    named(
        "dvegas",
        "Vegas that hears its terminal's MAC queue; losses do not cut (our reading)",
        "Wu, Peng & Leung 2004",
        || control("dvegas"),
    ),
    named(
        "veno",
        "cuts by a fifth where the queue is short, by half where it is not",
        "Fu & Liew 2003",
        || control("veno"),
    ),
];
