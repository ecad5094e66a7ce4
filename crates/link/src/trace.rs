//! Traces of links in the formats of emulators.
//!
//! [`mahimahi`] are delivery opportunities, [`leoreplayer`] adds delays to them,
//! [`theaterq`] is a series of delay, rate and loss. All are read into a
//! [`Timeline`](crate::Timeline); the first and the last are written from one.

pub mod leoreplayer;
pub mod mahimahi;
pub mod theaterq;

/// Why a trace cannot be read: in which line, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct TraceError {
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

impl TraceError {
    fn new(line: usize, what: impl Into<String>) -> TraceError {
        TraceError {
            line,
            what: what.into(),
        }
    }
}

/// What a format has no word for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unwritable {
    /// The link never sends, or stops for good before the end.
    #[error("the link carries nothing")]
    Nothing,
    /// A rate of zero, or a transmitter that waits while the link is down.
    #[error("the transmitter waits at some time, for which the format has no word")]
    Waits,
    /// Bit errors: a loss that depends on the size of the packet.
    #[error("bit errors depend on a packet's size, for which the format has no word")]
    BitErrors,
    /// Delivery opportunities are no rate.
    #[error("delivery opportunities are no rate, and the format has no other word")]
    Opportunities,
    /// More lines than are read.
    #[error("the trace would have more than {MOST_LINES} lines")]
    TooLong,
}

/// Lines of a trace, at most.
pub const MOST_LINES: usize = 10_000_000;
