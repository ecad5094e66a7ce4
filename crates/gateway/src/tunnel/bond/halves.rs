//! The two halves of a bonded connection, as the relay uses them.

use super::Bond;
use crate::CloseReason;
use crate::config::Urgency;
use crate::tunnel::sharing::Subscriber;
use crate::usage::Member;
use bytes::Bytes;
use std::sync::Arc;

/// The sending half.
#[derive(Debug)]
pub(crate) struct BondSender(pub(super) Arc<Bond>);

/// How the sending direction ends.
#[derive(Debug)]
pub(crate) struct BondEnd(Arc<Bond>);

/// The receiving half.
#[derive(Debug)]
pub(crate) struct BondReceiver(pub(super) Arc<Bond>);

impl BondSender {
    /// Waits until the subflows can use more, and returns how many bytes, at least 1.
    pub(crate) async fn room(&self) -> usize {
        self.0
            .until(|state| {
                let is_over = state.failed.is_some() || state.stopped.is_some();
                let room = state.room();
                (room > 0 || is_over).then(|| usize::try_from(room.max(1)).unwrap_or(usize::MAX))
            })
            .await
    }

    /// Adds bytes at its end; `hold` counts them as held until they have arrived.
    ///
    /// # Errors
    /// Why the other end wants no more, or that the connection is lost.
    pub(crate) fn send(&self, bytes: Bytes, hold: Bytes) -> Result<(), CloseReason> {
        self.0.change(|state| {
            if let Some(why) = state.failed.or(state.stopped) {
                return Err(why);
            }
            state.outgoing.push(bytes, hold);
            state.wake_all();
            Ok(())
        })
    }

    /// Ends it after what was sent.
    ///
    /// # Errors
    /// As [`BondSender::send`].
    pub(crate) fn finish(&self) -> Result<(), CloseReason> {
        self.0.change(|state| {
            if let Some(why) = state.failed.or(state.stopped) {
                return Err(why);
            }
            state.outgoing.finish();
            state.wake_all();
            Ok(())
        })
    }

    /// Cuts it.
    pub(crate) fn cut(&self, why: CloseReason) {
        self.0.change(|state| state.cut(why));
    }

    /// Whose it is, and how urgent.
    pub(crate) fn classify(&self, urgency: Urgency, subscriber: Subscriber, of: &Arc<Member>) {
        self.0.classify(urgency, subscriber, of);
    }

    /// At the hub: its request has been read.
    pub(crate) fn note_served(&self) {
        self.0.note_served();
    }

    /// What tells how it ends.
    pub(crate) fn end(&self) -> BondEnd {
        BondEnd(Arc::clone(&self.0))
    }
}

impl BondEnd {
    /// Completes when the other end wants no more, or the connection is lost, with the reason; after a
    /// clean end never.
    pub(crate) async fn stopped(self) -> CloseReason {
        self.0.until(|state| state.failed.or(state.stopped)).await
    }

    /// After the end of both directions: waits until the other box has all, or cannot get it, with the
    /// reason.
    pub(crate) async fn delivered(self) -> Option<CloseReason> {
        self.0
            .until(|state| match state.failed.or(state.stopped) {
                Some(why) => Some(Some(why)),
                None => state.outgoing.is_complete().then_some(None),
            })
            .await
    }
}

impl BondReceiver {
    /// The next bytes, at most `most`; `None` after the end. It may be dropped at any time and loses
    /// nothing.
    ///
    /// # Errors
    /// Why the other end cut it, or that the connection is lost.
    pub(crate) async fn receive(&self, most: usize) -> Result<Option<Bytes>, CloseReason> {
        loop {
            let arrived = self.0.arrived.notified();
            let next = self.0.change(|state| {
                if let Some(why) = state.reset {
                    return Some(Err(why));
                }
                if let Some(bytes) = state.receive(most) {
                    return Some(Ok(Some(bytes)));
                }
                if state.incoming.is_taken() {
                    return Some(Ok(None));
                }
                state.failed.map(Err)
            });
            if let Some(next) = next {
                return next;
            }
            arrived.await;
        }
    }

    /// Wants no more of it.
    pub(crate) fn stop(&self, why: CloseReason) {
        self.0.change(|state| state.stop(why));
    }

    /// Bytes that may be held of it, and arrive, before it is read.
    pub(crate) fn behind(&self) -> u64 {
        self.0.lock().incoming.allowed()
    }

    /// Whether it has ended, or is lost.
    pub(crate) fn has_ended(&self) -> bool {
        let state = self.0.lock();
        state.has_arrived() || state.failed.is_some()
    }
}

impl Drop for BondReceiver {
    fn drop(&mut self) {
        // Without effect where all has arrived.
        self.stop(CloseReason::Failed);
    }
}

impl Bond {
    /// Waits until `found` finds something.
    async fn until<T>(&self, found: impl Fn(&super::state::State) -> Option<T>) -> T {
        loop {
            let moved = self.moved.notified();
            let mut moved = std::pin::pin!(moved);
            // A change between the look and the wait counts.
            moved.as_mut().enable();
            if let Some(found) = found(&self.lock()) {
                return found;
            }
            moved.await;
        }
    }
}
