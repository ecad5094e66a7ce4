//! The frames on a subflow: what one box says to the other of a bonded connection.
//!
//! Numbers are whole and come most significant byte first. After its request
//! ([`Subflow`](crate::tunnel::codec::Subflow)) each direction of a subflow carries frames, the first
//! byte of which is the kind:
//!
//! | kind | fields | meaning |
//! |---|---|---|
//! | 0 | offset (8), length (4), bytes | data of the connection from that offset on |
//! | 1 | offset (8) | the connection ends at that offset |
//! | 2 | next (8), limit (8), count (1), count times begin (8) and end (8) | all before `next` has arrived, and these ranges; the other box may send up to `limit` |
//! | 3 | code (4) | the sender has cut the connection |
//! | 4 | code (4) | the receiver wants no more of it |

use bytes::{Buf as _, Bytes, BytesMut};

const DATA: u8 = 0;
const END: u8 = 1;
const ACK: u8 = 2;
const RESET: u8 = 3;
const STOP: u8 = 4;

/// Length of what precedes the data, bytes.
pub(super) const DATA_HEADER: usize = 13;
/// Most ranges of an acknowledgement.
pub(super) const RANGES: usize = 8;
/// Longest frame without data, bytes.
const LONGEST: usize = 18 + 16 * RANGES;

/// What has arrived of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Acknowledgement {
    /// All before it has arrived. One more than the length once the end has, too.
    pub(super) next: u64,
    /// Offset up to which the other box may send.
    pub(super) limit: u64,
    /// Ranges beyond `next` that have arrived, in order.
    pub(super) ranges: Vec<(u64, u64)>,
}

/// A frame, or a part of one that carries data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    Data { offset: u64, bytes: Bytes },
    End(u64),
    Ack(Acknowledgement),
    Reset(u32),
    Stop(u32),
}

/// Bytes that are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no frame of a bonded connection")]
pub(super) struct NoFrame;

/// What precedes `length` bytes of data.
pub(super) fn data_header(offset: u64, length: usize) -> [u8; DATA_HEADER] {
    let mut bytes = [DATA; DATA_HEADER];
    bytes[1..9].copy_from_slice(&offset.to_be_bytes());
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    bytes[9..].copy_from_slice(&length.to_be_bytes());
    bytes
}

impl Frame {
    /// As bytes.
    pub(super) fn encode(&self) -> Bytes {
        let mut out = Vec::with_capacity(LONGEST);
        match self {
            Frame::Data { offset, bytes } => {
                out.extend(data_header(*offset, bytes.len()));
                out.extend_from_slice(bytes);
            }
            Frame::End(offset) => {
                out.push(END);
                out.extend(offset.to_be_bytes());
            }
            Frame::Ack(ack) => {
                out.push(ACK);
                out.extend(ack.next.to_be_bytes());
                out.extend(ack.limit.to_be_bytes());
                let ranges = &ack.ranges[..ack.ranges.len().min(RANGES)];
                out.push(ranges.len() as u8);
                for (begin, end) in ranges {
                    out.extend(begin.to_be_bytes());
                    out.extend(end.to_be_bytes());
                }
            }
            Frame::Reset(code) => {
                out.push(RESET);
                out.extend(code.to_be_bytes());
            }
            Frame::Stop(code) => {
                out.push(STOP);
                out.extend(code.to_be_bytes());
            }
        }
        out.into()
    }
}

/// Reads frames out of the bytes of a subflow as they arrive. Data is handed out before its frame is
/// complete, so that nothing but a frame's head is kept.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// The head of a frame, as far as it has arrived.
    head: BytesMut,
    /// Offset and length of the data that is to come.
    data: Option<(u64, u64)>,
}

impl Decoder {
    /// The next frame of `bytes`, from which it is taken; `None` where more is needed.
    ///
    /// # Errors
    /// They are no frame; what follows makes no sense.
    pub(super) fn next(&mut self, bytes: &mut Bytes) -> Result<Option<Frame>, NoFrame> {
        loop {
            if let Some((offset, left)) = &mut self.data {
                if bytes.is_empty() {
                    return Ok(None);
                }
                let now = usize::try_from(*left)
                    .unwrap_or(usize::MAX)
                    .min(bytes.len());
                let frame = Frame::Data {
                    offset: *offset,
                    bytes: bytes.split_to(now),
                };
                *offset += now as u64;
                *left -= now as u64;
                if *left == 0 {
                    self.data = None;
                }
                return Ok(Some(frame));
            }
            let needed = self.needed()?;
            if self.head.len() < needed {
                let now = (needed - self.head.len()).min(bytes.len());
                if now == 0 {
                    return Ok(None);
                }
                self.head.extend_from_slice(&bytes.split_to(now));
                continue;
            }
            let head = std::mem::take(&mut self.head).freeze();
            if let Some(frame) = self.frame(head)? {
                return Ok(Some(frame));
            }
        }
    }

    /// Length of the head, as far as it is known.
    fn needed(&self) -> Result<usize, NoFrame> {
        match self.head.first() {
            None => Ok(1),
            Some(&DATA) => Ok(DATA_HEADER),
            Some(&END) => Ok(9),
            Some(&ACK) => match self.head.get(17) {
                None => Ok(18),
                Some(&count) if usize::from(count) <= RANGES => Ok(18 + 16 * usize::from(count)),
                Some(_) => Err(NoFrame),
            },
            Some(&(RESET | STOP)) => Ok(5),
            Some(_) => Err(NoFrame),
        }
    }

    /// The frame of a whole head; `None` where its data follows.
    fn frame(&mut self, mut head: Bytes) -> Result<Option<Frame>, NoFrame> {
        Ok(Some(match head.get_u8() {
            DATA => {
                let (offset, length) = (head.get_u64(), u64::from(head.get_u32()));
                if length == 0 || offset.checked_add(length).is_none() {
                    return Err(NoFrame);
                }
                self.data = Some((offset, length));
                return Ok(None);
            }
            END => Frame::End(head.get_u64()),
            ACK => {
                let (next, limit) = (head.get_u64(), head.get_u64());
                let count = head.get_u8();
                let ranges: Vec<_> = (0..count)
                    .map(|_| (head.get_u64(), head.get_u64()))
                    .collect();
                let mut last = next;
                for (begin, end) in &ranges {
                    if *begin < last || end <= begin {
                        return Err(NoFrame);
                    }
                    last = *end;
                }
                Frame::Ack(Acknowledgement {
                    next,
                    limit,
                    ranges,
                })
            }
            RESET => Frame::Reset(head.get_u32()),
            STOP => Frame::Stop(head.get_u32()),
            _ => return Err(NoFrame),
        }))
    }
}

/// Decodes arbitrary bytes in pieces of these lengths: for a fuzz target. Returns how many frames there
/// were before the first error.
#[doc(hidden)]
pub fn decode_any(pieces: &[&[u8]]) -> usize {
    let mut decoder = Decoder::default();
    let mut frames = 0;
    for piece in pieces {
        let mut bytes = Bytes::copy_from_slice(piece);
        loop {
            match decoder.next(&mut bytes) {
                Ok(Some(_)) => frames += 1,
                Ok(None) => break,
                Err(NoFrame) => return frames,
            }
        }
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame() -> impl Strategy<Value = Frame> {
        let data = (
            0..1u64 << 60,
            proptest::collection::vec(any::<u8>(), 1..300),
        );
        let gaps = proptest::collection::vec((0..1000u64, 1..1000u64), 0..RANGES);
        let ack = (0..1u64 << 40, any::<u64>(), gaps).prop_map(|(next, limit, gaps)| {
            let mut last = next;
            let ranges = gaps.iter().map(|(gap, length)| {
                let begin = last + gap;
                last = begin + length;
                (begin, last)
            });
            Frame::Ack(Acknowledgement {
                next,
                limit,
                ranges: ranges.collect(),
            })
        });
        prop_oneof![
            data.prop_map(|(offset, bytes)| Frame::Data {
                offset,
                bytes: bytes.into(),
            }),
            any::<u64>().prop_map(Frame::End),
            ack,
            any::<u32>().prop_map(Frame::Reset),
            any::<u32>().prop_map(Frame::Stop),
        ]
    }

    /// Frames with the parts of their data put together again.
    fn joined(frames: Vec<Frame>) -> Vec<Frame> {
        let mut out: Vec<Frame> = Vec::new();
        for frame in frames {
            if let (
                Some(Frame::Data { offset, bytes }),
                Frame::Data {
                    offset: next,
                    bytes: more,
                },
            ) = (out.last_mut(), &frame)
                && *offset + bytes.len() as u64 == *next
            {
                *bytes = [&bytes[..], &more[..]].concat().into();
            } else {
                out.push(frame);
            }
        }
        out
    }

    proptest! {
        #[test]
        fn frames_are_read_whatever_the_pieces_they_arrive_in(
            frames in proptest::collection::vec(frame(), 0..20),
            cuts in proptest::collection::vec(1..50usize, 1..20),
        ) {
            let mut all: Bytes = frames.iter().map(|it| it.encode().to_vec()).collect::<Vec<_>>().concat().into();
            let mut decoder = Decoder::default();
            let (mut read, mut at) = (Vec::new(), 0);
            while !all.is_empty() {
                let mut piece = all.split_to(cuts[at % cuts.len()].min(all.len()));
                at += 1;
                while let Some(frame) = decoder.next(&mut piece).unwrap() {
                    read.push(frame);
                }
                prop_assert!(piece.is_empty());
            }
            prop_assert_eq!(joined(read), joined(frames));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>, cut in 1..40usize) {
            decode_any(&bytes.chunks(cut).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let refused = |bytes: &[u8]| {
            Decoder::default().next(&mut Bytes::copy_from_slice(bytes)) == Err(NoFrame)
        };
        assert!(refused(&[5]));
        // No data, and data beyond all offsets.
        assert!(refused(&[0; DATA_HEADER]));
        let mut beyond = data_header(u64::MAX, 2).to_vec();
        assert!(refused(&beyond));
        beyond[1] = 0;
        assert!(!refused(&beyond));
        // Too many ranges, and such as lie before what has arrived.
        let mut ack = vec![ACK; 18];
        ack[17] = RANGES as u8 + 1;
        assert!(refused(&ack));
        let ranges = vec![(5, 9)];
        let ack = Acknowledgement {
            next: 7,
            limit: 9,
            ranges,
        };
        assert!(refused(&Frame::Ack(ack).encode()));
    }
}
