//! Priority drop: first in, first out, with packets that are dropped first.
//!
//! To a full queue a packet of normal priority is admitted in place of the
//! packet of low priority that is nearest to the tail. For transports that send
//! dummy segments (TCP-Peach: I. F. Akyildiz, G. Morabito, S. Palazzo,
//! "TCP-Peach: A New Congestion Control Scheme for Satellite IP Networks",
//! IEEE/ACM ToN 9(3), 2001).

use super::fifo::{Fifo, Waiter};
use super::{Decision, Discipline, QueueContext, QueueEvents, QueueKind, QueueState};
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
pub(crate) struct PriorityDrop<P> {
    limit: Limit,
    low_limit: Limit,
    fifo: Fifo<P>,
    /// Places of the packets of low priority.
    low: VecDeque<u64>,
}

impl<P: Copy> PriorityDrop<P> {
    /// Lets packets of low priority make room for others: those nearest to the
    /// tail, as many as are needed, or none.
    fn make_room(&mut self, meta: PacketMeta, events: &mut QueueEvents<'_, P>) -> Decision {
        let fits_low = !meta.low_priority || self.fifo.has_room(self.low_limit, meta.bytes);
        if fits_low && self.fifo.has_room(self.limit, meta.bytes) {
            return Decision::Accept;
        }
        if meta.low_priority {
            return Decision::DropForced;
        }
        let (mut packets, mut bytes) = (self.fifo.packets(), self.fifo.bytes());
        for (before, place) in self.low.iter().rev().enumerate() {
            packets -= 1;
            bytes -= u64::from(self.fifo.at(*place).map_or(0, |w| w.meta.bytes));
            if self.limit.admits(packets, bytes, meta.bytes) {
                for place in self.low.drain(self.low.len() - 1 - before..).rev() {
                    if let Some(waiter) = self.fifo.remove(place) {
                        events.drop_for_room(&waiter);
                    }
                }
                return Decision::Accept;
            }
        }
        Decision::DropForced
    }
}

impl<P: Copy> Discipline<P> for PriorityDrop<P> {
    type Settings = PriorityDropSettings;

    fn new(settings: &PriorityDropSettings, _: &QueueContext<'_>) -> PriorityDrop<P> {
        PriorityDrop {
            limit: settings.limit,
            low_limit: settings.low_limit.unwrap_or(settings.limit),
            fifo: Fifo::new(),
            low: VecDeque::new(),
        }
    }

    fn enqueue(
        &mut self,
        state: QueueState,
        packet: P,
        meta: PacketMeta,
        events: &mut QueueEvents<'_, P>,
    ) -> Decision {
        let decision = if state.is_served_at_once() {
            Decision::Accept
        } else {
            self.make_room(meta, events)
        };
        if decision.accepts() {
            let place = self.fifo.push(state.now, packet, meta);
            if meta.low_priority {
                self.low.push_back(place);
            }
        }
        decision
    }

    fn dequeue(&mut self, _: Time, _: &mut QueueEvents<'_, P>) -> Option<Waiter<P>> {
        let waiter = self.fifo.pop();
        while self.low.front().is_some_and(|p| *p < self.fifo.first()) {
            self.low.pop_front();
        }
        waiter
    }

    fn head(&self) -> Option<Time> {
        self.fifo.head().map(|w| w.entered)
    }

    fn fifos(&self) -> &[Fifo<P>] {
        std::slice::from_ref(&self.fifo)
    }
}

#[cfg(test)]
#[path = "priority_drop_tests.rs"]
mod tests;
