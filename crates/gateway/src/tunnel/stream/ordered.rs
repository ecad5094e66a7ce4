//! A stream of QUIC that is read as it arrives, and put in order here.
//!
//! quinn-proto keeps what is read in order, and closes the connection, with all streams in it, when one
//! of them has more than 1024 gaps: a fade that nobody reports leaves so many on a fast path of a long
//! delay. What is read without order is given credit for although a gap before it is open, so that
//! QUIC's window of the stream does not bound what is held behind gaps. This does:
//! - The other box keeps what it has sent from the first byte on that is not acknowledged, at most a
//!   window of a stream ([`Account::has_room`](crate::tunnel::budget::Account::has_room)), and the
//!   first gap is not acknowledged.
//! - Whatever the other box does, it is counted with all that is held for hosts, so that the window
//!   that the association's streams share shrinks by as much.
//! - A stream that holds more than a window and gets nothing for its first gap goes, when memory is
//!   short, as one does whose host reads nothing.
//!
//! A stream whose host takes nothing is read on only while it is known to have gaps, since whatever is
//! read lets the other box send more. What is lost of the last window of such a stream, sent when no gap
//! was known, may still be too much for quinn-proto: more than 1024 gaps among more than 2048 parts,
//! which a window of 6 MB holds if half of it is lost.

use super::receiver::of_read;
use crate::CloseReason;
use crate::tunnel::budget::{Budget, Stall};
use bentpipe_quic::arrived::Arrived;
use bytes::Bytes;
use quinn::{Chunk, ReadError, RecvStream};
use std::sync::Arc;

/// Bytes that are held before the budget knows of them, and between two notes to it.
const NOTED: u64 = 64 * 1024;

/// Memory of a part besides its bytes: those of a peer that sends many small ones count, too.
const PART: u64 = 128;

/// What of a stream has arrived and was not read.
#[derive(Debug, Default)]
pub(super) struct Ordered {
    arrived: Arrived<Bytes>,
    /// The rest of a part that was read.
    rest: Bytes,
    /// How the stream ended, once that is known.
    end: Option<Result<(), CloseReason>>,
    account: Option<Stall>,
    /// Bytes that the budget knows of.
    noted: u64,
    /// Offset of the first gap when the stream began to hold more than a window.
    stuck: Option<u64>,
}

impl Ordered {
    /// Bytes are missing before some that have arrived.
    pub(super) fn has_gaps(&self) -> bool {
        self.arrived.has_gaps()
    }

    /// The next bytes in order, at most `most`; `None` at the end of the stream. It may be dropped at
    /// any time and loses nothing.
    ///
    /// # Errors
    /// Why the other end cut it, that the association is lost, or that memory is short.
    pub(super) async fn read(
        &mut self,
        stream: &mut RecvStream,
        most: usize,
        budget: Option<&Arc<Budget>>,
    ) -> Result<Option<Bytes>, CloseReason> {
        loop {
            if self.rest.is_empty()
                && let Some(part) = self.arrived.take()
            {
                self.rest = part;
                self.note(budget);
            }
            if !self.rest.is_empty() {
                let most = most.min(self.rest.len());
                return Ok(Some(self.rest.split_to(most)));
            }
            if let Some(end) = self.end {
                return end.map(|()| None);
            }
            self.fill(stream, budget).await;
        }
    }

    /// Takes what arrives next out of QUIC's buffers, wherever it belongs. It may be dropped at any
    /// time.
    pub(super) async fn fill(&mut self, stream: &mut RecvStream, budget: Option<&Arc<Budget>>) {
        if self.end.is_some() {
            return std::future::pending().await;
        }
        let read = match &self.account {
            None => stream.read_chunk(usize::MAX, false).await,
            Some(account) => tokio::select! {
                biased;
                () = account.is_cut() => {
                    self.end = Some(Err(CloseReason::Limit));
                    return;
                }
                read = stream.read_chunk(usize::MAX, false) => read,
            },
        };
        self.insert(read);
        self.note(budget);
    }

    fn insert(&mut self, read: Result<Option<Chunk>, ReadError>) {
        match read {
            Ok(Some(Chunk { offset, bytes })) => {
                // A part of a datagram keeps all those that were received with it.
                let waits = offset > self.arrived.next();
                let bytes = if waits {
                    Bytes::copy_from_slice(&bytes)
                } else {
                    bytes
                };
                self.arrived.insert(offset, bytes);
            }
            // A cut stream of quinn reports that once, and afterwards a clean end.
            Ok(None) => self.end = Some(Ok(())),
            Err(error) => self.end = Some(Err(of_read(&error))),
        }
    }

    /// Lets the budget know what is held, and whether the stream gets on.
    fn note(&mut self, budget: Option<&Arc<Budget>>) {
        let held = self.arrived.held();
        let Some(budget) = budget else { return };
        if held == 0 {
            // Without one, nothing is counted.
            self.account = None;
            (self.noted, self.stuck) = (0, None);
            return;
        }
        let gap = self.arrived.next();
        let memory = held + PART * self.arrived.parts() as u64;
        if memory.abs_diff(self.noted) >= NOTED {
            self.noted = memory;
            self.account
                .get_or_insert_with(|| budget.stall())
                .holds(memory, 0);
        }
        let Some(account) = &mut self.account else {
            return;
        };
        let stuck = (held > budget.stream_window()).then_some(gap);
        if stuck != self.stuck {
            match stuck {
                Some(_) => account.begins(),
                None => account.moves(),
            }
            self.stuck = stuck;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunnel::budget::Budget;

    fn chunk(offset: u64, length: usize) -> Result<Option<Chunk>, ReadError> {
        let bytes = Bytes::from(vec![7; length]);
        Ok(Some(Chunk { offset, bytes }))
    }

    #[test]
    fn what_is_behind_a_gap_is_counted_until_the_gap_is_filled() {
        let budget = Budget::new(10 << 20, 10 << 20, 1 << 20);
        let mut ordered = Ordered::default();
        let mut insert = |offset, length| {
            ordered.insert(chunk(offset, length));
            while let Some(part) = ordered.arrived.take() {
                ordered.rest = part;
            }
            ordered.note(Some(&budget));
            ordered.has_gaps()
        };
        assert!(!insert(0, 1000));
        assert!(insert(2000, 100_000));
        assert_eq!((budget.held(), budget.stalled()), (100_000 + PART, 0));
        // More than a window waits for the first gap.
        assert!(insert(200_000, 1 << 20));
        assert_eq!(budget.held(), 100_000 + (1 << 20) + 2 * PART);
        assert_eq!(budget.stalled(), 1);
        assert!(insert(1000, 1000));
        assert_eq!((budget.held(), budget.stalled()), ((1 << 20) + PART, 0));
        assert!(!insert(102_000, 98_000));
        assert_eq!((budget.held(), budget.stalled()), (0, 0));
    }

    #[test]
    fn the_end_comes_after_what_arrived_before_it() {
        let mut ordered = Ordered::default();
        ordered.insert(chunk(0, 10));
        ordered.insert(Ok(None));
        assert_eq!(ordered.end, Some(Ok(())));
        assert_eq!(ordered.arrived.take().map(|it| it.len()), Some(10));
    }
}
