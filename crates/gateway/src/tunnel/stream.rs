//! One connection in the tunnel: a stream of QUIC, or a TLS connection of its own
//! where UDP does not pass. [`crate::relay`] knows these two types and no other.

use crate::Cut;
use bytes::Bytes;

/// The sending half.
#[derive(Debug)]
pub enum Sender {
    /// A stream of the association.
    Quic(quinn::SendStream),
}

/// The receiving half.
#[derive(Debug)]
pub enum Receiver {
    /// A stream of the association.
    Quic(quinn::RecvStream),
}

impl Sender {
    /// Sends `data`; waits while the other end has no room.
    ///
    /// # Errors
    /// Why the other end wants no more, or that the association is lost.
    pub async fn send(&mut self, data: Bytes) -> Result<(), Cut> {
        match self {
            Sender::Quic(stream) => stream.write_chunk(data).await.map_err(|error| match error {
                quinn::WriteError::Stopped(code) => Cut::from_code(code.into_inner()),
                quinn::WriteError::ConnectionLost(_) => Cut::PeerGone,
                quinn::WriteError::ClosedStream | quinn::WriteError::ZeroRttRejected => Cut::Failed,
            }),
        }
    }

    /// Ends this direction after what was sent: a half-close.
    pub async fn finish(&mut self) -> Result<(), Cut> {
        match self {
            Sender::Quic(stream) => stream.finish().map_err(|_| Cut::Failed),
        }
    }

    /// Cuts this direction; what the other end has not read may be lost.
    pub fn cut(&mut self, why: Cut) {
        match self {
            // An error means that the stream has ended already.
            Sender::Quic(stream) => drop(stream.reset(why.code().into())),
        }
    }
}

impl Receiver {
    /// The next bytes, at most `most`; `None` after a half-close.
    ///
    /// # Errors
    /// Why the other end cut it, or that the association is lost.
    pub async fn receive(&mut self, most: usize) -> Result<Option<Bytes>, Cut> {
        match self {
            Receiver::Quic(stream) => match stream.read_chunk(most, true).await {
                Ok(chunk) => Ok(chunk.map(|chunk| chunk.bytes)),
                Err(quinn::ReadError::Reset(code)) => Err(Cut::from_code(code.into_inner())),
                Err(quinn::ReadError::ConnectionLost(_)) => Err(Cut::PeerGone),
                Err(_) => Err(Cut::Failed),
            },
        }
    }

    /// Wants no more of this direction.
    pub fn stop(&mut self, why: Cut) {
        match self {
            // An error means that the stream has ended already.
            Receiver::Quic(stream) => drop(stream.stop(why.code().into())),
        }
    }
}
