//! Links whose transmitter takes the waiting packets one by one.

use super::{Carried, Discipline, Link};
use crate::arq::Next;
use crate::managed::ManagedQueue;
use crate::packet::Decision;
use crate::timed::{PendingLoss, Timed, Way};
use crate::{PacketMeta, Verdict, XcpHeader};
use bentpipe_units::{Duration, Time};

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
        matches!(
            self.discipline,
            Discipline::EventDriven(_) | Discipline::Port(_)
        )
    }

    /// The link's way through its timeline, if it has one.
    pub(super) fn timed(&self) -> Option<&Timed<P>> {
        self.room().and_then(|room| room.timed.as_deref())
    }

    fn timed_mut(&mut self) -> Option<&mut Timed<P>> {
        match &mut self.discipline {
            Discipline::EventDriven(room) => room.timed.as_deref_mut(),
            _ => None,
        }
    }

    /// True if the queue reads congestion headers and packets are to be offered
    /// with [`Link::offer_xcp`].
    #[must_use]
    pub fn reads_headers(&self) -> bool {
        self.room().is_some_and(ManagedQueue::reads_headers)
    }

    /// [`Link::offer`] to a link that reads congestion headers. What the router
    /// leaves the packet is told as its fate, [`Verdict::Feedback`], when the
    /// transmitter takes it.
    pub fn offer_xcp(
        &mut self,
        now: Time,
        packet: P,
        offered: PacketMeta,
        header: Option<XcpHeader>,
    ) -> Verdict {
        match &mut self.discipline {
            Discipline::EventDriven(room) => room.announce(header),
            Discipline::Port(port) => port.room.announce(header),
            _ => {}
        }
        self.offer(now, packet, offered)
    }

    pub(super) fn room(&self) -> Option<&ManagedQueue<P>> {
        match &self.discipline {
            Discipline::EventDriven(room) => Some(room),
            Discipline::Port(port) => Some(&port.room),
            _ => None,
        }
    }

    /// Lets a packet that arrives at `now` wait, or drops it.
    pub(super) fn enqueue(&mut self, now: Time, packet: P, offered: PacketMeta) -> Verdict {
        self.advance(now);
        let room = match &mut self.discipline {
            Discipline::EventDriven(room) => room,
            Discipline::Port(_) => return self.enqueue_at_port(now, packet, offered),
            _ => return Verdict::QueueDrop,
        };
        let counters = &mut self.counters;
        counters.offered += 1;
        let next_free = self.transmitter.next_free;
        let idle_since = (next_free <= now && room.packets() == 0).then_some(next_free);
        let mut held = false;
        if let (Some(timed), Some(_)) = (&mut room.timed, idle_since) {
            held = timed.resume(now, now) > now;
        }
        if let (Some(arq), Some(_)) = (&room.arq, idle_since) {
            held = arq.is_closed(now);
        }
        match room.offer(now, (idle_since, held), packet, offered, counters) {
            Decision::Accept | Decision::Mark => {}
            Decision::DropEarly | Decision::DropForced => return Verdict::QueueDrop,
        }
        self.record(now);
        self.advance(now);
        Verdict::Waits
    }

    /// True if the link is to be told what a packet that comes makes
    /// superfluous.
    #[must_use]
    #[inline]
    pub fn filters_acks(&self) -> bool {
        self.room().is_some_and(|room| room.filters_acks)
    }

    /// Drops the packets that wait at `now` and that `is_superfluous` names;
    /// [`Link::poll_verdict`] tells of them. They count as dropped early.
    pub fn drop_waiting(&mut self, now: Time, is_superfluous: impl FnMut(&P) -> bool) {
        self.advance(now);
        let Discipline::EventDriven(room) = &mut self.discipline else {
            return;
        };
        let before = room.dropped();
        room.drop_waiting(now, is_superfluous, &mut self.counters);
        if room.dropped() > before {
            self.record(now);
        }
    }

    /// Lets the transmitter take what it can take up to `now`. Nothing happens
    /// to a precomputed link.
    pub fn advance(&mut self, now: Time) {
        while self.transmitter.next_free <= now && self.send_next(now) {}
        if let Discipline::EventDriven(room) = &mut self.discipline
            && let Some(mut timed) = room.timed.take()
        {
            while let Some((packet, verdict)) = timed.lost(now, &mut self.counters) {
                room.tell(packet, verdict);
            }
            room.timed = Some(timed);
        }
    }

    /// Lets the free transmitter take a packet; false if there is none, or if
    /// it can send only after `now`.
    fn send_next(&mut self, now: Time) -> bool {
        let Discipline::EventDriven(room) = &mut self.discipline else {
            return false;
        };
        if room.arq.is_some() {
            return self.send_by_arq(now);
        }
        let Some(entered) = room.head() else {
            return false;
        };
        let mut at = self.transmitter.next_free.max(entered);
        if let Some(timed) = &mut room.timed {
            at = timed.resume(at, entered);
            if at > now {
                self.transmitter.next_free = at;
                return false;
            }
        }
        let dropped = room.dropped();
        let next = room.next(at, &mut self.counters);
        let fewer = room.dropped() > dropped;
        let Some(waiter) = next else {
            return false;
        };
        let bytes = waiter.offered.bytes;
        self.counters.queueing += at.since(waiter.entered);
        let wire = bytes.saturating_add(self.transmitter.framing);
        if let Some(timed) = &mut room.timed {
            let (packet, carried) = (waiter.packet, &mut self.carried);
            let channel = self.channel.as_deref_mut();
            let arrival = |place: usize| carried.get(place).map_or(Time::ZERO, |c| c.arrival);
            let packet = (packet, bytes, wire);
            let (end, way) = timed.transmit((entered, at), packet, channel, carried.len(), arrival);
            self.transmitter.next_free = end;
            if let Way::Arrives(arrival, place) = way {
                self.counters.accepted_bytes += u64::from(bytes);
                let packet = waiter.packet;
                carried.insert(place, Carried { arrival, packet });
            }
            if fewer {
                self.record(at);
            }
            return true;
        }
        self.transmitter.next_free = at + self.transmitter.time(bytes);
        if self.channel.as_mut().is_some_and(|c| c.loses(wire)) {
            self.counters.channel_losses += 1;
            self.counters.lost_bytes += u64::from(bytes);
            room.tell(waiter.packet, Verdict::ChannelLoss);
        } else {
            self.counters.accepted_bytes += u64::from(bytes);
            self.carried.push_back(Carried {
                arrival: self.transmitter.next_free + self.propagation,
                packet: waiter.packet,
            });
        }
        if fewer {
            self.record(at);
        }
        true
    }

    /// The same where what is lost is sent again.
    fn send_by_arq(&mut self, now: Time) -> bool {
        let Discipline::EventDriven(room) = &mut self.discipline else {
            return false;
        };
        let head = room.head();
        let next = room.arq.as_ref();
        let next = next.and_then(|arq| arq.next(self.transmitter.next_free, head));
        let Some((at, next)) = next.filter(|next| next.0 <= now) else {
            return false;
        };
        let dropped = room.dropped();
        let taken = match next {
            Next::Again(_) => None,
            Next::New => match room.next(at, &mut self.counters) {
                Some(waiter) => Some(waiter),
                None => return false,
            },
        };
        let fewer = room.dropped() > dropped;
        let Some(mut arq) = room.arq.take() else {
            return false;
        };
        arq.learn(at);
        let number = match (next, taken) {
            (_, Some(waiter)) => {
                self.counters.queueing += at.since(waiter.entered);
                arq.take(&waiter)
            }
            (Next::Again(number), None) => {
                self.counters.repeats += 1;
                number
            }
            (Next::New, None) => return false,
        };
        let bytes = arq.bytes(number);
        let time = self.transmitter.time(bytes);
        let wire = bytes.saturating_add(self.transmitter.framing);
        let lost = self.channel.as_mut().is_some_and(|c| c.loses(wire));
        self.transmitter.next_free = at + time;
        arq.busy += time;
        let sent = arq.sent(number, at + time, lost);
        if let Some((packet, offered)) = sent.given_up {
            self.counters.channel_losses += 1;
            self.counters.lost_bytes += u64::from(offered.bytes);
            room.tell(packet, Verdict::ChannelLoss);
        }
        let passed = std::iter::from_fn(|| arq.pass());
        for (packet, offered, arrival) in sent.passed.into_iter().chain(passed) {
            self.counters.accepted_bytes += u64::from(offered.bytes);
            self.carried.push_back(Carried { arrival, packet });
        }
        room.arq = Some(arq);
        if fewer {
            self.record(at);
        }
        true
    }

    fn record(&mut self, now: Time) {
        if self.delays.is_some() {
            self.record_pauses(now);
            let backlog: Duration = self.backlog(now);
            if let Some(delays) = &mut self.delays {
                delays.record(now, backlog);
            }
        }
    }

    /// Records the times up to `now` without service in which nobody waited:
    /// somebody who had come would have.
    pub(super) fn record_pauses(&mut self, now: Time) {
        let Some(mut delays) = self.delays.take() else {
            return;
        };
        if let Some(timed) = self.timed() {
            let mut at = delays.idle_from();
            while let Some((begins, ends)) = timed.pause(at, now) {
                delays.record(begins, ends.since(begins));
                at = ends;
            }
        }
        self.delays = Some(delays);
    }

    /// When the link wants to be looked at again: a packet arrives at the far
    /// end, or, where none is under way, the transmitter takes one that waits.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        let arrival = self.next_arrival();
        if arrival.is_some() && !self.timed().is_some_and(Timed::overtakes) {
            // What is sent next arrives later.
            return arrival;
        }
        let Discipline::EventDriven(room) = &self.discipline else {
            return arrival;
        };
        if let Some(arq) = &room.arq {
            let next = arq.next(self.transmitter.next_free, room.head());
            let next = next.map(|(at, _)| at);
            return [arrival, next].into_iter().flatten().min();
        }
        let sends = (room.packets() > 0).then_some(self.transmitter.next_free);
        [arrival, sends].into_iter().flatten().min()
    }

    /// Takes the packet at the head off the link if it has arrived by `now`.
    pub fn deliver_due(&mut self, now: Time) -> Option<P> {
        self.advance(now);
        self.next_arrival().filter(|at| *at <= now)?;
        if let Some(timed) = self.timed_mut() {
            timed.delivered();
        }
        self.deliver()
    }

    /// True if the link is down at `now`.
    #[must_use]
    pub fn is_down(&self, now: Time) -> bool {
        self.timed().is_some_and(|timed| timed.is_down(now))
    }

    /// The packets that are on a link with a timeline and will be lost there,
    /// with the ends of their transmissions.
    pub fn pending_losses(&self) -> impl Iterator<Item = (Time, &P)> {
        let pending_losses = self.timed().into_iter().flat_map(Timed::pending_losses);
        pending_losses.map(|PendingLoss { sent, packet, .. }| (*sent, packet))
    }

    /// The packets that wait in an event-driven link, the next first, and those that
    /// it may send again.
    pub fn waiting_packets(&self) -> impl Iterator<Item = &P> {
        let room = self.room().into_iter();
        let arq = self.room().and_then(|room| room.arq.as_deref()).into_iter();
        let held = self.held().into_iter();
        held.chain(room.flat_map(ManagedQueue::waiting))
            .chain(arq.flat_map(|arq| arq.packets()))
    }

    /// What became of a packet that waited, the first that is not told yet:
    /// [`Verdict::Marked`] or [`Verdict::Feedback`] (neither says yet whether
    /// it arrives), [`Verdict::QueueDrop`], [`Verdict::ChannelLoss`] or
    /// [`Verdict::OutageLoss`]. Nothing is told of those that just arrive.
    pub fn poll_verdict(&mut self) -> Option<(P, Verdict)> {
        match &mut self.discipline {
            Discipline::EventDriven(room) => room.poll_verdict(),
            Discipline::Port(port) => port.room.poll_verdict(),
            _ => None,
        }
    }
}
