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

use super::fifo::{AdmissionRule, Fifo, FifoRule, Waiter};
use super::{Decision, QueueContext, QueueEvents, QueueKind, QueueState};
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

/// Drop-tail whose packets CoDel judges when they leave.
#[derive(Clone, Debug)]
pub(crate) struct DropTailCoDel {
    limit: Limit,
    codel: CoDel,
}

impl AdmissionRule for DropTailCoDel {
    type Settings = CoDelSettings;

    fn new(settings: &CoDelSettings, _: &QueueContext<'_>) -> DropTailCoDel {
        DropTailCoDel {
            limit: settings.limit,
            codel: CoDel::new(settings),
        }
    }

    fn decide(&mut self, state: QueueState, meta: PacketMeta) -> Decision {
        state.drop_tail(self.limit, meta)
    }
}

impl<P: Copy> FifoRule<P> for DropTailCoDel {
    fn take(
        &mut self,
        fifo: &mut Fifo<P>,
        now: Time,
        events: &mut QueueEvents<'_, P>,
    ) -> Option<Waiter<P>> {
        self.codel.next(now, fifo, events)
    }
}

/// The control loop of RFC 8289.
#[derive(Clone, Debug)]
pub(super) struct CoDel {
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
    pub(super) fn new(settings: &CoDelSettings) -> CoDel {
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

    /// The packet that the transmitter, free at `now`, sends next.
    pub(super) fn next<P: Copy>(
        &mut self,
        now: Time,
        fifo: &mut Fifo<P>,
        events: &mut QueueEvents<'_, P>,
    ) -> Option<Waiter<P>> {
        let (mut waiter, mut late) = self.head(now, fifo)?;
        if self.dropping {
            self.dropping = late;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if self.ecn && waiter.meta.ecn_capable {
                    self.drop_next = self.after(self.drop_next);
                    events.mark(waiter.packet);
                    break;
                }
                events.drop_early(&waiter);
                (waiter, late) = self.head(now, fifo)?;
                self.dropping = late;
                if late {
                    self.drop_next = self.after(self.drop_next);
                }
            }
            return Some(waiter);
        }
        if !late {
            return Some(waiter);
        }
        // A new dropping state. One that follows soon resumes at the count of the last one.
        let recent = now < self.drop_next + self.interval * 16;
        let more = self.count.saturating_sub(self.began_with);
        self.count = if recent && more > 1 { more } else { 1 };
        self.began_with = self.count;
        self.drop_next = self.after(now);
        self.dropping = true;
        if self.ecn && waiter.meta.ecn_capable {
            events.mark(waiter.packet);
            return Some(waiter);
        }
        events.drop_early(&waiter);
        self.head(now, fifo).map(|(waiter, _)| waiter)
    }

    /// Takes the packet at the head. True if the delay has been above the
    /// target for an interval. Nothing to take ends an episode.
    fn head<P: Copy>(&mut self, now: Time, fifo: &mut Fifo<P>) -> Option<(Waiter<P>, bool)> {
        let Some(waiter) = fifo.pop() else {
            self.due = None;
            self.dropping = false;
            return None;
        };
        if now.since(waiter.entered) < self.target || fifo.bytes() <= self.mtu {
            self.due = None;
            return Some((waiter, false));
        }
        let late = self.due.is_some_and(|due| now >= due);
        self.due.get_or_insert(now + self.interval);
        Some((waiter, late))
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
