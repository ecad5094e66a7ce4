//! Named transports that run a congestion control module of Linux.

use super::named::{NamedTransport, control, named};

pub(super) static TRANSPORTS: [NamedTransport; 7] = [
    named(
        "reno-linux",
        "Reno in the whole numbers of Linux",
        "Linux tcp_cong.c",
        || control("reno-linux"),
    ),
    named(
        "vegas-linux",
        "Vegas of Linux: two to four segments in the queue, no timer of its own",
        "Linux tcp_vegas.c",
        || control("vegas-linux"),
    ),
    named(
        "veno-linux",
        "Veno of Linux, in half segments",
        "Linux tcp_veno.c",
        || control("veno-linux"),
    ),
    named(
        "highspeed-linux",
        "HighSpeed of Linux: the table of RFC 3649",
        "Linux tcp_highspeed.c",
        || control("highspeed-linux"),
    ),
    named(
        "scalable-linux",
        "Scalable of Linux: a segment per 100 acknowledged",
        "Linux tcp_scalable.c",
        || control("scalable-linux"),
    ),
    named(
        "westwood-linux",
        "Westwood+ of Linux: cuts when recovery ends",
        "Linux tcp_westwood.c",
        || control("westwood-linux"),
    ),
    named(
        "hybla-linux",
        "Hybla of Linux: no Hoe estimate, no gate, no pacing",
        "Linux tcp_hybla.c",
        || control("hybla-linux"),
    ),
];
