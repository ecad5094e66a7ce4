//! Algorithms that do not probe: the network, or somebody who knows it, tells
//! them what they may send.

mod complete_knowledge;
mod open_loop;
mod satpep;
mod xcp;

pub use complete_knowledge::CompleteKnowledge;
pub use open_loop::OpenLoop;
pub use satpep::SatPep;
pub use xcp::Xcp;

use crate::whole::family;

family! {
    /// An algorithm that is told its window or rate.
    Explicit {
        /// The senders of XCP and P-XCP.
        Xcp(Xcp),
        /// A fixed rate.
        OpenLoop(OpenLoop),
        /// A rate that somebody tells.
        CompleteKnowledge(CompleteKnowledge),
        /// A window that a proxy tells.
        SatPep(SatPep),
    }
}
