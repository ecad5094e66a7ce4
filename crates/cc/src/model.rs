//! Algorithms that keep a model of the path.

pub mod bbr;
mod max_filter;

pub use bbr::Bbr;
pub use max_filter::MaxFilter;

use crate::whole::family;

family! {
    /// An algorithm that keeps a model of the path.
    Model {
        /// BBR version 1.
        Bbr(Bbr),
    }
}
