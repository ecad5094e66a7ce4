//! Grouped bars over categories.

use super::content::{BarSeries, Bars};
use super::measures::{Across, PanelBox, SMALL};
use super::scale::Scale;
use super::style::{Style, Styles};
use crate::font::{self, Weight};
use crate::svg::{INK, Svg, TextStyle, path_data};

/// A bar gets no wider than this.
const WIDEST: f64 = 44.0;
/// A bar that lies gets no thicker than this.
const THICKEST: f64 = 18.0;
/// Between a bar that lies and its text.
const LABEL_GAP: f64 = 6.0;

/// Draws the bars of a panel.
pub(super) fn draw(svg: &mut Svg, bars: &Bars, area: &PanelBox, styles: &Styles) {
    let base = area.y.at(area.y.base()).unwrap_or(area.plot.bottom);
    let along = Along {
        scale: &area.y,
        from: area.plot.bottom,
        to: area.plot.top,
        base,
        lying: false,
    };
    let (left, right) = (area.plot.left, area.plot.right);
    draw_all(svg, bars, &along, (left, right, WIDEST), styles);
}

/// Draws the bars that lie, and their texts.
pub(super) fn draw_rows(svg: &mut Svg, bars: &Bars, area: &PanelBox, styles: &Styles) {
    let Across::Numbers(scale, _) = &area.across else {
        return;
    };
    if area.empty {
        return;
    }
    let along = Along {
        scale,
        from: area.plot.left,
        to: area.plot.right,
        base: scale.at(scale.base()).unwrap_or(area.plot.left),
        lying: true,
    };
    let (top, bottom) = (area.plot.top, area.plot.bottom);
    draw_all(svg, bars, &along, (top, bottom, THICKEST), styles);
}

/// The axis along which bars grow.
struct Along<'a> {
    scale: &'a Scale,
    from: f64,
    to: f64,
    base: f64,
    lying: bool,
}

impl Along<'_> {
    /// The pixel of a value; one beyond a fixed axis ends at the edge of the panel.
    fn at(&self, value: f64) -> Option<f64> {
        let (low, high) = (self.from.min(self.to), self.from.max(self.to));
        self.scale.at(value).map(|at| at.clamp(low, high))
    }

    /// A point of the page, from a place along this axis and one across it.
    fn point(&self, along: f64, across: f64) -> (f64, f64) {
        if self.lying {
            (along, across)
        } else {
            (across, along)
        }
    }
}

fn draw_all(
    svg: &mut Svg,
    bars: &Bars,
    along: &Along<'_>,
    (start, end, widest): (f64, f64, f64),
    styles: &Styles,
) {
    let groups = bars.categories.len();
    let members = if bars.overlaid {
        bars.series.len().min(1)
    } else {
        bars.series.len()
    };
    if groups == 0 || members == 0 {
        return;
    }
    let cell = (end - start) / groups as f64;
    let slot = (cell * 0.78 / members as f64).min(widest);
    let bar = (slot * 0.9).max(0.4);
    for group in 0..groups {
        let centre = start + (group as f64 + 0.5) * cell;
        let first = centre - slot * members as f64 / 2.0;
        for (member, series) in bars.series.iter().enumerate() {
            let member = if bars.overlaid { 0 } else { member };
            let at = first + slot * member as f64 + (slot - bar) / 2.0;
            let place = Place { at, width: bar };
            draw_bar(svg, series, group, &place, along, styles.of(&series.name));
        }
    }
}

/// Position of a bar across its axis.
struct Place {
    at: f64,
    width: f64,
}

fn draw_bar(
    svg: &mut Svg,
    series: &BarSeries,
    group: usize,
    place: &Place,
    along: &Along<'_>,
    style: Style,
) {
    let base = along.base;
    let (near, far) = (place.at, place.at + place.width);
    let end = series.values.get(group).and_then(|v| along.at(*v));
    if let Some(end) = end {
        let (x, y) = along.point(end.min(base), near);
        let (width, height) = along.point((end - base).abs(), place.width);
        svg.tag("rect")
            .num("x", x)
            .num("y", y)
            .num("width", width)
            .num("height", height)
            .attr("fill", &style.fill())
            .attr("stroke", style.colour)
            .num("stroke-width", if place.width > 4.0 { 1.0 } else { 0.0 })
            .close();
    }
    let printed = series.reference.get(group).and_then(|v| along.at(*v));
    if let Some(printed) = printed {
        let outline = [(base, near), (printed, near), (printed, far), (base, far)];
        let outline = outline.map(|(a, b)| along.point(a, b)).to_vec();
        svg.tag("path")
            .attr("d", &path_data(&[outline], false))
            .attr("fill", "none")
            .attr("stroke", INK)
            .num("stroke-width", 1.0)
            .close();
        let over = (place.width * 0.12).clamp(0.5, 3.0);
        let (from, to) = (
            along.point(printed, near - over),
            along.point(printed, far + over),
        );
        svg.line(from, to, INK, 2.0);
    }
    let whisker = whisker(svg, series.limits.get(group), place, along);
    let text = series.labels.get(group).map_or("", |text| text.trim());
    // Only where the bars are far enough apart for a line of text.
    if along.lying && !text.is_empty() && place.width >= 0.9 * SMALL {
        let ends = [end, printed, whisker].into_iter().flatten();
        let x = ends.fold(base, f64::max) + LABEL_GAP;
        let middle = place.at + place.width / 2.0;
        let style = TextStyle::new(SMALL, INK);
        let text = font::elide(text, along.to - x, SMALL, Weight::Regular);
        if text == "…" {
            return;
        }
        let text = text.as_str();
        svg.text(x, middle + 0.36 * SMALL, text, style);
    }
}

/// Draws a whisker; returns where its high end is.
fn whisker(
    svg: &mut Svg,
    limits: Option<&(f64, f64)>,
    place: &Place,
    along: &Along<'_>,
) -> Option<f64> {
    let &(low, high) = limits?;
    if !low.is_finite() {
        return None;
    }
    let low = along.at(low).unwrap_or(along.from);
    let high = along.at(high)?;
    let centre = place.at + place.width / 2.0;
    let cap = (place.width * 0.28).clamp(0.5, 5.0);
    let mut line = |from: (f64, f64), to: (f64, f64)| {
        svg.line(
            along.point(from.0, from.1),
            along.point(to.0, to.1),
            INK,
            1.2,
        );
    };
    line((low, centre), (high, centre));
    for end in [low, high] {
        line((end, centre - cap), (end, centre + cap));
    }
    Some(high)
}

/// The maximum width of the texts next to horizontal bars.
pub(super) fn label_room(bars: &Bars) -> f64 {
    let texts = bars.series.iter().flat_map(|s| &s.labels);
    let widths = texts.map(|text| font::width(text.trim(), SMALL, Weight::Regular));
    let widest = widths.fold(0.0, f64::max);
    if widest > 0.0 {
        widest + LABEL_GAP + 2.0
    } else {
        0.0
    }
}
