//! The extent that the axes of a panel must cover.

use super::axis::Axis;
use super::measures::TICK;
use super::model::{Content, Panel};
use super::scale::{self, Padding, Scale, Ticks};
use crate::font::{self, Weight};

/// The values of a panel along both axes.
pub(super) struct Values {
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
}

pub(super) fn has_markers(panel: &Panel) -> bool {
    match &panel.content {
        Content::Xy { series, .. } => series
            .iter()
            .any(|s| s.kind.has_markers() || !s.reference.is_empty() || !s.marks.is_empty()),
        _ => false,
    }
}

/// The values that can be drawn, and that the axes must therefore reach.
pub(super) fn values_of(panel: &Panel) -> Values {
    let mut values = Values {
        x: Vec::new(),
        y: Vec::new(),
    };
    let y = &panel.y;
    match &panel.content {
        Content::Xy { x, series } => {
            // What lies beyond a fixed x axis must not stretch the y axis.
            let low = x.min.unwrap_or(f64::NEG_INFINITY);
            let high = x.max.unwrap_or(f64::INFINITY);
            let (low, high) = if low > high { (high, low) } else { (low, high) };
            let mut add = |px: f64, py: f64| {
                if x.accepts(px) && y.accepts(py) {
                    values.x.push(px);
                    if px >= low && px <= high {
                        values.y.push(py);
                    }
                }
            };
            for s in series {
                for &(px, py) in s.points.iter().chain(&s.reference).chain(&s.marks) {
                    add(px, py);
                }
                for (&(px, _), &(bottom, top)) in s.points.iter().zip(s.spread.limits()) {
                    add(px, bottom);
                    add(px, top);
                }
            }
        }
        Content::Bars(bars) if !bars.categories.is_empty() => {
            values.y.extend(bars.values().filter(|v| y.accepts(*v)));
        }
        Content::Boxes(boxes) if !boxes.categories.is_empty() => {
            values.y.extend(boxes.values().filter(|v| y.accepts(*v)));
        }
        Content::Rows { x, bars } if !bars.categories.is_empty() => {
            values.x.extend(bars.values().filter(|v| x.accepts(*v)));
            values.y.extend(values.x.first().map(|_| 0.0));
        }
        // The numbers of a map are on neither axis; without any there is no map.
        Content::Heat(heat) => values.y.extend(heat.numbers().next().map(|_| 0.0)),
        Content::Bars(_) | Content::Boxes(_) | Content::Rows { .. } => {}
    }
    values
}

pub(super) fn x_range(axis: &Axis, values: impl Iterator<Item = f64>, markers: bool) -> (f64, f64) {
    let mut axis = axis.clone();
    axis.zero = Some(axis.zero.unwrap_or(false));
    let share = if markers { 0.025 } else { 0.0 };
    scale::range(
        &axis,
        values,
        Padding {
            low: share,
            high: share,
        },
    )
}

pub(super) fn x_axis(axis: &Axis, range: (f64, f64), left: f64, right: f64) -> (Scale, Ticks) {
    let scale = Scale::new(axis.kind, range, left, right).broken(&axis.breaks);
    let target = (((right - left) / 62.0) as usize).clamp(2, 12);
    let width = |label: &str| font::width(label, TICK, Weight::Regular);
    let ticks = scale::fit(&scale, target, 10.0, width);
    (scale, ticks)
}
