//! Queue disciplines: which packets wait, in which order they leave, and which
//! are dropped or marked.
//!
//! A discipline is one file below `queue/`. It holds the settings, which
//! implement [`QueueKind`], and what decides: for packets that wait in one line
//! an [`AdmissionRule`], with a [`FifoRule`](fifo::FifoRule) where it does more than
//! admit, else a [`Discipline`] of its own. A line in [`disciplines!`] ties the two
//! and makes them known to all links. The
//! transmitter calls [`ManagedQueue::enqueue`] for a packet that arrives and
//! [`ManagedQueue::dequeue`] when it is free; what happens to packets after
//! they were accepted comes out of [`ManagedQueue::poll`].
//!
//! Where a discipline serves in order and decides on arrival alone, at a
//! transmitter whose future is known, the departure of each packet is known
//! when it arrives. Such a discipline also has a [`Rule`], and its link is
//! precomputed: no packet is stored here.

mod ack_filter;
mod bandwidth;
mod codel;
mod drop_tail;
mod events;
mod fifo;
mod fq_codel;
mod fuzzy;
mod pie;
mod priority_drop;
mod red;
mod xcp;

pub use ack_filter::AckFilterSettings;
pub use bandwidth::{BandwidthSettings, Stamp};
pub use codel::CoDelSettings;
pub use drop_tail::DropTailSettings;
pub use fq_codel::FqCoDelSettings;
pub use fuzzy::{BecnSettings, FuzzyRules, FuzzySettings};
pub use pie::PieSettings;
pub use priority_drop::PriorityDropSettings;
pub use red::{AdaptiveSettings, RedMode, RedPreset, RedSettings};
pub use xcp::{Feedback, XcpHeader, XcpSettings};

pub(crate) use fifo::{AdmissionRule, Waiter};
pub(crate) use red::Red;

use crate::counters::Tally;
use crate::{Limit, PacketMeta, Verdict};
use ack_filter::AckFilter;
use bandwidth::Router;
use bentpipe_units::{Bytes, Duration, Rate, Time};
use codel::DropTailCoDel;
use drop_tail::DropTail;
use events::{Log, QueueEvents};
use fifo::{Fifo, FifoQueue};
use fq_codel::FqCoDel;
use fuzzy::{Becn, Fuzzy};
use pie::Pie;
use priority_drop::PriorityDrop;
use xcp::Xcp;

/// The link behind a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueContext<'a> {
    pub(crate) rate: Rate,
    pub(crate) one_way_delay: Duration,
    /// Bytes that framing adds to a packet.
    pub(crate) framing: Bytes,
    /// Seed of the run, and name of the link: they name random streams.
    pub(crate) seed: u64,
    pub(crate) name: &'a str,
}

/// State of the queue when a packet arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueState {
    pub(crate) now: Time,
    /// Since when the transmitter has been idle, if it is.
    pub(crate) idle_since: Option<Time>,
    /// The transmitter cannot send now, though it is idle.
    pub(crate) blocked: bool,
    /// Waiting packets, without the one in transmission.
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

impl QueueState {
    /// True if the transmitter takes the packet at once: no limit applies.
    pub(crate) fn is_served_at_once(&self) -> bool {
        self.idle_since.is_some() && !self.blocked
    }

    /// Drop-tail: accepts what the transmitter takes at once or what fits.
    pub(crate) fn drop_tail(&self, limit: Limit, meta: PacketMeta) -> Decision {
        if self.is_served_at_once() || limit.admits(self.packets, self.bytes, meta.bytes) {
            Decision::Accept
        } else {
            Decision::DropForced
        }
    }
}

/// Decision of a queue about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Accept,
    /// Accepts it and marks its ECN field.
    Mark,
    /// Accepts it unchanged; its sender is to be notified of congestion.
    Notify,
    /// Drops it to signal congestion early.
    DropEarly,
    /// Drops it for lack of room, or because the average is too long.
    DropForced,
}

impl Decision {
    pub(crate) fn accepts(self) -> bool {
        matches!(self, Decision::Accept | Decision::Mark | Decision::Notify)
    }
}

/// The settings of a queue discipline.
pub(crate) trait QueueKind {
    /// The queue has a [`Rule`].
    const DECIDES_ON_ARRIVAL: bool = false;
    /// Why only the simulator has such a queue, said of a link.
    const SIMULATED_ONLY: Option<&'static str> = None;
    /// The driver of the link drops acknowledgements with
    /// [`Discipline::drop_waiting`].
    const FILTERS_ACKS: bool = false;
    /// The queue reads congestion headers.
    const READS_HEADERS: bool = false;
    /// The queue sends notifications of congestion back to senders.
    const NOTIFIES: bool = false;

    /// Name of the discipline in messages.
    fn name(&self) -> &'static str;
    /// How much may wait at most.
    fn limit(&self) -> Limit;
    /// The limit, where it may count a segment of several packets (GSO) as its
    /// bytes; `None` where the queue must judge packets one by one.
    fn segment_limit(&mut self) -> Option<&mut Limit> {
        None
    }
    /// The rule that decides over arriving packets, where nothing else does.
    fn rule(&self, _link: &QueueContext<'_>) -> Option<Rule> {
        None
    }
}

/// The admission rule of a queue that decides on arrival alone.
#[derive(Clone, Debug)]
pub(crate) enum Rule {
    /// Whatever finds room is admitted.
    DropTail,
    Red(Box<Red>),
}

/// A queue discipline at work.
pub(crate) trait Discipline<P: Copy> {
    type Settings;

    fn new(settings: &Self::Settings, link: &QueueContext<'_>) -> Self;

    /// Decides over a packet that arrives, and stores it if it is accepted.
    fn enqueue(
        &mut self,
        state: QueueState,
        packet: P,
        meta: PacketMeta,
        events: &mut QueueEvents<'_, P>,
    ) -> Decision;

    /// Takes the packet that the transmitter, free at `now`, sends next.
    fn dequeue(&mut self, now: Time, events: &mut QueueEvents<'_, P>) -> Option<Waiter<P>>;

    /// When the packet at the head arrived.
    fn head(&self) -> Option<Time>;

    /// The packets that wait.
    fn fifos(&self) -> &[Fifo<P>];

    /// Packets that wait, and their bytes.
    fn backlog(&self) -> (u64, u64);

    /// Drops the packets that `is_superfluous` names.
    fn drop_waiting(
        &mut self,
        _is_superfluous: impl FnMut(&P) -> bool,
        _events: &mut QueueEvents<'_, P>,
    ) {
    }

    /// The congestion header of the packet that arrives next.
    fn announce(&mut self, _header: Option<XcpHeader>) {}

    /// The rate of the link from now on.
    fn set_rate(&mut self, _rate: Rate) {}
}

/// Generates [`QueueSettings`] and the queues built from them: a variant of
/// settings without a queue does not compile.
macro_rules! disciplines {
    ($d:tt $($(#[$doc:meta])* $kind:ident($settings:ty) => $queue:ty,)*) => {
        /// A queue discipline and its parameters.
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        pub enum QueueSettings {
            $($(#[$doc])* $kind($settings),)*
        }

        impl QueueSettings {
            /// How much may wait at most.
            #[must_use]
            pub fn limit(&self) -> Limit {
                match self {
                    $(QueueSettings::$kind(settings) => settings.limit(),)*
                }
            }

            /// Common name of the discipline.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(QueueSettings::$kind(settings) => settings.name(),)*
                }
            }

            /// Why only the simulator has this queue, said of a link; `None`
            /// where a live link has it, too.
            #[must_use]
            pub fn simulated_only(&self) -> Option<&'static str> {
                match self {
                    $(QueueSettings::$kind(_) => <$settings>::SIMULATED_ONLY,)*
                }
            }

            /// True if notifications of congestion go from this queue back to
            /// senders ([`Verdict::Notified`]).
            #[must_use]
            pub fn notifies(&self) -> bool {
                match self {
                    $(QueueSettings::$kind(_) => <$settings>::NOTIFIES,)*
                }
            }

            /// The limit, where it may count a segment of several packets
            /// (GSO) as its bytes; `None` where the queue judges packets one
            /// by one.
            pub fn segment_limit(&mut self) -> Option<&mut Limit> {
                match self {
                    $(QueueSettings::$kind(settings) => settings.segment_limit(),)*
                }
            }

            /// True if a packet that was admitted may still be dropped or
            /// changed: what becomes of it is known only when the transmitter
            /// takes it. See
            /// [`Link::is_event_driven`](crate::Link::is_event_driven).
            #[must_use]
            pub fn is_event_driven(&self) -> bool {
                match self {
                    $(QueueSettings::$kind(_) => !<$settings>::DECIDES_ON_ARRIVAL,)*
                }
            }

            /// The rule that decides over arriving packets, where nothing else
            /// does.
            pub(crate) fn rule(&self, link: &QueueContext<'_>) -> Option<Rule> {
                match self {
                    $(QueueSettings::$kind(settings) => settings.rule(link),)*
                }
            }

            fn filters_acks(&self) -> bool {
                match self {
                    $(QueueSettings::$kind(_) => <$settings>::FILTERS_ACKS,)*
                }
            }

            fn reads_headers(&self) -> bool {
                match self {
                    $(QueueSettings::$kind(_) => <$settings>::READS_HEADERS,)*
                }
            }
        }

        /// A queue of any discipline.
        #[derive(Clone, Debug)]
        enum AnyQueue<P> {
            $($kind(Box<$queue>),)*
        }

        impl<P: Copy> AnyQueue<P> {
            fn new(settings: &QueueSettings, link: &QueueContext<'_>) -> AnyQueue<P> {
                match settings {
                    $(QueueSettings::$kind(settings) => {
                        AnyQueue::$kind(Box::new(<$queue>::new(settings, link)))
                    })*
                }
            }
        }

        /// Calls a method of [`Discipline`] on whichever queue it is.
        macro_rules! call {
            ($d any:expr, $d method:ident($d($d argument:expr),*)) => {
                match $d any {
                    $(AnyQueue::$kind(queue) => queue.$d method($d($d argument),*),)*
                }
            };
        }
    };
}

disciplines! {$
    /// First in, first out; what does not fit is dropped.
    DropTail(DropTailSettings) => FifoQueue<DropTail, P>,
    /// Random early detection, also adaptive.
    Red(RedSettings) => FifoQueue<Red, P>,
    /// Controlled delay.
    CoDel(CoDelSettings) => FifoQueue<DropTailCoDel, P>,
    /// Fair queueing with controlled delay for each flow.
    FqCoDel(FqCoDelSettings) => FqCoDel<P>,
    /// A controller that holds the delay by random drops.
    Pie(PieSettings) => FifoQueue<Pie, P>,
    /// First in, first out, with packets that are dropped first.
    PriorityDrop(PriorityDropSettings) => FifoQueue<PriorityDrop, P>,
    /// First in, first out, with a router of XCP that shares the link among
    /// the senders.
    Xcp(XcpSettings) => FifoQueue<Xcp, P>,
    /// First in, first out, with a router that writes the available bandwidth and
    /// the propagation delay into packets.
    Bandwidth(BandwidthSettings) => FifoQueue<Router, P>,
    /// First in, first out, without the acknowledgements that newer ones make
    /// superfluous.
    AckFilter(AckFilterSettings) => FifoQueue<AckFilter, P>,
    /// First in, first out, with marks by fuzzy logic.
    Fuzzy(FuzzySettings) => FifoQueue<Fuzzy, P>,
    /// The same, with notifications that go back to the senders.
    Becn(BecnSettings) => FifoQueue<Becn, P>,
}

impl QueueSettings {
    /// Drop-tail with `limit`.
    #[must_use]
    pub const fn drop_tail(limit: Limit) -> QueueSettings {
        QueueSettings::DropTail(DropTailSettings { limit })
    }
}

/// A queue from which the transmitter takes the packets one by one.
#[derive(Clone, Debug)]
pub(crate) struct ManagedQueue<P> {
    queue: AnyQueue<P>,
    log: Log<P>,
    pub(crate) filters_acks: bool,
    pub(crate) reads_headers: bool,
}

impl<P: Copy> ManagedQueue<P> {
    pub(crate) fn new(settings: &QueueSettings, link: &QueueContext<'_>) -> ManagedQueue<P> {
        ManagedQueue {
            queue: AnyQueue::new(settings, link),
            log: Log::new(),
            filters_acks: settings.filters_acks(),
            reads_headers: settings.reads_headers(),
        }
    }

    /// Decides over a packet that arrives at `now` and stores it if it is
    /// accepted. `idle_since` says since when the transmitter has had nothing
    /// to do: it takes the packet at once, whatever the limit, unless it is
    /// `blocked`.
    pub(crate) fn enqueue(
        &mut self,
        now: Time,
        (idle_since, blocked): (Option<Time>, bool),
        packet: P,
        meta: PacketMeta,
        counters: &mut Tally,
    ) -> Decision {
        let (packets, bytes) = self.backlog();
        let state = QueueState {
            now,
            idle_since,
            blocked,
            packets,
            bytes,
        };
        let events = &mut QueueEvents {
            now,
            log: &mut self.log,
            counters,
        };
        let decision = call!(&mut self.queue, enqueue(state, packet, meta, events));
        match decision {
            Decision::DropEarly | Decision::DropForced => {
                events.counters.queue_drops += 1;
                if decision == Decision::DropEarly {
                    events.counters.rare_mut().early_drops += 1;
                }
                return decision;
            }
            Decision::Mark => events.mark(packet),
            Decision::Notify => events.notify(packet),
            Decision::Accept => {}
        }
        if !state.is_served_at_once() {
            let (packets, bytes) = self.backlog();
            counters.max_packets = counters.max_packets.max(packets);
            counters.max_bytes = counters.max_bytes.max(bytes);
        }
        decision
    }

    /// Takes the packet that a transmitter sends that is free at `now`.
    pub(crate) fn dequeue(&mut self, now: Time, counters: &mut Tally) -> Option<Waiter<P>> {
        let events = &mut QueueEvents {
            now,
            log: &mut self.log,
            counters,
        };
        call!(&mut self.queue, dequeue(now, events))
    }

    /// What became of a packet after it was accepted: the first that has not
    /// been returned yet.
    pub(crate) fn poll(&mut self) -> Option<(P, Verdict)> {
        self.log.verdicts.pop_front()
    }

    /// True if [`ManagedQueue::poll`] has something to return.
    pub(crate) fn has_verdict(&self) -> bool {
        !self.log.verdicts.is_empty()
    }

    /// Adds a verdict that falls behind the queue.
    pub(crate) fn report(&mut self, packet: P, verdict: Verdict) {
        self.log.verdicts.push_back((packet, verdict));
    }

    /// Drops the packets that wait at `now` and that `is_superfluous` names.
    pub(crate) fn drop_waiting(
        &mut self,
        now: Time,
        is_superfluous: impl FnMut(&P) -> bool,
        counters: &mut Tally,
    ) {
        let events = &mut QueueEvents {
            now,
            log: &mut self.log,
            counters,
        };
        call!(&mut self.queue, drop_waiting(is_superfluous, events));
    }

    /// The congestion header of the packet that arrives next.
    pub(crate) fn announce(&mut self, header: Option<XcpHeader>) {
        call!(&mut self.queue, announce(header));
    }

    /// The rate of the link from now on.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        call!(&mut self.queue, set_rate(rate));
    }

    /// When the packet at the head arrived.
    pub(crate) fn head(&self) -> Option<Time> {
        call!(&self.queue, head())
    }

    /// Packets that wait, and their bytes.
    pub(crate) fn backlog(&self) -> (u64, u64) {
        call!(&self.queue, backlog())
    }

    pub(crate) fn packets(&self) -> u64 {
        self.backlog().0
    }

    /// The packets that wait, the next first within each of the queues that a
    /// discipline keeps.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &P> {
        self.waiters().map(|w| &w.packet)
    }

    fn waiters(&self) -> impl Iterator<Item = &Waiter<P>> {
        call!(&self.queue, fifos()).iter().flat_map(Fifo::iter)
    }

    /// Packets that were dropped after they had been accepted.
    pub(crate) fn dropped(&self) -> u64 {
        self.log.dropped
    }

    /// Sum of the waiting times up to `now` of the packets that were not sent
    /// (yet).
    pub(crate) fn waited(&self, now: Time) -> Duration {
        self.waiters()
            .map(|w| now.since(w.entered))
            .fold(self.log.waited, |sum, wait| sum + wait)
    }
}
