//! Ways between the terminals of constellations, while routes are computed.
//!
//! A way is as long as the straight path up, across and down, so that a route which takes two of a
//! constellation in a row is longer than the one that joins their ends. There are ways between all
//! terminals that have links too, which are gateways to other networks; and between each other
//! terminal at an end of a flow and those, and its far end. Their number grows with the terminals,
//! not with their square.

use super::constellations::{ConstellationSpec, Skies};
use super::links::Links;
use super::nodes::{Nodes, Station};
use crate::model::{LinkId, NodeId};
use crate::route::Way;
use bentpipe_document::{Context, Diagnostic, Reported};
use bentpipe_orbit::{Distance, Position};
use bentpipe_units::Time;
use std::collections::BTreeSet;

/// Ways of a scenario, at most: some hundred bytes each.
const MOST_WAYS: usize = 5_000_000;

/// The ways of a scenario.
#[derive(Default)]
pub(super) struct Ways {
    /// Of each constellation its terminals.
    pub(super) stations: Vec<Vec<(NodeId, Station)>>,
    /// In the order of their numbers as links.
    pub(super) ways: Vec<Way>,
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

/// The ways that the flows from and to `ends` may take. What cannot be told leaves `links` incomplete.
pub(super) fn join(
    top: &Context,
    skies: &Skies,
    nodes: &Nodes,
    links: &mut Links,
    ends: &[(NodeId, NodeId)],
) -> Result<Ways, Reported> {
    let found = if skies.complete && nodes.is_complete() {
        find(skies, nodes, links, ends)
    } else {
        Err(top.errors.already())
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
    let mut has_link = vec![false; nodes.count()];
    for node in links.links.iter().flat_map(|link| [link.from, link.to]) {
        has_link[node.0 as usize] = true;
    }
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
        let pairs = pairs(&stations, &has_link, ends);
        if ways.ways.len() + pairs.len() > MOST_WAYS {
            let gateways = stations
                .iter()
                .filter(|(node, _)| has_link[node.0 as usize]);
            let message = format!(
                "constellation `{}` has too many terminals that routes may pass through",
                sky.name
            );
            let label = format!(
                "{} of its {} terminals have links to other nodes",
                gateways.count(),
                stations.len()
            );
            let error = Diagnostic::new(sky.place, message).label(label);
            let help = "join flows to a terminal itself, in place of a node behind it";
            return Err(sky.context.report(error.help(help)));
        }
        ways.ways.extend(lengths(sky, &stations, &pairs));
        let numbered = pairs.into_iter().map(|(a, b)| (index as u32, a, b));
        ways.pairs.extend(numbered);
        ways.stations.push(stations);
    }
    Ok(ways)
}

/// From which terminal to which a route may lead, in order.
fn pairs(
    stations: &[(NodeId, Station)],
    has_link: &[bool],
    ends: &[(NodeId, NodeId)],
) -> Vec<(u32, u32)> {
    let mut numbers = vec![None; has_link.len()];
    for (number, (node, _)) in (0u32..).zip(stations) {
        numbers[node.0 as usize] = Some(number);
    }
    let number = |node: NodeId| numbers[node.0 as usize];
    let gateways = stations
        .iter()
        .filter_map(|(node, _)| number(*node).filter(|_| has_link[node.0 as usize]));
    let gateways: Vec<u32> = gateways.collect();
    let mut from: BTreeSet<u32> = gateways.iter().copied().collect();
    let mut pairs = Vec::new();
    for &(a, b) in ends {
        from.extend([a, b].into_iter().filter_map(number));
        if let (Some(a), Some(b)) = (number(a), number(b)) {
            pairs.extend([(a, b), (b, a)]);
        }
    }
    for terminal in from {
        let both = |gateway: &u32| [(terminal, *gateway), (*gateway, terminal)];
        pairs.extend(gateways.iter().flat_map(both));
        if pairs.len() > 2 * MOST_WAYS {
            break;
        }
    }
    pairs.retain(|(a, b)| a != b);
    pairs.sort_unstable();
    pairs.dedup();
    pairs
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
