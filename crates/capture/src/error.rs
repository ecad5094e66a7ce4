//! What is wrong with a capture.

use std::io;

/// Why a capture cannot be read. Offsets are in bytes from the start of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Reading failed.
    #[error("cannot read at offset {offset}: {source}")]
    Io {
        /// Where.
        offset: u64,
        /// Why.
        source: io::Error,
    },
    /// The file does not begin as a capture does.
    #[error(
        "offset 0: this is no capture: expected pcap (a1b2c3d4, a1b23c4d) or pcapng (0a0d0d0a), \
         found {found}"
    )]
    NoCapture {
        /// The first bytes as hexadecimal digits, or that there are none.
        found: String,
    },
    /// A header or block is malformed.
    #[error("offset {offset}: {what}")]
    Malformed {
        /// Where the header or block begins.
        offset: u64,
        /// What is wrong, and what was expected.
        what: String,
    },
}

impl ReadError {
    pub(crate) fn malformed(offset: u64, what: impl Into<String>) -> ReadError {
        ReadError::Malformed {
            offset,
            what: what.into(),
        }
    }
}
