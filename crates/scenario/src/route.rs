//! Routes: the path with the shortest propagation delay, and among those the
//! one with the fewest links.
//!
//! Computed once, by Dijkstra's algorithm from each distinct source, which stops when the last
//! destination of that source is reached. A node with one neighbour starts its search there, so
//! that a thousand hosts behind one router share one search. Ties that remain go to the link that
//! comes first, so that a route does not depend on the other flows.
//!
//! No route passes through a node with a single neighbour. None passes through the only terminal of a
//! network on the ground either, but to or from a node of that network. A search enters such nodes
//! where its destinations are there, so that its cost does not grow with the hosts and the terminals of
//! other flows.

use crate::model::{Flow, Handshake, Link, LinkId, NodeId, Scenario};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Time};

mod graph;
mod search;

use graph::{Graph, Wanted};
use search::Search;

/// Links of a path, at most: the largest time to live of IP.
pub(crate) const LONGEST: usize = 255;

/// No node, edge or place.
const NONE: u32 = u32::MAX;

/// A way from one terminal of a constellation to another, which becomes links once it is known which
/// routes take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) one_way_delay: Duration,
}

/// The ways over the constellations of a scenario. Two in a row of one constellation are longer than the
/// way that joins their ends, and there is one wherever a route may need it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SkyWays {
    /// Numbered after the links.
    pub(crate) ways: Vec<Way>,
    /// Of each node the one terminal of its network on the ground, where that has exactly one.
    pub(crate) gates: Vec<Option<NodeId>>,
}

/// Why a flow has no route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoute {
    /// No path between its nodes.
    Unconnected,
    /// More than [`LONGEST`] links.
    TooLong,
    /// The searches before it took too much work.
    TooMuchWork,
}

impl Scenario {
    /// The shortest ways from one node to another and back, as a flow between
    /// them would have them; `None` if there are none.
    #[must_use]
    pub fn shortest_ways(&self, from: NodeId, to: NodeId) -> Option<(Vec<LinkId>, Vec<LinkId>)> {
        let mut flows = [Flow {
            name: String::new(),
            from,
            to,
            transport: None,
            application: Application::Transfer { size: Bytes::ZERO },
            start: Time::ZERO,
            stop: None,
            handshake: Handshake::default(),
            dns: false,
            subscriber: None,
            forward: Vec::new(),
            reverse: Vec::new(),
            changes: Vec::new(),
            ipsec: None,
            split: None,
        }];
        route(
            self.nodes.len(),
            &self.links,
            &SkyWays::default(),
            &mut flows,
        )
        .ok()?;
        let [flow] = flows;
        Some((flow.forward, flow.reverse))
    }
}

/// Fills in `forward` and `reverse` of every flow that has no route, or returns the flows that have
/// no route.
pub(crate) fn route(
    nodes: usize,
    links: &[Link],
    over_sky: &SkyWays,
    flows: &mut [Flow],
) -> Result<(), Vec<(usize, NoRoute)>> {
    let graph = Graph::new(nodes, links, over_sky);
    let mut searches: Vec<Wanted> = Vec::with_capacity(2 * flows.len());
    for (i, flow) in flows.iter().enumerate() {
        if !flow.forward.is_empty() || !flow.changes.is_empty() {
            continue; // Its routes were given.
        }
        searches.push(graph.wanted(flow.from, flow.to, i, true));
        searches.push(graph.wanted(flow.to, flow.from, i, false));
    }
    // Searches from the same node are adjacent; the order has no influence on the result.
    searches.sort_unstable_by_key(|w| (w.root, w.flow, w.forward));
    let mut failed = Vec::new();
    let mut search = Search::new(nodes);
    for group in searches.chunk_by(|a, b| a.root == b.root) {
        search.run(&graph, group);
        for wanted in group {
            let flow = &mut flows[wanted.flow];
            match search.path(wanted) {
                Ok(path) if wanted.forward => flow.forward = path,
                Ok(path) => flow.reverse = path,
                Err(why) => failed.push((wanted.flow, why)),
            }
        }
    }
    failed.sort_unstable_by_key(|(flow, _)| *flow);
    failed.dedup_by_key(|(flow, _)| *flow);
    if failed.is_empty() {
        Ok(())
    } else {
        Err(failed)
    }
}
