//! The types of the cells of tables.

use crate::unit::Unit;
use crate::value::{Kind, Value, seconds};
use bentpipe_units::{Bytes, Duration, Rate, Ratio, Time};

/// A type that fits into a cell.
pub(crate) trait Cell: Sized {
    /// Type of the cells of a column of that name.
    fn kind(column: &str) -> Kind;

    /// The cell.
    fn write(&self, column: &str) -> Value;

    /// The value of a cell; `None` if the cell is empty and must not be.
    fn read(value: Value, column: &str) -> Result<Option<Self>, String>;

    /// The number in its base unit, if it is one.
    fn number(&self) -> Option<f64>;

    /// The dimension of the number.
    fn unit(column: &str) -> Unit;
}

fn integer(value: &Value, column: &str) -> Result<Option<u64>, String> {
    match value {
        Value::Integer(n) => Ok(Some(*n)),
        Value::Missing => Ok(None),
        _ => Err(format!("`{column}` is not a whole number")),
    }
}

fn number(value: &Value, column: &str) -> Result<Option<f64>, String> {
    match value {
        Value::Text(_) => Err(format!("`{column}` is not a number")),
        other => Ok(other.as_number()),
    }
}

/// The types that a cell holds as a whole number.
macro_rules! whole {
    ($($type:ty, $unit:ident, $from:expr, $to:expr, $number:expr;)*) => {$(
        impl Cell for $type {
            fn kind(_: &str) -> Kind {
                Kind::Integer
            }
            fn write(&self, _: &str) -> Value {
                Value::Integer($to(*self))
            }
            fn read(value: Value, column: &str) -> Result<Option<$type>, String> {
                Ok(integer(&value, column)?.map($from))
            }
            fn number(&self) -> Option<f64> {
                Some($number(*self))
            }
            fn unit(_: &str) -> Unit {
                Unit::$unit
            }
        }
    )*};
}

whole! {
    u64, Count, |n| n, |n| n, |n| n as f64;
    usize, Count, |n| n as usize, |n| n as u64, |n| n as f64;
    Bytes, Bytes, Bytes::new, Bytes::get, Bytes::as_f64;
    Rate, BitRate, Rate::from_bps, Rate::bps, Rate::bps_f64;
    Time, Seconds, Time::from_nanos, Time::as_nanos, |at: Time| seconds(at.since(Time::ZERO));
}

impl Cell for Duration {
    fn kind(column: &str) -> Kind {
        if column.ends_with("_s") {
            Kind::Number
        } else {
            Kind::Integer
        }
    }

    /// Nanoseconds, or seconds in a column whose name ends so; those come back
    /// to the nanosecond up to 26 days.
    fn write(&self, column: &str) -> Value {
        match Duration::kind(column) {
            Kind::Number => seconds(*self).into(),
            _ => self.as_nanos().into(),
        }
    }

    fn read(value: Value, column: &str) -> Result<Option<Duration>, String> {
        Ok(match Duration::kind(column) {
            Kind::Number => number(&value, column)?.map(Duration::from_secs_f64),
            _ => integer(&value, column)?.map(Duration::from_nanos),
        })
    }

    fn number(&self) -> Option<f64> {
        Some(seconds(*self))
    }

    fn unit(_: &str) -> Unit {
        Unit::Seconds
    }
}

impl Cell for f64 {
    fn kind(_: &str) -> Kind {
        Kind::Number
    }

    fn write(&self, _: &str) -> Value {
        Value::from_number(*self)
    }

    fn read(value: Value, column: &str) -> Result<Option<f64>, String> {
        number(&value, column)
    }

    fn number(&self) -> Option<f64> {
        Some(*self)
    }

    fn unit(column: &str) -> Unit {
        if column.ends_with("_segments") {
            Unit::Segments
        } else {
            Unit::Ratio
        }
    }
}

impl Cell for Ratio {
    fn kind(_: &str) -> Kind {
        Kind::Number
    }

    fn write(&self, _: &str) -> Value {
        Value::from_number(self.get())
    }

    fn read(value: Value, column: &str) -> Result<Option<Ratio>, String> {
        Ok(number(&value, column)?.and_then(Ratio::new))
    }

    fn number(&self) -> Option<f64> {
        Some(self.get())
    }

    fn unit(_: &str) -> Unit {
        Unit::Ratio
    }
}

impl Cell for String {
    fn kind(_: &str) -> Kind {
        Kind::Text
    }

    fn write(&self, _: &str) -> Value {
        self.as_str().into()
    }

    /// Empty text is written as nothing.
    fn read(value: Value, column: &str) -> Result<Option<String>, String> {
        match value {
            Value::Text(text) => Ok(Some(text)),
            Value::Missing => Ok(Some(String::new())),
            _ => Err(format!("`{column}` is not text")),
        }
    }

    fn number(&self) -> Option<f64> {
        None
    }

    fn unit(_: &str) -> Unit {
        Unit::Count
    }
}

impl<T: Cell> Cell for Option<T> {
    fn kind(column: &str) -> Kind {
        T::kind(column)
    }

    fn write(&self, column: &str) -> Value {
        self.as_ref().map_or(Value::Missing, |x| x.write(column))
    }

    fn read(value: Value, column: &str) -> Result<Option<Option<T>>, String> {
        T::read(value, column).map(Some)
    }

    fn number(&self) -> Option<f64> {
        self.as_ref()?.number()
    }

    fn unit(column: &str) -> Unit {
        T::unit(column)
    }
}

/// A number that counts up during a run.
pub(crate) trait Counter: Copy {
    /// The counts of both.
    fn plus(self, other: Self) -> Self;
    /// The difference from `earlier`.
    fn less(self, earlier: Self) -> Self;
}

impl Counter for u64 {
    fn plus(self, other: u64) -> u64 {
        self + other
    }

    fn less(self, earlier: u64) -> u64 {
        self.saturating_sub(earlier)
    }
}

impl Counter for Bytes {
    fn plus(self, other: Bytes) -> Bytes {
        self + other
    }

    fn less(self, earlier: Bytes) -> Bytes {
        self - earlier
    }
}
