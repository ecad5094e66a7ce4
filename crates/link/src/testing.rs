//! A link by itself, for tests: with a pool of its own.

use crate::{LinkPlan, LinkSettings, PacketMeta, PacketPool, Verdict};
use bentpipe_units::Time;
use std::ops::{Deref, DerefMut};

/// A link and its pool.
#[derive(Clone, Debug)]
pub(crate) struct Link<P> {
    link: crate::Link<P>,
    pool: PacketPool<P>,
}

impl<P> Deref for Link<P> {
    type Target = crate::Link<P>;

    fn deref(&self) -> &crate::Link<P> {
        &self.link
    }
}

impl<P> DerefMut for Link<P> {
    fn deref_mut(&mut self) -> &mut crate::Link<P> {
        &mut self.link
    }
}

impl<P: Copy> Link<P> {
    pub(crate) fn new(settings: &LinkSettings, seed: u64, name: &str) -> Link<P> {
        Link::build(&LinkPlan::new(settings, seed, name))
    }

    pub(crate) fn build(plan: &LinkPlan<'_>) -> Link<P> {
        Link {
            link: crate::Link::build(plan),
            pool: PacketPool::default(),
        }
    }

    pub(crate) fn offer(&mut self, now: Time, packet: P, meta: PacketMeta) -> Verdict {
        self.link.offer(&mut self.pool, now, packet, meta)
    }

    pub(crate) fn carry(&mut self, arrival: Time, packet: P) -> bool {
        self.link.carry(&mut self.pool, arrival, packet)
    }

    pub(crate) fn next_arrival(&self) -> Option<Time> {
        self.link.next_arrival(&self.pool)
    }

    pub(crate) fn deliver(&mut self, now: Time) -> Option<P> {
        let delivered = self.link.deliver(&mut self.pool, now);
        delivered.map(|(packet, _)| packet)
    }

    pub(crate) fn under_way(&self) -> impl Iterator<Item = (Time, &P)> {
        self.link.under_way(&self.pool)
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.link.in_flight(&self.pool)
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.link.delivered(&self.pool)
    }

    pub(crate) fn sent(&self) -> impl Iterator<Item = Time> {
        self.link.sent(&self.pool)
    }

    /// When either kind of link is to be looked at.
    pub(crate) fn next_event(&self) -> Option<Time> {
        match self.link.is_event_driven() {
            true => self.link.next_event(),
            false => self.next_arrival(),
        }
    }

    pub(crate) fn deliver_due(&mut self, now: Time) -> Option<P> {
        match self.link.is_event_driven() {
            true => self.link.deliver_due(now),
            false => {
                self.link.advance(now);
                self.deliver(now)
            }
        }
    }

    pub(crate) fn offer_xcp(
        &mut self,
        now: Time,
        packet: P,
        meta: PacketMeta,
        header: Option<crate::XcpHeader>,
    ) -> Verdict {
        match self.link.is_event_driven() {
            true => self.link.offer_xcp(now, packet, meta, header),
            false => self.offer(now, packet, meta),
        }
    }
}
