//! What a sender waits for before it gives QUIC more: memory, and its turn.

use super::{Sender, SendingHalf, of_write};
use crate::CloseReason;
use crate::config::{Urgency, WEIGHT};
use crate::tunnel::moving::Route;
use crate::tunnel::priority::Rank;
use crate::tunnel::sharing::{Gate, Grant, Subscriber};
use crate::usage::{Allowance, Member};
use bytes::Bytes;
use quinn::{SendStream, WriteError};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

/// The turns of one stream among those of its association.
#[derive(Debug)]
pub(super) struct Turn {
    gate: Arc<Gate>,
    subscriber: Subscriber,
    rank: Rank,
    /// The turn that it has.
    grant: Option<Grant>,
}

impl Turn {
    pub(super) fn new(gate: &Arc<Gate>) -> Turn {
        Turn {
            gate: Arc::clone(gate),
            subscriber: Subscriber::default(),
            rank: Rank::new(),
            grant: None,
        }
    }

    pub(super) fn classify(&mut self, urgency: Urgency, subscriber: Subscriber) {
        self.rank.classify(urgency);
        self.subscriber = subscriber;
    }

    /// Whether the other box understands whose a stream is.
    pub(super) fn names(&self) -> bool {
        self.gate.names()
    }

    /// Waits for a turn, unless it has one.
    async fn wait(&mut self, weight: u64, most: usize) -> usize {
        if let Some(grant) = &self.grant {
            return grant.bytes();
        }
        let rank = self.rank.place();
        let turn = self.gate.turn(self.subscriber, weight, rank, most);
        let grant = turn.await;
        let bytes = grant.bytes();
        self.grant = Some(grant);
        bytes
    }

    /// Where turns come from.
    pub(super) const fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// The stream's place among those of its subscriber.
    pub(super) const fn place(&self) -> usize {
        self.rank.place()
    }

    /// Gives QUIC all of `bytes`, in the turn that it has.
    async fn write(
        turn: Option<&mut Turn>,
        weight: u64,
        stream: &mut SendStream,
        bytes: Bytes,
    ) -> Result<(), WriteError> {
        let Some(turn) = turn else {
            return stream.write_chunk(bytes).await;
        };
        let grant = turn.grant.take();
        turn.write_all(grant, weight, stream, vec![bytes]).await
    }

    /// Gives QUIC all of `parts`, in a turn or without one. While the other end has no room, others have
    /// their turns.
    pub(super) async fn write_all(
        &mut self,
        mut grant: Option<Grant>,
        weight: u64,
        stream: &mut SendStream,
        mut parts: Vec<Bytes>,
    ) -> Result<(), WriteError> {
        let length: usize = parts.iter().map(Bytes::len).sum();
        if let Some(priority) = self.rank.write(length) {
            // An error means that the stream has ended, as the write finds.
            let _ = stream.set_priority(priority);
        }
        while let Some(first) = parts.iter().position(|part| !part.is_empty()) {
            let left = &mut parts[first..];
            let now = poll_fn(|cx| Poll::Ready(pin!(stream.write_chunks(left)).poll(cx))).await;
            let written = match now {
                Poll::Ready(written) => written?,
                Poll::Pending => {
                    grant = None;
                    stream.write_chunks(left).await?
                }
            };
            match &mut grant {
                Some(grant) => grant.spend(written.bytes),
                None => self
                    .gate
                    .charge(self.subscriber, weight, written.bytes as u64),
            }
        }
        // It had less to send than it might.
        if self.rank.is_young() && grant.is_some_and(|grant| grant.bytes() > 0) {
            self.gate.coding().pause(length as u64);
        }
        Ok(())
    }
}

impl Sender {
    /// Waits until its subscriber may send, there is memory for more, and it is the stream's turn, and
    /// returns for how many bytes, at least 1.
    pub(crate) async fn room(&mut self) -> usize {
        loop {
            let moves = moves(&self.half, self.route.as_ref());
            let weight = weight(self.member.as_ref());
            let room = async {
                let allowed = match (&self.member, &mut self.allowance) {
                    (Some(member), none @ None) if member.is_limited() => {
                        none.insert(member.allowance().await).bytes()
                    }
                    (_, Some(allowance)) => allowance.bytes(),
                    _ => usize::MAX,
                };
                let left = match &self.account {
                    Some(account) => {
                        account.room().await;
                        usize::try_from(account.left()).unwrap_or(usize::MAX)
                    }
                    None => usize::MAX,
                };
                let left = left.min(allowed);
                match (&self.half, &mut self.turn) {
                    (SendingHalf::Quic(_), Some(turn)) => turn.wait(weight, left).await.min(left),
                    (SendingHalf::Bonded(bond), _) => bond.room().await.min(left),
                    _ => left,
                }
            };
            tokio::select! {
                biased;
                room = room => return room.max(1),
                () = moves => {}
            }
            // Where it errs, whoever sends finds it.
            if self.settle().await.is_err() {
                return 1;
            }
        }
    }

    /// Sends `data`; waits while the other end has no room, or this box has not, or others have their
    /// turns.
    ///
    /// # Errors
    /// Why the other end wants no more, that the association is lost, or that the
    /// stream has to make room for others.
    pub async fn send(&mut self, mut data: Bytes) -> Result<(), CloseReason> {
        while !data.is_empty() {
            self.settle().await?;
            let has_turn = self.turn.as_ref().is_none_or(|turn| turn.grant.is_some());
            let may_send =
                self.allowance.is_some() || self.member.as_ref().is_none_or(|it| !it.is_limited());
            let has_room = self.account.as_ref().is_none_or(|it| it.has_room());
            if !has_turn || !has_room || !may_send {
                let stopped = self.stopped();
                tokio::select! {
                    _ = self.room() => {}
                    why = stopped => return Err(why),
                }
                continue;
            }
            let grant = self.turn.as_ref().and_then(|turn| turn.grant.as_ref());
            let granted = grant.map_or(data.len(), Grant::bytes);
            let allowed = self.allowance.as_ref().map_or(data.len(), Allowance::bytes);
            let most = data.len().min(granted).min(allowed);
            let piece = data.slice(..most);
            let is_sent = match (&mut self.half, &self.account) {
                (SendingHalf::Quic(_), _) => self.write(piece).await?,
                (SendingHalf::Tls(half), account) => {
                    let piece = account.as_ref().map_or(piece.clone(), |it| it.hold(piece));
                    half.send(piece).await?;
                    true
                }
                (SendingHalf::Bonded(bond), account) => {
                    let hold = account.as_ref().map(|it| it.hold(piece.clone()));
                    bond.send(piece, hold.unwrap_or_default())?;
                    true
                }
            };
            if is_sent {
                data = data.slice(most..);
                self.note_sent(most);
            }
        }
        Ok(())
    }

    /// Counts what was sent for its subscriber, whose next connection may go on.
    fn note_sent(&mut self, bytes: usize) {
        if let Some(mut allowance) = self.allowance.take() {
            allowance.spend(bytes);
        }
        if let Some(member) = &self.member {
            member.sent(bytes as u64);
        }
    }

    /// Gives QUIC a piece; false where it moves before.
    async fn write(&mut self, piece: Bytes) -> Result<bool, CloseReason> {
        let SendingHalf::Quic(stream) = &mut self.half else {
            return Ok(false);
        };
        let weight = weight(self.member.as_ref());
        let turn = self.turn.as_mut();
        let Some(account) = &self.account else {
            let written = Turn::write(turn, weight, stream, piece).await;
            return written.map(|()| true).map_err(of_write);
        };
        let length = piece.len() as u64;
        let (held, kept) = account.keep(piece);
        let Some(route) = &self.route else {
            let written = Turn::write(turn, weight, stream, held).await;
            return written.map(|()| true).map_err(of_write);
        };
        let route = Arc::clone(route);
        if !route.note_sent(&kept, length) {
            return Ok(false);
        }
        // `held` stays until it is known who carries it.
        let written = tokio::select! {
            biased;
            written = Turn::write(turn, weight, stream, held.clone()) => written,
            () = route.moves() => return Ok(true),
        };
        match written.map_err(of_write) {
            Err(why) if !route.settles().await => Err(why),
            _ => Ok(true),
        }
    }
}

/// How much a connection's subscriber gets beside others.
fn weight(member: Option<&Arc<Member>>) -> u64 {
    member.map_or(WEIGHT, |member| member.weight())
}

/// Waits until a stream of QUIC has moved.
fn moves(
    half: &SendingHalf,
    route: Option<&Arc<Route>>,
) -> impl Future<Output = ()> + Send + 'static + use<> {
    let route = match half {
        SendingHalf::Quic(_) => route.map(Arc::clone),
        SendingHalf::Tls(_) | SendingHalf::Bonded(_) => None,
    };
    async move {
        match route {
            Some(route) => route.moves().await,
            None => std::future::pending().await,
        }
    }
}
