//! Scenario files: TOML to a validated model and routed graph.
//!
//! [`Document::parse`] reads the text, [`Document::with`] sets single values in it,
//! [`Document::validate`] checks everything and computes the routes. Errors are returned as
//! [`Diagnostics`], each with its line, its column, the expected values and the nearest name.
//! Programs that need no file use [`Scenario::builder`]. Every table and key is described by
//! [`schema`].
//!
//! ```
//! use bentpipe_scenario::Document;
//!
//! let text = bentpipe_scenario::template().replace("[link.satellite]", "[link.satelite]");
//! let text = text.replace("2 Mbit/s", "2 Mbits");
//! let errors = Document::parse("mine.toml", &text)?.validate().unwrap_err();
//! assert_eq!(errors.errors[0].message(), "`rate`: unknown unit `Mbits` in `2 Mbits`");
//! assert_eq!(errors.errors[0].advice(), ["did you mean `2 Mbit/s`?"]);
//! # Ok::<(), bentpipe_scenario::Diagnostics>(())
//! ```

mod attach;
mod builder;
mod courses;
mod document;
mod forward;
mod fuzzy_rules;
mod groups;
mod hash;
mod incompatible;
mod model;
mod queue_length;
mod quic;
mod read;
mod route;
mod schema;
pub mod space;
mod split;
mod template;
mod write;

pub use bentpipe_document::{Diagnostic, Diagnostics, Override, SetBy};
pub use bentpipe_link::LinkConflict;
pub use builder::{BuildError, FlowBuilder, ScenarioBuilder};
pub use courses::pair_timeline;
pub use document::Document;
pub use forward::Routes;
pub use groups::Groups;
pub use hash::ScenarioHash;
pub use model::{
    Connection, Flow, Handshake, Kept, Leg, Limits, Link, LinkDownPolicy, LinkId, Medium, MediumId,
    Middlebox, Node, NodeId, Offload, Pep, RouteChange, Scenario, Split, SplitPep,
};
pub use queue_length::QueueLength;
pub use quic::{quic_settings, refused_over_quic, tls_flights};
pub use schema::{LARGEST_COUNT, reference, schema};
pub use template::template;
pub use write::WriteError;
