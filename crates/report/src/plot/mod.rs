//! Charts as SVG, written by hand.
//!
//! A [`Chart`] is a stack or a grid of [`Panel`]s with one legend. A panel shows series over
//! numeric axes ([`Panel::xy`]), grouped bars or boxes over categories ([`Panel::bars`],
//! [`Panel::boxes`]), horizontal bars ([`Panel::rows`]), or a map of coloured cells
//! ([`Panel::heat`]). Series that bear the same name have the same colour in every panel and share
//! one legend entry.
//!
//! ```
//! use bentpipe_report::plot::{Axis, Chart, Panel, Series};
//!
//! let cwnd = [(0.0, 2.0), (0.5, 4.0), (1.0, 8.0)];
//! let svg = Chart::new("Slow start")
//!     .panel(
//!         Panel::xy(Axis::linear("time [s]"), Axis::linear("cwnd [segments]"))
//!             .series(Series::line("newreno", cwnd)),
//!     )
//!     .to_svg();
//! assert!(svg.starts_with("<svg"));
//! ```
//!
//! Invalid values are tolerated: a point that is not finite, or not positive on a logarithmic axis,
//! is a gap in its line; a panel without any point says "no data". Long series are reduced to what
//! a pixel column can show: its first, lowest, highest and last value, or, of one that goes up and
//! down more often than there are columns, its range and mean.

mod axes;
mod axis;
mod bars;
mod boxes;
mod content;
mod decimate;
mod extent;
mod grid;
mod heat;
mod labels;
mod layout;
mod legend;
mod measures;
mod model;
mod number;
mod planner;
mod ranges;
mod render;
mod scale;
mod series;
mod style;
mod xy;

#[cfg(test)]
mod page_tests;

pub use axis::{Axis, ScaleKind};
pub use content::{BarSeries, Bars, BoxMarks, BoxSeries, Boxes, Heat};
pub use decimate::decimate;
pub use model::{Annotation, Chart, Content, Legend, Panel};
pub use series::{Series, SeriesKind, Spread};
