//! Reports of queues about packets that they had accepted.

use super::Waiter;
use crate::Verdict;
use crate::counters::Tally;
use bentpipe_units::{Duration, Time};
use std::collections::VecDeque;

/// Fates of packets after a queue had accepted them.
#[derive(Clone, Debug)]
pub(super) struct Log<P> {
    pub(super) verdicts: VecDeque<(P, Verdict)>,
    pub(super) dropped: u64,
    /// Waiting times of the packets that were dropped.
    pub(super) waited: Duration,
}

/// Where a discipline reports what it does to packets that it had accepted.
pub(crate) struct QueueEvents<'a, P> {
    pub(super) now: Time,
    pub(super) log: &'a mut Log<P>,
    pub(super) counters: &'a mut Tally,
}

impl<P> Log<P> {
    pub(super) const fn new() -> Log<P> {
        Log {
            verdicts: VecDeque::new(),
            dropped: 0,
            waited: Duration::ZERO,
        }
    }
}

impl<P: Copy> QueueEvents<'_, P> {
    /// A packet is dropped to signal congestion, or as superfluous.
    pub(super) fn drop_early(&mut self, waiter: &Waiter<P>) {
        self.counters.rare_mut().early_drops += 1;
        self.drop_for_room(waiter);
    }

    /// A packet gives way to another.
    pub(super) fn drop_for_room(&mut self, waiter: &Waiter<P>) {
        self.counters.queue_drops += 1;
        self.log.dropped += 1;
        self.log.waited += self.now.since(waiter.entered);
        self.report(waiter.packet, Verdict::QueueDrop);
    }

    /// A packet's ECN field is marked.
    pub(super) fn mark(&mut self, packet: P) {
        self.counters.rare_mut().marks += 1;
        self.report(packet, Verdict::Marked);
    }

    /// A packet's sender is to be notified; it counts among the marks.
    pub(super) fn notify(&mut self, packet: P) {
        self.counters.rare_mut().marks += 1;
        self.report(packet, Verdict::Notified);
    }

    pub(super) fn report(&mut self, packet: P, verdict: Verdict) {
        self.log.verdicts.push_back((packet, verdict));
    }
}
