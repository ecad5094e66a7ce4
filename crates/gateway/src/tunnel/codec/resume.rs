//! Going on, on a connection of the fallback, with a connection that a stream of QUIC has carried.

use super::{RESUME, Reader, VERSION};
use bytes::Bytes;

/// The answer that the hub goes on with a connection.
const RESUMED: u8 = 2;

/// Names the stream of QUIC that a connection of the fallback replaces. What follows it is what the
/// stream carries from offset `start` on; the hub answers with `RESUMED` and the offset, 8 bytes, of
/// what follows that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The association, as both boxes derive it from its keys.
    pub tag: [u8; 16],
    /// The stream's index.
    pub index: u64,
    /// Offset in the stream of the first byte that follows.
    pub start: u64,
}

impl Resume {
    /// Encoded length, bytes: version, mark, association, stream, offset.
    pub(super) const LENGTH: usize = 34;
}

/// The request to go on with a connection.
pub(crate) fn encode_resume(resume: Resume) -> Bytes {
    let mut bytes = Vec::with_capacity(Resume::LENGTH);
    bytes.extend([VERSION, RESUME]);
    bytes.extend(resume.tag);
    bytes.extend(resume.index.to_be_bytes());
    bytes.extend(resume.start.to_be_bytes());
    bytes.into()
}

pub(super) fn decode_resume(bytes: &[u8]) -> Option<Resume> {
    let mut reader = Reader { bytes, at: 2 };
    Some(Resume {
        tag: reader.array()?,
        index: reader.array().map(u64::from_be_bytes)?,
        start: reader.array().map(u64::from_be_bytes)?,
    })
}

/// Length of the hub's answer to [`Resume`], bytes.
pub(crate) const RESUMED_LENGTH: usize = 9;

/// The hub's answer to [`Resume`].
pub(crate) fn encode_resumed(start: u64) -> Bytes {
    let mut bytes = vec![RESUMED];
    bytes.extend(start.to_be_bytes());
    bytes.into()
}

/// Reads it.
pub(crate) fn decode_resumed(bytes: &[u8]) -> Option<u64> {
    let mut reader = Reader { bytes, at: 0 };
    let [mark] = reader.array()?;
    let start = reader.array().map(u64::from_be_bytes)?;
    (mark == RESUMED).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunnel::codec::{Malformed, Request, decode, decode_request};

    #[test]
    fn going_on_is_asked_and_answered() {
        let resume = Resume {
            tag: [3; 16],
            index: 1 << 40,
            start: 70_000,
        };
        let bytes = encode_resume(resume);
        for length in 0..bytes.len() {
            assert_eq!(decode_request(&bytes[..length]), Ok(None));
        }
        let request = Request::Resume(resume);
        assert_eq!(decode_request(&bytes), Ok(Some((request, bytes.len()))));
        // An earlier version refuses it.
        assert_eq!(decode(&bytes), Err(Malformed::Flags(RESUME)));
        let answer = encode_resumed(u64::MAX - 1);
        assert_eq!(answer.len(), RESUMED_LENGTH);
        assert_eq!(decode_resumed(&answer), Some(u64::MAX - 1));
        assert_eq!(decode_resumed(&answer[..8]), None);
        assert_eq!(decode_resumed(&[9; RESUMED_LENGTH]), None);
    }
}
