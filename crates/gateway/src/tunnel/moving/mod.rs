//! Connections that go over from the association to the fallback while UDP does not pass.
//!
//! What a box has sent and the other has not acknowledged is still there, since QUIC would send it
//! again. If the fallback takes over, the terminal sends it over a TLS connection instead, after a
//! [`Resume`](super::codec::Resume) that names the stream; the hub answers with where its own data
//! begins, and sends that. Both count bytes as QUIC's stream does, so that each end drops what it has
//! already and reads what it lacks of what QUIC has brought before.
//!
//! A request is executed once at most. The hub notes each stream whose request it has taken, over
//! either way ([`Streams::take`]). Where it has taken it, the connection to the server goes on with the
//! other way under it; where the stream arrives later, it is refused.

mod route;
mod streams;

pub(super) use route::Phase;
pub(crate) use route::Route;
pub(crate) use streams::{Streams, Tag};

use super::codec::{self, Resume};
use super::fallback::Pool;
use super::stream::{Receiver, Sender};
use crate::CloseReason;
use bytes::BytesMut;
use std::sync::Arc;

/// The code with which a box ends a stream that a TLS connection has replaced.
pub(super) const MOVED: u32 = 100;

/// Takes one stream of the terminal's over to the fallback; true where the hub goes on with it there.
pub(super) async fn go_over(pool: &Pool, tag: Tag, index: u64, route: &Arc<Route>) -> bool {
    let Ok((mut sender, mut receiver)) = pool.take().await else {
        route.release();
        return false;
    };
    let Some(unsent) = route.begin() else {
        return false;
    };
    // Until the hub has answered, QUIC may still carry it.
    let begun = Begun(route);
    let resume = Resume {
        tag,
        index,
        start: unsent.start,
    };
    let mut writing = Box::pin(async move {
        sender.send(codec::encode_resume(resume)).await?;
        unsent.write(&mut sender).await?;
        Ok::<Sender, CloseReason>(sender)
    });
    let mut reading = Box::pin(answer(&mut receiver));
    let mut written = None;
    let answered = loop {
        tokio::select! {
            answered = &mut reading => break answered,
            sent = &mut writing, if written.is_none() => match sent {
                Ok(sender) => written = Some(sender),
                Err(why) => break Err(why),
            },
        }
    };
    drop(reading);
    match answered {
        Ok(start) => {
            std::mem::forget(begun);
            route.receives(receiver, start);
            // The hub reads what this box sends while the client reads what comes.
            let sender = match written {
                Some(sender) => Ok(sender),
                None => writing.await,
            };
            route.sends(sender);
            true
        }
        Err(why) => {
            receiver.stop(CloseReason::Failed);
            tracing::debug!(index, %why, "a connection stays with QUIC");
            false
        }
    }
}

/// Goes back to QUIC unless the hub has answered.
struct Begun<'a>(&'a Route);

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.0.stays();
    }
}

/// Reads the hub's answer: the offset of the first byte that follows it.
async fn answer(receiver: &mut Receiver) -> Result<u64, CloseReason> {
    let mut bytes = BytesMut::new();
    while bytes.len() < codec::RESUMED_LENGTH {
        let missing = codec::RESUMED_LENGTH - bytes.len();
        let more = receiver.receive(missing).await?;
        bytes.extend_from_slice(&more.ok_or(CloseReason::Failed)?);
    }
    codec::decode_resumed(&bytes).ok_or(CloseReason::Failed)
}

/// Goes on, at the hub, with a stream that a terminal has brought to the fallback, and returns when the
/// TLS connection has ended. `start` is the offset of the first byte that follows its request.
pub(crate) async fn adopt(route: &Route, mut sender: Sender, mut receiver: Receiver, start: u64) {
    let (Some(unsent), Some(end)) = (route.begin(), sender.end()) else {
        sender.cut(CloseReason::Failed);
        receiver.stop(CloseReason::Failed);
        return;
    };
    let answer = codec::encode_resumed(unsent.start);
    route.receives(receiver, start);
    let written = async {
        sender.send(answer).await?;
        unsent.write(&mut sender).await
    };
    let written = written.await;
    route.sends(written.map(|()| sender));
    let _ = end.over().await;
}
