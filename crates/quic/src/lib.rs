//! QUIC in virtual time.
//!
//! The endpoint is the one of quinn-proto, which bentpipe's gateway runs on real sockets: streams,
//! acknowledgements, loss detection (RFC 9002), path MTU discovery and its own pacer. Here it gets
//! time and randomness as arguments:
//! - [`Clock`] turns virtual times into the `Instant`s that quinn-proto takes. Nothing but
//!   differences of them matters.
//! - Every source of randomness is seeded ([`Host`]): the generator of the endpoint and its
//!   connections (packet numbers that are left out, the order and grease of transport parameters),
//!   connection ids, reset tokens. Validation tokens, which would carry the time of day, are not
//!   issued.
//! - [`session`] is a cryptographic session that keeps every length of TLS 1.3 and costs no cipher.
//! - [`controller`] runs bentpipe's congestion controls as quinn's controller, in the simulator and
//!   in the gateway.
//! - [`arrived`] puts in order what is read of a stream as it arrives, here and in the gateway.
//! - [`turns`] says who goes next between two boxes of the gateway, and [`delivery`] what their link
//!   delivers, in the gateway and in its model; [`coding`] how many repairs protect tails.
//! - [`wire`] reads datagrams as packets with their frames, for logs.
//!
//! The same seed and the same arrivals give the same bytes.

pub mod arrived;
mod clock;
pub mod coding;
pub mod controller;
mod datagrams;
pub mod delivery;
mod host;
mod limit;
mod pacer;
mod seeds;
pub mod session;
mod settings;
mod streams;
pub mod turns;
pub mod wire;

pub use clock::Clock;
pub use datagrams::{SMALLEST_DATAGRAM, largest_datagram};
pub use host::{Datagram, Host, Sum};
pub use quinn_proto::Side;
pub use settings::{Own, Pacing, SMALLEST_PAYLOAD, Settings, SettingsError};

/// This build has TLS with its ciphers ([`session::Ciphers::Tls`]).
pub const HAS_TLS: bool = cfg!(feature = "tls");

/// Headers of IPv4 and UDP around each datagram, bytes.
pub const IP_HEADERS: u16 = 28;
