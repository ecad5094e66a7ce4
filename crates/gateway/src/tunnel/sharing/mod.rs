//! How the streams of an association share it: subscribers first, their connections second.
//!
//! A subscriber is a client's network ([`Subscriber`]): fifty connections of one get no more than one
//! connection of another. Within a subscriber's part, connections go by the class of their port, the
//! first 64 KiB of each before its rest, and equally otherwise ([`queue`], where the order is
//! computed). Terminals of one hub share its rate before that, an association each
//! ([`super::shaper`]).
//!
//! QUIC sends what it was given in an order of its own: the streams of the highest priority, a packet
//! each. It therefore gets little more than it can send: a stream waits for its turn before it reads
//! from its TCP connection, where data waits in the kernel and its sender is slowed down, and turns are
//! given while QUIC has less to send than the link takes in [`AHEAD`]. What QUIC has to send is what it
//! was given, less what has left, and what was lost again. Only quinn knows it exactly; it says when
//! there is nothing, and until then the headers of what has left are taken for a little more than they
//! are, so that the sum errs to the side on which the link is idle for a moment and no queue grows.
//!
//! Datagrams, which carry the clients' UDP, wait here by flow and are a part of what their
//! subscriber has. quinn sends them before data of streams, so those that have their turn leave at once;
//! few are given to it at a time, so that the next one's turn comes soon.
//!
//! The alternative, priorities by a subscriber's virtual time, needs as little in QUIC's buffers to be
//! current and cannot put a stream that waits there before others, since quinn sorts a stream when it
//! has sent from it.

mod datagram;
mod grant;
mod subscriber;

pub(crate) use datagram::Datagram;
pub(crate) use grant::Grant;
pub(crate) use subscriber::Subscriber;

use super::coding::Coding;
use super::known::Knowledge;
use super::shaper::Peer;
use bentpipe_quic::turns::{self, AHEAD, HEADERS, LEAVING, Next, Queue, Side};
use bentpipe_units::{Rate, Ratio};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, oneshot};

/// A sender that could send and has not for so long has nothing to send, whatever the sum says, as
/// where streams were reset; at least as long as a few packets take. A busy machine sends within that.
const QUIET: Duration = Duration::from_secs(1);
const QUIET_PACKETS: f64 = 4.0 * 1500.0;
/// Bytes after which what remains of the sum says little of whether there is something to send.
const FEW: u64 = 256 << 10;
/// Smaller packets may be acknowledgements, which say nothing of what is to be sent, bytes.
const SMALL: u64 = 200;
/// Bytes after which older ones count half for which part of what is lost was data of streams.
const REMEMBERED: u64 = 1 << 20;

/// The turns of the streams of one association.
#[derive(Debug)]
pub(crate) struct Gate {
    knowledge: Arc<Knowledge>,
    peer: Arc<Peer>,
    coding: Arc<Coding>,
    state: Mutex<State>,
    /// Bits per second that the congestion control allows.
    allowed: AtomicU64,
    /// The other box understands whose a stream is.
    names: AtomicBool,
    /// Streams had to wait.
    waited: AtomicBool,
    /// Datagrams are about to leave.
    leaving: Notify,
    /// Datagrams that were dropped since they were asked for.
    dropped: AtomicU64,
}

#[derive(Debug)]
struct State {
    queue: Queue<Subscriber, Waiter, Datagram>,
    /// Bytes that QUIC has to send, those included that streams are about to give it.
    backlog: u64,
    /// Of these, what streams have a turn for and have not given it, and what they have given it since
    /// it sent last.
    granted: u64,
    written: u64,
    /// What it has sent since it was known to have nothing more.
    since: u64,
    /// Datagrams whose turn it is, and their bytes.
    outbox: VecDeque<Datagram>,
    outbox_bytes: usize,
    /// What QUIC was given of streams and of datagrams; older bytes count less.
    given: [u64; 2],
    /// When data was sent last, or could be sent again.
    moved: Instant,
    /// Somebody looks whether that is long ago.
    watched: bool,
    /// The window is full, so that nothing can be sent.
    full: bool,
    closed: bool,
}

/// A stream that waits for its turn.
#[derive(Debug)]
struct Waiter {
    most: u64,
    weight: u64,
    grant: oneshot::Sender<Grant>,
}

impl Gate {
    /// The turns towards `peer`, on the link of `knowledge`; `datagrams` is what UDP has of a subscriber's
    /// part where its TCP wants the rest.
    pub(super) fn new(knowledge: &Arc<Knowledge>, peer: &Arc<Peer>, datagrams: Ratio) -> Arc<Gate> {
        let mut queue = Queue::default();
        queue.set_datagrams((datagrams.get() * 100.0).round() as u64);
        Arc::new(Gate {
            knowledge: Arc::clone(knowledge),
            peer: Arc::clone(peer),
            coding: Coding::new(knowledge.shaper().paths()),
            state: Mutex::new(State {
                queue,
                backlog: 0,
                granted: 0,
                written: 0,
                since: 0,
                outbox: VecDeque::new(),
                outbox_bytes: 0,
                given: [0; 2],
                moved: Instant::now(),
                watched: false,
                full: false,
                closed: false,
            }),
            allowed: AtomicU64::new(0),
            names: AtomicBool::new(false),
            waited: AtomicBool::new(false),
            leaving: Notify::new(),
            dropped: AtomicU64::new(0),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins anew, for another association; `names` where the other box understands whose a stream is.
    pub(super) fn open(&self, names: bool) {
        self.names.store(names, Relaxed);
        let mut state = self.lock();
        state.backlog = state.granted;
        (state.written, state.since) = (0, 0);
        state.full = false;
        state.closed = false;
        state.moved = Instant::now();
    }

    /// The place in the shaper of what is sent.
    pub(super) const fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// The code of what is sent last.
    pub(super) const fn coding(&self) -> &Arc<Coding> {
        &self.coding
    }

    /// True where QUIC may have nothing to send.
    pub(super) fn is_idle(&self) -> bool {
        let state = self.lock();
        let most = match state.since {
            // All of it may be headers that were taken for data.
            since @ 0..=FEW => since / HEADERS,
            _ => 0,
        };
        let left = state.backlog.saturating_sub(state.granted);
        !state.full && left <= most && state.queue.is_empty()
    }

    /// Holds what is sent to a part of the rate, whatever it is at the time; `None` does not.
    pub(super) fn limit(&self, part: Option<f64>) {
        let rate = part.and_then(|part| {
            let rate = self.knowledge.rate()?;
            Some(Rate::from_bps_f64(rate.bps_f64() * part))
        });
        self.peer.set_part(rate);
    }

    /// The association is lost: nobody waits any more.
    pub(super) fn close(self: &Arc<Gate>) {
        let mut state = self.lock();
        state.closed = true;
        let left = std::mem::take(&mut state.outbox).len() as u64;
        state.outbox_bytes = 0;
        self.dropped.fetch_add(left, Relaxed);
        self.release(state);
    }

    /// A datagram of a flow of this subscriber waits for its turn. It may be dropped, now or later: see
    /// [`Gate::take_dropped`].
    pub(crate) fn push(self: &Arc<Gate>, subscriber: Subscriber, flow: u32, datagram: Datagram) {
        let length = datagram.bytes.len();
        let mut state = self.lock();
        let now = Instant::now();
        let queue = &mut state.queue;
        let dropped = queue.push_datagram(subscriber, flow, datagram, length, now);
        self.dropped.fetch_add(dropped, Relaxed);
        self.release(state);
        if !self.lock().queue.is_empty() {
            self.watch();
        }
    }

    /// Waits for the next datagram that is to be given to QUIC.
    pub(crate) async fn leaving(self: &Arc<Gate>) -> Datagram {
        loop {
            let leaving = self.leaving.notified();
            {
                let mut state = self.lock();
                if let Some(datagram) = state.outbox.pop_front() {
                    state.outbox_bytes -= datagram.bytes.len();
                    self.release(state);
                    return datagram;
                }
            }
            leaving.await;
        }
    }

    /// A datagram that was to leave has not been given to QUIC.
    pub(crate) fn unsent(self: &Arc<Gate>, bytes: u64) {
        let mut state = self.lock();
        state.backlog = state.backlog.saturating_sub(bytes);
        state.written = state.written.saturating_sub(bytes);
        let given = &mut state.given[Side::Datagrams as usize];
        *given = given.saturating_sub(bytes);
        self.release(state);
    }

    /// Datagrams that were dropped since the last call, for want of room or by the link's congestion.
    pub(crate) fn take_dropped(&self) -> u64 {
        self.dropped.swap(0, Relaxed)
    }

    /// Whether the other box understands whose a stream is.
    pub(super) fn names(&self) -> bool {
        self.names.load(Relaxed)
    }

    /// Whether streams had to wait since the last call.
    pub(super) fn waited(&self) -> bool {
        self.waited.swap(false, Relaxed)
    }

    /// The rate at which QUIC sends, as far as that is known.
    pub(super) fn rate(&self) -> Option<f64> {
        let known = self.knowledge.rate().into_iter().chain(self.peer.rate());
        let known = known.min().map(Rate::bps_f64);
        let allowed = self.allowed.load(Relaxed);
        known.or_else(|| (allowed > 0).then_some(allowed as f64))
    }

    /// Bytes that QUIC has to send. What streams have a turn for does not count: who has one must not
    /// find this way slower for that, and give the turn back.
    pub(super) fn backlog(&self) -> u64 {
        let state = self.lock();
        state.backlog.saturating_sub(state.granted)
    }

    /// What QUIC may have to send, and what of it is one turn, bytes.
    fn limits(&self) -> (u64, u64) {
        let ahead = self
            .rate()
            .map_or(0.0, |rate| rate / 8.0 * AHEAD.as_secs_f64());
        turns::ahead(ahead as u64)
    }

    /// Waits for a turn of a stream of `subscriber`, for at most so many bytes.
    pub(super) async fn turn(
        self: &Arc<Gate>,
        subscriber: Subscriber,
        weight: u64,
        rank: usize,
        most: usize,
    ) -> Grant {
        let (sender, mut receiver) = oneshot::channel();
        {
            let mut state = self.lock();
            let waiter = Waiter {
                most: most as u64,
                weight,
                grant: sender,
            };
            state.queue.push(subscriber, rank, waiter);
            self.release(state);
        }
        if receiver.is_empty() {
            self.waited.store(true, Relaxed);
            self.watch();
        }
        // The queue keeps the other end until it has answered.
        let grant = (&mut receiver).await;
        grant.unwrap_or_else(|_| Grant::free(self, subscriber, weight, most as u64))
    }

    /// Looks, while streams wait, whether QUIC has nothing to send.
    fn watch(self: &Arc<Gate>) {
        if std::mem::replace(&mut self.lock().watched, true) {
            return;
        }
        let gate = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(QUIET / 2).await;
                let Some(gate) = gate.upgrade() else { return };
                gate.look(Instant::now());
                let mut state = gate.lock();
                if state.queue.is_empty() {
                    state.watched = false;
                    return;
                }
            }
        });
    }

    /// Finds that QUIC has nothing to send.
    fn look(self: &Arc<Gate>, now: Instant) {
        let quiet = match self.rate() {
            Some(rate) => {
                let packets = QUIET_PACKETS * 8.0 / rate.max(8.0);
                QUIET.max(Duration::from_secs_f64(packets.min(60.0)))
            }
            None => QUIET,
        };
        let mut state = self.lock();
        if !state.full && now.saturating_duration_since(state.moved) >= quiet {
            state.backlog = state.granted;
            state.since = 0;
            state.moved = now;
            self.release(state);
        }
    }

    /// Gives turns to those that are next, while QUIC has little to send.
    fn release(self: &Arc<Gate>, mut state: MutexGuard<'_, State>) {
        let (ahead, turn) = self.limits();
        state.queue.set_credit(ahead / 2);
        let mut given = Vec::new();
        let (now, rtt, mut dropped) = (Instant::now(), self.knowledge.rtt(), 0);
        // While datagrams leave the link is busy, and who is next waits.
        while state.closed || (state.backlog < ahead && (state.outbox_bytes as u64) < LEAVING) {
            let Some((subscriber, next)) = state.queue.pop(now, rtt, &mut dropped) else {
                break;
            };
            let waiter = match next {
                Next::Stream(waiter) => waiter,
                Next::Datagram(_) if state.closed => {
                    dropped += 1;
                    continue;
                }
                Next::Datagram(datagram) => {
                    state.leave(subscriber, datagram);
                    self.leaving.notify_one();
                    continue;
                }
            };
            // It may have given up.
            if waiter.grant.is_closed() {
                continue;
            }
            let weight = waiter.weight;
            let turn = turn + state.queue.missed(subscriber, weight);
            let bytes = waiter.most.min(turn).max(1);
            let side = Side::Streams;
            state.queue.charge(subscriber, side, bytes, weight);
            state.backlog += bytes;
            state.granted += bytes;
            let grant = Grant {
                gate: Arc::clone(self),
                subscriber,
                weight,
                bytes,
            };
            given.push((waiter.grant, grant));
        }
        // A grant that nobody takes is given back, which locks.
        drop(state);
        self.dropped.fetch_add(dropped, Relaxed);
        for (to, grant) in given {
            let _ = to.send(grant);
        }
    }

    /// QUIC was given bytes without a turn.
    pub(super) fn charge(&self, subscriber: Subscriber, weight: u64, bytes: u64) {
        let mut state = self.lock();
        let side = Side::Streams;
        state.queue.charge(subscriber, side, bytes, weight);
        state.backlog += bytes;
        state.give(Side::Streams, bytes);
    }

    /// QUIC was given bytes of a turn.
    fn spend(&self, bytes: u64) {
        let mut state = self.lock();
        state.granted = state.granted.saturating_sub(bytes);
        state.give(Side::Streams, bytes);
    }

    fn refund(self: &Arc<Gate>, subscriber: Subscriber, weight: u64, bytes: u64) {
        let mut state = self.lock();
        state.queue.refund(subscriber, bytes, weight);
        state.granted = state.granted.saturating_sub(bytes);
        state.backlog = state.backlog.saturating_sub(bytes);
        self.release(state);
    }

    /// QUIC has sent packets of so many bytes; `full` where it may send no more.
    pub(super) fn sent(self: &Arc<Gate>, bytes: u64, full: bool) {
        let mut state = self.lock();
        if bytes >= SMALL || state.written > 0 || state.backlog > state.granted {
            self.coding.note_carries();
        }
        state.backlog = state.backlog.saturating_sub(bytes - bytes / HEADERS);
        state.written = 0;
        state.since += bytes;
        if bytes >= SMALL {
            state.moved = Instant::now();
        }
        state.full = full;
        self.release(state);
    }

    /// So many bytes were lost, of which QUIC sends those of streams again.
    pub(super) fn lost(&self, bytes: u64) {
        let mut state = self.lock();
        let [streams, datagrams] = state.given;
        let again = match streams + datagrams {
            0 => bytes,
            all => (u128::from(bytes) * u128::from(streams) / u128::from(all)) as u64,
        };
        state.backlog += again - again / HEADERS;
    }

    /// Packets were acknowledged; `drained` where QUIC had nothing to send when it was asked last, and `allowed` what
    /// the congestion control allows.
    pub(super) fn acknowledged(self: &Arc<Gate>, full: bool, drained: bool, allowed: Option<Rate>) {
        if let Some(allowed) = allowed {
            self.allowed.store(allowed.bps(), Relaxed);
        }
        let mut state = self.lock();
        if state.full != full {
            state.moved = Instant::now();
        }
        state.full = full;
        if drained {
            state.backlog = state.granted + state.written;
            state.since = 0;
        }
        self.release(state);
    }
}

impl State {
    /// QUIC is given so many bytes.
    fn give(&mut self, side: Side, bytes: u64) {
        self.written += bytes;
        self.given[side as usize] += bytes;
        if self.given.iter().sum::<u64>() > REMEMBERED {
            self.given = self.given.map(|bytes| bytes / 2);
        }
    }

    /// It is the turn of a datagram.
    fn leave(&mut self, subscriber: Subscriber, datagram: Datagram) {
        let bytes = datagram.bytes.len() as u64;
        let side = Side::Datagrams;
        let weight = datagram.weight();
        self.queue.charge(subscriber, side, bytes, weight);
        self.backlog += bytes;
        self.outbox_bytes += datagram.bytes.len();
        self.outbox.push_back(datagram);
        // It is with QUIC as soon as the task that gives it runs.
        self.give(Side::Datagrams, bytes);
    }
}

#[cfg(test)]
mod tests;
