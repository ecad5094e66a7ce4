//! What a sender waits for before it gives QUIC more: memory, and its turn.

use super::{Sender, SendingHalf, of_write};
use crate::CloseReason;
use crate::config::Urgency;
use crate::tunnel::moving::Route;
use crate::tunnel::priority::Rank;
use crate::tunnel::sharing::{Gate, Grant, Subscriber};
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
    async fn wait(&mut self, most: usize) -> usize {
        if let Some(grant) = &self.grant {
            return grant.bytes();
        }
        let rank = self.rank.place();
        let grant = self.gate.turn(self.subscriber, rank, most).await;
        let bytes = grant.bytes();
        self.grant = Some(grant);
        bytes
    }

    /// Gives QUIC all of `bytes`. While the other end has no room, others have their turns.
    async fn write(
        turn: Option<&mut Turn>,
        stream: &mut SendStream,
        bytes: Bytes,
    ) -> Result<(), WriteError> {
        let Some(turn) = turn else {
            return stream.write_chunk(bytes).await;
        };
        if let Some(priority) = turn.rank.write(bytes.len()) {
            // An error means that the stream has ended, as the write finds.
            let _ = stream.set_priority(priority);
        }
        let mut grant = turn.grant.take();
        let mut left = [bytes];
        while !left[0].is_empty() {
            let now =
                poll_fn(|cx| Poll::Ready(pin!(stream.write_chunks(&mut left)).poll(cx))).await;
            if let (Poll::Ready(written), Some(grant)) = (&now, &mut grant) {
                grant.spend(written.as_ref().map_or(0, |written| written.bytes));
            }
            match now {
                Poll::Ready(written) => drop(written?),
                Poll::Pending => {
                    grant = None;
                    let written = stream.write_chunks(&mut left).await?;
                    turn.gate.charge(turn.subscriber, written.bytes as u64);
                }
            }
        }
        Ok(())
    }
}

impl Sender {
    /// Waits until there is memory for more and it is the stream's turn, and returns for how many
    /// bytes, at least 1.
    pub(crate) async fn room(&mut self) -> usize {
        loop {
            let moves = moves(&self.half, self.route.as_ref());
            let room = async {
                let left = match &self.account {
                    Some(account) => {
                        account.room().await;
                        usize::try_from(account.left()).unwrap_or(usize::MAX)
                    }
                    None => usize::MAX,
                };
                match (&self.half, &mut self.turn) {
                    (SendingHalf::Quic(_), Some(turn)) => turn.wait(left).await.min(left),
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
            let has_room = self.account.as_ref().is_none_or(|it| it.has_room());
            if !has_turn || !has_room {
                let stopped = self.stopped();
                tokio::select! {
                    _ = self.room() => {}
                    why = stopped => return Err(why),
                }
                continue;
            }
            if let SendingHalf::Tls(half) = &mut self.half {
                let data = match &self.account {
                    Some(account) => account.hold(data),
                    None => data,
                };
                return half.send(data).await;
            }
            let grant = self.turn.as_ref().and_then(|turn| turn.grant.as_ref());
            let most = grant.map_or(data.len(), Grant::bytes).min(data.len());
            let piece = data.slice(..most);
            if self.write(piece).await? {
                data = data.slice(most..);
            }
        }
        Ok(())
    }

    /// Gives QUIC a piece; false where it moves before.
    async fn write(&mut self, piece: Bytes) -> Result<bool, CloseReason> {
        let SendingHalf::Quic(stream) = &mut self.half else {
            return Ok(false);
        };
        let turn = self.turn.as_mut();
        let Some(account) = &self.account else {
            let written = Turn::write(turn, stream, piece).await;
            return written.map(|()| true).map_err(of_write);
        };
        let length = piece.len() as u64;
        let (held, kept) = account.keep(piece);
        let Some(route) = &self.route else {
            let written = Turn::write(turn, stream, held).await;
            return written.map(|()| true).map_err(of_write);
        };
        let route = Arc::clone(route);
        if !route.note_sent(&kept, length) {
            return Ok(false);
        }
        // `held` stays until it is known who carries it.
        let written = tokio::select! {
            biased;
            written = Turn::write(turn, stream, held.clone()) => written,
            () = route.moves() => return Ok(true),
        };
        match written.map_err(of_write) {
            Err(why) if !route.settles().await => Err(why),
            _ => Ok(true),
        }
    }
}

/// Waits until a stream of QUIC has moved.
fn moves(
    half: &SendingHalf,
    route: Option<&Arc<Route>>,
) -> impl Future<Output = ()> + Send + 'static + use<> {
    let route = match half {
        SendingHalf::Quic(_) => route.map(Arc::clone),
        SendingHalf::Tls(_) => None,
    };
    async move {
        match route {
            Some(route) => route.moves().await,
            None => std::future::pending().await,
        }
    }
}
