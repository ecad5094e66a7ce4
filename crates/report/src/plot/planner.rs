//! What a chart asks for: its width, its columns, its rows and the place of its legend.

use super::legend::LegendBox;
use super::measures::PAD;
use super::model::{Chart, Content, Legend, Panel};

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
    pub(super) heights: Vec<f64>,
    pub(super) columns: usize,
    pub(super) right_legend: bool,
}

impl<'a> Planner<'a> {
    pub(super) fn new(chart: &'a Chart, legend: LegendBox, columns: usize, share: f64) -> Self {
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

    /// The longest text at the right of a panel.
    pub(super) fn beside(&self) -> f64 {
        (0.2 * self.width).min(130.0)
    }
}
