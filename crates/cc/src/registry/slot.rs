//! The slots by name, for combinations that have no name of their own.

use super::Parameter;
use super::table as p;

/// Which of the three slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotKind {
    /// Slow start.
    Start,
    /// Congestion avoidance.
    Avoidance,
    /// Reaction to loss, timeout and the end of recovery.
    Reaction,
}

impl SlotKind {
    /// What it is called in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SlotKind::Start => "slow start",
            SlotKind::Avoidance => "congestion avoidance",
            SlotKind::Reaction => "reaction",
        }
    }
}

/// What can fill a slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    /// The slot that it fills.
    pub kind: SlotKind,
    /// As scenarios write it.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What can be set.
    pub parameters: &'static [Parameter],
}

const fn slot(
    kind: SlotKind,
    name: &'static str,
    summary: &'static str,
    parameters: &'static [Parameter],
) -> Slot {
    Slot {
        kind,
        name,
        summary,
        parameters,
    }
}

static STARTS: [Slot; 7] = {
    const KIND: SlotKind = SlotKind::Start;
    [
        slot(
            KIND,
            "standard",
            "one segment per ACK (RFC 5681)",
            p::STANDARD,
        ),
        slot(
            KIND,
            "const",
            "K segments per ACK (Marchese 2006, eq. 6)",
            p::CONST,
        ),
        slot(
            KIND,
            "linear",
            "one segment more with every ACK (Marchese 2006, eq. 7)",
            p::LINEAR,
        ),
        slot(
            KIND,
            "mtsi",
            "multiple thresholds (Marchese 2006, eq. 3-5)",
            p::MTSI,
        ),
        slot(KIND, "hybla", "2^rho - 1 segments per ACK", p::HYBLA_START),
        slot(
            KIND,
            "hystart++",
            "standard until the RTT rises (RFC 9406)",
            p::HYSTART,
        ),
        slot(KIND, "fixed", "cwnd is constant", p::FIXED),
    ]
};

static AVOIDANCES: [Slot; 6] = {
    const KIND: SlotKind = SlotKind::Avoidance;
    [
        slot(
            KIND,
            "reno",
            "one segment per round trip (RFC 5681)",
            p::RENO,
        ),
        slot(
            KIND,
            "hybla",
            "rho^2 segments per round trip",
            p::HYBLA_AVOIDANCE,
        ),
        slot(
            KIND,
            "cubic",
            "a cubic of the time since the loss (RFC 9438)",
            p::CUBIC,
        ),
        slot(
            KIND,
            "highspeed",
            "a(w) segments per round trip (RFC 3649)",
            p::HIGHSPEED,
        ),
        slot(
            KIND,
            "scalable",
            "a part of the window per round trip (Kelly 2003)",
            p::SCALABLE,
        ),
        slot(KIND, "hold", "no growth", &[]),
    ]
};

static REACTIONS: [Slot; 7] = {
    const KIND: SlotKind = SlotKind::Reaction;
    [
        slot(
            KIND,
            "halve",
            "half of what is in flight (RFC 5681)",
            p::HALVE,
        ),
        slot(
            KIND,
            "westwood",
            "bandwidth estimate per ACK x smallest RTT",
            p::WESTWOOD,
        ),
        slot(
            KIND,
            "westwood+",
            "bandwidth estimate per round x smallest RTT",
            p::WESTWOOD_PLUS,
        ),
        slot(
            KIND,
            "cubic",
            "beta x what is in flight (RFC 9438)",
            p::CUBIC_REACTION,
        ),
        slot(
            KIND,
            "highspeed",
            "1 - b(w) of what is in flight (RFC 3649)",
            p::HIGHSPEED,
        ),
        slot(
            KIND,
            "scalable",
            "7/8 of what is in flight (Kelly 2003)",
            p::SCALABLE,
        ),
        slot(KIND, "ignore", "cwnd stays as it is", &[]),
    ]
};

/// Everything that can fill a slot.
#[must_use]
pub fn slots(kind: SlotKind) -> &'static [Slot] {
    match kind {
        SlotKind::Start => &STARTS,
        SlotKind::Avoidance => &AVOIDANCES,
        SlotKind::Reaction => &REACTIONS,
    }
}
