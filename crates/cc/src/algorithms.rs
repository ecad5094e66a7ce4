//! The list of built-in algorithms whose slow start, avoidance and reaction share
//! one state. Combinations of three slots are listed in `slots`.
//!
//! An algorithm is a file that implements [`CongestionControl`] and declares
//! itself with `Algorithm`, and its line in the two places below: `mod` and the
//! list. Names, parameters, building, dispatch and the transport of the same name
//! follow from that.

mod abe;
mod after_loss;
pub mod astart;
pub mod ba_tcp;
pub mod bbr;
pub mod bbr3;
pub mod bulk_repeat;
pub mod careful_resume;
pub mod complete_knowledge;
pub mod copa;
pub mod detector;
pub mod dvegas;
pub mod fast_start;
mod fine_timer;
pub mod jersey;
pub mod kernel;
pub mod linux;
pub mod max_filter;
pub mod new_vegas;
pub mod open_loop;
mod opening;
pub mod pbs;
pub mod peach;
pub mod proactive;
mod probed_rate;
pub mod rcs;
pub mod satpep;
pub mod star;
pub mod stcp;
pub mod swift;
pub mod tp_planet;
pub mod vegas;
pub mod veno;
pub mod xcp;

use crate::declaration::{Algorithm, Control};
use crate::{
    Ack, CongestionControl, Feedback, HostRules, Loss, PathHint, Phase, QueueReport, RecoveryExit,
    Repair, SharedState, Timeout, Window,
};
use bentpipe_units::{Duration, Rate, Segments, Time};

/// Declares the enum of the algorithms, its dispatch, and their controls.
macro_rules! algorithms {
    ($($Arm:ident($type:ty),)*) => {
        /// A built-in algorithm that is not made of slots.
        #[derive(Clone, Debug)]
        #[allow(
            clippy::large_enum_variant,
            reason = "a controller boxes the enum as a whole"
        )]
        #[allow(missing_docs, reason = "each arm is named after its algorithm")]
        pub enum Monolithic {
            $($Arm($type),)*
        }

        dispatch_congestion_control!(Monolithic { $($Arm)* });

        /// The controls of every algorithm, in the order of the list.
        pub(crate) fn controls() -> Vec<Control<Monolithic>> {
            let mut list = Vec::new();
            $(list.extend(<$type>::controls().into_iter().map(|it| it.map(Monolithic::$Arm)));)*
            list
        }
    };
}

algorithms! {
    Vegas(vegas::Vegas),
    NewVegas(new_vegas::NewVegas),
    DVegas(dvegas::DVegas),
    Veno(veno::Veno),
    Copa(copa::Copa),
    Proactive(proactive::Proactive),
    Jersey(jersey::Jersey),
    Star(star::Star),
    Peach(peach::Peach),
    Swift(swift::Swift),
    Pbs(pbs::Pbs),
    Rcs(rcs::Rcs),
    TpPlanet(tp_planet::TpPlanet),
    FastStart(fast_start::FastStart),
    Stcp(stcp::Stcp),
    Astart(astart::Astart),
    BulkRepeat(bulk_repeat::BulkRepeat),
    RenoLinux(linux::Linux<linux::Reno>),
    CubicLinux(linux::Linux<linux::Cubic>),
    DctcpLinux(linux::Linux<linux::Dctcp>),
    VegasLinux(linux::Linux<linux::Vegas>),
    VenoLinux(linux::Linux<linux::Veno>),
    HighSpeedLinux(linux::Linux<linux::HighSpeed>),
    ScalableLinux(linux::Linux<linux::Scalable>),
    WestwoodLinux(linux::Linux<linux::Westwood>),
    HyblaLinux(linux::Linux<linux::Hybla>),
    Kernel(kernel::Kernel),
    Bbr(bbr::Bbr),
    Bbr3(bbr3::Bbr3),
    Leocc(bbr::leocc::Leocc),
    CarefulResume(careful_resume::CarefulResume),
    Xcp(xcp::Xcp),
    BaTcp(ba_tcp::BaTcp),
    OpenLoop(open_loop::OpenLoop),
    CompleteKnowledge(complete_knowledge::CompleteKnowledge),
    SatPep(satpep::SatPep),
}
