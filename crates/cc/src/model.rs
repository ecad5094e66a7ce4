//! Algorithms that keep a model of the path.

pub mod bbr;
mod careful_resume;
mod max_filter;

pub use bbr::Bbr;
pub use careful_resume::CarefulResume;
pub use max_filter::MaxFilter;

use crate::whole::family;

family! {
    /// An algorithm that keeps a model of the path.
    Model {
        /// BBR version 1.
        Bbr(Bbr),
        /// Careful Resume around CUBIC.
        CarefulResume(CarefulResume),
    }
}
