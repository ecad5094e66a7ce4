//! Named transports for the satellite leg of a proxy, which is told what its
//! path carries.

use super::TransportSettings;
use super::named::{NamedTransport, control, named};
use crate::options::Recovery;

/// Selective acknowledgements that also tell which retransmissions were lost:
/// on a leg that is known, a timeout tells nothing new.
fn told(name: &str) -> TransportSettings {
    TransportSettings {
        recovery: Some(Recovery::SackRepeat),
        ..control(name)
    }
}

pub(super) static TRANSPORTS: [NamedTransport; 2] = [
    named(
        "complete-knowledge",
        "is told the rate of its path and paces at it from the first segment",
        "Marchese 2006, section 2 (our reading)",
        || told("complete-knowledge"),
    ),
    named(
        "satpep",
        "a window set by the proxy that sees how its satellite link is used",
        "Velenis, Kalogeras & Maglaris 2002 (abstract; our reading)",
        || told("satpep"),
    ),
];
