//! Algorithms made for satellite links that are not made of slots.

mod detector;
mod proactive;

pub use detector::{RttTrend, Trend, TrendDetector};
pub use proactive::{Proactive, ProactiveCounters, ProactiveSettings, ProactiveStart};

use crate::whole::family;

family! {
    /// An algorithm made for satellite links.
    Satellite {
        /// Proactive TCP.
        Proactive(Proactive),
    }
}
