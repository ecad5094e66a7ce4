//! The ranges of the axes of panels, and the panels that share them.

use super::bars::label_room;
use super::extent::{Values, has_markers, x_range};
use super::model::{Annotation, Content, Panel};
use super::scale::{self, Padding};

/// Whether two panels can share the labels of their y axes.
pub(super) fn same_y(a: &Panel, b: &Panel) -> bool {
    a.y == b.y && a.names() == b.names()
}

/// Whether two panels can share the labels of their x axes.
pub(super) fn same_x(a: &Panel, b: &Panel) -> bool {
    match (&a.content, &b.content) {
        (Content::Xy { x: a, .. }, Content::Xy { x: b, .. })
        | (Content::Rows { x: a, .. }, Content::Rows { x: b, .. }) => a == b,
        (Content::Bars(a), Content::Bars(b)) => a.label == b.label && a.categories == b.categories,
        (Content::Boxes(a), Content::Boxes(b)) => {
            a.label == b.label && a.categories == b.categories
        }
        (Content::Heat(a), Content::Heat(b)) => a.label == b.label && a.columns == b.columns,
        _ => false,
    }
}

/// The range of the numeric x axis of a panel.
pub(super) fn x_range_of(panel: &Panel, values: impl Iterator<Item = f64>) -> (f64, f64) {
    match &panel.content {
        Content::Rows { x, .. } => {
            let mut axis = x.clone();
            axis.zero = Some(true);
            let padding = Padding {
                low: 0.02,
                high: 0.02,
            };
            scale::range(&axis, values, padding)
        }
        Content::Xy { x, .. } => x_range(x, values, has_markers(panel)),
        _ => (0.0, 1.0),
    }
}

/// The x range of each panel: those with equal axes share one. Without any point
/// there is no range.
pub(super) fn x_ranges(panels: &[Panel], values: &[Values]) -> Vec<Option<(f64, f64)>> {
    let range = |panel: &Panel| {
        let alike = (0..panels.len()).filter(|j| same_x(panel, &panels[*j]));
        let members: Vec<usize> = alike.collect();
        let mut found = members
            .iter()
            .flat_map(|j| values[*j].x.iter().copied())
            .peekable();
        found.peek()?;
        let marked = members.iter().map(|j| &panels[*j]).find(|p| has_markers(p));
        match &panel.content {
            Content::Xy { .. } => Some(x_range_of(marked.unwrap_or(panel), found)),
            Content::Rows { .. } => Some(x_range_of(panel, found)),
            _ => None,
        }
    };
    panels.iter().map(range).collect()
}

/// The room for texts next to the bars of each panel: the same for equal axes, so that these line
/// up.
pub(super) fn label_rooms(panels: &[Panel]) -> Vec<f64> {
    let own = |panel: &Panel| match &panel.content {
        Content::Rows { bars, .. } => label_room(bars),
        _ => 0.0,
    };
    let widest = |panel: &Panel| {
        let alike = panels.iter().filter(|other| same_x(panel, other));
        alike.map(own).fold(0.0, f64::max)
    };
    panels.iter().map(widest).collect()
}

/// The y range of each panel; those with equal axes share one where `shared`.
pub(super) fn y_ranges(panels: &[Panel], values: &[Values], shared: bool) -> Vec<(f64, f64)> {
    let range = |i: usize| {
        let panel = &panels[i];
        let alike = |j: &usize| *j == i || (shared && same_y(panel, &panels[*j]));
        let members: Vec<usize> = (0..panels.len()).filter(alike).collect();
        let bars = matches!(panel.content, Content::Bars(_));
        let mut axis = panel.y.clone();
        if bars {
            axis.zero = Some(true);
        }
        let lines = members.iter().flat_map(|j| &panels[*j].annotations);
        let lines = lines.filter_map(|a| match a {
            Annotation::Horizontal { y, .. } => Some(*y),
            Annotation::Vertical { .. } => None,
        });
        let padding = Padding {
            low: 0.05,
            high: if bars { 0.06 } else { 0.05 },
        };
        let found = members.iter().flat_map(|j| values[*j].y.iter().copied());
        scale::range(&axis, found.chain(lines), padding)
    };
    (0..panels.len()).map(range).collect()
}
