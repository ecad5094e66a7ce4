//! Named transports made for satellite links.

use super::TransportSettings;
use super::named::{NamedTransport, control, named};
use crate::{Pacing, Recovery};
use bentpipe_units::Duration;

pub(super) static TRANSPORTS: [NamedTransport; 9] = [
    named(
        "scps-tp",
        "Vegas over negative acknowledgements (SNACK); losses that a link reports as corruption \
         cut nothing",
        "CCSDS 714.0-B, Salamanca 2008, section 2.2 (our reading)",
        || TransportSettings {
            recovery: Some(Recovery::Snack),
            timestamps: Some(true),
            // The receiver delays ACKs by half of the round trip at most.
            ack_timer: Some(Duration::from_secs(1)),
            ..control("vegas")
        },
    ),
    named(
        "proactive",
        "a rising mean RTT cuts the window by 15% ahead of losses; losses without it cut nothing",
        "Sarkar, Shukla & Dasgupta 2010, section 2",
        || TransportSettings {
            // Section 2.4: "the congestion window to one". Which recovery it runs
            // on is not said: the profile's, or the scenario's.
            initial_window: Some(1.0),
            ..control("proactive")
        },
    ),
    named(
        "jersey",
        "cuts where queues mark (ECN); where none does, only timeouts cut it",
        "Xu, Tian & Ansari 2004 (a reading of its abstract)",
        || TransportSettings {
            ecn: Some(true),
            ..control("jersey")
        },
    ),
    named(
        "star",
        "windows from the available bandwidth after errors and while growing; undo, ECN",
        "Obata et al. 2006 (our reading of a survey)",
        || TransportSettings {
            ecn: Some(true),
            // Stands for the notification of acknowledgement errors.
            timestamps: Some(true),
            undo: Some(true),
            ..control("star")
        },
    ),
    named(
        "peach",
        "low-priority dummies find the window in two round trips; needs priority queues",
        "Akyildiz, Morabito & Palazzo 2001 (a reading of its abstract)",
        || TransportSettings {
            initial_window: Some(1.0),
            recovery: Some(Recovery::NewReno),
            ..control("peach")
        },
    ),
    named(
        "peach+",
        "Peach with SACK and probes that repair losses; needs priority queues",
        "Akyildiz, Zhang & Fang 2002 (a reading of its abstract)",
        || TransportSettings {
            initial_window: Some(1.0),
            recovery: Some(Recovery::Sack),
            ..control("peach+")
        },
    ),
    named(
        "fast-start",
        "goes on after idling with the window it had, paced and at low priority at first",
        "Padmanabhan & Katz 1998 (our reading of a survey)",
        || TransportSettings {
            pacing: Some(Pacing::Window {
                gain: 1.0,
                initial_burst: 4,
            }),
            ..control("fast-start")
        },
    ),
    named(
        "astart",
        "Westwood whose slow start follows the bandwidth estimate",
        "Wang et al. 2004 (our reading of a survey)",
        || TransportSettings {
            recovery: Some(Recovery::NewReno),
            ..control("astart")
        },
    ),
    named(
        "bulk-repeat",
        "Westwood that sends everything again on a random loss; its timeout does not back off",
        "Yang et al. 2005 (our reading of a survey)",
        || TransportSettings {
            recovery: Some(Recovery::NewReno),
            ..control("bulk-repeat")
        },
    ),
];
