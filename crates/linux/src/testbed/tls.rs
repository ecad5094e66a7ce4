//! The handshake of TLS 1.3 over TCP on real sockets: as many bytes as it takes, without ciphers.

use super::socket::Connection;
use bentpipe_quic::session::Flights;
use bentpipe_scenario::{Flow, Handshake, tls_flights};
use std::io;

/// The handshake that precedes the data of a flow, if one does.
pub(crate) fn flights(flow: &Flow) -> Option<Flights> {
    let transport = flow.transport.as_ref()?;
    tls_flights(transport).filter(|_| flow.handshake != Handshake::Skipped)
}

/// Bytes that the `from` side sends for it, and the `to` side.
pub(crate) fn preface(flow: &Flow) -> [u64; 2] {
    let [client, server] = flights(flow).map_or([0; 2], |flights| flights.in_all());
    match flow.application.asks() {
        true => [server, client],
        false => [client, server],
    }
}

/// The part of who has opened the connection. False if the other end's does not come.
pub(crate) fn as_client(flights: &Flights, connection: &mut Connection<'_>) -> io::Result<bool> {
    if !connection.write(flights.hello, || false)? {
        return Ok(false);
    }
    if flights.is_early() {
        return Ok(true);
    }
    Ok(connection.read_all(flights.server)? && connection.write(flights.finished, || false)?)
}

/// What a client has not read yet of the server's part when it has sent its first request.
pub(crate) fn unread(flights: &Flights, is_new: bool) -> Option<u64> {
    let early = if flights.is_early() {
        flights.server
    } else {
        0
    };
    is_new.then_some(early + flights.ticket)
}

/// The part of who has accepted it.
pub(crate) fn as_server(flights: &Flights, connection: &mut Connection<'_>) -> io::Result<bool> {
    Ok(connection.read_all(flights.hello)?
        && connection.write(flights.server, || false)?
        && connection.read_all(flights.finished)?
        && connection.write(flights.ticket, || false)?)
}
