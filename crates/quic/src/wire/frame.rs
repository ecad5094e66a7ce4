//! Frames of RFC 9000, section 19, RFC 9221 and draft-ietf-quic-ack-frequency.

use super::reader::Reader;

/// A frame, without the data that it carries. Numbers and limits are those of the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Frame {
    /// So many bytes of padding in a row.
    Padding(u64),
    /// Asks for an acknowledgement.
    Ping,
    /// Acknowledges packets.
    Ack {
        /// How long the newest waited, microseconds, with the exponent that is the default.
        delay: u64,
        /// First and last of each range, newest first.
        ranges: Vec<[u64; 2]>,
        /// Packets that arrived with ECT(0), ECT(1) and CE.
        ecn: Option<[u64; 3]>,
    },
    /// Ends a stream of which no more is sent.
    ResetStream {
        /// The stream.
        stream: u64,
        /// The application's reason.
        error: u64,
        /// Bytes of the stream.
        final_size: u64,
    },
    /// Asks that no more of a stream is sent.
    StopSending {
        /// The stream.
        stream: u64,
        /// The application's reason.
        error: u64,
    },
    /// A part of the handshake.
    Crypto {
        /// Its first byte.
        offset: u64,
        /// Bytes.
        length: u64,
    },
    /// A token for a later connection.
    NewToken,
    /// A part of a stream.
    Stream {
        /// The stream.
        stream: u64,
        /// Its first byte.
        offset: u64,
        /// Bytes.
        length: u64,
        /// The stream ends with it.
        fin: bool,
    },
    /// The limit of what may be sent on all streams, bytes.
    MaxData(u64),
    /// The limit of what may be sent on a stream, bytes.
    MaxStreamData {
        /// The stream.
        stream: u64,
        /// Bytes.
        maximum: u64,
    },
    /// The limit of streams.
    MaxStreams {
        /// Of streams both ways, or else of those one way.
        bidirectional: bool,
        /// Streams.
        maximum: u64,
    },
    /// The limit of all streams is reached, bytes.
    DataBlocked(u64),
    /// The limit of a stream is reached.
    StreamDataBlocked {
        /// The stream.
        stream: u64,
        /// Bytes.
        limit: u64,
    },
    /// The limit of streams is reached.
    StreamsBlocked {
        /// Of streams both ways, or else of those one way.
        bidirectional: bool,
        /// Streams.
        limit: u64,
    },
    /// Another id under which the sender may be reached.
    NewConnectionId {
        /// Its number.
        sequence: u64,
        /// Ids before this number are no longer used.
        retire_prior_to: u64,
        /// Bytes of it.
        length: u8,
    },
    /// An id is no longer used.
    RetireConnectionId(u64),
    /// Asks whether the other end is reached on this path.
    PathChallenge,
    /// The answer to that.
    PathResponse,
    /// The connection ends.
    ConnectionClose {
        /// The reason.
        error: u64,
        /// The application's, or else the transport's.
        by_application: bool,
    },
    /// The server has the client's handshake.
    HandshakeDone,
    /// Data outside all streams (RFC 9221).
    Datagram {
        /// Bytes.
        length: u64,
    },
    /// What the sender asks of the receiver's acknowledgements.
    AckFrequency {
        /// The number of the request.
        sequence: u64,
        /// Packets that may arrive unacknowledged.
        threshold: u64,
        /// The longest wait, microseconds.
        delay: u64,
    },
    /// Asks for an acknowledgement at once.
    ImmediateAck,
    /// A frame of another type, and what follows it, which cannot be read.
    Unknown(u64),
}

/// `ack_delay_exponent` where no end says another (RFC 9000, section 18.2).
const DELAY_EXPONENT: u32 = 3;

impl Frame {
    /// The other end has to acknowledge a packet with it (RFC 9002, section 2).
    #[must_use]
    pub const fn asks_for_ack(&self) -> bool {
        !matches!(
            self,
            Frame::Padding(_) | Frame::Ack { .. } | Frame::ConnectionClose { .. }
        )
    }
}

/// The frames of a packet, up to the first of an unknown type.
pub(super) fn read_all(payload: &[u8]) -> Vec<Frame> {
    let mut reader = Reader(payload);
    let mut frames = Vec::new();
    while !reader.0.is_empty() {
        let before = reader;
        match read(&mut reader) {
            Some(frame) => frames.push(frame),
            None => {
                let mut reader = before;
                frames.extend(reader.varint().map(Frame::Unknown));
                break;
            }
        }
    }
    frames
}

/// The next frame; `None` where it is of an unknown type or lacks something.
fn read(reader: &mut Reader<'_>) -> Option<Frame> {
    let kind = reader.varint()?;
    let frame = match kind {
        0x00 => {
            let more = reader.0.iter().take_while(|byte| **byte == 0).count() as u64;
            reader.bytes(more)?;
            Frame::Padding(1 + more)
        }
        0x01 => Frame::Ping,
        0x02 | 0x03 => ack(reader, kind == 0x03)?,
        0x04 => Frame::ResetStream {
            stream: reader.varint()?,
            error: reader.varint()?,
            final_size: reader.varint()?,
        },
        0x05 => Frame::StopSending {
            stream: reader.varint()?,
            error: reader.varint()?,
        },
        0x06 => {
            let offset = reader.varint()?;
            let length = sized(reader)?;
            Frame::Crypto { offset, length }
        }
        0x07 => {
            sized(reader)?;
            Frame::NewToken
        }
        0x08..=0x0f => {
            let stream = reader.varint()?;
            let offset = if kind & 4 != 0 { reader.varint()? } else { 0 };
            let length = data(reader, kind & 2 != 0)?;
            let fin = kind & 1 != 0;
            Frame::Stream {
                stream,
                offset,
                length,
                fin,
            }
        }
        0x10 => Frame::MaxData(reader.varint()?),
        0x11 => Frame::MaxStreamData {
            stream: reader.varint()?,
            maximum: reader.varint()?,
        },
        0x12 | 0x13 => Frame::MaxStreams {
            bidirectional: kind == 0x12,
            maximum: reader.varint()?,
        },
        0x14 => Frame::DataBlocked(reader.varint()?),
        0x15 => Frame::StreamDataBlocked {
            stream: reader.varint()?,
            limit: reader.varint()?,
        },
        0x16 | 0x17 => Frame::StreamsBlocked {
            bidirectional: kind == 0x16,
            limit: reader.varint()?,
        },
        0x18 => {
            let (sequence, retire_prior_to) = (reader.varint()?, reader.varint()?);
            let length = reader.byte()?;
            // The id and its reset token of 16 bytes.
            reader.bytes(u64::from(length) + 16)?;
            Frame::NewConnectionId {
                sequence,
                retire_prior_to,
                length,
            }
        }
        0x19 => Frame::RetireConnectionId(reader.varint()?),
        0x1a | 0x1b => {
            reader.bytes(8)?;
            match kind {
                0x1a => Frame::PathChallenge,
                _ => Frame::PathResponse,
            }
        }
        0x1c | 0x1d => {
            let error = reader.varint()?;
            let by_application = kind == 0x1d;
            if !by_application {
                // The type of the frame that was wrong.
                reader.varint()?;
            }
            sized(reader)?;
            Frame::ConnectionClose {
                error,
                by_application,
            }
        }
        0x1e => Frame::HandshakeDone,
        0x1f => Frame::ImmediateAck,
        0x30 | 0x31 => Frame::Datagram {
            length: data(reader, kind == 0x31)?,
        },
        0xaf => {
            let frame = Frame::AckFrequency {
                sequence: reader.varint()?,
                threshold: reader.varint()?,
                delay: reader.varint()?,
            };
            // Packets out of order that are acknowledged at once.
            reader.varint()?;
            frame
        }
        _ => return None,
    };
    Some(frame)
}

/// Bytes that their length precedes.
fn sized(reader: &mut Reader<'_>) -> Option<u64> {
    let length = reader.varint()?;
    reader.bytes(length)?;
    Some(length)
}

/// Bytes whose length stands before them, or else all that follow.
fn data(reader: &mut Reader<'_>, has_length: bool) -> Option<u64> {
    if has_length {
        return sized(reader);
    }
    let length = reader.0.len() as u64;
    reader.bytes(length)?;
    Some(length)
}

/// An ACK frame (RFC 9000, section 19.3).
fn ack(reader: &mut Reader<'_>, with_ecn: bool) -> Option<Frame> {
    let largest = reader.varint()?;
    let delay = reader.varint()?.checked_shl(DELAY_EXPONENT)?;
    let more = reader.varint()?;
    let mut first = largest.checked_sub(reader.varint()?)?;
    let mut ranges = vec![[first, largest]];
    for _ in 0..more {
        let gap = reader.varint()?;
        let last = first.checked_sub(gap)?.checked_sub(2)?;
        first = last.checked_sub(reader.varint()?)?;
        ranges.push([first, last]);
    }
    let ecn = match with_ecn {
        true => Some([reader.varint()?, reader.varint()?, reader.varint()?]),
        false => None,
    };
    Some(Frame::Ack { delay, ranges, ecn })
}
