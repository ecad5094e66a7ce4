//! The list of what fills the three slots, and of the named combinations.
//!
//! A slow start, congestion avoidance or reaction is a file that implements its
//! trait (`slot`) and `Fills`, and one line in `slots!` below; a
//! combination with its own name is a function and one line in
//! `combinations`.

mod cubic;
mod dctcp;
mod estimate;
mod fixed;
mod highspeed;
mod hybla;
mod hystart;
mod marchese;
mod mtsi;
mod newreno;
mod picoquic;
mod scalable;
mod search;
mod westwood;
mod westwood_agent;
mod westwood_plus;

pub use cubic::{Cubic, CubicParameters, CubicReaction};
pub use dctcp::{Dctcp, DctcpParameters};
pub use estimate::Accounting;
pub(crate) use estimate::{AckCount, fitting_window};
pub use fixed::{Fixed, Hold, Ignore};
pub use highspeed::{HighSpeed, HighSpeedLaw, HighSpeedParameters, HighSpeedReaction};
pub(crate) use highspeed::{decrease_of_row, row};
pub use hybla::{
    Gate, HyblaAvoidance, HyblaAvoidanceParameters, HyblaStart, HyblaStartParameters, StartWindow,
};
pub(crate) use hybla::{RTT0, RTT0_RANGE};
pub use hystart::{HyStart, HyStartParameters};
pub use marchese::{Const, ConstParameters, Linear, LinearParameters, LinearTest};
pub use mtsi::{Mtsi, MtsiParameters, MtsiRule, Scope, Tie};
pub use newreno::{Growth, HalfOf, Halve, HalveParameters, Reno, RenoParameters, Standard};
pub use picoquic::{Picoquic, PicoquicParameters};
pub use scalable::{Scalable, ScalableReaction};
pub use search::{Search, SearchParameters};
pub use westwood::{Filter, Westwood, WestwoodFilter, WestwoodParameters};
pub use westwood_agent::{
    AgentFilter, BariParameters, BariWestwood, FilterState, LastAck, NewrenoSettings, Release,
    UclaParameters, UclaWestwood, WestwoodAgent,
};
pub use westwood_plus::{Cut, PlusFilter, PlusFilterWord, WestwoodPlus, WestwoodPlusParameters};

use crate::declaration::{Builder, Control};
use crate::parameter::{ParameterSet as _, listed, words};
use crate::slot::{CongestionAvoidance, Fills, LossReaction, Parts, Slot, SlotKind, SlowStart};
use crate::{Ack, Hoe, HostRules, Loss, RecoveryExit, Timeout, Window};
use bentpipe_units::{Duration, Rate, Segments, Time};
use std::sync::LazyLock;

/// The range of a parameter in segments, and of one that 0 switches off.
const SEGMENTS: (f64, f64) = (1.0, 1_000_000.0);
const SEGMENTS_OR_NONE: (f64, f64) = (0.0, 1_000_000.0);

words! {
    /// What a step of congestion avoidance counts.
    pub enum Counted {
        /// ACKs.
        Acks = "acks",
        /// The segments that they acknowledge.
        Segments = "segments",
    }
}

impl Counted {
    /// Steps that `ack` makes.
    #[inline]
    fn of(self, ack: &Ack) -> f64 {
        match self {
            Counted::Acks => 1.0,
            Counted::Segments => ack.acked,
        }
    }
}

/// The algorithms that can fill one slot, and their constructors.
pub(crate) struct SlotList<T> {
    pub(crate) slots: Vec<Slot>,
    builders: Vec<Builder<T>>,
}

impl<T: 'static> SlotList<T> {
    fn add<F: Fills + Into<T> + 'static>(&mut self, kind: SlotKind) {
        self.slots.push(Slot {
            kind,
            name: F::NAME,
            summary: F::SUMMARY,
            parameters: listed::<F::Parameters>(),
        });
        let build: Builder<T> =
            Box::new(|reader| Ok(F::build(F::Parameters::read(reader)?).into()));
        self.builders.push(build);
    }

    /// The algorithm with that name, and its constructor.
    pub(crate) fn find(&self, name: &str) -> Option<(&Slot, &Builder<T>)> {
        let at = self.slots.iter().position(|slot| slot.name == name)?;
        Some((&self.slots[at], &self.builders[at]))
    }
}

/// The type that an arm holds: that of the slot, or what it is held as.
macro_rules! held {
    ($type:ty) => {
        $type
    };
    ($type:ty, $held:ty) => {
        $held
    };
}

/// Declares the enum of what fills a slot, and its list. A large slot is held as a
/// box, so that a connection with small ones stays small.
macro_rules! slots {
    ($(#[$attribute:meta])* $Enum:ident = $dispatch:ident, $LIST:ident {
        $($(#[$doc:meta])* $Arm:ident($type:ty $(as $held:ty)?),)*
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $Enum {
            $($(#[$doc])* $Arm(held!($type $(, $held)?)),)*
        }

        $dispatch!($Enum { $($Arm)* });

        $(impl From<$type> for $Enum {
            fn from(it: $type) -> $Enum {
                $Enum::$Arm(it.into())
            }
        })*

        pub(crate) static $LIST: LazyLock<SlotList<$Enum>> = LazyLock::new(|| {
            let mut list = SlotList {
                slots: Vec::new(),
                builders: Vec::new(),
            };
            $(list.add::<$type>(SlotKind::$Enum);)*
            list
        });
    };
}

slots! {
    /// Growth below ssthresh.
    Start = dispatch_slow_start, STARTS {
        /// One segment per ACK, or RFC 3465 byte counting.
        Standard(Standard),
        /// K segments per ACK.
        Const(Const),
        /// One segment more with every ACK.
        Linear(Linear),
        /// Multiple thresholds, smoothed increase.
        Mtsi(Mtsi as Box<Mtsi>),
        /// 2^rho - 1 segments per ACK.
        Hybla(HyblaStart),
        /// Standard until the delay rises (RFC 9406).
        HyStart(HyStart),
        /// Standard until deliveries stop doubling (SEARCH).
        Search(Search as Box<Search>),
        /// Half of the bandwidth at least, until the delay rises (picoquic).
        Picoquic(Picoquic as Box<Picoquic>),
        /// cwnd is constant: for measuring.
        Fixed(Fixed),
    }
}

slots! {
    /// Growth above ssthresh.
    Avoidance = dispatch_avoidance, AVOIDANCES {
        /// One segment per round trip.
        Reno(Reno),
        /// rho^2 segments per round trip.
        Hybla(HyblaAvoidance as Box<HyblaAvoidance>),
        /// A cubic of the time since the loss.
        Cubic(Cubic as Box<Cubic>),
        /// a(w) segments per round trip (RFC 3649).
        HighSpeed(HighSpeed as Box<HighSpeed>),
        /// A part of the window per round trip (Kelly 2003).
        Scalable(Scalable),
        /// No growth.
        Hold(Hold),
    }
}

slots! {
    /// What loss, timeout and the end of recovery do.
    Reaction = dispatch_reaction, REACTIONS {
        /// Half of what is in flight.
        Halve(Halve),
        /// Estimated bandwidth x smallest RTT.
        Westwood(Westwood as Box<Westwood>),
        /// Bandwidth estimated once a round x smallest RTT.
        WestwoodPlus(WestwoodPlus as Box<WestwoodPlus>),
        /// The same as UCLA's agents for ns-2 do it.
        WestwoodNr(UclaWestwood as Box<UclaWestwood>),
        /// The same as Bari's agent for ns-2 does it.
        WestwoodBari(BariWestwood as Box<BariWestwood>),
        /// beta x what is in flight.
        Cubic(CubicReaction),
        /// Half of the part that is marked (RFC 8257).
        Dctcp(Dctcp),
        /// 1 - b(w) of what is in flight (RFC 3649).
        HighSpeed(HighSpeedReaction as Box<HighSpeedReaction>),
        /// 1 - b of what is in flight (Kelly 2003).
        Scalable(ScalableReaction),
        /// Nothing.
        Ignore(Ignore),
    }
}

/// The three slots of a control under the types of the lists.
pub(crate) type AnyParts = Parts<Start, Avoidance, Reaction>;

/// Every named combination.
pub(crate) fn combinations() -> Vec<Control<AnyParts>> {
    vec![
        newreno::newreno().map(Parts::into),
        marchese::constant().map(Parts::into),
        marchese::linear().map(Parts::into),
        mtsi::mtsi().map(Parts::into),
        westwood::westwood().map(Parts::into),
        westwood_plus::westwood_plus().map(Parts::into),
        westwood_agent::westwood_nr().map(Parts::into),
        westwood_agent::westwood_bari().map(Parts::into),
        hybla::hybla().map(Parts::into),
        cubic::cubic().map(Parts::into),
        dctcp::dctcp().map(Parts::into),
        highspeed::highspeed().map(Parts::into),
        scalable::scalable().map(Parts::into),
        fixed::fixed_window().map(Parts::into),
    ]
}
