//! The nodes, links and ways that searches for routes cross.

use super::{NONE, SkyWays};
use crate::model::{Link, NodeId};
use bentpipe_units::Duration;

/// A path that a flow needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Where the search starts.
    pub(super) root: u32,
    /// The link from the source to the root, where they differ.
    pub(super) first: Option<u32>,
    pub(super) to: u32,
    pub(super) flow: usize,
    pub(super) forward: bool,
}

/// A link, or a way, of the graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) id: u32,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) one_way_delay: Duration,
}

/// The edges of each node, one node after the other.
#[derive(Default)]
pub(super) struct Lists {
    /// Where those of each node start in `edges`.
    starts: Vec<u32>,
    edges: Vec<Edge>,
}

impl Lists {
    /// `edges` by their node, in the order given.
    fn new(nodes: usize, edges: impl Iterator<Item = (u32, Edge)> + Clone) -> Lists {
        let mut starts = vec![0u32; nodes + 1];
        for (node, _) in edges.clone() {
            starts[node as usize + 1] += 1;
        }
        for i in 0..nodes {
            starts[i + 1] += starts[i];
        }
        let nothing = Edge {
            id: NONE,
            from: 0,
            to: 0,
            one_way_delay: Duration::ZERO,
        };
        let mut listed = vec![nothing; starts[nodes] as usize];
        let mut next = starts.clone();
        for (node, edge) in edges {
            let slot = &mut next[node as usize];
            listed[*slot as usize] = edge;
            *slot += 1;
        }
        Lists {
            starts,
            edges: listed,
        }
    }

    pub(super) fn of(&self, node: u32) -> &[Edge] {
        let node = node as usize;
        &self.edges[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

/// The nodes and what joins them.
pub(super) struct Graph {
    /// Nodes through which no route passes.
    pub(super) dead_ends: Vec<bool>,
    /// Of each node the one terminal of its network on the ground; none, or several: [`NONE`].
    pub(super) gates: Vec<u32>,
    /// The number of the first way.
    first_way: u32,
    /// Edges by where they begin. Those that only destinations need come last, and before them links
    /// before ways.
    pub(super) leaving: Lists,
    /// Edges that only destinations need, from nodes through which routes pass, by where they end.
    pub(super) entering: Lists,
}

impl Graph {
    pub(super) fn new(nodes: usize, links: &[Link], over_sky: &SkyWays) -> Graph {
        let first_way = links.len() as u32;
        let links = links
            .iter()
            .map(|link| (link.from, link.to, link.settings.one_way_delay));
        let ways = over_sky.ways.iter();
        let ways = ways.map(|way| (way.from, way.to, way.one_way_delay));
        let dead_ends = dead_ends(nodes, links.clone(), ways.clone());
        let gates = over_sky.gates.iter().map(|gate| gate.map_or(NONE, |g| g.0));
        let mut gates: Vec<u32> = gates.collect();
        gates.resize(nodes, NONE);
        let edges = (0..)
            .zip(links.chain(ways))
            .map(|(id, (from, to, delay))| Edge {
                id,
                from: from.0,
                to: to.0,
                one_way_delay: delay,
            });
        let mut graph = Graph {
            dead_ends,
            gates,
            first_way,
            leaving: Lists::default(),
            entering: Lists::default(),
        };
        let to_others = edges.clone().filter(|edge| !graph.is_to_dead_end(edge));
        let last = edges.filter(|edge| graph.is_to_dead_end(edge));
        let passed = |edge: &Edge| match graph.is_way(edge.id) {
            true => graph.gates[edge.from as usize] != edge.from,
            false => !graph.dead_ends[edge.from as usize],
        };
        let leaving = to_others.chain(last.clone());
        let leaving = Lists::new(nodes, leaving.map(|edge| (edge.from, edge)));
        let entering = last.filter(passed).map(|edge| (edge.to, edge));
        let entering = Lists::new(nodes, entering);
        (graph.leaving, graph.entering) = (leaving, entering);
        graph
    }

    pub(super) fn is_way(&self, edge: u32) -> bool {
        edge >= self.first_way
    }

    /// True for an edge that only routes to a node at its end, or behind that, need.
    pub(super) fn is_to_dead_end(&self, edge: &Edge) -> bool {
        match self.is_way(edge.id) {
            true => self.gates[edge.to as usize] == edge.to,
            false => self.dead_ends[edge.to as usize],
        }
    }

    /// The search for a path. A source with a single neighbour searches from
    /// that neighbour; so does a terminal with a single way, which needs no other.
    pub(super) fn wanted(&self, from: NodeId, to: NodeId, flow: usize, forward: bool) -> Wanted {
        let leaving = self.leaving.of(from.0);
        let single = leaving.windows(2).all(|edges| edges[0].to == edges[1].to);
        let cheapest = leaving
            .iter()
            .min_by_key(|edge| (edge.one_way_delay, edge.id));
        let first = cheapest.filter(|_| single).copied();
        Wanted {
            root: first.map_or(from.0, |edge| edge.to),
            first: first.map(|edge| edge.id),
            to: to.0,
            flow,
            forward,
        }
    }
}

/// The nodes through which no route passes: those whose links all lead to and from one neighbour,
/// and those without links, which ways alone join to others.
fn dead_ends(
    nodes: usize,
    links: impl Iterator<Item = (NodeId, NodeId, Duration)>,
    ways: impl Iterator<Item = (NodeId, NodeId, Duration)>,
) -> Vec<bool> {
    let mut neighbours = vec![None; nodes];
    let mut dead_ends = vec![true; nodes];
    for (from, to, _) in links {
        for (node, neighbour) in [(from, to), (to, from)] {
            let known = neighbours[node.0 as usize].get_or_insert(neighbour);
            dead_ends[node.0 as usize] &= *known == neighbour;
        }
    }
    for node in ways.flat_map(|(from, to, _)| [from, to]) {
        dead_ends[node.0 as usize] &= neighbours[node.0 as usize].is_none();
    }
    dead_ends
}
