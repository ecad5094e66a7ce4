//! One flow at work: its application between its two endpoints.

use crate::web::{Arrived, Web};
use bentpipe_outcome::{FlowSeries, SenderSample};
use bentpipe_random::Stream;
use bentpipe_scenario::{Flow, Handshake};
use bentpipe_tcp::{Endpoint, Packet, Snapshot, Transmit};
use bentpipe_traffic::{Application, Source};
use bentpipe_units::{Bytes, Duration, Time};

/// The two ends of a flow.
#[derive(Debug)]
pub(crate) enum Ends {
    /// A TCP connection: the `from` side and the `to` side.
    Tcp(Box<[Endpoint; 2]>),
    /// Datagrams and their payload: sent so far, and arrived.
    Datagrams {
        sent: u64,
        sent_bytes: u64,
        arrived_bytes: u64,
    },
    /// The analytic bound.
    Ideal,
}

/// A flow at work.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) ends: Ends,
    application: Application,
    handshake: Handshake,
    pub(crate) starts_at: Time,
    stop: Option<Time>,
    /// When its first data segment could go.
    pub(crate) first_data_at: Option<Time>,
    /// When all that was to be transferred had been.
    pub(crate) completed_at: Option<Time>,
    /// Nothing more is to come: completed, or stopped.
    ended: bool,
    pub(crate) first_delivery_at: Option<Time>,
    pub(crate) last_delivery_at: Option<Time>,
    delivered_before: u64,
    /// Request/response: exchanges completed, requests sent.
    exchanges: u32,
    requests: u32,
    next_request_at: Time,
    /// The clock of an application with a rate.
    source: Option<Source>,
    /// A reader of pages.
    pub(crate) web: Option<Box<Web>>,
    pub(crate) series: Option<Recorder>,
}

/// Collects a flow's time series, at most one sample per interval.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) series: FlowSeries,
    interval: Duration,
    next_sender: Time,
    next_delivered: Time,
    last_phase: &'static str,
}

impl Recorder {
    pub(crate) fn new(flow: &str, interval: Duration) -> Recorder {
        Recorder {
            series: FlowSeries {
                flow: flow.to_owned(),
                ..FlowSeries::default()
            },
            interval,
            next_sender: Time::ZERO,
            next_delivered: Time::ZERO,
            last_phase: "",
        }
    }

    fn sender(&mut self, now: Time, s: &Snapshot, endpoint: &Endpoint, spurious: u64) {
        let phase = s.phase.name();
        if now < self.next_sender && phase == self.last_phase {
            return;
        }
        self.next_sender = now + self.interval;
        self.last_phase = phase;
        let counters = endpoint.counters();
        self.series.sender.push(SenderSample {
            at: now,
            cwnd: s.cwnd,
            ssthresh: s.ssthresh,
            flight: s.flight as f64,
            rtt: s.rtt,
            retransmissions: counters.retransmissions,
            spurious_retransmissions: spurious,
            phase,
        });
        self.series.sent.push((now, Bytes::new(counters.payload)));
    }

    fn delivered(&mut self, now: Time, bytes: u64, last: bool) {
        if now < self.next_delivered && !last {
            return;
        }
        self.next_delivered = now + self.interval;
        self.series.delivered.push((now, Bytes::new(bytes)));
    }
}

impl Running {
    pub(crate) fn new(flow: &Flow, ends: Ends, jitter: Duration, seed: u64) -> Running {
        let mut starts_at = flow.start;
        if !jitter.is_zero() {
            let mut stream = Stream::new(seed, &format!("start {}", flow.name));
            starts_at += jitter.scaled(stream.uniform());
        }
        Running {
            ends,
            application: flow.application.clone(),
            handshake: flow.handshake,
            starts_at,
            stop: flow.stop,
            first_data_at: None,
            completed_at: None,
            ended: false,
            first_delivery_at: None,
            last_delivery_at: None,
            delivered_before: 0,
            exchanges: 0,
            requests: 0,
            next_request_at: Time::MAX,
            source: Source::new(&flow.application, seed, &flow.name),
            web: Web::new(flow, seed),
            series: None,
        }
    }

    /// True if the run need not wait for the flow.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended || matches!(self.ends, Ends::Ideal)
    }

    /// Bytes that the application was to send; `None` without end.
    pub(crate) fn offered(&self) -> Option<Bytes> {
        match self.application {
            Application::Transfer { size } => Some(size),
            Application::RequestResponse {
                response, count, ..
            } => Some(Bytes::new(response.get().saturating_mul(u64::from(count)))),
            Application::Persistent
            | Application::ConstantRate { .. }
            | Application::OnOff { .. }
            | Application::Web(_) => None,
        }
    }

    /// The instant from which the transfer time counts.
    pub(crate) fn counts_from(&self) -> Time {
        match self.handshake {
            Handshake::NotCounted => self.first_data_at.unwrap_or(self.starts_at),
            Handshake::Counted | Handshake::Skipped => self.starts_at,
        }
    }

    /// When the application wants to be called next.
    pub(crate) fn next_call(&self) -> Time {
        if self.ended {
            return Time::MAX;
        }
        let packet = self.source.as_ref().map_or(Time::MAX, Source::next);
        self.next_request_at
            .min(packet)
            .min(self.stop.unwrap_or(Time::MAX))
    }

    /// The application is called: it starts, asks, sends or stops.
    pub(crate) fn on_call<T: Transmit>(&mut self, now: Time, destination: u32, net: &mut T) {
        if self.stop.is_some_and(|stop| now >= stop) {
            self.on_stop();
            return;
        }
        if now == self.starts_at && self.first_data_at.is_none() {
            self.on_start(now, net);
        }
        if now >= self.next_request_at {
            self.next_request_at = Time::MAX;
            self.send_request(now, net);
        }
        if self.source.as_mut().is_some_and(|source| source.sends(now)) {
            self.send_packet(now, destination, net);
        }
    }

    /// An application with a rate sends a packet, or writes as much.
    fn send_packet<T: Transmit>(&mut self, now: Time, destination: u32, net: &mut T) {
        let (Application::ConstantRate { packet_size, .. }
        | Application::OnOff { packet_size, .. }) = self.application
        else {
            return;
        };
        match &mut self.ends {
            Ends::Datagrams {
                sent, sent_bytes, ..
            } => {
                let mut packet = Packet::new(destination);
                packet.bytes = packet_size.get().min(u64::from(u16::MAX)) as u16;
                // IP and UDP headers take 28 bytes.
                packet.payload = packet.bytes.saturating_sub(28);
                *sent += 1;
                *sent_bytes += u64::from(packet.payload);
                net.transmit(packet);
            }
            Ends::Tcp(ends) => {
                ends[0].write(now, packet_size, net);
                self.after(now, 0, net);
            }
            Ends::Ideal => {}
        }
    }

    fn on_stop(&mut self) {
        self.ended = true;
        if let Ends::Tcp(ends) = &mut self.ends {
            ends[0].withdraw_unsent();
        }
    }

    fn on_start<T: Transmit>(&mut self, now: Time, net: &mut T) {
        let asks = matches!(
            self.application,
            Application::RequestResponse { .. } | Application::Web(_)
        );
        if let Some(source) = &mut self.source {
            source.start(now);
        }
        match &mut self.ends {
            Ends::Datagrams { .. } => {}
            Ends::Ideal => {}
            Ends::Tcp(ends) => {
                let bytes = match self.application {
                    Application::Transfer { size } => size,
                    Application::Persistent => Bytes::MAX,
                    _ => Bytes::ZERO,
                };
                if self.handshake == Handshake::Skipped {
                    self.first_data_at = Some(now);
                    ends[0].assume_open();
                    ends[1].assume_open();
                } else {
                    ends[usize::from(asks)].open(now, net);
                }
                ends[0].write(now, bytes, net);
            }
        }
        if asks {
            self.send_request(now, net);
        }
        if self.offered() == Some(Bytes::ZERO) {
            self.completed_at = Some(now);
            self.ended = true;
        }
    }

    fn send_request<T: Transmit>(&mut self, now: Time, net: &mut T) {
        if let (Some(web), Ends::Tcp(ends)) = (&mut self.web, &mut self.ends) {
            web.ask(now, ends, net);
            return;
        }
        let Application::RequestResponse { request, count, .. } = self.application else {
            return;
        };
        if self.requests < count
            && let Ends::Tcp(ends) = &mut self.ends
        {
            self.requests += 1;
            ends[1].write(now, request, net);
        }
    }

    /// A packet arrives at side `side` (0: `from`, 1: `to`).
    pub(crate) fn on_packet<T: Transmit>(
        &mut self,
        now: Time,
        side: usize,
        packet: &Packet,
        net: &mut T,
    ) {
        match &mut self.ends {
            Ends::Tcp(ends) => {
                ends[side].on_packet(now, packet, net);
                self.after(now, side, net);
            }
            Ends::Datagrams { arrived_bytes, .. } => {
                *arrived_bytes += u64::from(packet.payload);
                let total = *arrived_bytes;
                self.note_delivery(now, total, false);
            }
            Ends::Ideal => {}
        }
    }

    /// A timer of side `side` is due.
    pub(crate) fn on_deadline<T: Transmit>(&mut self, now: Time, side: usize, net: &mut T) {
        if let Ends::Tcp(ends) = &mut self.ends {
            ends[side].on_deadline(now, net);
            self.after(now, side, net);
        }
    }

    pub(crate) fn deadline(&self, side: usize) -> Time {
        match &self.ends {
            Ends::Tcp(ends) => ends[side].deadline(),
            Ends::Datagrams { .. } | Ends::Ideal => Time::MAX,
        }
    }

    /// What the application does after its connection moved.
    fn after<T: Transmit>(&mut self, now: Time, side: usize, net: &mut T) {
        let Ends::Tcp(ends) = &mut self.ends else {
            return;
        };
        if self.first_data_at.is_none() && ends[0].counters().packets > 0 {
            self.first_data_at = Some(now);
        }
        match self.application {
            Application::Transfer { size } => {
                if side == 0 && !self.ended && ends[0].acknowledged() == size {
                    self.completed_at = Some(now);
                    self.ended = true;
                }
            }
            Application::RequestResponse {
                request,
                response,
                count,
                think_time,
            } => {
                if side == 0 {
                    let asked = ends[0].delivered().get() / request.get().max(1);
                    let owed = asked.saturating_mul(response.get());
                    let more = owed.saturating_sub(ends[0].offered().get());
                    if more > 0 {
                        ends[0].write(now, Bytes::new(more), net);
                    }
                } else {
                    let answered = (ends[1].delivered().get() / response.get().max(1)) as u32;
                    if answered > self.exchanges {
                        self.exchanges = answered;
                        if answered >= count {
                            self.completed_at = self.completed_at.or(Some(now));
                            self.ended = true;
                        } else {
                            self.next_request_at = now + think_time;
                        }
                    }
                }
            }
            Application::Web(_) => {
                let Some(web) = &mut self.web else {
                    return;
                };
                if side == 0 {
                    web.answer(now, &mut ends[0], net);
                } else if let Some(arrived) = web.look(now, &ends[1]) {
                    match arrived {
                        Arrived::Next(at) => self.next_request_at = at,
                        Arrived::Last => {
                            self.completed_at = Some(now);
                            self.ended = true;
                        }
                    }
                }
            }
            Application::Persistent
            | Application::ConstantRate { .. }
            | Application::OnOff { .. } => {}
        }
        if side == 0
            && let Some(recorder) = &mut self.series
        {
            let snapshot = ends[0].snapshot();
            recorder.sender(now, &snapshot, &ends[0], ends[1].duplicates_received());
        }
        if side == 1 {
            let delivered = ends[1].delivered().get();
            let last = self.offered().is_some_and(|b| b.get() == delivered);
            self.note_delivery(now, delivered, last);
        }
    }

    fn note_delivery(&mut self, now: Time, delivered: u64, last: bool) {
        if delivered == self.delivered_before {
            return;
        }
        self.delivered_before = delivered;
        self.first_delivery_at.get_or_insert(now);
        self.last_delivery_at = Some(now);
        if let Some(recorder) = &mut self.series {
            recorder.delivered(now, delivered, last);
        }
    }
}
