//! A TCP endpoint without I/O: sender, receiver, recovery, timers, host
//! profiles.
//!
//! [`Endpoint`] is one end of a connection. Packets and times go in, packets
//! and a deadline come out; payload never exists. What kind of TCP it is says
//! a [`Transport`]: congestion control, [`HostProfile`], recovery, windows,
//! buffers and options.

mod acknowledgement;
mod actions;
mod catalogue;
mod closing;
mod congestion;
mod endpoint;
mod imitated;
mod linux;
mod ns2;
pub mod packet;
mod persist;
mod probes;
mod profile;
mod rate;
mod receive_buffer;
mod receiver;
mod rtt;
mod scoreboard;
mod sender;
mod snack;
mod transport;

pub use catalogue::{
    DEFAULT_BUFFER, DEFAULT_PACKET, NamedTransport, TransportSettings, find_transport,
    nearest_transport, transports,
};
pub use closing::ConnectionState;
pub use endpoint::{Endpoint, Snapshot};
pub use packet::{Packet, Transmit};
pub use profile::{HostProfile, RtoRule, Rules, SenderRules};
pub use rtt::RttEstimator;
pub use sender::SenderCounters;
pub use transport::{CongestionControlChoice, DelayedAck, Pacing, Recovery, Transport};
