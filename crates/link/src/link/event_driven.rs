//! Links whose transmitter takes the waiting packets one by one.

use super::{Carried, Link, Service};
use crate::arq::{Arq, Next};
use crate::cursor::{Fate, Flight, LinkCursor};
use crate::queue::ManagedQueue;
use crate::ring::Ring;
use crate::timed::{PendingLoss, Timed};
use crate::{PacketMeta, Verdict, XcpHeader};
use bentpipe_units::Time;

/// A queue and what its transmitter does besides sending.
#[derive(Clone, Debug)]
pub(super) struct EventDriven<P> {
    pub(super) queue: ManagedQueue<P>,
    /// Packets whose transmission has begun.
    pub(super) carried: Ring<Carried<P>>,
    /// The link's course through its timeline, if it has one.
    pub(super) timed: Option<Box<Timed<P>>>,
    /// Its retransmission, if it has one.
    pub(super) arq: Option<Box<Arq<P>>>,
}

impl<P> Service<P> {
    fn server(&self) -> Option<&EventDriven<P>> {
        match self {
            Service::EventDriven(server) => Some(server),
            _ => None,
        }
    }

    fn server_mut(&mut self) -> Option<&mut EventDriven<P>> {
        match self {
            Service::EventDriven(server) => Some(server),
            _ => None,
        }
    }
}

impl<P: Copy> Link<P> {
    /// True if packets wait in the link until the transmitter takes them, as
    /// in every link with a timeline.
    ///
    /// Such a link is driven like this: [`Link::offer`] gives it packets;
    /// [`Link::deliver_due`] is called when its [`Link::next_event`] is due,
    /// and after either, [`Link::poll_verdict`] until there is none. What happens in
    /// between is worked out then, at the times at which it happened: how
    /// often the link is looked at changes nothing.
    #[must_use]
    #[inline]
    pub fn is_event_driven(&self) -> bool {
        matches!(self.service, Service::EventDriven(_) | Service::Port(_))
    }

    /// The link's course through its timeline, if it has one.
    pub(super) fn course(&self) -> Option<&LinkCursor> {
        match &self.service {
            Service::Scheduled(service) => Some(&service.course),
            _ => self.timed().map(|timed| &timed.course),
        }
    }

    /// Packets on an event-driven link with a timeline.
    pub(super) fn timed(&self) -> Option<&Timed<P>> {
        self.service.server()?.timed.as_deref()
    }

    pub(super) fn arq(&self) -> Option<&Arq<P>> {
        self.service.server()?.arq.as_deref()
    }

    pub(super) fn managed_queue(&self) -> Option<&ManagedQueue<P>> {
        match &self.service {
            Service::Port(port) => Some(&port.queue),
            service => Some(&service.server()?.queue),
        }
    }

    fn managed_queue_mut(&mut self) -> Option<&mut ManagedQueue<P>> {
        match &mut self.service {
            Service::Port(port) => Some(&mut port.queue),
            service => Some(&mut service.server_mut()?.queue),
        }
    }

    /// Packets in the link that are not in its ring: they wait, will be lost,
    /// or may be sent again.
    pub(super) fn inside(&self) -> usize {
        let lost = self.timed().map_or(0, |t| t.pending_losses().len());
        lost + self.arq().map_or(0, Arq::held) + self.unsent() as usize
    }

    /// True if the queue reads congestion headers and packets are to be offered
    /// with [`Link::offer_xcp`].
    #[must_use]
    pub fn reads_headers(&self) -> bool {
        self.managed_queue()
            .is_some_and(|queue| queue.reads_headers)
    }

    /// [`Link::offer`] to a link that reads congestion headers. What the router
    /// leaves the packet is a later verdict, [`Verdict::Feedback`], when the
    /// transmitter takes it.
    pub fn offer_xcp(
        &mut self,
        now: Time,
        packet: P,
        meta: PacketMeta,
        header: Option<XcpHeader>,
    ) -> Verdict {
        if let Some(queue) = self.managed_queue_mut() {
            queue.announce(header);
        }
        self.enqueue(now, packet, meta)
    }

    /// [`Link::offer`] to a link that is event-driven: lets a packet that arrives at `now` wait, or
    /// drops it.
    pub(crate) fn enqueue(&mut self, now: Time, packet: P, meta: PacketMeta) -> Verdict {
        self.advance(now);
        let EventDriven {
            queue, timed, arq, ..
        } = match &mut self.service {
            Service::EventDriven(server) => &mut **server,
            Service::Port(_) => return self.enqueue_at_port(now, packet, meta),
            _ => return Verdict::QueueDrop,
        };
        let counters = &mut self.counters;
        counters.offered += 1;
        let next_free = self.transmitter.next_free;
        let idle_since = (next_free <= now && queue.packets() == 0).then_some(next_free);
        let mut blocked = false;
        if idle_since.is_some() {
            if let Some(timed) = timed {
                blocked = timed.course.resume(now, now) > now;
            }
            if let Some(arq) = arq {
                blocked |= arq.is_closed(now);
            }
        }
        if let (Some(timed), true) = (timed, queue.reads_headers) {
            queue.set_rate(timed.course.rate(now));
        }
        let decision = queue.enqueue(now, (idle_since, blocked), packet, meta, counters);
        if !decision.accepts() {
            return Verdict::QueueDrop;
        }
        self.record(now);
        self.advance(now);
        Verdict::Waits
    }

    /// True if the driver is to call [`Link::drop_waiting`] before it offers a
    /// packet.
    #[must_use]
    #[inline]
    pub fn filters_acks(&self) -> bool {
        self.managed_queue().is_some_and(|queue| queue.filters_acks)
    }

    /// Drops the packets that wait at `now` and that `is_superfluous` names;
    /// [`Link::poll_verdict`] returns them. They count as dropped early.
    pub fn drop_waiting(&mut self, now: Time, is_superfluous: impl FnMut(&P) -> bool) {
        self.advance(now);
        let Some(EventDriven { queue, .. }) = self.service.server_mut() else {
            return;
        };
        let before = queue.dropped();
        queue.drop_waiting(now, is_superfluous, &mut self.counters);
        if queue.dropped() > before {
            self.record(now);
        }
    }

    /// Lets the transmitter take what it can take up to `now`. Nothing happens
    /// to a precomputed link.
    pub fn advance(&mut self, now: Time) {
        if let Service::Scheduled(service) = &mut self.service {
            return service.advance(now, &mut self.counters);
        }
        while self.transmitter.next_free <= now && self.send_next(now).is_some() {}
        if let Some(server) = self.service.server_mut()
            && let Some(timed) = &mut server.timed
        {
            while let Some((packet, verdict)) = timed.lost(now, &mut self.counters) {
                server.queue.report(packet, verdict);
            }
        }
    }

    /// Lets the free transmitter take a packet; `None` if there is none, or if
    /// it can send only after `now`.
    fn send_next(&mut self, now: Time) -> Option<()> {
        let EventDriven {
            queue,
            carried,
            timed,
            arq,
        } = self.service.server_mut()?;
        if arq.is_some() {
            return self.send_by_arq(now);
        }
        let entered = queue.head()?;
        let mut at = self.transmitter.next_free.max(entered);
        if let Some(timed) = timed {
            at = timed.course.resume(at, entered);
            if at > now {
                self.transmitter.next_free = at;
                return None;
            }
        }
        let dropped = queue.dropped();
        let waiter = queue.dequeue(at, &mut self.counters)?;
        let fewer = queue.dropped() > dropped;
        let bytes = waiter.meta.bytes;
        self.counters.queueing += at.since(waiter.entered);
        if let Some(timed) = timed {
            let packet = waiter.packet;
            let channel = self.channel.as_deref_mut();
            let sent = timed.course.transmit(entered, at, bytes, channel);
            self.transmitter.next_free = sent.0;
            let arrival = |place: usize| carried.get(place).map_or(Time::ZERO, |c| c.arrival);
            let arrives = timed.sent_packet((packet, bytes), sent, carried.len(), arrival);
            if let Some((arrival, place)) = arrives {
                self.counters.accepted_bytes += u64::from(bytes);
                carried.insert(place, Carried { arrival, packet });
            }
            if fewer {
                self.record(at);
            }
            return Some(());
        }
        self.transmitter.next_free = at + self.transmitter.time(bytes);
        let ends = self.transmitter.next_free;
        let wire = self.transmitter.wire.packet(bytes);
        if self.channel.as_mut().is_some_and(|c| c.loses(wire, ends)) {
            let verdict = Verdict::ChannelLoss;
            self.counters.lose(verdict, bytes);
            queue.report(waiter.packet, verdict);
        } else {
            self.counters.accepted_bytes += u64::from(bytes);
            carried.push_back(Carried {
                arrival: self.transmitter.next_free + self.propagation,
                packet: waiter.packet,
            });
        }
        if fewer {
            self.record(at);
        }
        Some(())
    }

    /// The same where what is lost is sent again.
    fn send_by_arq(&mut self, now: Time) -> Option<()> {
        let EventDriven {
            queue, timed, arq, ..
        } = self.service.server_mut()?;
        let arq = arq.as_deref_mut()?;
        let (at, next, entered) = loop {
            let next = arq.next(self.transmitter.next_free, queue.head());
            let (at, next) = next.filter(|next| next.0 <= now)?;
            let (Next::Again(_, entered) | Next::New(entered)) = next;
            let resumes = match timed {
                Some(timed) => timed.course.resume(at, entered),
                None => at,
            };
            if resumes == at && at < Time::MAX {
                break (at, next, entered);
            }
            // What it sends then is decided then: a loss may be known by that time.
            self.transmitter.next_free = resumes;
            if resumes > now || resumes == Time::MAX {
                return None;
            }
        };
        let dropped = queue.dropped();
        let number = match next {
            Next::Again(number, _) => {
                arq.learn(at);
                self.counters.rare_mut().repeats += 1;
                number
            }
            Next::New(_) => {
                let waiter = queue.dequeue(at, &mut self.counters)?;
                arq.learn(at);
                self.counters.queueing += at.since(waiter.entered);
                arq.take(&waiter)
            }
        };
        let fewer = queue.dropped() > dropped;
        let bytes = arq.bytes(number);
        let channel = self.channel.as_deref_mut();
        let flight = match timed {
            Some(timed) => timed.course.fly(entered, at, bytes, channel),
            None => {
                let end = at + self.transmitter.time(bytes);
                let wire = self.transmitter.wire.packet(bytes);
                let lost = channel.is_some_and(|c| c.loses(wire, end));
                Flight {
                    end,
                    delay: self.propagation,
                    lost: lost.then_some(Verdict::ChannelLoss),
                }
            }
        };
        self.transmitter.next_free = flight.end;
        if flight.end < Time::MAX {
            arq.busy += flight.end.since(at);
            self.follow_up(number, &flight);
        }
        if fewer {
            self.record(at);
        }
        Some(())
    }

    /// What comes of a transmission of packet `number`: packets that are passed
    /// on, or one that is given up.
    fn follow_up(&mut self, number: u64, flight: &Flight) {
        let Some(EventDriven {
            queue,
            carried,
            arq: Some(arq),
            timed,
        }) = self.service.server_mut()
        else {
            return;
        };
        let sent = arq.sent(number, (flight.end, flight.delay), flight.lost.is_some());
        if let Some((packet, meta)) = sent.given_up {
            let verdict = flight.lost.unwrap_or(Verdict::ChannelLoss);
            self.counters.lose(verdict, meta.bytes);
            queue.report(packet, verdict);
        }
        let passed = std::iter::from_fn(|| arq.pass());
        for (packet, meta, arrival) in sent.passed.into_iter().chain(passed) {
            self.counters.accepted_bytes += u64::from(meta.bytes);
            let place = match timed {
                Some(timed) => {
                    let at = |place: usize| carried.get(place).map_or(Time::ZERO, |c| c.arrival);
                    let sent = (flight.end, Fate::Arrives(arrival));
                    let bytes = meta.bytes;
                    let arrives = timed.sent_packet((packet, bytes), sent, carried.len(), at);
                    arrives.map_or(carried.len(), |(_, place)| place)
                }
                None => carried.len(),
            };
            carried.insert(place, Carried { arrival, packet });
        }
    }

    fn record(&mut self, now: Time) {
        if self.delays.is_some() {
            self.record_pauses(now);
            let delay = self.delay(now);
            if let Some(delays) = &mut self.delays {
                delays.record(now, delay);
            }
        }
    }

    /// Records the times up to `now` without service in which nothing waited: a
    /// packet that had arrived would have.
    pub(super) fn record_pauses(&mut self, now: Time) {
        let Some(mut delays) = self.delays.take() else {
            return;
        };
        if let Some(course) = self.course() {
            let mut at = delays.idle_from();
            while let Some((begins, ends)) = course.pause(at, now) {
                delays.record(begins, ends.since(begins));
                at = ends;
            }
        }
        self.delays = Some(delays);
    }

    /// When the driver must call [`Link::deliver_due`] next: a packet arrives at the far end, or,
    /// if none is in flight, the transmitter takes a waiting one.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        let arrival = self.ring_arrival();
        if arrival.is_some() && !self.timed().is_some_and(|timed| timed.course.overtakes()) {
            // Later packets arrive later.
            return arrival;
        }
        let Some(EventDriven { queue, arq, .. }) = self.service.server() else {
            return arrival;
        };
        if let Some(arq) = arq {
            let next = arq.next(self.transmitter.next_free, queue.head());
            // Where the link is down for good it sends nothing again.
            let next = next.map(|(at, _)| at).filter(|at| *at < Time::MAX);
            return [arrival, next].into_iter().flatten().min();
        }
        let sends = (queue.packets() > 0).then_some(self.transmitter.next_free);
        [arrival, sends].into_iter().flatten().min()
    }

    /// Takes the packet at the head off the link if it has arrived by `now`.
    pub fn deliver_due(&mut self, now: Time) -> Option<P> {
        self.advance(now);
        if self.ring_arrival()? > now {
            return None;
        }
        if let Some(EventDriven {
            timed: Some(timed), ..
        }) = self.service.server_mut()
        {
            timed.delivered();
        }
        self.leave_ring(now)
    }

    /// True if the link follows a timeline.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.course().is_some()
    }

    /// True if the link is down at `now`.
    #[must_use]
    pub fn is_down(&self, now: Time) -> bool {
        self.course().is_some_and(|course| course.is_down(now))
    }

    /// The packets that are on a link with a timeline and will be lost there,
    /// with the ends of their transmissions.
    pub fn pending_losses(&self) -> impl Iterator<Item = (Time, &P)> {
        let losses = self.timed().into_iter().flat_map(Timed::pending_losses);
        losses.map(|PendingLoss { sent, packet, .. }| (*sent, packet))
    }

    /// The packets that wait in an event-driven link, the next first within
    /// each of its queues, and those that it may send again.
    pub fn waiting_packets(&self) -> impl Iterator<Item = &P> {
        let queue = self.managed_queue().into_iter();
        let waiting = queue.flat_map(ManagedQueue::waiting);
        let again = self.arq().into_iter().flat_map(Arq::packets);
        self.held().into_iter().chain(waiting).chain(again)
    }

    /// What became of a packet that waited, the first that has not been
    /// returned yet: [`Verdict::Marked`], [`Verdict::Feedback`] or
    /// [`Verdict::Stamped`] (none of them says yet whether it arrives), [`Verdict::QueueDrop`], [`Verdict::ChannelLoss`]
    /// or [`Verdict::OutageLoss`]. Packets that arrive have no verdict here.
    pub fn poll_verdict(&mut self) -> Option<(P, Verdict)> {
        self.managed_queue_mut()?.poll()
    }
}
