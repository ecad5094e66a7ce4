//! The three slots that a congestion control can be made of: slow start,
//! congestion avoidance, and the reaction to losses.

use crate::dispatch::dispatched;
use crate::event::half;
use crate::hoe::HoeSetting;
use crate::parameter::{ParameterSet, Reader};
use crate::{Ack, BuildError, Hoe, HostRules, Loss, Parameter, RecoveryExit, Timeout, Window};
use bentpipe_units::{Duration, Rate, Segments, Time};

dispatched! {
    $
    /// Growth below ssthresh.
    pub trait SlowStart by dispatch_slow_start;
    required {
        /// An ACK of slow start. `estimate_pending` is true while Hoe's estimate
        /// is still to set ssthresh.
        fn on_ack(self: &mut Self, ack: &Ack, window: &mut Window, estimate_pending: bool);
    }
    provided {
        /// The connection is established.
        fn on_established(self: &mut Self, rtt: Option<Duration>, window: &mut Window) {}

        /// Every ACK: take samples and count.
        fn on_sample(self: &mut Self, ack: &Ack, window: &mut Window) {}

        /// An ACK that congestion avoidance took.
        fn on_avoidance_ack(self: &mut Self, window: &Window) {}

        /// True where the slow start takes this ACK although cwnd is not below
        /// ssthresh.
        fn claims(self: &Self, window: &Window) -> bool {
            false
        }

        /// True where the slow start itself stops at ssthresh: such a start is
        /// over at `cwnd == ssthresh` on every host.
        fn stops_at_ssthresh(self: &Self) -> bool {
            false
        }

        /// A loss was found.
        fn on_loss(self: &mut Self) {}

        /// The retransmission timer ran out.
        fn on_timeout(self: &mut Self) {}

        /// The last loss or timeout was spurious.
        fn on_spurious(self: &mut Self) {}

        /// Takes over what the host does around its algorithms.
        fn apply_host_rules(self: &mut Self, rules: HostRules) {}
    }
}

dispatched! {
    $
    /// Growth above ssthresh.
    pub trait CongestionAvoidance by dispatch_avoidance;
    required {
        /// An ACK of congestion avoidance. `hoe` is the connection's estimate.
        fn on_ack(self: &mut Self, ack: &Ack, window: &mut Window, hoe: Option<&Hoe>);
    }
    provided {
        /// Every ACK: take samples.
        fn on_sample(self: &mut Self, ack: &Ack) {}

        /// An ACK that found the window unused.
        fn on_idle_ack(self: &mut Self, now: Time) {}

        /// A loss was found while cwnd was `before`.
        fn on_loss(self: &mut Self, before: Segments) {}

        /// The retransmission timer ran out while cwnd was `before`; `first` as in
        /// [`Timeout`].
        fn on_timeout(self: &mut Self, before: Segments, first: bool) {}

        /// The last loss or timeout was spurious.
        fn on_spurious(self: &mut Self) {}

        /// True where [`CongestionAvoidance::on_ack`] needs Hoe's estimate.
        fn needs_estimate(self: &Self) -> bool {
            false
        }

        /// Takes over what the host does around its algorithms.
        fn apply_host_rules(self: &mut Self, rules: HostRules) {}
    }
}

dispatched! {
    $
    /// What loss, timeout and the end of recovery do to the window.
    pub trait LossReaction by dispatch_reaction;
    required {
        /// A loss was found.
        fn on_loss(self: &mut Self, loss: &Loss, window: &mut Window);

    }
    provided {
        /// The retransmission timer ran out.
        fn on_timeout(self: &mut Self, timeout: &Timeout, window: &mut Window) {
            timeout.reduce(window, half);
        }

        /// Every ACK: take samples.
        fn on_sample(self: &mut Self, ack: &Ack) {}

        /// Recovery ended.
        fn on_recovery_exit(self: &mut Self, exit: &RecoveryExit, window: &mut Window) {
            exit.leave(window.ssthresh, window);
        }

        /// The bandwidth estimate, where there is one.
        fn bandwidth_estimate(self: &Self) -> Option<Rate> {
            None
        }

        /// Takes over what the host does around its algorithms.
        fn apply_host_rules(self: &mut Self, rules: HostRules) {}
    }
}

/// One of the three slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotKind {
    /// Slow start.
    Start,
    /// Congestion avoidance.
    Avoidance,
    /// Reaction to loss, timeout and the end of recovery.
    Reaction,
}

impl SlotKind {
    /// Its name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SlotKind::Start => "slow start",
            SlotKind::Avoidance => "congestion avoidance",
            SlotKind::Reaction => "reaction",
        }
    }
}

/// An algorithm that can fill a slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    /// The slot that it fills.
    pub kind: SlotKind,
    /// As scenarios write it.
    pub name: &'static str,
    /// One-line summary.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
}

/// The slots of a named congestion control, by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedSlots {
    /// The slot that is its slow start.
    pub start: &'static str,
    /// The slot that is its congestion avoidance.
    pub avoidance: &'static str,
    /// The slot that is its reaction.
    pub reaction: &'static str,
}

/// The declaration of what fills a slot: its name, its parameters and how it is
/// built.
pub(crate) trait Fills: Sized {
    /// As scenarios write it.
    const NAME: &'static str;
    /// One-line summary.
    const SUMMARY: &'static str;
    /// Its parameters.
    type Parameters: ParameterSet;

    /// A new connection with these parameters.
    fn build(parameters: Self::Parameters) -> Self;
}

/// [`Fills`] of a type: its name and summary, and how it is built from its parameters.
macro_rules! fills {
    ($Type:ty, $name:literal, $summary:literal, |$given:ident: $Parameters:ty| $build:expr) => {
        impl $crate::slot::Fills for $Type {
            const NAME: &'static str = $name;
            const SUMMARY: &'static str = $summary;
            type Parameters = $Parameters;

            fn build($given: $Parameters) -> $Type {
                $build
            }
        }
    };
}
/// The three slots of a congestion control and Hoe's estimate. `H` declares the
/// parameter of the estimate; it is `()` where there is none.
pub(crate) struct Parts<S, A, R, H = ()> {
    pub(crate) start: S,
    pub(crate) avoidance: A,
    pub(crate) reaction: R,
    pub(crate) hoe: Option<Hoe>,
    setting: core::marker::PhantomData<H>,
}

impl<S, A, R> Parts<S, A, R> {
    pub(crate) const fn new(start: S, avoidance: A, reaction: R, hoe: Option<Hoe>) -> Self {
        Parts {
            start,
            avoidance,
            reaction,
            hoe,
            setting: core::marker::PhantomData,
        }
    }
}

impl<S, A, R, H> Parts<S, A, R, H> {
    /// The same parts under other types.
    pub(crate) fn into<S2: From<S>, A2: From<A>, R2: From<R>>(self) -> Parts<S2, A2, R2> {
        let (start, avoidance, reaction) = (self.start, self.avoidance, self.reaction);
        Parts::new(start.into(), avoidance.into(), reaction.into(), self.hoe)
    }
}

impl<S, A, R, H> ParameterSet for Parts<S, A, R, H>
where
    S: Fills + SlowStart,
    A: Fills + CongestionAvoidance,
    R: Fills + LossReaction,
    H: HoeSetting,
{
    fn declare(list: &mut Vec<Parameter>) {
        S::Parameters::declare(list);
        A::Parameters::declare(list);
        R::Parameters::declare(list);
        H::declare(list);
    }

    fn read(reader: &Reader<'_>) -> Result<Self, BuildError> {
        let avoidance = A::build(ParameterSet::read(reader)?);
        Ok(Parts {
            start: S::build(ParameterSet::read(reader)?),
            hoe: H::read(reader)?.estimator(avoidance.needs_estimate()),
            avoidance,
            reaction: R::build(ParameterSet::read(reader)?),
            setting: core::marker::PhantomData,
        })
    }
}
