//! Box plots over categories.

use super::layout::PanelBox;
use super::style::{Style, Styles};
use crate::svg::{INK, Svg};

/// The groups of boxes of a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Boxes {
    /// The label of the category axis; may be empty.
    pub label: String,
    /// One group of boxes for each.
    pub categories: Vec<String>,
    /// One box in each group for each, in the same order.
    pub series: Vec<BoxSeries>,
}

/// The boxes of one name, one for each category.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxSeries {
    /// The name in the legend.
    pub name: String,
    /// The boxes, in the order of the categories; `None` leaves a place empty.
    pub boxes: Vec<Option<BoxMarks>>,
    /// Printed values in the same order; may be shorter or empty.
    pub reference: Vec<f64>,
    /// A fixed place in the palette, for one colour across several charts.
    pub slot: Option<usize>,
}

/// What a box shows of its samples.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxMarks {
    /// The smallest sample within 1.5 times the height of the box.
    pub low: f64,
    /// The lower quartile.
    pub lower: f64,
    /// The median.
    pub median: f64,
    /// The upper quartile.
    pub upper: f64,
    /// The largest sample within 1.5 times the height of the box.
    pub high: f64,
    /// The samples beyond.
    pub beyond: Vec<f64>,
}

impl BoxMarks {
    /// The box of some samples; nothing if none is finite. Quartiles are
    /// interpolated between the two nearest samples.
    #[must_use]
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = samples.iter().copied().filter(|x| x.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let quantile = |share: f64| {
            let at = share * last as f64;
            let below = at as usize;
            let above = sorted[(below + 1).min(last)];
            sorted[below] + (at - below as f64) * (above - sorted[below])
        };
        let (lower, upper) = (quantile(0.25), quantile(0.75));
        let reach = 1.5 * (upper - lower);
        let within = |x: &&f64| **x >= lower - reach && **x <= upper + reach;
        Some(Self {
            low: sorted.iter().find(within).copied().unwrap_or(lower),
            lower,
            median: quantile(0.5),
            upper,
            high: sorted.iter().rev().find(within).copied().unwrap_or(upper),
            beyond: sorted.iter().filter(|x| !within(x)).copied().collect(),
        })
    }
}

impl BoxSeries {
    /// Boxes of one name, in the order of the categories.
    pub fn new(name: impl Into<String>, boxes: impl IntoIterator<Item = Option<BoxMarks>>) -> Self {
        Self {
            name: name.into(),
            boxes: boxes.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Adds printed values: a bold line across the box.
    #[must_use]
    pub fn reference(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.reference = values.into_iter().collect();
        self
    }
}

impl Boxes {
    /// Everything that the y axis should reach.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        self.series.iter().flat_map(|s| {
            let boxes = s.boxes.iter().flatten();
            boxes
                .flat_map(|b| [b.low, b.high].into_iter().chain(b.beyond.iter().copied()))
                .chain(s.reference.iter().copied())
        })
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_whiskers_and_what_is_beyond() {
        let marks = BoxMarks::of(&[5.0, 1.0, 2.0, 4.0, 3.0, 30.0, f64::NAN]).expect("samples");
        assert_eq!((marks.lower, marks.median, marks.upper), (2.25, 3.5, 4.75));
        assert_eq!((marks.low, marks.high), (1.0, 5.0));
        assert_eq!(marks.beyond, [30.0]);
        assert_eq!(BoxMarks::of(&[]), None);
        let one = BoxMarks::of(&[7.0]).expect("a sample");
        assert_eq!((one.low, one.median, one.high), (7.0, 7.0, 7.0));
    }
}
