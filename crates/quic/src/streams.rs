//! What an end sends and receives on its streams: one stream of data one way, and exchanges of a
//! request and a response, each on a stream of its own as in HTTP/3.

use crate::arrived::Arrived;
use bytes::Bytes;
use quinn_proto::{Connection, Dir, StreamId, VarInt};
use std::collections::{BTreeMap, VecDeque};

/// The urgency of what says nothing of it (RFC 9218, section 4.1).
pub(crate) const USUAL_URGENCY: u8 = 3;

/// Data of streams: zeros, of which no copy is made.
static ZEROS: [u8; 1 << 20] = [0; 1 << 20];

/// The stream that an end sends one way.
#[derive(Debug, Default)]
pub(crate) struct Sending {
    outgoing: Outgoing,
    /// All of it has been acknowledged.
    is_acknowledged: bool,
}

/// Bytes on their way into a stream.
#[derive(Debug, Default)]
struct Outgoing {
    stream: Option<StreamId>,
    /// Bytes not yet given to the stream.
    left: u64,
    /// The stream ends with them.
    last: bool,
    is_finished: bool,
    /// The lower, the sooner beside others of its end.
    urgency: u8,
}

impl Outgoing {
    /// Gives the stream, which is opened in `dir` where there is none yet, what it takes.
    fn fill(&mut self, connection: &mut Connection, dir: Dir) {
        if self.is_finished || (self.left == 0 && !self.last) {
            return;
        }
        let stream = match self.stream {
            Some(stream) => stream,
            None => match connection.streams().open(dir) {
                Some(stream) => *self.stream.insert(stream),
                None => return,
            },
        };
        let mut stream = connection.send_stream(stream);
        if self.urgency != USUAL_URGENCY {
            // It fails where the other end has stopped the stream: nothing is left to send.
            let _ = stream.set_priority(i32::from(USUAL_URGENCY) - i32::from(self.urgency));
        }
        while self.left > 0 {
            let part = self.left.min(ZEROS.len() as u64) as usize;
            let mut chunks = [Bytes::from_static(&ZEROS[..part])];
            match stream.write_chunks(&mut chunks) {
                Ok(written) => self.left -= written.bytes as u64,
                // The window for what is unacknowledged is full, or the other end's for what
                // it has not read: `Writable` comes when that has changed.
                Err(_) => return,
            }
        }
        if self.last {
            // It fails where the other end has stopped the stream: nothing is left to send.
            let _ = stream.finish();
            self.is_finished = true;
        }
    }
}

impl Sending {
    pub(crate) fn write(&mut self, bytes: u64, last: bool) {
        self.outgoing.left = self.outgoing.left.saturating_add(bytes);
        self.outgoing.last |= last;
    }

    /// Nothing follows what the stream has taken.
    pub(crate) fn withdraw(&mut self) {
        if self.outgoing.stream.is_some() || self.outgoing.left > 0 {
            self.outgoing.left = 0;
            self.outgoing.last = true;
        }
    }

    pub(crate) fn fill(&mut self, connection: &mut Connection) {
        self.outgoing.fill(connection, Dir::Uni);
    }

    /// The other end has acknowledged all of a stream.
    pub(crate) fn finished(&mut self, stream: StreamId) {
        self.is_acknowledged |= self.outgoing.stream == Some(stream);
    }

    /// True once there is a stream.
    pub(crate) const fn has_begun(&self) -> bool {
        self.outgoing.stream.is_some()
    }

    pub(crate) const fn is_acknowledged(&self) -> bool {
        self.is_acknowledged
    }
}

/// The requests and responses of an end, whichever it sends.
#[derive(Debug, Default)]
pub(crate) struct Exchanges {
    /// What is being sent: the most urgent first, and oldest first where that is the same.
    outgoing: VecDeque<Outgoing>,
    /// Requests that have arrived in whole and wait for their answer, oldest first.
    unanswered: VecDeque<StreamId>,
    /// Responses that have arrived in whole and were not looked at yet, oldest first.
    responses: VecDeque<StreamId>,
    /// What of each stream has arrived, until it is complete.
    incoming: BTreeMap<StreamId, Arrived<u64>>,
    /// Requests or responses that have arrived in whole.
    pub(crate) completed: u64,
    has_answered: bool,
    is_withdrawn: bool,
}

impl Exchanges {
    pub(crate) fn ask(&mut self, bytes: u64) {
        self.outgoing.push_back(Outgoing {
            left: bytes,
            last: true,
            urgency: USUAL_URGENCY,
            ..Outgoing::default()
        });
    }

    /// The number of the oldest request that has arrived in whole and waits for its answer: how many
    /// were asked before it.
    pub(crate) fn requested(&self) -> Option<u64> {
        self.unanswered.front().map(|stream| stream.index())
    }

    /// The number of the oldest response that has arrived in whole and was not returned yet.
    pub(crate) fn responded(&mut self) -> Option<u64> {
        self.responses.pop_front().map(StreamId::index)
    }

    pub(crate) fn answer(&mut self, bytes: u64, urgency: u8) -> bool {
        let Some(stream) = self.unanswered.pop_front() else {
            return false;
        };
        self.has_answered = true;
        let place = self.outgoing.partition_point(|one| one.urgency <= urgency);
        self.outgoing.insert(
            place,
            Outgoing {
                stream: Some(stream),
                left: bytes,
                last: true,
                is_finished: false,
                urgency,
            },
        );
        true
    }

    /// Nothing follows what the streams have taken: those that lack something are reset.
    pub(crate) fn withdraw(&mut self) {
        self.is_withdrawn = true;
    }

    pub(crate) fn fill(&mut self, connection: &mut Connection) {
        if self.is_withdrawn {
            for one in self.outgoing.drain(..).filter(|one| !one.is_finished) {
                if let Some(stream) = one.stream {
                    // It fails where the other end has stopped the stream, which is as good.
                    let _ = connection.send_stream(stream).reset(VarInt::from_u32(0));
                }
            }
        }
        for one in &mut self.outgoing {
            one.fill(connection, Dir::Bi);
        }
        self.outgoing.retain(|one| !one.is_finished);
    }

    /// True once a response has begun.
    pub(crate) const fn has_answered(&self) -> bool {
        self.has_answered
    }

    /// Reads what a stream has; returns the bytes that are in order with it.
    pub(crate) fn read(&mut self, connection: &mut Connection, stream: StreamId) -> u64 {
        let (bytes, ended) = self
            .incoming
            .entry(stream)
            .or_default()
            .read(connection, stream);
        if ended {
            self.incoming.remove(&stream);
        }
        if ended && stream.dir() == Dir::Bi {
            self.completed += 1;
            match stream.initiator() == connection.side() {
                true => self.responses.push_back(stream),
                false => self.unanswered.push_back(stream),
            }
        }
        bytes
    }
}
