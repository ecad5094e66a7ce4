//! The commented scenario that `bentpipe new` writes.

/// A commented, valid scenario, for `bentpipe new`.
#[must_use]
pub fn template() -> &'static str {
    include_str!("template.toml")
}
