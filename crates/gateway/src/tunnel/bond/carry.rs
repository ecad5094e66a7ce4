//! A subflow's task: it writes what the connection has for it, and reads what it brings.

use super::frame::{DATA_HEADER, Decoder, data_header};
use super::state::Next;
use super::{Bond, Path};
use crate::CloseReason;
use crate::tunnel::stream::{Lane, Receiver, Sender};
use bytes::Bytes;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Most bytes of one read, and of one frame.
const MOST: usize = 64 << 10;
/// How long the other box has to end a subflow after this one has.
const ENDING: Duration = Duration::from_secs(30);

/// One subflow of a connection.
#[derive(Debug)]
pub(super) struct Subflow {
    pub(super) bond: Arc<Bond>,
    pub(super) path: Arc<Path>,
    pub(super) index: usize,
    pub(super) wake: Arc<Notify>,
}

impl Subflow {
    /// Carries the connection until both directions have ended, or the subflow is lost. `request` goes
    /// before its frames.
    pub(super) async fn carry(self, sender: Sender, receiver: Receiver, request: Option<Bytes>) {
        let (mut sender, mut receiver) = (sender.lane(), receiver.lane());
        let ended = {
            let mut writing = pin!(self.write(&mut sender, request));
            let mut reading = pin!(self.read(&mut receiver));
            tokio::select! {
                written = &mut writing => match written {
                    // The other box has yet to end it.
                    Ok(()) => match tokio::time::timeout(ENDING, reading).await {
                        Ok(ended) => ended,
                        Err(_) => Err(CloseReason::PeerGone),
                    },
                    Err(why) => Err(why),
                },
                ended = &mut reading => match ended {
                    Ok(()) => writing.await,
                    Err(why) => Err(why),
                },
            }
        };
        if let Err(why) = ended {
            sender.cut(why);
            receiver.stop(why);
            if self.path.stands() {
                // The other box, or this one, has given up the connection.
                self.bond.change(|state| state.fail(why));
            }
            self.bond.lose(self.index, self.path.is_gone());
        }
    }

    /// Writes until there is nothing more to write.
    async fn write(&self, lane: &mut Lane, request: Option<Bytes>) -> Result<(), CloseReason> {
        let Subflow {
            bond, index, wake, ..
        } = self;
        if let Some(request) = request {
            lane.write(None, vec![request], bond.share()).await?;
        }
        loop {
            match bond.change(|state| state.next(*index, Instant::now())) {
                Next::Frame(frame) => lane.write(None, vec![frame.encode()], bond.share()).await?,
                Next::Data => self.data(lane).await?,
                Next::Finish => return lane.finish().await,
                Next::Fail(why) => return Err(why),
                Next::Wait(None) => wake.notified().await,
                Next::Wait(Some(until)) => tokio::select! {
                    () = wake.notified() => {}
                    () = tokio::time::sleep_until(until.into()) => {}
                },
            }
        }
    }

    /// Waits for a turn, and sends data in it. Frames without data do not wait for turns.
    async fn data(&self, lane: &mut Lane) -> Result<(), CloseReason> {
        let Subflow {
            bond, index, wake, ..
        } = self;
        let index = *index;
        let share = bond.share();
        let mut turn = pin!(lane.turn(MOST, share));
        let grant = loop {
            let now = Instant::now();
            let timer = bond.change(|state| state.timer(now));
            let timer = timer.unwrap_or(now + ENDING);
            tokio::select! {
                biased;
                grant = &mut turn => break grant,
                () = tokio::time::sleep_until(timer.into()) => wake.notify_one(),
                () = wake.notified() => {
                    let frame = bond.change(|state| state.control(index, Instant::now()));
                    if let Some(frame) = frame {
                        lane.write(None, vec![frame.encode()], share).await?;
                        wake.notify_one();
                        continue;
                    }
                    // Another subflow may have taken what there was.
                    if !bond.lock().wants(index, Instant::now()) {
                        return Ok(());
                    }
                }
            }
        };
        let most = grant.as_ref().map_or(MOST, |grant| grant.bytes().min(MOST));
        let most = most.saturating_sub(DATA_HEADER).max(1);
        let taken = bond.change(|state| {
            let taken = state.take(index, most, Instant::now());
            state.wakes_ends |= taken.is_some();
            taken
        });
        let Some((offset, bytes)) = taken else {
            return Ok(());
        };
        let header = Bytes::copy_from_slice(&data_header(offset, bytes.len()));
        lane.write(grant, vec![header, bytes], share).await
    }

    /// Reads until the other box ends it.
    async fn read(&self, receiver: &mut Receiver) -> Result<(), CloseReason> {
        let Subflow { bond, index, .. } = self;
        let mut decoder = Decoder::default();
        loop {
            let Some(mut bytes) = receiver.receive(MOST).await? else {
                bond.change(super::state::State::ended);
                return Ok(());
            };
            let now = Instant::now();
            loop {
                let Ok(frame) = decoder.next(&mut bytes) else {
                    bond.change(|state| state.fail(CloseReason::Failed));
                    return Err(CloseReason::Failed);
                };
                let Some(frame) = frame else { break };
                bond.change(|state| state.arrived(*index, frame, now));
            }
        }
    }
}
