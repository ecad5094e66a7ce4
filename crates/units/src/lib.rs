//! Time, rates, sizes and ratios, with their text forms.
//!
//! What is set, simulated or counted is whole: times in nanoseconds, rates in bits
//! per second, sizes in bytes. What is derived from them for comparison (means,
//! quantiles, intervals, times of users) is an `f64` in the base unit that ends its
//! name: `mean_s`, `goodput_bps`. Text such as `2 Mbit/s`, `511 ms` or `320 kB` is
//! parsed and printed in [`text`] and nowhere else.

mod bins;
mod fnv;
pub mod math;
mod rate;
mod ratio;
mod size;
mod spelling;
pub mod text;
mod time;

pub use bins::LogLinear;
pub use fnv::Fnv128;
pub use rate::Rate;
pub use ratio::Ratio;
pub use size::Bytes;
pub use spelling::nearest;
pub use text::ParseError;
pub use time::{Duration, Time};

/// A number of segments (units of the MSS). cwnd, ssthresh and the papers'
/// increments are fractional.
pub type Segments = f64;
