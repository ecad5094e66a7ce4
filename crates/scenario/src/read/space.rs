//! Constellations become nodes, links with timelines and routes that change.
//!
//! Routes are found first over [ways](super::ways) from terminal to terminal. The pairs on a route are
//! planned; then satellites on their paths become nodes, hops become links, and the routes of the
//! flows change with the paths.
//! Bent-pipe satellites become one link for each pair and direction instead, with the delay of both
//! hops.

use super::constellations::ConstellationSpec;
use super::nodes::Station;
use super::ways::{Crossed, Ways};
use crate::courses;
use crate::model::{Flow, Link, LinkId, Node, NodeId, RouteChange, Scenario};
use crate::queue_length::LinkContext;
use crate::route;
use crate::schema::LARGEST_COUNT;
use crate::space::{ExpandedConstellation, ExpandedConstellations, Hop};
use bentpipe_document::{Context, Diagnostic, Form, Reported};
use bentpipe_link::{ChannelSettings, Limit, LinkSettings, QueueSettings};
use bentpipe_orbit::{Edge, EdgeKind, Mode, Node as Stop, Plan, Terminal};
use bentpipe_units::{Duration, Rate, Time};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Links of a scenario with constellations, at most.
const MOST_LINKS: usize = 20 * LARGEST_COUNT as usize;

/// The courses of a pair: from when on over which links, forth and back.
type Courses = Vec<(Time, Vec<LinkId>, Vec<LinkId>)>;

/// Replaces ways by the behaviour of the constellations.
pub(super) fn expand(
    top: &Context,
    skies: &[ConstellationSpec],
    ways: &Ways,
    scenario: &mut Scenario,
) -> Result<ExpandedConstellations, Reported> {
    let mut space = ExpandedConstellations::default();
    if skies.is_empty() {
        return Ok(space);
    }
    let links = scenario.flows.iter();
    let links = links.flat_map(|flow| flow.forward.iter().chain(&flow.reverse));
    let used: BTreeSet<Crossed> = links
        .filter_map(|link| ways.crossed(*link))
        .map(|(crossed, _)| crossed)
        .collect();
    let used: Vec<Crossed> = used.into_iter().collect();
    let mut courses: Vec<Courses> = Vec::with_capacity(used.len());
    for (index, sky) in skies.iter().enumerate() {
        let pairs = used.iter().filter(|crossed| crossed.sky == index);
        let pairs: Vec<(u32, u32)> = pairs.map(|crossed| crossed.terminals).collect();
        let stations = &ways.stations[index];
        let (expanded, plan) = sky_courses(sky, stations, &pairs, scenario)?;
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
        courses.extend(expanded);
    }
    let numbers: HashMap<Crossed, usize> = used.iter().copied().zip(0..).collect();
    let firsts: Vec<usize> = (0..skies.len())
        .map(|sky| used.partition_point(|crossed| crossed.sky < sky))
        .collect();
    let crosses = |link: &LinkId| {
        let (crossed, back) = ways.crossed(*link)?;
        Some((crossed.sky, numbers[&crossed], back))
    };
    let hop = |link: &LinkId| match crosses(link) {
        None => Hop::Link(*link),
        Some((sky, number, back)) => Hop::Sky {
            sky,
            pair: number - firsts[sky],
            back,
        },
    };
    let flows = scenario.flows.iter();
    let crossed = flows.map(|flow| flow.forward.iter().map(hop).collect());
    space.ways = crossed.collect();
    for flow in &mut scenario.flows {
        route_flow(flow, |link| {
            let (_, number, back) = crosses(link)?;
            Some((&courses[number], back))
        });
        let change = flow
            .changes
            .iter()
            .map(|c| c.forward.len().max(c.reverse.len()));
        let longest = change.chain([flow.forward.len()]).max().unwrap_or(0);
        if longest > route::LONGEST {
            let message = format!("the path of flow `{}` is too long", flow.name);
            let label = format!("more than {} links", route::LONGEST);
            let error = Diagnostic::new(skies[0].place, message).label(label);
            return Err(top.report(error));
        }
    }
    Ok(space)
}

/// Plans `pairs` of one constellation, adds its nodes and links and gives the
/// courses of each pair.
fn sky_courses(
    sky: &ConstellationSpec,
    stations: &[(NodeId, Station)],
    pairs: &[(u32, u32)],
    scenario: &mut Scenario,
) -> Result<(Vec<Courses>, Plan), Reported> {
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
    let both_ways = 2 * match sky.settings.mode {
        Mode::BentPipe => plan.pairs().len(),
        Mode::Isl => plan.edges().len(),
    };
    if scenario.links.len() + both_ways > MOST_LINKS {
        let sum = scenario.links.len() + both_ways;
        let message = format!("with constellation `{}` there are {sum} links", sky.name);
        let help = format!(
            "a scenario has room for {MOST_LINKS}: shorten `duration`, or take fewer terminals"
        );
        return report(message, &help);
    }
    let courses = match sky.settings.mode {
        Mode::BentPipe => repeated(sky, stations, &plan, scenario),
        Mode::Isl => expand_satellite_hops(sky, stations, &plan, scenario),
    };
    Ok((courses?, plan))
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
) -> Result<Vec<Courses>, Reported> {
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
) -> Result<Vec<Courses>, Reported> {
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
    let courses = (0..plan.pairs().len()).map(|pair| {
        let stretches = plan.stretches(pair);
        let courses = stretches.map(|(from, _, path)| {
            let hops = path.unwrap_or(&[]).windows(2);
            let forth = hops.clone().map(|ends| links[&(ends[0], ends[1])]);
            let back = hops.rev().map(|ends| links[&(ends[1], ends[0])]);
            (from, forth.collect(), back.collect())
        });
        courses.collect()
    });
    Ok(courses.collect())
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

/// Puts the courses of the pairs that a flow crosses into its routes. `crosses` gives the courses behind
/// a way, and whether it leads back; none for a link.
fn route_flow<'a>(flow: &mut Flow, crosses: impl Fn(&LinkId) -> Option<(&'a Courses, bool)>) {
    let (forward, reverse) = (flow.forward.clone(), flow.reverse.clone());
    let mut times: BTreeSet<Time> = BTreeSet::from([Time::ZERO]);
    for link in forward.iter().chain(&reverse) {
        if let Some((courses, _)) = crosses(link) {
            times.extend(courses.iter().map(|course| course.0));
        }
    }
    // A route over a pair without a path is none.
    let at = |path: &[LinkId], time: Time| -> Vec<LinkId> {
        let mut whole = Vec::with_capacity(path.len());
        for link in path {
            let Some((courses, back)) = crosses(link) else {
                whole.push(*link);
                continue;
            };
            let now = courses.partition_point(|course| course.0 <= time);
            let (_, forth, reverse) = &courses[now.saturating_sub(1)];
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
