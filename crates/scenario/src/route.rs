//! Routes: the path with the shortest propagation delay, and among those the
//! one with the fewest links.
//!
//! Computed once, by Dijkstra's algorithm from each distinct source, which stops when the last
//! destination of that source is reached. A node with one neighbour starts its search there, so
//! that a thousand hosts behind one router share one search. Ties that remain go to the link that
//! comes first, so that a route does not depend on the other flows.

use crate::model::{Flow, Handshake, Link, LinkId, NodeId, Scenario};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Links of a path, at most: the largest time to live of IP.
pub(crate) const LONGEST: usize = 255;

/// Nodes that all searches together may visit.
const MOST_WORK: usize = 100_000_000;

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
        route(self.nodes.len(), &self.links, &mut flows).ok()?;
        let [flow] = flows;
        Some((flow.forward, flow.reverse))
    }
}

/// Fills in `forward` and `reverse` of every flow that has no route, or returns the flows that have
/// no route.
pub(crate) fn route(
    nodes: usize,
    links: &[Link],
    flows: &mut [Flow],
) -> Result<(), Vec<(usize, NoRoute)>> {
    let graph = Graph::new(nodes, links);
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
            match search.path(&graph, wanted) {
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

/// The links that leave each node, one node after the other.
struct Graph<'a> {
    links: &'a [Link],
    /// Where the links of each node start in `leaving`.
    starts: Vec<u32>,
    leaving: Vec<u32>,
}

impl<'a> Graph<'a> {
    fn new(nodes: usize, links: &'a [Link]) -> Graph<'a> {
        let mut starts = vec![0u32; nodes + 1];
        for link in links {
            starts[link.from.0 as usize + 1] += 1;
        }
        for i in 0..nodes {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut leaving = vec![0u32; links.len()];
        for (i, link) in links.iter().enumerate() {
            let slot = &mut next[link.from.0 as usize];
            leaving[*slot as usize] = i as u32;
            *slot += 1;
        }
        Graph {
            links,
            starts,
            leaving,
        }
    }

    fn leaving(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.leaving[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// The search for a path. A source with a single neighbour searches from
    /// that neighbour.
    fn wanted(&self, from: NodeId, to: NodeId, flow: usize, forward: bool) -> Wanted {
        let leaving = self.leaving(from.0);
        let neighbour = |link: u32| self.links[link as usize].to.0;
        let single = leaving
            .windows(2)
            .all(|w| neighbour(w[0]) == neighbour(w[1]));
        let cheapest = leaving
            .iter()
            .copied()
            .min_by_key(|&link| (self.links[link as usize].settings.one_way_delay, link));
        match cheapest {
            Some(link) if single => Wanted {
                root: neighbour(link),
                first: Some(link),
                to: to.0,
                flow,
                forward,
            },
            _ => Wanted {
                root: from.0,
                first: None,
                to: to.0,
                flow,
                forward,
            },
        }
    }
}

/// Length of a path: delay, then links.
type Length = (Duration, u32);

const FAR: Length = (Duration::MAX, u32::MAX);

/// One search after the other, with the same memory.
struct Search {
    root: u32,
    length: Vec<Length>,
    /// The link over which the shortest path enters each node.
    enters: Vec<u32>,
    /// The number of the search that reached, settled or wants each node.
    seen: Vec<u32>,
    settled: Vec<u32>,
    wanted: Vec<u32>,
    number: u32,
    heap: BinaryHeap<Reverse<(Length, u32)>>,
    work: usize,
}

impl Search {
    fn new(nodes: usize) -> Search {
        Search {
            root: 0,
            length: vec![FAR; nodes],
            enters: vec![u32::MAX; nodes],
            seen: vec![0; nodes],
            settled: vec![0; nodes],
            wanted: vec![0; nodes],
            number: 0,
            heap: BinaryHeap::new(),
            work: 0,
        }
    }

    /// Finds the shortest paths from the root of `group` to its destinations.
    fn run(&mut self, graph: &Graph<'_>, group: &[Wanted]) {
        self.number += 1;
        self.heap.clear();
        let Some(first) = group.first() else { return };
        self.root = first.root;
        let mut left = 0;
        for wanted in group {
            let mark = &mut self.wanted[wanted.to as usize];
            if std::mem::replace(mark, self.number) != self.number {
                left += 1;
            }
        }
        self.reach(self.root, (Duration::ZERO, 0), u32::MAX);
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
            for &link in graph.leaving(node) {
                let to = &graph.links[link as usize];
                let longer = (length.0 + to.settings.one_way_delay, length.1 + 1);
                self.work += 1;
                self.reach(to.to.0, longer, link);
            }
        }
    }

    /// A path of this length enters `node` over `link`.
    fn reach(&mut self, node: u32, length: Length, link: u32) {
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
            self.enters[at] = link;
            self.heap.push(Reverse((length, node)));
        } else if length == self.length[at] {
            self.enters[at] = self.enters[at].min(link);
        }
    }

    /// The links of a path that the last search found.
    fn path(&self, graph: &Graph<'_>, wanted: &Wanted) -> Result<Vec<LinkId>, NoRoute> {
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
            let link = self.enters[node as usize];
            path.push(LinkId(link));
            node = graph.links[link as usize].from.0;
        }
        path.extend(wanted.first.map(LinkId));
        path.reverse();
        Ok(path)
    }
}
