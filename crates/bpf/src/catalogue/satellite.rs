//! Controls made for satellite links, and those of Caini & Firrincieli 2006.

use super::table::{
    ACCOUNTING, HOE, INITIAL_WINDOW, RECOVERY_FIX, WINDOW_CLAMP, choice, control, count, decimal,
    flag, time,
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
    HOE,
    RECOVERY_FIX,
    decimal(
        "pacing_gain",
        "",
        &[1_000_000],
        (0, 4_000_000),
        "packets leave at so many times cwnd / smoothed RTT; 0: as the window allows",
    ),
];

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

static WESTWOOD: [Parameter; 6] = [
    INITIAL_WINDOW,
    WINDOW_CLAMP,
    FILTER,
    TAU,
    ZERO_SAMPLES,
    ACCOUNTING,
];

static ETCPW: [Parameter; 8] = [
    INITIAL_WINDOW,
    WINDOW_CLAMP,
    FILTER,
    TAU,
    ZERO_SAMPLES,
    ACCOUNTING,
    HOE,
    RECOVERY_FIX,
];

static WESTWOODP: [Parameter; 6] = [
    INITIAL_WINDOW,
    WINDOW_CLAMP,
    choice(
        "filter",
        &["exponential", "tustin"],
        "low-pass on the samples: the paper's, or that of ns-3",
    ),
    choice(
        "cut",
        &["at-loss", "linux"],
        "cut to the estimate at the loss or after recovery",
    ),
    ACCOUNTING,
    flag(
        "skip_app_limited",
        &[1],
        "a sample from a window that was not used counts only if larger",
    ),
];

static PROACTIVE: [Parameter; 9] = [
    INITIAL_WINDOW,
    WINDOW_CLAMP,
    count(
        "rises",
        "",
        &[2],
        (1, 100),
        "rises (and falls) of the mean RTT in a row that change the state: 2 for three windows",
    ),
    decimal(
        "dead_band",
        "",
        &[0],
        (0, 1_000_000),
        "share of the last mean RTT that a change must exceed to count",
    ),
    decimal(
        "penalty",
        "",
        &[850_000],
        (50_000, 1_000_000),
        "what incipient congestion leaves of the window; 1 leaves it all",
    ),
    choice(
        "slow_start",
        &["same", "one-rise"],
        "what slow start takes for incipient congestion: the same, or the first rise",
    ),
    choice(
        "timeout_ssthresh",
        &["previous", "flight"],
        "what a timeout halves for ssthresh",
    ),
    choice(
        "after_error",
        &["avoidance", "by-ssthresh"],
        "where a loss without incipient congestion leads: congestion avoidance, or what cwnd and \
         ssthresh say",
    ),
    choice(
        "start_ssthresh",
        &["half-receive-window", "transport"],
        "first ssthresh: half of the receive window, or the kernel's",
    ),
];

pub(super) const CONTROLS: [Control; 5] = [
    control!(
        "hybla",
        "grows like a connection of RTT0, whatever the round-trip time; paced",
        "Caini & Firrincieli 2004; Caini & Firrincieli 2006, sec. IV",
        HYBLA
    ),
    control!(
        "westwood",
        "cuts to the bandwidth that the ACKs show",
        "Mascolo, Casetti, Gerla et al. 2001",
        WESTWOOD
    ),
    control!(
        "westwoodp",
        "Westwood+: Westwood with one bandwidth sample per round trip",
        "Grieco & Mascolo 2004",
        WESTWOODP
    ),
    control!(
        "etcpw",
        "Enhanced Westwood: Hoe's initial ssthresh, recovery fix",
        "Caini & Firrincieli 2006, sec. IV.C",
        ETCPW
    ),
    control!(
        "proactive",
        "a rising mean RTT cuts ahead of losses; losses without it cut nothing",
        "Sarkar, Shukla & Dasgupta 2010, section 2",
        PROACTIVE
    ),
];
