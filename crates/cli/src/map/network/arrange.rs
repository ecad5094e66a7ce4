//! The layout and the words of the diagram for a network that others draw.

use super::bends;
use super::diagram::{Diagram, Edge, Node, link_lines};
use super::layout::places;
use bentpipe_explore::Drawing;
use bentpipe_scenario::{Link, Scenario};
use std::collections::BTreeMap;

/// Gives the boxes and lines of `drawing` their places.
pub(crate) fn arrange(drawing: &mut Drawing) {
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
pub(crate) fn words(scenario: &Scenario, link: &Link) -> Vec<String> {
    let back = link
        .reverse
        .and_then(|id| scenario.links.get(id.0 as usize));
    link_lines(scenario, link, back)
}
