//! The family of algorithms that are told what to send: what they are, what
//! they take, and how they are built.

use super::reader::Reader;
use super::table::number;
use super::{Described, Parameter};
use crate::Whole;
use crate::explicit::{CompleteKnowledge, Explicit, OpenLoop, SatPep, Xcp};
use bentpipe_units::Rate;

static OPEN_LOOP: [Parameter; 1] = [number(
    "rate",
    1.0,
    "Mbit/s",
    (0.000_001, 1_000_000.0),
    "payload that leaves, whatever happens",
)];

static COMPLETE_KNOWLEDGE: [Parameter; 3] = [
    number(
        "rate",
        0.0,
        "Mbit/s",
        (0.0, 1_000_000.0),
        "payload that leaves; 0: its share of the bottleneck on its way",
    ),
    number(
        "weight",
        1.0,
        "",
        (0.001, 1_000.0),
        "its part where several share a bottleneck",
    ),
    number(
        "window_gain",
        2.0,
        "",
        (1.0, 100.0),
        "most in flight, in bandwidth-delay products",
    ),
];

static SATPEP: [Parameter; 1] = [number(
    "threshold",
    0.95,
    "",
    (0.0, 1.0),
    "use of the link below which it is shared out anew",
)];

pub(super) static NAMED: [Described; 5] = [
    Described {
        name: "xcp",
        summary: "routers write into packets by how much the window is to change",
        source: "Katabi, Handley & Rohrs 2002; ns-2.35 xcp/",
        open: "feedback is taken from every ACK; the end of recovery leaves the window alone",
        slots: None,
        parameters: &[],
    },
    Described {
        name: "p-xcp",
        summary: "XCP that keeps its window at a triple duplicate ACK",
        source: "Zhou, Yeung & Li 2004 (abstract)",
        open: "a timeout cuts the window; the routers' part is an option of the queue `xcp`",
        slots: None,
        parameters: &[],
    },
    Described {
        name: "open-loop",
        summary: "sends at a given rate whatever happens",
        source: "CCSDS 714.0-B (SCPS-TP without congestion control)",
        open: "all of it is our reading: no window, no reaction",
        slots: None,
        parameters: &OPEN_LOOP,
    },
    Described {
        name: "complete-knowledge",
        summary: "is told the rate of its path and paces at it: no probing, no cuts",
        source: "Marchese 2006, section 2 (the architecture, left to future study)",
        open: "all of it is our reading: who shares a bottleneck, and by what",
        slots: None,
        parameters: &COMPLETE_KNOWLEDGE,
    },
    Described {
        name: "satpep",
        summary: "a window set by the proxy that sees how its link is used; no cuts",
        source: "Velenis, Kalogeras & Maglaris 2002 (abstract)",
        open: "the window rule is our reading; SACK stands for negative acknowledgements",
        slots: None,
        parameters: &SATPEP,
    },
];

/// True for the names of those whose packets carry a congestion header (XCP).
#[must_use]
pub fn needs_feedback(name: &str) -> bool {
    matches!(name, "xcp" | "p-xcp")
}

/// The algorithm of that name with the reader's parameters.
pub(super) fn build(name: &str, reader: &Reader<'_>) -> Option<Whole> {
    let explicit = match name {
        "xcp" => Explicit::Xcp(Xcp::new()),
        "p-xcp" => Explicit::Xcp(Xcp::p_xcp()),
        "open-loop" => {
            let rate = Rate::from_bps_f64(reader.number("rate") * 1e6);
            Explicit::OpenLoop(OpenLoop::new(rate))
        }
        "complete-knowledge" => {
            let rate = reader.number("rate");
            let rate = (rate > 0.0).then(|| Rate::from_bps_f64(rate * 1e6));
            let gain = reader.number("window_gain");
            Explicit::CompleteKnowledge(CompleteKnowledge::new(rate, gain))
        }
        "satpep" => Explicit::SatPep(SatPep::new(reader.number("threshold"))),
        _ => return None,
    };
    Some(Whole::Explicit(explicit))
}
