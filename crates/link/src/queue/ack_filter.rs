//! Drop-tail that drops acknowledgements made superfluous by newer ones (RFC
//! 3449, section 5.2.1).
//!
//! A link does not read packets: before a packet arrives, the driver of the
//! link removes the acknowledgements that the packet makes superfluous with
//! [`Link::drop_waiting`](crate::Link::drop_waiting).

use super::fifo::{AdmissionRule, Fifo, FifoRule};
use super::{Decision, QueueContext, QueueEvents, QueueKind, QueueState};
use crate::{Limit, PacketMeta};

/// Parameters of a queue that filters acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AckFilterSettings {
    /// How much may wait.
    pub limit: Limit,
}

impl QueueKind for AckFilterSettings {
    const SIMULATED_ONLY: Option<&'static str> =
        Some("filters acknowledgements, which is simulated only");
    const FILTERS_ACKS: bool = true;

    fn name(&self) -> &'static str {
        "ACK filter"
    }

    fn limit(&self) -> Limit {
        self.limit
    }
}

#[derive(Clone, Debug)]
pub(crate) struct AckFilter {
    limit: Limit,
}

impl AdmissionRule for AckFilter {
    type Settings = AckFilterSettings;

    fn new(settings: &AckFilterSettings, _: &QueueContext<'_>) -> AckFilter {
        AckFilter {
            limit: settings.limit,
        }
    }

    fn decide(&mut self, state: QueueState, meta: PacketMeta) -> Decision {
        state.drop_tail(self.limit, meta)
    }
}

impl<P: Copy> FifoRule<P> for AckFilter {
    fn drop_waiting(
        &mut self,
        fifo: &mut Fifo<P>,
        mut is_superfluous: impl FnMut(&P) -> bool,
        events: &mut QueueEvents<'_, P>,
    ) {
        for place in fifo.numbers() {
            if fifo.at(place).is_some_and(|w| is_superfluous(&w.packet))
                && let Some(waiter) = fifo.remove(place)
            {
                events.drop_early(&waiter);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::counters::Tally;
    use crate::queue::{ManagedQueue, QueueSettings};
    use bentpipe_units::{Bytes, Duration, Rate, Time};

    #[test]
    fn a_packet_can_be_dropped_wherever_it_waits() {
        let link = QueueContext {
            rate: Rate::from_mbps(1),
            one_way_delay: Duration::ZERO,
            framing: Bytes::ZERO,
            seed: 1,
            name: "l",
        };
        let limit = Limit::Packets(9);
        let settings = QueueSettings::AckFilter(AckFilterSettings { limit });
        let mut queue: ManagedQueue<usize> = ManagedQueue::new(&settings, &link);
        let mut counters = Tally::default();
        let give = |queue: &mut ManagedQueue<usize>, packet| {
            let counters = &mut Tally::default();
            let meta = PacketMeta::plain(100);
            let decision = queue.enqueue(Time::ZERO, (None, false), packet, meta, counters);
            assert_eq!(decision, Decision::Accept);
        };
        (0..6).for_each(|packet| give(&mut queue, packet));
        queue.drop_waiting(Time::ZERO, |p| [0, 1, 4].contains(p), &mut counters);
        assert_eq!((counters.queue_drops, counters.rare().early_drops), (3, 3));
        assert_eq!(queue.backlog(), (3, 300));
        for packet in [0, 1, 4] {
            assert_eq!(queue.poll(), Some((packet, Verdict::QueueDrop)));
        }
        // None is dropped twice, and places are not mixed up.
        queue.drop_waiting(Time::ZERO, |p| *p == 4, &mut counters);
        assert_eq!(queue.poll(), None);
        give(&mut queue, 6);
        let left = std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut counters));
        assert_eq!(left.map(|w| w.packet).collect::<Vec<_>>(), [2, 3, 5, 6]);
        assert_eq!(queue.backlog(), (0, 0));
    }
}
