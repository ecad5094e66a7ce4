//! A reader of pages at work: see [`bentpipe_traffic::WebSettings`].

use bentpipe_outcome::PageOutcome;
use bentpipe_random::Stream;
use bentpipe_scenario::{Flow, Handshake};
use bentpipe_tcp::{Endpoint, Transmit, Transport};
use bentpipe_traffic::{Application, PageConnection, Pages, WebSettings};
use bentpipe_units::{Bytes, Duration, Time};

/// What a flow of pages needs beyond its ends.
#[derive(Debug)]
pub(crate) struct Web {
    settings: WebSettings,
    pages: Pages,
    /// Where each page has a connection of its own.
    reopens: Option<Reopens>,
    /// Bytes of all requests so far, and of all pages asked for.
    asked: u64,
    due: u64,
    /// When the page that is under way was asked for.
    began: Option<Time>,
    times: Vec<Duration>,
}

/// What a new connection is made of.
#[derive(Debug)]
struct Reopens {
    transport: Transport,
    handshake: Handshake,
    /// Seeds of congestion controls.
    stream: Stream,
}

/// What a page that has arrived leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrived {
    /// The reader asks for the next one then.
    Next(Time),
    /// It was the last.
    Last,
}

impl Web {
    /// The reader of `flow`, if it is one.
    pub(crate) fn new(flow: &Flow, seed: u64) -> Option<Box<Web>> {
        let Application::Web(settings) = flow.application else {
            return None;
        };
        let transport = flow.transport.clone();
        let per_page = settings.connection == PageConnection::Page;
        let reopens = transport.filter(|_| per_page).map(|transport| Reopens {
            transport,
            handshake: flow.handshake,
            stream: Stream::new(seed, &format!("congestion control of pages {}", flow.name)),
        });
        Some(Box::new(Web {
            settings,
            pages: Pages::new(&settings, seed, &flow.name),
            reopens,
            asked: 0,
            due: 0,
            began: None,
            times: Vec::new(),
        }))
    }

    /// The reader asks for a page, over a new connection where each has its
    /// own. The first is the flow's.
    pub(crate) fn ask<T: Transmit>(
        &mut self,
        now: Time,
        server: &mut Endpoint,
        client: &mut Endpoint,
        net: &mut T,
    ) {
        if !self.times.is_empty()
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
        self.began = Some(now);
        self.asked += self.settings.request.get();
        self.due += self.pages.size().get();
        client.write(now, self.settings.request, net);
    }

    /// The side that has the pages looks whether it is asked.
    pub(crate) fn answer<T: Transmit>(&self, now: Time, end: &mut Endpoint, net: &mut T) {
        if end.delivered().get() >= self.asked && end.offered().get() < self.due {
            let more = self.due - end.offered().get();
            end.write(now, Bytes::new(more), net);
        }
    }

    /// The reader looks whether the page is there.
    pub(crate) fn look(&mut self, now: Time, end: &Endpoint) -> Option<Arrived> {
        if end.delivered().get() < self.due {
            return None;
        }
        let began = self.began.take()?;
        self.times.push(now.since(began));
        if self
            .settings
            .count
            .is_some_and(|n| self.times.len() >= n as usize)
        {
            return Some(Arrived::Last);
        }
        Some(Arrived::Next(now + self.pages.reading_time()))
    }

    /// What the reader has seen.
    pub(crate) fn outcome(&self) -> PageOutcome {
        let mut sorted = self.times.clone();
        sorted.sort_unstable();
        let count = sorted.len();
        let sum = sorted.iter().fold(Duration::ZERO, |sum, time| sum + *time);
        // The smallest that is not exceeded by 95% of the pages.
        let p95 = (count * 95).div_ceil(100).checked_sub(1);
        PageOutcome {
            completed: count as u64,
            mean_time: (count > 0).then(|| sum / count as u64),
            p95_time: p95.and_then(|at| sorted.get(at).copied()),
        }
    }
}
