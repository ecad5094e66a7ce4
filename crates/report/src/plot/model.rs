//! The description of a chart: what the caller fills in.

use super::bars::{BarSeries, Bars};
use super::boxes::{BoxSeries, Boxes};
use super::heat::Heat;
use super::series::Series;

/// Linear or logarithmic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScaleKind {
    /// Equal steps.
    #[default]
    Linear,
    /// Equal factors, base 10; shows positive values only.
    Log,
}

/// A numeric axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// The label, with its unit: `time [s]`.
    pub label: String,
    /// Linear or logarithmic.
    pub kind: ScaleKind,
    /// The low end; without it, the data decide.
    pub min: Option<f64>,
    /// The high end; without it, the data decide.
    pub max: Option<f64>,
    /// Whether zero must be on a linear axis. Without it, an x axis follows the
    /// data, and a y axis shows zero where leaving it out would gain less than
    /// half of the axis. Bars always stand on zero.
    pub zero: Option<bool>,
    /// Ranges that a linear axis leaves out, each shown as a gap across the panel.
    pub breaks: Vec<(f64, f64)>,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            ..Self::default()
        }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            kind: ScaleKind::Log,
            ..Self::default()
        }
    }

    /// Fixes the low end.
    #[must_use]
    pub fn min(mut self, min: f64) -> Self {
        self.min = Some(min);
        self
    }

    /// Fixes the high end.
    #[must_use]
    pub fn max(mut self, max: f64) -> Self {
        self.max = Some(max);
        self
    }

    /// Fixes both ends.
    #[must_use]
    pub fn range(self, min: f64, max: f64) -> Self {
        self.min(min).max(max)
    }

    /// Demands or forbids that zero be on the axis.
    #[must_use]
    pub fn zero(mut self, zero: bool) -> Self {
        self.zero = Some(zero);
        self
    }

    /// Leaves the values between `from` and `to` out: a gap across the panel shows
    /// that. Does nothing to a logarithmic axis.
    #[must_use]
    pub fn broken(mut self, from: f64, to: f64) -> Self {
        self.breaks.push((from, to));
        self
    }

    /// Whether a value can be placed on an axis of this kind.
    pub(super) fn accepts(&self, value: f64) -> bool {
        value.is_finite() && (self.kind == ScaleKind::Linear || value > 0.0)
    }
}

/// A straight line across a panel: a handover, a capacity.
#[derive(Clone, Debug, PartialEq)]
pub enum Annotation {
    /// At one x; its label stands above the panel.
    Vertical {
        /// Where.
        x: f64,
        /// What; may be empty.
        label: String,
    },
    /// At one y, which the y axis is stretched to include; its label stands at
    /// the right of the panel.
    Horizontal {
        /// Where.
        y: f64,
        /// What; may be empty.
        label: String,
    },
}

impl Annotation {
    /// A line at one x.
    pub fn vertical(x: f64, label: impl Into<String>) -> Self {
        Self::Vertical {
            x,
            label: label.into(),
        }
    }

    /// A line at one y.
    pub fn horizontal(y: f64, label: impl Into<String>) -> Self {
        Self::Horizontal {
            y,
            label: label.into(),
        }
    }
}

/// What a panel shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Series over a numeric x axis.
    Xy {
        /// The x axis.
        x: Axis,
        /// The series, later ones on top.
        series: Vec<Series>,
    },
    /// Groups of bars over categories.
    Bars(Bars),
    /// Groups of bars that lie: a row for each category, from top to bottom.
    Rows {
        /// The axis of the values.
        x: Axis,
        /// The bars.
        bars: Bars,
    },
    /// Groups of boxes over categories.
    Boxes(Boxes),
    /// A map of coloured cells.
    Heat(Heat),
}

/// One coordinate system of a [`Chart`].
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// A heading of its own; may be empty.
    pub title: String,
    /// The y axis.
    pub y: Axis,
    /// What is drawn.
    pub content: Content,
    /// Lines across the panel.
    pub annotations: Vec<Annotation>,
}

impl Panel {
    /// A panel of series over numeric axes.
    pub fn xy(x: Axis, y: Axis) -> Self {
        Self {
            title: String::new(),
            y,
            content: Content::Xy {
                x,
                series: Vec::new(),
            },
            annotations: Vec::new(),
        }
    }

    /// A panel of grouped bars: one group for each category, one bar in it for
    /// each series.
    pub fn bars(
        x_label: impl Into<String>,
        y: Axis,
        categories: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let categories = categories.into_iter().map(Into::into).collect();
        let bars = Bars {
            label: x_label.into(),
            categories,
            ..Bars::default()
        };
        Self {
            title: String::new(),
            y,
            content: Content::Bars(bars),
            annotations: Vec::new(),
        }
    }

    /// A panel of bars that lie: a row for each category, which suits long names.
    pub fn rows(x: Axis, categories: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let bars = Bars {
            categories: categories.into_iter().map(Into::into).collect(),
            ..Bars::default()
        };
        Self {
            title: String::new(),
            y: Axis::default(),
            content: Content::Rows { x, bars },
            annotations: Vec::new(),
        }
    }

    /// A panel of grouped boxes: one group for each category, one box in it for
    /// each series.
    pub fn boxes(
        x_label: impl Into<String>,
        y: Axis,
        categories: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let boxes = Boxes {
            label: x_label.into(),
            categories: categories.into_iter().map(Into::into).collect(),
            series: Vec::new(),
        };
        Self {
            title: String::new(),
            y,
            content: Content::Boxes(boxes),
            annotations: Vec::new(),
        }
    }

    /// A map of coloured cells; `y_label` names its rows.
    pub fn heat(y_label: impl Into<String>, heat: Heat) -> Self {
        Self {
            title: String::new(),
            y: Axis::linear(y_label),
            content: Content::Heat(heat),
            annotations: Vec::new(),
        }
    }

    /// Gives the panel a heading.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Adds a series; does nothing to a panel of bars.
    #[must_use]
    pub fn series(mut self, added: Series) -> Self {
        if let Content::Xy { series, .. } = &mut self.content {
            series.push(added);
        }
        self
    }

    /// Adds a bar to each group of a panel of bars or rows.
    #[must_use]
    pub fn bar_series(mut self, added: BarSeries) -> Self {
        if let Content::Bars(bars) | Content::Rows { bars, .. } = &mut self.content {
            bars.series.push(added);
        }
        self
    }

    /// Lets the bars of a group stand in one place, for series of which each
    /// category has one.
    #[must_use]
    pub fn overlaid(mut self) -> Self {
        if let Content::Bars(bars) | Content::Rows { bars, .. } = &mut self.content {
            bars.overlaid = true;
        }
        self
    }

    /// Adds a box to each group of a panel of boxes.
    #[must_use]
    pub fn box_series(mut self, added: BoxSeries) -> Self {
        if let Content::Boxes(boxes) = &mut self.content {
            boxes.series.push(added);
        }
        self
    }

    /// Adds a line across the panel.
    #[must_use]
    pub fn annotate(mut self, annotation: Annotation) -> Self {
        self.annotations.push(annotation);
        self
    }
}

/// Where the legend stands; never on the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Legend {
    /// Below in one row if that fits, else at the right if there is room, else
    /// below in several rows.
    #[default]
    Auto,
    /// At the right of the panels; below if that leaves them too little room.
    Right,
    /// Below the panels.
    Below,
    /// Nowhere.
    Hidden,
}

/// A figure: panels from top to bottom, or in rows of several, with one title and
/// one legend.
///
/// Panels of the same kind with equal x axes share one range and one set of
/// labels, at the bottom. In rows of several, panels with equal y axes share their
/// range, too, and have one set of labels for each row, at the left.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The title; may be empty.
    pub title: String,
    /// A second, smaller line under the title; may be empty.
    pub subtitle: String,
    /// A remark under the figure; may be empty.
    pub note: String,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// Panels in a row; fewer where they would be too narrow.
    pub columns: usize,
    /// The width in pixels at scale 1; at least 240.
    pub width: f64,
    /// The height in pixels; without it, what the panels need. A height too
    /// small for them is exceeded.
    pub height: Option<f64>,
    /// Where the legend stands.
    pub legend: Legend,
    /// What the legend calls the hollow reference marks.
    pub reference_label: String,
    /// What the legend calls whiskers and bands; without it, they have no entry.
    pub spread_label: String,
    /// What the legend calls the marks on lines; without it, they have no entry.
    pub mark_label: String,
}

impl Chart {
    /// An empty chart, 760 pixels wide.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            subtitle: String::new(),
            note: String::new(),
            panels: Vec::new(),
            columns: 1,
            width: 760.0,
            height: None,
            legend: Legend::Auto,
            reference_label: "published".to_owned(),
            spread_label: String::new(),
            mark_label: String::new(),
        }
    }

    /// Sets the second line.
    #[must_use]
    pub fn subtitle(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = subtitle.into();
        self
    }

    /// Sets the remark under the figure.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Sets how many panels stand side by side.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns;
        self
    }

    /// Names the marks on lines in the legend: `end of the transfer`.
    #[must_use]
    pub fn mark_label(mut self, label: impl Into<String>) -> Self {
        self.mark_label = label.into();
        self
    }

    /// Adds a panel at the end.
    #[must_use]
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// Sets the width in pixels.
    #[must_use]
    pub fn width(mut self, width: f64) -> Self {
        self.width = width;
        self
    }

    /// Sets the height in pixels.
    #[must_use]
    pub fn height(mut self, height: f64) -> Self {
        self.height = Some(height);
        self
    }

    /// Places the legend.
    #[must_use]
    pub fn legend(mut self, legend: Legend) -> Self {
        self.legend = legend;
        self
    }

    /// Names the hollow reference marks in the legend.
    #[must_use]
    pub fn reference_label(mut self, label: impl Into<String>) -> Self {
        self.reference_label = label.into();
        self
    }

    /// Names the whiskers and bands in the legend: `95 % confidence`.
    #[must_use]
    pub fn spread_label(mut self, label: impl Into<String>) -> Self {
        self.spread_label = label.into();
        self
    }

    /// Draws the chart.
    #[must_use]
    pub fn to_svg(&self) -> String {
        super::render::render(self)
    }
}
