//! A host that reads more slowly than its data arrives.
//!
//! What arrives for it is copied together: QUIC hands out parts of the datagrams that it received,
//! of which a small one keeps a large buffer. Taking it out of QUIC's buffers makes it known how much
//! it is, up to [`AHEAD`]; beyond, the stream's window bounds it.

use super::end::End;
use super::pump::Broken;
use crate::tunnel::{Receiver, Stall};
use crate::{CloseReason, sys};
use bytes::{Bytes, BytesMut};
use std::os::fd::AsFd as _;
use std::time::Duration;

/// Bytes that are taken for a host before it reads.
const AHEAD: usize = 1 << 20;
/// Smallest and largest buffer, bytes.
const BUFFER: (usize, usize) = (2 << 10, 64 << 10);
/// Time between looks at what the host has taken out of its socket.
const LOOK: Duration = Duration::from_millis(500);
/// Bytes that the kernel holds for the host and has not sent, at most.
const UNSENT: i32 = 128 << 10;

/// What is held for a slow host, until all of it is written.
pub(super) struct Slow {
    stall: Option<Stall>,
    ended: bool,
}

impl Slow {
    pub(super) fn new(receiver: &Receiver) -> Slow {
        Slow {
            stall: receiver.stall(),
            ended: false,
        }
    }

    /// Waits until the host takes more than `chunks`, to which is added what arrives meanwhile.
    pub(super) async fn wait(
        &mut self,
        end: &End,
        chunks: &mut Vec<Bytes>,
        receiver: &mut Receiver,
    ) -> Result<(), Broken> {
        let Some(stall) = &mut self.stall else {
            return end.writable().await.map_err(Broken::Tcp);
        };
        let socket = end.tcp().as_fd();
        // The kernel refuses it to a socket that is gone, which the next write finds.
        let _ = sys::set_option(socket, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, UNSENT);
        let mut held = Held::of(std::mem::take(chunks));
        let mut before = u64::MAX;
        let outcome = loop {
            let takes = receiver.takes_ahead() && !self.ended && held.length < AHEAD;
            let fills = !takes && receiver.has_gaps();
            let behind = if takes || self.ended {
                0
            } else {
                receiver.behind()
            };
            let left = sys::unacknowledged(socket);
            // Long before the socket is writable again the host may take what is in it.
            if left < before {
                stall.begins();
                before = left;
            }
            stall.holds(held.memory() as u64 + left, behind);
            tokio::select! {
                biased;
                ready = end.writable() => break ready.map_err(Broken::Tcp),
                () = stall.is_cut() => return Err(Broken::Tunnel(CloseReason::Limit)),
                more = more(receiver, takes), if takes || fills => match more {
                    Ok(Some(bytes)) => held.push(&bytes),
                    // The receiver reports it again when what is before it is written.
                    Ok(None) | Err(_) => self.ended = true,
                },
                () = tokio::time::sleep(LOOK) => {}
            }
        };
        stall.moves();
        *chunks = held.into_chunks();
        outcome
    }
}

/// What arrives next: for the host where it `takes` it, otherwise to be kept by the receiver.
async fn more(receiver: &mut Receiver, takes: bool) -> Result<Option<Bytes>, CloseReason> {
    if takes {
        return receiver.receive(AHEAD).await;
    }
    receiver.fill().await;
    Ok(Some(Bytes::new()))
}

/// Bytes in few buffers that hold nothing else.
#[derive(Debug, Default)]
struct Held {
    whole: Vec<Bytes>,
    last: BytesMut,
    length: usize,
}

impl Held {
    fn of(chunks: Vec<Bytes>) -> Held {
        let mut held = Held::default();
        for chunk in &chunks {
            held.push(chunk);
        }
        held
    }

    fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let mut room = self.last.capacity() - self.last.len();
            if room == 0 {
                if !self.last.is_empty() {
                    self.whole.push(std::mem::take(&mut self.last).freeze());
                }
                self.last = BytesMut::with_capacity(self.length.clamp(BUFFER.0, BUFFER.1));
                room = self.last.capacity();
            }
            let (now, rest) = bytes.split_at(room.min(bytes.len()));
            self.last.extend_from_slice(now);
            self.length += now.len();
            bytes = rest;
        }
    }

    /// Bytes of memory that it takes.
    fn memory(&self) -> usize {
        self.length + self.last.capacity() - self.last.len()
    }

    fn into_chunks(mut self) -> Vec<Bytes> {
        if !self.last.is_empty() {
            self.whole.push(self.last.freeze());
        }
        self.whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_keeps_its_order_and_takes_little_more_than_its_length() {
        let mut held = Held::of(vec![Bytes::from_static(b"a"), Bytes::from_static(b"bc")]);
        assert!(held.memory() <= BUFFER.0, "{held:?}");
        let mut all = b"abc".to_vec();
        for i in 0..3000_usize {
            let part = vec![i as u8; i % 700];
            held.push(&part);
            all.extend(part);
            assert_eq!(held.length, all.len());
            assert!(held.memory() <= 2 * all.len() + BUFFER.0);
        }
        let chunks = held.into_chunks();
        assert!(chunks.len() < 30, "{}", chunks.len());
        assert_eq!(chunks.concat(), all);
    }
}
