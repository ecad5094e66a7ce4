//! What panels show besides series: bars, boxes and maps.

use super::axis::Axis;

/// The groups of bars of a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// The label of the category axis; may be empty.
    pub label: String,
    /// One group of bars for each.
    pub categories: Vec<String>,
    /// One bar in each group for each, in the same order.
    pub series: Vec<BarSeries>,
    /// Whether the bars of a group share one place: for series of which each category has one.
    pub overlaid: bool,
}

/// The bars of one name, one for each category.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarSeries {
    /// The name in the legend.
    pub name: String,
    /// The heights, in the order of the categories; one that is not finite
    /// leaves its place empty.
    pub values: Vec<f64>,
    /// Whiskers (low, high) in the same order; may be shorter or empty.
    pub limits: Vec<(f64, f64)>,
    /// Printed values in the same order; may be shorter or empty.
    pub reference: Vec<f64>,
    /// Texts next to horizontal bars, in the same order; may be shorter or empty.
    pub labels: Vec<String>,
    /// A fixed place in the palette, for one colour across several charts.
    pub slot: Option<usize>,
}

impl BarSeries {
    /// Bars of one name, in the order of the categories.
    pub fn new(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        Self {
            name: name.into(),
            values: values.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Adds whiskers from low to high.
    #[must_use]
    pub fn whiskers(mut self, limits: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.limits = limits.into_iter().collect();
        self
    }

    /// Adds printed values: a hollow outline with a bold upper edge.
    #[must_use]
    pub fn reference(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.reference = values.into_iter().collect();
        self
    }

    /// Adds texts next to horizontal bars.
    #[must_use]
    pub fn labels(mut self, texts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.labels = texts.into_iter().map(Into::into).collect();
        self
    }

    setters! {
        /// Fixes the place in the palette.
        slot: usize;
    }
}

impl Bars {
    /// Everything that the y axis should reach.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        self.series.iter().flat_map(|s| {
            let limits = s.limits.iter().flat_map(|(low, high)| [*low, *high]);
            s.values
                .iter()
                .copied()
                .chain(limits)
                .chain(s.reference.iter().copied())
        })
    }
}

/// The groups of boxes of a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Boxes {
    /// The label of the category axis; may be empty.
    pub label: String,
    /// One group of boxes for each.
    pub categories: Vec<String>,
    /// One box in each group for each, in the same order.
    pub series: Vec<BoxSeries>,
}

/// The boxes of one name, one for each category.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxSeries {
    /// The name in the legend.
    pub name: String,
    /// The boxes, in the order of the categories; `None` leaves a place empty.
    pub boxes: Vec<Option<BoxMarks>>,
    /// Printed values in the same order; may be shorter or empty.
    pub reference: Vec<f64>,
    /// A fixed place in the palette, for one colour across several charts.
    pub slot: Option<usize>,
}

/// Statistics of the samples that a box shows.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxMarks {
    /// The smallest sample within 1.5 times the height of the box.
    pub low: f64,
    /// Lower quartile, in units of the axis.
    pub lower: f64,
    /// Median, in units of the axis.
    pub median: f64,
    /// Upper quartile, in units of the axis.
    pub upper: f64,
    /// The largest sample within 1.5 times the height of the box.
    pub high: f64,
    /// Outliers: samples beyond the whiskers.
    pub beyond: Vec<f64>,
}

impl BoxMarks {
    /// The box of some samples; nothing if none is finite. Quartiles are
    /// interpolated between the two nearest samples.
    #[must_use]
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = samples.iter().copied().filter(|x| x.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let quantile = |share: f64| {
            let at = share * last as f64;
            let below = at as usize;
            let above = sorted[(below + 1).min(last)];
            sorted[below] + (at - below as f64) * (above - sorted[below])
        };
        let (lower, upper) = (quantile(0.25), quantile(0.75));
        let reach = 1.5 * (upper - lower);
        let within = |x: &&f64| **x >= lower - reach && **x <= upper + reach;
        Some(Self {
            low: sorted.iter().find(within).copied().unwrap_or(lower),
            lower,
            median: quantile(0.5),
            upper,
            high: sorted.iter().rev().find(within).copied().unwrap_or(upper),
            beyond: sorted.iter().filter(|x| !within(x)).copied().collect(),
        })
    }
}

impl BoxSeries {
    /// Boxes of one name, in the order of the categories.
    pub fn new(name: impl Into<String>, boxes: impl IntoIterator<Item = Option<BoxMarks>>) -> Self {
        Self {
            name: name.into(),
            boxes: boxes.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Adds printed values: a bold line across the box.
    #[must_use]
    pub fn reference(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.reference = values.into_iter().collect();
        self
    }
}

impl Boxes {
    /// Everything that the y axis should reach.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        self.series.iter().flat_map(|s| {
            let boxes = s.boxes.iter().flatten();
            boxes
                .flat_map(|b| [b.low, b.high].into_iter().chain(b.beyond.iter().copied()))
                .chain(s.reference.iter().copied())
        })
    }
}

/// A map of coloured cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heat {
    /// The label of the columns; may be empty.
    pub label: String,
    /// The names of the columns, from left to right.
    pub columns: Vec<String>,
    /// The names of the rows, from top to bottom.
    pub rows: Vec<String>,
    /// The numbers, row by row; one that is not finite leaves its cell empty.
    pub values: Vec<Vec<f64>>,
    /// The colour scale: the axis next to the map.
    pub scale: Axis,
    /// Digits after the point of the numbers in the cells.
    pub decimals: usize,
}

impl Heat {
    /// The numbers that the colours must reach.
    pub(super) fn numbers(&self) -> impl Iterator<Item = f64> {
        let known = self.values.iter().take(self.rows.len());
        known
            .flat_map(|row| row.iter().take(self.columns.len()))
            .copied()
            .filter(|v| self.scale.accepts(*v))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_whiskers_and_what_is_beyond() {
        let marks = BoxMarks::of(&[5.0, 1.0, 2.0, 4.0, 3.0, 30.0, f64::NAN]).expect("samples");
        assert_eq!((marks.lower, marks.median, marks.upper), (2.25, 3.5, 4.75));
        assert_eq!((marks.low, marks.high), (1.0, 5.0));
        assert_eq!(marks.beyond, [30.0]);
        assert_eq!(BoxMarks::of(&[]), None);
        let one = BoxMarks::of(&[7.0]).expect("a sample");
        assert_eq!((one.low, one.median, one.high), (7.0, 7.0, 7.0));
    }
}
