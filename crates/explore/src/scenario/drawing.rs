//! The network as boxes and lines, from the text as far as it can be read, and from the
//! checked scenario where there is one.

use super::places::Places;
use bentpipe::orbit::Mode;
use bentpipe::scenario::Scenario;
use bentpipe::scenario::space::{ExpandedConstellations, Hop};
use bentpipe_present::map::{Drawing, DrawnFlow, DrawnLink, DrawnNode, arrange, words};
use std::collections::{BTreeMap, VecDeque};

/// Nodes that are drawn, at most.
const MOST_NODES: usize = 300;

/// Links that are drawn, at most.
const MOST_LINKS: usize = 1000;

/// Flows whose ways are drawn, at most.
const MOST_FLOWS: usize = 40;

/// `sender` of `sender[3]`.
fn base(name: &str) -> &str {
    name.split_once('[').map_or(name, |(base, _)| base)
}

/// The network of a text; of one that is not valid what can be read of it.
pub(super) fn draw(places: &Places, valid: Option<&(Scenario, ExpandedConstellations)>) -> Drawing {
    let mut drawing = Drawing::default();
    let numbers = nodes(places, valid, &mut drawing);
    links(places, valid, &numbers, &mut drawing);
    match valid {
        Some((scenario, space)) => ways(scenario, space, &numbers, &mut drawing),
        None => guessed_ways(places, &numbers, &mut drawing),
    }
    arrange(&mut drawing);
    drawing
}

/// The tables of a group by their names.
fn names<'a>(places: &'a Places, group: &str) -> Vec<&'a str> {
    let in_group = places
        .entries
        .iter()
        .filter(|entry| matches!(entry.path.as_slice(), [first, _] if first == group));
    in_group.map(|entry| entry.path[1].as_str()).collect()
}

/// A single value as it is written.
fn value<'a>(places: &'a Places, path: &[&str]) -> Option<&'a str> {
    places.get(path)?.text.as_deref()
}

type Numbers = BTreeMap<(&'static str, String), usize>;

fn nodes(
    places: &Places,
    valid: Option<&(Scenario, ExpandedConstellations)>,
    drawing: &mut Drawing,
) -> Numbers {
    let mut numbers = Numbers::new();
    let mut boxes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for name in names(places, "middlebox") {
        if let Some(node) = value(places, &["middlebox", name, "node"]) {
            let kind = value(places, &["middlebox", name, "kind"]).unwrap_or("middlebox");
            let kind = if kind == "split" { "split PEP" } else { kind };
            boxes
                .entry(node)
                .or_default()
                .push(format!("{kind} {name}"));
        }
    }
    for (group, is_sky) in [("node", false), ("constellation", true)] {
        for name in names(places, group) {
            if drawing.nodes.len() >= MOST_NODES {
                drawing.left_out += 1;
                continue;
            }
            let count = value(places, &[group, name, "count"]).filter(|_| !is_sky);
            let title = count.map_or_else(|| name.to_owned(), |count| format!("{name} × {count}"));
            let lines = match is_sky {
                true => satellites(places, name, valid),
                false => boxes.remove(name).unwrap_or_default(),
            };
            numbers.insert((group, name.to_owned()), drawing.nodes.len());
            drawing.nodes.push(DrawnNode {
                group,
                name: name.to_owned(),
                title,
                lines,
                is_sky,
                ..DrawnNode::default()
            });
        }
    }
    numbers
}

/// What is written in the box of a constellation.
fn satellites(
    places: &Places,
    name: &str,
    valid: Option<&(Scenario, ExpandedConstellations)>,
) -> Vec<String> {
    let sky = valid.and_then(|(_, space)| space.skies.iter().find(|sky| sky.name == name));
    let Some(sky) = sky else {
        let kind = value(places, &["constellation", name, "kind"]);
        return kind.map(str::to_owned).into_iter().collect();
    };
    let does = match sky.mode {
        Mode::BentPipe => "repeat to the ground",
        Mode::Isl => "hand packets on",
    };
    match sky.constellation.len() {
        1 => vec!["1 satellite".to_owned()],
        count => vec![format!("{count} satellites"), does.to_owned()],
    }
}

fn links(
    places: &Places,
    valid: Option<&(Scenario, ExpandedConstellations)>,
    numbers: &Numbers,
    drawing: &mut Drawing,
) {
    let node = |name: &str| numbers.get(&("node", base(name).to_owned())).copied();
    let mut all: BTreeMap<[usize; 2], DrawnLink> = BTreeMap::new();
    for name in names(places, "link").into_iter().take(MOST_LINKS) {
        let end = |number| value(places, &["link", name, "between", number]).and_then(node);
        let (Some(a), Some(b)) = (end("0"), end("1")) else {
            continue;
        };
        let link = all.entry([a.min(b), a.max(b)]).or_default();
        link.ends = [a, b];
        link.names.push(name.to_owned());
        if link.names.len() == 1 {
            let scenario = valid.map(|(scenario, _)| scenario);
            let model = scenario.and_then(|scenario| {
                let mut links = scenario.links.iter();
                let model = links.find(|l| base(&l.name) == name && !l.name.ends_with(".reverse"));
                Some((scenario, model?))
            });
            link.lines = match model {
                Some((scenario, model)) => words(scenario, model),
                None => written(places, name),
            };
            if let Some(first) = link.lines.first_mut() {
                name.clone_into(first);
            }
        }
    }
    for mut link in all.into_values() {
        if link.names.len() > 1 {
            link.lines = vec![link.names.join(", ")];
        }
        drawing.links.push(link);
    }
    let terminals = drawing
        .nodes
        .iter()
        .enumerate()
        .filter_map(|(number, node)| {
            let sky = value(places, &[node.group, &node.name, "terminal_of"])?;
            let sky = numbers.get(&("constellation", sky.to_owned()))?;
            Some(DrawnLink {
                ends: [number, *sky],
                ..DrawnLink::default()
            })
        });
    let terminals: Vec<DrawnLink> = terminals.collect();
    drawing.links.extend(terminals);
}

/// What is written at a link of a text that is not valid: what the text says.
fn written(places: &Places, name: &str) -> Vec<String> {
    let parts = ["rate", "one_way_delay", "round_trip_delay"];
    let parts = parts
        .iter()
        .filter_map(|key| value(places, &["link", name, key]));
    let parts: Vec<&str> = parts.collect();
    [name.to_owned(), parts.join(", ")].into()
}

/// The ways of flows; of a counted one the way of the first.
fn ways(
    scenario: &Scenario,
    space: &ExpandedConstellations,
    numbers: &Numbers,
    drawing: &mut Drawing,
) {
    let node = |id: bentpipe::scenario::NodeId| {
        let name = &scenario.nodes.get(id.0 as usize)?.name;
        numbers.get(&("node", base(name).to_owned())).copied()
    };
    for (number, flow) in scenario.flows.iter().enumerate() {
        let name = base(&flow.name);
        if drawing.flows.iter().any(|drawn| drawn.name == name) {
            continue;
        }
        if drawing.flows.len() >= MOST_FLOWS {
            return;
        }
        let mut way: Vec<usize> = node(flow.from).into_iter().collect();
        for hop in space.ways.get(number).into_iter().flatten() {
            match *hop {
                Hop::Link(id) => {
                    let to = scenario.links.get(id.0 as usize).map(|link| link.to);
                    way.extend(to.and_then(node));
                }
                Hop::Sky { sky, pair, back } => {
                    let Some(sky) = space.skies.get(sky) else {
                        continue;
                    };
                    way.extend(numbers.get(&("constellation", sky.name.clone())));
                    let pair = sky.plan.pairs().get(pair);
                    let to = pair.map(|pair| if back { pair.from } else { pair.to });
                    let to = to.and_then(|to| sky.nodes.get(to as usize));
                    way.extend(to.copied().and_then(node));
                }
            }
        }
        way.dedup();
        drawing.flows.push(DrawnFlow {
            name: name.to_owned(),
            way,
        });
    }
}

/// The ways of flows of a text that is not valid: the fewest lines from end to end.
fn guessed_ways(places: &Places, numbers: &Numbers, drawing: &mut Drawing) {
    for name in names(places, "flow").into_iter().take(MOST_FLOWS) {
        let end = |key| {
            let node = base(value(places, &["flow", name, key])?).to_owned();
            numbers.get(&("node", node)).copied()
        };
        let way = match (end("from"), end("to")) {
            (Some(from), Some(to)) => shortest(drawing, from, to),
            _ => Vec::new(),
        };
        drawing.flows.push(DrawnFlow {
            name: name.to_owned(),
            way,
        });
    }
}

/// The nodes of the way with the fewest lines; empty if there is none.
fn shortest(drawing: &Drawing, from: usize, to: usize) -> Vec<usize> {
    let mut before: Vec<Option<usize>> = vec![None; drawing.nodes.len()];
    before[from] = Some(from);
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for link in &drawing.links {
            let [a, b] = link.ends;
            let other = match node {
                n if n == a => b,
                n if n == b => a,
                _ => continue,
            };
            if before[other].is_none() {
                before[other] = Some(node);
                queue.push_back(other);
            }
        }
    }
    let mut way = Vec::new();
    let mut at = to;
    while let Some(previous) = before[at] {
        way.push(at);
        if at == from {
            way.reverse();
            return way;
        }
        at = previous;
    }
    Vec::new()
}
