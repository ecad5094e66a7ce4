//! A named series of points in a line chart.

/// How the points of a [`Series`] are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeriesKind {
    /// Straight lines between the points.
    #[default]
    Line,
    /// The value holds until the next point: queues, windows, rates.
    Step,
    /// A marker at each point.
    Points,
    /// A marker at each point, and lines between them.
    LinePoints,
}

impl SeriesKind {
    pub(super) fn has_line(self) -> bool {
        self != Self::Points
    }

    pub(super) fn has_markers(self) -> bool {
        matches!(self, Self::Points | Self::LinePoints)
    }
}

/// The uncertainty of the points of a [`Series`]: a lowest and a highest value
/// for each point, in the same order.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Spread {
    /// No interval.
    #[default]
    None,
    /// A whisker at each point.
    Whiskers(Vec<(f64, f64)>),
    /// A tinted band along the line.
    Band(Vec<(f64, f64)>),
}

impl Spread {
    pub(super) fn limits(&self) -> &[(f64, f64)] {
        match self {
            Self::None => &[],
            Self::Whiskers(limits) | Self::Band(limits) => limits,
        }
    }
}

/// A named series of points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The name in the legend; equal names share colour and entry.
    pub name: String,
    /// How the points are drawn.
    pub kind: SeriesKind,
    /// The points (x, y), in drawing order.
    pub points: Vec<(f64, f64)>,
    /// The uncertainty of each point.
    pub spread: Spread,
    /// Printed values to hold against the series: hollow markers.
    pub reference: Vec<(f64, f64)>,
    /// Single points that are marked, such as the end of a transfer.
    pub marks: Vec<(f64, f64)>,
    /// A fixed place in the palette, for one colour across several charts.
    pub slot: Option<usize>,
}

impl Series {
    fn new(
        name: impl Into<String>,
        kind: SeriesKind,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        Self {
            name: name.into(),
            kind,
            points: points.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Straight lines between the points.
    pub fn line(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, SeriesKind::Line, points)
    }

    /// A value that holds until the next point.
    pub fn step(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, SeriesKind::Step, points)
    }

    /// A marker at each point.
    pub fn points(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, SeriesKind::Points, points)
    }

    /// Markers with lines between them.
    pub fn line_points(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        Self::new(name, SeriesKind::LinePoints, points)
    }

    /// The cumulative distribution of `samples`: for each, the share of them that
    /// are not larger, from 0 to 1.
    pub fn cdf(name: impl Into<String>, samples: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = samples.into_iter().filter(|x| x.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let all = sorted.len() as f64;
        let shares = sorted.iter().enumerate();
        let shares = shares.map(|(i, x)| (*x, (i as f64 + 1.0) / all));
        let first = sorted.first().map(|x| (*x, 0.0));
        Self::new(name, SeriesKind::Step, first.into_iter().chain(shares))
    }

    /// Adds a whisker from low to high at each point, in the points' order.
    #[must_use]
    pub fn whiskers(mut self, limits: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.spread = Spread::Whiskers(limits.into_iter().collect());
        self
    }

    /// Adds a band from low to high along the points, in their order.
    #[must_use]
    pub fn band(mut self, limits: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.spread = Spread::Band(limits.into_iter().collect());
        self
    }

    /// Adds printed values: hollow markers in the colour of the series.
    #[must_use]
    pub fn reference(mut self, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.reference = points.into_iter().collect();
        self
    }

    /// Adds marks on the line, in its colour.
    #[must_use]
    pub fn marks(mut self, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.marks = points.into_iter().collect();
        self
    }

    setters! {
        /// Fixes the place in the palette.
        slot: usize;
    }
}

/// The corners of a line: the points, or the stairs through them.
pub(super) fn corners(
    kind: SeriesKind,
    points: impl IntoIterator<Item = (f64, f64)>,
) -> Vec<(f64, f64)> {
    let points = points.into_iter();
    if kind != SeriesKind::Step {
        return points.collect();
    }
    let mut corners = Vec::with_capacity(2 * points.size_hint().0);
    let mut level = f64::NAN;
    for (x, y) in points {
        // A missing value ends the tread and has no riser: the gap stays.
        if level.is_finite() {
            corners.push((x, level));
        }
        corners.push((x, y));
        level = y;
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_ends_at_one() {
        let cdf = Series::cdf("a", [3.0, f64::NAN, 1.0, 2.0, 2.0]);
        assert_eq!(
            cdf.points,
            [(1.0, 0.0), (1.0, 0.25), (2.0, 0.5), (2.0, 0.75), (3.0, 1.0)]
        );
        assert!(Series::cdf("a", []).points.is_empty());
    }

    #[test]
    fn a_step_holds_its_value() {
        let step = corners(SeriesKind::Step, [(0.0, 1.0), (2.0, 3.0), (4.0, 3.0)]);
        assert_eq!(
            step,
            [(0.0, 1.0), (2.0, 1.0), (2.0, 3.0), (4.0, 3.0), (4.0, 3.0)]
        );
    }

    #[test]
    fn a_step_keeps_its_gap() {
        let corners = corners(SeriesKind::Step, [(0.0, 1.0), (1.0, f64::NAN), (2.0, 5.0)]);
        assert_eq!(corners[..2], [(0.0, 1.0), (1.0, 1.0)]);
        assert!(corners[2].1.is_nan());
        assert_eq!(corners[3..], [(2.0, 5.0)]);
    }
}
