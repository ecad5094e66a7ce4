//! Media, and the links of the scenario that are their terminals.

use super::{Carried, Network};
use crate::observer::Observer;
use crate::queue::{Class, Event};
use bentpipe_link::Link;
use bentpipe_link::medium::{AccessCounters, Medium, Ports};
use bentpipe_scenario::{MediumId, Scenario};
use bentpipe_units::Time;

/// The media of a scenario. In the event queue, medium `i` is component
/// `links + i`.
#[derive(Debug)]
pub(crate) struct Media {
    media: Vec<Shared>,
    /// Medium and terminal of each link that is one.
    places: Vec<Option<(u32, u32)>>,
}

/// A medium that is used.
#[derive(Debug)]
struct Shared {
    medium: Medium,
    /// The links that are its terminals.
    links: Vec<u32>,
    /// When its event in the queue is due; events for another time are stale.
    queued: Time,
}

impl Media {
    pub(super) fn new(scenario: &Scenario, seed: u64) -> Media {
        let mut places = vec![None; scenario.links.len()];
        let media = scenario.media.iter().enumerate().map(|(i, m)| {
            let terminals = scenario.terminals(MediumId(i as u32));
            let links: Vec<u32> = terminals.map(|link| link.0).collect();
            for (terminal, link) in links.iter().enumerate() {
                places[*link as usize] = Some((i as u32, terminal as u32));
            }
            Shared {
                medium: Medium::new(&m.settings, links.len(), seed, &m.name),
                links,
                queued: Time::MAX,
            }
        });
        let media = media.collect();
        Media { media, places }
    }

    pub(super) fn is_terminal(&self, link: u32) -> bool {
        self.places[link as usize].is_some()
    }

    /// What each link has done to get at its medium; nothing where it has none.
    pub(crate) fn access(&self) -> Vec<AccessCounters> {
        let one = |place: &Option<(u32, u32)>| match place {
            Some((medium, terminal)) => {
                let medium = &self.media[*medium as usize].medium;
                medium.access(*terminal as usize)
            }
            None => AccessCounters::default(),
        };
        self.places.iter().map(one).collect()
    }

    /// Brings all media up to `now`.
    pub(super) fn advance(&mut self, links: &mut [Link<Carried>], now: Time) {
        for shared in &mut self.media {
            let mut ports = Ports::new(links, &shared.links);
            shared.medium.advance(&mut ports, now);
        }
    }
}

impl<O: Observer> Network<'_, O> {
    /// Offers a packet to link `index`, a terminal.
    #[inline(never)]
    pub(super) fn offer_terminal(&mut self, index: u32, carried: Carried) {
        let Some((medium, terminal)) = self.media.places[index as usize] else {
            return;
        };
        let shared = &mut self.media.media[medium as usize];
        let mut ports = Ports::new(&mut self.links, &shared.links);
        let offered = carried.meta();
        let now = self.now;
        let medium_now = &mut shared.medium;
        let verdict = medium_now.offer(&mut ports, now, terminal as usize, carried, offered);
        self.settle(index, &carried, verdict);
        self.look_after_medium(medium);
    }

    /// Medium number `medium` wants to be looked at: the next packet that has
    /// arrived, if one has, with its link.
    #[inline(never)]
    pub(super) fn take_shared(&mut self, medium: u32) -> Option<Carried> {
        let shared = self.media.media.get_mut(medium as usize)?;
        if shared.queued != self.now {
            return None; // An earlier event has taken its place.
        }
        shared.queued = Time::MAX;
        let mut ports = Ports::new(&mut self.links, &shared.links);
        let arrived = shared.medium.deliver_due(&mut ports, self.now);
        self.look_after_medium(medium);
        arrived.map(|(_, carried)| carried)
    }

    /// Hears what became of packets and sees to it that the medium is looked
    /// at again when it wants to be.
    fn look_after_medium(&mut self, medium: u32) {
        self.tell_shared(medium);
        let shared = &mut self.media.media[medium as usize];
        if let Some(at) = shared.medium.next_event()
            && at < shared.queued
        {
            shared.queued = at;
            self.events.push(Event {
                at: at.max(self.now),
                class: Class::Arrival,
                component: self.links.len() as u32 + medium,
            });
        }
    }

    /// Settles what the terminals' links have to tell.
    pub(super) fn tell_shared(&mut self, medium: u32) {
        loop {
            let shared = &mut self.media.media[medium as usize];
            let mut ports = Ports::new(&mut self.links, &shared.links);
            let Some((terminal, carried, verdict)) = shared.medium.poll_verdict(&mut ports) else {
                break;
            };
            let index = shared.links[terminal];
            self.settle(index, &carried, verdict);
        }
    }

    /// Brings all media up to now.
    pub(super) fn catch_up_media(&mut self) {
        self.media.advance(&mut self.links, self.now);
        for medium in 0..self.media.media.len() {
            self.tell_shared(medium as u32);
        }
    }
}
