//! Lengths of queues, as scenarios and the command line write them, and what they are at a link.

use bentpipe_document::reading::{Given, Read};
use bentpipe_document::schema::Kind;
use bentpipe_document::value::{better_unit, wrong_type};
use bentpipe_document::{Context, Diagnostic, Form, Place, Problem, Reported, Scalar, Value};
use bentpipe_link::{Limit, LinkSettings};
use bentpipe_units::{Bytes, Duration, ParseError};
use std::fmt;
use std::str::FromStr;

/// A length of a queue, before the link's bandwidth-delay product is known.
///
/// ```
/// use bentpipe_scenario::QueueLength;
/// use bentpipe_units::Duration;
///
/// assert_eq!("0.5 BDP".parse(), Ok(QueueLength::Bdp(0.5)));
/// assert_eq!("100 packets".parse(), Ok(QueueLength::Packets(100.0)));
/// assert_eq!("80 ms".parse(), Ok(QueueLength::Time(Duration::from_millis(80))));
/// assert!("0 packets".parse::<QueueLength>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueLength {
    /// This many packets; a share of one where an average is meant.
    Packets(f64),
    /// This many bytes.
    Bytes(Bytes),
    /// This many bandwidth-delay products.
    Bdp(f64),
    /// What the link sends in this time.
    Time(Duration),
}

/// How much a queue holds: a length of whole packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct QueueLimit(pub(crate) QueueLength);

/// Bandwidth-delay products, at most.
const MOST_BDP: f64 = 1e6;

/// The longest time that a queue may need to empty.
const LONGEST: Duration = Duration::from_secs(3_600);

const EXPECTED: &str =
    "a length with its unit, such as `1 BDP`, `100 packets`, `64 kB` or `100 ms`";
const PACKETS: &str = "a whole number of packets above zero, such as `100 packets`";
const LENGTH: &str = "a number of packets above zero, such as `5 packets`";
const BDP: &str = "a factor above zero, such as `1 BDP` or `0.5 BDP`";

impl FromStr for QueueLength {
    type Err = ParseError;

    /// Reads a length of whole packets, bytes, bandwidth-delay products or time.
    fn from_str(text: &str) -> Result<QueueLength, ParseError> {
        QueueLength::parse(text, true)
    }
}

impl QueueLength {
    /// Reads a length, of whole packets or not.
    fn parse(text: &str, whole: bool) -> Result<QueueLength, ParseError> {
        let text = text.trim();
        let packets = if whole { PACKETS } else { LENGTH };
        let wrong = |found: String, expected| Err(ParseError { found, expected });
        let number = |units: &[&str]| {
            let lower = text.to_ascii_lowercase();
            let unit = units.iter().find(|unit| lower.ends_with(*unit))?;
            Some(text[..text.len() - unit.len()].trim().replace('_', ""))
        };
        if let Some(number) = number(&["packets", "packet", "pkts", "pkt"]) {
            return match number.parse::<f64>() {
                Ok(0.0) => wrong("a queue of no packets".to_string(), packets),
                Ok(n) if n > f64::from(u32::MAX) => wrong(
                    format!("`{text}` is too large"),
                    "at most 4294967295 packets",
                ),
                Ok(n) if whole && n != bentpipe_units::math::floor(n) => wrong(
                    format!("`{text}` is not a whole number of packets"),
                    packets,
                ),
                Ok(n) if n > 0.0 => Ok(QueueLength::Packets(n)),
                _ => wrong(format!("`{text}` is not a number of packets"), packets),
            };
        }
        if let Some(number) = number(&["bdp"]) {
            return match number.parse::<f64>() {
                Ok(0.0) => wrong("a queue of no length".to_string(), BDP),
                Ok(x) if x > MOST_BDP => {
                    wrong(format!("`{text}` is too large"), "at most 1000000 BDP")
                }
                Ok(x) if x > 0.0 => Ok(QueueLength::Bdp(x)),
                _ => wrong(format!("`{text}` is not a number of BDP"), BDP),
            };
        }
        if text.parse::<f64>().is_ok() {
            return wrong(format!("`{text}` has no unit"), EXPECTED);
        }
        match text.parse::<Bytes>() {
            Ok(Bytes::ZERO) => wrong("a size of zero".to_string(), EXPECTED),
            Ok(size) if size.get() > u64::MAX / 16 => {
                wrong(format!("`{text}` is too large"), EXPECTED)
            }
            Ok(size) => Ok(QueueLength::Bytes(size)),
            Err(error) => match text.parse::<Duration>() {
                Ok(Duration::ZERO) => wrong("a queue of no length".to_string(), EXPECTED),
                Ok(time) if time > LONGEST => {
                    wrong(format!("`{text}` is too long"), "at most an hour")
                }
                Ok(time) => Ok(QueueLength::Time(time)),
                Err(_) => wrong(error.found, EXPECTED),
            },
        }
    }
}

impl fmt::Display for QueueLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueLength::Bdp(x) => write!(f, "{x} BDP"),
            QueueLength::Packets(1.0) => f.write_str("1 packet"),
            QueueLength::Packets(n) => write!(f, "{n} packets"),
            QueueLength::Bytes(n) => write!(f, "{n}"),
            QueueLength::Time(time) => write!(f, "{time}"),
        }
    }
}

/// Reads the value of a key.
fn read(value: &Value, kind: &Kind, whole: bool) -> Result<QueueLength, Problem> {
    let text = match value {
        Value::Text(text) => text,
        Value::Integer(_) | Value::Float(_) => {
            let found = format!("`{}` has no unit", value.to_toml());
            return Err(Problem::new(found, kind));
        }
        other => return Err(wrong_type(other, "a string", kind)),
    };
    QueueLength::parse(text, whole).map_err(|error| {
        let expected = match error.expected {
            EXPECTED => kind.to_string(),
            expected => expected.to_string(),
        };
        let better = better_unit(text, &["packets", "kB", "MB", "KiB", "BDP", "ms"]);
        Problem::new(error.found, expected).suggest(better)
    })
}

impl Scalar for QueueLength {
    const KIND: Kind =
        Kind::Form("a length of the queue, such as `5 packets`, `7500 B` or `0.1 BDP`");

    fn read(value: &Value, kind: &Kind) -> Result<QueueLength, Problem> {
        read(value, kind, false)
    }
}

impl Scalar for QueueLimit {
    const KIND: Kind =
        Kind::Form("how much it holds, such as `100 packets`, `60 kB`, `1 BDP` or `100 ms`");

    fn read(value: &Value, kind: &Kind) -> Result<QueueLimit, Problem> {
        read(value, kind, true).map(QueueLimit)
    }
}

impl Read for QueueLength {
    const KIND: Kind = <QueueLength as Scalar>::KIND;

    fn read(given: Given<'_>, kind: &Kind) -> Result<QueueLength, Reported> {
        given.scalar(kind)
    }
}

impl Read for QueueLimit {
    const KIND: Kind = <QueueLimit as Scalar>::KIND;

    fn read(given: Given<'_>, kind: &Kind) -> Result<QueueLimit, Reported> {
        given.scalar(kind)
    }
}

/// The link that a queue feeds.
pub(crate) struct LinkContext<'a> {
    /// For messages.
    pub(crate) context: &'a Context,
    /// What holds where the file says nothing: rate and delay, and what follows from other keys.
    pub(crate) base: LinkSettings,
    /// The RTT to which `BDP` refers.
    pub(crate) round_trip: Duration,
    /// Of the link, for messages.
    pub(crate) name: &'a str,
    /// The position of the queue, for messages.
    pub(crate) place: Place,
}

impl Form<Limit, LinkContext<'_>> for QueueLimit {
    fn settle(&self, link: &LinkContext<'_>) -> Result<Limit, Reported> {
        Ok(match self.0 {
            // A limit is of whole packets that fit.
            QueueLength::Packets(n) => Limit::Packets(n as u32),
            QueueLength::Bytes(n) => Limit::Bytes(n),
            QueueLength::Bdp(factor) => Limit::Bytes(link.bdp(factor)?),
            QueueLength::Time(time) => Limit::Bytes(link.bytes_in(time)),
        })
    }

    fn written(model: &Limit) -> Value {
        match model {
            Limit::Packets(n) => QueueLength::Packets(f64::from(*n)).to_string().into(),
            Limit::Bytes(bytes) => <Bytes as Form<_>>::written(bytes),
        }
    }
}

impl LinkContext<'_> {
    /// A length in packets of `mean` bytes.
    pub(crate) fn length(&self, length: QueueLength, mean: f64) -> Result<f64, Reported> {
        match length {
            QueueLength::Packets(n) => Ok(n),
            QueueLength::Bytes(n) => Ok(n.as_f64() / mean),
            QueueLength::Bdp(factor) => Ok(self.bdp(factor)?.as_f64() / mean),
            QueueLength::Time(time) => Ok(self.bytes_in(time).as_f64() / mean),
        }
    }

    /// What the link sends in this time, at least a byte.
    fn bytes_in(&self, time: Duration) -> Bytes {
        self.base.rate.bytes_in(time).max(Bytes::new(1))
    }

    /// Bandwidth-delay products in bytes.
    fn bdp(&self, factor: f64) -> Result<Bytes, Reported> {
        let bdp = self.base.rate.bytes_in(self.round_trip).as_f64();
        let bytes = Bytes::new((bdp * factor + 0.5) as u64);
        if bytes != Bytes::ZERO {
            return Ok(bytes);
        }
        let message = format!(
            "the bandwidth-delay product of link `{}` is zero",
            self.name
        );
        let error = Diagnostic::new(self.place, message)
            .label(format!("{} x {}", self.base.rate, self.round_trip))
            .help("say with `bdp_round_trip` which round trip `BDP` refers to");
        Err(self.context.report(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_in_three_units() {
        let read = |text: &str| text.parse::<QueueLength>();
        assert_eq!(read("1 BDP"), Ok(QueueLength::Bdp(1.0)));
        assert_eq!(read("0.5bdp"), Ok(QueueLength::Bdp(0.5)));
        assert_eq!(read("100 packets"), Ok(QueueLength::Packets(100.0)));
        assert_eq!(read("64 kB"), Ok(QueueLength::Bytes(Bytes::new(64_000))));
        let time = Duration::from_millis(250);
        assert_eq!(read("250 ms"), Ok(QueueLength::Time(time)));
        assert_eq!(QueueLength::Time(time).to_string(), "250 ms");
        for wrong in [
            "",
            "100",
            "1.5 packets",
            "-1 BDP",
            "0 BDP",
            "3 fish",
            "1e9 BDP",
            "é BDP",
            "0 ms",
            "2 h",
            "-5 ms",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let found = |text: &str| text.parse::<QueueLength>().unwrap_err().found;
        assert_eq!(found("0 packets"), "a queue of no packets");
        assert_eq!(found("1e30 packets"), "`1e30 packets` is too large");
        assert_eq!(
            found("-3 packets"),
            "`-3 packets` is not a number of packets"
        );
        assert_eq!(
            found("many packets"),
            "`many packets` is not a number of packets"
        );
        assert_eq!(found("5"), "`5` has no unit");
    }
}
