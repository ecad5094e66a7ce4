//! FQ-CoDel: fair queueing with a CoDel for every flow.
//!
//! Source: T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys, E. Dumazet,
//! "The Flow Queue CoDel Packet Scheduler and Active Queue Management
//! Algorithm", RFC 8290; CoDel is that of RFC 8289 (`codel.rs`).
//!
//! Packets are hashed by flow to one of many queues. Queues that have packets are in one of two
//! lists, and the transmitter takes up to a quantum of bytes from each in turn (deficit round
//! robin): first from the list of new queues, which had been empty, then from that of the old ones.
//! A flow that sends less than its share is thereby sent at once. When the limit is exceeded, the
//! packet at the head of the longest queue, in bytes, is dropped.
//!
//! Parameters: `flows` 1024 queues; `quantum` 1514 B; `target` 5 ms, `interval`
//! 100 ms and `mtu` 1500 B of CoDel; `ecn` on (section 4.3 and 5.2).
//!
//! What the RFC leaves open, with the reading chosen:
//! - CoDel spares what it leaves behind in the *same* queue, as RFC 8289 has
//!   it; Linux's `sch_fq_codel` compares the backlog of all queues.
//! - One packet is dropped at a time (section 4.1), not a batch as in Linux.
//! - A packet's flow is the number or hash in its metadata: in the simulator the
//!   connection and its direction, live addresses, protocol and ports. A salt
//!   from the seed of the run decides which flows share a queue.
//!
//! Example: with a quantum of 1500 B, a flow of packets of 1500 B and one of
//! packets of 300 B leave in the order A b b b b b A b b b b b.

use super::codel::CoDel;
use super::fifo::{Fifo, Waiter};
use super::{
    CoDelSettings, Decision, Discipline, QueueContext, QueueEvents, QueueKind, QueueState,
};
use crate::{Limit, PacketMeta};
use bentpipe_random::Stream;
use bentpipe_units::{Bytes, Time};
use std::collections::VecDeque;

/// Parameters of an FQ-CoDel queue.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct FqCoDelSettings {
    /// CoDel in each queue; its limit holds for all of them together.
    pub codel: CoDelSettings,
    /// Queues that flows are hashed to, at least one.
    pub flows: u32,
    /// Bytes that a queue may send before it is the turn of the next, at least
    /// one.
    pub quantum: Bytes,
}

impl FqCoDelSettings {
    /// The values of RFC 8290 with this limit.
    #[must_use]
    pub fn new(limit: Limit) -> FqCoDelSettings {
        FqCoDelSettings {
            codel: CoDelSettings {
                ecn: true,
                ..CoDelSettings::new(limit)
            },
            flows: 1024,
            quantum: Bytes::new(1514),
        }
    }
}

impl QueueKind for FqCoDelSettings {
    fn name(&self) -> &'static str {
        "FQ-CoDel"
    }

    fn limit(&self) -> Limit {
        self.codel.limit
    }

    fn segment_limit(&mut self) -> Option<&mut Limit> {
        Some(&mut self.codel.limit)
    }
}

/// The queues of all flows.
#[derive(Clone, Debug)]
pub(crate) struct FqCoDel<P> {
    limit: Limit,
    quantum: i64,
    salt: u64,
    fifos: Vec<Fifo<P>>,
    /// State of each FIFO.
    flows: Vec<Flow>,
    /// FIFOs in the two lists.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: u64,
    bytes: u64,
}

#[derive(Clone, Debug)]
struct Flow {
    codel: CoDel,
    /// Bytes that it may still send in its turn.
    deficit: i64,
    /// It is in one of the lists.
    active: bool,
}

impl<P: Copy> FqCoDel<P> {
    /// The FIFO of a flow.
    fn classify(&self, flow: u32) -> usize {
        // The finalizer of SplitMix64.
        let mut hash = self.salt ^ u64::from(flow);
        hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^= hash >> 31;
        (hash % self.fifos.len() as u64) as usize
    }

    fn is_over_limit(&self) -> bool {
        match self.limit {
            Limit::Packets(n) => self.packets > u64::from(n),
            Limit::Bytes(n) => self.bytes > n.get(),
        }
    }

    /// Drops the packet at the head of the longest queue, in bytes.
    fn drop_from_longest(&mut self, events: &mut QueueEvents<'_, P>) {
        let active = self.new.iter().chain(&self.old);
        // The first of several that are equally long.
        let longest = active
            .rev()
            .max_by_key(|&&at| self.fifos[at as usize].bytes());
        if let Some(&at) = longest
            && let Some(waiter) = self.fifos[at as usize].pop()
        {
            self.packets -= 1;
            self.bytes -= u64::from(waiter.meta.bytes);
            events.drop_for_room(&waiter);
        }
    }
}

impl<P: Copy> Discipline<P> for FqCoDel<P> {
    type Settings = FqCoDelSettings;

    fn new(settings: &FqCoDelSettings, link: &QueueContext<'_>) -> FqCoDel<P> {
        let flow = Flow {
            codel: CoDel::new(&settings.codel),
            deficit: 0,
            active: false,
        };
        let flows = settings.flows.max(1) as usize;
        FqCoDel {
            limit: settings.codel.limit,
            quantum: i64::try_from(settings.quantum.get().max(1)).unwrap_or(i64::MAX),
            salt: Stream::new(link.seed, &format!("queue {}", link.name)).bits(),
            fifos: vec![Fifo::new(); flows],
            flows: vec![flow; flows],
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
        }
    }

    fn enqueue(
        &mut self,
        state: QueueState,
        packet: P,
        meta: PacketMeta,
        events: &mut QueueEvents<'_, P>,
    ) -> Decision {
        let at = self.classify(meta.flow);
        self.fifos[at].push(state.now, packet, meta);
        self.packets += 1;
        self.bytes += u64::from(meta.bytes);
        let flow = &mut self.flows[at];
        if !flow.active {
            flow.active = true;
            flow.deficit = self.quantum;
            self.new.push_back(at as u32);
        }
        while !state.is_served_at_once() && self.is_over_limit() {
            self.drop_from_longest(events);
        }
        Decision::Accept
    }

    fn dequeue(&mut self, now: Time, events: &mut QueueEvents<'_, P>) -> Option<Waiter<P>> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = *list.front()?;
            let flow = &mut self.flows[number as usize];
            if flow.deficit <= 0 {
                flow.deficit = flow.deficit.saturating_add(self.quantum);
                list.pop_front();
                self.old.push_back(number);
                continue;
            }
            let fifo = &mut self.fifos[number as usize];
            let (packets, bytes) = (fifo.packets(), fifo.bytes());
            let next = flow.codel.next(now, fifo, events);
            self.packets -= packets - fifo.packets();
            self.bytes -= bytes - fifo.bytes();
            match next {
                Some(waiter) => {
                    flow.deficit -= i64::from(waiter.meta.bytes);
                    return Some(waiter);
                }
                // A new queue passes through the old list before it can be new
                // again: else a flow could always send first.
                None if is_new => {
                    list.pop_front();
                    self.old.push_back(number);
                }
                None => {
                    list.pop_front();
                    flow.active = false;
                }
            }
        }
    }

    fn head(&self) -> Option<Time> {
        let mut active = self.new.iter().chain(&self.old);
        active.find_map(|&at| self.fifos[at as usize].head().map(|w| w.entered))
    }

    fn fifos(&self) -> &[Fifo<P>] {
        &self.fifos
    }

    fn backlog(&self) -> (u64, u64) {
        (self.packets, self.bytes)
    }
}

#[cfg(test)]
#[path = "fq_codel_tests.rs"]
mod tests;
