//! Ways between the terminals of constellations, while routes are computed.
//!
//! A way is as long as the straight path up, across and down, so that a route which takes two of a
//! constellation in a row is longer than the way that joins their ends. Which ways are needed follows from
//! the networks on the ground, which are what links alone join. A route passes through a network only where
//! that has several terminals: between all of those there are ways. The terminal of any other network has ways
//! to those, and to that at the far end of its flows. So the number of ways grows with the terminals, and with
//! the square of those alone whose network has several.

use super::constellations::{ConstellationSpec, Skies};
use super::links::Links;
use super::nodes::{Nodes, Station};
use crate::groups::Groups;
use crate::model::{LinkId, NodeId};
use crate::route::{SkyWays, Way};
use bentpipe_document::{Context, Diagnostic, Reported};
use bentpipe_orbit::{Distance, Position};
use bentpipe_units::Time;
use std::collections::BTreeSet;

/// Ways of a scenario, at most: about 80 bytes each.
const MOST_WAYS: usize = 5_000_000;

/// The ways of a scenario, and what they join.
#[derive(Default)]
pub(super) struct Ways {
    /// Of each constellation its terminals.
    pub(super) stations: Vec<Vec<(NodeId, Station)>>,
    /// What routes need to know of them.
    pub(super) over_sky: SkyWays,
    /// The number of the first, as a link.
    base: u32,
    /// Of each way its constellation and its terminals there.
    pairs: Vec<(u32, u32, u32)>,
}

/// Two terminals that a route joins over a constellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Crossed {
    /// The index of the constellation.
    pub(super) sky: usize,
    /// Their numbers there, the smaller one first.
    pub(super) terminals: (u32, u32),
}

impl Ways {
    /// The terminals that a way joins, and whether it leads from the second to the first; none for a
    /// link.
    pub(super) fn crossed(&self, link: LinkId) -> Option<(Crossed, bool)> {
        let (sky, a, b) = *self.pairs.get(link.0.checked_sub(self.base)? as usize)?;
        let crossed = Crossed {
            sky: sky as usize,
            terminals: (a.min(b), a.max(b)),
        };
        Some((crossed, a > b))
    }
}

/// The ways that the flows from and to `ends` may take. Where they cannot be told, `links` become incomplete.
pub(super) fn join(
    top: &Context,
    skies: &Skies,
    nodes: &Nodes,
    links: &mut Links,
    ends: &[(NodeId, NodeId)],
) -> Result<Ways, Reported> {
    let found = match skies.complete && nodes.is_complete() {
        true => find(skies, nodes, links, ends),
        false => Err(top.errors.already()),
    };
    links.complete &= found.is_ok();
    found
}

fn find(
    skies: &Skies,
    nodes: &Nodes,
    links: &Links,
    ends: &[(NodeId, NodeId)],
) -> Result<Ways, Reported> {
    let mut ways = Ways {
        base: links.links.len() as u32,
        ..Ways::default()
    };
    for (index, sky) in skies.skies.iter().enumerate() {
        let stations = nodes.stations(index);
        if stations.len() < 2 {
            let found = stations.len();
            let message = format!("constellation `{}` has {found} terminals", sky.name);
            let error = Diagnostic::new(sky.place, message).label("expected 2 or more");
            let help = format!(
                "nodes with `terminal_of = \"{}\"` are its terminals",
                sky.name
            );
            return Err(sky.context.report(error.help(help)));
        }
        ways.stations.push(stations);
    }
    let terminals = ways.stations.iter().flatten().map(|(node, _)| *node);
    let joined = links.links.iter().map(|link| (link.from, link.to));
    let gates = gates(nodes.count(), joined, terminals);
    for (index, sky) in skies.skies.iter().enumerate() {
        let stations = &ways.stations[index];
        let terminals: Vec<NodeId> = stations.iter().map(|(node, _)| *node).collect();
        let room = MOST_WAYS - ways.pairs.len();
        let pairs = pairs(&terminals, &gates, ends, room).map_err(|refused| {
            let TooMany { several, ones } = refused;
            let message = format!(
                "constellation `{}` has too many terminals that routes may pass through",
                sky.name
            );
            let label = format!(
                "{several} terminals that links join to others, beside {ones} with flows, \
                 need more than {room} ways"
            );
            let error = Diagnostic::new(sky.place, message).label(label);
            let help = "take fewer terminals that links on the ground join to each other, \
                        or fewer flows";
            sky.context.report(error.help(help))
        })?;
        ways.over_sky.ways.extend(lengths(sky, stations, &pairs));
        let numbered = pairs.into_iter().map(|(a, b)| (index as u32, a, b));
        ways.pairs.extend(numbered);
    }
    ways.over_sky.gates = gates;
    Ok(ways)
}

/// Of each node the one terminal of its network on the ground; none, where that has no terminal or
/// several.
fn gates(
    nodes: usize,
    links: impl Iterator<Item = (NodeId, NodeId)>,
    terminals: impl Iterator<Item = NodeId>,
) -> Vec<Option<NodeId>> {
    let mut networks = Groups::new(nodes);
    for (from, to) in links {
        networks.tie(from.0 as usize, to.0 as usize);
    }
    let mut found = vec![(0u32, None); nodes];
    for terminal in terminals {
        let (count, last) = &mut found[networks.least(terminal.0 as usize)];
        (*count, *last) = (*count + 1, Some(terminal));
    }
    let gate = |node: usize| match found[networks.least(node)] {
        (1, gate) => gate,
        _ => None,
    };
    (0..nodes).map(gate).collect()
}

/// More ways than there is room for.
#[derive(Debug, PartialEq, Eq)]
struct TooMany {
    /// Terminals in networks that have several.
    several: usize,
    /// Other terminals that flows need.
    ones: usize,
}

/// From which terminal of a constellation to which a route may lead, by their numbers and in order; at most
/// `room` pairs.
fn pairs(
    terminals: &[NodeId],
    gates: &[Option<NodeId>],
    ends: &[(NodeId, NodeId)],
    room: usize,
) -> Result<Vec<(u32, u32)>, TooMany> {
    let mut numbers = vec![None; gates.len()];
    for (number, node) in (0u32..).zip(terminals) {
        numbers[node.0 as usize] = Some(number);
    }
    // The number of the terminal that alone joins a node to this constellation.
    let alone = |node: NodeId| numbers[gates[node.0 as usize]?.0 as usize];
    let several = (0u32..).zip(terminals);
    let several = several.filter(|(_, node)| gates[node.0 as usize].is_none());
    let several: Vec<u32> = several.map(|(number, _)| number).collect();
    let mut ones: BTreeSet<u32> = BTreeSet::new();
    let mut pairs: BTreeSet<(u32, u32)> = BTreeSet::new();
    for &(from, to) in ends {
        let (from, to) = (alone(from), alone(to));
        ones.extend(from.into_iter().chain(to));
        if let Some((a, b)) = from.zip(to).filter(|(a, b)| a != b) {
            pairs.extend([(a, b), (b, a)]);
        }
    }
    let more = several.len() * (several.len().saturating_sub(1) + 2 * ones.len());
    if pairs.len() + more > room {
        return Err(TooMany {
            several: several.len(),
            ones: ones.len(),
        });
    }
    let mut pairs: Vec<(u32, u32)> = pairs.into_iter().collect();
    pairs.reserve(more);
    for &a in &several {
        pairs.extend(several.iter().filter(|b| **b != a).map(|b| (a, *b)));
        pairs.extend(ones.iter().flat_map(|b| [(a, *b), (*b, a)]));
    }
    pairs.sort_unstable();
    Ok(pairs)
}

/// The ways of `pairs`.
fn lengths<'a>(
    sky: &ConstellationSpec,
    stations: &'a [(NodeId, Station)],
    pairs: &'a [(u32, u32)],
) -> impl Iterator<Item = Way> + 'a {
    let height = sky.constellation.position(0, Time::ZERO).altitude().km();
    pairs.iter().map(move |(a, b)| {
        let [(from, here), (to, there)] = [a, b].map(|number| stations[*number as usize]);
        let ground = |station: Station| Position::above(station.place, Distance::from_km(0.0));
        let km = ground(here).distance(ground(there)).km() + 2.0 * height;
        Way {
            from,
            to,
            one_way_delay: Distance::from_km(km).one_way_delay(),
        }
    })
}

#[cfg(test)]
mod tests;
