//! A link whose two ends are in different parts of a network.
//!
//! Each part has the link. The near one admits packets, the far ones have those that arrive there in
//! their ring. How much later that is at least is what lets the parts run side by side.

use super::{Carried, Link, Service};
use crate::PacketPool;
use bentpipe_units::{Duration, Time};

impl<P: Copy> Link<P> {
    /// No packet arrives sooner than this after it was admitted; `None` where its arrival is not
    /// known then, its delay varies, or a packet may overtake others.
    #[must_use]
    pub fn least_delay(&self) -> Option<Duration> {
        match &self.service {
            Service::DropTail | Service::Red(_) => Some(self.propagation),
            Service::Scheduled(service) => service.course.least_delay(),
            Service::EventDriven(_) | Service::Port(_) => None,
        }
    }

    /// Takes a packet that the link has admitted in another part of the network, which arrives at
    /// `arrival` and whose transmission ends at `sent`. True if it is the next one to arrive.
    pub fn land(&mut self, pool: &mut PacketPool<P>, arrival: Time, sent: Time, packet: P) -> bool {
        match &mut self.service {
            Service::Scheduled(service) => service.land(sent, Carried { arrival, packet }),
            _ => self.carried.insert(pool, arrival, packet),
        }
    }

    /// Takes the packets that are on `far`, which is this link in another part of the network; both
    /// have them in the same pool.
    pub fn join(&mut self, pool: &mut PacketPool<P>, far: &Link<P>) {
        let under_way = far.under_way(pool).zip(far.sent(pool));
        let under_way: Vec<_> = under_way.map(|((at, p), sent)| (at, sent, *p)).collect();
        for (arrival, sent, packet) in under_way {
            self.land(pool, arrival, sent, packet);
        }
    }

    /// Moves the packets of the link that are in one pool to another.
    pub fn change_pool(&mut self, from: &mut PacketPool<P>, to: &mut PacketPool<P>) {
        self.carried.move_to(from, to);
    }
}
