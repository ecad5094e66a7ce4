//! What the ways of flows do over time: paths, delays, hops, handovers.

use bentpipe_orbit::{Knot, Mode, Node};
use bentpipe_scenario::space::{ExpandedConstellations, Hop};
use bentpipe_scenario::{Link, NodeId, Scenario};
use bentpipe_units::{Duration, Time};
use serde_json::{Value, json};
use std::collections::HashMap;

/// A timeline of a link may change oftener than anybody can see.
const MOST_CHANGES: usize = 20_000;

/// A place on a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A node of the scenario.
    Ground(NodeId),
    /// A satellite of a constellation.
    Satellite(usize, u32),
}

/// A path and when it is taken.
#[derive(Clone, Debug)]
pub struct Leg {
    /// When it begins.
    pub from: Time,
    /// When it ends.
    pub to: Time,
    /// None while there is no way.
    pub path: Option<Vec<Stop>>,
    /// One-way propagation delay at points of time from `from` to `to`, with
    /// straight lines between them; none without a path.
    pub delay: Vec<Knot>,
}

impl Leg {
    /// Links on the path.
    #[must_use]
    pub fn hops(&self) -> Option<usize> {
        self.path.as_ref().map(|path| path.len() - 1)
    }

    /// The one-way delay at `time`.
    #[must_use]
    pub fn delay_at(&self, time: Time) -> Option<Duration> {
        self.path.as_ref()?;
        Some(along(&self.delay, time))
    }
}

/// A change of satellite of terminals on the way.
#[derive(Clone, Debug)]
pub struct Change {
    /// When.
    pub at: Time,
    /// The terminals that change together.
    pub terminals: Vec<NodeId>,
    /// From then on; none while there is none above the mask.
    pub satellite: Option<Stop>,
}

/// The way of flows that all cross the same.
#[derive(Clone, Debug)]
pub struct Course {
    /// Indices of the flows.
    pub flows: Vec<usize>,
    /// In order of time, without gaps.
    pub legs: Vec<Leg>,
    /// In order of time.
    pub handovers: Vec<Change>,
}

impl Course {
    /// The leg at `time`.
    #[must_use]
    pub fn leg_at(&self, time: Time) -> Option<&Leg> {
        let next = self.legs.partition_point(|leg| leg.from <= time);
        self.legs.get(next.saturating_sub(1))
    }

    /// Whether there is nothing to draw against time.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        let delays = || self.legs.iter().flat_map(|leg| &leg.delay);
        let first = delays().next().map(|knot| knot.delay);
        self.legs.len() < 2 && delays().all(|knot| Some(knot.delay) == first)
    }

    /// `download`, `download[0] and 9 more`.
    #[must_use]
    pub fn title(&self, scenario: &Scenario) -> String {
        let name = |i: usize| scenario.flows.get(i).map_or("", |f| f.name.as_str());
        match self.flows.as_slice() {
            [] => String::new(),
            [one] => name(*one).to_owned(),
            [one, two] => format!("{}, {}", name(*one), name(*two)),
            [one, rest @ ..] => format!("{} and {} more", name(*one), rest.len()),
        }
    }

    /// Smallest, mean over time and largest delay, seconds; none without any
    /// path.
    #[must_use]
    pub fn delays(&self) -> Option<[f64; 3]> {
        let (mut low, mut high, mut sum, mut time) = (f64::INFINITY, 0.0f64, 0.0, 0.0);
        for leg in &self.legs {
            for knot in &leg.delay {
                low = low.min(knot.delay.as_secs());
                high = high.max(knot.delay.as_secs());
            }
            for ends in leg.delay.windows(2) {
                let length = ends[1].at.since(ends[0].at).as_secs();
                sum += length * (ends[0].delay.as_secs() + ends[1].delay.as_secs()) / 2.0;
                time += length;
            }
        }
        let mean = if time > 0.0 { sum / time } else { low };
        low.is_finite().then_some([low, mean, high])
    }

    /// The share of the time in which there is a path.
    #[must_use]
    pub fn availability(&self) -> f64 {
        let length = |leg: &Leg| leg.to.since(leg.from).as_secs();
        let all: f64 = self.legs.iter().map(length).sum();
        let there = self.legs.iter().filter(|leg| leg.path.is_some());
        let there: f64 = there.map(length).sum();
        if all > 0.0 { there / all } else { 0.0 }
    }

    /// Fewest and most links.
    #[must_use]
    pub fn hops(&self) -> Option<(usize, usize)> {
        let hops = || self.legs.iter().filter_map(Leg::hops);
        hops().min().zip(hops().max())
    }
}

/// The name of a stop: a node's, `leo[3-14]`, the satellite's of a file.
#[must_use]
pub fn name(scenario: &Scenario, space: &ExpandedConstellations, stop: Stop) -> String {
    match stop {
        Stop::Ground(node) => scenario
            .nodes
            .get(node.0 as usize)
            .map_or_else(String::new, |n| n.name.clone()),
        Stop::Satellite(sky, satellite) => {
            let sky = &space.skies[sky];
            let label = sky.constellation.label(satellite as usize);
            format!("{}[{label}]", sky.name)
        }
    }
}

/// The delay at `time` on straight lines between `knots`.
fn along(knots: &[Knot], time: Time) -> Duration {
    let next = knots.partition_point(|knot| knot.at <= time);
    let (Some(a), Some(b)) = (knots.get(next.saturating_sub(1)), knots.get(next)) else {
        return knots.last().map_or(Duration::ZERO, |knot| knot.delay);
    };
    if next == 0 || a.at == b.at {
        return a.delay;
    }
    let share = time.since(a.at).as_secs() / b.at.since(a.at).as_secs();
    let (from, to) = (a.delay.as_nanos() as f64, b.delay.as_nanos() as f64);
    Duration::from_nanos((from + (to - from) * share + 0.5) as u64)
}

fn link_delay(link: &Link, at: Time) -> Duration {
    match &link.timeline {
        Some(line) => line.at(at).one_way_delay,
        None => link.settings.one_way_delay,
    }
}

/// The courses of the flows in `wanted`, those that cross the same as one: the first `most` of them, and how
/// many there are.
#[must_use]
pub fn courses(
    scenario: &Scenario,
    space: &ExpandedConstellations,
    wanted: &[usize],
    most: usize,
) -> (Vec<Course>, usize) {
    let mut groups: Vec<(NodeId, &[Hop], Vec<usize>)> = Vec::new();
    let mut known: HashMap<(NodeId, &[Hop]), usize> = HashMap::new();
    for &flow in wanted {
        let Some(way) = space.ways.get(flow) else {
            continue;
        };
        let from = scenario.flows[flow].from;
        let group = *known.entry((from, way)).or_insert_with(|| {
            groups.push((from, way, Vec::new()));
            groups.len() - 1
        });
        groups[group].2.push(flow);
    }
    let course = |(from, way, flows): (NodeId, &[Hop], Vec<usize>)| Course {
        legs: legs(scenario, space, from, way),
        handovers: handovers(space, way),
        flows,
    };
    let all = groups.len();
    (groups.into_iter().take(most).map(course).collect(), all)
}

fn legs(
    scenario: &Scenario,
    space: &ExpandedConstellations,
    from: NodeId,
    way: &[Hop],
) -> Vec<Leg> {
    let end = Time::ZERO + scenario.duration;
    // Of each hop through a constellation its legs.
    let skies: Vec<(usize, bool, Vec<bentpipe_orbit::Leg<'_>>)> = way
        .iter()
        .filter_map(|hop| match *hop {
            Hop::Sky { sky, pair, back } => Some((sky, back, space.skies[sky].plan.course(pair))),
            Hop::Link(_) => None,
        })
        .collect();
    let links: Vec<&Link> = way
        .iter()
        .filter_map(|hop| match hop {
            Hop::Link(id) => scenario.links.get(id.0 as usize),
            Hop::Sky { .. } => None,
        })
        .collect();
    let mut cuts: Vec<Time> = skies
        .iter()
        .flat_map(|s| &s.2)
        .map(|leg| leg.from)
        .collect();
    cuts.extend([Time::ZERO, end]);
    cuts.sort_unstable();
    cuts.dedup();
    let turns = turns(&links, end);
    cuts.windows(2)
        .map(|ends| {
            let (since, until) = (ends[0], ends[1]);
            let now: Vec<&bentpipe_orbit::Leg<'_>> = skies
                .iter()
                .map(|(.., legs)| {
                    let next = legs.partition_point(|leg| leg.from <= since);
                    &legs[next.saturating_sub(1)]
                })
                .collect();
            let mut delay = Vec::new();
            let path = path_of(scenario, space, from, way, &skies, &now);
            if path.is_some() {
                let knots = now.iter().flat_map(|leg| &leg.knots).map(|knot| knot.at);
                let mut times: Vec<Time> = knots
                    .chain(turns.iter().copied())
                    .filter(|at| (since..until).contains(at))
                    .chain([since, until])
                    .collect();
                times.sort_unstable();
                times.dedup();
                let sum = |at: Time| {
                    let sky = now.iter().map(|leg| along(&leg.knots, at));
                    let ground = links.iter().map(|link| link_delay(link, at));
                    sky.chain(ground).fold(Duration::ZERO, |sum, d| sum + d)
                };
                delay = times
                    .into_iter()
                    .map(|at| Knot { at, delay: sum(at) })
                    .collect();
            }
            Leg {
                from: since,
                to: until,
                path,
                delay,
            }
        })
        .collect()
}

/// When links change before `end`, the first [`MOST_CHANGES`] times.
fn turns(links: &[&Link], end: Time) -> Vec<Time> {
    let mut turns: Vec<Time> = Vec::new();
    for link in links {
        let mut at = Time::ZERO;
        while let Some(next) = link.timeline.as_ref().and_then(|line| line.next_change(at)) {
            if next >= end || turns.len() >= MOST_CHANGES {
                break;
            }
            turns.push(next);
            at = next;
        }
    }
    turns
}

fn path_of(
    scenario: &Scenario,
    space: &ExpandedConstellations,
    from: NodeId,
    way: &[Hop],
    skies: &[(usize, bool, Vec<bentpipe_orbit::Leg<'_>>)],
    now: &[&bentpipe_orbit::Leg<'_>],
) -> Option<Vec<Stop>> {
    let mut path = vec![Stop::Ground(from)];
    let mut parts = skies.iter().zip(now);
    for hop in way {
        if let Hop::Link(id) = hop {
            path.push(Stop::Ground(scenario.links.get(id.0 as usize)?.to));
            continue;
        }
        let ((sky, back, _), leg) = parts.next()?;
        let stop = |node: &Node| match node {
            Node::Satellite(satellite) => Stop::Satellite(*sky, *satellite),
            Node::Terminal(t) => Stop::Ground(space.skies[*sky].nodes[*t as usize]),
        };
        let mut stops: Vec<Stop> = leg.path?.iter().map(stop).collect();
        if *back {
            stops.reverse();
        }
        path.extend(stops.into_iter().skip(1));
    }
    Some(path)
}

fn handovers(space: &ExpandedConstellations, way: &[Hop]) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for hop in way {
        let Hop::Sky {
            sky: index, pair, ..
        } = *hop
        else {
            continue;
        };
        let sky = &space.skies[index];
        let ends = &sky.plan.pairs()[pair];
        // Over a bent pipe each pair has a track, else each terminal.
        let ours = match sky.mode {
            Mode::BentPipe => vec![pair],
            Mode::Isl => vec![
                ends.from.min(ends.to) as usize,
                ends.from.max(ends.to) as usize,
            ],
        };
        for track in ours.into_iter().map(|number| &sky.plan.tracks()[number]) {
            let terminals = track.terminals.iter().map(|t| sky.nodes[*t as usize]);
            let terminals: Vec<NodeId> = terminals.collect();
            changes.extend(track.handovers.iter().skip(1).map(|h| Change {
                at: h.at,
                terminals: terminals.clone(),
                satellite: h.satellite.map(|s| Stop::Satellite(index, s)),
            }));
        }
    }
    changes.sort_by_key(|change| change.at);
    changes
}

/// The series of a course as JSON.
#[must_use]
pub fn document(scenario: &Scenario, space: &ExpandedConstellations, course: &Course) -> Value {
    let named = |stop: &Stop| name(scenario, space, *stop);
    let node = |id: &NodeId| name(scenario, space, Stop::Ground(*id));
    let paths = course.legs.iter().map(|leg| {
        json!({
            "from_s": leg.from.as_secs(),
            "to_s": leg.to.as_secs(),
            "hops": leg.hops(),
            "path": leg.path.as_ref().map(|p| p.iter().map(named).collect::<Vec<_>>()),
            "one_way_delay_s": leg.delay.iter()
                .map(|knot| json!([knot.at.as_secs(), knot.delay.as_secs()]))
                .collect::<Vec<_>>(),
        })
    });
    let handovers = course.handovers.iter().map(|change| {
        json!({
            "at_s": change.at.as_secs(),
            "terminals": change.terminals.iter().map(node).collect::<Vec<_>>(),
            "satellite": change.satellite.as_ref().map(named),
        })
    });
    let flows = course.flows.iter().filter_map(|i| scenario.flows.get(*i));
    let ends = course.flows.first().and_then(|i| scenario.flows.get(*i));
    let [low, mean, high] = course.delays().map_or([None; 3], |d| d.map(Some));
    json!({
        "flows": flows.map(|f| f.name.as_str()).collect::<Vec<_>>(),
        "from": ends.map(|f| node(&f.from)),
        "to": ends.map(|f| node(&f.to)),
        "availability": course.availability(),
        "one_way_delay_min_s": low,
        "one_way_delay_mean_s": mean,
        "one_way_delay_max_s": high,
        "paths": paths.collect::<Vec<_>>(),
        "handovers": handovers.collect::<Vec<_>>(),
    })
}
