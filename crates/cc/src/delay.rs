//! Algorithms that watch the queueing delay.

mod dvegas;
mod fine_timer;
mod new_vegas;
mod vegas;
mod veno;

pub use dvegas::{DVegas, QueueLaw};
pub use new_vegas::{NewVegas, NewVegasParts};
pub use vegas::{Vegas, VegasThresholds};
pub use veno::{Veno, VenoForm, VenoRtt};

use crate::whole::family;

family! {
    /// An algorithm that watches the queueing delay.
    Delay {
        /// Vegas as Brakmo & Peterson and ns-2 have it.
        Vegas(Vegas),
        /// New Vegas.
        NewVegas(NewVegas),
        /// DVegas.
        DVegas(DVegas),
        /// Veno.
        Veno(Veno),
    }
}
