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
//! The alternative, priorities by a subscriber's virtual time, needs as little in QUIC's buffers to be
//! current and cannot put a stream that waits there before others, since quinn sorts a stream when it
//! has sent from it.

mod queue;
mod subscriber;

pub(crate) use subscriber::Subscriber;

use super::known::Knowledge;
use super::shaper::Peer;
use bentpipe_units::Rate;
use queue::Queue;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// What QUIC may have to send, as time on the link: longer than a busy machine takes to give it more.
const AHEAD: Duration = Duration::from_millis(80);
/// The same, bytes, at least.
const LEAST_AHEAD: u64 = 32 << 10;
/// Parts of that in one turn; and its limits, bytes.
const TURNS: u64 = 8;
const TURN: (u64, u64) = (8 << 10, 256 << 10);
/// Part of what leaves that is taken for headers; they are a little less.
const HEADERS: u64 = 25;
/// A sender that could send and has not for so long has nothing to send, whatever the sum says, as
/// where streams were reset; at least as long as a few packets take. A busy machine sends within that.
const QUIET: Duration = Duration::from_secs(1);
const QUIET_PACKETS: f64 = 4.0 * 1500.0;
/// Smaller packets may be acknowledgements, which say nothing of what is to be sent, bytes.
const SMALL: u64 = 200;

/// The turns of the streams of one association.
#[derive(Debug)]
pub(crate) struct Gate {
    knowledge: Arc<Knowledge>,
    peer: Arc<Peer>,
    state: Mutex<State>,
    /// Bits per second that the congestion control allows.
    allowed: AtomicU64,
    /// The other box understands whose a stream is.
    names: AtomicBool,
    /// Streams had to wait.
    waited: AtomicBool,
}

#[derive(Debug)]
struct State {
    queue: Queue<Waiter>,
    /// Bytes that QUIC has to send, those included that streams are about to give it.
    backlog: u64,
    /// Of these, what streams have a turn for and have not given it, and what they have given it since
    /// it sent last.
    granted: u64,
    written: u64,
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
    /// The turns towards `peer`, on the link of `knowledge`.
    pub(super) fn new(knowledge: &Arc<Knowledge>, peer: &Arc<Peer>) -> Arc<Gate> {
        Arc::new(Gate {
            knowledge: Arc::clone(knowledge),
            peer: Arc::clone(peer),
            state: Mutex::new(State {
                queue: Queue::default(),
                backlog: 0,
                granted: 0,
                written: 0,
                moved: Instant::now(),
                watched: false,
                full: false,
                closed: false,
            }),
            allowed: AtomicU64::new(0),
            names: AtomicBool::new(false),
            waited: AtomicBool::new(false),
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
        state.written = 0;
        state.full = false;
        state.closed = false;
        state.moved = Instant::now();
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
        self.release(state);
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
    fn rate(&self) -> Option<f64> {
        let known = self.knowledge.rate().into_iter().chain(self.peer.rate());
        let known = known.min().map(Rate::bps_f64);
        let allowed = self.allowed.load(Relaxed);
        known.or_else(|| (allowed > 0).then_some(allowed as f64))
    }

    /// What QUIC may have to send, and what of it is one turn, bytes.
    fn limits(&self) -> (u64, u64) {
        let ahead = self
            .rate()
            .map_or(0.0, |rate| rate / 8.0 * AHEAD.as_secs_f64());
        let ahead = (ahead as u64).max(LEAST_AHEAD);
        (ahead, (ahead / TURNS).clamp(TURN.0, TURN.1))
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
            state.moved = now;
            self.release(state);
        }
    }

    /// Gives turns to those that are next, while QUIC has little to send.
    fn release(self: &Arc<Gate>, mut state: MutexGuard<'_, State>) {
        let (ahead, turn) = self.limits();
        state.queue.set_credit(ahead / 2);
        let mut given = Vec::new();
        while state.closed || state.backlog < ahead {
            let Some((subscriber, waiter)) = state.queue.pop() else {
                break;
            };
            // It may have given up.
            if waiter.grant.is_closed() {
                continue;
            }
            let weight = waiter.weight;
            let turn = turn + state.queue.missed(subscriber, weight);
            let bytes = waiter.most.min(turn).max(1);
            state.queue.charge(subscriber, bytes, weight);
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
        for (to, grant) in given {
            let _ = to.send(grant);
        }
    }

    /// QUIC was given bytes without a turn.
    pub(super) fn charge(&self, subscriber: Subscriber, weight: u64, bytes: u64) {
        let mut state = self.lock();
        state.queue.charge(subscriber, bytes, weight);
        state.backlog += bytes;
        state.written += bytes;
    }

    /// QUIC was given bytes of a turn.
    fn spend(&self, bytes: u64) {
        let mut state = self.lock();
        state.granted = state.granted.saturating_sub(bytes);
        state.written += bytes;
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
        state.backlog = state.backlog.saturating_sub(bytes - bytes / HEADERS);
        state.written = 0;
        if bytes >= SMALL {
            state.moved = Instant::now();
        }
        state.full = full;
        self.release(state);
    }

    /// QUIC has to send so many bytes again.
    pub(super) fn lost(&self, bytes: u64) {
        self.lock().backlog += bytes - bytes / HEADERS;
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
        }
        self.release(state);
    }
}

/// The turn of a stream: it gives QUIC so many bytes at once, or gives the turn back.
#[derive(Debug)]
pub(crate) struct Grant {
    gate: Arc<Gate>,
    subscriber: Subscriber,
    weight: u64,
    bytes: u64,
}

impl Grant {
    fn free(gate: &Arc<Gate>, subscriber: Subscriber, weight: u64, bytes: u64) -> Grant {
        gate.lock().granted += bytes;
        gate.lock().backlog += bytes;
        Grant {
            gate: Arc::clone(gate),
            subscriber,
            weight,
            bytes,
        }
    }

    /// Bytes that it is for.
    pub(super) fn bytes(&self) -> usize {
        usize::try_from(self.bytes).unwrap_or(usize::MAX)
    }

    /// QUIC was given so many of them.
    pub(super) fn spend(&mut self, bytes: usize) {
        let bytes = self.bytes.min(bytes as u64);
        self.bytes -= bytes;
        self.gate.spend(bytes);
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.gate.refund(self.subscriber, self.weight, self.bytes);
        }
    }
}

#[cfg(test)]
mod tests;
