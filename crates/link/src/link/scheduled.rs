//! Links with a timeline that decide over each packet on its arrival.
//!
//! The timeline is known in advance, so where the queue serves in order and
//! decides on arrival alone, start and end of a transmission, delay and loss
//! follow when the packet arrives. The results are those of the event-driven
//! link; what lies ahead is reported with its time.

use super::{Carried, Link, Service};
use crate::counters::Tally;
use crate::cursor::{Fate, LinkCursor};
use crate::queue::{AdmissionRule, Decision, QueueState, Rule};
use crate::ring::Ring;
use crate::timeline::Span;
use crate::{Admission, PacketMeta, Verdict};
use bentpipe_units::{Duration, Time};

/// A rule that decides over arriving packets, and the course of the
/// transmitter.
#[derive(Clone, Debug)]
pub(super) struct Scheduled<P> {
    pub(super) rule: Rule,
    /// Packets whose transmission has begun.
    pub(super) carried: Ring<Carried<P>>,
    pub(super) course: LinkCursor,
    waiting: Ring<Waiting>,
    waiting_bytes: u64,
    /// Where in the timeline the first of them starts.
    head: Span,
    /// Ends of transmission of the packets in `carried`, in its order, after those of packets that
    /// have left it.
    sent: Ring<Time>,
}

/// A packet whose transmission has not started.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    start: Time,
    entered: Time,
    bytes: u32,
}

impl<P: Copy> Scheduled<P> {
    pub(super) fn new(rule: Rule, course: LinkCursor) -> Scheduled<P> {
        Scheduled {
            rule,
            carried: Ring::new(),
            head: course.cursor(),
            course,
            waiting: Ring::new(),
            waiting_bytes: 0,
            sent: Ring::new(),
        }
    }

    /// Counts the packets whose transmission has started by `now`.
    #[inline]
    pub(super) fn advance(&mut self, now: Time, counters: &mut Tally) {
        while let Some(first) = self.waiting.front().filter(|w| w.start <= now) {
            counters.queueing += first.start.since(first.entered);
            self.waiting_bytes -= u64::from(first.bytes);
            self.waiting.pop_front();
        }
    }

    pub(super) fn packets(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// The packets that wait at `now`, of those that had not started at the last
    /// [`Scheduled::advance`].
    pub(super) fn waiting_at(&self, now: Time) -> u64 {
        let waits = |w: &&Waiting| w.start > now && w.entered <= now;
        self.waiting.iter().filter(waits).count() as u64
    }

    pub(super) fn bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// Waiting times up to `now` of the packets that wait then.
    pub(super) fn waited(&self, now: Time) -> Duration {
        let waits = self.waiting.iter().map(|w| now.since(w.entered));
        waits.fold(Duration::ZERO, |sum, wait| sum + wait)
    }

    /// How long a packet would wait that arrived at `now`, behind those that wait for a
    /// transmitter that is free at `free`.
    pub(super) fn delay(&self, now: Time, free: Time) -> Duration {
        let (packets, bytes) = (self.packets(), self.bytes());
        match self.waiting.front() {
            Some(first) => {
                let mut span = self.head;
                self.course
                    .finish(&mut span, first.start, packets, bytes)
                    .since(now)
            }
            None => self.course.drain(now, free, packets, bytes),
        }
    }

    /// Takes a packet behind those that arrive no later, whose transmission ends at `end`. True if
    /// it is the next one to arrive.
    pub(super) fn land(&mut self, end: Time, carried: Carried<P>) -> bool {
        let later = |c: &Carried<P>| c.arrival > carried.arrival;
        let mut place = self.carried.len();
        while place > 0 && self.carried.get(place - 1).is_some_and(later) {
            place -= 1;
        }
        self.forget_sent();
        self.sent.insert(place, end);
        self.carried.insert(place, carried);
        place == 0
    }

    /// The same of a packet that arrives no earlier than the others.
    #[inline]
    fn carry(&mut self, end: Time, carried: Carried<P>) -> bool {
        self.forget_sent();
        self.sent.push_back(end);
        self.carried.push_back(carried);
        self.carried.len() == 1
    }

    /// Forgets when the transmission of packets ended that have left the ring.
    #[inline]
    fn forget_sent(&mut self) {
        while self.sent.len() > self.carried.len() {
            self.sent.pop_front();
        }
    }

    /// End of transmission of the packet at `place` of the ring.
    pub(super) fn sent(&self, place: usize) -> Option<Time> {
        let left = self.sent.len().checked_sub(self.carried.len())?;
        self.sent.get(left + place).copied()
    }
}

impl<P: Copy> Link<P> {
    /// [`Link::admit`] on a link with a timeline.
    pub(super) fn admit_scheduled(&mut self, now: Time, meta: PacketMeta) -> Admission {
        let Service::Scheduled(service) = &mut self.service else {
            return Admission::EventDriven;
        };
        service.advance(now, &mut self.counters);
        self.counters.offered += 1;
        let next_free = self.transmitter.next_free;
        let idle = next_free <= now && service.waiting.is_empty();
        let start = service.course.resume(next_free.max(now), now);
        let waits = start > now;
        let limit = self.backlog.limit();
        let (packets, bytes) = (service.packets(), service.waiting_bytes);
        let decision = match &mut service.rule {
            Rule::DropTail if !waits || limit.admits(packets, bytes, meta.bytes) => {
                Decision::Accept
            }
            Rule::DropTail => Decision::DropForced,
            Rule::Red(red) => {
                let state = QueueState {
                    now,
                    idle_since: idle.then_some(next_free),
                    blocked: idle && waits,
                    packets,
                    bytes,
                };
                red.decide(state, meta)
            }
        };
        let marked = decision == Decision::Mark;
        if marked {
            self.counters.rare_mut().marks += 1;
        }
        if !decision.accepts() {
            self.counters.queue_drops += 1;
            if decision == Decision::DropEarly {
                self.counters.rare_mut().early_drops += 1;
            }
            let verdict = Verdict::QueueDrop;
            return Admission::Lost { verdict, at: now };
        }
        let channel = self.channel.as_deref_mut();
        let (end, fate) = service.course.transmit(now, start, meta.bytes, channel);
        self.transmitter.next_free = end;
        if waits {
            service.waiting.push_back(Waiting {
                start,
                entered: now,
                bytes: meta.bytes,
            });
            service.waiting_bytes += u64::from(meta.bytes);
            let counters = &mut self.counters;
            counters.max_packets = counters.max_packets.max(service.packets());
            counters.max_bytes = counters.max_bytes.max(service.waiting_bytes);
        }
        if self.delays.is_some() {
            self.record_scheduled(now, end);
        }
        match fate {
            Fate::Arrives(at) => {
                self.counters.accepted_bytes += u64::from(meta.bytes);
                Admission::Arrives { at, marked }
            }
            Fate::Lost { at, verdict } => {
                self.counters.lose(verdict, meta.bytes);
                Admission::Lost { verdict, at }
            }
        }
    }

    /// Records the delay at `now`, when a packet was admitted whose
    /// transmission ends at `end`.
    fn record_scheduled(&mut self, now: Time, end: Time) {
        self.record_pauses(now);
        let Service::Scheduled(service) = &mut self.service else {
            return;
        };
        let delay = match service.waiting.front() {
            Some(first) if service.waiting.len() > 1 => {
                // All at once, as the event-driven link reckons it: no
                // rounding from packet to packet.
                let (packets, bytes) = (service.packets(), service.waiting_bytes);
                let start = first.start;
                let span = &mut service.head;
                service.course.seek(span, start);
                service
                    .course
                    .finish(&mut span.clone(), start, packets, bytes)
                    .since(now)
            }
            _ => end.since(now),
        };
        if let Some(delays) = &mut self.delays {
            delays.record(now, delay);
        }
    }

    /// [`Link::carry`] on a link with a timeline, of the packet admitted last.
    #[inline(never)]
    pub(super) fn carry_scheduled(&mut self, arrival: Time, packet: P) -> bool {
        let Service::Scheduled(service) = &mut self.service else {
            return false;
        };
        let (end, carried) = (self.transmitter.next_free, Carried { arrival, packet });
        match service.course.overtakes() {
            true => service.land(end, carried),
            false => service.carry(end, carried),
        }
    }
}
