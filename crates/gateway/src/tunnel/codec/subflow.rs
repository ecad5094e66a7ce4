//! The request at the start of a subflow: which bonded connection it belongs to.

use super::{Reader, SUBFLOW, VERSION};
use bytes::Bytes;

/// Names the bonded connection that a stream, or a connection of the fallback, is a subflow of. Frames
/// of that connection follow, in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subflow {
    /// The hub opens the connection where it does not know it. Those that are added once the hub has
    /// answered do not.
    pub opens: bool,
    /// The connection: random.
    pub id: [u8; 16],
    /// The process of the hub that the connection is with, or 0 where the terminal does not know it: all
    /// subflows have to end at the same one.
    pub hub: u64,
    /// Bytes that the terminal takes before it says more.
    pub window: u64,
}

impl Subflow {
    /// Encoded length, bytes: version, mark, whether it opens, connection, process, window.
    pub(super) const LENGTH: usize = 35;
}

/// The request.
pub(crate) fn encode_subflow(subflow: &Subflow) -> Bytes {
    let mut bytes = Vec::with_capacity(Subflow::LENGTH);
    bytes.extend([VERSION, SUBFLOW, u8::from(subflow.opens)]);
    bytes.extend(subflow.id);
    bytes.extend(subflow.hub.to_be_bytes());
    bytes.extend(subflow.window.to_be_bytes());
    bytes.into()
}

pub(super) fn decode_subflow(bytes: &[u8]) -> Option<Subflow> {
    let mut reader = Reader { bytes, at: 2 };
    let [opens] = reader.array()?;
    Some(Subflow {
        opens: opens != 0,
        id: reader.array()?,
        hub: reader.array().map(u64::from_be_bytes)?,
        window: reader.array().map(u64::from_be_bytes)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunnel::codec::{Malformed, Request, decode, decode_request};

    #[test]
    fn a_subflow_names_its_connection() {
        for opens in [true, false] {
            let subflow = Subflow {
                opens,
                id: [7; 16],
                hub: 1 << 50,
                window: 4_000_000,
            };
            let bytes = encode_subflow(&subflow);
            for length in 0..bytes.len() {
                assert_eq!(decode_request(&bytes[..length]), Ok(None));
            }
            let request = Request::Subflow(subflow);
            assert_eq!(decode_request(&bytes), Ok(Some((request, bytes.len()))));
            // A hub of an earlier version refuses it.
            assert_eq!(decode(&bytes), Err(Malformed::Flags(SUBFLOW)));
        }
    }
}
