//! CoDel: controlled delay.
//!
//! Source: K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, "Controlled Delay
//! Active Queue Management", RFC 8289, section 5. A packet is judged when the
//! transmitter takes it, by the time that it has waited. When every packet of
//! an interval has waited for the target or longer, one is dropped; while that
//! stays so, drops come at intervals that shrink with the square root of their
//! number.
//!
//! Parameters: `target` 5 ms; `interval` 100 ms, about the longest round trip
//! of the flows (so more over a satellite); `mtu` 1500 B, as much may always
//! wait; `ecn` off.
//!
//! What the RFC leaves open, with the reading chosen:
//! - Marks (section 5.1 allows them, the pseudocode has none): as Linux'
//!   `sch_codel`. An ECN-capable packet that would be dropped is marked and
//!   sent; nothing else is judged then.
//! - `maxpacket` is the parameter `mtu`, not the largest packet seen.
//! - A transmitter that finds no packet asks once, when it becomes free.
//!
//! Example: with an interval of 100 ms the second drop of an episode comes
//! 100 ms after the first, the third 100 / sqrt 2 = 70.7 ms after that, the
//! fourth 57.7 ms.

use super::fifo::{AdmissionRule, Fifo, Waiter};
use super::{
    Decision, Discipline, DropTail, DropTailSettings, QueueContext, QueueEvents, QueueKind,
    QueueState,
};
use crate::{Limit, PacketMeta};
use bentpipe_units::{Bytes, Duration, Time, math};

/// Parameters of a CoDel queue.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct CoDelSettings {
    /// How much may wait, whatever the delay.
    pub limit: Limit,
    /// The waiting time that is acceptable for good.
    pub target: Duration,
    /// For how long it must be exceeded before a packet is dropped.
    pub interval: Duration,
    /// Nothing is dropped while not more than this is left behind.
    pub mtu: Bytes,
    /// Marks ECN-capable packets instead of dropping them.
    pub ecn: bool,
}

impl CoDelSettings {
    /// RFC 8289's values with this limit.
    #[must_use]
    pub fn new(limit: Limit) -> CoDelSettings {
        CoDelSettings {
            limit,
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            mtu: Bytes::new(1500),
            ecn: false,
        }
    }
}

impl QueueKind for CoDelSettings {
    fn name(&self) -> &'static str {
        "CoDel"
    }

    fn limit(&self) -> Limit {
        self.limit
    }

    fn segment_limit(&mut self) -> Option<&mut Limit> {
        Some(&mut self.limit)
    }
}

/// A drop-tail queue whose packets CoDel judges when they leave.
#[derive(Clone, Debug)]
pub(crate) struct CoDelQueue<P> {
    rule: DropTail,
    fifo: Fifo<P>,
    codel: CoDel,
}

impl<P: Copy> Discipline<P> for CoDelQueue<P> {
    type Settings = CoDelSettings;

    fn new(settings: &CoDelSettings, link: &QueueContext<'_>) -> CoDelQueue<P> {
        let limit = settings.limit;
        CoDelQueue {
            rule: DropTail::new(&DropTailSettings { limit }, link),
            fifo: Fifo::new(),
            codel: CoDel::new(settings),
        }
    }

    fn enqueue(
        &mut self,
        state: QueueState,
        packet: P,
        meta: PacketMeta,
        _: &mut QueueEvents<'_, P>,
    ) -> Decision {
        self.fifo.admit(&mut self.rule, state, packet, meta)
    }

    fn dequeue(&mut self, now: Time, events: &mut QueueEvents<'_, P>) -> Option<Waiter<P>> {
        let fifo = &mut self.fifo;
        let (waiter, marked) = self.codel.next(now, &mut Judged { fifo, events })?;
        if marked {
            events.mark(waiter.packet);
        }
        Some(waiter)
    }

    fn head(&self) -> Option<Time> {
        self.fifo.head().map(|w| w.entered)
    }

    fn fifos(&self) -> &[Fifo<P>] {
        std::slice::from_ref(&self.fifo)
    }
}

/// A FIFO whose packets CoDel judges.
struct Judged<'a, 'b, P> {
    fifo: &'a mut Fifo<P>,
    events: &'a mut QueueEvents<'b, P>,
}

impl<P: Copy> Waiting for Judged<'_, '_, P> {
    type Packet = Waiter<P>;

    fn take(&mut self) -> Option<Waiter<P>> {
        self.fifo.pop()
    }

    fn entered(packet: &Waiter<P>) -> Time {
        packet.entered
    }

    fn ecn_capable(packet: &Waiter<P>) -> bool {
        packet.meta.ecn_capable
    }

    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }

    fn drop_taken(&mut self, packet: Waiter<P>) {
        self.events.drop_early(&packet);
    }
}

/// What waits before a transmitter, for CoDel to take from.
pub(crate) trait Waiting {
    type Packet;
    /// Takes the packet at the head.
    fn take(&mut self) -> Option<Self::Packet>;
    /// When the packet came.
    fn entered(packet: &Self::Packet) -> Time;
    /// True if the packet may be marked.
    fn ecn_capable(packet: &Self::Packet) -> bool;
    /// Bytes left.
    fn bytes(&self) -> u64;
    /// Drops a packet that was taken.
    fn drop_taken(&mut self, packet: Self::Packet);
}

/// The control loop.
#[derive(Clone, Debug)]
pub(crate) struct CoDel {
    target: Duration,
    interval: Duration,
    mtu: u64,
    ecn: bool,
    /// When the delay will have been above the target for an interval.
    due: Option<Time>,
    dropping: bool,
    /// When the next packet is dropped, while dropping.
    drop_next: Time,
    /// Drops of this episode, and with how many it began.
    count: u32,
    began_with: u32,
}

impl CoDel {
    pub(crate) fn new(settings: &CoDelSettings) -> CoDel {
        CoDel {
            target: settings.target,
            interval: settings.interval,
            mtu: settings.mtu.get(),
            ecn: settings.ecn,
            due: None,
            dropping: false,
            drop_next: Time::ZERO,
            count: 0,
            began_with: 0,
        }
    }

    /// The packet that the transmitter, free at `now`, sends next, and whether
    /// it is marked.
    pub(crate) fn next<W: Waiting>(
        &mut self,
        now: Time,
        waiting: &mut W,
    ) -> Option<(W::Packet, bool)> {
        let (mut packet, mut late) = self.head(now, waiting)?;
        if self.dropping {
            self.dropping = late;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if self.ecn && W::ecn_capable(&packet) {
                    self.drop_next = self.after(self.drop_next);
                    return Some((packet, true));
                }
                waiting.drop_taken(packet);
                (packet, late) = self.head(now, waiting)?;
                self.dropping = late;
                if late {
                    self.drop_next = self.after(self.drop_next);
                }
            }
            return Some((packet, false));
        }
        if !late {
            return Some((packet, false));
        }
        // A new episode. One that follows soon goes on where the last one
        // had come to.
        let recent = now < self.drop_next + self.interval * 16;
        let more = self.count.saturating_sub(self.began_with);
        self.count = if recent && more > 1 { more } else { 1 };
        self.began_with = self.count;
        self.drop_next = self.after(now);
        self.dropping = true;
        if self.ecn && W::ecn_capable(&packet) {
            return Some((packet, true));
        }
        waiting.drop_taken(packet);
        (packet, _) = self.head(now, waiting)?;
        Some((packet, false))
    }

    /// Takes the packet at the head. True if the delay has been above the
    /// target for an interval. Nothing to take ends an episode.
    fn head<W: Waiting>(&mut self, now: Time, waiting: &mut W) -> Option<(W::Packet, bool)> {
        let Some(packet) = waiting.take() else {
            self.due = None;
            self.dropping = false;
            return None;
        };
        let waited = now.since(W::entered(&packet));
        if waited < self.target || waiting.bytes() <= self.mtu {
            self.due = None;
            return Some((packet, false));
        }
        let late = match self.due {
            None => {
                self.due = Some(now + self.interval);
                false
            }
            Some(due) => now >= due,
        };
        Some((packet, late))
    }

    /// The control law: the drop after one at `t`.
    fn after(&self, t: Time) -> Time {
        let interval = self.interval.as_nanos() as f64;
        t + Duration::from_nanos((interval / math::sqrt(f64::from(self.count))) as u64)
    }
}

#[cfg(test)]
#[path = "codel_tests.rs"]
mod tests;
