//! The figures that a study draws.

use super::{Labels, Shown, ValueSpec};
use bentpipe_document::Place;
use bentpipe_units::Duration;

/// A figure to draw.
#[derive(Clone, Debug)]
pub struct FigureSpec {
    /// Name of the item: `figure-7`.
    pub slug: String,
    /// Title.
    pub title: String,
    /// The study whose axes and results it shows; its own where `None`.
    pub from: Option<String>,
    /// Content of the figure.
    pub kind: FigureKind,
    /// The axis with one curve or bar per point; `None` draws one.
    pub series: Option<String>,
    /// Axes that are fixed.
    pub at: Labels,
    /// Axes of which only some points are shown.
    pub only: Shown,
    /// Label of the x axis, if not the usual one.
    pub x_label: Option<String>,
    /// Label of the y axis, if not the usual one.
    pub y_label: Option<String>,
    /// Published numbers: a CSV file, relative to the study.
    pub reference: Option<String>,
    /// Numbers that a paper prints in its text.
    pub published: Vec<PublishedSpec>,
    /// The axis with one panel per point; `None` draws one panel.
    pub facets: Option<String>,
    /// The x axis.
    pub x_axis: AxisSpec,
    /// The y axis; of a map, that of its colours.
    pub y_axis: AxisSpec,
    pub(crate) place: Place,
}

/// How an axis of a figure is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct AxisSpec {
    /// Whether it is logarithmic.
    pub log: bool,
    /// The omitted range, in the displayed unit.
    pub gap: Option<(f64, f64)>,
}

/// A number that a paper prints in its text, drawn in a figure.
#[derive(Clone, Debug)]
pub struct PublishedSpec {
    /// Where on the x axis, as it is written; `None` is a line across the panel.
    pub x: Option<String>,
    /// The number, in the unit of the y axis.
    pub y: f64,
    /// The point of the figure's `series` that it is of.
    pub series: Option<String>,
    /// The point of the figure's `facets` that it is of; `None` is every panel.
    pub facet: Option<String>,
    /// Quotation from the paper, and its place.
    pub text: String,
    pub(crate) place: Place,
}

/// The kinds of figures.
#[derive(Clone, Debug)]
pub enum FigureKind {
    /// Over time, of the first replication.
    Series {
        /// The plotted quantity.
        y: SeriesQuantity,
        /// The flow; the first where `None`.
        flow: Option<String>,
        /// Window over which rates are taken, and its position in the file; half a second, or an
        /// interval of the series if that is longer, where `None`.
        window: Option<(Duration, Place)>,
        /// The unit of rates; kB/s where `None`.
        unit: Option<String>,
    },
    /// A metric over an axis.
    Line {
        /// The axis.
        x: String,
        /// The metric.
        y: ValueSpec,
    },
    /// Bars in groups.
    Bars {
        /// The axes that make the groups.
        groups: Vec<String>,
        /// The metric.
        y: ValueSpec,
    },
    /// A box over the runs of each cell, in groups.
    Box {
        /// The axes that make the groups.
        groups: Vec<String>,
        /// The metric.
        y: ValueSpec,
    },
    /// The distribution of a metric over the runs of a cell.
    Cdf {
        /// The metric.
        y: ValueSpec,
    },
    /// A map of coloured cells: `series` down, `x` across.
    Heat {
        /// The axis across.
        x: String,
        /// The metric.
        y: ValueSpec,
    },
}

impl FigureKind {
    /// The metric that is drawn, unless it is a time series.
    #[must_use]
    pub fn value(&self) -> Option<&ValueSpec> {
        match self {
            FigureKind::Series { .. } => None,
            FigureKind::Line { y, .. }
            | FigureKind::Bars { y, .. }
            | FigureKind::Box { y, .. }
            | FigureKind::Cdf { y }
            | FigureKind::Heat { y, .. } => Some(y),
        }
    }

    /// The axes of the values.
    #[must_use]
    pub fn axes(&self) -> &[String] {
        match self {
            FigureKind::Series { .. } | FigureKind::Cdf { .. } => &[],
            FigureKind::Line { x, .. } | FigureKind::Heat { x, .. } => std::slice::from_ref(x),
            FigureKind::Bars { groups, .. } | FigureKind::Box { groups, .. } => groups,
        }
    }
}

/// Quantities of a figure over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesQuantity {
    /// Congestion window, segments.
    Cwnd,
    /// Slow start threshold, segments.
    Ssthresh,
    /// Segments in flight.
    Flight,
    /// Last RTT sample.
    Rtt,
    /// Payload delivered so far.
    Received,
    /// Payload sent so far.
    Sent,
    /// Rate of delivery.
    Rate,
    /// Rate of sending.
    SentRate,
}

impl SeriesQuantity {
    /// Every quantity with its name.
    pub(crate) const WORDS: [(&'static str, SeriesQuantity); 8] = [
        ("cwnd", SeriesQuantity::Cwnd),
        ("ssthresh", SeriesQuantity::Ssthresh),
        ("flight", SeriesQuantity::Flight),
        ("rtt", SeriesQuantity::Rtt),
        ("received", SeriesQuantity::Received),
        ("sent", SeriesQuantity::Sent),
        ("rate", SeriesQuantity::Rate),
        ("sent_rate", SeriesQuantity::SentRate),
    ];

    /// Its label and unit.
    pub(crate) fn label(self) -> (&'static str, &'static str) {
        match self {
            SeriesQuantity::Cwnd => ("congestion window", "segments"),
            SeriesQuantity::Ssthresh => ("slow start threshold", "segments"),
            SeriesQuantity::Flight => ("in flight", "segments"),
            SeriesQuantity::Rtt => ("round-trip time", "s"),
            SeriesQuantity::Received => ("payload received", "kB"),
            SeriesQuantity::Sent => ("payload sent", "kB"),
            SeriesQuantity::Rate => ("rate of delivery", "kB/s"),
            SeriesQuantity::SentRate => ("rate of sending", "kB/s"),
        }
    }
}
