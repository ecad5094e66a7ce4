//! A stream as a subflow of a bonded connection uses it: what is sent waits for its turn and counts for
//! the association; the memory is the bonded connection's.

use super::{Receiver, Sender, SendingHalf, of_write};
use crate::CloseReason;
use crate::config::Urgency;
use crate::tunnel::sharing::{Gate, Grant, Subscriber};
use bytes::{Bytes, BytesMut};
use std::sync::Arc;

/// Whose a connection is, how urgent, and what its subscriber gets beside others.
#[derive(Clone, Copy, Debug)]
pub(in crate::tunnel) struct Share {
    pub(in crate::tunnel) urgency: Urgency,
    pub(in crate::tunnel) subscriber: Subscriber,
    pub(in crate::tunnel) weight: u64,
}

/// The sending direction of a subflow.
#[derive(Debug)]
pub(in crate::tunnel) struct Lane(Sender);

impl Sender {
    /// As a subflow uses it. It does not move to the fallback: another subflow takes its place.
    pub(in crate::tunnel) fn lane(mut self) -> Lane {
        self.account = None;
        self.route = None;
        self.member = None;
        self.allowance = None;
        Lane(self)
    }
}

impl Receiver {
    /// As a subflow uses it.
    pub(in crate::tunnel) fn lane(mut self) -> Receiver {
        self.budget = None;
        self.route = None;
        self.member = None;
        self
    }
}

impl Lane {
    /// Waits for a turn for at most so many bytes; `None` where there are no turns.
    pub(in crate::tunnel) fn turn(
        &mut self,
        most: usize,
        share: Share,
    ) -> impl Future<Output = Option<Grant>> + Send + 'static + use<> {
        let asked = self.0.turn.as_mut().map(|turn| {
            turn.classify(share.urgency, share.subscriber);
            (Arc::clone(turn.gate()), turn.place())
        });
        async move {
            let (gate, rank): (Arc<Gate>, usize) = asked?;
            Some(gate.turn(share.subscriber, share.weight, rank, most).await)
        }
    }

    /// Sends all of `parts`, in the turn of `grant` or without one. Not to be dropped before it is done.
    ///
    /// # Errors
    /// Why the other end wants no more, or that the association is lost.
    pub(in crate::tunnel) async fn write(
        &mut self,
        grant: Option<Grant>,
        parts: Vec<Bytes>,
        share: Share,
    ) -> Result<(), CloseReason> {
        let Lane(sender) = self;
        match (&mut sender.half, &mut sender.turn) {
            (SendingHalf::Quic(stream), Some(turn)) => {
                turn.classify(share.urgency, share.subscriber);
                let written = turn.write_all(grant, share.weight, stream, parts).await;
                written.map_err(of_write)
            }
            (SendingHalf::Quic(stream), None) => {
                let mut parts = parts;
                stream.write_all_chunks(&mut parts).await.map_err(of_write)
            }
            (SendingHalf::Tls(half), _) => {
                let mut whole = BytesMut::with_capacity(parts.iter().map(Bytes::len).sum());
                parts.iter().for_each(|part| whole.extend_from_slice(part));
                half.send(whole.freeze()).await
            }
            (SendingHalf::Bonded(_), _) => Err(CloseReason::Failed),
        }
    }

    /// Ends the subflow.
    ///
    /// # Errors
    /// As [`Lane::write`].
    pub(in crate::tunnel) async fn finish(&mut self) -> Result<(), CloseReason> {
        self.0.finish().await
    }

    /// Cuts it.
    pub(in crate::tunnel) fn cut(&mut self, why: CloseReason) {
        self.0.cut(why);
    }
}
