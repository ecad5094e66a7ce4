//! The ways that packets take between two hosts, and when they change.
//!
//! A way is one path to one end of a pair of hosts. A packet is given the way
//! that its end has when it enters and keeps it, whatever changes later, unless
//! the scenario lets stranded packets be rerouted. A way without links stands
//! for having no route: what is sent on it is lost.

use super::plan::Pair;
use bentpipe_scenario::{LinkId, RouteChange};
use bentpipe_units::Time;
use std::collections::HashMap;

/// Packets and their bytes at the IP layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Count {
    #[inline]
    pub(super) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}

/// One link of a way, and what the packets on that way did there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hop {
    pub(super) link: u32,
    pub(super) offered: Count,
    pub(super) delivered: Count,
    pub(super) queue: Count,
    pub(super) channel: Count,
    pub(super) outage: Count,
}

/// A path to an end of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// Its range in [`Ways::hops`].
    pub(super) begin: u32,
    pub(super) end: u32,
    /// Twice the number of the pair, and one more for its `to` end.
    pub(super) endpoint: u32,
}

/// All ways of a run. The first way to endpoint `e` has the number `e`.
#[derive(Debug)]
pub(super) struct Ways {
    pub(super) hops: Vec<Hop>,
    ways: Vec<Way>,
    /// The way that each endpoint has now.
    current: Vec<u32>,
    /// (when, endpoint, way), the next last.
    changes: Vec<(Time, u32, u32)>,
}

impl Ways {
    pub(super) fn new(pairs: &[Pair]) -> Ways {
        let endpoints = 2 * pairs.len();
        let mut ways = Ways {
            hops: Vec::new(),
            ways: Vec::with_capacity(endpoints),
            current: (0..endpoints as u32).collect(),
            changes: Vec::new(),
        };
        for (i, pair) in pairs.iter().enumerate() {
            // Packets to the `from` end (even) take the way back.
            ways.add(2 * i, &pair.reverse);
            ways.add(2 * i + 1, &pair.forward);
        }
        for (i, pair) in pairs.iter().enumerate() {
            ways.add_later(2 * i, &pair.changes, &pair.reverse, |c| &c.reverse);
            ways.add_later(2 * i + 1, &pair.changes, &pair.forward, |c| &c.forward);
        }
        ways.changes.sort_unstable_by(|a, b| b.cmp(a));
        ways
    }

    fn add(&mut self, endpoint: usize, path: &[LinkId]) -> u32 {
        let begin = self.hops.len() as u32;
        self.hops.extend(path.iter().map(|link| Hop {
            link: link.0,
            ..Hop::default()
        }));
        self.ways.push(Way {
            begin,
            end: self.hops.len() as u32,
            endpoint: endpoint as u32,
        });
        (self.ways.len() - 1) as u32
    }

    /// Adds the ways that an endpoint has later, each once.
    fn add_later<'a>(
        &mut self,
        endpoint: usize,
        changes: &'a [RouteChange],
        first: &'a [LinkId],
        path: impl Fn(&'a RouteChange) -> &'a Vec<LinkId>,
    ) {
        let mut known = HashMap::from([(first, endpoint as u32)]);
        let mut current = endpoint as u32;
        for change in changes {
            let path = path(change).as_slice();
            let way = *known
                .entry(path)
                .or_insert_with(|| self.add(endpoint, path));
            if way != current {
                self.changes.push((change.at, endpoint as u32, way));
                current = way;
            }
        }
    }

    #[inline]
    pub(super) fn get(&self, way: u32) -> Way {
        self.ways[way as usize]
    }

    /// The way that an endpoint has now.
    #[inline]
    pub(super) fn now(&self, endpoint: u32) -> u32 {
        self.current[endpoint as usize]
    }

    /// When routes change next.
    pub(super) fn next_change(&self) -> Option<Time> {
        self.changes.last().map(|&(at, ..)| at)
    }

    /// Changes the routes that change by `now`.
    pub(super) fn change(&mut self, now: Time) {
        while let Some((_, endpoint, way)) = self.changes.pop_if(|c| c.0 <= now) {
            self.current[endpoint as usize] = way;
        }
    }

    /// The hops of all ways, with the pair that each belongs to.
    pub(super) fn by_pair(&self) -> impl Iterator<Item = (usize, &Hop)> {
        self.ways.iter().flat_map(|way| {
            let hops = &self.hops[way.begin as usize..way.end as usize];
            hops.iter().map(|hop| ((way.endpoint / 2) as usize, hop))
        })
    }
}
