//! Traces of links in the formats of emulators.
//!
//! [`mahimahi`] are delivery opportunities, [`leoreplayer`] adds delays to them,
//! [`theaterq`] is a series of delay, rate and loss. These are read into a
//! [`Timeline`](crate::Timeline); the first and the last are written from one. [`distribution`] reads how a delay varies.

pub mod distribution;
pub mod leoreplayer;
pub mod mahimahi;
pub mod theaterq;

/// Why a trace cannot be read: in which line, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct TraceError {
    /// Number of the line, from 1.
    pub line: usize,
    /// Description of the error.
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

/// Features that a format cannot express.
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
    /// A delay that varies from packet to packet.
    #[error("the delay varies from packet to packet, for which the format has no word")]
    Jitter,
    /// More lines than are read.
    #[error("the trace would have more than {MOST_LINES} lines")]
    TooLong,
}

/// Lines of a trace, at most.
pub const MOST_LINES: usize = 10_000_000;

/// Content of a trace file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Delivery opportunities, as for [`mahimahi`].
    Opportunities,
    /// Delays, as for [`leoreplayer`].
    Delays,
    /// Delay, rate and loss, as for [`theaterq`].
    TheaterQ,
}

/// What a file holds, by what it looks like: commas are TheaterQ's; numbers that
/// ascend are opportunities; numbers that fall somewhere, or have a fraction,
/// are delays. `None` if it is none of them.
#[must_use]
pub fn detect(text: &str) -> Option<Content> {
    let mut before = 0u64;
    let mut numbers = 0;
    for line in text.lines().take(MOST_LINES) {
        let line = line.trim();
        if line.contains(',') && line.starts_with(|c: char| c.is_ascii_digit()) {
            return (numbers == 0).then_some(Content::TheaterQ);
        }
        if line.is_empty() || line.bytes().any(|b| !b.is_ascii_digit() && b != b'.') {
            // Only TheaterQ has comments, before its first line.
            match numbers {
                0 => continue,
                _ => return None,
            }
        }
        match line.parse::<u64>() {
            Ok(number) if number >= before => before = number,
            _ => return line.parse::<f64>().is_ok().then_some(Content::Delays),
        }
        numbers += 1;
    }
    (numbers > 0).then_some(Content::Opportunities)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn files_are_known_by_what_they_look_like() {
        for (text, expected) in [
            ("0\n1\n1\n7\n", Some(Content::Opportunities)),
            ("20\n21\n20\n", Some(Content::Delays)),
            ("20.5\n21\n", Some(Content::Delays)),
            (
                "# KEEP,LATENCY\n1000,5,7000000,0,10\n",
                Some(Content::TheaterQ),
            ),
            ("1000,5,7000000,0,10\n", Some(Content::TheaterQ)),
            ("", None),
            ("hello\n", None),
            ("1\n2\nthree\n", None),
            ("1\n2,3\n", None),
        ] {
            assert_eq!(detect(text), expected, "{text:?}");
        }
    }

    proptest! {
        /// What is read as a format is known as that.
        #[test]
        fn any_text_has_a_content_or_none(text in "[0-9.,a\n#]{0,60}") {
            let found = detect(&text);
            if mahimahi::read(&text, true).is_ok() {
                prop_assert_eq!(found, Some(Content::Opportunities));
            } else if theaterq::read(&text, true).is_ok() {
                prop_assert_eq!(found, Some(Content::TheaterQ));
            }
        }
    }
}
