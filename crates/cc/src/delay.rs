//! Algorithms that watch the queueing delay.

mod veno;

pub use veno::Veno;

use crate::whole::family;

family! {
    /// An algorithm that watches the queueing delay.
    Delay {
        /// Veno.
        Veno(Veno),
    }
}
