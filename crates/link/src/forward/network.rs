//! One hop: a packet is offered to a link, arrives, and continues to the next.

use super::media::Media;
use super::paths::Hop;
use super::{Driver, InFlight, Lookahead, Loss, Paths};
use crate::medium::Medium;
use crate::{Admission, Link, PacketPool, Verdict};
use bentpipe_units::Time;

/// Links, media and the paths through them.
#[derive(Debug)]
pub struct Network {
    /// All links, in the order of their numbers.
    pub links: Vec<Link<InFlight>>,
    /// The packets on links that do not keep them themselves.
    pub pool: PacketPool<InFlight>,
    /// All paths that packets may be assigned to.
    pub paths: Paths,
    /// Links that are offered packets ahead of time.
    pub lookahead: Lookahead,
    /// The media that some of the links share.
    pub media: Media,
    /// The event of each event-driven link that is scheduled.
    pub(super) scheduled: Vec<Time>,
    /// The node that each link leaves, where packets may be rerouted.
    pub(super) reroutes: Option<Vec<u32>>,
}

/// Consequence of an event of a link or a medium.
#[derive(Clone, Copy, Debug)]
pub enum Arrival {
    /// Nothing that concerns the driver: the packet went on to its next link,
    /// or none has arrived.
    Nothing,
    /// A packet has reached the end of its path.
    Delivered {
        /// The packet, which has left the network.
        packet: InFlight,
        /// Number of the receiving endpoint.
        endpoint: u32,
    },
    /// A packet has come from one link to middleboxes before another. If they
    /// let it pass, [`Network::offer`] takes it on.
    Intercepted {
        /// The packet, already counted on its next hop.
        packet: InFlight,
        /// The link that it comes from.
        from: u32,
        /// The link that it goes to.
        to: u32,
    },
}

impl Network {
    /// The network of `links` with `paths` through them. Each of `media` comes
    /// with the links that are its terminals. With `reroutes`, the node that
    /// each link leaves, packets that come to a link that is down may take
    /// another.
    #[must_use]
    pub fn new(
        links: Vec<Link<InFlight>>,
        media: impl Iterator<Item = (Medium, Vec<u32>)>,
        mut paths: Paths,
        reroutes: Option<Vec<u32>>,
    ) -> Network {
        paths.finish();
        Network {
            scheduled: vec![Time::MAX; links.len()],
            media: Media::new(media, links.len()),
            links,
            pool: PacketPool::default(),
            paths,
            lookahead: Lookahead::default(),
            reroutes,
        }
    }

    /// Offers packets ahead of time where results do not depend on it; not to
    /// links for which `is_excluded` holds.
    pub fn look_ahead(&mut self, is_excluded: impl Fn(u32) -> bool) {
        if self.reroutes.is_none() {
            self.lookahead = Lookahead::new(&self.links, &mut self.paths, is_excluded);
        }
    }

    /// The event of `component` is due: the packet at the head of that link
    /// arrives, or what has happened on that medium.
    // The loop of a run calls it in two versions, watched and not: left to itself the compiler makes
    // a call of it, for 2% of the speed.
    #[inline(always)]
    pub fn arrive(&mut self, driver: &mut impl Driver, now: Time, component: u32) -> Arrival {
        let mut from = component;
        let arrived = match self.links.get_mut(component as usize) {
            Some(link) if link.uses_pool() || !link.is_event_driven() => {
                let delivered = link.deliver(&mut self.pool, now);
                if let Some((_, Some(at))) = delivered {
                    driver.schedule(at, component);
                }
                delivered.map(|(packet, _)| packet)
            }
            Some(_) => self.deliver_due(driver, now, component),
            None => {
                let arrived = self.deliver_shared(driver, now, component);
                arrived.map(|(link, packet)| {
                    from = link;
                    packet
                })
            }
        };
        let Some(mut packet) = arrived else {
            return Arrival::Nothing;
        };
        driver.delivered(&packet);
        packet.hop += 1;
        let hop = self.paths.hop(packet.hop);
        if hop.is_plain() {
            self.offer_at(driver, now, hop, packet);
            Arrival::Nothing
        } else if hop.is_end() {
            let endpoint = hop.number();
            Arrival::Delivered { packet, endpoint }
        } else {
            let to = hop.number();
            Arrival::Intercepted { packet, from, to }
        }
    }

    /// The packets that are on link `index` whose transmission has begun: when each arrives, and when
    /// its transmission ends.
    pub fn under_way(&self, index: usize) -> impl Iterator<Item = (Time, Time, &InFlight)> {
        let link = &self.links[index];
        let under_way = link.under_way(&self.pool).zip(link.sent(&self.pool));
        under_way.map(|((arrival, packet), sent)| (arrival, sent, packet))
    }

    /// Takes a packet that link `index` has admitted in another part of the network: see
    /// [`Driver::cross`].
    pub fn land(
        &mut self,
        driver: &mut impl Driver,
        index: u32,
        sent: Time,
        at: Time,
        packet: InFlight,
    ) {
        let link = &mut self.links[index as usize];
        if link.land(&mut self.pool, at, sent, packet) {
            driver.schedule(at, index);
        }
    }

    /// Offers a packet to the link of its hop.
    #[inline]
    pub fn offer(&mut self, driver: &mut impl Driver, now: Time, packet: InFlight) {
        let hop = self.paths.hop(packet.hop);
        self.offer_at(driver, now, hop, packet);
    }

    /// Offers a packet to the link of its hop, and at once to the link after it
    /// where no other feeds that one.
    // Two hot callers: left to itself the compiler makes a call of it, which
    // costs a twentieth of the speed.
    #[inline(always)]
    fn offer_at(
        &mut self,
        driver: &mut impl Driver,
        now: Time,
        mut hop: Hop,
        mut packet: InFlight,
    ) {
        let mut enters = now;
        let mut is_ahead = false;
        loop {
            let index = hop.number();
            let link = &mut self.links[index as usize];
            match link.admit(enters, driver.meta(index, &packet)) {
                Admission::Arrives { at, marked } => {
                    driver.offered(&packet);
                    if marked {
                        driver.mark(&packet);
                    }
                    if hop.passes_on() {
                        if hop.leads() {
                            packet.hop += 1;
                            hop = self.paths.hop(packet.hop);
                            enters = at;
                            is_ahead = true;
                            continue;
                        }
                        if is_ahead {
                            packet.cross_from(enters, at);
                        }
                        driver.cross(index, link.free_at(), at, &packet);
                        return;
                    }
                    if is_ahead {
                        packet.cross_from(enters, at);
                    }
                    if link.carry(&mut self.pool, at, packet) {
                        driver.schedule(at, index);
                    }
                }
                Admission::Lost { verdict, at } => {
                    driver.offered(&packet);
                    self.lose(driver, index, &packet, verdict, [now, enters, at]);
                }
                // Never ahead of time: such a link neither leads nor follows.
                Admission::EventDriven => self.offer_event_driven(driver, now, index, packet),
            }
            return;
        }
    }

    /// Puts the parts of a network together, of which this is the first, at the end of a run: link
    /// `l` is that of part `home(l)`, with the packets that have left it for other parts. What was
    /// sent on the paths of the others is not added.
    pub fn gather(&mut self, mut others: Vec<Network>, home: impl Fn(u32) -> usize) {
        let pool = &mut self.pool;
        for other in &mut others {
            for link in &mut other.links {
                link.change_pool(&mut other.pool, pool);
            }
        }
        for index in 0..self.links.len() {
            let at = home(index as u32);
            if let Some(own) = at.checked_sub(1).and_then(|other| others.get_mut(other)) {
                std::mem::swap(&mut self.links[index], &mut own.links[index]);
            }
            // At its home it is now what was here before.
            for other in &others {
                self.links[index].join(&mut self.pool, &other.links[index]);
            }
        }
        for (part, other) in (1..).zip(others) {
            self.media.take(other.media, |link| home(link) == part);
        }
    }

    /// The packet that enters link `index` at `enters` is lost there at `at`.
    #[cold]
    pub(super) fn lose(
        &self,
        driver: &mut impl Driver,
        index: u32,
        packet: &InFlight,
        verdict: Verdict,
        [now, enters, at]: [Time; 3],
    ) {
        let loss = Loss {
            packet: *packet,
            link: index,
            verdict,
            enters,
            at,
            link_free_at: self.links[index as usize].free_at(),
        };
        driver.lose(now, &loss, &self.paths);
    }
}
