//! The values that a scenario gives for the parameters of an algorithm.

use bentpipe_units::{Duration, Rate};
use core::fmt;
use std::collections::BTreeMap;

/// The value of one parameter, as given.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum ParameterValue {
    /// A number without a unit.
    Number(f64),
    /// A word, or a quantity still in its text form.
    Text(String),
    /// A list of numbers.
    Numbers(Vec<f64>),
    /// `true` or `false`.
    Flag(bool),
    /// A time with a unit.
    Duration(Duration),
    /// A rate with a unit.
    Rate(Rate),
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterValue::Number(x) => write!(f, "{x}"),
            ParameterValue::Text(text) => f.write_str(text),
            ParameterValue::Numbers(list) => write_numbers(f, list),
            ParameterValue::Flag(flag) => write!(f, "{flag}"),
            ParameterValue::Duration(duration) => write!(f, "{duration}"),
            ParameterValue::Rate(rate) => write!(f, "{rate}"),
        }
    }
}

/// Writes `[20, 30, 40]`.
pub(super) fn write_numbers(f: &mut fmt::Formatter<'_>, list: &[f64]) -> fmt::Result {
    f.write_str("[")?;
    for (i, x) in list.iter().enumerate() {
        write!(f, "{}{x}", if i == 0 { "" } else { ", " })?;
    }
    f.write_str("]")
}

/// Makes `ParameterValue: From` the payload of each arm.
macro_rules! from_payload {
    ($($arm:ident: $payload:ty),*) => {
        $(impl From<$payload> for ParameterValue {
            fn from(payload: $payload) -> ParameterValue {
                ParameterValue::$arm(payload)
            }
        })*
    };
}

from_payload!(Number: f64, Text: String, Numbers: Vec<f64>, Flag: bool,
              Duration: Duration, Rate: Rate);

impl From<&str> for ParameterValue {
    fn from(text: &str) -> ParameterValue {
        ParameterValue::Text(text.to_owned())
    }
}

/// Parameters by name, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Parameters(BTreeMap<String, ParameterValue>);

impl Parameters {
    /// No parameters: every default holds.
    #[must_use]
    pub const fn new() -> Parameters {
        Parameters(BTreeMap::new())
    }

    /// Sets a parameter; an earlier value is replaced and returned.
    pub fn set(
        &mut self,
        name: impl Into<String>,
        value: impl Into<ParameterValue>,
    ) -> Option<ParameterValue> {
        self.0.insert(name.into(), value.into())
    }

    /// Adds a parameter.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<ParameterValue>) -> Parameters {
        self.set(name, value);
        self
    }

    /// The value of a parameter, if it was given.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ParameterValue> {
        self.0.get(name)
    }

    /// The value of a parameter that is a number; NaN where there is none.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            Some(ParameterValue::Number(number)) => *number,
            _ => f64::NAN,
        }
    }

    /// Takes a parameter out.
    pub fn remove(&mut self, name: &str) -> Option<ParameterValue> {
        self.0.remove(name)
    }

    /// Every parameter that was given, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ParameterValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// How many were given.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if none was given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<N: Into<String>, V: Into<ParameterValue>> FromIterator<(N, V)> for Parameters {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Parameters {
        Parameters(
            pairs
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }
}
