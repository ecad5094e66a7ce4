//! Links in which packets wait until the transmitter takes them.

use super::{Carried, Network};
use crate::observer::Observer;
use crate::queue::{Class, Event};
use bentpipe_link::Verdict;
use bentpipe_tcp::packet::ecn;

impl<O: Observer> Network<'_, O> {
    /// Offers a packet to a stepped link.
    #[inline(never)]
    pub(super) fn offer_stepped(&mut self, index: u32, carried: Carried) {
        let link = &mut self.links[index as usize];
        let verdict = link.offer(self.now, carried, carried.offered());
        self.settle(index, &carried, verdict);
        self.look_after(index);
    }

    /// A stepped link wants to be looked at: takes the packet at its head if
    /// that has arrived.
    #[inline(never)]
    pub(super) fn take_stepped(&mut self, index: u32) -> Option<Carried> {
        self.queued[index as usize] = false;
        let arrived = self.links[index as usize].deliver_due(self.now);
        self.look_after(index);
        arrived
    }

    /// Brings all stepped links up to now.
    pub(crate) fn catch_up(&mut self) {
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
        // An event that is queued is the next one: the head's arrival does not
        // change, and what the transmitter takes next arrives later than that.
        if !*queued && let Some(at) = self.links[index as usize].next_event() {
            *queued = true;
            self.events.push(Event {
                at,
                class: Class::Arrival,
                component: index,
            });
        }
    }

    fn tell(&mut self, index: u32) {
        while let Some((carried, verdict)) = self.links[index as usize].fate() {
            self.settle(index, &carried, verdict);
        }
    }

    /// Does to a packet what a stepped link decided.
    fn settle(&mut self, index: u32, carried: &Carried, verdict: Verdict) {
        match verdict {
            Verdict::Accepted | Verdict::Waits => {}
            Verdict::Marked => self.packets.get_mut(carried.handle).ecn = ecn::MARKED,
            Verdict::QueueDrop | Verdict::ChannelLoss => {
                self.lose(index, carried, verdict, self.now);
            }
        }
    }
}
