//! Single values: numbers, quantities with units, words.

use crate::diagnostic::Diagnostic;
use crate::schema::Kind;
use crate::source::Place;
use crate::tree::Value;
use bentpipe_units::{Bytes, Duration, ParseError, Rate, Ratio, nearest};

/// The longest time that a scenario may name: ten years.
const LONGEST: Duration = Duration::from_secs(10 * 366 * 86_400);

/// The highest rate that a scenario may name.
const FASTEST: Rate = Rate::from_bps(1_000_000_000_000_000);

/// Why a value cannot be read.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The value found.
    pub found: String,
    /// The expected value.
    pub expected: String,
    /// Suggestion.
    pub nearest: Option<String>,
}

impl Problem {
    /// The value found, and the expected one.
    pub fn new(found: impl Into<String>, expected: impl ToString) -> Problem {
        Problem {
            found: found.into(),
            expected: expected.to_string(),
            nearest: None,
        }
    }

    /// The error about the value of `key` at `place`. A setting
    /// from outside names its key anyway.
    #[must_use]
    pub fn at(self, place: Place, key: &str) -> Diagnostic {
        let message = match place {
            Place::Setting { .. } => self.found,
            Place::File { .. } | Place::Whole => format!("`{key}`: {}", self.found),
        };
        let error = Diagnostic::new(place, message).label(format!("expected {}", self.expected));
        error.suggest(self.nearest.as_deref())
    }

    /// Adds what may have been meant.
    #[must_use]
    pub fn suggest(mut self, name: Option<impl Into<String>>) -> Problem {
        self.nearest = name.map(Into::into);
        self
    }
}

/// A single value, not a table: read within the limits of a kind.
pub trait Scalar: Sized {
    /// Default kind, unless the declaration of a key restricts it.
    const KIND: Kind;

    /// Reads the value.
    ///
    /// # Errors
    /// When it is of another type or outside the limits.
    fn read(value: &Value, kind: &Kind) -> Result<Self, Problem>;
}

/// The value is of another type than the kind needs.
#[must_use]
pub fn wrong_type(value: &Value, wanted: &str, kind: &Kind) -> Problem {
    Problem::new(format!("expected {wanted}, found {}", value.kind()), kind)
}

impl Scalar for String {
    const KIND: Kind = Kind::Text;

    fn read(value: &Value, kind: &Kind) -> Result<String, Problem> {
        match value {
            Value::Text(text) => Ok(text.clone()),
            other => Err(wrong_type(other, "a string", kind)),
        }
    }
}

impl Scalar for Vec<String> {
    const KIND: Kind = Kind::Names("thing");

    /// One name, or an array of them.
    fn read(value: &Value, kind: &Kind) -> Result<Vec<String>, Problem> {
        match value {
            Value::List(items) => {
                let names = items.iter().map(|item| String::read(&item.value, kind));
                names.collect()
            }
            other => Ok(vec![String::read(other, kind)?]),
        }
    }
}

impl Scalar for bool {
    const KIND: Kind = Kind::Boolean;

    fn read(value: &Value, kind: &Kind) -> Result<bool, Problem> {
        match value {
            Value::Boolean(b) => Ok(*b),
            other => Err(wrong_type(other, "a boolean", kind)),
        }
    }
}

impl Scalar for u64 {
    const KIND: Kind = Kind::Integer {
        min: 0,
        max: u64::MAX,
    };

    fn read(value: &Value, kind: &Kind) -> Result<u64, Problem> {
        let (min, max) = match kind {
            Kind::Integer { min, max } => (*min, *max),
            _ => (0, u64::MAX),
        };
        let number = match value {
            Value::Integer(number) => *number,
            // A study's axis may come as a number: 10.0 is 10.
            Value::Float(x) if *x == bentpipe_units::math::floor(*x) && x.abs() < 9e15 => {
                Some(*x as i128)
            }
            other => return Err(wrong_type(other, "a whole number", kind)),
        };
        match number
            .and_then(|n| u64::try_from(n).ok())
            .filter(|n| (min..=max).contains(n))
        {
            Some(number) => Ok(number),
            None => Err(Problem::new(
                out_of_range(value, number.is_some_and(|n| n < min.into())),
                kind,
            )),
        }
    }
}

impl Scalar for u32 {
    const KIND: Kind = Kind::Integer {
        min: 0,
        max: u32::MAX as u64,
    };

    fn read(value: &Value, kind: &Kind) -> Result<u32, Problem> {
        let number = u64::read(value, kind)?;
        u32::try_from(number).map_err(|_| Problem::new(out_of_range(value, false), kind))
    }
}

impl Scalar for f64 {
    const KIND: Kind = Kind::Number {
        min: f64::MIN,
        max: f64::MAX,
    };

    fn read(value: &Value, kind: &Kind) -> Result<f64, Problem> {
        let (min, max) = match kind {
            Kind::Number { min, max } | Kind::NumberOrUnlimited { min, max } => (*min, *max),
            _ => (f64::MIN, f64::MAX),
        };
        let number = match value {
            Value::Integer(Some(n)) => *n as f64,
            Value::Float(x) => *x,
            Value::Text(text) if text == "unlimited" => match kind {
                Kind::NumberOrUnlimited { .. } => return Ok(f64::INFINITY),
                _ => return Err(wrong_type(value, "a number", kind)),
            },
            other => return Err(wrong_type(other, "a number", kind)),
        };
        if (min..=max).contains(&number) {
            Ok(number)
        } else {
            Err(Problem::new(out_of_range(value, number < min), kind))
        }
    }
}

fn out_of_range(value: &Value, small: bool) -> String {
    format!(
        "{} is too {}",
        value.to_toml(),
        if small { "small" } else { "large" }
    )
}

/// Reads a quantity with a unit. `units` are for suggestions only.
fn quantity<T: std::str::FromStr<Err = ParseError>>(
    value: &Value,
    kind: &Kind,
    units: &[&str],
) -> Result<T, Problem> {
    match value {
        Value::Text(text) => text.parse::<T>().map_err(|e| {
            let better = better_unit(text, units);
            Problem::new(
                e.found,
                if better.is_some() {
                    kind.to_string()
                } else {
                    e.expected.into()
                },
            )
            .suggest(better)
        }),
        Value::Integer(_) | Value::Float(_) => Err(Problem::new(
            format!("`{}` has no unit", value.to_toml()),
            kind,
        )),
        other => Err(wrong_type(other, "a string", kind)),
    }
}

/// `2 Mbit/s` for `2 Mbits`.
#[must_use]
pub fn better_unit(text: &str, units: &[&str]) -> Option<String> {
    let text = text.trim();
    let start = text.find(|c: char| c.is_alphabetic())?;
    let (number, unit) = text.split_at(start);
    let number = number.trim();
    number.parse::<f64>().ok().filter(|n| *n >= 0.0)?;
    let unit = unit.trim();
    let nearest = nearest(unit, units.iter().copied()).filter(|n| *n != unit)?;
    Some(format!("{number} {nearest}"))
}

impl Scalar for Duration {
    const KIND: Kind = Kind::Duration { zero: true };

    fn read(value: &Value, kind: &Kind) -> Result<Duration, Problem> {
        let time: Duration = quantity(value, kind, &["ns", "us", "ms", "s", "min", "h"])?;
        if time > LONGEST {
            return Err(Problem::new(
                format!("`{time}` is too long"),
                "at most ten years",
            ));
        }
        if time.is_zero() && matches!(kind, Kind::Duration { zero: false }) {
            return Err(Problem::new("a time of zero", kind));
        }
        Ok(time)
    }
}

impl Scalar for Rate {
    const KIND: Kind = Kind::Rate;

    fn read(value: &Value, kind: &Kind) -> Result<Rate, Problem> {
        let rate: Rate = quantity(value, kind, &["bit/s", "kbit/s", "Mbit/s", "Gbit/s"])?;
        if rate == Rate::ZERO {
            return Err(Problem::new("a rate of zero", kind));
        }
        if rate > FASTEST {
            return Err(Problem::new(
                format!("`{rate}` is too fast"),
                "at most `1000000 Gbit/s`",
            ));
        }
        Ok(rate)
    }
}

impl Scalar for Bytes {
    const KIND: Kind = crate::schema::SIZE;

    fn read(value: &Value, kind: &Kind) -> Result<Bytes, Problem> {
        let size: Bytes = quantity(value, kind, &["B", "kB", "MB", "GB", "KiB", "MiB", "GiB"])?;
        let (min, max) = match kind {
            Kind::Size { min, max } => (*min, *max),
            _ => (0, u64::MAX),
        };
        if (min..=max).contains(&size.get()) {
            return Ok(size);
        }
        let what = if size == Bytes::ZERO {
            "a size of zero".to_string()
        } else {
            format!(
                "`{size}` is too {}",
                if size.get() < min { "small" } else { "large" }
            )
        };
        Err(Problem::new(what, kind))
    }
}

impl Scalar for Ratio {
    const KIND: Kind = Kind::Ratio;

    fn read(value: &Value, kind: &Kind) -> Result<Ratio, Problem> {
        let number = match value {
            Value::Integer(Some(n)) => *n as f64,
            Value::Float(x) => *x,
            Value::Text(_) => return quantity(value, kind, &["%"]),
            other => return Err(wrong_type(other, "a ratio", kind)),
        };
        let found = || format!("`{}` is not from 0 to 1", value.to_toml());
        Ratio::new(number).ok_or_else(|| Problem::new(found(), kind))
    }
}

/// Checks a name of a node, link, transport or flow; returns the reason if it is invalid.
///
/// # Errors
/// With what was expected.
pub fn check_name(name: &str) -> Result<(), &'static str> {
    let good = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '+');
    if name.is_empty() || name.chars().count() > 64 {
        Err("expected 1 to 64 characters")
    } else if !name.chars().all(good) {
        Err("expected letters, digits, `-`, `_` and `+` only")
    } else {
        Ok(())
    }
}
