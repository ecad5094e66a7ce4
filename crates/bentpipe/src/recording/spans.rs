//! The phases of a congestion control, and what they are called.

use bentpipe_outcome::SenderSample;
use bentpipe_units::Time;

/// A phase: what outcomes call it, and what people do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Phase {
    /// The name in outcomes and qlog.
    pub name: &'static str,
    /// What it is called in text: `Slow start`.
    pub title: &'static str,
    /// The phases that are told together: those that follow each other as parts of
    /// one cycle.
    pub group: &'static str,
    /// What the sender does, a sentence; may be empty.
    pub about: &'static str,
}

const fn phase(name: &'static str, title: &'static str, about: &'static str) -> Phase {
    Phase {
        name,
        title,
        group: name,
        about,
    }
}

const fn part(
    name: &'static str,
    group: &'static str,
    title: &'static str,
    about: &'static str,
) -> Phase {
    Phase {
        name,
        title,
        group,
        about,
    }
}

const PROBE_BW: &str = "It sends at the rate that it has measured, now and then somewhat faster to \
                        find out whether there is more, and then more slowly to drain what that \
                        queued.";
const COPA: &str = "It keeps a target of a few packets in the queue by the delay that it measures.";

/// The phases that congestion controls have.
const PHASES: &[Phase] = &[
    phase("slow_start", "Slow start", ""),
    phase("congestion_avoidance", "Congestion avoidance", ""),
    phase("recovery", "Loss recovery", ""),
    phase(
        "startup",
        "Startup",
        "It sends at nearly three times the rate that it measures, until that rate stops rising.",
    ),
    phase(
        "drain",
        "Drain",
        "It sends more slowly than it measures, until the queue that startup has built is gone.",
    ),
    phase("probe_bw", "ProbeBW", PROBE_BW),
    part("probe_bw_down", "probe_bw", "ProbeBW", PROBE_BW),
    part("probe_bw_cruise", "probe_bw", "ProbeBW", PROBE_BW),
    part("probe_bw_refill", "probe_bw", "ProbeBW", PROBE_BW),
    part("probe_bw_up", "probe_bw", "ProbeBW", PROBE_BW),
    phase(
        "probe_rtt",
        "ProbeRTT",
        "It keeps a small window for a moment, to measure the RTT while the queue is empty.",
    ),
    phase(
        "cruise",
        "Cruise",
        "It sends at the rate that it has measured.",
    ),
    phase(
        "explicit",
        "Explicit feedback",
        "Routers write into each packet what its sender may send, and the window follows that.",
    ),
    phase(
        "told",
        "Given rate",
        "The sender is given the rate and the delay of the path, and its window follows from them.",
    ),
    part("default_mode", "copa", "Delay mode", COPA),
    part("competitive_mode", "copa", "Competitive mode", COPA),
    phase(
        "reconnaissance",
        "Reconnaissance",
        "It measures the RTT, to check that the path is the one it has used before.",
    ),
    phase(
        "unvalidated",
        "Unvalidated",
        "It has jumped to a window that is remembered from before, paced over one RTT.",
    ),
    phase(
        "validating",
        "Validating",
        "It waits for the ACKs of what it sent after the jump.",
    ),
    phase(
        "safe_retreat",
        "Safe retreat",
        "What was sent after the jump was lost, and the window is cut to what arrived.",
    ),
    phase(
        "initial",
        "Initial state",
        "Low-priority packets probe how much the path takes.",
    ),
    phase(
        "detection",
        "Detection",
        "After a loss the answers to low-priority packets say whether the path was congested.",
    ),
    phase("steady", "Steady state", ""),
    phase(
        "immediate_start",
        "Immediate start",
        "Packets of two priorities, spread over the slots of the first round trip, probe the path.",
    ),
    phase(
        "follow_up",
        "Follow-up",
        "Slot by slot it sends what the answers to the first round trip allow.",
    ),
    phase(
        "hold",
        "Hold",
        "About as many low-priority as high-priority segments arrive as expected, and the rate stays.",
    ),
    phase(
        "increase",
        "Increase",
        "Low-priority segments arrive like the others: the path takes more, and the rate rises.",
    ),
    phase(
        "decrease",
        "Decrease",
        "Low-priority segments do not arrive, though others do: the path is congested, and the rate falls.",
    ),
    phase(
        "blackout",
        "Blackout",
        "Nothing has arrived for a while, and it waits.",
    ),
    phase(
        "speedy_start",
        "Speedy start",
        "Low-priority packets fill what the window leaves open.",
    ),
    phase(
        "speedy_recovery",
        "Speedy recovery",
        "Low-priority packets probe whether the loss was one of congestion.",
    ),
    phase(
        "open_loop",
        "Open loop",
        "It sends at a fixed rate, whatever comes back.",
    ),
    phase(
        "congestion_warning",
        "Congestion warning",
        "Routers have marked packets, and the window follows the estimated bandwidth.",
    ),
    phase(
        "fast_start",
        "Fast start",
        "It begins with the window of an earlier connection.",
    ),
    phase(
        "rapid_recovery",
        "Rapid recovery",
        "Low-priority packets after the loss win the window back if they arrive.",
    ),
    phase(
        "quick_recovery",
        "Quick recovery",
        "Low-priority packets after the loss win the window back if they arrive.",
    ),
    phase(
        "sudden_start",
        "Sudden start",
        "Low-priority packets, spread over one RTT, open the window to what arrives of them.",
    ),
    phase(
        "jump_start",
        "Jump start",
        "Low-priority packets, spread over one RTT, open the window to what arrives of them.",
    ),
    phase(
        "accelerative_start",
        "Accelerative start",
        "The window grows faster than by one segment an ACK.",
    ),
    phase(
        "proactive_incipient",
        "Incipient congestion",
        "The queue is estimated to grow, and the window holds back.",
    ),
];

impl Phase {
    /// The phase of that name; one without a title or words if it is not listed.
    #[must_use]
    pub fn of(name: &'static str) -> Phase {
        let found = PHASES.iter().find(|phase| phase.name == name);
        found.copied().unwrap_or(phase(name, name, ""))
    }

    /// True where a window opens: at the beginning, or after a timeout.
    #[must_use]
    pub fn opens(&self) -> bool {
        self.name.ends_with("start") || self.name.ends_with("startup")
    }

    /// True where a sender repairs losses.
    #[must_use]
    pub fn repairs(&self) -> bool {
        matches!(
            self.name,
            "recovery" | "rapid_recovery" | "quick_recovery" | "speedy_recovery"
        )
    }
}

/// A time in one phase.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct PhaseSpan {
    /// The phase.
    pub phase: Phase,
    /// Its beginning.
    pub from: Time,
    /// Its end.
    pub to: Time,
    /// Index of its first sample.
    pub(super) first: usize,
    /// One past the index of its last sample.
    pub(super) last: usize,
}

/// The phases that samples show up to `end`.
pub(super) fn of(samples: &[SenderSample], end: Time) -> Vec<PhaseSpan> {
    let mut spans: Vec<PhaseSpan> = Vec::new();
    for (i, sample) in samples.iter().enumerate().filter(|(_, s)| s.at <= end) {
        match spans.last_mut() {
            Some(last) if last.phase.name == sample.phase => last.last = i + 1,
            last => {
                if let Some(last) = last {
                    last.to = sample.at;
                }
                spans.push(PhaseSpan {
                    phase: Phase::of(sample.phase),
                    from: sample.at,
                    to: end,
                    first: i,
                    last: i + 1,
                });
            }
        }
    }
    spans
}

/// Phases of one group that follow each other as one.
pub(super) fn grouped(spans: &[PhaseSpan]) -> Vec<PhaseSpan> {
    let mut groups: Vec<PhaseSpan> = Vec::new();
    // A phase that takes no time is no act, but its samples belong to the next.
    for span in spans.iter().filter(|span| span.to > span.from) {
        match groups.last_mut() {
            Some(last) if last.phase.group == span.phase.group => {
                last.to = span.to;
                last.last = span.last;
            }
            _ => groups.push(*span),
        }
    }
    groups
}
