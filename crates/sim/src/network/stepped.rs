//! Links in which packets wait until the transmitter takes them.

use super::{Carried, Network};
use crate::observer::Observer;
use crate::queue::{Class, Event};
use bentpipe_link::{Verdict, XcpHeader};
use bentpipe_tcp::packet::ecn;
use bentpipe_units::Time;

impl<O: Observer> Network<'_, O> {
    /// Offers a packet to an event-driven link.
    #[inline(never)]
    pub(super) fn offer_stepped(&mut self, index: u32, carried: Carried) {
        if let Some((index, carried)) = self.detour(index, carried) {
            return self.offer(index, carried);
        }
        if self.media.is_terminal(index) {
            return self.offer_terminal(index, carried);
        }
        if self.links[index as usize].filters_acks() {
            self.filter_acks(index, &carried);
        }
        let link = &mut self.links[index as usize];
        let verdict = if link.reads_headers() {
            let header = self.packets.get_mut(carried.handle).congestion_header();
            let header = header.map(|h| XcpHeader {
                x: h.x,
                rtt: h.rtt,
                request: h.change,
            });
            link.offer_xcp(self.now, carried, carried.meta(), header)
        } else {
            link.offer(self.now, carried, carried.meta())
        };
        self.settle(index, &carried, verdict);
        self.look_after(index);
    }

    /// Takes the ACKs out of a queue that the packet that comes makes
    /// superfluous.
    fn filter_acks(&mut self, index: u32, new: &Carried) {
        let Network {
            now,
            links,
            packets,
            ack_filter,
            ..
        } = self;
        let link = &mut links[index as usize];
        link.advance(*now);
        let new = packets.get(new.handle);
        let waits = link.waiting_packets().map(|w| packets.get(w.handle));
        if ack_filter.look(new, waits) {
            link.drop_waiting(*now, |w| ack_filter.drops(new, packets.get(w.handle)));
        }
    }

    /// A event-driven link wants to be looked at: takes the packet at its head if
    /// that has arrived.
    #[inline(never)]
    pub(super) fn take_stepped(&mut self, index: u32) -> Option<Carried> {
        // The event of a head that was overtaken comes too late.
        if self.queued[index as usize] != self.now {
            return None;
        }
        self.queued[index as usize] = Time::MAX;
        let arrived = self.links[index as usize].deliver_due(self.now);
        self.look_after(index);
        arrived
    }

    /// Brings all event-driven links up to now.
    pub(crate) fn catch_up(&mut self) {
        self.catch_up_media();
        let end = self.now;
        for index in 0..self.links.len() {
            self.links[index].advance(end);
            self.tell(index as u32);
        }
    }

    /// Hears what became of packets and sees to it that the link is looked at
    /// again when it wants to be.
    fn look_after(&mut self, index: u32) {
        self.tell(index);
        let queued = &mut self.queued[index as usize];
        // An event that is queued stays the next one, unless the head is
        // overtaken: its arrival does not change, and what the transmitter
        // takes next arrives later than that.
        if let Some(at) = self.links[index as usize].next_event()
            && at < *queued
        {
            *queued = at;
            self.events.push(Event {
                at,
                class: Class::Arrival,
                component: index,
            });
        }
    }

    /// The other link that a packet takes from here that has come to a link
    /// that is down, if it may and there is one.
    fn detour(&mut self, index: u32, mut carried: Carried) -> Option<(u32, Carried)> {
        let nodes = self.reroutes.as_ref()?;
        if !self.links[index as usize].is_down(self.now) {
            return None;
        }
        let here = nodes[index as usize];
        let number = self.ways.current_of(carried.way);
        let way = self.ways.get(number);
        let hop = way.range().find(|hop| {
            let link = self.ways.link_of(*hop) as u32;
            nodes[link as usize] == here
                && link != index
                && !self.links[link as usize].is_down(self.now)
        })?;
        let left = self.hop_of(&carried);
        // Ways have 255 links at most.
        carried.hop = (hop - way.begin as usize) as u8;
        carried.way = number;
        self.ledger.divert(left, hop as u32, carried.bytes);
        Some((self.ways.link_of(hop) as u32, carried))
    }

    fn tell(&mut self, index: u32) {
        while let Some((carried, verdict)) = self.links[index as usize].poll_verdict() {
            self.settle(index, &carried, verdict);
        }
    }

    /// Does to a packet what an event-driven link decided.
    pub(super) fn settle(&mut self, index: u32, carried: &Carried, verdict: Verdict) {
        match verdict {
            Verdict::Accepted | Verdict::Waits => {}
            Verdict::Marked => self.packets.get_mut(carried.handle).ecn = ecn::MARKED,
            Verdict::Feedback(feedback) => {
                let packet = self.packets.get_mut(carried.handle);
                packet.leave_change(feedback.change());
            }
            Verdict::QueueDrop | Verdict::ChannelLoss | Verdict::OutageLoss => {
                self.lose(index, carried, verdict, self.now);
            }
        }
    }
}
