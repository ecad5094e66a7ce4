//! Parameters of algorithms: their declaration, the values that a scenario gives,
//! and how one becomes the other.

mod declare;
mod error;
mod reader;
mod value;

pub(crate) use declare::{
    Declared, ParameterSet, Word, add, flag, listed, number, numbers, parameters, time, word,
    word_of, words,
};
pub use error::BuildError;
pub(crate) use error::names;
pub(crate) use reader::Reader;
pub use value::{ParameterValue, Parameters};

use bentpipe_units::Duration;
use core::fmt;
use value::write_numbers;

/// A parameter of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// As scenarios write it.
    pub name: &'static str,
    /// Default value.
    pub default: DefaultValue,
    /// The unit; empty where there is none.
    pub unit: &'static str,
    /// Permitted values.
    pub range: Range,
    /// One-line description for the reference.
    pub meaning: &'static str,
}

impl Parameter {
    /// A number with its range, ends included, for a user's control. The
    /// texts live until the program ends.
    #[must_use]
    pub fn of_number(
        name: impl Into<String>,
        default: f64,
        (min, max): (f64, f64),
        unit: impl Into<String>,
        meaning: impl Into<String>,
    ) -> Parameter {
        Parameter {
            name: name.into().leak(),
            default: DefaultValue::Number(default),
            unit: unit.into().leak(),
            range: Range::Number { min, max },
            meaning: meaning.into().leak(),
        }
    }
}

/// The default of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultValue {
    /// A number, in the parameter's unit.
    Number(f64),
    /// One of the words of the parameter.
    Text(&'static str),
    /// A list of numbers.
    Numbers(&'static [f64]),
    /// `true` or `false`.
    Flag(bool),
    /// A time with a unit.
    Duration(Duration),
}

/// Permitted values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// A number, ends included.
    Number {
        /// Smallest permitted value.
        min: f64,
        /// Largest permitted value.
        max: f64,
    },
    /// One or more numbers, each in the range.
    Numbers {
        /// Smallest permitted value.
        min: f64,
        /// Largest permitted value.
        max: f64,
    },
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A time, ends included.
    Duration {
        /// Shortest permitted time.
        min: Duration,
        /// Longest permitted time.
        max: Duration,
    },
}

impl DefaultValue {
    /// The default as a value that a scenario could give.
    #[must_use]
    pub fn value(self) -> ParameterValue {
        match self {
            DefaultValue::Number(x) => ParameterValue::Number(x),
            DefaultValue::Text(text) => ParameterValue::Text(text.to_owned()),
            DefaultValue::Numbers(list) => ParameterValue::Numbers(list.to_vec()),
            DefaultValue::Flag(flag) => ParameterValue::Flag(flag),
            DefaultValue::Duration(duration) => ParameterValue::Duration(duration),
        }
    }
}

impl fmt::Display for DefaultValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DefaultValue::Number(x) => write!(f, "{x}"),
            DefaultValue::Text(text) => f.write_str(text),
            DefaultValue::Numbers(list) => write_numbers(f, list),
            DefaultValue::Flag(flag) => write!(f, "{flag}"),
            DefaultValue::Duration(duration) => write!(f, "{duration}"),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Range::Number { min, max } => write!(f, "a number from {min} to {max}"),
            Range::Numbers { min, max } => {
                write!(f, "a list of numbers, each from {min} to {max}")
            }
            Range::OneOf(words) => {
                f.write_str("one of ")?;
                for (i, word) in words.iter().enumerate() {
                    write!(f, "{}`{word}`", if i == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            Range::Flag => f.write_str("true or false"),
            Range::Duration { min, max } => {
                write!(f, "a time with its unit, from {min} to {max}")
            }
        }
    }
}
