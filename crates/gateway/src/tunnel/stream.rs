//! One connection in the tunnel: a stream of QUIC, or its own TLS connection
//! where UDP does not pass. [`crate::relay`] knows these two types and no other.

use super::budget::{Account, Budget, Stall};
use super::fallback::{TlsReceiver, TlsSender};
use super::priority::{Rank, Ranks};
use crate::CloseReason;
use crate::config::Urgency;
use bytes::Bytes;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// The sending half. Dropped before its end, it cuts its direction: only
/// [`Sender::finish`] ends it clean.
#[derive(Debug)]
pub struct Sender {
    half: SendingHalf,
    ended: bool,
    rank: Option<Rank>,
    account: Option<Account>,
}

#[derive(Debug)]
enum SendingHalf {
    Quic(quinn::SendStream),
    Tls(TlsSender),
}

/// The receiving half of a stream.
#[derive(Debug)]
pub struct Receiver {
    half: ReceivingHalf,
    /// Bytes that arrived together with the header before them, and have not been read yet.
    ahead: Bytes,
    /// How it ended, once it has.
    end: Option<Result<(), CloseReason>>,
    budget: Option<Arc<Budget>>,
}

/// Bytes that a connection of the fallback holds beside what was received: the reader's buffer, the
/// chunks that wait, and TLS's own.
const CARRIER: u64 = 64 * 1024;

#[derive(Debug)]
enum ReceivingHalf {
    Quic(quinn::RecvStream),
    Tls(TlsReceiver),
}

impl Sender {
    pub(crate) const fn quic(stream: quinn::SendStream) -> Sender {
        Sender {
            half: SendingHalf::Quic(stream),
            ended: false,
            rank: None,
            account: None,
        }
    }

    /// Adds a place among all streams of this box.
    pub(crate) fn ranked(mut self, ranks: &Arc<Ranks>) -> Sender {
        self.rank = Some(Rank::new(Arc::clone(ranks)));
        self
    }

    /// Adds an account of the memory that it holds.
    pub(crate) fn budgeted(mut self, budget: &Arc<Budget>) -> Sender {
        self.account = Some(budget.account());
        self
    }

    /// Sets how urgent the connection is.
    pub(crate) fn classify(&mut self, urgency: Urgency) {
        if let Some(rank) = &mut self.rank {
            rank.classify(urgency);
        }
    }

    pub(crate) const fn tls(half: TlsSender) -> Sender {
        Sender {
            half: SendingHalf::Tls(half),
            ended: false,
            rank: None,
            account: None,
        }
    }

    /// Waits until there is memory for more, and returns for how many bytes, at least 1.
    pub(crate) async fn room(&self) -> usize {
        let Some(account) = &self.account else {
            return usize::MAX;
        };
        account.room().await;
        usize::try_from(account.left()).unwrap_or(usize::MAX).max(1)
    }

    /// Sends `data`; waits while the other end has no room, or this box has not.
    ///
    /// # Errors
    /// Why the other end wants no more, that the association is lost, or that the
    /// stream has to make room for others.
    pub async fn send(&mut self, data: Bytes) -> Result<(), CloseReason> {
        if let Some(account) = &self.account
            && !account.has_room()
        {
            tokio::select! {
                () = account.room() => {}
                why = self.stopped() => return Err(why),
            }
        }
        match &mut self.half {
            SendingHalf::Quic(stream) => {
                let rank = self.rank.as_mut();
                if let Some(priority) = rank.and_then(|it| it.write(data.len(), Instant::now())) {
                    // An error means that the stream has ended, as the write finds.
                    let _ = stream.set_priority(priority);
                }
                let Some(account) = &self.account else {
                    return stream.write_chunk(data).await.map_err(of_write);
                };
                let data = account.hold(data);
                stream.write_chunk(data).await.map_err(of_write)
            }
            SendingHalf::Tls(half) => {
                let data = match &self.account {
                    Some(account) => account.hold(data),
                    None => data,
                };
                half.send(data).await
            }
        }
    }

    /// Ends this direction after what was sent: a half-close.
    ///
    /// # Errors
    /// Why the other end wants no more, or that the association is lost.
    pub async fn finish(&mut self) -> Result<(), CloseReason> {
        self.ended = true;
        match &mut self.half {
            // It errs only where this end has finished or cut the stream before.
            SendingHalf::Quic(stream) => stream.finish().map_err(|_| CloseReason::Reset),
            SendingHalf::Tls(half) => half.finish().await,
        }
    }

    /// Completes when the other end wants no more of this direction, or when the
    /// association is lost, with the reason; after a clean end that the other end
    /// has acknowledged it never completes.
    pub fn stopped(&self) -> impl Future<Output = CloseReason> + Send + 'static + use<> {
        let (quic, tls) = match &self.half {
            SendingHalf::Quic(stream) => (Some(stream.stopped()), None),
            SendingHalf::Tls(half) => (None, Some(half.stopped())),
        };
        async move {
            match (quic, tls) {
                (Some(stopped), _) => match stopped.await {
                    Ok(Some(code)) => CloseReason::from_code(code.into_inner()),
                    Err(quinn::StoppedError::ConnectionLost(_)) => CloseReason::PeerGone,
                    Err(quinn::StoppedError::ZeroRttRejected) => CloseReason::Failed,
                    Ok(None) => std::future::pending().await,
                },
                (None, Some(stopped)) => stopped.await,
                (None, None) => std::future::pending().await,
            }
        }
    }

    /// After the end of both directions: waits until the other box has all that was
    /// sent, or cannot get it any more, with the reason. Over QUIC, that is the
    /// acknowledgement of the last byte; over TLS, the end of the TCP connection,
    /// which the other box ends once it has read everything.
    pub(crate) fn delivered(self) -> impl Future<Output = Option<CloseReason>> + Send + 'static {
        let (quic, tls) = match &self.half {
            SendingHalf::Quic(stream) => (Some(stream.stopped()), None),
            SendingHalf::Tls(half) => (None, Some(half.over())),
        };
        // What remains of it holds no memory and has no place among the streams.
        drop(self);
        async move {
            match (quic, tls) {
                (Some(stopped), _) => match stopped.await {
                    Ok(code) => code.map(|code| CloseReason::from_code(code.into_inner())),
                    Err(quinn::StoppedError::ConnectionLost(_)) => Some(CloseReason::PeerGone),
                    Err(quinn::StoppedError::ZeroRttRejected) => Some(CloseReason::Failed),
                },
                (None, Some(over)) => over.await,
                (None, None) => None,
            }
        }
    }

    /// Cuts this direction; what the other end has not read may be lost.
    pub fn cut(&mut self, why: CloseReason) {
        self.ended = true;
        match &mut self.half {
            // An error means that the stream has ended already.
            SendingHalf::Quic(stream) => drop(stream.reset(why.code().into())),
            SendingHalf::Tls(half) => half.cut(why),
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        // A stream of quinn that is dropped ends clean, which would make a
        // truncated download look whole.
        if !self.ended {
            self.cut(CloseReason::Failed);
        }
    }
}

fn of_read(error: &quinn::ReadError) -> CloseReason {
    match error {
        quinn::ReadError::Reset(code) => CloseReason::from_code(code.into_inner()),
        quinn::ReadError::ConnectionLost(_) => CloseReason::PeerGone,
        _ => CloseReason::Failed,
    }
}

fn of_write(error: quinn::WriteError) -> CloseReason {
    match error {
        quinn::WriteError::Stopped(code) => CloseReason::from_code(code.into_inner()),
        quinn::WriteError::ConnectionLost(_) => CloseReason::PeerGone,
        quinn::WriteError::ClosedStream | quinn::WriteError::ZeroRttRejected => CloseReason::Failed,
    }
}

impl Receiver {
    pub(crate) const fn quic(stream: quinn::RecvStream) -> Receiver {
        Receiver {
            half: ReceivingHalf::Quic(stream),
            ahead: Bytes::new(),
            end: None,
            budget: None,
        }
    }

    pub(crate) const fn tls(half: TlsReceiver) -> Receiver {
        Receiver {
            half: ReceivingHalf::Tls(half),
            ahead: Bytes::new(),
            end: None,
            budget: None,
        }
    }

    /// Counts what is held for a host that does not read.
    pub(crate) fn budgeted(mut self, budget: &Arc<Budget>) -> Receiver {
        self.budget = Some(Arc::clone(budget));
        self
    }

    /// An account for the host, which reads more slowly than its data arrives.
    pub(crate) fn stall(&self) -> Option<Stall> {
        self.budget.as_ref().map(Budget::stall)
    }

    /// True where what arrives may be taken before the host reads, so that it is counted; TCP bounds
    /// what it holds by itself.
    pub(crate) const fn takes_ahead(&self) -> bool {
        matches!(self.half, ReceivingHalf::Quic(_))
    }

    /// Bytes that may be held before [`Receiver::receive`] is called, once it is not called any
    /// more.
    pub(crate) fn behind(&self) -> u64 {
        match (&self.half, &self.budget, self.end) {
            (_, None, _) | (ReceivingHalf::Quic(_), _, Some(_)) => 0,
            (ReceivingHalf::Quic(_), Some(budget), None) => budget.stream_window(),
            (ReceivingHalf::Tls(_), ..) => CARRIER,
        }
    }

    /// True where it has ended, or the connection is lost, for all that is known
    /// without reading.
    pub(crate) fn has_ended(&self) -> bool {
        match &self.half {
            ReceivingHalf::Quic(_) => self.end.is_some(),
            ReceivingHalf::Tls(half) => half.has_ended(),
        }
    }

    /// The next bytes, at most `most`; `None` after a half-close.
    ///
    /// # Errors
    /// Why the other end cut it, or that the association is lost.
    pub async fn receive(&mut self, most: usize) -> Result<Option<Bytes>, CloseReason> {
        if !self.ahead.is_empty() {
            let most = most.min(self.ahead.len());
            return Ok(Some(self.ahead.split_to(most)));
        }
        if let Some(end) = self.end {
            return end.map(|()| None);
        }
        let next = match &mut self.half {
            ReceivingHalf::Quic(stream) => match stream.read_chunk(most, true).await {
                Ok(chunk) => Ok(chunk.map(|chunk| chunk.bytes)),
                Err(error) => Err(of_read(&error)),
            },
            ReceivingHalf::Tls(half) => half.receive(most).await,
        };
        // A cut stream of quinn reports that once, and afterwards a clean end.
        match &next {
            Ok(Some(_)) => {}
            Ok(None) => self.end = Some(Ok(())),
            Err(cut) => self.end = Some(Err(*cut)),
        }
        next
    }

    /// Moves what has arrived already to the end of `into`, at most `most` bytes in
    /// all, without waiting. The end of this direction, however it comes, is left to
    /// [`Receiver::receive`].
    pub fn more(&mut self, into: &mut Vec<Bytes>, most: usize) {
        let mut left = most;
        while left > 0 && self.end.is_none() {
            let next = {
                let mut next = std::pin::pin!(self.receive(left));
                next.as_mut().poll(&mut Context::from_waker(Waker::noop()))
            };
            match next {
                Poll::Pending => return,
                Poll::Ready(Ok(Some(bytes))) => {
                    left -= bytes.len();
                    into.push(bytes);
                }
                // It is kept for the next call.
                Poll::Ready(Ok(None) | Err(_)) => return,
            }
        }
    }

    /// Puts back bytes that were received and are not for the one who read them.
    pub(crate) fn put_back(&mut self, bytes: Bytes) {
        debug_assert!(self.ahead.is_empty(), "bytes are put back once");
        self.ahead = bytes;
    }

    /// Wants no more of this direction.
    pub fn stop(&mut self, why: CloseReason) {
        match &mut self.half {
            // An error means that the stream has ended already.
            ReceivingHalf::Quic(stream) => drop(stream.stop(why.code().into())),
            ReceivingHalf::Tls(half) => half.stop(why),
        }
    }
}
