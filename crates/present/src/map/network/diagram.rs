//! What the diagram shows: nodes, links and the ways of flows.

use super::layout::beside;
use super::{BOX_TEXT, LINE_HEIGHT, NODE_HEIGHT, TITLE};
use crate::scenario;
use bentpipe::map::{Course, Stop, name};
use bentpipe_link::ChannelSettings;
use bentpipe_link::medium::AccessSettings;
use bentpipe_orbit::Mode;
use bentpipe_scenario::space::{ExpandedConstellation, ExpandedConstellations, Hop};
use bentpipe_scenario::{Link, NodeId, Scenario};
use bentpipe_units::Rate;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// More counted nodes of one name than this are drawn as one.
const TOGETHER: usize = 4;
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) title: String,
    pub(super) lines: Vec<String>,
    pub(super) sky: bool,
    /// Flows side by side on a link here, at most.
    pub(super) flows: usize,
    pub(super) column: i32,
    pub(super) row: usize,
    pub(super) x: f64,
    pub(super) y: f64,
}

impl Node {
    pub(super) fn width(&self) -> f64 {
        let lines = self.lines.iter().map(|line| BOX_TEXT.width(line));
        lines.fold(TITLE.width(&self.title), f64::max) + 24.0
    }

    pub(super) fn height(&self) -> f64 {
        let lines = 2.0 * (beside(self.flows) + 2.0);
        (NODE_HEIGHT + LINE_HEIGHT * self.lines.len() as f64).max(lines)
    }
}

#[derive(Debug)]
pub(super) struct Edge {
    pub(super) ends: [usize; 2],
    /// The first is the name.
    pub(super) lines: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct Diagram {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
    /// Nodes on the way of each course.
    pub(super) ways: Vec<Vec<usize>>,
}

/// Whether a constellation made a link: files cannot name links like that.
fn is_made(link: &Link) -> bool {
    let name = link.name.strip_suffix(".reverse").unwrap_or(&link.name);
    let inside = name.rsplit_once('[').map_or("0", |(_, rest)| rest);
    let digits = inside.trim_end_matches(']').bytes();
    name.contains('.') || !digits.into_iter().all(|b| b.is_ascii_digit())
}

/// `sender` of `sender[3]`.
fn base(name: &str) -> &str {
    name.split_once('[').map_or(name, |(base, _)| base)
}

pub(super) fn diagram(
    scenario: &Scenario,
    space: &ExpandedConstellations,
    courses: &[Course],
) -> Diagram {
    let mut shown: BTreeSet<NodeId> = BTreeSet::new();
    let links: Vec<&Link> = scenario.links.iter().filter(|l| !is_made(l)).collect();
    for link in &links {
        shown.extend([link.from, link.to]);
    }
    for sky in &space.skies {
        shown.extend(&sky.nodes);
    }
    let mut drawn = Diagram::default();
    let numbers = nodes(scenario, space, &shown, &mut drawn);
    boxes(scenario, &numbers, &mut drawn);
    edges(scenario, &links, &numbers, &mut drawn);
    let first_sky = drawn.nodes.len();
    for sky in &space.skies {
        add_sky(scenario, sky, &numbers, &mut drawn);
    }
    for course in courses {
        let flow = &scenario.flows[course.flows[0]];
        let mut way = vec![numbers[&flow.from]];
        for hop in space.ways.get(course.flows[0]).into_iter().flatten() {
            match *hop {
                Hop::Link(id) => way.push(numbers[&scenario.links[id.0 as usize].to]),
                Hop::Sky { sky, pair, back } => {
                    let pair = &space.skies[sky].plan.pairs()[pair];
                    let to = if back { pair.from } else { pair.to };
                    way.push(first_sky + sky);
                    way.push(numbers[&space.skies[sky].nodes[to as usize]]);
                }
            }
        }
        drawn.ways.push(way);
    }
    let mut shared: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    for ends in drawn.ways.iter().flat_map(|way| way.windows(2)) {
        let count = shared
            .entry([ends[0].min(ends[1]), ends[0].max(ends[1])])
            .or_default();
        *count += 1;
        for node in ends {
            let most = &mut drawn.nodes[*node].flows;
            *most = (*most).max(*count);
        }
    }
    drawn
}

/// Draws the nodes, many of one name as one, and returns the number of each.
fn nodes(
    scenario: &Scenario,
    space: &ExpandedConstellations,
    shown: &BTreeSet<NodeId>,
    drawn: &mut Diagram,
) -> BTreeMap<NodeId, usize> {
    let title = |node: NodeId| name(scenario, space, Stop::Ground(node));
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for node in shown {
        *alike.entry(base(&title(*node)).to_owned()).or_default() += 1;
    }
    let mut numbers: BTreeMap<NodeId, usize> = BTreeMap::new();
    let mut groups: BTreeMap<String, usize> = BTreeMap::new();
    for &node in shown {
        let own = title(node);
        let count = alike[base(&own)];
        let number = if count > TOGETHER {
            let next = drawn.nodes.len();
            let number = *groups.entry(base(&own).to_owned()).or_insert(next);
            if number == next {
                drawn.nodes.push(Node {
                    title: format!("{} × {count}", base(&own)),
                    ..Node::default()
                });
            }
            number
        } else {
            drawn.nodes.push(Node {
                title: own,
                ..Node::default()
            });
            drawn.nodes.len() - 1
        };
        numbers.insert(node, number);
    }
    numbers
}

/// Draws the links, several between two nodes as one.
fn edges(
    scenario: &Scenario,
    links: &[&Link],
    numbers: &BTreeMap<NodeId, usize>,
    drawn: &mut Diagram,
) {
    let mut edges: BTreeMap<(usize, usize), Vec<Vec<String>>> = BTreeMap::new();
    for link in links.iter().filter(|l| !l.name.ends_with(".reverse")) {
        let ends = (numbers[&link.from], numbers[&link.to]);
        let key = (ends.0.min(ends.1), ends.0.max(ends.1));
        let back = link
            .reverse
            .and_then(|id| scenario.links.get(id.0 as usize));
        let lines = link_lines(scenario, link, back);
        edges.entry(key).or_default().push(lines);
    }
    for ((a, b), all) in edges {
        // Links of one kind between counted nodes are one line.
        let mut lines = all[0].clone();
        if all.len() > 1 {
            lines[0] = format!("{} × {}", base(&lines[0]), all.len());
            if !all.iter().all(|other| other[1..] == all[0][1..]) {
                lines.truncate(1);
                lines.push("different".to_owned());
            }
        }
        drawn.edges.push(Edge {
            ends: [a, b],
            lines,
        });
    }
}

/// Middleboxes and PEPs, in the boxes of their nodes.
fn boxes(scenario: &Scenario, numbers: &BTreeMap<NodeId, usize>, drawn: &mut Diagram) {
    let boxes = scenario.middleboxes.iter();
    let boxes = boxes.map(|m| (&m.name, m.settings.kind(), m.node));
    let peps = scenario.peps.iter().map(|p| (&p.name, "split PEP", p.node));
    let mut lines: BTreeMap<usize, BTreeMap<String, usize>> = BTreeMap::new();
    for (name, kind, node) in boxes.chain(peps) {
        if let Some(number) = numbers.get(&node) {
            let text = format!("{kind} {}", base(name));
            *lines.entry(*number).or_default().entry(text).or_default() += 1;
        }
    }
    for (number, texts) in lines {
        for (text, count) in texts {
            let text = if count > 1 {
                format!("{text} × {count}")
            } else {
                text
            };
            drawn.nodes[number].lines.push(text);
        }
    }
}

/// What a link does beyond its rate and delay: loss, repair, the medium that
/// it shares.
fn more_of(scenario: &Scenario, link: &Link) -> Vec<String> {
    let mut lines = Vec::new();
    let mut loss = if link.settings.channel == ChannelSettings::Perfect {
        String::new()
    } else {
        scenario::channel(&link.settings.channel)
    };
    loss.push_str(&scenario::more_of(link));
    if !loss.is_empty() {
        lines.push(loss.trim_start_matches(", ").to_owned());
    }
    let medium = link.medium.and_then(|m| scenario.media.get(m.0 as usize));
    if let Some(medium) = medium {
        let access = match medium.settings.access {
            AccessSettings::Tdma { .. } => "TDMA",
            AccessSettings::Dama { .. } => "DAMA",
            AccessSettings::CfDama { .. } => "CF-DAMA",
            AccessSettings::Aloha(_) => "ALOHA",
        };
        lines.push(format!("shares {} ({access})", medium.name));
    }
    lines
}

pub(super) fn link_lines(scenario: &Scenario, link: &Link, back: Option<&Link>) -> Vec<String> {
    let (s, more) = (&link.settings, more_of(scenario, link));
    let mut lines = vec![
        link.name.clone(),
        format!("{}, {}", s.rate, s.one_way_delay),
    ];
    lines.extend(more.iter().cloned());
    let Some(back) = back else {
        lines.push("one way".to_owned());
        return lines;
    };
    let mut parts = Vec::new();
    if back.settings.rate != s.rate {
        parts.push(back.settings.rate.to_string());
    }
    if back.settings.one_way_delay != s.one_way_delay {
        parts.push(back.settings.one_way_delay.to_string());
    }
    let other = more_of(scenario, back);
    if other != more {
        let lossy = !matches!(s.channel, ChannelSettings::Perfect);
        if other.is_empty() && lossy {
            parts.push("no loss".to_owned());
        }
        parts.extend(other);
    }
    if !parts.is_empty() {
        lines.push(format!("back: {}", parts.join(", ")));
    }
    lines
}

fn add_sky(
    scenario: &Scenario,
    sky: &ExpandedConstellation,
    numbers: &BTreeMap<NodeId, usize>,
    drawn: &mut Diagram,
) {
    let count = sky.constellation.len();
    let satellites = if count == 1 {
        "1 satellite".to_owned()
    } else {
        format!("{count} satellites")
    };
    let does = match sky.mode {
        Mode::BentPipe => "repeat to the ground",
        Mode::Isl => "hand packets on",
    };
    let mut lines = vec![satellites];
    if count > 1 {
        lines.push(does.to_owned());
    }
    let number = drawn.nodes.len();
    drawn.nodes.push(Node {
        title: sky.name.clone(),
        lines,
        sky: true,
        ..Node::default()
    });
    // Of each terminal the rates of the first links from and to it.
    let mut rates: HashMap<NodeId, [Option<Rate>; 2]> = HashMap::new();
    let links = scenario.links.iter();
    for link in links.filter(|l| is_made(l) && l.name.starts_with(&sky.name)) {
        for (way, node) in [link.from, link.to].into_iter().enumerate() {
            let rate = &mut rates.entry(node).or_default()[way];
            *rate = rate.or(Some(link.settings.rate));
        }
    }
    let words = match sky.mode {
        Mode::BentPipe => ["sends", "receives"],
        Mode::Isl => ["up", "down"],
    };
    // Terminals that are drawn as one have one line.
    let mut lines_of: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for node in &sky.nodes {
        let rates = rates.get(node).copied().unwrap_or_default();
        let parts = words.into_iter().zip(rates);
        let parts = parts.filter_map(|(word, rate)| rate.map(|rate| format!("{word} {rate}")));
        let lines: Vec<String> = [String::new()].into_iter().chain(parts).collect();
        let known = lines_of
            .entry(numbers[node])
            .or_insert_with(|| lines.clone());
        // A terminal without a flow has no links, and no rates.
        if known.len() == 1 {
            *known = lines;
        } else if lines.len() > 1 && *known != lines {
            *known = vec![String::new(), "different".to_owned()];
        }
    }
    let edges = lines_of.into_iter().map(|(node, lines)| Edge {
        ends: [node, number],
        lines,
    });
    drawn.edges.extend(edges);
}
