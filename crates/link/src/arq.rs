//! Link-layer retransmission: automatic repeat request.
//!
//! The sender of the link numbers packets and keeps each until its outcome is known: for every
//! transmission one round trip of the link after its end (an acknowledgement or a negative one
//! comes back), or, where a *timeout* is set, a loss is known after that time. Feedback takes no
//! capacity of the return link and is never lost; its delay is that of the forward link, on a link
//! with a timeline that at the time of the transmission. Packets destroyed by an outage are treated
//! like those destroyed by the channel, and are retransmitted when the link is up. At most *window*
//! packets may be unknown at once, counted from the oldest. A packet that was lost the last of its
//! *transmissions* is given up and counts as lost by the channel: a share p^n of all, with losses
//! independent of each other.
//!
//! * *Selective repeat* sends what was lost again, before anything new. The
//!   receiver passes packets on as they come, or *in order*: then those after a
//!   loss wait for it, or until the receiver learns that it was given up, a
//!   one-way delay after the sender did. With a window large enough the
//!   transmitter carries a share 1 - p of its rate.
//! * *Go-back-N* sends what was lost and all that followed it again; the
//!   receiver passes on nothing but the next packet in order. It carries
//!   (1 - p) / (1 + p a), with `a` packets sent between a transmission's end
//!   and the news of it. A transmission that the receiver discards for order is
//!   not one of those that are counted.

use crate::PacketMeta;
use crate::queue::Waiter;
use bentpipe_units::{Duration, Time};
use std::collections::VecDeque;

/// Parameters of a link's retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ArqSettings {
    /// How lost packets are retransmitted.
    pub scheme: ArqScheme,
    /// Packets whose fate may be unknown at once, from the oldest on; at least
    /// one.
    pub window: u32,
    /// When a loss is known after the end of the transmission; `None`: a round
    /// trip of the link.
    pub timeout: Option<Duration>,
    /// Transmissions of a packet at most, at least one.
    pub transmissions: u32,
    /// Selective repeat only: the receiver restores the order.
    pub in_order: bool,
}

/// The packets that a link retransmits after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum ArqScheme {
    /// The packet that was lost.
    SelectiveRepeat,
    /// The packet that was lost and all after it.
    GoBackN,
}

/// A link's retransmission at work.
#[derive(Clone, Debug)]
pub(crate) struct Arq<P> {
    settings: ArqSettings,
    /// Packets from the oldest of unknown fate on.
    slots: VecDeque<Slot<P>>,
    /// Number of the first slot.
    base: u64,
    /// Selective repeat: losses that are not sent again yet, (when they are
    /// known, number), in that order.
    due: VecDeque<(Time, u64)>,
    /// Go-back-N: the number that is sent next, and the one that the receiver
    /// waits for.
    next: u64,
    expected: u64,
    /// When the sender learned that it has to go back to where it last did.
    back: Time,
    /// When the window last opened that had been closed.
    opened: Time,
    /// It discards all that is sent by then.
    deaf_until: Time,
    /// The packets passed on in order so far, and when the last of them was.
    passed: u64,
    passed_at: Time,
    /// Packets in slots that were neither passed on nor given up.
    held: usize,
    /// Time that the transmitter was busy.
    pub(crate) busy: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Slot<P> {
    packet: P,
    meta: PacketMeta,
    /// Transmissions lost so far.
    lost: u32,
    /// When it arrived, or the receiver learns that it never will.
    settled: Option<Time>,
    given_up: bool,
    /// When its outcome is known to the sender; [`Time::MAX`]: not yet.
    known: Time,
}

/// Next action of the transmitter, and since when it waits for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It sends that number again.
    Again(u64, Time),
    /// It takes a packet that waits.
    New(Time),
}

/// What comes of a transmission: packets that are passed on, in order, and
/// whether the one that was sent has been given up.
pub(crate) struct Sent<P> {
    pub(crate) passed: Option<(P, PacketMeta, Time)>,
    pub(crate) given_up: Option<(P, PacketMeta)>,
}

impl<P: Copy> Arq<P> {
    pub(crate) fn new(settings: &ArqSettings) -> Arq<P> {
        Arq {
            settings: *settings,
            slots: VecDeque::new(),
            base: 0,
            due: VecDeque::new(),
            next: 0,
            expected: 0,
            back: Time::ZERO,
            opened: Time::ZERO,
            deaf_until: Time::ZERO,
            passed: 0,
            passed_at: Time::ZERO,
            held: 0,
            busy: Duration::ZERO,
        }
    }

    /// The number of the next new packet.
    fn fresh(&self) -> u64 {
        self.base + self.slots.len() as u64
    }

    /// Takes in the news up to `now`.
    pub(crate) fn learn(&mut self, now: Time) {
        while let Some(known) = self.slots.front().map(|slot| slot.known)
            && known <= now
        {
            if self.slots.len() >= self.window() {
                self.opened = self.opened.max(known);
            }
            self.slots.pop_front();
            self.base += 1;
        }
        if self.goes_back()
            && let Some(&(known, number)) = self.due.front().filter(|due| due.0 <= now)
        {
            self.due.pop_front();
            self.next = number;
            self.back = known;
            // It may send at this very instant.
            self.deaf_until = Time::ZERO;
        }
    }

    fn window(&self) -> usize {
        self.settings.window.max(1) as usize
    }

    fn goes_back(&self) -> bool {
        self.settings.scheme == ArqScheme::GoBackN
    }

    /// When the transmitter, free at `free`, can act, and what it does then;
    /// `waits` says when the first packet that waits came.
    pub(crate) fn next(&self, free: Time, waits: Option<Time>) -> Option<(Time, Next)> {
        let new = waits.and_then(|entered| {
            let free = free.max(entered);
            // All before it must be known.
            let closed = (self.slots.len() + 1).saturating_sub(self.window());
            let known = self.slots.iter().take(closed).map(|slot| slot.known);
            let opened = known.max().unwrap_or(Time::ZERO).max(self.opened);
            let since = entered.max(opened);
            (opened != Time::MAX).then_some((free.max(opened), Next::New(since)))
        });
        let due = self.due.front().filter(|due| due.1 < self.fresh());
        let due = due.map(|&(known, number)| (known.max(free), Next::Again(number, known)));
        let again = match due {
            // It sends on from where it went back to, unless there is news of
            // another loss.
            Some(due) if !self.goes_back() || due.0 <= free => Some(due),
            _ if self.goes_back() && self.next < self.fresh() => {
                let number = self.next.max(self.base);
                Some((free, Next::Again(number, self.back)))
            }
            due => due,
        };
        match (again, new) {
            // Retransmissions precede new packets.
            (Some(again), Some(new)) if new.0 < again.0 => Some(new),
            (Some(again), _) => Some(again),
            (None, new) => new,
        }
    }

    /// True if a packet that comes at `now` to a free transmitter must wait.
    pub(crate) fn is_closed(&self, now: Time) -> bool {
        self.next(now, Some(now)) != Some((now, Next::New(now)))
    }

    /// Takes a packet into the window; returns its number.
    pub(crate) fn take(&mut self, waiter: &Waiter<P>) -> u64 {
        let number = self.fresh();
        self.slots.push_back(Slot {
            packet: waiter.packet,
            meta: waiter.meta,
            lost: 0,
            settled: None,
            given_up: false,
            known: Time::MAX,
        });
        self.held += 1;
        number
    }

    /// The size of a packet in the window.
    pub(crate) fn bytes(&self, number: u64) -> u32 {
        self.slot(number).map_or(0, |slot| slot.meta.bytes)
    }

    fn slot(&self, number: u64) -> Option<&Slot<P>> {
        self.slots.get(number.checked_sub(self.base)? as usize)
    }

    fn slot_mut(&mut self, number: u64) -> Option<&mut Slot<P>> {
        self.slots.get_mut(number.checked_sub(self.base)? as usize)
    }

    /// The transmission of packet `number` ends at `end`, `lost` or not, and its
    /// propagation takes `propagation`.
    pub(crate) fn sent(
        &mut self,
        number: u64,
        (end, propagation): (Time, Duration),
        lost: bool,
    ) -> Sent<P> {
        let nothing = Sent {
            passed: None,
            given_up: None,
        };
        let back = self.goes_back();
        if back {
            self.next = number + 1;
            if number != self.expected || end <= self.deaf_until {
                return nothing; // The receiver discards it.
            }
        }
        if self.due.front().is_some_and(|due| due.1 == number) {
            self.due.pop_front();
        }
        let round_trip = propagation + propagation;
        let known = end + self.settings.timeout.unwrap_or(round_trip);
        let (most, in_order) = (self.settings.transmissions.max(1), self.settings.in_order);
        let Some(slot) = self.slot_mut(number) else {
            return nothing;
        };
        if !lost {
            slot.known = end + round_trip;
            slot.settled = Some(end + propagation);
            let (packet, meta) = (slot.packet, slot.meta);
            if back {
                self.expected = number + 1;
            } else if in_order {
                return nothing; // Passed on by `pass`.
            }
            self.held -= 1;
            return Sent {
                passed: Some((packet, meta, end + propagation)),
                given_up: None,
            };
        }
        slot.lost += 1;
        if slot.lost < most {
            self.due.push_back((known, number));
            return nothing;
        }
        slot.known = known;
        slot.settled = Some(known + propagation);
        slot.given_up = true;
        let given_up = (slot.packet, slot.meta);
        self.held -= 1;
        if back {
            // It resumes after the outage, when both sides know of it.
            self.deaf_until = known;
            self.expected = number + 1;
            self.due.push_back((known, number + 1));
        }
        Sent {
            passed: None,
            given_up: Some(given_up),
        }
    }

    /// The next packet that an ordering receiver passes on, and when.
    pub(crate) fn pass(&mut self) -> Option<(P, PacketMeta, Time)> {
        if !self.settings.in_order || self.settings.scheme == ArqScheme::GoBackN {
            return None;
        }
        loop {
            // What is passed on may be forgotten, never the other way round:
            // news reaches the sender later than the receiver.
            self.passed = self.passed.max(self.base);
            let slot = *self.slot(self.passed)?;
            let settled = slot.settled?;
            self.passed += 1;
            self.passed_at = self.passed_at.max(settled);
            if !slot.given_up {
                self.held -= 1;
                return Some((slot.packet, slot.meta, self.passed_at));
            }
        }
    }

    /// Packets that the link has taken, that were neither passed on nor given
    /// up.
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    pub(crate) fn packets(&self) -> impl Iterator<Item = &P> {
        let in_order = self.settings.in_order && self.settings.scheme == ArqScheme::SelectiveRepeat;
        let numbered = (self.base..).zip(&self.slots);
        let here = numbered.filter(move |(number, slot)| {
            !slot.given_up
                && if in_order {
                    *number >= self.passed
                } else {
                    slot.settled.is_none()
                }
        });
        here.map(|(_, slot)| &slot.packet)
    }
}
