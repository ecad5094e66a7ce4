//! One connection in the tunnel: a stream of QUIC, or its own TLS connection
//! where UDP does not pass. [`crate::relay`] knows these two types and no other.
//! A stream of QUIC may become a TLS connection on its way: see [`super::moving`]. Where a terminal has
//! several WANs, it is several streams: see [`super::bond`].

mod lane;
mod ordered;
mod receiver;
mod writing;

pub(super) use lane::{Lane, Share};

use super::bond::{BondEnd, BondReceiver, BondSender};
use super::budget::{Account, Budget};
use super::fallback::{TlsEnd, TlsReceiver, TlsSender};
use super::moving::{MOVED, Phase, Route};
use super::sharing::{Gate, Subscriber};
use crate::CloseReason;
use crate::config::Urgency;
use crate::usage::{Allowance, Member, Terminal};
use bytes::Bytes;
use std::sync::Arc;

/// The sending half. Dropped before its end, it cuts its direction: only
/// [`Sender::finish`] ends it clean.
#[derive(Debug)]
pub struct Sender {
    half: SendingHalf,
    ended: bool,
    turn: Option<writing::Turn>,
    member: Option<Arc<Member>>,
    allowance: Option<Allowance>,
    account: Option<Account>,
    route: Option<Arc<Route>>,
}

#[derive(Debug)]
enum SendingHalf {
    Quic(quinn::SendStream),
    Tls(TlsSender),
    Bonded(BondSender),
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
    route: Option<Arc<Route>>,
    /// Bytes that QUIC has brought.
    received: u64,
    /// Bytes that TLS brings and QUIC has brought already.
    known: u64,
    /// Whose the connection is.
    member: Option<Arc<Member>>,
}

/// Bytes that a connection of the fallback holds beside what was received: the reader's buffer, the
/// chunks that wait, and TLS's own.
const CARRIER: u64 = 64 * 1024;

#[derive(Debug)]
enum ReceivingHalf {
    Quic(quinn::RecvStream, ordered::Ordered),
    Tls(TlsReceiver),
    Bonded(BondReceiver),
}

impl Sender {
    pub(crate) const fn quic(stream: quinn::SendStream) -> Sender {
        Sender::of(SendingHalf::Quic(stream))
    }

    pub(super) const fn bonded(half: BondSender) -> Sender {
        Sender::of(SendingHalf::Bonded(half))
    }

    const fn of(half: SendingHalf) -> Sender {
        Sender {
            half,
            ended: false,
            turn: None,
            member: None,
            allowance: None,
            account: None,
            route: None,
        }
    }

    /// Adds the way that it shares with its receiver.
    pub(crate) fn routed(mut self, route: &Arc<Route>) -> Sender {
        self.route = Some(Arc::clone(route));
        self
    }

    /// Holds what goes over TLS to the cap of the terminal at its other end.
    pub(crate) fn held_to(mut self, terminal: &Arc<Terminal>) -> Sender {
        if let SendingHalf::Tls(half) = &mut self.half {
            half.hold_to(terminal);
        }
        self
    }

    /// The end of the TLS connection that it is a half of.
    pub(crate) fn end(&self) -> Option<TlsEnd> {
        match &self.half {
            SendingHalf::Quic(_) | SendingHalf::Bonded(_) => None,
            SendingHalf::Tls(half) => Some(half.end()),
        }
    }

    /// Adds its turns among all streams of its association.
    pub(crate) fn shared(mut self, gate: &Arc<Gate>) -> Sender {
        self.turn = Some(writing::Turn::new(gate));
        self
    }

    /// Adds an account of the memory that it holds.
    pub(crate) fn budgeted(mut self, budget: &Arc<Budget>) -> Sender {
        self.account = Some(budget.account());
        self
    }

    /// Sets how urgent the connection is, and whose.
    pub(crate) fn classify(&mut self, urgency: Urgency, subscriber: Subscriber, of: &Arc<Member>) {
        self.member = Some(Arc::clone(of));
        if let Some(turn) = &mut self.turn {
            turn.classify(urgency, subscriber);
        }
        if let SendingHalf::Bonded(bond) = &self.half {
            bond.classify(urgency, subscriber, of);
        }
    }

    /// At the hub: the request of the connection has been read.
    pub(crate) fn note_served(&self) {
        if let SendingHalf::Bonded(half) = &self.half {
            half.note_served();
        }
    }

    /// True where the other box understands whose a connection is.
    pub(crate) fn names_subscriber(&self) -> bool {
        match &self.half {
            // A hub that takes these understands it.
            SendingHalf::Bonded(_) => true,
            _ => self.turn.as_ref().is_some_and(writing::Turn::names),
        }
    }

    pub(crate) const fn tls(half: TlsSender) -> Sender {
        Sender::of(SendingHalf::Tls(half))
    }

    /// Waits while it is about to move, and takes the other way if it has.
    async fn settle(&mut self) -> Result<(), CloseReason> {
        let (SendingHalf::Quic(_), Some(route)) = (&self.half, &self.route) else {
            return Ok(());
        };
        if route.phase() == Phase::Quic || !route.settles().await {
            return Ok(());
        }
        let (mut other, needed) = route.sender().await?;
        std::mem::swap(&mut self.half, &mut other.half);
        if let Some(account) = &mut self.account {
            account.renew();
        }
        self.turn = None;
        other.ended = true;
        if needed {
            other.linger();
        } else if let SendingHalf::Quic(stream) = &mut other.half {
            let _ = stream.reset(MOVED.into());
        }
        Ok(())
    }

    /// Keeps a stream of QUIC, of which the other box may read a rest, until that wants no more.
    fn linger(mut self) {
        tokio::spawn(async move {
            if let SendingHalf::Quic(stream) = &mut self.half {
                let _ = stream.stopped().await;
                let _ = stream.reset(MOVED.into());
            }
        });
    }

    /// Ends this direction after what was sent: a half-close.
    ///
    /// # Errors
    /// Why the other end wants no more, or that the association is lost.
    pub async fn finish(&mut self) -> Result<(), CloseReason> {
        loop {
            self.settle().await?;
            match &mut self.half {
                SendingHalf::Quic(stream) => {
                    if let Some(route) = &self.route
                        && !route.note_finished()
                    {
                        continue;
                    }
                    self.ended = true;
                    // It errs only where this end has finished or cut the stream before.
                    return stream.finish().map_err(|_| CloseReason::Reset);
                }
                SendingHalf::Tls(half) => {
                    self.ended = true;
                    return half.finish().await;
                }
                SendingHalf::Bonded(half) => {
                    self.ended = true;
                    return half.finish();
                }
            }
        }
    }

    /// Completes when the other end wants no more of this direction, or when the
    /// association is lost, with the reason; after a clean end that the other end
    /// has acknowledged it never completes.
    pub fn stopped(&self) -> impl Future<Output = CloseReason> + Send + 'static + use<> {
        let bonded = self.bonded_end();
        let (quic, end) = self.ends();
        let route = self.route.clone();
        async move {
            if let Some(bonded) = bonded {
                return bonded.stopped().await;
            }
            let end = match (quic, end) {
                (Some(stopped), _) => {
                    let on_quic = async move {
                        match stopped.await {
                            Ok(Some(code)) => CloseReason::from_code(code.into_inner()),
                            Err(error) => of_stopped(&error),
                            Ok(None) => std::future::pending().await,
                        }
                    };
                    match beside(route, on_quic).await {
                        Ok(why) => return why,
                        Err(end) => end,
                    }
                }
                (None, end) => end,
            };
            match end {
                Some(end) => end.stopped().await,
                None => std::future::pending().await,
            }
        }
    }

    /// After the end of both directions: waits until the other box has all that was
    /// sent, or cannot get it any more, with the reason. Over QUIC, that is the
    /// acknowledgement of the last byte; over TLS, the end of the TCP connection,
    /// which the other box ends once it has read everything.
    pub(crate) fn delivered(self) -> impl Future<Output = Option<CloseReason>> + Send + 'static {
        let bonded = self.bonded_end();
        let (quic, end) = self.ends();
        let route = self.route.clone();
        // What remains of it holds no memory and has no place among the streams.
        drop(self);
        async move {
            if let Some(bonded) = bonded {
                return bonded.delivered().await;
            }
            let end = match (quic, end) {
                (Some(stopped), _) => {
                    let on_quic = async move {
                        match stopped.await {
                            Ok(code) => code.map(|code| CloseReason::from_code(code.into_inner())),
                            Err(error) => Some(of_stopped(&error)),
                        }
                    };
                    match beside(route, on_quic).await {
                        Ok(delivered) => return delivered,
                        Err(end) => end,
                    }
                }
                (None, end) => end,
            };
            match end {
                Some(end) => end.over().await,
                None => None,
            }
        }
    }

    fn bonded_end(&self) -> Option<BondEnd> {
        match &self.half {
            SendingHalf::Bonded(half) => Some(half.end()),
            _ => None,
        }
    }

    /// How QUIC says that it is stopped, or the end of the TLS connection.
    fn ends(
        &self,
    ) -> (
        Option<impl Future<Output = Stopped> + Send + 'static + use<>>,
        Option<TlsEnd>,
    ) {
        match &self.half {
            SendingHalf::Quic(stream) => (Some(stream.stopped()), None),
            SendingHalf::Tls(half) => (None, Some(half.end())),
            SendingHalf::Bonded(_) => (None, None),
        }
    }

    /// Cuts this direction; what the other end has not read may be lost.
    pub fn cut(&mut self, why: CloseReason) {
        self.ended = true;
        if let Some(route) = &self.route {
            route.give_up(why);
        }
        match &mut self.half {
            // An error means that the stream has ended already.
            SendingHalf::Quic(stream) => drop(stream.reset(why.code().into())),
            SendingHalf::Tls(half) => half.cut(why),
            SendingHalf::Bonded(half) => half.cut(why),
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

type Stopped = Result<Option<quinn::VarInt>, quinn::StoppedError>;

/// Waits for what QUIC says of a stream, unless it moves: then, for the TLS connection's end.
async fn beside<T>(
    route: Option<Arc<Route>>,
    on_quic: impl Future<Output = T>,
) -> Result<T, Option<TlsEnd>> {
    let Some(route) = route else {
        return Ok(on_quic.await);
    };
    tokio::select! {
        biased;
        () = route.moves() => {}
        said = on_quic => {
            // The other box may have moved and ended the stream for that.
            if !route.settles().await {
                return Ok(said);
            }
        }
    }
    Err(route.end())
}

fn of_stopped(error: &quinn::StoppedError) -> CloseReason {
    match error {
        quinn::StoppedError::ConnectionLost(_) => CloseReason::PeerGone,
        quinn::StoppedError::ZeroRttRejected => CloseReason::Failed,
    }
}

fn of_write(error: quinn::WriteError) -> CloseReason {
    match error {
        quinn::WriteError::Stopped(code) => CloseReason::from_code(code.into_inner()),
        quinn::WriteError::ConnectionLost(_) => CloseReason::PeerGone,
        quinn::WriteError::ClosedStream | quinn::WriteError::ZeroRttRejected => CloseReason::Failed,
    }
}
