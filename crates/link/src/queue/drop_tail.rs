//! Drop-tail: first in, first out; what does not fit is dropped.

use super::fifo::{AdmissionRule, FifoRule};
use super::{Decision, QueueContext, QueueKind, QueueState, Rule};
use crate::{Limit, PacketMeta};

/// Parameters of a drop-tail queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DropTailSettings {
    /// How much may wait.
    pub limit: Limit,
}

impl QueueKind for DropTailSettings {
    const DECIDES_ON_ARRIVAL: bool = true;

    fn name(&self) -> &'static str {
        "drop-tail"
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn segment_limit(&mut self) -> Option<&mut Limit> {
        Some(&mut self.limit)
    }

    fn rule(&self, _: &QueueContext<'_>) -> Option<Rule> {
        Some(Rule::DropTail)
    }
}

/// Accepts a packet that the transmitter takes at once or that fits.
#[derive(Clone, Debug)]
pub(crate) struct DropTail {
    limit: Limit,
}

impl AdmissionRule for DropTail {
    type Settings = DropTailSettings;

    fn new(settings: &DropTailSettings, _: &QueueContext<'_>) -> DropTail {
        DropTail {
            limit: settings.limit,
        }
    }

    fn decide(&mut self, state: QueueState, meta: PacketMeta) -> Decision {
        state.drop_tail(self.limit, meta)
    }
}

impl<P: Copy> FifoRule<P> for DropTail {}
