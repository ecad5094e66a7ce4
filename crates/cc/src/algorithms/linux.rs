//! The congestion control modules of Linux, in its own whole numbers.
//!
//! What a paper says and what Linux runs under the same name differ: windows are whole segments,
//! ACKs are counted towards the next one, a loss halves cwnd and not the flight, and each module
//! has its own rounding. These follow the kernel step by step, in two versions ([`Version`]): that
//! of today, and that of 2.6.22 as `Agent/TCP/Linux` of ns-2.35 calls it, where slow start includes
//! `cwnd == ssthresh`, ACKs count instead of segments, the SYN is a segment, and recovery goes down
//! to its own window (`min_cwnd`, here cwnd after a loss) and up to ssthresh when it ends.
//!
//! Left open, and the reading chosen:
//! - Linux also leaves state Open at the first duplicate ACK (Disorder); here
//!   losses and timeouts do. State Loss ends when all that was outstanding at
//!   the first ACK after the timeout is acknowledged.
//! - Today a sender grows only if it was limited by its window, as the transport
//!   says; in 2.6.22 also only if cwnd segments were in flight before the ACK.
//! - cwnd stops growing at the receive window, in place of `snd_cwnd_clamp`.

mod cubic;
mod cubic_hystart;
mod dctcp;
mod highspeed;
mod host;
mod hybla;
mod module;
mod reno;
mod scalable;
mod vegas;
mod veno;
mod westwood;

pub use cubic::{Cubic, CubicParameters};
pub use cubic_hystart::HyStartParameters;
pub use dctcp::{Dctcp, DctcpParameters};
pub use highspeed::HighSpeed;
pub use host::{LinuxParameters, Version};
pub use hybla::{Hybla, HyblaParameters};
pub use module::Linux;
pub use reno::Reno;
pub use scalable::Scalable;
pub use vegas::{Vegas, VegasParameters};
pub use veno::{Veno, VenoParameters};
pub use westwood::Westwood;
