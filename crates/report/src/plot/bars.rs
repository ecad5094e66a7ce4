//! Grouped bars over categories.

use super::layout::PanelBox;
use super::style::{Style, Styles};
use crate::svg::INK;
use crate::svg::{Svg, path_data};

/// The groups of bars of a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// The label of the category axis; may be empty.
    pub label: String,
    /// One group of bars for each.
    pub categories: Vec<String>,
    /// One bar in each group for each, in the same order.
    pub series: Vec<BarSeries>,
}

/// The bars of one name, one for each category.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarSeries {
    /// The name in the legend.
    pub name: String,
    /// The heights, in the order of the categories; one that is not finite
    /// leaves its place empty.
    pub values: Vec<f64>,
    /// Whiskers (low, high) in the same order; may be shorter or empty.
    pub limits: Vec<(f64, f64)>,
    /// Printed values in the same order; may be shorter or empty.
    pub reference: Vec<f64>,
    /// A fixed place in the palette, for one colour across several charts.
    pub slot: Option<usize>,
}

impl BarSeries {
    /// Bars of one name, in the order of the categories.
    pub fn new(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        Self {
            name: name.into(),
            values: values.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Adds whiskers from low to high.
    #[must_use]
    pub fn whiskers(mut self, limits: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.limits = limits.into_iter().collect();
        self
    }

    /// Adds printed values: a hollow outline with a bold upper edge.
    #[must_use]
    pub fn reference(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.reference = values.into_iter().collect();
        self
    }

    /// Fixes the place in the palette.
    #[must_use]
    pub fn slot(mut self, slot: usize) -> Self {
        self.slot = Some(slot);
        self
    }
}

impl Bars {
    /// Everything that the y axis should reach.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        self.series.iter().flat_map(|s| {
            let limits = s.limits.iter().flat_map(|(low, high)| [*low, *high]);
            s.values
                .iter()
                .copied()
                .chain(limits)
                .chain(s.reference.iter().copied())
        })
    }
}

/// A bar gets no wider than this.
const WIDEST: f64 = 44.0;

/// Draws the bars of a panel.
pub(super) fn draw(svg: &mut Svg, bars: &Bars, area: &PanelBox, styles: &Styles) {
    let groups = bars.categories.len();
    let members = bars.series.len();
    if groups == 0 || members == 0 {
        return;
    }
    let cell = area.plot.width() / groups as f64;
    let slot = (cell * 0.78 / members as f64).min(WIDEST);
    let bar = (slot * 0.9).max(0.4);
    for group in 0..groups {
        let centre = area.plot.left + (group as f64 + 0.5) * cell;
        let start = centre - slot * members as f64 / 2.0;
        for (member, series) in bars.series.iter().enumerate() {
            let left = start + slot * member as f64 + (slot - bar) / 2.0;
            let place = Place { left, width: bar };
            draw_bar(svg, series, group, &place, area, styles.of(&series.name));
        }
    }
}

struct Place {
    left: f64,
    width: f64,
}

fn draw_bar(
    svg: &mut Svg,
    series: &BarSeries,
    group: usize,
    place: &Place,
    area: &PanelBox,
    style: Style,
) {
    let base = area.y.at(area.y.base()).unwrap_or(area.plot.bottom);
    // A value beyond a fixed axis ends at the edge of the panel.
    let at = |value: f64| {
        area.y
            .at(value)
            .map(|y| y.clamp(area.plot.top, area.plot.bottom))
    };
    let (left, right) = (place.left, place.left + place.width);
    if let Some(y) = series.values.get(group).and_then(|v| at(*v)) {
        svg.tag("rect")
            .num("x", left)
            .num("y", y.min(base))
            .num("width", place.width)
            .num("height", (y - base).abs())
            .attr("fill", &style.fill())
            .attr("stroke", style.colour)
            .num("stroke-width", if place.width > 4.0 { 1.0 } else { 0.0 })
            .close();
    }
    if let Some(y) = series.reference.get(group).and_then(|v| at(*v)) {
        let outline = vec![(left, base), (left, y), (right, y), (right, base)];
        svg.tag("path")
            .attr("d", &path_data(&[outline], false))
            .attr("fill", "none")
            .attr("stroke", INK)
            .num("stroke-width", 1.0)
            .close();
        let over = (place.width * 0.12).clamp(0.5, 3.0);
        svg.line((left - over, y), (right + over, y), INK, 2.0);
    }
    let Some(&(low, high)) = series.limits.get(group) else {
        return;
    };
    let low = if low.is_finite() {
        at(low).or(Some(area.plot.bottom))
    } else {
        None
    };
    if let (Some(low), Some(high)) = (low, at(high)) {
        let centre = (left + right) / 2.0;
        let cap = (place.width * 0.28).clamp(0.5, 5.0);
        svg.line((centre, low), (centre, high), INK, 1.2);
        for end in [low, high] {
            svg.line((centre - cap, end), (centre + cap, end), INK, 1.2);
        }
    }
}
