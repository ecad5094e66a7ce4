//! A flow over QUIC on real sockets: the endpoints that the simulator has, each on its own thread,
//! with the time and the UDP sockets of the run.
//!
//! The session is the one without ciphers, so that a processor's time for them is no part of the
//! result; every length is that of TLS 1.3.

mod seen;

pub(crate) use seen::{Seen, describe};

use super::application::Work;
use super::clock::PATIENCE;
use super::message::Message;
use super::socket;
use bentpipe_quic::{Datagram, Host, IP_HEADERS, Settings, Side};
use bentpipe_random::Stream;
use bentpipe_scenario::{Flow, quic_settings};
use bentpipe_tcp::{Opener, Transport};
use bentpipe_traffic::{Application, Exchange, Next, Requester, Source};
use bentpipe_units::Time;
use bytes::BytesMut;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use socket2::Socket;
use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

/// Payload of UDP at most.
const LONGEST: usize = 65_535;

/// Datagrams that are read before something else is done.
const AT_ONCE: usize = 64;

/// A flow over QUIC before its run.
#[derive(Debug)]
pub(crate) struct Quic {
    settings: Settings,
    transport: Transport,
    /// The end that sends the data opens the connection, unless the application asks.
    sender_opens: bool,
    sockets: [Socket; 2],
    seen: Arc<Mutex<Seen>>,
}

/// Why the test bed does not run the transport, where it does not.
pub(crate) fn refusal(transport: &Transport) -> Option<&'static str> {
    (transport.quic.is_some() && transport.ecn)
        .then_some("QUIC with ECN is simulated only: the test bed does not read marks")
}

/// The flow's transport where it is QUIC.
pub(crate) fn over_quic(flow: &Flow) -> Option<&Transport> {
    flow.transport.as_deref().filter(|t| t.quic.is_some())
}

/// An end at work.
struct End<'a> {
    host: Host,
    socket: &'a Socket,
    work: &'a Work<'a>,
    seen: &'a Mutex<Seen>,
    /// It sends the data.
    sends: bool,
    room: Vec<u8>,
}

/// What an application does next.
enum Step {
    /// It waits for what happens on the connection, at most until then.
    Wait(Time),
    /// It has nothing more to do.
    Done,
}

impl Quic {
    pub(crate) fn new(transport: &Transport, sockets: [Socket; 2], seen: Arc<Mutex<Seen>>) -> Quic {
        Quic {
            settings: quic_settings(transport),
            transport: transport.clone(),
            sender_opens: transport
                .quic
                .is_none_or(|quic| quic.opener == Opener::From),
            sockets,
            seen,
        }
    }

    /// The end of a flow: 0 is `from`, which sends the data. `opens` where it opens the connection.
    fn end<'a>(&'a self, side: usize, opens: bool, work: &'a Work<'a>) -> io::Result<End<'a>> {
        let control = self.transport.controller().map_err(io::Error::other)?;
        let mut stream = Stream::new(work.seed, &format!("quic {}", work.name));
        let seeds = [stream.bits(), stream.bits()];
        let role = if opens { Side::Client } else { Side::Server };
        let host = Host::new(role, &self.settings, control, seeds[side]);
        Ok(End {
            host: host.map_err(io::Error::other)?,
            socket: &self.sockets[side],
            work,
            seen: &self.seen,
            sends: side == 0,
            room: vec![0; LONGEST],
        })
    }

    /// The side `from` of a flow that it opens: it sends.
    pub(crate) fn send(&self, work: &Work<'_>) -> io::Result<()> {
        let begun = match self.sender_opens {
            true => work.starts()?,
            false => work.clock.wait_until(work.start).then_some(work.start),
        };
        let Some(begun) = begun else {
            return Ok(());
        };
        let mut end = self.end(0, self.sender_opens, work)?;
        if self.sender_opens {
            end.host.open(work.clock.now());
        }
        let mut source = Source::new(work.application, work.seed, work.name);
        // Who calls talks once the connection is there, and so does who waits for the other side's
        // look-up.
        let waits =
            work.application.sends_datagrams() || (!self.sender_opens && work.names.is_some());
        let mut starts = waits.then_some(());
        if let Some(source) = source.as_mut().filter(|_| starts.is_none()) {
            source.start(begun);
        }
        match work.application {
            Application::Transfer { size } => end.host.write(size.get(), true),
            Application::Persistent => end.host.write(u64::MAX, false),
            _ => {}
        }
        let mut is_withdrawn = false;
        end.run(|host, now, news| {
            if work.stops_before(now) && !is_withdrawn {
                is_withdrawn = true;
                host.withdraw();
            }
            if host.is_acknowledged() {
                host.close(now);
                if !is_withdrawn {
                    news.push(Message::Complete(work.flow));
                }
                return Step::Done;
            }
            let mut next = work.stop.unwrap_or(Time::MAX);
            if is_withdrawn {
                return Step::Wait(Time::MAX);
            }
            if let Some(source) = &mut source {
                if host.may_send() && starts.take().is_some() {
                    source.start(now);
                }
                while source.next() <= now {
                    if !source.sends(source.next()) {
                        continue;
                    }
                    let bytes = packet_size(work.application);
                    if let Some(mut deadline) = work.gauges.deadline() {
                        deadline.sent(now);
                    }
                    match work.application.sends_datagrams() {
                        true => host.send_datagram(bytes - u64::from(IP_HEADERS)),
                        false => host.write(bytes, false),
                    }
                }
                next = next.min(source.next());
            }
            Step::Wait(next)
        })
    }

    /// The side `to` of a flow that `from` opens: it reads.
    pub(crate) fn receive(&self, work: &Work<'_>) -> io::Result<()> {
        let mut end = self.end(1, !self.sender_opens, work)?;
        if !self.sender_opens {
            if work.starts()?.is_none() {
                return Ok(());
            }
            end.host.open(work.clock.now());
        }
        end.run(|host, now, _| {
            while let Some(number) = host.take_datagram() {
                if let Some(mut deadline) = work.gauges.deadline() {
                    deadline.arrived(now, number);
                }
            }
            Step::Wait(Time::MAX)
        })
    }

    /// The side `from` of exchanges: it answers those that come through `asked` when their requests
    /// have arrived.
    pub(crate) fn answer(
        &self,
        work: &Work<'_>,
        asked: &Receiver<Vec<Exchange>>,
    ) -> io::Result<()> {
        // By their numbers, in the order in which they are asked.
        let mut due: Vec<Exchange> = Vec::new();
        self.end(0, false, work)?.run(|host, _, _| {
            // What is asked for is known here before its request arrives.
            due.extend(asked.try_iter().flatten());
            let of = |number: u64| due.get(usize::try_from(number).ok()?);
            while let Some(exchange) = host.requested().and_then(of) {
                host.answer_urgently(exchange.response.get(), exchange.urgency);
            }
            Step::Wait(Time::MAX)
        })
    }

    /// The side `to` of exchanges: it asks.
    pub(crate) fn ask(&self, work: &Work<'_>, batches: &Sender<Vec<Exchange>>) -> io::Result<()> {
        let Some(mut requester) = Requester::new(work.application, work.seed, work.name) else {
            return Ok(());
        };
        if work.starts()?.is_none() {
            return Ok(());
        }
        let mut end = self.end(1, true, work)?;
        end.host.open(work.clock.now());
        // How many were asked before the last batch, and those that it has.
        let (mut before, mut asked) = (0, 0);
        // When to ask; `None` until the responses are here.
        let mut next = Some(work.start);
        end.run(|host, now, news| {
            while let Some(number) = host.responded() {
                let place = usize::try_from(number.saturating_sub(before)).unwrap_or(usize::MAX);
                let Some(follows) = requester.arrived(now, place) else {
                    continue;
                };
                news.push(Message::Reports {
                    flow: work.flow,
                    report: requester.report(now),
                    last: follows == Next::Done,
                });
                match follows {
                    Next::At(at) => next = Some(at),
                    Next::Done => {
                        host.close(now);
                        return Step::Done;
                    }
                }
            }
            match next {
                None => Step::Wait(Time::MAX),
                Some(at) if work.stops_before(at) => Step::Done,
                Some(at) if at > now => Step::Wait(at),
                Some(_) => {
                    // The time of the first counts from the start of the flow.
                    let first = asked == 0;
                    let batch = requester.request(if first { work.start } else { now });
                    before += asked;
                    asked = batch.len() as u64;
                    for exchange in &batch {
                        host.ask(exchange.request.get());
                    }
                    if batches.send(batch).is_err() {
                        return Step::Done;
                    }
                    next = None;
                    Step::Wait(Time::MAX)
                }
            }
        })
    }
}

fn packet_size(application: &Application) -> u64 {
    match application {
        Application::ConstantRate { packet_size, .. } | Application::OnOff { packet_size, .. } => {
            packet_size.get()
        }
        _ => 0,
    }
}

impl End<'_> {
    /// Runs the connection until the run is over. `step` is the application: it is called after
    /// everything that happens, and when the time that it has named has come. What it has to tell is
    /// told once this end's counts are written down: who hears that all is done looks at them.
    fn run(
        &mut self,
        mut step: impl FnMut(&mut Host, Time, &mut Vec<Message>) -> Step,
    ) -> io::Result<()> {
        let mut is_done = false;
        let mut news = Vec::new();
        while !self.work.clock.is_over() {
            let now = self.work.clock.now();
            if self.host.deadline() <= now {
                self.host.on_deadline(now);
            }
            if let Some(why) = self.host.error().filter(|_| !is_done) {
                return Err(io::Error::other(format!(
                    "the QUIC connection was lost: {why}"
                )));
            }
            let mut wake = Time::MAX;
            if !is_done {
                match step(&mut self.host, now, &mut news) {
                    Step::Wait(at) => wake = at,
                    Step::Done => is_done = true,
                }
            }
            self.transmit()?;
            self.note(now);
            for message in news.drain(..) {
                self.work.tell(message);
            }
            wake = wake.min(self.host.deadline());
            if self.wait(wake)? {
                self.receive()?;
            }
        }
        Ok(())
    }

    fn transmit(&mut self) -> io::Result<()> {
        while let Some(datagram) = self.host.transmit(self.work.clock.now()) {
            match self.socket.send(&datagram.payload) {
                Ok(_) => {}
                // A packet too many for the device: a real host loses it, too. Or the other end has
                // closed its socket, as it does when the run ends.
                Err(e) if is_lost(&e) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Waits for a packet until `at`; true if one is there.
    fn wait(&self, at: Time) -> io::Result<bool> {
        let left = std::time::Duration::from_nanos(at.since(self.work.clock.now()).as_nanos());
        let left = left.min(PATIENCE);
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: left.subsec_nanos().into(),
        };
        let mut polled = [PollFd::new(self.socket, PollFlags::IN)];
        match poll(&mut polled, Some(&timeout)) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    fn receive(&mut self) -> io::Result<()> {
        for _ in 0..AT_ONCE {
            match (&*self.socket).read(&mut self.room) {
                Ok(length) => {
                    let datagram = Datagram {
                        payload: BytesMut::from(&self.room[..length]),
                        ecn_capable: false,
                    };
                    self.host.receive(self.work.clock.now(), datagram, false);
                }
                Err(e) if socket::is_patience(&e) || is_lost(&e) => return Ok(()),
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Writes down what this end has come to.
    fn note(&self, now: Time) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match self.sends {
            true => seen.sender(now, &self.host),
            false => seen.receiver(now, &self.host, self.work.series),
        }
    }
}

/// A datagram that the kernel did not send, which a network may lose as well.
fn is_lost(error: &io::Error) -> bool {
    error.kind() == ErrorKind::ConnectionRefused || error.raw_os_error() == Some(libc::ENOBUFS)
}
