//! A link whose two ends are in different parts of a network.
//!
//! Each part has the link. The near one admits packets, the far ones have those that arrive there in
//! their ring. How much later that is at least is what lets the parts run side by side.

use super::{Carried, Link, Service};
use crate::ring::Ring;
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
    pub fn land(&mut self, arrival: Time, sent: Time, packet: P) -> bool {
        let ring = self.carried.len();
        let later = |ring: &Ring<Carried<P>>, place: usize| {
            ring.get(place).is_some_and(|c| c.arrival > arrival)
        };
        let mut place = ring;
        while place > 0 && later(&self.carried, place - 1) {
            place -= 1;
        }
        if let Service::Scheduled(service) = &mut self.service {
            service.carry(ring, place, sent);
        }
        self.carried.insert(place, Carried { arrival, packet });
        place == 0
    }

    /// Takes the packets that are in the ring of `far`, which is this link in another part of the
    /// network.
    pub fn join(&mut self, far: &Link<P>) {
        for ((arrival, packet), sent) in far.under_way().zip(far.sent()) {
            self.land(arrival, sent, *packet);
        }
    }
}
