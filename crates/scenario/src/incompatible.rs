//! Transports and applications that do not go together. The reader of files and the builder both
//! use these checks.

use crate::model::{Flow, Handshake};
use bentpipe_quic::{IP_HEADERS, SMALLEST_DATAGRAM, SMALLEST_PAYLOAD, largest_datagram};
use bentpipe_tcp::{CongestionControlChoice, Transport};
use bentpipe_traffic::Application;

/// Why a transport cannot carry an application that runs over TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Incompatibility {
    /// The ideal bound knows no pauses.
    Pauses,
    /// The ideal bound has no connection, so no TLS.
    BoundWithTls,
    /// The imitated agents of ns-2 know one connection.
    Connections,
    /// A QUIC connection is opened once.
    OneConnection,
    /// TCP carries no datagrams.
    Datagrams,
    /// A packet of QUIC has no room for a datagram of that many bytes, or it has too few for its
    /// number.
    DatagramSize {
        /// Sizes at the IP layer that it takes.
        smallest: u64,
        /// The largest of them.
        largest: u64,
    },
    /// The handshake of TLS is that of one connection.
    Tls,
    /// The objects of a page share a connection, and so do pages.
    Objects,
}

/// Why a flow has no name to look up; `None` where it may have one.
pub(crate) fn no_lookup(flow: &Flow) -> Option<&'static str> {
    let Some(transport) = &flow.transport else {
        return Some("datagrams go without a connection before which a name could be looked up");
    };
    if transport.congestion_control == CongestionControlChoice::Ideal {
        return Some("the ideal bound is that of a transfer without a look-up");
    }
    if flow.application.reopens() {
        return Some("a name is looked up once, and here each page has a connection of its own");
    }
    if flow.ipsec.is_some() {
        return Some("a flow under IPsec has no packets of UDP");
    }
    (flow.handshake == Handshake::Skipped)
        .then_some("a connection that exists already needs no name")
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
    if ideal && transport.tls.is_some() {
        return Some(Incompatibility::BoundWithTls);
    }
    if transport.quic.is_some() && application.reopens() {
        return Some(Incompatibility::OneConnection);
    }
    if let Application::ConstantRate { packet_size, .. } = application {
        let Some(quic) = &transport.quic else {
            return Some(Incompatibility::Datagrams);
        };
        let headers = u64::from(IP_HEADERS);
        let mtu = quic.mtu.unwrap_or(u32::from(SMALLEST_PAYLOAD));
        let (smallest, largest) = (SMALLEST_DATAGRAM + headers, largest_datagram(mtu) + headers);
        if !(smallest..=largest).contains(&packet_size.get()) {
            return Some(Incompatibility::DatagramSize { smallest, largest });
        }
    }
    if transport.tls.is_some() && application.reopens() {
        return Some(Incompatibility::Tls);
    }
    if application.reopens() && application.has_objects() {
        return Some(Incompatibility::Objects);
    }
    let one_way = transport.profile.rules().stack.is_ns2();
    (one_way && application.reopens()).then_some(Incompatibility::Connections)
}
