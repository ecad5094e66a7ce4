//! The watcher of a run: samples the senders periodically and decides when the
//! run is over.

use super::clock::Clock;
use super::collect::Noted;
use super::gauges::Gauges;
use super::message::Message;
use super::quic::over_quic;
use crate::emulator::Stop;
use bentpipe_scenario::{Flow, Scenario};
use bentpipe_traffic::{ClientReport, Requester};
use bentpipe_units::{Duration, Time};
use std::sync::mpsc::{Receiver, RecvTimeoutError};

/// Interval of sampling the senders; a finer series shortens it.
const LOOK: Duration = Duration::from_millis(5);

/// Its lower bound: a sample costs a few microseconds for each flow.
const SHORTEST: Duration = Duration::from_millis(1);

/// The inputs of the watcher.
pub(crate) struct Watcher<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) clock: &'a Clock,
    pub(crate) messages: &'a Receiver<Message>,
    pub(crate) gauges: &'a [Gauges],
    pub(crate) series: Option<Duration>,
    pub(crate) stop: &'a Stop,
}

/// Its observations.
pub(crate) struct Watched {
    /// Observations, by flow.
    pub(crate) noted: Vec<Noted>,
    /// Errors of flows, in words.
    pub(crate) failed: Vec<String>,
    /// True if it was stopped from outside.
    pub(crate) stopped: bool,
}

impl Watcher<'_> {
    /// Watches until all flows are done, the time is over, or it is stopped; `running` tells
    /// whether the links still run.
    pub(crate) fn watch(&self, running: impl Fn() -> bool) -> Watched {
        let flows = self.scenario.flows.len();
        let mut seen = Watched {
            noted: self
                .scenario
                .flows
                .iter()
                .map(|flow| Noted {
                    report: Requester::new(&flow.application, 0, "")
                        .map_or(ClientReport::None, |requester| requester.report(Time::ZERO)),
                    watched: super::gauges::Watched::default(),
                    last_response_at: None,
                    quic: None,
                })
                .collect(),
            failed: Vec::new(),
            stopped: false,
        };
        let mut done = vec![false; flows];
        let end = Time::ZERO + self.scenario.duration;
        let interval = self
            .series
            .map_or(LOOK, |series| series.min(LOOK).max(SHORTEST));
        let interval = std::time::Duration::from_nanos(interval.as_nanos());
        loop {
            match self.messages.recv_timeout(interval) {
                Ok(message) => {
                    self.hear(message, &mut seen, &mut done);
                    while let Ok(message) = self.messages.try_recv() {
                        self.hear(message, &mut seen, &mut done);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(interval),
            }
            let now = self.clock.now();
            for (noted, gauges) in seen.noted.iter_mut().zip(self.gauges) {
                noted.watched.look(now, self.series, gauges);
            }
            seen.stopped = self.stop.is_stopped();
            let going =
                |(flow, done): (&Flow, &bool)| !done && flow.stop.is_none_or(|stop| now < stop);
            let any = self.scenario.flows.iter().zip(&done).any(going);
            if !any || now >= end || seen.stopped || !running() {
                let flows = self.scenario.flows.iter().zip(self.gauges);
                for (noted, (flow, gauges)) in seen.noted.iter_mut().zip(flows) {
                    noted.quic = over_quic(flow).map(|_| gauges.seen().clone());
                }
                return seen;
            }
        }
    }

    fn hear(&self, message: Message, seen: &mut Watched, done: &mut [bool]) {
        match message {
            Message::Complete(flow) => done[flow] = true,
            Message::SendsFrom(flow, socket) => seen.noted[flow].watched.set(socket),
            Message::Reports { flow, report, last } => {
                seen.noted[flow].report = report;
                if last {
                    seen.noted[flow].last_response_at = Some(self.clock.now());
                    done[flow] = true;
                }
            }
            Message::Failed(flow, why) => {
                done[flow] = true;
                let name = &self.scenario.flows[flow].name;
                seen.failed.push(format!("flow `{name}` failed: {why}"));
            }
        }
    }
}
