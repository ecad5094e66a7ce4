//! Checked access to the parameters that were given.

use super::declare::{Declared, Value};
use super::error::names;
use super::{BuildError, Parameter, ParameterValue, Parameters, Range};
use bentpipe_units::nearest;

/// Reads checked values: what was given, or the default.
pub(crate) struct Reader<'a> {
    algorithm: &'a str,
    given: &'a Parameters,
}

impl<'a> Reader<'a> {
    /// Checks every given parameter against its description.
    pub(crate) fn new(
        algorithm: &'a str,
        described: &'a [Parameter],
        given: &'a Parameters,
    ) -> Result<Reader<'a>, BuildError> {
        let reader = Reader { algorithm, given };
        let all = || described.iter().map(|parameter| parameter.name);
        for (name, value) in given.iter() {
            let Some(parameter) = described.iter().find(|have| have.name == name) else {
                return Err(BuildError::UnknownParameter {
                    algorithm: algorithm.to_owned(),
                    parameter: name.to_owned(),
                    nearest: nearest(name, all()),
                    known: names(all()),
                });
            };
            if checked(parameter, value).is_none() {
                return Err(reader.bad(parameter.name, value, parameter.range.to_string()));
            }
        }
        Ok(reader)
    }

    pub(crate) fn bad(
        &self,
        parameter: &'static str,
        given: &ParameterValue,
        expected: String,
    ) -> BuildError {
        let given = match given {
            ParameterValue::Text(text) => format!("`{text}`"),
            other => other.to_string(),
        };
        BuildError::BadValue {
            algorithm: self.algorithm.to_owned(),
            parameter,
            given,
            expected,
        }
    }

    /// The value of a declared parameter: what was given, or the default.
    pub(crate) fn get<T: Value>(&self, declared: &Declared<T>) -> Result<T, BuildError> {
        let parameter = declared.parameter();
        let value = self.value(&parameter);
        let typed = checked(&parameter, &value).and_then(|value| T::take(&value));
        typed.ok_or_else(|| self.bad(parameter.name, &value, parameter.range.to_string()))
    }

    /// A value for every parameter: what was given, or the default.
    pub(crate) fn all(&self, described: &[Parameter]) -> Result<Parameters, BuildError> {
        let mut all = Parameters::new();
        for parameter in described {
            let value = self.value(parameter);
            let expected = || self.bad(parameter.name, &value, parameter.range.to_string());
            all.set(
                parameter.name,
                checked(parameter, &value).ok_or_else(expected)?,
            );
        }
        Ok(all)
    }

    /// The value of a parameter as it was given, or the default.
    pub(crate) fn value(&self, parameter: &Parameter) -> ParameterValue {
        let given = self.given.get(parameter.name).cloned();
        given.unwrap_or_else(|| parameter.default.value())
    }
}

/// `value` in the form and range of `parameter`: a quantity in its text form is read, and a single
/// number is read as a list of one.
fn checked(parameter: &Parameter, value: &ParameterValue) -> Option<ParameterValue> {
    let within = |x: &f64, min: f64, max: f64| x.is_finite() && (min..=max).contains(x);
    match (parameter.range, value) {
        (Range::Number { min, max }, ParameterValue::Number(x)) => {
            within(x, min, max).then(|| value.clone())
        }
        (Range::Numbers { min, max }, ParameterValue::Numbers(list)) => {
            let fits = !list.is_empty() && list.iter().all(|x| within(x, min, max));
            fits.then(|| value.clone())
        }
        (Range::Numbers { min, max }, ParameterValue::Number(x)) => {
            within(x, min, max).then(|| ParameterValue::Numbers(vec![*x]))
        }
        (Range::OneOf(words), ParameterValue::Text(text)) => {
            words.contains(&text.as_str()).then(|| value.clone())
        }
        (Range::Flag, ParameterValue::Flag(_)) => Some(value.clone()),
        (Range::Duration { min, max }, ParameterValue::Duration(time)) => {
            (min..=max).contains(time).then(|| value.clone())
        }
        (Range::Duration { .. }, ParameterValue::Text(text)) => {
            checked(parameter, &ParameterValue::Duration(text.parse().ok()?))
        }
        _ => None,
    }
}
