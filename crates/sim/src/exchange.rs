//! The exchanges of a flow in which `to` asks and `from` answers, over its
//! endpoints: see [`bentpipe_traffic::Requester`].

use crate::quic::QuicFlow;
use bentpipe_random::Stream;
use bentpipe_scenario::{Flow, Handshake};
use bentpipe_tcp::{Endpoint, Transmit, Transport};
use bentpipe_traffic::{ClientReport, Exchange, Next, Requester, interleaved};
use bentpipe_units::{Bytes, Time};
use std::collections::VecDeque;

/// What a flow with exchanges needs beyond its ends.
#[derive(Debug)]
pub(crate) struct Exchanges {
    requester: Requester,
    /// Where each exchange has its own connection.
    reopens: Option<Reopens>,
    /// Bytes of all requests so far, and of all responses asked for.
    asked: u64,
    due: u64,
    /// What was asked for last, all at once.
    batch: Vec<Exchange>,
    /// How many exchanges were before these.
    before: u64,
    /// The batch is known and has not been asked for yet.
    is_due: bool,
    /// Where the responses that have not arrived end over TCP, each with its place in the batch.
    ends: VecDeque<(u64, usize)>,
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
            batch: Vec::new(),
            before: 0,
            is_due: false,
            ends: VecDeque::new(),
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
        self.next(now);
        let responded = self.due;
        let ends = interleaved(&self.batch).into_iter();
        self.ends = ends.map(|(end, place)| (responded + end, place)).collect();
        let requests = self.batch.iter().map(|one| one.request.get()).sum();
        self.asked += requests;
        self.due += self.batch.iter().map(|one| one.response.get()).sum::<u64>();
        client.write(now, Bytes::new(requests), net);
    }

    /// The client asks, for each exchange on a stream of its own.
    pub(crate) fn ask_quic<T: Transmit>(&mut self, now: Time, quic: &mut QuicFlow, net: &mut T) {
        self.next(now);
        quic.ask(now, &self.batch, net);
    }

    /// The client knows what it wants, and opens the connection for it: the times of the first batch
    /// count from the first call, what precedes the data included.
    pub(crate) fn begin(&mut self, now: Time) {
        if !self.is_due {
            self.next(now);
            self.is_due = true;
        }
    }

    /// What is asked for next.
    fn next(&mut self, now: Time) {
        if std::mem::take(&mut self.is_due) {
            return;
        }
        self.before += self.batch.len() as u64;
        self.batch = self.requester.request(now);
    }

    /// The server answers the requests that have arrived in whole; returns what follows at the
    /// client, once all responses have arrived there in whole.
    pub(crate) fn follow_quic<T: Transmit>(
        &mut self,
        now: Time,
        quic: &mut QuicFlow,
        net: &mut T,
    ) -> Option<Next> {
        let (batch, before) = (&self.batch, self.before);
        let place = |number: u64| usize::try_from(number.checked_sub(before)?).ok();
        quic.answer(now, |number| batch.get(place(number)?).copied(), net);
        while let Some(number) = quic.responded() {
            let next = place(number).and_then(|place| self.requester.arrived(now, place));
            if next.is_some() {
                return next;
            }
        }
        None
    }

    /// The server answers if all requests of a batch have arrived in whole: they leave together.
    pub(crate) fn answer<T: Transmit>(&self, now: Time, server: &mut Endpoint, net: &mut T) {
        if server.delivered().get() >= self.asked && server.offered().get() < self.due {
            let more = self.due - server.offered().get();
            server.write(now, Bytes::new(more), net);
        }
    }

    /// What follows, once all responses have arrived in whole at the client. A response has not
    /// while a byte before its last one is missing, of whichever response that is.
    pub(crate) fn responded(&mut self, now: Time, client: &Endpoint) -> Option<Next> {
        let delivered = client.delivered().get();
        while let Some((_, place)) = self
            .ends
            .front()
            .copied()
            .filter(|(end, _)| *end <= delivered)
        {
            self.ends.pop_front();
            let next = self.requester.arrived(now, place);
            if next.is_some() {
                return next;
            }
        }
        None
    }

    /// What the client has experienced by `now`.
    pub(crate) fn report(&self, now: Time) -> ClientReport {
        self.requester.report(now)
    }
}
