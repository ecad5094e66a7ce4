//! The frames of a TLS connection. Each begins with two bytes, most significant
//! first: the length of the data that follows, or a mark.
//!
//! | first two bytes | what follows | meaning |
//! |---|---|---|
//! | 0 | | this direction ends: a half-close |
//! | 1 to 16382 | data | data |
//! | 0xffff | reason, 2 bytes | this direction is cut |
//! | 0xfffe | reason, 2 bytes | the other direction is not wanted any more |
//!
//! A TLS connection that ends in any other way counts as lost.

use crate::CloseReason;

/// Most data of a frame, so that the frame fits a record of TLS (RFC 8446, section
/// 5.1).
pub(super) const MOST: usize = 16_384 - HEADER;
/// Length of the mark, bytes.
pub(super) const HEADER: usize = 2;
/// Length of a reason, bytes.
const REASON: usize = 2;
const CUT: u16 = 0xffff;
const STOP: u16 = 0xfffe;

/// A frame on the TLS connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// Data of this length follows.
    Data(usize),
    /// A half-close.
    End,
    /// This direction is cut.
    Cut(CloseReason),
    /// The other direction is not wanted any more.
    Stop(CloseReason),
}

/// A frame that there is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// Writes a frame's start at the end of `out`.
pub(super) fn encode(frame: Frame, out: &mut Vec<u8>) {
    let (mark, reason) = match frame {
        Frame::Data(length) => (u16::try_from(length.min(MOST)).unwrap_or(0), None),
        Frame::End => (0, None),
        Frame::Cut(why) => (CUT, Some(why)),
        Frame::Stop(why) => (STOP, Some(why)),
    };
    out.extend(mark.to_be_bytes());
    if let Some(why) = reason {
        // Reasons are few.
        out.extend(u16::try_from(why.code()).unwrap_or(0).to_be_bytes());
    }
}

/// Reads a frame's start, and its length; `None` where more bytes are needed.
pub(super) fn decode(bytes: &[u8]) -> Result<Option<(Frame, usize)>, Malformed> {
    let number = |at: usize| {
        let two = bytes.get(at..at + 2)?;
        two.try_into().ok().map(u16::from_be_bytes)
    };
    let Some(mark) = number(0) else {
        return Ok(None);
    };
    let frame = match (mark, number(HEADER)) {
        (0, _) => return Ok(Some((Frame::End, HEADER))),
        (CUT | STOP, None) => return Ok(None),
        (CUT, Some(code)) => Frame::Cut(CloseReason::from_code(u64::from(code))),
        (STOP, Some(code)) => Frame::Stop(CloseReason::from_code(u64::from(code))),
        (length, _) if usize::from(length) <= MOST => {
            return Ok(Some((Frame::Data(usize::from(length)), HEADER)));
        }
        _ => return Err(Malformed),
    };
    Ok(Some((frame, HEADER + REASON)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_frame_goes_there_and_back() {
        let cuts = CloseReason::ALL
            .iter()
            .flat_map(|&why| [Frame::Cut(why), Frame::Stop(why)]);
        let others = [Frame::End, Frame::Data(1), Frame::Data(MOST)];
        for frame in cuts.chain(others) {
            let mut bytes = Vec::new();
            encode(frame, &mut bytes);
            for length in 0..bytes.len() {
                assert_eq!(decode(&bytes[..length]), Ok(None));
            }
            let length = bytes.len();
            bytes.push(0xff);
            assert_eq!(decode(&bytes), Ok(Some((frame, length))));
        }
    }

    proptest! {
        #[test]
        fn any_four_bytes_are_a_frame_or_are_refused(bytes: [u8; 4]) {
            prop_assert_ne!(decode(&bytes), Ok(None));
        }
    }
}
