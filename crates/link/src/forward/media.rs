//! Media, and the links that are their terminals.

use super::{Driver, InFlight, Network};
use crate::Link;
use crate::medium::{AccessCounters, Medium, Ports};
use bentpipe_units::Time;

/// The media of a network. Medium `i` is component `links + i`.
#[derive(Debug)]
pub struct Media {
    media: Vec<Shared>,
    /// Medium and terminal of each link that is one; empty where no link is.
    places: Vec<Option<(u32, u32)>>,
}

/// A medium with its terminals.
#[derive(Debug)]
struct Shared {
    medium: Medium,
    /// The links that are its terminals.
    links: Vec<u32>,
    /// When its scheduled event is due; events for another time are stale.
    scheduled: Time,
}

impl Media {
    pub(super) fn new(media: impl Iterator<Item = (Medium, Vec<u32>)>, links: usize) -> Media {
        let mut places = vec![None; links];
        let media = media.zip(0..).map(|((medium, links), number)| {
            for (terminal, link) in (0..).zip(&links) {
                places[*link as usize] = Some((number, terminal));
            }
            Shared {
                medium,
                links,
                scheduled: Time::MAX,
            }
        });
        let media: Vec<Shared> = media.collect();
        if media.is_empty() {
            places = Vec::new();
        }
        Media { media, places }
    }

    /// Takes those of `other` whose terminals are links for which `is_there` holds.
    pub(super) fn take(&mut self, other: Media, is_there: impl Fn(u32) -> bool) {
        for (own, other) in self.media.iter_mut().zip(other.media) {
            if own.links.first().is_some_and(|link| is_there(*link)) {
                *own = other;
            }
        }
    }

    pub(super) fn is_terminal(&self, link: u32) -> bool {
        self.place(link).is_some()
    }

    /// Medium and terminal of a link.
    fn place(&self, link: u32) -> Option<(u32, u32)> {
        self.places.get(link as usize).copied().flatten()
    }

    /// What a link has done to get access to its medium; nothing where it has none.
    #[must_use]
    pub fn access(&self, link: u32) -> AccessCounters {
        self.place(link)
            .map_or_else(AccessCounters::default, |(medium, terminal)| {
                let medium = &self.media[medium as usize].medium;
                medium.access(terminal as usize)
            })
    }

    /// Brings all media up to `now`.
    fn advance(&mut self, links: &mut [Link<InFlight>], now: Time) {
        for shared in &mut self.media {
            let mut ports = Ports::new(links, &shared.links);
            shared.medium.advance(&mut ports, now);
        }
    }
}

impl Network {
    /// Offers a packet to link `index`, a terminal.
    #[inline(never)]
    pub(super) fn offer_terminal(
        &mut self,
        driver: &mut impl Driver,
        now: Time,
        index: u32,
        packet: InFlight,
    ) {
        let Some((medium, terminal)) = self.media.place(index) else {
            return;
        };
        let shared = &mut self.media.media[medium as usize];
        let mut ports = Ports::new(&mut self.links, &shared.links);
        let meta = driver.meta(index, &packet);
        let verdict = shared
            .medium
            .offer(&mut ports, now, terminal as usize, packet, meta);
        self.settle(driver, now, index, &packet, verdict);
        self.service_medium(driver, now, medium);
    }

    /// The event of a medium is due: the next packet that has arrived, if one
    /// has, with its link.
    #[inline(never)]
    pub(super) fn deliver_shared(
        &mut self,
        driver: &mut impl Driver,
        now: Time,
        component: u32,
    ) -> Option<(u32, InFlight)> {
        let medium = component - self.links.len() as u32;
        let shared = self.media.media.get_mut(medium as usize)?;
        if shared.scheduled != now {
            return None; // An earlier event has taken its place.
        }
        shared.scheduled = Time::MAX;
        let mut ports = Ports::new(&mut self.links, &shared.links);
        let arrived = shared.medium.deliver_due(&mut ports, now);
        let arrived = arrived.map(|(terminal, packet)| (shared.links[terminal], packet));
        self.service_medium(driver, now, medium);
        arrived
    }

    /// Carries out what a medium has decided, and schedules its next event.
    fn service_medium(&mut self, driver: &mut impl Driver, now: Time, medium: u32) {
        self.settle_verdicts_of_medium(driver, now, medium);
        let shared = &mut self.media.media[medium as usize];
        if let Some(at) = shared.medium.next_event()
            && at < shared.scheduled
        {
            shared.scheduled = at;
            driver.schedule(at.max(now), self.links.len() as u32 + medium);
        }
    }

    fn settle_verdicts_of_medium(&mut self, driver: &mut impl Driver, now: Time, medium: u32) {
        loop {
            let shared = &mut self.media.media[medium as usize];
            let mut ports = Ports::new(&mut self.links, &shared.links);
            let Some((terminal, packet, verdict)) = shared.medium.poll_verdict(&mut ports) else {
                break;
            };
            let index = shared.links[terminal];
            self.settle(driver, now, index, &packet, verdict);
        }
    }

    /// Brings all media up to `now`.
    pub(super) fn catch_up_media(&mut self, driver: &mut impl Driver, now: Time) {
        self.media.advance(&mut self.links, now);
        for medium in 0..self.media.media.len() {
            self.settle_verdicts_of_medium(driver, now, medium as u32);
        }
    }
}
