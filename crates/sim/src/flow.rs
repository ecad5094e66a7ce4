//! A running flow: its application between its two endpoints.

use crate::connections::LOOKUP;
pub(crate) use crate::ends::Ends;
use crate::exchange::Exchanges;
use crate::lookup::Lookup;
use crate::recorder::Recorder;
use crate::reports::Reports;
use crate::tls::Tls;
use bentpipe_quic::IP_HEADERS;
use bentpipe_scenario::{Flow, Handshake, Split, tls_flights};
use bentpipe_tcp::{Endpoint, Packet, Transmit};
use bentpipe_traffic::{Application, ClientReport, Deadline, Next, Source};
use bentpipe_units::{Bytes, Time};

/// Which ends of a flow are at work where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Here {
    /// Both, as in a run on one thread.
    Both,
    /// Its `from`, with the application.
    From,
    /// Its `to`, which only receives and acknowledges.
    To,
}

/// A flow at work.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) ends: Ends,
    here: Here,
    application: Application,
    handshake: Handshake,
    split: Option<Box<Split>>,
    pub(crate) starts_at: Time,
    stop: Option<Time>,
    /// When its first data segment could go.
    pub(crate) first_data_at: Option<Time>,
    /// When all that was to be transferred had been.
    pub(crate) completed_at: Option<Time>,
    /// Nothing more is to come: completed, or stopped.
    ended: bool,
    /// Its end has been counted: see [`Running::has_newly_ended`].
    end_counted: bool,
    pub(crate) first_delivery_at: Option<Time>,
    pub(crate) last_delivery_at: Option<Time>,
    delivered_before: u64,
    next_request_at: Time,
    /// Its data go, and nobody looks at a series of them: known after the application was called.
    is_plain: bool,
    /// The clock of an application with a rate.
    source: Option<Box<Source>>,
    /// The packets that have a deadline.
    deadline: Option<Box<Deadline>>,
    /// Exchanges, where `to` asks and `from` answers.
    pub(crate) exchanges: Option<Box<Exchanges>>,
    /// The look-up that precedes the connection, until it has an answer.
    pub(crate) lookup: Option<Box<Lookup>>,
    /// TLS comes before the data.
    has_tls: bool,
    /// The handshake of TLS, until it is over.
    tls: Option<Box<Tls>>,
    pub(crate) series: Option<Box<Recorder>>,
    /// Senders that hear of the queues at their nodes.
    pub(crate) reports: Vec<Reports>,
}

impl Running {
    pub(crate) fn new(flow: &Flow, mut ends: Ends, starts_at: Time, seed: u64) -> Running {
        let tls = tls(flow);
        if let Some(tls) = &tls {
            ends.add_preface(tls.preface());
        }
        Running {
            lookup: None,
            has_tls: tls.is_some(),
            tls,
            ends,
            here: Here::Both,
            application: flow.application.clone(),
            handshake: flow.handshake,
            split: flow.split.clone(),
            starts_at,
            stop: flow.stop,
            first_data_at: None,
            completed_at: None,
            ended: false,
            end_counted: false,
            first_delivery_at: None,
            last_delivery_at: None,
            delivered_before: 0,
            next_request_at: Time::MAX,
            is_plain: false,
            source: Source::new(&flow.application, seed, &flow.name).map(Box::new),
            deadline: deadline(&flow.application),
            exchanges: Exchanges::new(flow, seed),
            series: None,
            reports: Vec::new(),
        }
    }

    /// The place of a flow that has no end here.
    pub(crate) fn elsewhere() -> Running {
        Running {
            has_tls: false,
            tls: None,
            ends: Ends::Ideal,
            here: Here::Both,
            application: Application::Persistent,
            handshake: Handshake::Skipped,
            split: None,
            starts_at: Time::MAX,
            stop: None,
            first_data_at: None,
            completed_at: None,
            ended: true,
            end_counted: true,
            first_delivery_at: None,
            last_delivery_at: None,
            delivered_before: 0,
            next_request_at: Time::MAX,
            is_plain: false,
            source: None,
            deadline: None,
            exchanges: None,
            lookup: None,
            series: None,
            reports: Vec::new(),
        }
    }

    /// True if its two ends know of each other by packets alone, so that they may be in different
    /// parts of a network without a proxy that acknowledges for others.
    pub(crate) fn is_separable(&self) -> bool {
        let apart = self.exchanges.is_none()
            && self.lookup.is_none()
            && !self.has_tls
            && self.deadline.is_none()
            && self.series.is_none()
            && self.reports.is_empty();
        apart && matches!(self.ends, Ends::Tcp(_) | Ends::Datagrams { .. })
    }

    /// Which of its ends are here.
    pub(crate) fn here(&self) -> Here {
        self.here
    }

    /// Only these ends of a [separable](Running::is_separable) flow are here: nothing happens at the
    /// other.
    pub(crate) fn keep(&mut self, here: Here) {
        self.here = here;
        if here == Here::To {
            // The application and its end are with `from`.
            (self.ended, self.end_counted) = (true, true);
            self.first_data_at = Some(Time::ZERO);
            if self.handshake == Handshake::Skipped
                && let Some((_, to)) = self.ends.pair()
            {
                to.assume_open();
            }
        }
    }

    /// True if the run need not wait for the flow.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended || matches!(self.ends, Ends::Ideal)
    }

    /// True on the first call after the flow has ended.
    pub(crate) fn has_newly_ended(&mut self) -> bool {
        self.ended && !std::mem::replace(&mut self.end_counted, true)
    }

    /// What the side that asks, or watches, has experienced by `now`.
    pub(crate) fn report(&self, now: Time) -> ClientReport {
        match &self.ends {
            Ends::Stream(stream) => {
                let playback = stream.playback.as_ref();
                playback.map_or(ClientReport::None, |p| ClientReport::Video(p.report(now)))
            }
            _ => match (&self.exchanges, &self.deadline) {
                (Some(exchanges), _) => exchanges.report(now),
                (None, Some(deadline)) => ClientReport::Deadline(deadline.report(now)),
                (None, None) => ClientReport::None,
            },
        }
    }

    /// Bytes that the application was to send; `None` without end.
    pub(crate) fn offered(&self) -> Option<Bytes> {
        self.application.offered()
    }

    /// The instant from which the transfer time counts.
    pub(crate) fn counts_from(&self) -> Time {
        match self.handshake {
            Handshake::NotCounted => self.first_data_at.unwrap_or(self.starts_at),
            Handshake::Counted | Handshake::Skipped => self.starts_at,
        }
    }

    /// Retransmission timeouts so far at one of its ends.
    pub(crate) fn timeouts(&self, side: usize) -> u64 {
        match &self.ends {
            Ends::Tcp(ends) => ends[side].counters().timeouts,
            Ends::Split(chain) => chain.end(side).counters().timeouts,
            Ends::Quic(quic) => quic.timeouts(side),
            Ends::Datagrams { .. } | Ends::Stream(_) | Ends::Ideal => 0,
        }
    }

    /// When the application wants to be called next.
    pub(crate) fn next_call(&self) -> Time {
        if self.ended {
            return Time::MAX;
        }
        let packet = match &self.ends {
            Ends::Stream(stream) => stream.next_call(),
            _ => self
                .source
                .as_ref()
                .map_or(Time::MAX, |source| source.next()),
        };
        let query = self.lookup.as_ref().map_or(Time::MAX, |l| l.next_call());
        self.next_request_at
            .min(packet)
            .min(query)
            .min(self.stop.unwrap_or(Time::MAX))
    }

    /// The application is called: it starts, asks, sends or stops.
    pub(crate) fn on_call<T: Transmit>(&mut self, now: Time, destination: u32, net: &mut T) {
        if self.stop.is_some_and(|stop| now >= stop) {
            self.on_stop(now, net);
            return;
        }
        if let Some(lookup) = &mut self.lookup {
            if now == self.starts_at
                && let Some(exchanges) = &mut self.exchanges
            {
                exchanges.begin(now);
            }
            lookup.on_call(now, net);
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
        if let Ends::Stream(stream) = &mut self.ends
            && stream.on_call(now, destination, net)
        {
            self.completed_at = Some(now);
            self.ended = true;
        }
    }

    /// An application with a rate sends a packet, or writes as much.
    fn send_packet<T: Transmit>(&mut self, now: Time, destination: u32, net: &mut T) {
        let (Application::ConstantRate { packet_size, .. }
        | Application::OnOff { packet_size, .. }) = self.application
        else {
            return;
        };
        if let Some(deadline) = &mut self.deadline {
            deadline.sent(now);
        }
        match &mut self.ends {
            Ends::Datagrams {
                sent, sent_bytes, ..
            } => {
                let mut packet = Packet::new(destination);
                packet.bytes = packet_size.get().min(u64::from(u16::MAX)) as u16;
                // IP and UDP headers take 28 bytes.
                packet.payload = packet.bytes.saturating_sub(28);
                // Who watches knows by it which one arrives.
                packet.sequence = *sent_bytes;
                *sent += 1;
                *sent_bytes += u64::from(packet.payload);
                net.transmit(packet);
            }
            Ends::Tcp(ends) => {
                ends[0].write(now, packet_size, net);
                self.after(now, 0, net);
            }
            Ends::Split(chain) => {
                chain.server.write(now, packet_size, net);
                self.after(now, 0, net);
            }
            Ends::Quic(quic) => {
                match self.application.sends_datagrams() {
                    // Headers of IP and UDP are part of its size.
                    true => {
                        let payload = packet_size.get() - u64::from(IP_HEADERS);
                        quic.send_datagram(now, payload, net);
                    }
                    false => quic.write(now, packet_size.get(), false, net),
                }
                self.after_quic(now, net);
            }
            Ends::Stream(_) | Ends::Ideal => {}
        }
    }

    fn on_stop<T: Transmit>(&mut self, now: Time, net: &mut T) {
        self.ended = true;
        if self.lookup.take().is_some() {
            return;
        }
        match &mut self.ends {
            Ends::Tcp(ends) => ends[0].withdraw_unsent(),
            Ends::Split(chain) => {
                chain.server.withdraw_unsent();
                chain.server.close(now, net);
            }
            Ends::Stream(stream) => stream.sender.stop(),
            Ends::Quic(quic) => quic.stop(now, net),
            Ends::Datagrams { .. } | Ends::Ideal => {}
        }
    }

    fn on_start<T: Transmit>(&mut self, now: Time, net: &mut T) {
        let asks = self.exchanges.is_some();
        // Who calls over QUIC talks once the connection is there, and who writes behind TLS once that
        // lets the data pass.
        let calls = matches!(self.ends, Ends::Quic(_)) && self.application.sends_datagrams();
        let waits = calls || self.tls.is_some();
        if let Some(source) = self.source.as_mut().filter(|_| !waits) {
            source.start(now);
        }
        match &mut self.ends {
            Ends::Datagrams { .. } | Ends::Ideal => {}
            Ends::Stream(stream) => stream.start(now),
            Ends::Quic(quic) => quic.start(now, &self.application, net),
            Ends::Tcp(ends) => {
                if self.handshake == Handshake::Skipped {
                    self.first_data_at = Some(now);
                    ends[0].assume_open();
                    ends[1].assume_open();
                } else {
                    ends[usize::from(asks)].open(now, net);
                }
            }
            Ends::Split(chain) => match &self.split {
                Some(split) if self.handshake == Handshake::Skipped => {
                    self.first_data_at = Some(now);
                    chain.assume_open(split);
                }
                _ if asks => chain.client.open(now, net),
                _ => chain.server.open(now, net),
            },
        }
        let waits = match (&mut self.tls, self.ends.pair()) {
            (Some(tls), Some((from, to))) => !tls.begin(now, [from, to], net),
            _ => false,
        };
        if !waits {
            self.begin_data(now, net);
        } else if let Some(exchanges) = &mut self.exchanges {
            exchanges.begin(now);
        }
        // With a ticket data leave at once.
        if matches!(self.ends, Ends::Quic(_)) {
            self.after_quic(now, net);
        }
        if self.offered() == Some(Bytes::ZERO) {
            self.completed_at = Some(now);
            self.ended = true;
        }
    }

    /// The application's first bytes: those that `from` has to send, or the first request.
    fn begin_data<T: Transmit>(&mut self, now: Time, net: &mut T) {
        if let Some(source) = self.source.as_mut().filter(|_| self.has_tls) {
            source.start(now);
        }
        if let Some((server, _)) = self.ends.pair() {
            match self.application {
                Application::Transfer { size } => server.write_last(now, size, net),
                Application::Persistent => server.write(now, Bytes::MAX, net),
                _ => server.write(now, Bytes::ZERO, net),
            }
        }
        if self.exchanges.is_some() {
            self.send_request(now, net);
        }
    }

    /// Goes on with the handshake of TLS; the data follow when it lets them.
    #[cold]
    fn follow_tls<T: Transmit>(&mut self, now: Time, net: &mut T) {
        let (Some(tls), Some((from, to))) = (&mut self.tls, self.ends.pair()) else {
            return;
        };
        let begins = tls.follow(now, [from, to], net);
        if tls.is_over() {
            self.tls = None;
        }
        if begins && !self.ended {
            self.begin_data(now, net);
        }
    }

    fn send_request<T: Transmit>(&mut self, now: Time, net: &mut T) {
        let Some(exchanges) = &mut self.exchanges else {
            return;
        };
        if let Ends::Quic(quic) = &mut self.ends {
            exchanges.ask_quic(now, quic, net);
        } else if let Some((server, client)) = self.ends.pair() {
            exchanges.ask(now, server, client, net);
        }
    }

    /// A packet arrives at side `side` (0: `from`, 1: `to`); of a split flow,
    /// at that of its ends. False if the application does nothing about it and
    /// only this side's deadline may have moved.
    #[inline(always)]
    pub(crate) fn on_packet<T: Transmit>(
        &mut self,
        now: Time,
        side: usize,
        packet: &Packet,
        net: &mut T,
    ) -> bool {
        match &mut self.ends {
            Ends::Tcp(ends) => {
                let Some(end) = ends.get_mut(side) else {
                    self.on_lookup(now, side, net);
                    return true;
                };
                end.on_packet(now, packet, net);
                let reached = reached(ends, side);
                if self.waits_for_more(reached) {
                    if side == 1 {
                        self.note_delivered(now, reached.get(), false);
                    }
                    return false;
                }
                self.after(now, side, net);
            }
            Ends::Split(_) | Ends::Quic(_) if side >= LOOKUP => {
                self.on_lookup(now, side, net);
            }
            Ends::Split(chain) => {
                chain.on_packet(now, side, packet, net);
                self.after_split(now, side, net);
            }
            Ends::Datagrams { arrived_bytes, .. } => {
                *arrived_bytes += u64::from(packet.payload);
                let total = *arrived_bytes;
                if let Some(deadline) = &mut self.deadline {
                    // They are of one size, and numbered by their bytes.
                    deadline.arrived(now, packet.sequence / u64::from(packet.payload.max(1)));
                }
                self.note_delivered(now, total, false);
                return false;
            }
            Ends::Stream(stream) if side == 0 => stream.on_answer(now, packet),
            Ends::Stream(stream) => {
                stream.on_packet(now, packet, net);
                let total = stream.arrived_bytes;
                self.note_delivered(now, total, false);
            }
            Ends::Quic(quic) => {
                quic.on_packet(now, side, packet, net);
                self.after_quic(now, net);
            }
            Ends::Ideal => {}
        }
        true
    }

    /// A datagram of its look-up arrives: the flow starts with the answer.
    #[cold]
    fn on_lookup<T: Transmit>(&mut self, now: Time, side: usize, net: &mut T) {
        // An answer to a query that was sent twice may come twice.
        let answered = self.lookup.as_ref();
        if !answered.is_some_and(|lookup| lookup.on_packet(side - LOOKUP, net)) {
            return;
        }
        self.lookup = None;
        self.on_start(now, net);
    }

    /// True if nothing follows from what happens at an end of a TCP connection that has
    /// [`reached`] so much.
    #[inline(always)]
    fn waits_for_more(&self, reached: Bytes) -> bool {
        let waits = match self.application {
            Application::Transfer { size } => reached != size,
            _ => self.exchanges.is_none(),
        };
        waits && self.is_plain
    }

    /// A timer of side `side` is due. False if the application does nothing about it and only this
    /// side's deadline may have moved.
    pub(crate) fn on_deadline<T: Transmit>(&mut self, now: Time, side: usize, net: &mut T) -> bool {
        match &mut self.ends {
            Ends::Tcp(ends) => {
                ends[side].on_deadline(now, net);
                let reached = reached(ends, side);
                if self.waits_for_more(reached) {
                    return false;
                }
                self.after(now, side, net);
            }
            Ends::Split(chain) => {
                chain.on_deadline(now, side, net);
                self.after_split(now, side, net);
            }
            Ends::Quic(quic) => {
                quic.on_deadline(now, side, net);
                self.after_quic(now, net);
            }
            Ends::Datagrams { .. } | Ends::Stream(_) | Ends::Ideal => {}
        }
        true
    }

    /// A stream of a tunnel has its turn to send. Returns the bytes of the packet at the IP layer.
    pub(crate) fn take_turn<T: Transmit>(&mut self, now: Time, end: usize, net: &mut T) -> Bytes {
        let Ends::Split(chain) = &mut self.ends else {
            return Bytes::ZERO;
        };
        let (packets, payload) = sent(chain.end(end));
        let header = chain.end(end).header_bytes().get();
        chain.end_mut(end).take_turn(now, net);
        let (packets, payload) = {
            let (more, bytes) = sent(chain.end(end));
            (more - packets, bytes - payload)
        };
        self.after_split(now, end, net);
        Bytes::new(payload + packets * header)
    }

    /// How many ends the flow has.
    pub(crate) fn sides(&self) -> usize {
        match &self.ends {
            Ends::Split(chain) => chain.ends(),
            _ => 2,
        }
    }

    /// What happens after a packet or a timer at an end of a split flow.
    fn after_split<T: Transmit>(&mut self, now: Time, end: usize, net: &mut T) {
        let size = self.offered();
        let Ends::Split(chain) = &mut self.ends else {
            return;
        };
        chain.note(now, end, size);
        chain.follow_failure(now, size, net);
        chain.confirm(now, size, net);
        // A relay also moves its other end.
        let last = chain.ends_of_legs() - 1;
        if end > last {
            let [side, far] = [end % 2, last + 2];
            self.ended |= self.completed_at.is_some() && chain.is_acknowledged();
            self.after(now, side, net);
            if let Ends::Split(chain) = &mut self.ends {
                for end in [far - 1, far] {
                    let end = chain.end_mut(end);
                    if end.is_finished() {
                        end.close(now, net);
                    }
                }
            }
            return;
        }
        let at_relay = end != 0 && end != last;
        if at_relay {
            chain.note(now, if end % 2 == 1 { end + 1 } else { end - 1 }, size);
        }
        // All is over when the last PEP knows that the receiver has it.
        self.ended |= self.completed_at.is_some() && chain.is_acknowledged();
        if at_relay {
            return;
        }
        self.after(now, usize::from(end == last), net);
        if let Ends::Split(chain) = &mut self.ends {
            self.ended |= self.completed_at.is_some() && chain.is_acknowledged();
            // Who has read the other's last byte closes, too.
            for end in [&mut chain.server, &mut chain.client] {
                if end.is_finished() {
                    end.close(now, net);
                }
            }
        }
    }

    // Once a packet.
    #[inline(always)]
    pub(crate) fn deadline(&self, side: usize) -> Time {
        match &self.ends {
            Ends::Tcp(ends) => ends[side].deadline(),
            Ends::Split(chain) => chain.deadline(side),
            Ends::Quic(quic) => quic.deadline(side),
            Ends::Datagrams { .. } | Ends::Stream(_) | Ends::Ideal => Time::MAX,
        }
    }

    /// What follows from what has happened to a QUIC connection.
    #[inline(never)]
    fn after_quic<T: Transmit>(&mut self, now: Time, net: &mut T) {
        let Ends::Quic(quic) = &mut self.ends else {
            return;
        };
        if let Some(exchanges) = &mut self.exchanges
            && !self.ended
        {
            match exchanges.follow_quic(now, quic, net) {
                None => {}
                Some(Next::At(at)) => self.next_request_at = at,
                Some(Next::Done) => {
                    self.completed_at = Some(now);
                    self.ended = true;
                    quic.close(now, net);
                }
            }
        }
        let may_send = match self.exchanges {
            Some(_) => quic.requests() > 0,
            None => quic.may_send(),
        };
        if self.first_data_at.is_none() && may_send {
            self.first_data_at = Some(now);
            let source = self.source.as_mut();
            if let Some(source) = source.filter(|_| self.application.sends_datagrams()) {
                source.start(now);
            }
        }
        while let Some(number) = quic.take_datagram() {
            if let Some(deadline) = &mut self.deadline {
                deadline.arrived(now, number);
            }
        }
        let delivered = quic.delivered();
        if let Application::Transfer { size } = self.application
            && !self.ended
            && quic.is_acknowledged()
            && delivered == size
        {
            self.completed_at = Some(now);
            self.ended = true;
            quic.close(now, net);
        }
        if let Some(recorder) = &mut self.series
            && let Some(sample) = quic.sample(now)
        {
            recorder.quic(sample, quic.sent());
        }
        let last = self.application.offered().is_some_and(|b| b == delivered);
        self.note_delivered(now, delivered.get(), last);
    }

    /// What the application does after its connection moved.
    fn after<T: Transmit>(&mut self, now: Time, side: usize, net: &mut T) {
        if self.tls.is_some() {
            self.follow_tls(now, net);
        }
        // Duplicates at the end of the first leg of a split flow.
        let size = self.offered();
        let (first_receiver, arrived, is_complete) = match &self.ends {
            Ends::Split(chain) => (
                Some(chain.end(1).duplicates_received()),
                Some(chain.delivered()),
                size.is_some_and(|size| chain.is_complete(size)),
            ),
            _ => (None, None, false),
        };
        let is_split = first_receiver.is_some();
        let Some((server, client)) = self.ends.pair() else {
            return;
        };
        let has_data = |server: &Endpoint, has_tls: bool| match has_tls {
            true => server.offered() > Bytes::ZERO,
            false => server.counters().packets > 0,
        };
        if self.first_data_at.is_none() && has_data(server, self.has_tls) {
            self.first_data_at = Some(now);
        }
        match self.application {
            Application::Transfer { size } => {
                if is_split {
                    // What is acknowledged has reached a PEP only.
                    if self.completed_at.is_none() && is_complete {
                        self.completed_at = Some(now);
                    }
                } else if !self.ended
                    && server.acknowledged() == size
                    && (self.here == Here::From || client.delivered() == size)
                {
                    // A spoofing proxy acknowledges what has not arrived yet; where the other end is
                    // elsewhere there is none.
                    self.completed_at = Some(now);
                    self.ended = true;
                }
                // The receiver has read all there is and closes, too.
                if side == 1 && !is_split && client.is_finished() {
                    client.close(now, net);
                }
            }
            _ => match &mut self.exchanges {
                None => {}
                Some(exchanges) if side == 0 => {
                    exchanges.answer(now, server, net);
                    if self.first_data_at.is_none() && has_data(server, self.has_tls) {
                        self.first_data_at = Some(now);
                    }
                }
                Some(exchanges) => match exchanges.responded(now, client) {
                    None => {}
                    Some(Next::At(at)) => self.next_request_at = at,
                    Some(Next::Done) => {
                        self.completed_at = Some(now);
                        self.ended = true;
                        if is_split {
                            client.close(now, net);
                        }
                    }
                },
            },
        }
        if side == 0
            && let Some(recorder) = &mut self.series
        {
            let snapshot = server.snapshot();
            let twice = first_receiver.unwrap_or_else(|| client.duplicates_received());
            recorder.sender(now, &snapshot, server, twice);
        }
        let is_told = self.series.is_none() && self.tls.is_none();
        self.is_plain = is_told && self.first_data_at.is_some();
        if side == 1 {
            let delivered = arrived.unwrap_or_else(|| client.delivered()).get();
            let last = self.offered().is_some_and(|b| b.get() == delivered);
            self.note_delivered(now, delivered, last);
        }
    }

    #[inline]
    fn note_delivered(&mut self, now: Time, delivered: u64, last: bool) {
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

/// How much of a transfer a side of a connection knows to have arrived.
#[inline(always)]
fn reached(ends: &[Endpoint; 2], side: usize) -> Bytes {
    match side {
        0 => ends[0].acknowledged(),
        _ => ends[1].delivered(),
    }
}

/// The deadline of an application's packets, if they have one.
fn deadline(application: &Application) -> Option<Box<Deadline>> {
    match application {
        Application::ConstantRate { deadline, .. } => {
            deadline.map(|limit| Box::new(Deadline::new(limit)))
        }
        _ => None,
    }
}

/// The handshake of TLS that precedes the flow's data, if one does.
fn tls(flow: &Flow) -> Option<Box<Tls>> {
    let transport = flow.transport.as_ref()?;
    let flights = tls_flights(transport).filter(|_| flow.handshake != Handshake::Skipped)?;
    let client = usize::from(flow.application.asks());
    Some(Box::new(Tls::new(flights, client)))
}

/// Packets and payload bytes that an end has sent.
fn sent(end: &Endpoint) -> (u64, u64) {
    let counters = end.counters();
    (counters.packets, counters.payload)
}
