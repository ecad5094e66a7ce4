//! The scenario to start from.

/// A commented, valid scenario, for `bentpipe new`.
#[must_use]
pub fn template() -> &'static str {
    include_str!("template.toml")
}
