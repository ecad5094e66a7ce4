//! One cell of a table.

use bentpipe_units::{Bytes, Duration, Rate, Ratio, Time};

/// Type of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text,
    /// Whole numbers from 0 to 2^64 - 1.
    Integer,
    /// A floating-point number, double precision.
    Number,
    /// True or false.
    Flag,
}

/// One cell of a table. The unit is part of the column's name.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Value {
    /// Nothing to say: an empty cell in CSV, null in Parquet and JSON. Empty
    /// text and not-a-number are written as missing.
    #[default]
    Missing,
    /// A text value.
    Text(String),
    /// An unsigned 64-bit integer.
    Integer(u64),
    /// A floating-point number; may be infinite.
    Number(f64),
    /// True or false.
    Flag(bool),
}

impl Value {
    /// The text; `None` for other kinds.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(t) => Some(t),
            _ => None,
        }
    }

    /// The whole number; `None` for other kinds.
    #[must_use]
    pub fn as_integer(&self) -> Option<u64> {
        match self {
            Value::Integer(n) => Some(*n),
            _ => None,
        }
    }

    /// The number, whole numbers included; `None` for other kinds.
    #[must_use]
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Value::Integer(n) => Some(*n as f64),
            Value::Number(x) => Some(*x),
            _ => None,
        }
    }

    /// Whether it is true; `None` for other kinds.
    #[must_use]
    pub fn as_flag(&self) -> Option<bool> {
        match self {
            Value::Flag(is) => Some(*is),
            _ => None,
        }
    }

    /// True if there is nothing in the cell.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Value::Missing)
    }

    /// The text form: what CSV holds. Reading it back gives the same bits.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Value::Missing => String::new(),
            Value::Text(t) => t.clone(),
            Value::Integer(n) => n.to_string(),
            // Both forms are the shortest that read back exactly.
            Value::Number(x) if *x != 0.0 && x.is_finite() && !(1e-5..1e16).contains(&x.abs()) => {
                format!("{x:e}")
            }
            Value::Number(x) => x.to_string(),
            Value::Flag(is) => is.to_string(),
        }
    }

    /// Reads the text form of a column's cell; `None` if it is not of its kind.
    #[must_use]
    pub fn parse(text: &str, kind: Kind) -> Option<Value> {
        if text.is_empty() {
            return Some(Value::Missing);
        }
        match kind {
            Kind::Text => Some(Value::Text(text.to_owned())),
            Kind::Integer => text.parse().ok().map(Value::Integer),
            Kind::Number => text.parse().ok().map(Value::from_number),
            Kind::Flag => text.parse().ok().map(Value::Flag),
        }
    }

    /// A number, or missing if it is not one.
    pub(crate) fn from_number(x: f64) -> Value {
        if x.is_nan() {
            Value::Missing
        } else {
            Value::Number(x)
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        if text.is_empty() {
            Value::Missing
        } else {
            Value::Text(text.to_owned())
        }
    }
}

impl From<u64> for Value {
    fn from(n: u64) -> Value {
        Value::Integer(n)
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value::from_number(x)
    }
}

impl From<Ratio> for Value {
    fn from(x: Ratio) -> Value {
        Value::from_number(x.get())
    }
}

impl From<Bytes> for Value {
    fn from(n: Bytes) -> Value {
        Value::Integer(n.get())
    }
}

impl From<Rate> for Value {
    /// In bits per second.
    fn from(rate: Rate) -> Value {
        Value::Integer(rate.bps())
    }
}

impl From<Time> for Value {
    /// Nanoseconds since the start of the run.
    fn from(at: Time) -> Value {
        Value::Integer(at.as_nanos())
    }
}

impl From<Duration> for Value {
    /// Nanoseconds.
    fn from(d: Duration) -> Value {
        Value::Integer(d.as_nanos())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Missing, Into::into)
    }
}

/// A span in seconds, rounded correctly: prints as the shortest decimal.
pub(crate) fn seconds(d: Duration) -> f64 {
    d.as_nanos() as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_print_short_and_read_back() {
        for (x, text) in [
            (0.857_142_857_142_857_2, "0.8571428571428572"),
            (44.0, "44"),
            (f64::INFINITY, "inf"),
            (1e300, "1e300"),
            (3e-9, "3e-9"),
            (0.0, "0"),
        ] {
            assert_eq!(Value::Number(x).to_text(), text);
            assert_eq!(Value::parse(text, Kind::Number), Some(Value::Number(x)));
        }
        assert_eq!(Value::from(f64::NAN), Value::Missing);
        assert_eq!(Value::parse("x", Kind::Number), None);
        assert_eq!(Value::parse("-1", Kind::Integer), None);
        assert_eq!(Value::parse("", Kind::Integer), Some(Value::Missing));
    }

    #[test]
    fn seconds_are_the_shortest_decimal() {
        assert_eq!(seconds(Duration::from_millis(300)).to_string(), "0.3");
        assert_eq!(
            seconds(Duration::from_nanos(12_345_678_901)).to_string(),
            "12.345678901"
        );
    }

    proptest! {
        #[test]
        fn every_number_reads_back_bit_for_bit(bits in any::<u64>()) {
            let value = Value::from(f64::from_bits(bits));
            let back = Value::parse(&value.to_text(), Kind::Number);
            prop_assert_eq!(back, Some(value));
        }

        #[test]
        fn seconds_read_back_to_the_nanosecond(ns in 0u64..1 << 51) {
            let d = Duration::from_nanos(ns);
            prop_assert_eq!(Duration::from_secs_f64(seconds(d)), d);
        }
    }
}
