//! Shortest-delay routes between satellites.
//!
//! Dijkstra over the links that are up, their lengths taken at the instant of
//! the search (ns-2.35: `satellite/satroute.cc`, `metric_delay_`), with the
//! straight line to the goal as the remaining distance at least (Hart, Nilsson
//! & Raphael, 1968): the same route, found after a fraction of the nodes. Of
//! two equally long routes the one whose nodes have lower numbers is met
//! first. Arrays are kept between searches.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::isl::Isl;
use crate::position::Position;

/// Arrays of a search, reused from one to the next.
#[derive(Debug, Default)]
pub(crate) struct Router {
    /// Neighbours of node i: `neighbours[first[i]..first[i + 1]]`.
    first: Vec<u32>,
    neighbours: Vec<u32>,
    km: Vec<f64>,
    parent: Vec<u32>,
    /// The search in which `km` and `parent` were last written.
    seen: Vec<u32>,
    done: Vec<u32>,
    search: u32,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Router {
    /// Takes over which links are up.
    pub(crate) fn set_links(&mut self, satellites: usize, isls: &[Isl]) {
        self.first.clear();
        self.first.resize(satellites + 1, 0);
        let up = || isls.iter().filter(|isl| isl.up);
        for isl in up() {
            self.first[isl.a as usize + 1] += 1;
            self.first[isl.b as usize + 1] += 1;
        }
        for i in 0..satellites {
            self.first[i + 1] += self.first[i];
        }
        self.neighbours.clear();
        self.neighbours.resize(self.first[satellites] as usize, 0);
        // `first[i]` runs to the end of i's part while it is filled, and is
        // moved back afterwards.
        for isl in up() {
            for (from, to) in [(isl.a, isl.b), (isl.b, isl.a)] {
                let slot = &mut self.first[from as usize];
                self.neighbours[*slot as usize] = to;
                *slot += 1;
            }
        }
        for i in (1..=satellites).rev() {
            self.first[i] = self.first[i - 1];
        }
        self.first[0] = 0;
        self.km.resize(satellites, 0.0);
        self.parent.resize(satellites, 0);
        self.seen.clear();
        self.seen.resize(satellites, 0);
        self.done.clear();
        self.done.resize(satellites, 0);
        self.search = 0;
    }

    /// The shortest route from satellite `from` to satellite `to`, both in it;
    /// nothing is put into `path` and false comes back if there is none.
    pub(crate) fn route(
        &mut self,
        positions: &[Position],
        (from, to): (u32, u32),
        path: &mut Vec<u32>,
    ) -> bool {
        path.clear();
        self.search += 1;
        let search = self.search;
        let goal = positions[to as usize];
        self.heap.clear();
        self.km[from as usize] = 0.0;
        self.seen[from as usize] = search;
        self.parent[from as usize] = from;
        self.heap.push(Reverse((0, from)));
        while let Some(Reverse((_, node))) = self.heap.pop() {
            if self.done[node as usize] == search {
                continue;
            }
            self.done[node as usize] = search;
            if node == to {
                let mut at = to;
                while at != from {
                    path.push(at);
                    at = self.parent[at as usize];
                }
                path.push(from);
                path.reverse();
                return true;
            }
            let here = positions[node as usize];
            let so_far = self.km[node as usize];
            let part = self.first[node as usize] as usize..self.first[node as usize + 1] as usize;
            for &next in &self.neighbours[part] {
                let n = next as usize;
                if self.done[n] == search {
                    continue;
                }
                let km = so_far + here.km_to(positions[n]);
                if self.seen[n] == search && self.km[n] <= km {
                    continue;
                }
                self.seen[n] = search;
                self.km[n] = km;
                self.parent[n] = node;
                // Lengths are positive: their bits order as they do.
                let at_least = km + positions[n].km_to(goal);
                self.heap.push(Reverse((at_least.to_bits(), next)));
            }
        }
        false
    }
}
