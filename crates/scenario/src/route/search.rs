//! Searches for the shortest paths from one node to others.

use super::graph::{Edge, Graph, Wanted};
use super::{LONGEST, NONE, NoRoute};
use crate::model::LinkId;
use bentpipe_units::Duration;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Nodes and edges that all searches together may visit.
const MOST_WORK: usize = 100_000_000;

/// Length of a path: delay, then links.
type Length = (Duration, u32);

const FAR: Length = (Duration::MAX, u32::MAX);

/// One search after the other, with the same memory.
pub(super) struct Search {
    root: u32,
    length: Vec<Length>,
    /// The edge over which the shortest path enters each node, and where that begins.
    enters: Vec<(u32, u32)>,
    /// The number of the search that reached, settled or wants each node.
    seen: Vec<u32>,
    settled: Vec<u32>,
    wanted: Vec<u32>,
    /// The number of the search with a destination at or behind each node.
    sought: Vec<u32>,
    /// The search that wrote it, and the first edge of each node in `to_sought`.
    first_sought: Vec<(u32, u32)>,
    /// Edges to nodes at or behind which a destination is, and the next from the same node.
    to_sought: Vec<(Edge, u32)>,
    number: u32,
    heap: BinaryHeap<Reverse<(Length, u32)>>,
    work: usize,
}

impl Search {
    pub(super) fn new(nodes: usize) -> Search {
        Search {
            root: 0,
            length: vec![FAR; nodes],
            enters: vec![(NONE, NONE); nodes],
            seen: vec![0; nodes],
            settled: vec![0; nodes],
            wanted: vec![0; nodes],
            sought: vec![0; nodes],
            first_sought: vec![(0, NONE); nodes],
            to_sought: Vec::new(),
            number: 0,
            heap: BinaryHeap::new(),
            work: 0,
        }
    }

    /// Finds the shortest paths from the root of `group` to its destinations.
    pub(super) fn run(&mut self, graph: &Graph, group: &[Wanted]) {
        self.number += 1;
        self.heap.clear();
        self.to_sought.clear();
        let Some(first) = group.first() else { return };
        self.root = first.root;
        let mut left = 0;
        for wanted in group {
            let mark = &mut self.wanted[wanted.to as usize];
            if std::mem::replace(mark, self.number) != self.number {
                left += 1;
                self.seek(graph, wanted.to);
                self.seek(graph, graph.gates[wanted.to as usize]);
            }
        }
        self.reach(self.root, (Duration::ZERO, 0), (NONE, NONE));
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
            if node == self.root || !graph.dead_ends[at] {
                self.leave(graph, node, length);
            }
        }
    }

    /// Notes at the nodes before `node` their edges to it, where it is not entered otherwise.
    fn seek(&mut self, graph: &Graph, node: u32) {
        let Some(mark) = self.sought.get_mut(node as usize) else {
            return;
        };
        if std::mem::replace(mark, self.number) == self.number {
            return;
        }
        for edge in graph.entering.of(node) {
            let (number, first) = &mut self.first_sought[edge.from as usize];
            let next = if *number == self.number { *first } else { NONE };
            (*number, *first) = (self.number, self.to_sought.len() as u32);
            self.to_sought.push((*edge, next));
            self.work += 1;
        }
    }

    /// Crosses the edges of a node at the end of a path of this length.
    fn leave(&mut self, graph: &Graph, node: u32, length: Length) {
        let at = node as usize;
        let is_root = node == self.root;
        // A path that came over a way takes no other at once.
        let by_way = !is_root && graph.is_way(self.enters[at].0);
        let edges = graph.leaving.of(node);
        let last = edges.partition_point(|edge| !graph.is_to_dead_end(edge));
        for edge in &edges[..last] {
            if by_way && graph.is_way(edge.id) {
                break;
            }
            self.cross(length, edge);
        }
        // Few edges lead from these, and many may lead to what is sought.
        if (is_root && graph.dead_ends[at]) || (!by_way && graph.gates[at] == node) {
            for edge in &edges[last..] {
                self.work += 1;
                if self.sought[edge.to as usize] == self.number {
                    self.cross(length, edge);
                }
            }
        }
        let (number, mut next) = self.first_sought[at];
        while number == self.number && next != NONE {
            let (edge, after) = self.to_sought[next as usize];
            if !(by_way && graph.is_way(edge.id)) {
                self.cross(length, &edge);
            }
            next = after;
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
    pub(super) fn path(&self, wanted: &Wanted) -> Result<Vec<LinkId>, NoRoute> {
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
