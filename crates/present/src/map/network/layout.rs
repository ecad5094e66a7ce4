//! Where the nodes of the diagram stand: in columns along the ways of flows.

use super::LINK_NAME;
use super::diagram::{Diagram, Edge, Node};
use std::collections::VecDeque;

/// How far below a link the flow of that number is drawn, counted from 0.
pub(super) fn beside(rank: usize) -> f64 {
    4.5 + 3.6 * rank as f64
}

/// Of each node the other ends of its edges, in their order, and whether the node is the end of the edge
/// and not its beginning.
fn neighbours(drawn: &Diagram) -> Vec<Vec<(usize, bool)>> {
    let mut found = vec![Vec::new(); drawn.nodes.len()];
    for [a, b] in drawn.edges.iter().map(|edge| edge.ends) {
        found[a].push((b, false));
        if a != b {
            found[b].push((a, true));
        }
    }
    found
}

/// Puts nodes into columns: along the ways of flows, then beside neighbours.
fn columns(drawn: &mut Diagram) {
    let count = drawn.nodes.len();
    let neighbours = neighbours(drawn);
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
            for &(other, is_end) in &neighbours[node] {
                let step = if is_end && !drawn.nodes[node].sky {
                    -1
                } else {
                    1
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
    let neighbours = neighbours(drawn);
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
                let beside = &neighbours[node];
                let sum: f64 = beside.iter().map(|(other, _)| at[*other]).sum();
                if beside.is_empty() {
                    at[node]
                } else {
                    sum / beside.len() as f64
                }
            };
            let mut placed: Vec<(f64, usize)> = column.iter().map(|n| (middle(*n), *n)).collect();
            placed.sort_by(|a, b| a.0.total_cmp(&b.0));
            *column = placed.into_iter().map(|(_, node)| node).collect();
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
pub(super) const BEND: f64 = 90.0;

/// Whether there are columns between two nodes.
pub(super) fn bends(a: &Node, b: &Node) -> bool {
    (a.column - b.column).abs() > 1
}

/// Gives nodes their places and returns width and height of it all.
pub(super) fn places(drawn: &mut Diagram) -> (f64, f64) {
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
