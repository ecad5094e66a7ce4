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
