//! Controls made for satellite links.

use super::table::{
    INITIAL_WINDOW, RECOVERY_FIX, WINDOW_CLAMP, choice, control, decimal, flag, time,
};
use crate::{Control, Parameter};

static HYBLA: [Parameter; 10] = [
    INITIAL_WINDOW,
    WINDOW_CLAMP,
    time(
        "rtt0",
        &[25_000_000],
        (100_000, 60_000_000_000),
        "RTT of the reference connection",
    ),
    flag(
        "doubling_limit",
        &[1],
        "an ACK adds no more than cwnd while Hoe's estimate is not there",
    ),
    choice(
        "start_window",
        &["transport", "rho"],
        "initial window: initial_window, or rho (Linux)",
    ),
    choice(
        "gate",
        &["hoe", "off"],
        "the bandwidth-delay product up to which cwnd grows by rho^2",
    ),
    choice(
        "count",
        &["segments", "acks"],
        "what a step of congestion avoidance counts",
    ),
    choice(
        "hoe",
        &["round", "off"],
        "Hoe's estimate of the initial ssthresh, from the closest ACKs of one round",
    ),
    RECOVERY_FIX,
    decimal(
        "pacing",
        "",
        &[1_000_000],
        (0, 4_000_000),
        "packets leave at so many times cwnd / smoothed RTT; 0: as the window allows",
    ),
];

pub(super) const CONTROLS: [Control; 1] = [control!(
    "hybla",
    "grows like a connection of RTT0, whatever the round-trip time; paced",
    "Caini & Firrincieli 2004; Caini & Firrincieli 2006, sec. IV",
    HYBLA
)];
