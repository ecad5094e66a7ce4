//! Constellations become nodes, links with timelines and routes that change.
//!
//! Routes are found first with a link between any two terminals of a constellation, as long as the
//! straight path up, across and down. The pairs on a route are planned; then satellites on their
//! paths become nodes, hops become links, and the routes of the flows change with the paths.
//! Bent-pipe satellites become one link for each pair and direction instead, with the delay of both
//! hops.

use super::constellations::{ConstellationSpec, Skies};
use super::links::Links;
use super::nodes::{Nodes, Station};
use crate::courses;
use crate::model::{Flow, Link, LinkId, Node, NodeId, RouteChange, Scenario};
use crate::queue_length::LinkContext;
use crate::route;
use crate::schema::LARGEST_COUNT;
use crate::space::{ExpandedConstellation, ExpandedConstellations, Hop};
use bentpipe_document::{Context, Diagnostic, Form, Reported};
use bentpipe_link::{ChannelSettings, Limit, LinkSettings, QueueSettings};
use bentpipe_orbit::{Distance, Edge, EdgeKind, Mode, Node as Stop, Plan, Position, Terminal};
use bentpipe_units::{Duration, Rate, Time};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Terminals of a constellation, at most: each two may want a way.
const MOST_TERMINALS: usize = 300;

/// Placeholders for constellations while routes are computed.
pub(super) struct Spaces<'a> {
    skies: &'a [ConstellationSpec],
    /// Of each constellation its terminals.
    stations: Vec<Vec<(NodeId, Station)>>,
    /// The first placeholder link of a pair.
    base: usize,
    /// Of each such link its constellation and its terminals there.
    pairs: Vec<(usize, u32, u32)>,
}

/// Puts a link between any two terminals of each constellation.
pub(super) fn join<'a>(
    top: &Context,
    skies: &'a Skies,
    nodes: &Nodes,
    links: &mut Links,
) -> Result<Spaces<'a>, Reported> {
    let mut spaces = Spaces {
        skies: &skies.skies,
        stations: Vec::new(),
        base: links.links.len(),
        pairs: Vec::new(),
    };
    if !skies.complete || !nodes.is_complete() {
        links.complete = false;
        return Err(top.errors.already());
    }
    for (index, sky) in skies.skies.iter().enumerate() {
        let stations = nodes.stations(index);
        if stations.len() < 2 || stations.len() > MOST_TERMINALS {
            let found = stations.len();
            let message = format!("constellation `{}` has {found} terminals", sky.name);
            let label = format!("expected 2 to {MOST_TERMINALS}");
            let error = Diagnostic::new(sky.place, message).label(label);
            let help = format!(
                "nodes with `terminal_of = \"{}\"` are its terminals",
                sky.name
            );
            links.complete = false;
            return Err(top.report(error.help(help)));
        }
        let height = sky.constellation.position(0, Time::ZERO).altitude().km();
        for (a, (from, here)) in stations.iter().enumerate() {
            for (b, (to, there)) in stations.iter().enumerate().filter(|(b, _)| *b != a) {
                let ground =
                    |station: &Station| Position::above(station.place, Distance::from_km(0.0));
                let km = ground(here).distance(ground(there)).km() + 2.0 * height;
                let delay = Distance::from_km(km).one_way_delay();
                let queue = QueueSettings::drop_tail(Limit::Packets(1));
                let settings = LinkSettings::new(sky.up_rate, delay, queue);
                links
                    .links
                    .push(Link::new("", [*from, *to], settings, None));
                spaces.pairs.push((index, a as u32, b as u32));
            }
        }
        spaces.stations.push(stations);
    }
    Ok(spaces)
}

/// The ways of a pair: from when on over which links, forth and back.
type Ways = Vec<(Time, Vec<LinkId>, Vec<LinkId>)>;

/// Replaces placeholder links by the behaviour of the constellations.
pub(super) fn expand(
    top: &Context,
    spaces: Spaces<'_>,
    scenario: &mut Scenario,
) -> Result<ExpandedConstellations, Reported> {
    let mut space = ExpandedConstellations::default();
    if spaces.skies.is_empty() {
        return Ok(space);
    }
    scenario.links.truncate(spaces.base);
    let stands_for = |link: &LinkId| {
        let pair = (link.0 as usize).checked_sub(spaces.base)?;
        let (sky, a, b) = spaces.pairs[pair];
        Some((sky, a.min(b), a.max(b), a > b))
    };
    let used: BTreeSet<(usize, u32, u32)> = scenario
        .flows
        .iter()
        .flat_map(|flow| flow.forward.iter().chain(&flow.reverse))
        .filter_map(stands_for)
        .map(|(sky, a, b, _)| (sky, a, b))
        .collect();
    let mut ways: HashMap<(usize, u32, u32), Ways> = HashMap::new();
    for (index, sky) in spaces.skies.iter().enumerate() {
        let pairs: Vec<(u32, u32)> = used
            .iter()
            .filter(|(sky, ..)| *sky == index)
            .map(|(_, a, b)| (*a, *b))
            .collect();
        let stations = &spaces.stations[index];
        let (expanded, plan) = sky_ways(sky, stations, &pairs, scenario)?;
        space.skies.push(ExpandedConstellation {
            name: sky.name.clone(),
            constellation: sky.constellation.clone(),
            mode: sky.settings.mode,
            terminals: terminals(sky, stations),
            nodes: stations.iter().map(|(node, _)| *node).collect(),
            up_rate: sky.up_rate,
            down_rate: sky.down_rate,
            plan,
        });
        for ((a, b), way) in pairs.into_iter().zip(expanded) {
            ways.insert((index, a, b), way);
        }
    }
    if scenario.links.len() as u64 > 2 * LARGEST_COUNT {
        let message = format!("constellations make more than {LARGEST_COUNT} links");
        let place = spaces.skies[0].place;
        return Err(top.report(Diagnostic::new(place, message)));
    }
    let hop = |link: &LinkId| match stands_for(link) {
        None => Hop::Link(*link),
        Some((sky, a, b, back)) => {
            let pairs = space.skies[sky].plan.pairs().iter();
            let mut pairs = pairs.map(|pair| (pair.from, pair.to));
            let pair = pairs.position(|pair| pair == (a, b)).unwrap_or(0);
            Hop::Sky { sky, pair, back }
        }
    };
    let flows = scenario.flows.iter();
    let crossed = flows.map(|flow| flow.forward.iter().map(hop).collect());
    space.ways = crossed.collect();
    for flow in &mut scenario.flows {
        route_flow(flow, &ways, stands_for);
        let change = flow
            .changes
            .iter()
            .map(|c| c.forward.len().max(c.reverse.len()));
        let longest = change.chain([flow.forward.len()]).max().unwrap_or(0);
        if longest > route::LONGEST {
            let message = format!("the path of flow `{}` is too long", flow.name);
            let label = format!("more than {} links", route::LONGEST);
            let error = Diagnostic::new(spaces.skies[0].place, message).label(label);
            return Err(top.report(error));
        }
    }
    Ok(space)
}

/// Plans `pairs` of one constellation, adds its nodes and links and gives the
/// ways of each pair.
fn sky_ways(
    sky: &ConstellationSpec,
    stations: &[(NodeId, Station)],
    pairs: &[(u32, u32)],
    scenario: &mut Scenario,
) -> Result<(Vec<Ways>, Plan), Reported> {
    let report = |message: String, help: &str| {
        let error = Diagnostic::new(sky.place, message);
        Err(sky.context.report(error.help(help)))
    };
    let terminals = terminals(sky, stations);
    let plan = bentpipe_orbit::plan(&sky.constellation, &terminals, pairs, &sky.settings);
    let plan = match plan {
        Ok(plan) => plan,
        Err(why) => {
            let message = format!("constellation `{}`: {why}", sky.name);
            return report(message, "see `search` and `duration`");
        }
    };
    for (pair, (a, b)) in pairs.iter().enumerate() {
        if plan.availability(pair) <= 0.0 {
            let name = |t: u32| &scenario.nodes[stations[t as usize].0.0 as usize].name;
            let message = format!(
                "constellation `{}` never joins `{}` and `{}` within the run",
                sky.name,
                name(*a),
                name(*b)
            );
            let help = match sky.settings.mode {
                Mode::Isl => "its satellites stay below the `mask` of one of them",
                Mode::BentPipe => "none of its satellites is above the `mask` of both at once",
            };
            return report(message, help);
        }
    }
    let ways = match sky.settings.mode {
        Mode::BentPipe => repeated(sky, stations, &plan, scenario),
        Mode::Isl => expand_satellite_hops(sky, stations, &plan, scenario),
    };
    Ok((ways?, plan))
}

fn terminals(sky: &ConstellationSpec, stations: &[(NodeId, Station)]) -> Vec<Terminal> {
    let stations = stations.iter().map(|(_, station)| Terminal {
        place: station.place,
        mask: station.mask.unwrap_or(sky.mask),
    });
    stations.collect()
}

/// The settings of a link; its queue is that of ns-2 where the file says nothing.
fn settings(
    sky: &ConstellationSpec,
    name: &str,
    rate: Rate,
    one_way_delay: Duration,
    channel: ChannelSettings,
) -> Result<LinkSettings, Reported> {
    let fifty = QueueSettings::drop_tail(Limit::Packets(50));
    let mut base = LinkSettings {
        channel,
        ..LinkSettings::new(rate, one_way_delay, fifty)
    };
    if let Some(queue) = &sky.queue {
        base.queue = queue.value.settle(&LinkContext {
            context: &sky.context,
            base: base.clone(),
            round_trip: one_way_delay + one_way_delay,
            name,
            place: queue.place,
        })?;
    }
    Ok(base)
}

/// One link for each pair and direction.
fn repeated(
    sky: &ConstellationSpec,
    stations: &[(NodeId, Station)],
    plan: &Plan,
    scenario: &mut Scenario,
) -> Result<Vec<Ways>, Reported> {
    let mut all = Vec::new();
    for (index, pair) in plan.pairs().iter().enumerate() {
        let ends = [pair.from, pair.to].map(|t| stations[t as usize]);
        let [a, b] = ends.map(|(node, _)| scenario.nodes[node.0 as usize].name.clone());
        let name = format!("{}[{a}-{b}]", sky.name);
        let mut ids = [LinkId(0); 2];
        for way in 0..2 {
            let ((from, here), (to, there)) = (ends[way], ends[1 - way]);
            let name = if way == 0 {
                name.clone()
            } else {
                format!("{name}.reverse")
            };
            let up = here.up_rate.unwrap_or(sky.up_rate);
            let rate = up.min(there.down_rate.unwrap_or(sky.down_rate));
            let rules = (sky.when_down, sky.in_flight);
            let Some(line) = courses::pair_timeline(plan, index, rate, rules.0, rules.1) else {
                continue; // Reported before.
            };
            let delay = line.at(Time::ZERO).one_way_delay;
            let settings = settings(sky, &name, rate, delay, sky.channel)?;
            ids[way] = LinkId(scenario.links.len() as u32);
            let changes = !sky.constellation.stands();
            let line = changes.then(|| line.into());
            scenario.links.push(Link {
                reverse: (way == 1).then_some(ids[0]),
                ..Link::new(name, [from, to], settings, line)
            });
        }
        if let Some(forth) = scenario.links.get_mut(ids[0].0 as usize) {
            forth.reverse = Some(ids[1]);
        }
        all.push(vec![(Time::ZERO, vec![ids[0]], vec![ids[1]])]);
    }
    Ok(all)
}

/// Satellites as nodes, and a link for each hop and direction.
fn expand_satellite_hops(
    sky: &ConstellationSpec,
    stations: &[(NodeId, Station)],
    plan: &Plan,
    scenario: &mut Scenario,
) -> Result<Vec<Ways>, Reported> {
    let nodes = nodes_of_hops(sky, stations, plan, scenario);
    let mut links: HashMap<(Stop, Stop), LinkId> = HashMap::new();
    for edge in plan.edges() {
        let delay = edge.spans[0].knots[0].delay;
        for down in [true, false] {
            let (name, rate, channel) = line(sky, stations, edge, down, scenario);
            let settings = settings(sky, &name, rate, delay, channel)?;
            let timeline = courses::of_edge(plan, edge, rate, (sky.when_down, sky.in_flight));
            let (from, to) = match down {
                true => (edge.a, edge.b),
                false => (edge.b, edge.a),
            };
            let id = LinkId(scenario.links.len() as u32);
            links.insert((from, to), id);
            let ends = [nodes[&from], nodes[&to]];
            scenario.links.push(Link {
                reverse: Some(LinkId(if down { id.0 + 1 } else { id.0 - 1 })),
                ..Link::new(name, ends, settings, Some(timeline.into()))
            });
        }
    }
    let ways = (0..plan.pairs().len()).map(|pair| {
        let stretches = plan.stretches(pair);
        let ways = stretches.map(|(from, _, path)| {
            let hops = path.unwrap_or(&[]).windows(2);
            let forth = hops.clone().map(|ends| links[&(ends[0], ends[1])]);
            let back = hops.rev().map(|ends| links[&(ends[1], ends[0])]);
            (from, forth.collect(), back.collect())
        });
        ways.collect()
    });
    Ok(ways.collect())
}

/// The nodes between which a plan has hops; those of satellites are added.
fn nodes_of_hops(
    sky: &ConstellationSpec,
    stations: &[(NodeId, Station)],
    plan: &Plan,
    scenario: &mut Scenario,
) -> BTreeMap<Stop, NodeId> {
    let stops = plan.edges().iter().flat_map(|edge| [edge.a, edge.b]);
    let stops: BTreeSet<Stop> = stops.collect();
    let node = |stop| {
        let id = match stop {
            Stop::Terminal(terminal) => stations[terminal as usize].0,
            Stop::Satellite(satellite) => {
                let label = sky.constellation.label(satellite as usize);
                let name = format!("{}[{label}]", sky.name);
                scenario.nodes.push(Node { name });
                NodeId(scenario.nodes.len() as u32 - 1)
            }
        };
        (stop, id)
    };
    stops.into_iter().map(node).collect()
}

/// Name, rate and channel of the link over a hop, down or forth, or up or back.
fn line(
    sky: &ConstellationSpec,
    stations: &[(NodeId, Station)],
    edge: &Edge,
    down: bool,
    scenario: &Scenario,
) -> (String, Rate, ChannelSettings) {
    let [a, b] = [edge.a, edge.b].map(|stop| match stop {
        Stop::Satellite(satellite) => sky.constellation.label(satellite as usize),
        Stop::Terminal(terminal) => {
            let node = stations[terminal as usize].0;
            scenario.nodes[node.0 as usize].name.clone()
        }
    });
    let sky_name = &sky.name;
    let station = match edge.b {
        Stop::Terminal(terminal) => Some(&stations[terminal as usize].1),
        Stop::Satellite(_) => None,
    };
    match (edge.kind, down) {
        (EdgeKind::Ground, true) => {
            let rate = station.and_then(|s| s.down_rate).unwrap_or(sky.down_rate);
            (format!("{sky_name}.down.{b}[{a}]"), rate, sky.channel)
        }
        (EdgeKind::Ground, false) => {
            let rate = station.and_then(|s| s.up_rate).unwrap_or(sky.up_rate);
            (format!("{sky_name}.up.{b}[{a}]"), rate, sky.channel)
        }
        (EdgeKind::Isl(_), forth) => {
            let back = if forth { "" } else { ".reverse" };
            let name = format!("{sky_name}.isl[{a},{b}]{back}");
            (name, sky.isl_rate, ChannelSettings::Perfect)
        }
    }
}

/// Puts the ways of pairs into the routes of a flow.
fn route_flow(
    flow: &mut Flow,
    ways: &HashMap<(usize, u32, u32), Ways>,
    stands_for: impl Fn(&LinkId) -> Option<(usize, u32, u32, bool)>,
) {
    let (forward, reverse) = (flow.forward.clone(), flow.reverse.clone());
    let mut times: BTreeSet<Time> = BTreeSet::from([Time::ZERO]);
    for link in forward.iter().chain(&reverse) {
        if let Some((sky, a, b, _)) = stands_for(link) {
            times.extend(ways[&(sky, a, b)].iter().map(|way| way.0));
        }
    }
    // A way in which some pair has none is none.
    let at = |path: &[LinkId], time: Time| -> Vec<LinkId> {
        let mut whole = Vec::with_capacity(path.len());
        for link in path {
            let Some((sky, a, b, back)) = stands_for(link) else {
                whole.push(*link);
                continue;
            };
            let ways = &ways[&(sky, a, b)];
            let now = ways.partition_point(|way| way.0 <= time).saturating_sub(1);
            let (_, forth, reverse) = &ways[now];
            let part = if back { reverse } else { forth };
            if part.is_empty() {
                return Vec::new();
            }
            whole.extend(part);
        }
        whole
    };
    let mut changes = times.into_iter().map(|time| RouteChange {
        at: time,
        forward: at(&forward, time),
        reverse: at(&reverse, time),
    });
    if let Some(first) = changes.next() {
        flow.forward = first.forward;
        flow.reverse = first.reverse;
    }
    flow.changes = changes.collect();
}
