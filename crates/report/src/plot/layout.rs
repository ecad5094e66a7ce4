//! Where everything stands on the page. Text is measured first and the panels
//! take what is left, so that nothing is clipped and nothing overlaps.

use super::grid::Grid;
use super::legend::LegendBox;
use super::model::{Chart, Content, Legend, Panel};
use super::scale::{Scale, Ticks};
use crate::font::{self, Weight};

pub(super) const TITLE: f64 = 15.0;
pub(super) const SUBTITLE: f64 = 12.0;
pub(super) const LABEL: f64 = 12.0;
pub(super) const TICK: f64 = 11.0;
pub(super) const SMALL: f64 = 10.5;

pub(super) const PAD: f64 = 16.0;
/// A legend goes below where it would leave the panels less than this.
pub(super) const NARROWEST: f64 = 140.0;
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
    /// Whether those of y are.
    pub(super) y_shown: bool,
    pub(super) title: String,
    pub(super) title_y: f64,
    /// Labels of vertical lines: centre, baseline, text.
    pub(super) above: Vec<(f64, f64, String)>,
    /// Labels of horizontal lines: middle, text.
    pub(super) beside: Vec<(f64, String)>,
    /// Whether there is nothing to draw.
    pub(super) empty: bool,
}

impl PanelBox {
    /// Whether a pixel of the y axis lies in the panel.
    pub(super) fn holds(&self, y: f64) -> bool {
        y >= self.plot.top && y <= self.plot.bottom
    }
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
    let asked = chart.columns.clamp(1, chart.panels.len().max(1));
    let columns = (2..=asked).rev().find(|columns| {
        let planner = Planner::new(chart, legend(), *columns, 1.0);
        Grid::new(&planner).is_wide_enough()
    });
    let columns = columns.unwrap_or(1);
    let usual = Planner::new(chart, legend(), columns, 1.0);
    let all: f64 = usual.heights.iter().sum();
    let layout = usual.run();
    let Some(wanted) = chart.height.filter(|h| h.is_finite()) else {
        return layout;
    };
    // Everything but the panels keeps its size: they take the difference.
    let share = (wanted.min(2e4) - (layout.height - all)) / all;
    Planner::new(chart, legend(), columns, share).run()
}

/// The usual heights of the panels of each row.
fn usual_heights(chart: &Chart, columns: usize) -> Vec<f64> {
    let usual = match chart.panels.len().div_ceil(columns) {
        1 if columns > 2 => 230.0,
        1 => 300.0,
        2 => 205.0,
        _ => 160.0,
    };
    let rows = chart.panels.chunks(columns);
    rows.map(|row| {
        let heights = row.iter().map(|panel| usual_height(panel, usual));
        heights.fold(60.0, f64::max)
    })
    .collect()
}

/// The height of a panel where the caller fixes none.
fn usual_height(panel: &Panel, usual: f64) -> f64 {
    match &panel.content {
        Content::Rows { bars, .. } => {
            let members = if bars.overlaid {
                1
            } else {
                bars.series.len().max(1)
            };
            let row = 12.0 + 12.0 * members as f64;
            (bars.categories.len() as f64 * row).clamp(60.0, 1200.0)
        }
        Content::Heat(heat) => (heat.rows.len() as f64 * 26.0).clamp(90.0, 700.0),
        _ => usual,
    }
}

pub(super) struct Planner<'a> {
    pub(super) chart: &'a Chart,
    pub(super) legend: LegendBox,
    pub(super) width: f64,
    /// Of the panels of each row.
    heights: Vec<f64>,
    pub(super) columns: usize,
    pub(super) right_legend: bool,
}

impl<'a> Planner<'a> {
    fn new(chart: &'a Chart, legend: LegendBox, columns: usize, share: f64) -> Self {
        let heights = usual_heights(chart, columns).into_iter();
        let heights: Vec<f64> = if share == 1.0 {
            heights.collect()
        } else {
            heights.map(|h| (h * share).max(60.0).floor()).collect()
        };
        let width = if chart.width.is_finite() {
            chart.width.clamp(240.0, 4000.0)
        } else {
            760.0
        };
        let room = width - 2.0 * PAD;
        let beside = width >= 600.0
            && legend.widest() <= 0.26 * width
            && legend.one_column() <= heights.iter().sum::<f64>();
        let right_legend = !legend.is_empty()
            && match chart.legend {
                Legend::Right => true,
                Legend::Auto => legend.one_row() > room && beside,
                Legend::Below | Legend::Hidden => false,
            };
        let mut planner = Self {
            chart,
            legend,
            width,
            heights,
            columns,
            right_legend,
        };
        if chart.legend == Legend::Hidden {
            planner.legend = LegendBox::default();
        } else if right_legend {
            planner.legend.stack(0.35 * width);
        } else {
            planner.legend.flow(room);
        }
        planner
    }

    /// The height of the panels in a row.
    pub(super) fn height(&self, row: usize) -> f64 {
        self.heights.get(row).copied().unwrap_or(160.0)
    }

    fn run(mut self) -> Layout {
        let chart = self.chart;
        let room = self.width - 2.0 * PAD;
        let mut grid = Grid::new(&self);
        if self.right_legend && grid.width() < NARROWEST {
            self.right_legend = false;
            self.legend.flow(room);
            grid = Grid::new(&self);
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
        let (panels, bottom) = grid.place(&self, y);
        y = bottom;

        let legend_at = if self.right_legend {
            let top = panels.first().map_or(first_top, |p| p.plot.top);
            y = y.max(top + self.legend.height);
            (self.width - PAD - self.legend.width, top)
        } else if self.legend.is_empty() {
            (0.0, 0.0)
        } else {
            y += 12.0;
            let (first, last) = grid.ends();
            let middle = (first + last) / 2.0;
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

    /// The longest text at the right of a panel.
    pub(super) fn beside(&self) -> f64 {
        (0.2 * self.width).min(130.0)
    }
}

/// The edges of a panel.
#[derive(Clone, Copy)]
pub(super) struct Sides {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    /// The left edge of the y label.
    pub(super) y_label_x: f64,
    /// How far right the words of the panel may reach.
    pub(super) last: f64,
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
