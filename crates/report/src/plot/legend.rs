//! The legend: one for the whole chart, next to or below the panels.

use super::decimate::is_dense;
use super::model::{Chart, Content};
use super::series::Spread;
use super::style::{Marker, Shown, Style, Styles};
use crate::font::{self, Weight};
use crate::svg::{INK, INK_SOFT};
use crate::svg::{Svg, TextStyle};

const TEXT: f64 = 12.0;
/// Width of the sample left of the text, and the gap between them.
const SAMPLE: f64 = 24.0;
const SAMPLE_GAP: f64 = 7.0;
const ROW: f64 = 19.0;
const COLUMN_GAP: f64 = 22.0;

/// The mark before the text of an entry.
#[derive(Clone, Copy, Debug)]
enum Sample {
    Series(Style, Shown),
    HollowMarker,
    Mark,
    HollowBar,
    Whisker,
    Band,
    Line,
}

/// The marks of a chart that need their own words.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    hollow: bool,
    outlines: bool,
    printed: bool,
    marks: bool,
    whiskers: bool,
    bands: bool,
    ranges: bool,
}

impl Marks {
    fn of(chart: &Chart) -> Self {
        let mut has = Self::default();
        for panel in &chart.panels {
            match &panel.content {
                Content::Xy { series, .. } => {
                    for s in series {
                        has.hollow |= !s.reference.is_empty();
                        has.marks |= !s.marks.is_empty();
                        has.whiskers |= matches!(s.spread, Spread::Whiskers(_));
                        has.bands |= matches!(s.spread, Spread::Band(_));
                        has.ranges |= is_dense(s);
                    }
                }
                Content::Bars(bars) | Content::Rows { bars, .. } => {
                    for s in &bars.series {
                        has.outlines |= s.reference.iter().any(|r| r.is_finite());
                        has.whiskers |= !s.limits.is_empty();
                    }
                }
                Content::Boxes(boxes) => {
                    let mut printed = boxes.series.iter().flat_map(|s| &s.reference);
                    has.printed |= printed.any(|r| r.is_finite());
                }
                Content::Heat(_) => {}
            }
        }
        has
    }
}

/// The legend with its entries, and, once laid out, their places.
#[derive(Debug, Default)]
pub(super) struct LegendBox {
    entries: Vec<(Sample, String)>,
    /// The upper left corner of each entry, and the text as it fits.
    places: Vec<(f64, f64, String)>,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl LegendBox {
    /// Collects the entries of a chart.
    pub(super) fn of(chart: &Chart, styles: &Styles) -> Self {
        let mut entries: Vec<(Sample, String)> = styles
            .order
            .iter()
            .filter(|(name, ..)| !name.trim().is_empty())
            .map(|(name, style, shown)| (Sample::Series(*style, *shown), name.clone()))
            .collect();
        let has = Marks::of(chart);
        let reference = chart.reference_label.trim();
        let spread = chart.spread_label.trim();
        let added = [
            (has.hollow, Sample::HollowMarker, reference),
            (has.outlines, Sample::HollowBar, reference),
            (has.printed, Sample::Line, reference),
            (has.marks, Sample::Mark, chart.mark_label.trim()),
            (has.whiskers, Sample::Whisker, spread),
            (has.bands, Sample::Band, spread),
            (has.ranges, Sample::Band, "least to greatest"),
        ];
        for (there, sample, label) in added {
            if there && !label.is_empty() {
                entries.push((sample, label.to_owned()));
            }
        }
        Self {
            entries,
            ..Self::default()
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn entry_widths(&self) -> impl Iterator<Item = f64> {
        let text = |label: &str| font::width(label, TEXT, Weight::Regular);
        self.entries
            .iter()
            .map(move |(_, label)| SAMPLE + SAMPLE_GAP + text(label))
    }

    /// The width of the widest entry.
    pub(super) fn widest(&self) -> f64 {
        self.entry_widths().fold(0.0, f64::max)
    }

    /// The width of all entries in one row.
    pub(super) fn one_row(&self) -> f64 {
        self.entry_widths().map(|w| w + COLUMN_GAP).sum::<f64>() - COLUMN_GAP
    }

    /// The height of all entries in one column.
    pub(super) fn one_column(&self) -> f64 {
        self.entries.len() as f64 * ROW
    }

    /// Lays the entries out below each other, no wider than `room`.
    pub(super) fn stack(&mut self, room: f64) {
        let room = room.max(SAMPLE + SAMPLE_GAP + 20.0);
        self.places = self
            .entries
            .iter()
            .enumerate()
            .map(|(i, (_, label))| (0.0, i as f64 * ROW, fitted(label, room)))
            .collect();
        self.width = self.widest().min(room);
        self.height = self.one_column();
    }

    /// Lays the entries out in rows no wider than `room`: in a flow if one row
    /// is enough, else in columns of one width, so that rows line up.
    pub(super) fn flow(&mut self, room: f64) {
        let room = room.max(SAMPLE + SAMPLE_GAP + 20.0);
        let mut places = Vec::with_capacity(self.entries.len());
        if self.one_row() <= room {
            let mut x = 0.0;
            for (width, (_, label)) in self.entry_widths().zip(&self.entries) {
                places.push((x, 0.0, label.clone()));
                x += width + COLUMN_GAP;
            }
            self.width = self.one_row().max(0.0);
            self.height = if self.entries.is_empty() { 0.0 } else { ROW };
        } else {
            let cell = self.widest().min(room) + COLUMN_GAP;
            let columns = ((room + COLUMN_GAP) / cell).floor().max(1.0) as usize;
            let columns = columns.min(self.entries.len()).max(1);
            for (i, (_, label)) in self.entries.iter().enumerate() {
                let (row, column) = (i / columns, i % columns);
                places.push((column as f64 * cell, row as f64 * ROW, fitted(label, room)));
            }
            self.width = columns as f64 * cell - COLUMN_GAP;
            self.height = self.entries.len().div_ceil(columns) as f64 * ROW;
        }
        self.places = places;
    }

    /// Draws the entries with the upper left corner at the given point.
    pub(super) fn draw(&self, svg: &mut Svg, left: f64, top: f64) {
        for ((sample, _), (x, y, label)) in self.entries.iter().zip(&self.places) {
            let (x, middle) = (left + x, top + y + ROW / 2.0);
            draw_sample(svg, *sample, x, middle);
            let style = TextStyle::new(TEXT, INK);
            svg.text(x + SAMPLE + SAMPLE_GAP, middle + 0.36 * TEXT, label, style);
        }
    }
}

fn fitted(label: &str, room: f64) -> String {
    font::elide(label, room - SAMPLE - SAMPLE_GAP, TEXT, Weight::Regular)
}

fn draw_sample(svg: &mut Svg, sample: Sample, x: f64, y: f64) {
    let centre = x + SAMPLE / 2.0;
    match sample {
        Sample::Series(style, shown) => {
            if shown.bar {
                svg.tag("rect")
                    .num("x", x + 5.0)
                    .num("y", y - 6.0)
                    .num("width", 14.0)
                    .num("height", 12.0)
                    .attr("fill", &style.fill())
                    .attr("stroke", style.colour)
                    .close();
            }
            if shown.line {
                let mut line = svg
                    .tag("line")
                    .num("x1", x)
                    .num("y1", y)
                    .num("x2", x + SAMPLE)
                    .num("y2", y)
                    .attr("stroke", style.colour)
                    .num("stroke-width", 2.0);
                if !style.dash.is_empty() {
                    line = line.attr("stroke-dasharray", style.dash);
                }
                line.close();
            }
            if shown.markers {
                style.marker.draw(svg, (centre, y), style.colour, false);
            }
        }
        Sample::Mark => Marker::Circle.draw(svg, (centre, y), INK_SOFT, false),
        Sample::Line => svg.line((x + 3.0, y), (x + SAMPLE - 3.0, y), INK, 2.4),
        Sample::HollowMarker => Marker::Circle.draw(svg, (centre, y), INK_SOFT, true),
        Sample::HollowBar => {
            svg.tag("path")
                .attr(
                    "d",
                    &crate::svg::path_data(
                        &[vec![
                            (x + 6.0, y + 6.0),
                            (x + 6.0, y - 5.0),
                            (x + 18.0, y - 5.0),
                            (x + 18.0, y + 6.0),
                        ]],
                        false,
                    ),
                )
                .attr("fill", "none")
                .attr("stroke", INK)
                .num("stroke-width", 1.0)
                .close();
            svg.line((x + 3.0, y - 5.0), (x + 21.0, y - 5.0), INK, 2.0);
        }
        Sample::Whisker => {
            svg.line((centre, y - 7.0), (centre, y + 7.0), INK_SOFT, 1.2);
            for end in [y - 7.0, y + 7.0] {
                svg.line((centre - 4.0, end), (centre + 4.0, end), INK_SOFT, 1.2);
            }
        }
        Sample::Band => svg
            .tag("rect")
            .num("x", x)
            .num("y", y - 6.0)
            .num("width", SAMPLE)
            .num("height", 12.0)
            .attr("fill", INK_SOFT)
            .num("fill-opacity", 0.25)
            .close(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Axis, Panel, Series};

    fn legend(names: &[&str]) -> LegendBox {
        let panel = Panel::xy(Axis::linear(""), Axis::linear(""));
        let panel = names
            .iter()
            .fold(panel, |p, name| p.series(Series::line(*name, [])));
        let chart = Chart::new("").panel(panel);
        LegendBox::of(&chart, &Styles::assign(&chart))
    }

    #[test]
    fn one_row_if_it_fits() {
        let mut legend = legend(&["newreno", "hybla", "westwood"]);
        legend.flow(600.0);
        assert_eq!(legend.height, ROW);
        let (first, second) = (&legend.places[0], &legend.places[1]);
        assert!(second.0 > first.0 + SAMPLE + font::width("newreno", TEXT, Weight::Regular));
    }

    #[test]
    fn rows_line_up_and_stay_inside() {
        let names: Vec<String> = (0..11).map(|i| format!("transport number {i}")).collect();
        let mut legend = legend(&names.iter().map(String::as_str).collect::<Vec<_>>());
        legend.flow(420.0);
        assert_eq!(legend.height, 6.0 * ROW);
        assert!(legend.width <= 420.0);
        for (x, _, label) in &legend.places {
            let right = x + SAMPLE + SAMPLE_GAP + font::width(label, TEXT, Weight::Regular);
            assert!(right <= 420.0);
        }
    }

    #[test]
    fn a_very_long_name_is_cut() {
        let long = "x".repeat(500);
        let mut legend = legend(&[&long, "b"]);
        legend.flow(300.0);
        assert!(legend.places[0].2.ends_with('…'));
        legend.stack(150.0);
        assert!(legend.width <= 150.0);
    }

    #[test]
    fn nameless_series_have_no_entry() {
        assert!(legend(&["", "  "]).is_empty());
    }
}
