//! The controls of Caini & Firrincieli 2006 and their components.

use super::table::{
    ACCOUNTING, HOE, RECOVERY_FIX, choice, control, count, decimal, flag, parameters, time,
};
use crate::{Control, Parameter};

parameters! { HYBLA:
    time rtt0: &[25_000_000], (100_000, 60_000_000_000), "RTT of the reference connection";
    flag doubling_limit: &[1], "an ACK adds no more than cwnd while Hoe's estimate is not there";
    choice start_window: &["transport", "rho"], "initial window: initial_window, or rho (Linux)";
    choice gate: &["hoe", "off"], "the bandwidth-delay product up to which cwnd grows by rho^2";
    choice count: &["segments", "acks"], "what a step of congestion avoidance counts";
    shared HOE;
    shared RECOVERY_FIX;
    decimal pacing_gain: "", &[1_000_000], (0, 4_000_000),
        "packets leave at so many times cwnd / smoothed RTT; 0: as the window allows";
}

const FILTER: Parameter = choice(
    "filter",
    &["tustin", "type-0", "type-1", "type-2"],
    "low-pass on the samples: the paper's, or one of the ns-2 agent",
);

const TAU: Parameter = time(
    "tau",
    &[500_000_000],
    (1_000_000, 60_000_000_000),
    "time constant of tustin",
);

const ZERO_SAMPLES: Parameter = count(
    "zero_samples",
    "",
    &[2],
    (1, 16),
    "m: zero samples every tau / m without an ACK",
);

parameters! { WESTWOOD:
    shared FILTER;
    shared TAU;
    shared ZERO_SAMPLES;
    shared ACCOUNTING;
}

parameters! { ETCPW:
    shared FILTER;
    shared TAU;
    shared ZERO_SAMPLES;
    shared ACCOUNTING;
    shared HOE;
    shared RECOVERY_FIX;
}

parameters! { WESTWOODP:
    choice filter: &["exponential", "tustin"],
        "low-pass on the samples: the paper's, or that of ns-3";
    choice cut: &["at-loss", "linux"], "cut to the estimate at the loss or after recovery";
    shared ACCOUNTING;
    flag skip_app_limited: &[1], "a sample from a window that was not used counts only if larger";
}

pub(super) const CONTROLS: [Control; 4] = [
    control!(
        "hybla",
        "grows like a connection of RTT0, whatever the round-trip time; paced",
        "Caini & Firrincieli 2004; Caini & Firrincieli 2006, sec. IV",
        HYBLA,
        "Hybla with gate, Hoe's estimate and pacing" => "Caini & Firrincieli 2004 and 2006, section IV"
    ),
    control!(
        "westwood",
        "cuts to the bandwidth that the ACKs show",
        "Mascolo, Casetti, Gerla et al. 2001",
        WESTWOOD,
        "cuts to the bandwidth that the ACKs show" => "Mascolo, Casetti, Gerla et al. 2001"
    ),
    control!(
        "westwoodp",
        "Westwood+: Westwood with one bandwidth sample per round trip",
        "Grieco & Mascolo 2004",
        WESTWOODP,
        "Westwood+" => "Grieco & Mascolo 2004"
    ),
    control!(
        "etcpw",
        "Enhanced Westwood: Hoe's initial ssthresh, recovery fix",
        "Caini & Firrincieli 2006, sec. IV.C",
        ETCPW,
        "Enhanced Westwood" => "Caini & Firrincieli 2006, section IV.C"
    ),
];
