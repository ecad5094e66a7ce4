//! Links whose transmitter takes the waiting packets one by one.

use super::{Carried, Discipline, Link};
use crate::offered::Decision;
use crate::room::Room;
use crate::{Offered, Verdict};
use bentpipe_units::{Duration, Time};

impl<P: Copy> Link<P> {
    /// True if packets wait in the link until the transmitter takes them.
    ///
    /// Such a link is driven like this: [`Link::offer`] gives it packets;
    /// [`Link::deliver_due`] is called when its [`Link::next_event`] is due,
    /// and after either, [`Link::fate`] until there is none. What happens in
    /// between is worked out then, at the times at which it happened: how
    /// often the link is looked at changes nothing.
    #[must_use]
    #[inline]
    pub fn is_stepped(&self) -> bool {
        matches!(self.discipline, Discipline::Stepped(_))
    }

    pub(super) fn room(&self) -> Option<&Room<P>> {
        match &self.discipline {
            Discipline::Stepped(room) => Some(room),
            _ => None,
        }
    }

    /// Lets a packet that arrives at `now` wait, or drops it.
    pub(super) fn let_in(&mut self, now: Time, packet: P, offered: Offered) -> Verdict {
        self.advance(now);
        let Discipline::Stepped(room) = &mut self.discipline else {
            return Verdict::QueueDrop;
        };
        let counters = &mut self.counters;
        counters.offered += 1;
        let next_free = self.transmitter.next_free;
        let idle_since = (next_free <= now && room.packets() == 0).then_some(next_free);
        match room.offer(now, idle_since, packet, offered, counters) {
            Decision::Accept | Decision::Mark => {}
            Decision::DropEarly | Decision::DropForced => return Verdict::QueueDrop,
        }
        self.record(now);
        self.advance(now);
        Verdict::Waits
    }

    /// Lets the transmitter take what it can take up to `now`. Nothing happens
    /// to a folded link.
    pub fn advance(&mut self, now: Time) {
        while self.transmitter.next_free <= now && self.send_next() {}
    }

    /// Lets the free transmitter take a packet; false if there is none.
    fn send_next(&mut self) -> bool {
        let Discipline::Stepped(room) = &mut self.discipline else {
            return false;
        };
        let Some(entered) = room.head() else {
            return false;
        };
        let at = self.transmitter.next_free.max(entered);
        let dropped = room.dropped();
        let next = room.next(at, &mut self.counters);
        let fewer = room.dropped() > dropped;
        let Some(waiter) = next else {
            return false;
        };
        let bytes = waiter.offered.bytes;
        self.counters.queueing += at.since(waiter.entered);
        self.transmitter.next_free = at + self.transmitter.time(bytes);
        let wire = bytes.saturating_add(self.transmitter.framing);
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

    fn record(&mut self, now: Time) {
        if self.delays.is_some() {
            let backlog: Duration = self.backlog(now);
            if let Some(delays) = &mut self.delays {
                delays.record(now, backlog);
            }
        }
    }

    /// When the link wants to be looked at again: a packet arrives at the far
    /// end, or, where none is under way, the transmitter takes one that waits.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        self.next_arrival().or_else(|| {
            let room = self.room()?;
            (room.packets() > 0).then_some(self.transmitter.next_free)
        })
    }

    /// Takes the packet at the head off the link if it has arrived by `now`.
    pub fn deliver_due(&mut self, now: Time) -> Option<P> {
        self.advance(now);
        self.next_arrival().filter(|at| *at <= now)?;
        self.deliver()
    }

    /// The packets that wait in a stepped link, the next first.
    pub fn waiting_packets(&self) -> impl Iterator<Item = &P> {
        self.room().into_iter().flat_map(Room::waiting)
    }

    /// What became of a packet that waited, the first that is not told yet:
    /// [`Verdict::Marked`] (it will arrive), [`Verdict::QueueDrop`] or
    /// [`Verdict::ChannelLoss`]. Nothing is told of those that just arrive.
    pub fn fate(&mut self) -> Option<(P, Verdict)> {
        match &mut self.discipline {
            Discipline::Stepped(room) => room.fate(),
            _ => None,
        }
    }
}
