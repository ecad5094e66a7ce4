//! Sizes of texts and gaps, and the places of panels.

use super::scale::{Scale, Ticks};

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
