//! The position of everything on the page. Text is measured first and the panels take what is left,
//! so that nothing is clipped and nothing overlaps.

use super::grid::Grid;
use super::legend::LegendBox;
use super::measures::{NARROWEST, PAD, PanelBox, SMALL, SUBTITLE, TITLE};
use super::model::Chart;
use super::planner::Planner;
use crate::font::{self, Weight};

/// Positions of everything on the page, in pixels.
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

impl Planner<'_> {
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
