//! Errors of building a scenario in a program.

use bentpipe_units::Time;

/// Why a scenario cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// The run would end before it starts.
    #[error("the duration is zero")]
    NoDuration,
    /// The scenario has no flows.
    #[error("the scenario has no flows")]
    NoFlows,
    /// Two nodes, links, flows or middleboxes share a name.
    #[error("there are two {what}s named `{name}`")]
    Duplicate {
        /// `node`, `link`, `flow` or `middlebox`.
        what: &'static str,
        /// The name that occurs twice.
        name: String,
    },
    /// A link or flow refers to a node of another builder.
    #[error("{what} `{name}` is at a node that does not exist")]
    UnknownNode {
        /// `link` or `flow`.
        what: &'static str,
        /// Name of the link or flow.
        name: String,
    },
    /// A link or flow ends where it starts.
    #[error("{what} `{name}` ends where it starts")]
    SameNode {
        /// `link` or `flow`.
        what: &'static str,
        /// Name of the link or flow.
        name: String,
    },
    /// A link that carries nothing.
    #[error("the rate of link `{0}` is zero")]
    NoRate(String),
    /// A link with two properties that exclude each other.
    #[error("link `{link}` {conflict}")]
    LinkConflict {
        /// Name of the link.
        link: String,
        /// The two properties.
        conflict: crate::LinkConflict,
    },
    /// A link that shares a medium of another builder.
    #[error("the medium of link `{0}` does not exist")]
    NoMedium(String),
    /// A medium whose slots have no room for data.
    #[error("the slots of medium `{0}` hold nothing: too many terminals, slots or overhead")]
    NoSlots(String),
    /// A RED queue that drops all before it drops any.
    #[error("the queue of link `{0}` has its maximum not above its minimum")]
    Thresholds(String),
    /// A file or stream without its TCP, or datagrams with one, or traffic
    /// with pauses over the ideal bound, or a connection for each page over an
    /// imitated agent of ns-2.
    #[error("flow `{0}` needs a transport, or has one that cannot carry it")]
    Transport(String),
    /// A flow without a name to look up.
    #[error("flow `{flow}` looks up no name: {why}")]
    NoLookup {
        /// Name of the flow.
        flow: String,
        /// What it has instead.
        why: &'static str,
    },
    /// A congestion control that cannot be built.
    #[error("flow `{flow}`: {why}")]
    CongestionControl {
        /// Name of the flow.
        flow: String,
        /// Description of the error.
        why: bentpipe_tcp::TransportError,
    },
    /// A path that was given for a flow does not lead from its one node to its
    /// other, or the times are out of order.
    #[error("flow `{flow}`: the route from {at} on {why}")]
    Route {
        /// Name of the flow.
        flow: String,
        /// From when on the route holds.
        at: Time,
        /// Description of the error.
        why: &'static str,
    },
    /// A middlebox whose node has no link of that name.
    #[error("middlebox `{name}` is not at link `{link}`")]
    NotAtLink {
        /// Name of the box.
        name: String,
        /// Name of the link.
        link: String,
    },
    /// A split-connection PEP that cannot split a flow.
    #[error("middlebox `{middlebox}` cannot split flow `{flow}`: {why}")]
    NoSplit {
        /// Name of the flow.
        flow: String,
        /// Name of the PEP.
        middlebox: String,
        /// Description of the error.
        why: &'static str,
    },
    /// No path between the nodes of a flow.
    #[error("no path leads from `{from}` to `{to}` and back, or it is too long")]
    Unconnected {
        /// First node of the path.
        from: String,
        /// Last node of the path.
        to: String,
    },
}
