//! Why a congestion control cannot be built.

/// Why a congestion control could not be built, in words for the person who
/// asked for it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// No algorithm of that name.
    #[error("unknown {kind} `{name}`{}; there are {known}", meant(nearest))]
    UnknownName {
        /// `congestion control`, or the slot.
        kind: &'static str,
        /// The name as the user wrote it.
        name: String,
        /// Suggestion: the nearest valid name.
        nearest: Option<&'static str>,
        /// Every name, for the message.
        known: String,
    },
    /// The algorithm has no such parameter.
    #[error(
        "`{algorithm}` has no parameter `{parameter}`{}; it has {known}",
        meant(nearest)
    )]
    UnknownParameter {
        /// Name of the congestion control.
        algorithm: String,
        /// The parameter as the user wrote it.
        parameter: String,
        /// Suggestion: the nearest valid name.
        nearest: Option<&'static str>,
        /// Every name, for the message.
        known: String,
    },
    /// The parameter cannot have that value.
    #[error("parameter `{parameter}` of `{algorithm}` is {given}: expected {expected}")]
    BadValue {
        /// Name of the congestion control.
        algorithm: String,
        /// Name of the parameter.
        parameter: &'static str,
        /// The value as the user wrote it.
        given: String,
        /// Description of the permitted values.
        expected: String,
    },
    /// A name that a user's control cannot have.
    #[error(
        "`{name}` cannot be the name of a congestion control: expected a letter, then letters, \
         digits, `-`, `_` and `.`, at most 40 in all"
    )]
    Name {
        /// The name as the user wrote it.
        name: String,
    },
    /// A user's control has the name of something built in.
    #[error(
        "the congestion control `{name}`{} has the name of a built-in transport ({by}): expected \
         another name",
        of(origin)
    )]
    Taken {
        /// The name in conflict.
        name: &'static str,
        /// Where the user's control is from.
        origin: &'static str,
        /// Kind of the built-in item.
        by: &'static str,
    },
    /// A user's control could not be made.
    #[error("congestion control `{name}`: {reason}")]
    Own {
        /// Name of the control.
        name: &'static str,
        /// Why, in its own words.
        reason: String,
    },
}

fn of(origin: &str) -> String {
    match origin {
        "" => String::new(),
        origin => format!(" of {origin}"),
    }
}

fn meant(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

pub(crate) fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() {
        "none".to_owned()
    } else {
        quoted.join(", ")
    }
}
