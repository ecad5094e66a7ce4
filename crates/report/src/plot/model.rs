//! The description of a chart: what the caller fills in.

use super::axis::Axis;
use super::content::{BarSeries, Bars, BoxSeries, Boxes, Heat};
use super::series::Series;

/// A straight line across a panel: a handover, a capacity.
#[derive(Clone, Debug, PartialEq)]
pub enum Annotation {
    /// At one x; its label is above the panel.
    Vertical {
        /// Position on the x axis.
        x: f64,
        /// Label; may be empty.
        label: String,
    },
    /// At one y, which the y axis is stretched to include; its label is at the right of the panel.
    Horizontal {
        /// Position on the y axis.
        y: f64,
        /// Label; may be empty.
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

/// Content of a panel.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Series over a numeric x axis.
    Xy {
        /// Numeric x axis.
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
        /// Bars by category.
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
    /// Heading of the panel; may be empty.
    pub title: String,
    /// Numeric y axis.
    pub y: Axis,
    /// The marks of the panel.
    pub content: Content,
    /// Lines across the panel.
    pub annotations: Vec<Annotation>,
}

impl Panel {
    fn new(y: Axis, content: Content) -> Self {
        Self {
            title: String::new(),
            y,
            content,
            annotations: Vec::new(),
        }
    }

    /// A panel of series over numeric axes.
    pub fn xy(x: Axis, y: Axis) -> Self {
        let series = Vec::new();
        Self::new(y, Content::Xy { x, series })
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
        Self::new(y, Content::Bars(bars))
    }

    /// A panel of bars that lie: a row for each category, which suits long names.
    pub fn rows(x: Axis, categories: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let bars = Bars {
            categories: categories.into_iter().map(Into::into).collect(),
            ..Bars::default()
        };
        Self::new(Axis::default(), Content::Rows { x, bars })
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
        Self::new(y, Content::Boxes(boxes))
    }

    /// A map of coloured cells; `y_label` names its rows.
    pub fn heat(y_label: impl Into<String>, heat: Heat) -> Self {
        Self::new(Axis::linear(y_label), Content::Heat(heat))
    }

    setters! {
        /// Gives the panel a heading.
        title: impl Into<String>;
    }

    /// The names along the y axis, where it has no numbers.
    pub(super) fn names(&self) -> Option<&[String]> {
        match &self.content {
            Content::Rows { bars, .. } => Some(&bars.categories),
            Content::Heat(heat) => Some(&heat.rows),
            _ => None,
        }
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

    /// Puts the bars of a group in one place, for series of which each category has one.
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

/// Position of the legend; never on the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Legend {
    /// Below in one row if that fits, else at the right if there is room, else
    /// below in several rows.
    #[default]
    Auto,
    /// At the right of the panels; below if that leaves them too little room.
    Right,
    /// Below all panels.
    Below,
    /// No legend.
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
    /// Position of the legend.
    pub legend: Legend,
    /// Name of the hollow reference marks in the legend.
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

    setters! {
        /// Sets the second line.
        subtitle: impl Into<String>;
        /// Sets the remark under the figure.
        note: impl Into<String>;
        /// Sets how many panels stand side by side.
        columns: usize;
        /// Names the marks on lines in the legend: `end of the transfer`.
        mark_label: impl Into<String>;
        /// Sets the width in pixels.
        width: f64;
        /// Sets the height in pixels.
        height: f64;
        /// Places the legend.
        legend: Legend;
        /// Names the hollow reference marks in the legend.
        reference_label: impl Into<String>;
        /// Names the whiskers and bands in the legend: `95 % confidence`.
        spread_label: impl Into<String>;
    }

    /// Adds a panel at the end.
    #[must_use]
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }
}
