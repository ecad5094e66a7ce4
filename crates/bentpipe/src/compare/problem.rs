//! What is wrong with the options of a question.

use std::fmt;

/// Why options ask nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct QuestionError {
    /// The option that is wrong, as on the command line: `return-rate`; `None` if there
    /// is no such option.
    pub option: Option<&'static str>,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with an option.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Problem {
    /// There is no option of that name.
    Unknown {
        /// The name.
        name: String,
        /// The nearest name that there is.
        nearest: Option<&'static str>,
    },
    /// A text is no value of the option.
    Value {
        /// The text.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// The value makes no sense here. The words follow the name of the option; other
    /// options stand in them as `--rtt`.
    Setting(String),
}

impl QuestionError {
    /// A value that makes no sense; `why` follows the name of the option.
    pub(crate) fn setting(option: &'static str, why: impl Into<String>) -> QuestionError {
        QuestionError {
            option: Some(option),
            problem: Problem::Setting(why.into()),
        }
    }
}

impl fmt::Display for QuestionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let option = self.option.unwrap_or_default();
        match &self.problem {
            Problem::Unknown { name, nearest } => {
                write!(f, "there is no option `{name}`")?;
                match nearest {
                    Some(near) => write!(f, "; did you mean `{near}`?"),
                    None => Ok(()),
                }
            }
            Problem::Value { text, why } => {
                write!(f, "invalid value '{text}' for `{option}`: {why}")
            }
            Problem::Setting(why) => write!(f, "`{option}` {why}"),
        }
    }
}
