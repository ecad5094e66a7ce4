//! The network as a diagram: nodes in columns along the ways of flows, links
//! with their rate, delay and loss, flows as coloured lines.

pub(crate) mod arrange;
mod diagram;
mod layout;

use super::room::{Box4, Room};
use bentpipe::map::Course;
use bentpipe_report::svg::{Anchor, INK, INK_SOFT, Svg, TextStyle, colour, num, path};
use bentpipe_scenario::Scenario;
use bentpipe_scenario::space::ExpandedConstellations;
use diagram::{Diagram, Edge, Node, diagram};
use layout::{BEND, bends, beside, places};
use std::collections::BTreeMap;

const NODE_HEIGHT: f64 = 26.0;
const LINE_HEIGHT: f64 = 14.0;
const TITLE: TextStyle = TextStyle::new(12.0, INK).bold().anchor(Anchor::Middle);
const BOX_TEXT: TextStyle = TextStyle::new(10.5, INK_SOFT).anchor(Anchor::Middle);
const LINK_NAME: TextStyle = TextStyle::new(11.0, INK).anchor(Anchor::Middle).outlined();
const LINK_TEXT: TextStyle = TextStyle::new(10.5, INK_SOFT)
    .anchor(Anchor::Middle)
    .outlined();

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

/// The diagram, and its size.
pub(super) fn draw(
    scenario: &Scenario,
    space: &ExpandedConstellations,
    courses: &[Course],
) -> (String, f64, f64) {
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
        svg.text(node.x, y, &node.title, TITLE);
        for line in &node.lines {
            y += LINE_HEIGHT;
            svg.text(node.x, y, line, BOX_TEXT);
        }
    }
    (svg.into_elements(), width, height)
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
        svg.text(at.0, at.1, line, style);
    }
}
