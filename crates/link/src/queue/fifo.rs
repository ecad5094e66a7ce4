//! First in, first out: the store of packets that queue disciplines share.

use super::{Decision, Discipline, QueueContext, QueueEvents, QueueState, XcpHeader};
use crate::PacketMeta;
use bentpipe_units::{Rate, Time};
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

    /// Appends a packet, at the place behind [`Fifo::numbers`].
    pub(super) fn push(&mut self, now: Time, packet: P, meta: PacketMeta) {
        self.places.push_back(Waiter {
            entered: now,
            packet,
            meta,
            removed: false,
        });
        self.packets += 1;
        self.bytes += u64::from(meta.bytes);
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

    /// Numbers of all places, those of removed packets among them. Packets that have
    /// left had lower ones.
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

/// What moves the packets of one FIFO.
pub(crate) trait FifoRule<P: Copy>: AdmissionRule {
    /// Decides over a packet; one that is accepted is appended then.
    fn admit(
        &mut self,
        _fifo: &mut Fifo<P>,
        state: QueueState,
        meta: PacketMeta,
        _events: &mut QueueEvents<'_, P>,
    ) -> Decision {
        self.decide(state, meta)
    }

    /// See [`Discipline::dequeue`].
    fn take(
        &mut self,
        fifo: &mut Fifo<P>,
        _now: Time,
        _events: &mut QueueEvents<'_, P>,
    ) -> Option<Waiter<P>> {
        fifo.pop()
    }

    /// See [`Discipline::drop_waiting`].
    fn drop_waiting(
        &mut self,
        _fifo: &mut Fifo<P>,
        _is_superfluous: impl FnMut(&P) -> bool,
        _events: &mut QueueEvents<'_, P>,
    ) {
    }

    /// See [`Discipline::announce`].
    fn announce(&mut self, _header: Option<XcpHeader>) {}

    /// See [`Discipline::set_rate`].
    fn set_rate(&mut self, _rate: Rate) {}
}

/// A queue that serves in order of arrival.
#[derive(Clone, Debug)]
pub(crate) struct FifoQueue<R, P> {
    rule: R,
    fifo: Fifo<P>,
}

impl<R: FifoRule<P>, P: Copy> Discipline<P> for FifoQueue<R, P> {
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
        events: &mut QueueEvents<'_, P>,
    ) -> Decision {
        let decision = self.rule.admit(&mut self.fifo, state, meta, events);
        if decision.accepts() {
            self.fifo.push(state.now, packet, meta);
        }
        decision
    }

    fn dequeue(&mut self, now: Time, events: &mut QueueEvents<'_, P>) -> Option<Waiter<P>> {
        self.rule.take(&mut self.fifo, now, events)
    }

    fn head(&self) -> Option<Time> {
        self.fifo.head().map(|w| w.entered)
    }

    fn fifos(&self) -> &[Fifo<P>] {
        std::slice::from_ref(&self.fifo)
    }

    fn backlog(&self) -> (u64, u64) {
        (self.fifo.packets(), self.fifo.bytes())
    }

    fn drop_waiting(
        &mut self,
        is_superfluous: impl FnMut(&P) -> bool,
        events: &mut QueueEvents<'_, P>,
    ) {
        self.rule
            .drop_waiting(&mut self.fifo, is_superfluous, events);
    }

    fn announce(&mut self, header: Option<XcpHeader>) {
        self.rule.announce(header);
    }

    fn set_rate(&mut self, rate: Rate) {
        self.rule.set_rate(rate);
    }
}
