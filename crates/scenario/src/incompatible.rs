//! Transports and applications that do not go together. The reader of files and the builder both
//! use these checks.

use bentpipe_tcp::{CongestionControlChoice, Transport};
use bentpipe_traffic::Application;

/// Why a transport cannot carry an application that runs over TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Incompatibility {
    /// The ideal bound knows no pauses.
    Pauses,
    /// The imitated agents of ns-2 know one connection.
    Connections,
    /// A QUIC connection is opened once.
    OneConnection,
}

/// The reason why `transport` cannot carry `application`.
pub(crate) fn incompatibility(
    transport: &Transport,
    application: &Application,
) -> Option<Incompatibility> {
    let ideal = transport.congestion_control == CongestionControlChoice::Ideal;
    if ideal && application.with_pauses().is_some() {
        return Some(Incompatibility::Pauses);
    }
    if transport.quic.is_some() && application.reopens() {
        return Some(Incompatibility::OneConnection);
    }
    let one_way = transport.profile.rules().stack.is_ns2();
    (one_way && application.reopens()).then_some(Incompatibility::Connections)
}
