//! The layout and the words of the diagram for a network that others draw.

use super::bends;
use super::diagram::{Diagram, Edge, Node, link_lines};
use super::layout::places;
use bentpipe_scenario::{Link, Scenario};
use serde::Serialize;
use std::collections::BTreeMap;

/// A network with the places of its parts; lengths are pixels.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Drawing {
    /// Width of it all.
    pub width: f64,
    /// Height of it all.
    pub height: f64,
    /// Nodes and constellations.
    pub nodes: Vec<DrawnNode>,
    /// Lines between them.
    pub links: Vec<DrawnLink>,
    /// Flows and their ways.
    pub flows: Vec<DrawnFlow>,
    /// Nodes that are not drawn because there are too many.
    pub left_out: usize,
}

/// A node, all of a counted one, or a constellation.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DrawnNode {
    /// The table that declares it: `node` or `constellation`.
    pub group: &'static str,
    /// Its name in the file.
    pub name: String,
    /// What is written in its box at first.
    pub title: String,
    /// What is written below: boxes that sit on it, satellites.
    pub lines: Vec<String>,
    /// Whether it is a constellation.
    pub is_sky: bool,
    /// Its middle.
    pub x: f64,
    /// Its middle.
    pub y: f64,
    /// Of its box.
    pub width: f64,
    /// Of its box.
    pub height: f64,
}

/// A line between two nodes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DrawnLink {
    /// Which nodes it joins.
    pub ends: [usize; 2],
    /// The links in the file; none where a terminal belongs to a constellation.
    pub names: Vec<String>,
    /// What is written at it; the first is the name.
    pub lines: Vec<String>,
    /// Whether it runs in a bow, past the nodes between its ends.
    pub is_bent: bool,
}

/// A flow.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DrawnFlow {
    /// Its name in the file.
    pub name: String,
    /// The nodes that it passes.
    pub way: Vec<usize>,
}

/// Gives the boxes and lines of `drawing` their places.
pub fn arrange(drawing: &mut Drawing) {
    let nodes = drawing.nodes.iter().map(|node| Node {
        title: node.title.clone(),
        lines: node.lines.clone(),
        sky: node.is_sky,
        ..Node::default()
    });
    let edges = drawing.links.iter().map(|link| Edge {
        ends: link.ends,
        lines: link.lines.clone(),
    });
    let mut diagram = Diagram {
        nodes: nodes.collect(),
        edges: edges.collect(),
        ways: drawing.flows.iter().map(|flow| flow.way.clone()).collect(),
    };
    let mut shared: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    for ends in diagram.ways.iter().flat_map(|way| way.windows(2)) {
        let [a, b] = [ends[0], ends[1]];
        let count = shared.entry([a.min(b), a.max(b)]).or_default();
        *count += 1;
        for end in [a, b] {
            let most = &mut diagram.nodes[end].flows;
            *most = (*most).max(*count);
        }
    }
    (drawing.width, drawing.height) = places(&mut diagram);
    for (node, placed) in drawing.nodes.iter_mut().zip(&diagram.nodes) {
        (node.x, node.y) = (placed.x, placed.y);
        (node.width, node.height) = (placed.width(), placed.height());
    }
    for link in &mut drawing.links {
        let [a, b] = link.ends.map(|end| &diagram.nodes[end]);
        link.is_bent = bends(a, b);
    }
}

/// What the diagram writes at a link: its name, then rate and delay, then the rest.
pub fn words(scenario: &Scenario, link: &Link) -> Vec<String> {
    let back = link
        .reverse
        .and_then(|id| scenario.links.get(id.0 as usize));
    link_lines(scenario, link, back)
}
