//! Lengths of queues, with their text form.

use bentpipe_units::{Bytes, ParseError};
use std::fmt;
use std::str::FromStr;

/// How much may wait before a link; reads and prints `1 BDP`, `100 packets`
/// and `64 kB`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueLength {
    /// Multiples of the bandwidth-delay product.
    Bdp(f64),
    /// Packets.
    Packets(u32),
    /// Bytes.
    Bytes(Bytes),
}

const QUEUE: &str = "a length with its unit, such as `1 BDP`, `100 packets` or `64 kB`";

impl FromStr for QueueLength {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<QueueLength, ParseError> {
        let text = text.trim();
        let wrong = |found: String| ParseError {
            found,
            expected: QUEUE,
        };
        let end = text
            .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
            .unwrap_or(text.len());
        let (number, unit) = (text[..end].replace('_', ""), text[end..].trim());
        match unit.to_lowercase().as_str() {
            "bdp" => match number.parse::<f64>() {
                Ok(x) if x > 0.0 && x <= 1000.0 => Ok(QueueLength::Bdp(x)),
                _ => Err(wrong(format!(
                    "`{text}` is not a BDP multiple above 0 and up to 1000"
                ))),
            },
            "packet" | "packets" | "pkt" | "pkts" | "p" => match number.parse::<u32>() {
                Ok(0) => Err(wrong(format!("`{text}` holds no packet"))),
                Ok(n) => Ok(QueueLength::Packets(n)),
                _ => Err(wrong(format!("`{text}` is not a whole number of packets"))),
            },
            "" => Err(wrong(format!("`{text}` has no unit"))),
            _ => text
                .parse()
                .map(QueueLength::Bytes)
                .map_err(|e: ParseError| wrong(e.found)),
        }
    }
}

impl fmt::Display for QueueLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueLength::Bdp(x) => write!(f, "{x} BDP"),
            QueueLength::Packets(1) => f.write_str("1 packet"),
            QueueLength::Packets(n) => write!(f, "{n} packets"),
            QueueLength::Bytes(n) => write!(f, "{n}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_are_read_in_three_units() {
        let read = |text: &str| text.parse::<QueueLength>();
        assert_eq!(read("1 BDP"), Ok(QueueLength::Bdp(1.0)));
        assert_eq!(read("0.5bdp"), Ok(QueueLength::Bdp(0.5)));
        assert_eq!(read("100 packets"), Ok(QueueLength::Packets(100)));
        assert_eq!(read("64 kB"), Ok(QueueLength::Bytes(Bytes::new(64_000))));
        for wrong in [
            "",
            "100",
            "-1 BDP",
            "0 BDP",
            "1.5 packets",
            "3 fish",
            "1e9 BDP",
            "é BDP",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
