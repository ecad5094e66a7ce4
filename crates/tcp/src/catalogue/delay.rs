//! Named transports that watch the queueing delay.

use super::named::{NamedTransport, control, named};

pub(super) static TRANSPORTS: [NamedTransport; 1] = [named(
    "veno",
    "cuts by a fifth where the queue is short, by half where it is not",
    "Fu & Liew 2003",
    || control("veno"),
)];
