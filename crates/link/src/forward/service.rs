//! Event-driven links, in which packets wait until the transmitter takes them.

use super::{Driver, InFlight, Network};
use crate::Verdict;
use bentpipe_units::Time;

impl Network {
    /// Offers a packet to an event-driven link.
    #[inline(never)]
    pub(super) fn offer_event_driven(
        &mut self,
        driver: &mut impl Driver,
        now: Time,
        mut index: u32,
        mut packet: InFlight,
    ) {
        if let Some(hop) = self.detour(now, index, &packet) {
            driver.divert(&packet, hop);
            packet.hop = hop;
            index = self.paths.hop(hop).number();
            if !self.links[index as usize].is_event_driven() {
                return self.offer(driver, now, packet);
            }
        }
        driver.offered(&packet);
        if self.media.is_terminal(index) {
            return self.offer_terminal(driver, now, index, packet);
        }
        let link = &mut self.links[index as usize];
        if link.filters_acks() {
            driver.filter(now, link, &packet);
        }
        let meta = driver.meta(index, &packet);
        let verdict = if link.reads_headers() {
            let header = driver.congestion_header(&packet);
            link.offer_xcp(now, packet, meta, header)
        } else {
            link.enqueue(now, packet, meta)
        };
        self.settle(driver, now, index, &packet, verdict);
        self.service(driver, now, index);
    }

    /// The event of an event-driven link is due: takes the packet at its head
    /// if that has arrived.
    #[inline(never)]
    pub(super) fn deliver_due(
        &mut self,
        driver: &mut impl Driver,
        now: Time,
        index: u32,
    ) -> Option<InFlight> {
        // The event of a head that was overtaken comes too late.
        if self.scheduled[index as usize] != now {
            return None;
        }
        self.scheduled[index as usize] = Time::MAX;
        let arrived = self.links[index as usize].deliver_due(now);
        self.service(driver, now, index);
        arrived
    }

    /// Brings all media and event-driven links up to `now`.
    pub fn catch_up(&mut self, driver: &mut impl Driver, now: Time) {
        self.catch_up_media(driver, now);
        for index in 0..self.links.len() {
            self.links[index].advance(now);
            self.settle_verdicts(driver, now, index as u32);
        }
    }

    /// Carries out what a link has decided, and schedules its next event.
    fn service(&mut self, driver: &mut impl Driver, now: Time, index: u32) {
        self.settle_verdicts(driver, now, index);
        let scheduled = &mut self.scheduled[index as usize];
        // A scheduled event stays the next one, unless the head is overtaken:
        // its arrival does not change, and what the transmitter takes next
        // arrives later than that.
        if let Some(at) = self.links[index as usize].next_event()
            && at < *scheduled
        {
            *scheduled = at;
            driver.schedule(at, index);
        }
    }

    /// The hop of another link that a packet takes from here that has come to a
    /// link that is down, if it may and there is one.
    fn detour(&self, now: Time, index: u32, packet: &InFlight) -> Option<u32> {
        let nodes = self.reroutes.as_ref()?;
        if !self.links[index as usize].is_down(now) {
            return None;
        }
        let here = nodes[index as usize];
        let endpoint = self.paths.endpoint_of(packet.hop);
        let mut hops = self.paths.now(endpoint);
        let hop = hops.find(|hop| {
            let link = self.paths.link_of(*hop);
            nodes[link] == here && link != index as usize && !self.links[link].is_down(now)
        });
        hop.map(|hop| hop as u32)
    }

    fn settle_verdicts(&mut self, driver: &mut impl Driver, now: Time, index: u32) {
        while let Some((packet, verdict)) = self.links[index as usize].poll_verdict() {
            self.settle(driver, now, index, &packet, verdict);
        }
    }

    /// Does to a packet what an event-driven link decided.
    pub(super) fn settle(
        &self,
        driver: &mut impl Driver,
        now: Time,
        index: u32,
        packet: &InFlight,
        verdict: Verdict,
    ) {
        match verdict {
            Verdict::Accepted | Verdict::Waits => {}
            Verdict::Marked => driver.mark(packet),
            Verdict::Notified => driver.notify(now, index, packet),
            Verdict::Feedback(feedback) => driver.write_feedback(packet, feedback),
            Verdict::Stamped(stamp) => driver.write_stamp(packet, stamp),
            Verdict::QueueDrop | Verdict::ChannelLoss | Verdict::OutageLoss => {
                self.lose(driver, index, packet, verdict, [now; 3]);
            }
        }
    }
}
