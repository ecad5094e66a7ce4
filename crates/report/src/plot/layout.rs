//! Where everything stands on the page. Text is measured first and the panels
//! take what is left, so that nothing is clipped and nothing overlaps.

use super::extent::{Values, has_markers, values_of, x_axis, x_range};
use super::labels::{across_height, category_labels, gutter, strip};
use super::legend::LegendBox;
use super::model::{Annotation, Chart, Content, Legend, Panel};
use super::scale::{self, Padding, Scale, Ticks};
use crate::font::{self, Weight};

pub(super) const TITLE: f64 = 15.0;
pub(super) const SUBTITLE: f64 = 12.0;
pub(super) const LABEL: f64 = 12.0;
pub(super) const TICK: f64 = 11.0;
pub(super) const SMALL: f64 = 10.5;

const PAD: f64 = 16.0;
/// A legend goes below where it would leave the panels less than this.
const NARROWEST: f64 = 140.0;
/// Room between an axis and its tick labels.
pub(super) const TICK_GAP: f64 = 7.0;
/// Line heights of the axis labels, and of the annotations.
pub(super) const LABEL_ROW: f64 = 16.0;
pub(super) const TICK_ROW: f64 = 14.0;

/// A rectangle on the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rect {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Rect {
    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom - self.top
    }
}

/// The marks along the lower edge of a panel.
#[derive(Clone, Debug)]
pub(super) enum Across {
    /// A numeric axis.
    Numbers(Scale, Ticks),
    /// Categories; the lines of each label.
    Upright(Vec<Vec<String>>),
    /// Categories; each label on a slant, empty where there is no room.
    Slanted(Vec<String>),
}

/// A panel with its place and its axes.
#[derive(Clone, Debug)]
pub(super) struct PanelBox {
    pub(super) plot: Rect,
    pub(super) y: Scale,
    pub(super) y_ticks: Ticks,
    pub(super) y_label: Vec<String>,
    /// Baseline and left edge of the y label's first line.
    pub(super) y_label_x: f64,
    pub(super) across: Across,
    pub(super) x_label: String,
    /// The centre of the x label.
    pub(super) x_label_x: f64,
    /// Whether tick labels and axis label of x are drawn here.
    pub(super) x_shown: bool,
    pub(super) title: String,
    pub(super) title_y: f64,
    /// Labels of vertical lines: centre, baseline, text.
    pub(super) above: Vec<(f64, f64, String)>,
    /// Labels of horizontal lines: middle, text.
    pub(super) beside: Vec<(f64, String)>,
    /// Whether there is nothing to draw.
    pub(super) empty: bool,
}

/// The whole page.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) left: f64,
    /// Lines of text with their baselines.
    pub(super) title: Vec<(f64, String)>,
    pub(super) subtitle: Vec<(f64, String)>,
    pub(super) note: Vec<(f64, String)>,
    pub(super) panels: Vec<PanelBox>,
    pub(super) legend: LegendBox,
    pub(super) legend_at: (f64, f64),
}

/// Lays a chart out.
pub(super) fn plan(chart: &Chart, legend: impl Fn() -> LegendBox) -> Layout {
    let count = chart.panels.len().max(1) as f64;
    let usual = match chart.panels.len() {
        0 | 1 => 300.0,
        2 => 205.0,
        _ => 160.0,
    };
    let layout = Planner::new(chart, legend(), usual).run();
    let Some(wanted) = chart.height.filter(|h| h.is_finite()) else {
        return layout;
    };
    // Everything but the panels keeps its size: they take the difference.
    let rest = layout.height - count * usual;
    let plot = ((wanted.min(2e4) - rest) / count).max(60.0).floor();
    Planner::new(chart, legend(), plot).run()
}

struct Planner<'a> {
    chart: &'a Chart,
    legend: LegendBox,
    width: f64,
    plot_height: f64,
    right_legend: bool,
}

impl<'a> Planner<'a> {
    fn new(chart: &'a Chart, legend: LegendBox, plot_height: f64) -> Self {
        let width = if chart.width.is_finite() {
            chart.width.clamp(240.0, 4000.0)
        } else {
            760.0
        };
        let room = width - 2.0 * PAD;
        let panels_height = plot_height * chart.panels.len().max(1) as f64;
        let beside = width >= 600.0
            && legend.widest() <= 0.26 * width
            && legend.one_column() <= panels_height;
        let right_legend = !legend.is_empty()
            && match chart.legend {
                Legend::Right => true,
                Legend::Auto => legend.one_row() > room && beside,
                Legend::Below | Legend::Hidden => false,
            };
        Self {
            chart,
            legend,
            width,
            plot_height,
            right_legend,
        }
    }

    fn run(mut self) -> Layout {
        let chart = self.chart;
        let room = self.width - 2.0 * PAD;
        let values: Vec<Values> = chart.panels.iter().map(values_of).collect();
        let ranges = self.x_ranges(&values);
        let shared = ranges.is_some();
        if chart.legend == Legend::Hidden {
            self.legend = LegendBox::default();
        } else if self.right_legend {
            self.legend.stack(0.35 * self.width);
        } else {
            self.legend.flow(room);
        }
        let mut sides = self.sides(&values, ranges.as_deref());
        if self.right_legend && sides.right - sides.left < NARROWEST {
            self.right_legend = false;
            self.legend.flow(room);
            sides = self.sides(&values, ranges.as_deref());
        }

        let mut y = PAD - 4.0;
        let title = lines(&mut y, &chart.title, room, TITLE, Weight::Bold, 3);
        let subtitle = lines(&mut y, &chart.subtitle, room, SUBTITLE, Weight::Regular, 4);
        y += if title.is_empty() && subtitle.is_empty() {
            4.0
        } else {
            10.0
        };

        let first_top = y;
        let mut panels = Vec::with_capacity(chart.panels.len());
        for (i, panel) in chart.panels.iter().enumerate() {
            let x_shown = !shared || i + 1 == chart.panels.len();
            let range = ranges.as_ref().and_then(|r| r.get(i).copied().flatten());
            let place = Sides { top: y, ..sides };
            let (placed, bottom) = self.panel(panel, &values[i], range, place, x_shown);
            panels.push(placed);
            y = bottom + if x_shown { 16.0 } else { 12.0 };
        }
        y -= 16.0;

        let legend_at = if self.right_legend {
            let top = panels.first().map_or(first_top, |p| p.plot.top);
            y = y.max(top + self.legend.height);
            (self.width - PAD - self.legend.width, top)
        } else if self.legend.is_empty() {
            (0.0, 0.0)
        } else {
            y += 12.0;
            let middle = (sides.left + sides.right) / 2.0;
            let last = self.width - PAD - self.legend.width;
            let left = (middle - self.legend.width / 2.0).min(last).max(PAD);
            let top = y;
            y += self.legend.height;
            (left, top)
        };
        let note = if chart.note.trim().is_empty() {
            Vec::new()
        } else {
            y += 8.0;
            lines(&mut y, &chart.note, room, SMALL, Weight::Regular, 8)
        };
        Layout {
            width: self.width,
            height: (y + PAD - 4.0).ceil(),
            left: PAD,
            title,
            subtitle,
            note,
            panels,
            legend: self.legend,
            legend_at,
        }
    }

    /// The common x range of the panels, if they have one; nothing at all if
    /// each needs its own labels. Category axes have no range.
    fn x_ranges(&self, values: &[Values]) -> Option<Vec<Option<(f64, f64)>>> {
        let panels = &self.chart.panels;
        let same = panels
            .windows(2)
            .all(|pair| match (&pair[0].content, &pair[1].content) {
                (Content::Xy { x: a, .. }, Content::Xy { x: b, .. }) => a == b,
                (Content::Bars(a), Content::Bars(b)) => {
                    a.label == b.label && a.categories == b.categories
                }
                _ => false,
            });
        if !same {
            return None;
        }
        let mut all = values.iter().flat_map(|v| v.x.iter().copied()).peekable();
        let range = panels.first().and_then(|panel| match &panel.content {
            // Without any point there is no range to share and none to label.
            Content::Xy { .. } if all.peek().is_none() => None,
            Content::Xy { x, .. } => Some(x_range(x, all, panels.iter().any(has_markers))),
            Content::Bars(_) => None,
        });
        Some(vec![range; panels.len()])
    }

    /// The left and right edges of the panels: the same for all of them, so
    /// that their x axes line up.
    fn sides(&self, values: &[Values], ranges: Option<&[Option<(f64, f64)>]>) -> Sides {
        let panels = &self.chart.panels;
        let mut labels: f64 = 0.0;
        let mut rows: usize = 0;
        let mut gutter: f64 = 0.0;
        for (panel, values) in panels.iter().zip(values) {
            let (_, ticks) = self.y_axis(panel, values, 0.0);
            let width = |(_, label): &(f64, String)| font::width(label, TICK, Weight::Regular);
            labels = ticks.major.iter().map(width).fold(labels, f64::max);
            rows = rows.max(self.y_label(panel).len());
            for annotation in &panel.annotations {
                if let Annotation::Horizontal { label, .. } = annotation {
                    let width = font::width(label.trim(), SMALL, Weight::Regular);
                    gutter = gutter.max(if width > 0.0 {
                        width.min(self.beside()) + 6.0
                    } else {
                        0.0
                    });
                }
            }
        }
        let y_label_x = PAD;
        let label_room = if rows > 0 {
            rows as f64 * LABEL_ROW + 6.0
        } else {
            0.0
        };
        let left = (PAD + label_room + labels + TICK_GAP).round();
        let mut right = self.width - PAD - gutter;
        if self.right_legend {
            right -= self.legend.width + 18.0;
        }
        let right = right.floor().max(left + 60.0);
        // The last tick label is centred on its tick and may stick out.
        let mut over: f64 = 0.0;
        for (i, panel) in panels.iter().enumerate() {
            if let Content::Xy { x, .. } = &panel.content {
                let own = || x_range(x, values[i].x.iter().copied(), has_markers(panel));
                let range = ranges
                    .and_then(|r| r.get(i).copied().flatten())
                    .unwrap_or_else(own);
                let (scale, ticks) = x_axis(x, range, left, right);
                for (value, label) in &ticks.major {
                    let half = font::width(label, TICK, Weight::Regular) / 2.0;
                    let end = scale.at(*value).unwrap_or(left) + half;
                    over = over.max(end - (right + gutter + PAD - 6.0));
                }
            }
        }
        let right = (right - over.max(0.0).ceil()).max(left + 60.0);
        Sides {
            left,
            right,
            top: 0.0,
            y_label_x,
        }
    }

    /// The longest text at the right of a panel.
    fn beside(&self) -> f64 {
        (0.2 * self.width).min(130.0)
    }

    fn y_label(&self, panel: &Panel) -> Vec<String> {
        font::wrap(
            &panel.y.label,
            self.plot_height + 8.0,
            LABEL,
            Weight::Regular,
            2,
        )
    }

    fn y_axis(&self, panel: &Panel, values: &Values, top: f64) -> (Scale, Ticks) {
        let bars = matches!(panel.content, Content::Bars(_));
        let mut axis = panel.y.clone();
        if bars {
            axis.zero = Some(true);
        }
        let lines = panel.annotations.iter().filter_map(|a| match a {
            Annotation::Horizontal { y, .. } => Some(*y),
            Annotation::Vertical { .. } => None,
        });
        let padding = Padding {
            low: 0.05,
            high: if bars { 0.06 } else { 0.05 },
        };
        let range = scale::range(&axis, values.y.iter().copied().chain(lines), padding);
        let scale = Scale::new(axis.kind, range, top + self.plot_height, top);
        if values.y.is_empty() {
            return (scale, Ticks::default());
        }
        let target = ((self.plot_height / 32.0) as usize).clamp(2, 9);
        let ticks = scale::fit(&scale, target, 5.0, |_| TICK);
        (scale, ticks)
    }

    fn panel(
        &self,
        panel: &Panel,
        values: &Values,
        range: Option<(f64, f64)>,
        place: Sides,
        x_shown: bool,
    ) -> (PanelBox, f64) {
        let mut y = place.top;
        let last = if self.right_legend {
            self.width - PAD - self.legend.width
        } else {
            self.width
        };
        let title = font::elide(
            panel.title.trim(),
            last - 6.0 - place.left,
            LABEL,
            Weight::Bold,
        );
        let title_y = y + LABEL;
        if !title.is_empty() {
            y += 20.0;
        }
        let (across, x_label) = across(panel, values, range, place);
        let mut above = strip(panel, &across, place);
        let rows = above
            .iter()
            .map(|(_, row, _)| *row + 1.0)
            .fold(0.0, f64::max);
        if rows > 0.0 {
            y += rows * TICK_ROW + 3.0;
        }
        let plot = Rect {
            left: place.left,
            top: y.round(),
            right: place.right,
            bottom: y.round() + self.plot_height,
        };
        for label in &mut above {
            // From the row number, counted upwards, to the baseline.
            label.1 = plot.top - 5.0 - label.1 * TICK_ROW;
        }
        let (y_scale, y_ticks) = self.y_axis(panel, values, plot.top);
        let beside = gutter(panel, &y_scale, plot, self.beside());
        // Centred under the panel, unless it is too wide for that: then it moves
        // sideways, as far as the page and the legend allow.
        let x_label = font::elide(x_label.trim(), last - 12.0, LABEL, Weight::Regular);
        let half = font::width(&x_label, LABEL, Weight::Regular) / 2.0;
        let x_label_x = ((plot.left + plot.right) / 2.0)
            .min(last - 6.0 - half)
            .max(6.0 + half);
        let mut bottom = plot.bottom;
        if x_shown {
            bottom += across_height(&across);
            if !x_label.is_empty() {
                bottom += LABEL_ROW + 4.0;
            }
        }
        let placed = PanelBox {
            plot,
            y: y_scale,
            y_ticks,
            y_label: self.y_label(panel),
            y_label_x: place.y_label_x,
            across,
            x_label,
            x_label_x,
            x_shown,
            title,
            title_y,
            above,
            beside,
            empty: values.y.is_empty(),
        };
        (placed, bottom)
    }
}

/// The x axis of a panel, and its label.
fn across<'p>(
    panel: &'p Panel,
    values: &Values,
    range: Option<(f64, f64)>,
    place: Sides,
) -> (Across, &'p str) {
    match &panel.content {
        Content::Xy { x, .. } => {
            let own = || x_range(x, values.x.iter().copied(), has_markers(panel));
            let (scale, mut ticks) = x_axis(x, range.unwrap_or_else(own), place.left, place.right);
            if range.is_none() && values.x.is_empty() {
                ticks = Ticks::default();
            }
            (Across::Numbers(scale, ticks), x.label.as_str())
        }
        Content::Bars(bars) => (
            category_labels(&bars.categories, place.left, place.right),
            bars.label.as_str(),
        ),
    }
}

/// The edges of a panel, and the left edge of its y label.
#[derive(Clone, Copy)]
pub(super) struct Sides {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    y_label_x: f64,
}

/// Breaks a text into lines below `y`, and moves `y` below them.
fn lines(
    y: &mut f64,
    text: &str,
    room: f64,
    size: f64,
    weight: Weight,
    most: usize,
) -> Vec<(f64, String)> {
    let place = |line| {
        *y += (1.34 * size).round();
        (*y, line)
    };
    font::wrap(text, room, size, weight, most)
        .into_iter()
        .map(place)
        .collect()
}
