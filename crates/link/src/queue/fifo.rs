//! First in, first out: the store of packets that queue disciplines share.

use super::{Decision, QueueContext, QueueEvents, QueueState};
use crate::{Limit, PacketMeta};
use bentpipe_units::Time;
use std::collections::VecDeque;

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiter<P> {
    pub(crate) entered: Time,
    pub(crate) packet: P,
    pub(crate) meta: PacketMeta,
    /// The packet was removed from the middle of the queue; its place is left.
    removed: bool,
}

/// Packets in their order of arrival.
#[derive(Clone, Debug)]
pub(crate) struct Fifo<P> {
    /// The first place always holds a packet.
    places: VecDeque<Waiter<P>>,
    /// Number of the first place, counted from the first packet ever.
    first: u64,
    packets: u64,
    bytes: u64,
}

impl<P: Copy> Fifo<P> {
    pub(super) fn new() -> Fifo<P> {
        Fifo {
            places: VecDeque::new(),
            first: 0,
            packets: 0,
            bytes: 0,
        }
    }

    pub(crate) fn packets(&self) -> u64 {
        self.packets
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// True if one more packet of `more` bytes fits under `limit`.
    pub(super) fn has_room(&self, limit: Limit, more: u32) -> bool {
        limit.admits(self.packets, self.bytes, more)
    }

    /// Number of the first place: packets that have left have lower numbers.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// Appends a packet that finds `state` if `rule` accepts it, and returns
    /// what the rule decided.
    pub(super) fn admit(
        &mut self,
        rule: &mut impl AdmissionRule,
        state: QueueState,
        packet: P,
        meta: PacketMeta,
    ) -> Decision {
        let decision = rule.decide(state, meta);
        if decision.accepts() {
            self.push(state.now, packet, meta);
        }
        decision
    }

    /// Appends a packet and returns the number of its place.
    pub(super) fn push(&mut self, now: Time, packet: P, meta: PacketMeta) -> u64 {
        self.places.push_back(Waiter {
            entered: now,
            packet,
            meta,
            removed: false,
        });
        self.packets += 1;
        self.bytes += u64::from(meta.bytes);
        self.first + self.places.len() as u64 - 1
    }

    pub(super) fn head(&self) -> Option<&Waiter<P>> {
        self.places.front()
    }

    /// Takes the first packet.
    pub(super) fn pop(&mut self) -> Option<Waiter<P>> {
        let waiter = self.places.pop_front()?;
        self.first += 1;
        self.leave(&waiter);
        self.drop_empty_places();
        Some(waiter)
    }

    /// The packet at place number `place`.
    pub(super) fn at(&self, place: u64) -> Option<&Waiter<P>> {
        let waiter = self.places.get(place.checked_sub(self.first)? as usize)?;
        (!waiter.removed).then_some(waiter)
    }

    /// Removes the packet at place number `place`.
    pub(super) fn remove(&mut self, place: u64) -> Option<Waiter<P>> {
        let index = place.checked_sub(self.first)? as usize;
        let waiter = self.places.get_mut(index).filter(|w| !w.removed)?;
        waiter.removed = true;
        let waiter = *waiter;
        self.leave(&waiter);
        self.drop_empty_places();
        Some(waiter)
    }

    /// Numbers of all places, those of removed packets among them.
    pub(super) fn numbers(&self) -> std::ops::Range<u64> {
        self.first..self.first + self.places.len() as u64
    }

    /// The packets, the first one first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Waiter<P>> {
        self.places.iter().filter(|w| !w.removed)
    }

    fn leave(&mut self, waiter: &Waiter<P>) {
        self.packets -= 1;
        self.bytes -= u64::from(waiter.meta.bytes);
    }

    fn drop_empty_places(&mut self) {
        while self.places.front().is_some_and(|w| w.removed) {
            self.places.pop_front();
            self.first += 1;
        }
    }
}

/// What decides over arriving packets alone.
pub(crate) trait AdmissionRule {
    type Settings;
    fn new(settings: &Self::Settings, link: &QueueContext<'_>) -> Self;
    /// Decides over a packet that finds `state`.
    fn decide(&mut self, state: QueueState, meta: PacketMeta) -> Decision;
}

/// A queue that serves in order of arrival and drops arriving packets only.
#[derive(Clone, Debug)]
pub(crate) struct FifoQueue<R, P> {
    rule: R,
    fifo: Fifo<P>,
}

impl<R: AdmissionRule, P: Copy> super::Discipline<P> for FifoQueue<R, P> {
    type Settings = R::Settings;

    fn new(settings: &R::Settings, link: &QueueContext<'_>) -> FifoQueue<R, P> {
        FifoQueue {
            rule: R::new(settings, link),
            fifo: Fifo::new(),
        }
    }

    fn enqueue(
        &mut self,
        state: QueueState,
        packet: P,
        meta: PacketMeta,
        _: &mut QueueEvents<'_, P>,
    ) -> Decision {
        self.fifo.admit(&mut self.rule, state, packet, meta)
    }

    fn dequeue(&mut self, _: Time, _: &mut QueueEvents<'_, P>) -> Option<Waiter<P>> {
        self.fifo.pop()
    }

    fn head(&self) -> Option<Time> {
        self.fifo.head().map(|w| w.entered)
    }

    fn fifos(&self) -> &[Fifo<P>] {
        std::slice::from_ref(&self.fifo)
    }
}
