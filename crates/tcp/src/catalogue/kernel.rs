//! Named transports that run a control for the kernel, as the kernel would.

use super::TransportSettings;
use super::named::{self, NamedTransport, named};
use crate::profile::HostProfile;

/// On the host that it is made for.
fn control(name: &str) -> TransportSettings {
    TransportSettings {
        profile: Some(HostProfile::Linux),
        ..named::control(name)
    }
}

pub(super) static TRANSPORTS: [NamedTransport; 13] = [
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
        || control("bp_hybla"),
    ),
    named(
        "bp_westwood",
        "cuts to the bandwidth that the ACKs show, in the C that runs in the kernel",
        "Mascolo, Casetti, Gerla et al. 2001",
        || control("bp_westwood"),
    ),
    named(
        "bp_westwoodp",
        "Westwood+, in the C that runs in the kernel",
        "Grieco & Mascolo 2004",
        || control("bp_westwoodp"),
    ),
    named(
        "bp_etcpw",
        "Enhanced Westwood, in the C that runs in the kernel",
        "Caini & Firrincieli 2006, section IV.C",
        || control("bp_etcpw"),
    ),
    named(
        "bp_vegas",
        "keeps one to three segments in the queue, in the C that runs in the kernel",
        "Brakmo & Peterson 1995, with the numbers of ns-2",
        || control("bp_vegas"),
    ),
    named(
        "bp_newvegas",
        "Vegas with paced pairs and rapid convergence (our reading), in the C that runs in the kernel",
        "Sing & Soh 2005 and 2006",
        || control("bp_newvegas"),
    ),
    named(
        "bp_veno",
        "Veno, in the C that runs in the kernel",
        "Fu & Liew 2003",
        || control("bp_veno"),
    ),
    named(
        "bp_proactive",
        "a rising mean RTT cuts ahead of losses, in the C that runs in the kernel",
        "Sarkar, Shukla & Dasgupta 2010, section 2",
        || control("bp_proactive"),
    ),
    named(
        "bp_scalable",
        "Scalable TCP, in the C that runs in the kernel",
        "Kelly 2003",
        || control("bp_scalable"),
    ),
    named(
        "bp_highspeed",
        "HighSpeed TCP, in the C that runs in the kernel",
        "RFC 3649",
        || control("bp_highspeed"),
    ),
];
