//! The parameters of one control with values, as the loader and the native
//! build take them.

use crate::{Control, Parameter};
use bentpipe_units::nearest;

/// Why a value was refused, in words for the person who wrote it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// The text is not `name=value`.
    #[error("`{0}` is not of the form NAME=VALUE")]
    Form(String),
    /// The control has no such parameter.
    #[error(
        "{control} has no parameter `{given}`{}; it has {known}",
        nearest.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
    )]
    Unknown {
        /// Name of the control.
        control: &'static str,
        /// The parameter as the user wrote it.
        given: String,
        /// Suggestion: the nearest valid name.
        nearest: Option<&'static str>,
        /// Names of all parameters of the control.
        known: String,
    },
    /// The value does not fit the parameter.
    #[error("`{given}` is no value for `{parameter}` of {control}: expected {expected}")]
    Value {
        /// Name of the control.
        control: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
        /// The value as the user wrote it.
        given: String,
        /// Description of the permitted values.
        expected: String,
    },
}

/// A value for each parameter of a control: its defaults, and what was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    control: &'static Control,
    words: Vec<u64>,
}

impl Values {
    /// The defaults of `control`.
    #[must_use]
    pub fn new(control: &'static Control) -> Values {
        let mut words = Vec::with_capacity(control.width());
        for parameter in control.parameters {
            words.extend_from_slice(parameter.default);
            words.resize(words.len() + parameter.width() - parameter.default.len(), 0);
        }
        Values { control, words }
    }

    /// The control whose parameters these are.
    #[must_use]
    pub const fn control(&self) -> &'static Control {
        self.control
    }

    /// What the C reads: the words of all parameters in the order of the
    /// catalogue.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Sets a parameter from `name=value`.
    pub fn set(&mut self, assignment: &str) -> Result<(), ValueError> {
        let (name, value) = assignment
            .split_once('=')
            .ok_or_else(|| ValueError::Form(assignment.to_owned()))?;
        self.set_text(name.trim(), value)
    }

    /// Sets the parameter `name` from the text of a value.
    pub fn set_text(&mut self, name: &str, value: &str) -> Result<(), ValueError> {
        let (at, parameter) = self.find(name)?;
        let words = parameter
            .read(value)
            .ok_or_else(|| self.refused(parameter, value, parameter.expected()))?;
        self.words[at..at + words.len()].copy_from_slice(&words);
        Ok(())
    }

    /// Checks what no parameter says alone: lists that belong together have one
    /// length, and thresholds ascend.
    pub fn check(&self) -> Result<(), ValueError> {
        let list = |name: &str| {
            let (at, parameter) = self.find(name).ok()?;
            let words = &self.words[at..at + parameter.width()];
            Some((
                parameter,
                words,
                words.iter().take_while(|w| **w != 0).count(),
            ))
        };
        let (Some((thresholds, limits, count)), Some((slopes, words, others))) =
            (list("thresholds"), list("slopes"))
        else {
            return Ok(());
        };
        if limits[..count].windows(2).any(|pair| pair[0] >= pair[1]) {
            let expected = "thresholds that ascend".to_owned();
            return Err(self.refused(thresholds, &thresholds.write(limits), expected));
        }
        if count != others {
            let expected = format!("as many slopes as thresholds ({count})");
            return Err(self.refused(slopes, &slopes.write(words), expected));
        }
        Ok(())
    }

    /// Each parameter with the text of its value.
    pub fn texts(&self) -> impl Iterator<Item = (&'static Parameter, String)> + '_ {
        let mut at = 0;
        self.control.parameters.iter().map(move |parameter| {
            let words = &self.words[at..at + parameter.width()];
            at += parameter.width();
            (parameter, parameter.write(words))
        })
    }

    fn find(&self, name: &str) -> Result<(usize, &'static Parameter), ValueError> {
        let mut at = 0;
        for parameter in self.control.parameters {
            if parameter.name == name {
                return Ok((at, parameter));
            }
            at += parameter.width();
        }
        let all = || self.control.parameters.iter().map(|have| have.name);
        let quoted: Vec<String> = all().map(|name| format!("`{name}`")).collect();
        Err(ValueError::Unknown {
            control: self.control.name,
            given: name.to_owned(),
            nearest: nearest(name, all()),
            known: quoted.join(", "),
        })
    }

    fn refused(&self, parameter: &'static Parameter, given: &str, expected: String) -> ValueError {
        ValueError::Value {
            control: self.control.name,
            parameter: parameter.name,
            given: given.to_owned(),
            expected,
        }
    }
}
