//! The simulator: virtual time, event queue, packet arena.
//!
//! A link keeps the packets that it carries in its own ring and has only its
//! head in the event queue, so the queue holds as many entries as there are
//! busy links and armed timers, not as many as there are packets in flight.
//! The same scenario and seed give the same outcome, bit for bit.

mod arena;
mod carried;
mod collect;
mod connections;
mod cost;
mod ends;
mod exchange;
mod execution;
mod flow;
pub mod ideal;
mod knowledge;
mod ledger;
mod lookup;
mod network;
mod observer;
mod options;
mod parts;
pub mod queue;
mod quic;
mod recorder;
mod reports;
mod sharing;
mod simulation;
mod snapshot;
mod split;
mod steady;
mod stream;
mod surround;
mod tls;
mod tunnel;

pub use cost::seconds;
pub use observer::{LossCause, LostPacket, Observer, Unobserved};
pub use options::{Options, RunError, Stop};
pub use parts::{OneThread, Threads};
pub use simulation::{Simulation, run};
pub use steady::{NoSkip, Steady};
pub use surround::{Surround, surround_runs};
