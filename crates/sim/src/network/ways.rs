//! The ways that packets take, and when flows change theirs.
//!
//! A way is one path to one endpoint. A packet is given the way that its
//! endpoint has when it is sent and keeps it, whatever changes later (unless
//! the scenario lets stranded packets be rerouted). A way without links stands
//! for having no route: what is sent on it is lost.

use super::middlebox::{Boxes, FLAG};
use crate::ledger::Count;
use crate::queue::{Class, Event};
use bentpipe_scenario::{LinkId, RouteChange, Scenario};
use bentpipe_units::Time;
use std::collections::HashMap;

/// In place of the first link of a way that has none.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// In place of the number of a way: there is no other.
const NONE: u32 = u32::MAX;

/// A path to an endpoint, and what has been sent on it.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct Way {
    /// Its range in [`Ways::hops`].
    pub(crate) begin: u32,
    pub(crate) end: u32,
    /// Its first link.
    first: u32,
    endpoint: u32,
    pub(crate) sent: Count,
}

/// All ways of a run. The first way of endpoint `e` has the number `e`.
#[derive(Debug)]
pub(crate) struct Ways {
    /// Links of each way, flattened; with [`FLAG`] where a box looks at what
    /// enters.
    pub(crate) hops: Vec<u32>,
    ways: Vec<Way>,
    /// The way that each endpoint has now.
    current: Vec<u32>,
    /// For each way the next one to the same endpoint.
    next: Vec<u32>,
    /// (when, endpoint, way), the next last.
    changes: Vec<(Time, u32, u32)>,
}

impl Ways {
    pub(crate) fn new(scenario: &Scenario, boxes: &Boxes) -> Ways {
        let endpoints = 2 * scenario.connections().count();
        let mut ways = Ways {
            hops: Vec::new(),
            ways: Vec::with_capacity(endpoints),
            current: (0..endpoints as u32).collect(),
            next: Vec::new(),
            changes: Vec::new(),
        };
        for (i, c) in scenario.connections().enumerate() {
            // Packets to the `from` side (even) take the way back.
            ways.add(2 * i, c.reverse);
            ways.add(2 * i + 1, c.forward);
        }
        for (i, c) in scenario.connections().enumerate() {
            ways.add_later(2 * i, c.changes, c.reverse, |c| &c.reverse);
            ways.add_later(2 * i + 1, c.changes, c.forward, |c| &c.forward);
        }
        for way in &ways.ways {
            boxes.flag(&mut ways.hops[way.range()]);
        }
        ways.changes.sort_unstable_by(|a, b| b.cmp(a));
        ways
    }

    fn add(&mut self, endpoint: usize, path: &[LinkId]) -> u32 {
        let begin = self.hops.len() as u32;
        self.hops.extend(path.iter().map(|l| l.0));
        self.ways.push(Way {
            begin,
            end: self.hops.len() as u32,
            first: path.first().map_or(NOWHERE, |l| l.0),
            endpoint: endpoint as u32,
            sent: Count::default(),
        });
        self.next.push(NONE);
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
        let mut last = endpoint;
        for change in changes {
            let path = path(change).as_slice();
            let before = self.ways.len();
            let way = *known
                .entry(path)
                .or_insert_with(|| self.add(endpoint, path));
            if self.ways.len() > before {
                self.next[last] = way;
                last = way as usize;
            }
            if way != current {
                self.changes.push((change.at, endpoint as u32, way));
                current = way;
            }
        }
    }

    #[inline]
    pub(crate) fn get(&self, way: u32) -> &Way {
        &self.ways[way as usize]
    }

    /// Sends a packet of `bytes` to `endpoint`: its way and the first link of
    /// that, or [`NOWHERE`].
    #[inline]
    pub(crate) fn send(&mut self, endpoint: u32, bytes: u16) -> (u32, u32) {
        let number = self.current[endpoint as usize];
        let way = &mut self.ways[number as usize];
        way.sent.add(bytes);
        (number, way.first)
    }

    /// The way that an endpoint has now.
    pub(crate) fn now(&self, endpoint: u32) -> u32 {
        self.current[endpoint as usize]
    }

    /// The link of a hop.
    pub(crate) fn link_of(&self, hop: usize) -> usize {
        (self.hops[hop] & !FLAG) as usize
    }

    /// The event of the next change of routes.
    pub(crate) fn next_change(&self) -> Option<Event> {
        let &(at, ..) = self.changes.last()?;
        Some(Event {
            at,
            class: Class::Route,
            component: 0,
        })
    }

    /// Changes the routes that change by `now`.
    pub(crate) fn change(&mut self, now: Time) {
        while let Some((_, endpoint, way)) = self.changes.pop_if(|c| c.0 <= now) {
            self.current[endpoint as usize] = way;
        }
    }

    /// The way that the endpoint of `way` has now.
    pub(crate) fn current_of(&self, way: u32) -> u32 {
        self.current[self.get(way).endpoint as usize]
    }

    /// All ways to an endpoint, in the order of their first use.
    pub(crate) fn to(&self, endpoint: usize) -> impl Iterator<Item = &Way> {
        std::iter::successors(Some(endpoint), |way| {
            let next = self.next[*way];
            (next != NONE).then_some(next as usize)
        })
        .map(|way| &self.ways[way])
    }

    /// What was sent to an endpoint while it had no way.
    pub(crate) fn sent_nowhere(&self, endpoint: usize) -> Count {
        let empty = self.to(endpoint).filter(|way| way.begin == way.end);
        empty.fold(Count::default(), |sum, way| sum.plus(way.sent))
    }
}

impl Way {
    /// Its hops, as indices of [`Ways::hops`].
    pub(crate) fn range(&self) -> core::ops::Range<usize> {
        self.begin as usize..self.end as usize
    }
}
