//! A numeric axis: what the caller fills in.

/// How an axis maps values to positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScaleKind {
    /// Equal steps have equal lengths.
    #[default]
    Linear,
    /// Equal factors, base 10; shows positive values only.
    Log,
}

/// A numeric axis with label, range and scale.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// The label, with its unit: `time [s]`.
    pub label: String,
    /// Scale of the axis.
    pub kind: ScaleKind,
    /// The low end; without it, the data decide.
    pub min: Option<f64>,
    /// The high end; without it, the data decide.
    pub max: Option<f64>,
    /// Whether zero must be on a linear axis. Without it, an x axis follows the data, and a y axis
    /// shows zero where leaving it out would gain less than half of the axis. Bars always start at
    /// zero.
    pub zero: Option<bool>,
    /// Ranges that a linear axis leaves out, each shown as a gap across the panel.
    pub breaks: Vec<(f64, f64)>,
}

impl Axis {
    /// A linear axis whose range follows from the data.
    pub fn linear(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            ..Self::default()
        }
    }

    /// A logarithmic axis whose range follows from the data.
    pub fn log(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            kind: ScaleKind::Log,
            ..Self::default()
        }
    }

    setters! {
        /// Fixes the low end.
        min: f64;
        /// Fixes the high end.
        max: f64;
        /// Demands or forbids that zero be on the axis.
        zero: bool;
    }

    /// Fixes both ends, in units of the axis.
    #[must_use]
    pub fn range(self, min: f64, max: f64) -> Self {
        self.min(min).max(max)
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
