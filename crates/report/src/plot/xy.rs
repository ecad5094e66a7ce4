//! The data of a panel with numeric axes: bands, lines, whiskers, markers.

use super::decimate::{decimate, is_dense, ranges, thin};
use super::measures::{Across, PanelBox};
use super::scale::Scale;
use super::series::{Series, SeriesKind, Spread, corners};
use super::style::{Marker, Style, Styles};
use crate::svg::{Svg, path_data};

/// Markers on a line closer than this are thinned: the line already shows what they would repeat.
const MARKER_SPACING: f64 = 8.0;

struct Painter<'a> {
    svg: &'a mut Svg,
    area: &'a PanelBox,
    x: &'a Scale,
}

/// Draws the series of a panel: all bands under all lines, all printed values
/// on top.
pub(super) fn draw(svg: &mut Svg, series: &[Series], area: &PanelBox, styles: &Styles) {
    let Across::Numbers(x, _) = &area.across else {
        return;
    };
    let plot = area.plot;
    // A nested viewport clips without an id, which would clash if several figures are on one page.
    // One pixel more for the width of the lines.
    let mut view = String::new();
    for (number, after) in [
        (plot.left - 1.0, " "),
        (plot.top - 1.0, " "),
        (plot.width() + 2.0, " "),
        (plot.height() + 2.0, ""),
    ] {
        crate::svg::push_coordinate(&mut view, number);
        view.push_str(after);
    }
    svg.tag("svg")
        .num("x", plot.left - 1.0)
        .num("y", plot.top - 1.0)
        .num("width", plot.width() + 2.0)
        .num("height", plot.height() + 2.0)
        .attr("viewBox", &view)
        .attr("stroke-linejoin", "round")
        .open();
    let mut painter = Painter { svg, area, x };
    for s in series {
        painter.band(s, styles.of(&s.name));
    }
    for s in series {
        painter.line(s, styles.of(&s.name));
    }
    svg.end("svg");
    // Markers are not clipped: one on an axis shows in full.
    let mut painter = Painter { svg, area, x };
    for s in series {
        painter.whiskers(s, styles.of(&s.name));
        painter.markers(s, styles.of(&s.name));
    }
    for s in series {
        let style = styles.of(&s.name);
        for place in painter.inside(&s.marks) {
            Marker::Circle.draw(painter.svg, place, style.colour, false);
        }
        for place in painter.inside(&s.reference) {
            style.marker.draw(painter.svg, place, style.colour, true);
        }
    }
}

impl Painter<'_> {
    fn at(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.x.at(x)?, self.area.y.at(y)?))
    }

    /// The pixels of the points that lie in the panel.
    fn inside(&self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let inside = |(x, y): &&(f64, f64)| self.x.contains(*x) && self.area.y.contains(*y);
        points
            .iter()
            .filter(inside)
            .filter_map(|p| self.at(*p))
            .collect()
    }

    fn reduced(&self, points: Vec<(f64, f64)>) -> Vec<Vec<(f64, f64)>> {
        let pixels = points.into_iter().map(|p| self.at(p));
        decimate(pixels, self.area.plot.left, self.area.plot.right)
    }

    fn line(&mut self, s: &Series, style: Style) {
        if !s.kind.has_line() {
            return;
        }
        if is_dense(s) {
            self.dense(s, style);
            return;
        }
        let lines = self.reduced(corners(s.kind, s.points.iter().copied()));
        // A point between two gaps is a line without length: show it as a dot.
        for line in lines.iter().filter(|line| line.len() == 1) {
            let dot = self
                .svg
                .tag("circle")
                .num("cx", line[0].0)
                .num("cy", line[0].1);
            dot.num("r", 1.6).attr("fill", style.colour).close();
        }
        self.stroke(&lines, style);
    }

    /// The range in each pixel column, and a line through the means.
    fn dense(&mut self, s: &Series, style: Style) {
        let (left, right) = (self.area.plot.left, self.area.plot.right);
        let pixels = s.points.iter().map(|p| self.at(*p));
        let ranges = ranges(pixels, left, right);
        self.tint(ranges.high, ranges.low, style, 0.3);
        self.stroke(&ranges.mean, style);
    }

    fn stroke(&mut self, lines: &[Vec<(f64, f64)>], style: Style) {
        let data = path_data(lines, false);
        if data.is_empty() {
            return;
        }
        let mut tag = self
            .svg
            .tag("path")
            .attr("d", &data)
            .attr("fill", "none")
            .attr("stroke", style.colour)
            .num("stroke-width", 1.7);
        if !style.dash.is_empty() {
            tag = tag.attr("stroke-dasharray", style.dash);
        }
        tag.close();
    }

    fn band(&mut self, s: &Series, style: Style) {
        let Spread::Band(limits) = &s.spread else {
            return;
        };
        // Where a logarithmic axis cannot show the low end, the band goes down
        // to the edge of the panel.
        let floor = self.area.y.lowest();
        let kind = if s.kind == SeriesKind::Step {
            SeriesKind::Step
        } else {
            SeriesKind::Line
        };
        let mut low = Vec::with_capacity(limits.len());
        let mut high = Vec::with_capacity(limits.len());
        for (&(x, _), &(bottom, top)) in s.points.iter().zip(limits) {
            let bottom = if bottom.is_finite() {
                bottom.max(floor)
            } else {
                bottom
            };
            // A gap in one edge is a gap in the band.
            let drawable = self.at((x, bottom)).is_some() && self.at((x, top)).is_some();
            low.push((x, if drawable { bottom } else { f64::NAN }));
            high.push((x, if drawable { top } else { f64::NAN }));
        }
        let low = self.reduced(corners(kind, low));
        let high = self.reduced(corners(kind, high));
        self.tint(high, low, style, 0.18);
    }

    /// Fills what lies between two edges.
    fn tint(
        &mut self,
        high: Vec<Vec<(f64, f64)>>,
        low: Vec<Vec<(f64, f64)>>,
        style: Style,
        opacity: f64,
    ) {
        let shapes: Vec<Vec<(f64, f64)>> = high
            .into_iter()
            .zip(low)
            .map(|(mut high, low)| {
                high.extend(low.into_iter().rev());
                high
            })
            .collect();
        let data = path_data(&shapes, true);
        if data.is_empty() {
            return;
        }
        self.svg
            .tag("path")
            .attr("d", &data)
            .attr("fill", style.colour)
            .num("fill-opacity", opacity)
            .close();
    }

    fn whiskers(&mut self, s: &Series, style: Style) {
        let Spread::Whiskers(limits) = &s.spread else {
            return;
        };
        let plot = self.area.plot;
        let floor = self.area.y.lowest();
        let mut column = f64::NEG_INFINITY;
        let many = s.points.len() as f64 > plot.width() / 3.0;
        for (&(x, _), &(low, high)) in s.points.iter().zip(limits) {
            let low = if low.is_finite() { low.max(floor) } else { low };
            let (Some((px, bottom)), Some((_, top))) = (self.at((x, low)), self.at((x, high)))
            else {
                continue;
            };
            if !self.x.contains(x) || (many && (px - column).abs() < 3.0) {
                continue;
            }
            column = px;
            let (from, to) = (
                bottom.clamp(plot.top, plot.bottom),
                top.clamp(plot.top, plot.bottom),
            );
            self.svg.line((px, from), (px, to), style.colour, 1.2);
            for (end, shown) in [(bottom, from), (top, to)] {
                // No cap where the whisker continues beyond the panel.
                if (end - shown).abs() < 0.5 && !many {
                    self.svg
                        .line((px - 4.0, shown), (px + 4.0, shown), style.colour, 1.2);
                }
            }
        }
    }

    fn markers(&mut self, s: &Series, style: Style) {
        if !s.kind.has_markers() {
            return;
        }
        let mut places = self.inside(&s.points);
        if s.kind == SeriesKind::LinePoints {
            let crowded = places.len() as f64 > self.area.plot.width() / MARKER_SPACING;
            if crowded {
                places = spaced(&places, 2.0 * MARKER_SPACING);
            }
        } else if places.len() > 400 {
            // A cloud: small dots, and one for what falls on one spot.
            let grain = if places.len() > 4000 { 2.0 } else { 1.0 };
            for (x, y) in thin(&places, grain) {
                self.svg
                    .tag("circle")
                    .num("cx", x)
                    .num("cy", y)
                    .num("r", 1.4)
                    .attr("fill", style.colour)
                    .close();
            }
            return;
        }
        for place in places {
            style.marker.draw(self.svg, place, style.colour, false);
        }
    }
}

/// Places at least `spacing` apart along x; the first one always stays.
fn spaced(places: &[(f64, f64)], spacing: f64) -> Vec<(f64, f64)> {
    let mut last = f64::NEG_INFINITY;
    let mut kept = Vec::new();
    for &(x, y) in places {
        if (x - last).abs() >= spacing {
            kept.push((x, y));
            last = x;
        }
    }
    kept
}
