//! Box plots over categories.

use super::content::{BoxMarks, Boxes};
use super::measures::PanelBox;
use super::style::{Style, Styles};
use crate::svg::{INK, Svg};

/// A box gets no wider than this.
const WIDEST: f64 = 36.0;

/// Draws the boxes of a panel.
pub(super) fn draw(svg: &mut Svg, boxes: &Boxes, area: &PanelBox, styles: &Styles) {
    let (groups, members) = (boxes.categories.len(), boxes.series.len());
    if groups == 0 || members == 0 {
        return;
    }
    let cell = area.plot.width() / groups as f64;
    let slot = (cell * 0.8 / members as f64).min(WIDEST);
    for group in 0..groups {
        let start = area.plot.left + (group as f64 + 0.5) * cell - slot * members as f64 / 2.0;
        for (member, series) in boxes.series.iter().enumerate() {
            let middle = start + (member as f64 + 0.5) * slot;
            let half = (slot * 0.38).max(0.3);
            let style = styles.of(&series.name);
            if let Some(marks) = series.boxes.get(group).and_then(Option::as_ref) {
                draw_box(svg, marks, (middle, half), area, style);
            }
            let printed = series.reference.get(group).and_then(|y| area.y.at(*y));
            if let Some(y) = printed.filter(|y| area.holds(*y)) {
                let over = half + (0.3 * half).min(3.0);
                svg.line((middle - over, y), (middle + over, y), INK, 2.4);
            }
        }
    }
}

fn draw_box(svg: &mut Svg, marks: &BoxMarks, (x, half): (f64, f64), area: &PanelBox, style: Style) {
    // What lies beyond a fixed axis ends at the edge of the panel.
    let at = |value: f64| {
        let y = area.y.at(value).unwrap_or(area.plot.bottom);
        y.clamp(area.plot.top, area.plot.bottom)
    };
    let (low, lower, upper, high) = (
        at(marks.low),
        at(marks.lower),
        at(marks.upper),
        at(marks.high),
    );
    for (from, to) in [(low, lower), (upper, high)] {
        svg.line((x, from), (x, to), style.colour, 1.2);
    }
    for y in [low, high] {
        svg.line((x - 0.5 * half, y), (x + 0.5 * half, y), style.colour, 1.2);
    }
    svg.tag("rect")
        .num("x", x - half)
        .num("y", upper)
        .num("width", 2.0 * half)
        .num("height", (lower - upper).max(0.0))
        .attr("fill", &style.fill())
        .attr("stroke", style.colour)
        .close();
    let median = at(marks.median);
    svg.line((x - half, median), (x + half, median), INK, 1.8);
    let mut beyond: Vec<f64> = marks
        .beyond
        .iter()
        .filter_map(|value| area.y.at(*value))
        .filter(|y| area.holds(*y))
        .collect();
    // As many as can be told apart.
    beyond.dedup_by(|a, b| (*a - *b).abs() < 1.0);
    for y in beyond {
        svg.tag("circle")
            .num("cx", x)
            .num("cy", y)
            .num("r", 1.9)
            .attr("fill", "none")
            .attr("stroke", style.colour)
            .close();
    }
}
