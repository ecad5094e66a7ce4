//! The exchanges of a flow in which `to` asks and `from` answers, over its
//! endpoints: see [`bentpipe_traffic::Requester`].

use crate::quic::QuicFlow;
use bentpipe_random::Stream;
use bentpipe_scenario::{Flow, Handshake};
use bentpipe_tcp::{Endpoint, Transmit, Transport};
use bentpipe_traffic::{ClientReport, Next, Requester};
use bentpipe_units::{Bytes, Time};

/// What a flow with exchanges needs beyond its ends.
#[derive(Debug)]
pub(crate) struct Exchanges {
    requester: Requester,
    /// Where each exchange has its own connection.
    reopens: Option<Reopens>,
    /// Bytes of all requests so far, and of all responses asked for.
    asked: u64,
    due: u64,
    /// A response is in progress.
    waits: bool,
    /// Requests so far, and the response that the last one asks for.
    requests: u64,
    response: Bytes,
}

/// What a new connection is made of.
#[derive(Debug)]
struct Reopens {
    transport: Transport,
    handshake: Handshake,
    /// Seeds of congestion controls.
    stream: Stream,
}

impl Exchanges {
    /// The exchanges of `flow`, if it has any.
    pub(crate) fn new(flow: &Flow, seed: u64) -> Option<Box<Exchanges>> {
        let requester = Requester::new(&flow.application, seed, &flow.name)?;
        let transport = flow.transport.as_deref().cloned();
        let transport = transport.filter(|_| flow.application.reopens());
        let reopens = transport.map(|transport| Reopens {
            transport,
            handshake: flow.handshake,
            stream: Stream::new(seed, &format!("congestion control of pages {}", flow.name)),
        });
        Some(Box::new(Exchanges {
            requester,
            reopens,
            asked: 0,
            due: 0,
            waits: false,
            requests: 0,
            response: Bytes::ZERO,
        }))
    }

    /// The client asks, over a new connection where each exchange has its own.
    /// The first is the flow's.
    pub(crate) fn ask<T: Transmit>(
        &mut self,
        now: Time,
        server: &mut Endpoint,
        client: &mut Endpoint,
        net: &mut T,
    ) {
        if self.due > 0
            && let Some(reopens) = &mut self.reopens
        {
            for end in [&mut *server, &mut *client] {
                // It could be built when the run began.
                if let Ok(mut controller) = reopens.transport.controller() {
                    controller.seed(reopens.stream.bits());
                    end.reopen(&reopens.transport, controller);
                }
            }
            if reopens.handshake == Handshake::Skipped {
                server.assume_open();
                client.assume_open();
            } else {
                client.open(now, net);
            }
        }
        let request = self.next(now);
        client.write(now, request, net);
    }

    /// The client asks on a stream of its own.
    pub(crate) fn ask_quic<T: Transmit>(&mut self, now: Time, quic: &mut QuicFlow, net: &mut T) {
        let request = self.next(now);
        quic.ask(now, request, net);
    }

    /// The next request.
    fn next(&mut self, now: Time) -> Bytes {
        let exchange = self.requester.request(now);
        self.waits = true;
        self.asked += exchange.request.get();
        self.due += exchange.response.get();
        self.response = exchange.response;
        self.requests += 1;
        exchange.request
    }

    /// The server answers if the request has arrived in whole; returns what follows at the client,
    /// once the response has arrived there in whole.
    pub(crate) fn follow_quic<T: Transmit>(
        &mut self,
        now: Time,
        quic: &mut QuicFlow,
        net: &mut T,
    ) -> Option<Next> {
        // One is asked for at a time.
        if self.waits && quic.requests() == self.requests {
            quic.answer(now, self.response, net);
        }
        if !self.waits || quic.responses() < self.requests {
            return None;
        }
        self.waits = false;
        Some(self.requester.responded(now))
    }

    /// The server answers if the request has arrived in whole.
    pub(crate) fn answer<T: Transmit>(&self, now: Time, server: &mut Endpoint, net: &mut T) {
        if server.delivered().get() >= self.asked && server.offered().get() < self.due {
            let more = self.due - server.offered().get();
            server.write(now, Bytes::new(more), net);
        }
    }

    /// What follows, once the response has arrived in whole at the client.
    pub(crate) fn responded(&mut self, now: Time, client: &Endpoint) -> Option<Next> {
        if !self.waits || client.delivered().get() < self.due {
            return None;
        }
        self.waits = false;
        Some(self.requester.responded(now))
    }

    /// What the client has experienced by `now`.
    pub(crate) fn report(&self, now: Time) -> ClientReport {
        self.requester.report(now)
    }
}
