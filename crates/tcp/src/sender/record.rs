//! What a sender remembers of what it did: counts, and what to undo.

use bentpipe_cc::Window;
use bentpipe_units::Time;

/// What the sender has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Data packets sent, retransmissions included.
    pub packets: u64,
    /// Data packets sent again.
    pub retransmissions: u64,
    /// Payload bytes sent, retransmissions included.
    pub payload: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Times that fast recovery began.
    pub recoveries: u64,
    /// Times that a loss, an ECN echo or a timeout made the window smaller;
    /// without those that were undone.
    pub reductions: u64,
    /// Times that a loss or timeout was found spurious and undone.
    pub undone: u64,
    /// Acknowledgements received.
    pub acks: u64,
    /// Probes sent ([`bentpipe_cc::Probes`]); none of them is in `packets`.
    pub probes: u64,
    /// Payload bytes of the probes.
    pub probe_payload: u64,
    /// Answers to probes received; they are acknowledgements, too.
    pub probe_answers: u64,
}

/// What is needed to undo the last reduction of the window.
#[derive(Clone, Debug)]
pub(crate) struct Undo {
    pub(crate) window: Window,
    /// Reductions before this one.
    pub(crate) reductions: u64,
    /// First byte that was unacknowledged when the window was reduced.
    pub(crate) una: u64,
    /// Time of the first retransmission of the episode.
    pub(crate) first_resent_at: Option<Time>,
    /// An ACK after it has advanced: later ones prove nothing by timestamp.
    pub(crate) answered: bool,
    /// Retransmissions of the episode not yet reported as duplicates.
    pub(crate) unreported: u32,
    /// A retransmission has been reported as a duplicate.
    pub(crate) any_reported: bool,
}
