//! The look-up of a name on real hosts: the query and the answer as datagrams of their sizes, without
//! content.

use super::clock::Clock;
use super::host::Host;
use super::socket;
use crate::emulator;
use bentpipe_scenario::{Connection, Scenario};
use bentpipe_traffic::{DNS_ANSWER, DNS_QUERY, Lookup};
use bentpipe_units::{Bytes, Time};
use socket2::Socket;
use std::io::{self, Read as _};
use std::net::SocketAddr;

/// Port of name servers.
const PORT: u16 = 53;

/// Headers of IPv4 and UDP.
const HEADERS: usize = 28;

/// The sockets of a look-up.
#[derive(Debug)]
pub(crate) struct Names {
    client: Socket,
    resolver: Socket,
}

impl Names {
    /// Those of a flow of `scenario` between `hosts`; `None` where it looks nothing up.
    pub(crate) fn new(
        scenario: &Scenario,
        flow: usize,
        hosts: [&Host; 2],
    ) -> io::Result<Option<Names>> {
        let mut pairs = scenario.connections();
        let of_flow = |c: Connection<'_>| c.flow == flow && c.leg == Connection::LOOKUP;
        let Some(pair) = pairs.position(of_flow) else {
            return Ok(None);
        };
        let client = scenario.flows[flow].opener();
        let at = |end: usize| SocketAddr::new(emulator::ipv4(pair, end).into(), PORT);
        let make = |end: usize| hosts[end].enter(|| socket::udp(at(end), at(1 - end)));
        Ok(Some(Names {
            client: make(client)?,
            resolver: make(1 - client)?,
        }))
    }

    /// Asks until the answer is there; false if the run is over before, or the flow stops.
    pub(crate) fn look_up(&self, clock: &Clock, stop: Option<Time>) -> io::Result<bool> {
        let mut lookup = Lookup::new(clock.now());
        while !clock.is_over() && stop.is_none_or(|stop| clock.now() < stop) {
            if lookup.asks(clock.now()) {
                send(&self.client, DNS_QUERY)?;
            }
            if receive(&self.client)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Answers until the run is over.
    pub(crate) fn serve(&self, clock: &Clock) -> io::Result<()> {
        while !clock.is_over() {
            if receive(&self.resolver)? {
                send(&self.resolver, DNS_ANSWER)?;
            }
        }
        Ok(())
    }
}

/// Sends a datagram that is so long with its headers.
fn send(socket: &Socket, bytes: Bytes) -> io::Result<()> {
    let payload = vec![0; bytes.get() as usize - HEADERS];
    socket.send(&payload).map(drop)
}

/// Waits a moment; true if a datagram has come.
fn receive(socket: &Socket) -> io::Result<bool> {
    match (&mut &*socket).read(&mut [0; 512]) {
        Ok(_) => Ok(true),
        Err(e) if socket::is_patience(&e) => Ok(false),
        Err(e) => Err(e),
    }
}
