//! Whether a connection went as it must.

use crate::party::{End, Seen};
use crate::plan::{Kind, Plan};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a run may contain beyond what the plans say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowed {
    /// Connections may be cut, by a reset that both ends see: a box was killed.
    pub cuts: bool,
    /// A refusal may come as a reset before any byte, because the connection was
    /// accepted before the server was asked.
    pub early: bool,
}

/// How a connection went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As planned.
    AsPlanned,
    /// Cut short, and this end was not deceived about it.
    Cut,
    /// In a way that loses or invents data, or hides how it ended.
    Violation(&'static str),
}

/// How a connection with this plan went, as one end saw it.
#[must_use]
pub fn judge(plan: &Plan, seen: &Seen, allowed: Allowed) -> Verdict {
    use Verdict::{AsPlanned, Cut, Violation};
    if seen.wrong.is_some() {
        return Violation("bytes differ");
    }
    let refusal = matches!(plan.kind, Kind::Refused | Kind::Silent);
    match &seen.end {
        // The connection was accepted first; where the reset is quick, the error
        // is that of `connect`.
        End::Done | End::Reset if refusal && allowed.early => AsPlanned,
        End::Done if refusal => Violation("refusal became an accept"),
        End::Done => AsPlanned,
        End::Refused if plan.kind == Kind::Refused => AsPlanned,
        End::Refused | End::TimedOut | End::Unreachable | End::Hung
            if plan.kind == Kind::Silent =>
        {
            AsPlanned
        }
        End::Short => Violation("clean end before everything had come"),
        End::Excess => Violation("more bytes than were sent"),
        End::NoReset if refusal => Violation("refusal became an end"),
        End::NoReset => Violation("reset became an end"),
        End::Hung => Violation("hung"),
        _ if allowed.cuts => Cut,
        End::Reset => Violation("reset that nobody sent"),
        End::Refused | End::TimedOut | End::Unreachable | End::Other(_) => {
            Violation("error that nobody caused")
        }
    }
}

/// A connection that did not go as it must.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fault {
    /// What is wrong.
    pub violation: String,
    /// `client` or `server`.
    pub side: String,
    /// Kind of the connection.
    pub kind: String,
    /// Number of the connection in its run.
    pub id: u64,
    /// How it ended at this side.
    pub end: String,
    /// Bytes of content that this side sent into its socket.
    pub sent: u64,
    /// Bytes of content that this side received.
    pub received: u64,
    /// Bytes of content planned from the client.
    pub up: u64,
    /// Bytes of content planned from the server.
    pub down: u64,
    /// Bytes planned before a reset.
    pub cut: u64,
    /// Position of the first byte that is not as it was sent.
    pub wrong: Option<u64>,
    /// Seconds from the start of the connection.
    pub after: f64,
}

impl Fault {
    /// A violation at `side`, `after` so many seconds.
    #[must_use]
    pub fn new(violation: &str, side: &str, plan: &Plan, seen: &Seen, after: f64) -> Fault {
        Fault {
            violation: violation.into(),
            side: side.into(),
            kind: plan.kind.words().into(),
            id: plan.id,
            end: seen.end.words().into(),
            sent: seen.sent,
            received: seen.received,
            up: plan.up,
            down: plan.down,
            cut: plan.cut,
            wrong: seen.wrong,
            after,
        }
    }
}

/// Connections of one kind, by how they went.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Count {
    /// As planned.
    pub as_planned: u64,
    /// Cut short, where cuts are allowed.
    pub cut: u64,
    /// In violation.
    pub violations: u64,
    /// Ends that were not [`End::Done`].
    pub ends: BTreeMap<String, u64>,
}

impl Count {
    /// Counts one.
    pub fn add(&mut self, verdict: Verdict, end: &End) {
        match verdict {
            Verdict::AsPlanned => self.as_planned += 1,
            Verdict::Cut => self.cut += 1,
            Verdict::Violation(_) => self.violations += 1,
        }
        if *end != End::Done {
            *self.ends.entry(end.words().into()).or_default() += 1;
        }
    }
}
