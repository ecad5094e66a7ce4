//! The tables of a scenario, declared once.
//!
//! From each declaration come the struct or enum that the reader works with,
//! the reader of single values, messages, and the documentation
//! (`bentpipe schema`). A `kind` is a variant of an enum, so that every
//! consumer handles every kind. The parameters of congestion controls are not
//! repeated here: [`bentpipe_cc::list`] describes them.

pub(crate) mod constellation;
pub(crate) mod control;
pub(crate) mod flow;
pub(crate) mod jitter;
pub(crate) mod link;
pub(crate) mod medium;
pub(crate) mod middlebox;
pub(crate) mod network;
pub(crate) mod protection;
pub(crate) mod queue;
pub(crate) mod slots;
pub(crate) mod timeline;
pub(crate) mod transport;

use bentpipe_document::reading::Declared;
use bentpipe_document::schema::Section;

/// Nodes, links and flows of a scenario, of each at most this many.
pub const LARGEST_COUNT: u64 = 100_000;

/// The table of a whole scenario. All others are found from its keys.
#[must_use]
pub fn schema() -> &'static Section {
    network::Top::section()
}

/// The reference of the language, as Markdown: `docs/scenario.md`.
#[must_use]
pub fn reference() -> String {
    let tables = bentpipe_document::reference::markdown(schema());
    format!("{}\n{tables}", include_str!("schema/introduction.md"))
}
