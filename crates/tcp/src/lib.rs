//! A TCP endpoint without I/O: sender, receiver, recovery, timers, host
//! profiles.
//!
//! [`Endpoint`] is one end of a connection. Packets and times go in, packets and a deadline come
//! out; payload never exists. A [`Transport`] selects the TCP variant: congestion control,
//! [`HostProfile`], recovery, windows, buffers and options.

mod buffers;
mod catalogue;
mod endpoint;
mod host_stack;
mod linux;
mod ns2;
mod options;
pub mod packet;
mod profile;
mod quic;
mod rate;
mod receiver;
mod rfc;
mod rtt;
mod scoreboard;
mod sender;
mod sender_core;
mod stack;
mod stp;
mod transport;

pub use buffers::Buffers;
pub use catalogue::{
    DEFAULT_BUFFER, DEFAULT_PACKET, NamedTransport, Suggested, TransportSettings, check_name,
    find_transport, nearest_transport, register_control, transports,
};
pub use endpoint::{ConnectionState, Endpoint, Snapshot};
pub use options::{
    Ciphers, DelayedAck, KernelSettings, NOT_OF_QUIC, Opener, Pacing, Polling, Protocol,
    QuicSettings, Recovery, Resumption,
};
pub use packet::{Packet, Transmit};
pub use profile::{HostProfile, RtoRule, Rules, StackKind};
pub use rtt::RttEstimator;
pub use sender_core::SenderCounters;
pub use stack::CongestionState;
pub use transport::{
    CongestionControlChoice, TUNNEL_HEADER, TUNNEL_PACKET, Transport, TransportError,
};
