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
        /// What was given.
        name: String,
        /// What was probably meant.
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
        /// The algorithm.
        algorithm: String,
        /// What was given.
        parameter: String,
        /// What was probably meant.
        nearest: Option<&'static str>,
        /// Every name, for the message.
        known: String,
    },
    /// The parameter cannot have that value.
    #[error("parameter `{parameter}` of `{algorithm}` is {given}: expected {expected}")]
    BadValue {
        /// The algorithm.
        algorithm: String,
        /// The parameter.
        parameter: &'static str,
        /// What was given.
        given: String,
        /// What would have been right.
        expected: String,
    },
    /// A name that a control of one's own cannot have.
    #[error(
        "`{name}` cannot be the name of a congestion control: expected a letter, then letters, \
         digits, `-`, `_` and `.`, at most 40 in all"
    )]
    Name {
        /// What was given.
        name: String,
    },
    /// A control of one's own has the name of something built in.
    #[error(
        "the congestion control `{name}`{} has the name of a built-in transport ({by}): expected \
         another name",
        of(origin)
    )]
    Taken {
        /// The name.
        name: &'static str,
        /// Where the control of one's own is from.
        origin: &'static str,
        /// What the built-in one is.
        by: &'static str,
    },
    /// A control of one's own could not be made.
    #[error("congestion control `{name}`: {reason}")]
    Own {
        /// Its name.
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
