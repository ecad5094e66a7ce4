//! Algorithms that watch the queueing delay.

mod fine_timer;
mod vegas;
mod veno;

pub use vegas::{Vegas, VegasThresholds};
pub use veno::{Veno, VenoForm, VenoRtt};

use crate::whole::family;

family! {
    /// An algorithm that watches the queueing delay.
    Delay {
        /// Vegas as Brakmo & Peterson and ns-2 have it.
        Vegas(Vegas),
        /// Veno.
        Veno(Veno),
    }
}
