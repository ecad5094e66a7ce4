//! Routes: the path with the shortest propagation delay, and among those the
//! one with the fewest links.
//!
//! Computed once, by Dijkstra's algorithm from each distinct source, which stops when the last
//! destination of that source is reached. A node with one neighbour starts its search there, so
//! that a thousand hosts behind one router share one search. Ties that remain go to the link that
//! comes first, so that a route does not depend on the other flows.
//!
//! A route passes through no node with a single neighbour, and through no terminal that only a
//! constellation joins to others. A search reaches such nodes only where they are its destinations,
//! so that its cost does not grow with the hosts and terminals of other flows.

use crate::model::{Flow, Handshake, Link, LinkId, NodeId, Scenario};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Links of a path, at most: the largest time to live of IP.
pub(crate) const LONGEST: usize = 255;

/// Nodes that all searches together may visit.
const MOST_WORK: usize = 100_000_000;

/// A way from one terminal of a constellation to another, which becomes links once it is known which
/// routes take it. Any two in a row are longer than the one that joins their ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) one_way_delay: Duration,
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
        route(self.nodes.len(), &self.links, &[], &mut flows).ok()?;
        let [flow] = flows;
        Some((flow.forward, flow.reverse))
    }
}

/// Fills in `forward` and `reverse` of every flow that has no route, or returns the flows that have
/// no route. Ways are numbered after the links.
pub(crate) fn route(
    nodes: usize,
    links: &[Link],
    ways: &[Way],
    flows: &mut [Flow],
) -> Result<(), Vec<(usize, NoRoute)>> {
    let graph = Graph::new(nodes, links, ways);
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

/// A path that a flow needs.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    /// Where the search starts.
    root: u32,
    /// The link from the source to the root, where they differ.
    first: Option<u32>,
    to: u32,
    flow: usize,
    forward: bool,
}

/// A link, or a way, of the graph.
#[derive(Clone, Copy, Debug)]
struct Edge {
    id: u32,
    from: u32,
    to: u32,
    one_way_delay: Duration,
}

/// The edges of each node, one node after the other.
struct Lists {
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
            id: u32::MAX,
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

    fn of(&self, node: u32) -> &[Edge] {
        let node = node as usize;
        &self.edges[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

/// The nodes and what joins them.
struct Graph {
    /// Nodes through which no route passes.
    ends: Vec<bool>,
    /// Edges by where they begin, those to ends last.
    leaving: Lists,
    /// Edges to ends, by the end.
    entering: Lists,
}

impl Graph {
    fn new(nodes: usize, links: &[Link], ways: &[Way]) -> Graph {
        let links = links
            .iter()
            .map(|link| (link.from, link.to, link.settings.one_way_delay));
        let ways = ways.iter().map(|way| (way.from, way.to, way.one_way_delay));
        let edge = |(id, (from, to, one_way_delay)): (u32, (NodeId, NodeId, Duration))| Edge {
            id,
            from: from.0,
            to: to.0,
            one_way_delay,
        };
        let ends = ends(nodes, links.clone(), ways.clone());
        let edges = (0..).zip(links.chain(ways)).map(edge);
        let is_end = |node: u32| ends[node as usize];
        let to_others = edges.clone().filter(|edge| !is_end(edge.to));
        let to_ends = edges.filter(|edge| is_end(edge.to));
        let leaving = to_others.chain(to_ends.clone());
        Graph {
            leaving: Lists::new(nodes, leaving.map(|edge| (edge.from, edge))),
            entering: Lists::new(nodes, to_ends.map(|edge| (edge.to, edge))),
            ends,
        }
    }

    /// The search for a path. A source with a single neighbour searches from
    /// that neighbour.
    fn wanted(&self, from: NodeId, to: NodeId, flow: usize, forward: bool) -> Wanted {
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
fn ends(
    nodes: usize,
    links: impl Iterator<Item = (NodeId, NodeId, Duration)>,
    ways: impl Iterator<Item = (NodeId, NodeId, Duration)>,
) -> Vec<bool> {
    let mut neighbours = vec![None; nodes];
    let mut ends = vec![true; nodes];
    for (from, to, _) in links {
        for (node, neighbour) in [(from, to), (to, from)] {
            let known = neighbours[node.0 as usize].get_or_insert(neighbour);
            ends[node.0 as usize] &= *known == neighbour;
        }
    }
    for node in ways.flat_map(|(from, to, _)| [from, to]) {
        ends[node.0 as usize] &= neighbours[node.0 as usize].is_none();
    }
    ends
}

/// Length of a path: delay, then links.
type Length = (Duration, u32);

const FAR: Length = (Duration::MAX, u32::MAX);

/// One search after the other, with the same memory.
struct Search {
    root: u32,
    length: Vec<Length>,
    /// The edge over which the shortest path enters each node, and where that begins.
    enters: Vec<(u32, u32)>,
    /// The number of the search that reached, settled or wants each node.
    seen: Vec<u32>,
    settled: Vec<u32>,
    wanted: Vec<u32>,
    /// For each node the first of its edges to ends that are wanted, and where it was written.
    to_wanted: Vec<(u32, u32)>,
    /// Edges to wanted ends, and the next from the same node.
    wanted_edges: Vec<(Edge, u32)>,
    number: u32,
    heap: BinaryHeap<Reverse<(Length, u32)>>,
    work: usize,
}

impl Search {
    fn new(nodes: usize) -> Search {
        Search {
            root: 0,
            length: vec![FAR; nodes],
            enters: vec![(u32::MAX, u32::MAX); nodes],
            seen: vec![0; nodes],
            settled: vec![0; nodes],
            wanted: vec![0; nodes],
            to_wanted: vec![(0, u32::MAX); nodes],
            wanted_edges: Vec::new(),
            number: 0,
            heap: BinaryHeap::new(),
            work: 0,
        }
    }

    /// Finds the shortest paths from the root of `group` to its destinations.
    fn run(&mut self, graph: &Graph, group: &[Wanted]) {
        self.number += 1;
        self.heap.clear();
        self.wanted_edges.clear();
        let Some(first) = group.first() else { return };
        self.root = first.root;
        let mut left = 0;
        for wanted in group {
            let mark = &mut self.wanted[wanted.to as usize];
            if std::mem::replace(mark, self.number) != self.number {
                left += 1;
                self.look_for_end(graph, wanted.to);
            }
        }
        self.reach(self.root, (Duration::ZERO, 0), (u32::MAX, u32::MAX));
        while let Some(Reverse((length, node))) = self.heap.pop() {
            let at = node as usize;
            if self.settled[at] == self.number || self.work > MOST_WORK {
                continue;
            }
            self.settled[at] = self.number;
            self.work += 1;
            if self.wanted[at] == self.number {
                left -= 1;
                if left == 0 {
                    return;
                }
            }
            if graph.ends[at] && node != self.root {
                continue;
            }
            let others = graph.leaving.of(node).iter();
            for edge in others.take_while(|edge| !graph.ends[edge.to as usize]) {
                self.cross(length, edge);
            }
            let (number, mut next) = self.to_wanted[at];
            while number == self.number && next != u32::MAX {
                let (edge, after) = self.wanted_edges[next as usize];
                self.cross(length, &edge);
                next = after;
            }
        }
    }

    /// Notes at the nodes before `node`, if that is an end, their edges to it.
    fn look_for_end(&mut self, graph: &Graph, node: u32) {
        for edge in graph.entering.of(node) {
            let (number, first) = &mut self.to_wanted[edge.from as usize];
            let next = if *number == self.number {
                *first
            } else {
                u32::MAX
            };
            (*number, *first) = (self.number, self.wanted_edges.len() as u32);
            self.wanted_edges.push((*edge, next));
            self.work += 1;
        }
    }

    /// A path of this length ends where `edge` begins.
    fn cross(&mut self, length: Length, edge: &Edge) {
        let longer = (length.0 + edge.one_way_delay, length.1 + 1);
        self.work += 1;
        self.reach(edge.to, longer, (edge.id, edge.from));
    }

    /// A path of this length enters `node` over an edge that begins somewhere.
    fn reach(&mut self, node: u32, length: Length, edge: (u32, u32)) {
        let at = node as usize;
        if self.seen[at] != self.number {
            self.seen[at] = self.number;
            self.length[at] = FAR;
        }
        if self.settled[at] == self.number {
            return;
        }
        if length < self.length[at] {
            self.length[at] = length;
            self.enters[at] = edge;
            self.heap.push(Reverse((length, node)));
        } else if length == self.length[at] {
            self.enters[at] = self.enters[at].min(edge);
        }
    }

    /// The links of a path that the last search found.
    fn path(&self, wanted: &Wanted) -> Result<Vec<LinkId>, NoRoute> {
        if self.settled[wanted.to as usize] != self.number {
            let spent = self.work > MOST_WORK;
            return Err(if spent {
                NoRoute::TooMuchWork
            } else {
                NoRoute::Unconnected
            });
        }
        let hops = self.length[wanted.to as usize].1 as usize + usize::from(wanted.first.is_some());
        if hops > LONGEST {
            return Err(NoRoute::TooLong);
        }
        let mut path = Vec::with_capacity(hops);
        let mut node = wanted.to;
        while node != self.root {
            let (link, from) = self.enters[node as usize];
            path.push(LinkId(link));
            node = from;
        }
        path.extend(wanted.first.map(LinkId));
        path.reverse();
        Ok(path)
    }
}
