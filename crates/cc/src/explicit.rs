//! Algorithms that do not probe: the network, or somebody who knows it, tells
//! them what they may send.

mod open_loop;
mod xcp;

pub use open_loop::OpenLoop;
pub use xcp::Xcp;

use crate::whole::family;

family! {
    /// An algorithm that is told its window or rate.
    Explicit {
        /// The senders of XCP and P-XCP.
        Xcp(Xcp),
        /// A fixed rate.
        OpenLoop(OpenLoop),
    }
}
