//! What both halves of a connection know of the way that carries it.

use super::super::budget::Kept;
use super::super::fallback::TlsEnd;
use super::super::stream::{Receiver, Sender};
use super::streams::Streams;
use crate::CloseReason;
use bytes::Bytes;
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How long ago something has passed at most on a connection that counts as one that waits for more,
/// although all that it sent is acknowledged. Those that have been idle for longer stay with QUIC: they
/// may be many, and each would need a TLS connection.
const ACTIVE: Duration = Duration::from_secs(10);
/// Pause after an attempt that failed.
const AGAIN: Duration = Duration::from_secs(1);

/// The way that carries a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// A stream of QUIC.
    Quic = 0,
    /// It is asked whether a TLS connection may.
    Moving = 1,
    /// A TLS connection; what QUIC has brought before is still read.
    Moved = 2,
}

/// The way of one connection.
#[derive(Debug)]
pub(crate) struct Route {
    /// Written while `state` is locked.
    phase: AtomicU8,
    changed: Notify,
    state: Mutex<State>,
    began: Instant,
    /// When something passed last, milliseconds after `began`.
    passed: AtomicU64,
    /// Where it is listed, and by which index.
    home: (Weak<Streams>, u64),
}

#[derive(Debug)]
struct State {
    /// What was given to QUIC, each with its offset; what is acknowledged is gone from the front.
    pieces: VecDeque<(u64, Kept)>,
    /// Bytes given to QUIC.
    sent: u64,
    /// The direction has ended after them.
    finished: bool,
    /// One of the halves has given up.
    cut: Option<CloseReason>,
    /// Nothing more comes from it.
    ended: bool,
    /// No other attempt before that.
    next: Instant,
    claimed: bool,
    /// The TLS connection, once it is known.
    end: Option<TlsEnd>,
    sender: Option<Result<Sender, CloseReason>>,
    receiver: Option<Receiver>,
    /// Offset of the first byte that the receiver brings.
    start: u64,
    /// Offset of the first byte that was given to the sender.
    from: u64,
}

/// What QUIC has not delivered.
pub(super) struct Unsent {
    /// Offset of the first byte.
    pub(super) start: u64,
    pieces: Vec<Bytes>,
    finished: bool,
}

impl Unsent {
    /// Writes it.
    pub(super) async fn write(self, sender: &mut Sender) -> Result<(), CloseReason> {
        for piece in self.pieces {
            sender.send(piece).await?;
        }
        if self.finished {
            sender.finish().await?;
        }
        Ok(())
    }
}

impl Route {
    /// The way of the stream of this index, which is QUIC at first.
    pub(super) fn new(home: &Arc<Streams>, index: u64) -> Arc<Route> {
        let now = Instant::now();
        Arc::new(Route {
            phase: AtomicU8::new(Phase::Quic as u8),
            changed: Notify::new(),
            state: Mutex::new(State {
                pieces: VecDeque::new(),
                sent: 0,
                finished: false,
                cut: None,
                ended: false,
                next: now,
                claimed: false,
                end: None,
                sender: None,
                receiver: None,
                start: 0,
                from: 0,
            }),
            began: now,
            passed: AtomicU64::new(0),
            home: (Arc::downgrade(home), index),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The way that carries it now.
    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Quic,
            1 => Phase::Moving,
            _ => Phase::Moved,
        }
    }

    fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
    }

    async fn until<T>(&self, mut found: impl FnMut(&Route) -> Option<T>) -> T {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(found) = found(self) {
                return found;
            }
            changed.await;
        }
    }

    /// Waits until it is known whether it moves, and returns true if it has.
    pub(crate) async fn settles(&self) -> bool {
        self.until(|route| match route.phase() {
            Phase::Moving => None,
            phase => Some(phase == Phase::Moved),
        })
        .await
    }

    /// Waits until it has moved.
    pub(crate) async fn moves(&self) {
        self.until(|route| (route.phase() == Phase::Moved).then_some(()))
            .await;
    }

    /// Notes what is about to be given to QUIC; false where it moves.
    pub(crate) fn note_sent(&self, piece: &Kept, length: u64) -> bool {
        let mut state = self.lock();
        if self.phase() != Phase::Quic {
            return false;
        }
        state.forget_acknowledged();
        let offset = state.sent;
        state.pieces.push_back((offset, piece.clone()));
        state.sent += length;
        drop(state);
        self.note_passed();
        true
    }

    /// Notes that the direction is about to end; false where it moves.
    pub(crate) fn note_finished(&self) -> bool {
        let mut state = self.lock();
        let here = self.phase() == Phase::Quic;
        state.finished |= here;
        here
    }

    /// Notes that something has passed.
    pub(crate) fn note_passed(&self) {
        let after = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.passed.store(after, Ordering::Relaxed);
    }

    /// Notes that nothing more comes over QUIC.
    pub(crate) fn note_ended(&self) {
        self.lock().ended = true;
    }

    /// One half has given up: it does not move any more, and what nobody has taken of a TLS
    /// connection is cut.
    pub(crate) fn give_up(&self, why: CloseReason) {
        let (sender, receiver) = {
            let mut state = self.lock();
            state.cut.get_or_insert(why);
            (state.sender.take(), state.receiver.take())
        };
        if let Some(Ok(mut sender)) = sender {
            sender.cut(why);
        }
        if let Some(mut receiver) = receiver {
            receiver.stop(why);
        }
        self.changed.notify_waiters();
    }

    /// At the terminal: claims a connection that waits for what QUIC does not bring.
    pub(super) fn claim(&self, now: Instant) -> bool {
        let mut state = self.lock();
        state.forget_acknowledged();
        let passed = self.began + Duration::from_millis(self.passed.load(Ordering::Relaxed));
        let active = now.saturating_duration_since(passed) < ACTIVE;
        let waits = !state.pieces.is_empty() || active;
        let here = self.phase() == Phase::Quic && state.cut.is_none() && !state.ended;
        let claims = here && waits && !state.claimed && now >= state.next;
        state.claimed |= claims;
        claims
    }

    /// Whether it would be claimed.
    pub(super) fn waits(&self, now: Instant) -> bool {
        let claims = self.claim(now);
        if claims {
            self.lock().claimed = false;
        }
        claims
    }

    /// Gives a claim up, for a while.
    pub(super) fn release(&self) {
        let mut state = self.lock();
        state.claimed = false;
        state.next = Instant::now() + AGAIN;
    }

    /// Begins to move: from now on nothing more is given to QUIC. `None` where it cannot.
    pub(super) fn begin(&self) -> Option<Unsent> {
        let mut state = self.lock();
        if self.phase() != Phase::Quic || state.cut.is_some() {
            return None;
        }
        state.forget_acknowledged();
        // One that is acknowledged at this moment, in another thread, is at the front.
        let pieces = state.pieces.iter();
        let pieces = pieces.filter_map(|(at, kept)| Some((*at, kept.bytes()?)));
        let pieces: Vec<(u64, Bytes)> = pieces.collect();
        let unsent = Unsent {
            start: pieces.first().map_or(state.sent, |(at, _)| *at),
            pieces: pieces.into_iter().map(|(_, bytes)| bytes).collect(),
            finished: state.finished,
        };
        state.from = unsent.start;
        self.enter(Phase::Moving);
        Some(unsent)
    }

    /// It stays with QUIC.
    pub(super) fn stays(&self) {
        self.release();
        let state = self.lock();
        self.enter(Phase::Quic);
        drop(state);
        self.changed.notify_waiters();
    }

    /// The other box goes on: what it sends comes out of `receiver`, from offset `start` on.
    pub(super) fn receives(&self, mut receiver: Receiver, start: u64) {
        let unread = {
            let mut state = self.lock();
            state.end = receiver.end();
            state.start = start;
            let over = state.ended;
            let unread = if let Some(why) = state.cut {
                receiver.stop(why);
                None
            } else if over {
                Some(receiver)
            } else {
                state.receiver = Some(receiver);
                None
            };
            self.enter(Phase::Moved);
            unread
        };
        self.changed.notify_waiters();
        if let Some(mut receiver) = unread {
            // QUIC has brought all of it before, and the end of the connection waits for it.
            tokio::spawn(async move { while let Ok(Some(_)) = receiver.receive(1 << 16).await {} });
        }
    }

    /// All that was given to QUIC is written to `sender`, or why it could not be.
    pub(super) fn sends(&self, sender: Result<Sender, CloseReason>) {
        let mut state = self.lock();
        match (state.cut, sender) {
            (Some(why), Ok(mut sender)) => sender.cut(why),
            (_, sender) => state.sender = Some(sender),
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Waits for what takes the place of a sender that has moved; true with it where the other box may
    /// have to read some of what QUIC has brought.
    pub(crate) async fn sender(&self) -> Result<(Sender, bool), CloseReason> {
        self.until(|route| {
            let mut state = route.lock();
            let cut = state.cut.map(Err);
            let needed = state.from > 0;
            let sender = state.sender.take().or(cut)?;
            Some(sender.map(|sender| (sender, needed)))
        })
        .await
    }

    /// What takes the place of a receiver that has moved and received so many bytes; otherwise, how
    /// many bytes QUIC has yet to bring.
    pub(crate) fn receiver(&self, received: u64) -> Result<Option<Receiver>, u64> {
        let mut state = self.lock();
        match state.start.checked_sub(received) {
            Some(missing @ 1..) => Err(missing),
            _ => Ok(state.receiver.take()),
        }
    }

    /// Offset of the first byte that the TLS connection brings.
    pub(crate) fn start(&self) -> u64 {
        self.lock().start
    }

    /// The end of the TLS connection, where it has moved.
    pub(crate) fn end(&self) -> Option<TlsEnd> {
        self.lock().end.clone()
    }
}

impl State {
    /// QUIC drops what is acknowledged, from the front on.
    fn forget_acknowledged(&mut self) {
        while self.pieces.front().is_some_and(|(_, kept)| kept.is_gone()) {
            self.pieces.pop_front();
        }
    }
}

impl Drop for Route {
    fn drop(&mut self) {
        if let Some(home) = self.home.0.upgrade() {
            home.forget(self.home.1);
        }
    }
}
