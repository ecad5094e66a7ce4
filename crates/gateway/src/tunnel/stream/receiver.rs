//! The receiving half.

use super::ordered::Ordered;
use super::{CARRIER, Receiver, ReceivingHalf};
use crate::CloseReason;
use crate::tunnel::bond::BondReceiver;
use crate::tunnel::budget::{Budget, Stall};
use crate::tunnel::fallback::{TlsEnd, TlsReceiver};
use crate::tunnel::moving::{MOVED, Phase, Route};
use crate::usage::Member;
use bytes::{Buf as _, Bytes};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

impl Receiver {
    pub(crate) fn quic(stream: quinn::RecvStream) -> Receiver {
        Receiver::of(ReceivingHalf::Quic(stream, Ordered::default()))
    }

    pub(crate) const fn tls(half: TlsReceiver) -> Receiver {
        Receiver::of(ReceivingHalf::Tls(half))
    }

    pub(in crate::tunnel) const fn bonded(half: BondReceiver) -> Receiver {
        Receiver::of(ReceivingHalf::Bonded(half))
    }

    const fn of(half: ReceivingHalf) -> Receiver {
        Receiver {
            half,
            ahead: Bytes::new(),
            end: None,
            budget: None,
            route: None,
            received: 0,
            known: 0,
            member: None,
        }
    }

    /// Adds the way that it shares with its sender.
    pub(crate) fn routed(mut self, route: &Arc<Route>) -> Receiver {
        self.route = Some(Arc::clone(route));
        self
    }

    /// The end of the TLS connection that it is a half of.
    pub(crate) fn end(&self) -> Option<TlsEnd> {
        match &self.half {
            ReceivingHalf::Quic(..) | ReceivingHalf::Bonded(_) => None,
            ReceivingHalf::Tls(half) => Some(half.end()),
        }
    }

    /// Sets whose the connection is.
    pub(crate) fn classify(&mut self, of: &Arc<Member>) {
        self.member = Some(Arc::clone(of));
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
        matches!(
            self.half,
            ReceivingHalf::Quic(..) | ReceivingHalf::Bonded(_)
        )
    }

    /// Bytes that may be held before [`Receiver::receive`] is called, once it is not called any
    /// more.
    pub(crate) fn behind(&self) -> u64 {
        match (&self.half, &self.budget, self.end) {
            (_, None, _) | (ReceivingHalf::Quic(..) | ReceivingHalf::Bonded(_), _, Some(_)) => 0,
            (ReceivingHalf::Quic(..), Some(budget), None) => budget.stream_window(),
            (ReceivingHalf::Bonded(half), ..) => half.behind(),
            (ReceivingHalf::Tls(_), ..) => CARRIER,
        }
    }

    /// True where it has ended, or the connection is lost, for all that is known
    /// without reading.
    pub(crate) fn has_ended(&self) -> bool {
        match &self.half {
            ReceivingHalf::Quic(..) => self.end.is_some(),
            ReceivingHalf::Tls(half) => half.has_ended(),
            ReceivingHalf::Bonded(half) => half.has_ended(),
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
        let next = self.next(most).await;
        match &next {
            Ok(Some(bytes)) => {
                if let Some(member) = &self.member {
                    member.received(bytes.len() as u64);
                }
            }
            Ok(None) => self.end = Some(Ok(())),
            Err(cut) => self.end = Some(Err(*cut)),
        }
        if self.end.is_some()
            && let Some(route) = &self.route
        {
            route.note_ended();
        }
        next
    }

    /// The next bytes from wherever they come. It may be dropped at any time and loses nothing.
    async fn next(&mut self, most: usize) -> Result<Option<Bytes>, CloseReason> {
        loop {
            let budget = self.budget.as_ref();
            let (stream, ordered) = match &mut self.half {
                ReceivingHalf::Quic(stream, ordered) => (stream, ordered),
                ReceivingHalf::Bonded(half) => return half.receive(most).await,
                ReceivingHalf::Tls(half) => {
                    let mut next = half.receive(most).await?;
                    if self.known > 0
                        && let Some(bytes) = &mut next
                    {
                        let known = self.known.min(bytes.len() as u64);
                        self.known -= known;
                        // No more than its length.
                        bytes.advance(usize::try_from(known).unwrap_or(0));
                        if bytes.is_empty() {
                            continue;
                        }
                    }
                    return Ok(next);
                }
            };
            let Some(route) = &self.route else {
                return ordered.read(stream, most, budget).await;
            };
            let read = if route.phase() == Phase::Moved {
                match route.receiver(self.received) {
                    // The other box has sent it over QUIC, and knows that it is here.
                    Err(missing) => {
                        let most = most.min(usize::try_from(missing).unwrap_or(most));
                        ordered.read(stream, most, budget).await
                    }
                    Ok(Some(mut other)) => {
                        // An error means that the stream has ended already.
                        drop(stream.stop(MOVED.into()));
                        self.known = self.received - route.start();
                        std::mem::swap(&mut self.half, &mut other.half);
                        continue;
                    }
                    Ok(None) => return Err(CloseReason::Failed),
                }
            } else {
                tokio::select! {
                    biased;
                    read = ordered.read(stream, most, budget) => match read {
                        Err(_) if route.settles().await => continue,
                        read => read,
                    },
                    () = route.moves() => continue,
                }
            };
            let next = read?;
            if let Some(bytes) = &next {
                route.note_passed();
                self.received += bytes.len() as u64;
            }
            return Ok(next);
        }
    }

    /// Bytes have arrived that wait for others before them, which is as it is when much is lost. What
    /// arrives had better be taken then although its host does not read: QUIC keeps no more than 1024
    /// parts of a stream.
    pub(crate) fn has_gaps(&self) -> bool {
        let stays = |route: &Arc<Route>| route.phase() == Phase::Quic;
        match &self.half {
            ReceivingHalf::Quic(_, ordered) => {
                self.end.is_none() && ordered.has_gaps() && self.route.as_ref().is_none_or(stays)
            }
            ReceivingHalf::Tls(_) | ReceivingHalf::Bonded(_) => false,
        }
    }

    /// Takes what arrives next out of QUIC's buffers, for [`Receiver::receive`].
    pub(crate) async fn fill(&mut self) {
        match &mut self.half {
            ReceivingHalf::Quic(stream, ordered) => {
                ordered.fill(stream, self.budget.as_ref()).await;
            }
            ReceivingHalf::Tls(_) | ReceivingHalf::Bonded(_) => std::future::pending().await,
        }
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
        if let Some(route) = &self.route {
            route.give_up(why);
        }
        match &mut self.half {
            // An error means that the stream has ended already.
            ReceivingHalf::Quic(stream, _) => drop(stream.stop(why.code().into())),
            ReceivingHalf::Tls(half) => half.stop(why),
            ReceivingHalf::Bonded(half) => half.stop(why),
        }
    }
}

pub(super) fn of_read(error: &quinn::ReadError) -> CloseReason {
    match error {
        quinn::ReadError::Reset(code) => CloseReason::from_code(code.into_inner()),
        quinn::ReadError::ConnectionLost(_) => CloseReason::PeerGone,
        _ => CloseReason::Failed,
    }
}
