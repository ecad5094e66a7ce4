//! The handshake of TLS 1.3 over TCP, which precedes the data of an application.
//!
//! Its flights are bytes of the connection like any others: they are lost, sent again and kept
//! waiting as the data are. What the ends say of the application's data does not count them
//! ([`bentpipe_tcp::Endpoint::add_preface`]). Records around the data, 22 bytes each of up to 16 kB,
//! do not count.

use bentpipe_quic::session::Flights;
use bentpipe_tcp::{Endpoint, Transmit};
use bentpipe_units::{Bytes, Time};

/// A handshake that is not over.
#[derive(Debug)]
pub(crate) struct Tls {
    flights: Flights,
    /// The side that opened the connection: 0 is `from`.
    client: usize,
    stage: Stage,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The server waits for the hello.
    Hello,
    /// The client waits for the server's flight.
    Flight,
    /// The server waits for the client's Finished.
    Finished,
    Over,
}

impl Tls {
    pub(crate) fn new(flights: Flights, client: usize) -> Tls {
        Tls {
            flights,
            client,
            stage: Stage::Hello,
        }
    }

    /// Bytes that the `from` side sends for it, and the `to` side.
    pub(crate) fn preface(&self) -> [Bytes; 2] {
        let [client, server] = self.flights.in_all().map(Bytes::new);
        match self.client {
            0 => [client, server],
            _ => [server, client],
        }
    }

    /// The client says hello, as soon as it can. True if data may follow at once.
    pub(crate) fn begin<T: Transmit>(
        &mut self,
        now: Time,
        ends: [&mut Endpoint; 2],
        net: &mut T,
    ) -> bool {
        let [client, _] = self.in_order(ends);
        client.write(now, Bytes::new(self.flights.hello), net);
        self.flights.is_early()
    }

    /// Sends what has become due. True once, when the client may send data that had to wait.
    pub(crate) fn follow<T: Transmit>(
        &mut self,
        now: Time,
        ends: [&mut Endpoint; 2],
        net: &mut T,
    ) -> bool {
        let Flights {
            hello,
            server: flight,
            finished,
            ticket,
        } = self.flights;
        let [client, server] = self.in_order(ends);
        let has = |end: &Endpoint, bytes: u64| end.received().get() >= bytes;
        if self.stage == Stage::Hello && has(server, hello) {
            server.write(now, Bytes::new(flight), net);
            self.stage = match self.flights.is_early() {
                true => Stage::Over,
                false => Stage::Flight,
            };
        }
        if self.stage == Stage::Flight && has(client, flight) {
            client.write(now, Bytes::new(finished), net);
            self.stage = Stage::Finished;
            return true;
        }
        if self.stage == Stage::Finished && has(server, hello + finished) {
            server.write(now, Bytes::new(ticket), net);
            self.stage = Stage::Over;
        }
        false
    }

    /// Nothing more is to be sent for it.
    pub(crate) fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// The client's end first.
    fn in_order<'e>(&self, [from, to]: [&'e mut Endpoint; 2]) -> [&'e mut Endpoint; 2] {
        match self.client {
            0 => [from, to],
            _ => [to, from],
        }
    }
}
