//! Packets on an event-driven link with a timeline.

use crate::Verdict;
use crate::counters::Tally;
use crate::cursor::{Fate, LinkCursor};
use bentpipe_units::Time;
use std::collections::VecDeque;

/// The course of a link through its timeline, and the packets that have been
/// transmitted there.
#[derive(Clone, Debug)]
pub(crate) struct Timed<P> {
    pub(crate) course: LinkCursor,
    /// Ends of transmission of the packets in the link's ring, in its order.
    sent: VecDeque<Time>,
    /// Packets that will be lost, the next first.
    pending_losses: VecDeque<PendingLoss<P>>,
}

/// A packet in transmission or propagation that will not arrive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingLoss<P> {
    /// When it is lost.
    at: Time,
    /// End of its transmission.
    pub(crate) sent: Time,
    pub(crate) packet: P,
    bytes: u32,
    verdict: Verdict,
}

impl<P: Copy> Timed<P> {
    pub(crate) fn new(course: LinkCursor) -> Timed<P> {
        Timed {
            course,
            sent: VecDeque::new(),
            pending_losses: VecDeque::new(),
        }
    }

    /// A transmission of `packet`, of `bytes`, ended at `end`. Returns its
    /// arrival and its place in a ring of `ring` packets that arrive at
    /// `arrival(place)`; `None` if it is lost.
    pub(crate) fn sent_packet(
        &mut self,
        (packet, bytes): (P, u32),
        (end, fate): (Time, Fate),
        ring: usize,
        arrival: impl Fn(usize) -> Time,
    ) -> Option<(Time, usize)> {
        match fate {
            Fate::Arrives(at) => {
                let mut place = ring;
                while self.course.overtakes() && place > 0 && arrival(place - 1) > at {
                    place -= 1;
                }
                self.sent.insert(place, end);
                Some((at, place))
            }
            Fate::Lost { at, verdict } => {
                let place = self.pending_losses.partition_point(|d| d.at <= at);
                let loss = PendingLoss {
                    at,
                    sent: end,
                    packet,
                    bytes,
                    verdict,
                };
                self.pending_losses.insert(place, loss);
                None
            }
        }
    }

    /// Takes a packet that has been lost by `now`, and counts it.
    pub(crate) fn lost(&mut self, now: Time, counters: &mut Tally) -> Option<(P, Verdict)> {
        let pending_losses = self
            .pending_losses
            .front()
            .filter(|d| d.at <= now)
            .copied()?;
        self.pending_losses.pop_front();
        counters.lose(pending_losses.verdict, pending_losses.bytes);
        Some((pending_losses.packet, pending_losses.verdict))
    }

    /// Packets on the link that will not arrive.
    pub(crate) fn pending_losses(&self) -> &VecDeque<PendingLoss<P>> {
        &self.pending_losses
    }

    /// End of transmission of the packet at `place` in the ring.
    pub(crate) fn sent(&self, place: usize) -> Option<Time> {
        self.sent.get(place).copied()
    }

    /// The head of the ring is taken.
    pub(crate) fn delivered(&mut self) {
        self.sent.pop_front();
    }
}
