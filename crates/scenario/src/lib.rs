//! Scenario files: TOML to a validated model and routed graph.

mod model;

pub use model::{Flow, Handshake, Limits, Link, LinkId, Node, NodeId, Scenario};
