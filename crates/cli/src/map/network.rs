//! The network as a diagram: nodes in columns along the ways of flows, links
//! with their rate, delay and loss, flows as coloured lines.

use super::course::{Course, Stop, name};
use super::svg::{Anchor, Box4, INK, Room, SOFT, Style, Svg, colour, num, path};
use crate::check;
use bentpipe_link::ChannelSettings;
use bentpipe_link::medium::AccessSettings;
use bentpipe_orbit::Mode;
use bentpipe_scenario::space::{Hop, Sky, Space};
use bentpipe_scenario::{Link, NodeId, Scenario};
use bentpipe_units::Rate;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// More counted nodes of one name than this are drawn as one.
const TOGETHER: usize = 4;
const NODE_HEIGHT: f64 = 26.0;
const LINE_HEIGHT: f64 = 14.0;
const TITLE: Style = Style::new(12.0, INK).bold().anchor(Anchor::Middle);
const BOX_TEXT: Style = Style::new(10.5, SOFT).anchor(Anchor::Middle);
const LINK_NAME: Style = Style::new(11.0, INK).anchor(Anchor::Middle).rim();
const LINK_TEXT: Style = Style::new(10.5, SOFT).anchor(Anchor::Middle).rim();

#[derive(Debug, Default)]
struct Node {
    title: String,
    lines: Vec<String>,
    sky: bool,
    /// Flows side by side on a link here, at most.
    flows: usize,
    column: i32,
    row: usize,
    x: f64,
    y: f64,
}

impl Node {
    fn width(&self) -> f64 {
        let lines = self.lines.iter().map(|line| BOX_TEXT.width(line));
        lines.fold(TITLE.width(&self.title), f64::max) + 24.0
    }

    fn height(&self) -> f64 {
        let lines = 2.0 * (beside(self.flows) + 2.0);
        (NODE_HEIGHT + LINE_HEIGHT * self.lines.len() as f64).max(lines)
    }
}

#[derive(Debug)]
struct Edge {
    ends: [usize; 2],
    /// The first is the name.
    lines: Vec<String>,
}

#[derive(Debug, Default)]
struct Diagram {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Nodes on the way of each course.
    ways: Vec<Vec<usize>>,
}

/// How far below a link the flow of that number is drawn, counted from 0.
fn beside(rank: usize) -> f64 {
    4.5 + 3.6 * rank as f64
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

fn diagram(scenario: &Scenario, space: &Space, courses: &[Course]) -> Diagram {
    let mut shown: BTreeSet<NodeId> = BTreeSet::new();
    let links: Vec<&Link> = scenario.links.iter().filter(|l| !is_made(l)).collect();
    for link in &links {
        shown.extend([link.from, link.to]);
    }
    for sky in &space.skies {
        shown.extend(&sky.nodes);
    }
    let title = |node: NodeId| name(scenario, space, Stop::Ground(node));
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for node in &shown {
        *alike.entry(base(&title(*node)).to_owned()).or_default() += 1;
    }
    let mut drawn = Diagram::default();
    let mut numbers: BTreeMap<NodeId, usize> = BTreeMap::new();
    let mut groups: BTreeMap<String, usize> = BTreeMap::new();
    for &node in &shown {
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
    boxes(scenario, &numbers, &mut drawn);
    let mut edges: BTreeMap<(usize, usize), Vec<Vec<String>>> = BTreeMap::new();
    for link in links.iter().filter(|l| !l.name.ends_with(".reverse")) {
        let ends = (numbers[&link.from], numbers[&link.to]);
        let key = (ends.0.min(ends.1), ends.0.max(ends.1));
        let reverse = format!("{}.reverse", link.name);
        let back = links.iter().find(|l| l.name == reverse);
        edges
            .entry(key)
            .or_default()
            .push(link_lines(scenario, link, back.copied()));
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
    let mut loss = match link.settings.channel {
        ChannelSettings::Perfect => String::new(),
        _ => check::channel(&link.settings.channel),
    };
    loss.push_str(check::more_of(link));
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

fn link_lines(scenario: &Scenario, link: &Link, back: Option<&Link>) -> Vec<String> {
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

fn add_sky(scenario: &Scenario, sky: &Sky, numbers: &BTreeMap<NodeId, usize>, drawn: &mut Diagram) {
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
    for node in &sky.nodes {
        let rates = |ours: &dyn Fn(&Link) -> NodeId| -> Option<Rate> {
            let links = scenario.links.iter();
            let mut made = links.filter(|l| is_made(l) && l.name.starts_with(&sky.name));
            made.find(|l| ours(l) == *node).map(|l| l.settings.rate)
        };
        let (up, down) = match sky.mode {
            Mode::BentPipe => ("sends", "receives"),
            Mode::Isl => ("up", "down"),
        };
        let parts = [(up, rates(&|l| l.from)), (down, rates(&|l| l.to))];
        let parts = parts
            .into_iter()
            .filter_map(|(word, rate)| rate.map(|rate| format!("{word} {rate}")));
        drawn.edges.push(Edge {
            ends: [numbers[node], number],
            lines: [String::new()].into_iter().chain(parts).collect(),
        });
    }
}

/// Puts nodes into columns: along the ways of flows, then beside neighbours.
fn columns(drawn: &mut Diagram) {
    let count = drawn.nodes.len();
    let mut placed: Vec<Option<i32>> = vec![None; count];
    for way in &drawn.ways {
        let known: Vec<(i32, i32)> = way
            .iter()
            .enumerate()
            .filter_map(|(i, node)| placed[*node].map(|column| (i as i32, column)))
            .collect();
        let (at, column) = known.first().copied().unwrap_or((0, 0));
        // A way that crosses two known nodes against the others runs back.
        let back = known
            .last()
            .is_some_and(|last| last.0 > at && last.1 < column);
        for (i, node) in way.iter().enumerate() {
            let step = i as i32 - at;
            let there = column + if back { -step } else { step };
            placed[*node].get_or_insert(there);
        }
    }
    let mut queue: VecDeque<usize> = (0..count).filter(|n| placed[*n].is_some()).collect();
    for start in 0..count {
        if placed[start].is_none() && queue.is_empty() {
            placed[start] = Some(0);
            queue.push_back(start);
        }
        while let Some(node) = queue.pop_front() {
            let column = placed[node].unwrap_or(0);
            for edge in &drawn.edges {
                let [a, b] = edge.ends;
                let (other, step) = match node {
                    n if n == a => (b, 1),
                    n if n == b => (a, if drawn.nodes[b].sky { 1 } else { -1 }),
                    _ => continue,
                };
                if placed[other].is_none() {
                    placed[other] = Some(column + step);
                    queue.push_back(other);
                }
            }
        }
    }
    let least = placed.iter().flatten().min().copied().unwrap_or(0);
    for (node, column) in drawn.nodes.iter_mut().zip(placed) {
        node.column = column.unwrap_or(least) - least;
    }
}

/// Orders the nodes of each column by where their neighbours stand, and gives
/// the number of rows.
fn rows(drawn: &mut Diagram) {
    let last = drawn.nodes.iter().map(|n| n.column).max().unwrap_or(0);
    let mut order: Vec<Vec<usize>> = vec![Vec::new(); last as usize + 1];
    for (i, node) in drawn.nodes.iter().enumerate() {
        order[node.column as usize].push(i);
    }
    let mut at: Vec<f64> = vec![0.0; drawn.nodes.len()];
    let settle = |order: &[Vec<usize>], at: &mut [f64]| {
        for column in order {
            for (row, node) in column.iter().enumerate() {
                at[*node] = row as f64 - (column.len() as f64 - 1.0) / 2.0;
            }
        }
    };
    settle(&order, &mut at);
    for _ in 0..4 {
        for column in &mut order {
            let middle = |node: usize| {
                let beside = drawn.edges.iter().filter_map(|edge| match edge.ends {
                    [a, b] if a == node => Some(at[b]),
                    [a, b] if b == node => Some(at[a]),
                    _ => None,
                });
                let beside: Vec<f64> = beside.collect();
                let sum: f64 = beside.iter().sum();
                if beside.is_empty() {
                    at[node]
                } else {
                    sum / beside.len() as f64
                }
            };
            column.sort_by(|a, b| middle(*a).total_cmp(&middle(*b)));
        }
        settle(&order, &mut at);
    }
    for column in &order {
        for (row, node) in column.iter().enumerate() {
            drawn.nodes[*node].row = row;
        }
    }
}

/// How far below its ends' middle a link runs that would cross other nodes.
const BEND: f64 = 90.0;

/// The line between two nodes, `off` below their middles.
fn line(a: &Node, b: &Node, off: f64) -> String {
    let (from, to) = ((a.x, a.y + off), (b.x, b.y + off));
    if !bends(a, b) {
        return path(&[from, to], false);
    }
    let middle = ((a.x + b.x) / 2.0, (a.y + b.y) / 2.0 + off + 2.0 * BEND);
    format!(
        "M{} {}Q{} {} {} {}",
        num(from.0),
        num(from.1),
        num(middle.0),
        num(middle.1),
        num(to.0),
        num(to.1)
    )
}

/// Whether there are columns between two nodes.
fn bends(a: &Node, b: &Node) -> bool {
    (a.column - b.column).abs() > 1
}

/// Gives nodes their places and returns width and height of it all.
fn places(drawn: &mut Diagram) -> (f64, f64) {
    columns(drawn);
    rows(drawn);
    let last = drawn.nodes.iter().map(|n| n.column).max().unwrap_or(0) as usize;
    let widest = |column: usize| {
        let nodes = drawn.nodes.iter().filter(|n| n.column as usize == column);
        nodes.map(Node::width).fold(0.0, f64::max)
    };
    let mut x = 20.0;
    let mut centres = Vec::new();
    for column in 0..=last {
        let width = widest(column);
        centres.push(x + width / 2.0);
        let between = drawn.edges.iter().filter(|edge| {
            let [a, b] = edge.ends.map(|n| drawn.nodes[n].column as usize);
            a.min(b) == column && a != b
        });
        let texts = between.flat_map(|edge| &edge.lines);
        let gap = texts.map(|line| LINK_NAME.width(line)).fold(40.0, f64::max);
        x += width + if column < last { gap + 36.0 } else { 20.0 };
    }
    let tall = |node: &Node| node.height().max(46.0) + 22.0;
    let lines = drawn.edges.iter().map(|edge| edge.lines.len()).max();
    // Where links meet, their labels in the middle have half of it each.
    let labels = 2.0 * (13.0 * lines.unwrap_or(0) as f64 + 6.0);
    let row = drawn.nodes.iter().map(tall).fold(labels, f64::max);
    let most = (0..=last)
        .map(|c| {
            drawn
                .nodes
                .iter()
                .filter(|n| n.column as usize == c)
                .count()
        })
        .max()
        .unwrap_or(1);
    let height = (row * most as f64 + 30.0).max(110.0);
    let bent = |edge: &Edge| bends(&drawn.nodes[edge.ends[0]], &drawn.nodes[edge.ends[1]]);
    let below = if drawn.edges.iter().any(bent) {
        BEND
    } else {
        0.0
    };
    for (column, centre) in centres.into_iter().enumerate() {
        let ours = |node: &Node| node.column as usize == column;
        let count = drawn.nodes.iter().filter(|node| ours(node)).count() as f64;
        for node in drawn.nodes.iter_mut().filter(|node| ours(node)) {
            node.x = centre;
            node.y = height / 2.0 + row * (node.row as f64 - (count - 1.0) / 2.0);
        }
    }
    (x, height + below)
}

/// The diagram, and its size.
pub(super) fn draw(scenario: &Scenario, space: &Space, courses: &[Course]) -> (String, f64, f64) {
    let mut drawn = diagram(scenario, space, courses);
    let (width, height) = places(&mut drawn);
    let mut svg = Svg::default();
    let mut room = Room::default();
    for node in &drawn.nodes {
        let (w, h) = (node.width() / 2.0, node.height() / 2.0);
        room.take([node.x - w, node.y - h, node.x + w, node.y + h]);
    }
    for edge in &drawn.edges {
        let [a, b] = edge.ends.map(|n| &drawn.nodes[n]);
        let line = line(a, b, 0.0);
        let dash = if a.sky || b.sky {
            " stroke-dasharray=\"5 4\""
        } else {
            ""
        };
        svg.raw(format!(
            "<path d=\"{line}\" fill=\"none\" stroke=\"#8c96a0\" stroke-width=\"1.6\"{dash}/>"
        ));
    }
    // Flows side by side on each stretch that they share.
    let mut ranks: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (i, way) in drawn.ways.iter().enumerate() {
        let mut data = String::new();
        for ends in way.windows(2) {
            let key = (ends[0].min(ends[1]), ends[0].max(ends[1]));
            let rank = ranks.entry(key).or_default();
            let off = beside(*rank);
            *rank += 1;
            let [a, b] = [ends[0], ends[1]].map(|n| &drawn.nodes[n]);
            data.push_str(&line(a, b, off));
        }
        svg.raw(format!(
            "<path d=\"{data}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.4\"/>",
            colour(i)
        ));
    }
    for edge in &drawn.edges {
        edge_label(&mut svg, &mut room, edge, &drawn);
    }
    for node in &drawn.nodes {
        let (w, h) = (node.width(), node.height());
        let (fill, round) = if node.sky {
            ("#e7f2fa", h / 2.0)
        } else {
            ("#ffffff", 5.0)
        };
        svg.raw(format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" fill=\"{fill}\" stroke=\"{INK}\" stroke-width=\"1.3\"/>",
            num(node.x - w / 2.0),
            num(node.y - h / 2.0),
            num(w),
            num(h),
            num(round)
        ));
        let mut y = node.y - LINE_HEIGHT * node.lines.len() as f64 / 2.0 + 4.0;
        svg.text((node.x, y), &node.title, TITLE);
        for line in &node.lines {
            y += LINE_HEIGHT;
            svg.text((node.x, y), line, BOX_TEXT);
        }
    }
    (svg.out, width, height)
}

fn edge_label(svg: &mut Svg, room: &mut Room, edge: &Edge, drawn: &Diagram) {
    let [a, b] = edge.ends.map(|n| &drawn.nodes[n]);
    let lines: Vec<&String> = edge.lines.iter().filter(|l| !l.is_empty()).collect();
    if lines.is_empty() {
        return;
    }
    // Between the boxes: above a level link, upon a sloping one.
    let towards = (b.x - a.x).signum();
    let (from, to) = (
        a.x + towards * a.width() / 2.0,
        b.x - towards * b.width() / 2.0,
    );
    let w = lines.iter().map(|l| LINK_NAME.width(l)).fold(0.0, f64::max);
    let h = 13.0 * lines.len() as f64;
    let mut boxes: Vec<Box4> = Vec::new();
    for share in [0.5, 0.4, 0.6, 0.3, 0.7] {
        let x = from + (to - from) * share;
        let run = if a.x == b.x {
            0.5
        } else {
            (x - a.x) / (b.x - a.x)
        };
        let y = a.y + (b.y - a.y) * run;
        let level = (b.y - a.y).abs() < 10.0;
        let y = if bends(a, b) {
            y + 4.0 * BEND * run * (1.0 - run)
        } else {
            y
        };
        let top = if level { y - 6.0 - h } else { y - h / 2.0 };
        boxes.push([x - w / 2.0, top, x + w / 2.0, top + h]);
    }
    let chosen = boxes[room.choose(&boxes)];
    svg.raw(format!(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#fff\" fill-opacity=\"0.85\"/>",
        num(chosen[0]),
        num(chosen[1]),
        num(w),
        num(h)
    ));
    let named = !edge.lines[0].is_empty();
    for (i, line) in lines.iter().enumerate() {
        let style = if named && i == 0 {
            LINK_NAME
        } else {
            LINK_TEXT
        };
        let at = (
            (chosen[0] + chosen[2]) / 2.0,
            chosen[1] + 13.0 * i as f64 + 10.0,
        );
        svg.text(at, line, style);
    }
}
