//! Priority drop: first in, first out, with packets that are dropped first.
//!
//! To a full queue a packet of normal priority is admitted in place of the
//! packet of low priority that is nearest to the tail. For transports that send
//! dummy segments (TCP-Peach: I. F. Akyildiz, G. Morabito, S. Palazzo,
//! "TCP-Peach: A New Congestion Control Scheme for Satellite IP Networks",
//! IEEE/ACM ToN 9(3), 2001).

use super::fifo::{AdmissionRule, Fifo, FifoRule, Waiter};
use super::{Decision, QueueContext, QueueEvents, QueueKind, QueueState};
use crate::{Limit, PacketMeta};
use bentpipe_units::Time;
use std::collections::VecDeque;

/// Parameters of a queue with priority drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PriorityDropSettings {
    /// How much may wait.
    pub limit: Limit,
    /// A packet of low priority is admitted only while no more than this
    /// waits with it; `None`: `limit`.
    pub low_limit: Option<Limit>,
}

impl QueueKind for PriorityDropSettings {
    fn name(&self) -> &'static str {
        "priority drop"
    }

    fn limit(&self) -> Limit {
        self.limit
    }
}

#[derive(Clone, Debug)]
pub(crate) struct PriorityDrop {
    limit: Limit,
    low_limit: Limit,
    /// Places of the packets of low priority.
    low: VecDeque<u64>,
}

impl AdmissionRule for PriorityDrop {
    type Settings = PriorityDropSettings;

    fn new(settings: &PriorityDropSettings, _: &QueueContext<'_>) -> PriorityDrop {
        PriorityDrop {
            limit: settings.limit,
            low_limit: settings.low_limit.unwrap_or(settings.limit),
            low: VecDeque::new(),
        }
    }

    fn decide(&mut self, state: QueueState, meta: PacketMeta) -> Decision {
        match state.drop_tail(self.limit, meta) {
            Decision::Accept if meta.low_priority => state.drop_tail(self.low_limit, meta),
            decision => decision,
        }
    }
}

impl PriorityDrop {
    /// Lets packets of low priority make room for a packet: those nearest to the
    /// tail, as many as are needed, or none.
    fn make_room<P: Copy>(
        &mut self,
        fifo: &mut Fifo<P>,
        meta: PacketMeta,
        events: &mut QueueEvents<'_, P>,
    ) -> Decision {
        let (mut packets, mut bytes) = (fifo.packets(), fifo.bytes());
        for (before, place) in self.low.iter().rev().enumerate() {
            packets -= 1;
            bytes -= u64::from(fifo.at(*place).map_or(0, |w| w.meta.bytes));
            if self.limit.admits(packets, bytes, meta.bytes) {
                for place in self.low.drain(self.low.len() - 1 - before..).rev() {
                    if let Some(waiter) = fifo.remove(place) {
                        events.drop_for_room(&waiter);
                    }
                }
                return Decision::Accept;
            }
        }
        Decision::DropForced
    }
}

impl<P: Copy> FifoRule<P> for PriorityDrop {
    fn admit(
        &mut self,
        fifo: &mut Fifo<P>,
        state: QueueState,
        meta: PacketMeta,
        events: &mut QueueEvents<'_, P>,
    ) -> Decision {
        let mut decision = self.decide(state, meta);
        if !meta.low_priority && !decision.accepts() {
            decision = self.make_room(fifo, meta, events);
        }
        if decision.accepts() && meta.low_priority {
            self.low.push_back(fifo.numbers().end);
        }
        decision
    }

    fn take(
        &mut self,
        fifo: &mut Fifo<P>,
        _: Time,
        _: &mut QueueEvents<'_, P>,
    ) -> Option<Waiter<P>> {
        let waiter = fifo.pop();
        while self.low.front().is_some_and(|p| *p < fifo.numbers().start) {
            self.low.pop_front();
        }
        waiter
    }
}

#[cfg(test)]
#[path = "priority_drop_tests.rs"]
mod tests;
