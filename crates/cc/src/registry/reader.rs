//! Checked access to the parameters of an algorithm.

use super::build::names;
use super::{BuildError, DefaultValue, Parameter, ParameterValue, Parameters, Range, nearest};
use bentpipe_units::Duration;

/// Reads checked values: what was given, or the default.
pub(super) struct Reader<'a> {
    algorithm: &'a str,
    pub(super) described: &'a [Parameter],
    given: &'a Parameters,
}

impl<'a> Reader<'a> {
    /// Checks every given parameter against its description.
    pub(super) fn new(
        algorithm: &'a str,
        described: &'a [Parameter],
        given: &'a Parameters,
    ) -> Result<Reader<'a>, BuildError> {
        let reader = Reader {
            algorithm,
            described,
            given,
        };
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

    pub(super) fn bad(
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

    /// The value of a parameter. All were checked, so what does not fit is one
    /// that the algorithm does not describe: a mistake of the tables, and found
    /// by the test that builds every combination.
    pub(super) fn value(&self, name: &str) -> ParameterValue {
        let parameter = self.described.iter().find(|have| have.name == name);
        debug_assert!(
            parameter.is_some(),
            "`{}` does not describe `{name}`",
            self.algorithm
        );
        let Some(parameter) = parameter else {
            return ParameterValue::Flag(false);
        };
        let given = self
            .given
            .get(name)
            .and_then(|value| checked(parameter, value));
        given.unwrap_or_else(|| match parameter.default {
            DefaultValue::Number(x) => ParameterValue::Number(x),
            DefaultValue::Text(text) => ParameterValue::Text(text.to_owned()),
            DefaultValue::Numbers(list) => ParameterValue::Numbers(list.to_vec()),
            DefaultValue::Flag(flag) => ParameterValue::Flag(flag),
            DefaultValue::Duration(duration) => ParameterValue::Duration(duration),
        })
    }

    pub(super) fn number(&self, name: &str) -> f64 {
        if let ParameterValue::Number(x) = self.value(name) {
            x
        } else {
            0.0
        }
    }

    pub(super) fn numbers(&self, name: &str) -> Vec<f64> {
        if let ParameterValue::Numbers(list) = self.value(name) {
            list
        } else {
            Vec::new()
        }
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.value(name) == ParameterValue::Flag(true)
    }

    pub(super) fn duration(&self, name: &str) -> Duration {
        if let ParameterValue::Duration(time) = self.value(name) {
            time
        } else {
            Duration::ZERO
        }
    }

    /// True if the word of parameter `name` is `word`.
    pub(super) fn is(&self, name: &str, word: &str) -> bool {
        matches!(self.value(name), ParameterValue::Text(text) if text == word)
    }
}

/// `value` in the form and range of `parameter`: a quantity in its text form is
/// read, and one number stands for a list of one.
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
