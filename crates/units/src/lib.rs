//! Time, rates, sizes and ratios, with their text forms.
//!
//! Inside the workspace times are whole nanoseconds, rates whole bits per
//! second and sizes whole bytes; no public signature carries a bare `f64`
//! second or `u64` byte. Text such as `2 Mbit/s`, `511 ms` or `320 kB` is
//! parsed and printed in [`text`] and nowhere else.

mod fnv;
pub mod math;
mod rate;
mod ratio;
mod size;
mod spelling;
pub mod text;
mod time;

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
