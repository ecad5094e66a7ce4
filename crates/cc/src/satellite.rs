//! Algorithms made for satellite links that are not made of slots.

mod abe;
mod after_loss;
mod astart;
mod bulk_repeat;
mod detector;
mod fast_start;
mod jersey;
mod peach;
mod proactive;
mod star;

pub use abe::Abe;
pub use astart::Astart;
pub use bulk_repeat::BulkRepeat;
pub use detector::{RttTrend, Trend, TrendDetector};
pub use fast_start::FastStart;
pub use jersey::Jersey;
pub use peach::Peach;
pub use proactive::{Proactive, ProactiveCounters, ProactiveSettings, ProactiveStart};
pub use star::{Star, StarSettings};

use crate::whole::family;

family! {
    /// An algorithm made for satellite links.
    Satellite {
        /// Proactive TCP.
        Proactive(Proactive),
        /// TCP-Jersey.
        Jersey(Jersey),
        /// TCP-STAR.
        Star(Star),
        /// TCP-Peach and TCP-Peach+.
        Peach(Peach),
        /// TCP Fast Start.
        FastStart(FastStart),
        /// Astart on Westwood.
        Astart(Astart),
        /// TCP Bulk Repeat on Westwood.
        BulkRepeat(BulkRepeat),
    }
}
