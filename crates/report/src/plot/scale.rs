//! From numbers to pixels: the range of an axis, its place on the page, and the
//! ticks that a reader can count in.

use super::axis::{Axis, ScaleKind};
use super::number::{exponent, linear_labels, log_label, pow10};

/// No axis reaches further: differences of such numbers are still finite.
const HUGEST: f64 = 1e300;
/// Below this, a linear axis takes everything for zero.
const TINIEST: f64 = 1e-290;

/// An axis with its range and its place.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    kind: ScaleKind,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    /// What a linear axis leaves out, in ascending order, without overlaps.
    breaks: Vec<(f64, f64)>,
}

/// The width of a gap for an omitted range, pixels.
const BREAK: f64 = 10.0;

impl Scale {
    /// Places the range `low..high` on the pixels `from..to`; a y axis has
    /// `from` below `to` on the page, that is, larger.
    pub(super) fn new(kind: ScaleKind, (low, high): (f64, f64), from: f64, to: f64) -> Self {
        Self {
            kind,
            low,
            high,
            from,
            to,
            breaks: Vec::new(),
        }
    }

    /// The same without the ranges `breaks`, where they leave something of it and
    /// do not overlap.
    pub(super) fn broken(mut self, breaks: &[(f64, f64)]) -> Self {
        if self.kind == ScaleKind::Log {
            return self;
        }
        let mut inside: Vec<(f64, f64)> = breaks
            .iter()
            .map(|(a, b)| (a.min(*b), a.max(*b)))
            .filter(|(a, b)| *a > self.low && *b < self.high && a < b)
            .collect();
        inside.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (from, to) in inside {
            let room = (self.breaks.len() + 1) as f64 * BREAK < 0.5 * (self.to - self.from).abs();
            if room && self.breaks.last().is_none_or(|last| last.1 < from) {
                self.breaks.push((from, to));
            }
        }
        self
    }

    /// The pixels of the gaps: of the low and of the high end of each.
    pub(super) fn gaps(&self) -> impl Iterator<Item = (f64, f64)> {
        let ends = |(low, high): &(f64, f64)| Some((self.at(*low)?, self.at(*high)?));
        self.breaks.iter().filter_map(ends)
    }

    /// Whether a value is in a range that is left out.
    fn left_out(&self, value: f64) -> bool {
        self.breaks.iter().any(|(a, b)| value > *a && value < *b)
    }

    /// The pixel of a value on an axis with gaps.
    fn at_broken(&self, value: f64) -> f64 {
        let skipped: f64 = self.breaks.iter().map(|(a, b)| b - a).sum();
        let length = self.to - self.from;
        let gap = BREAK.copysign(length);
        let unit = (length - gap * self.breaks.len() as f64) / (self.high - self.low - skipped);
        let mut pixel = self.from + (value - self.low) * unit;
        for (a, b) in &self.breaks {
            if value >= *b {
                pixel += gap - (b - a) * unit;
            } else if value > *a {
                let share = (value - a) / (b - a);
                pixel += share * gap - (value - a) * unit;
            }
        }
        pixel
    }

    /// The pixel of a value; nothing for what the axis cannot show at all.
    pub(super) fn at(&self, value: f64) -> Option<f64> {
        if !value.is_finite() {
            return None;
        }
        if !self.breaks.is_empty() {
            let pixel = self.at_broken(value);
            return pixel.is_finite().then(|| pixel.clamp(-1e5, 1e5));
        }
        let share = match self.kind {
            ScaleKind::Linear => (value - self.low) / (self.high - self.low),
            ScaleKind::Log if value > 0.0 => {
                let low = libm::log10(self.low);
                (libm::log10(value) - low) / (libm::log10(self.high) - low)
            }
            ScaleKind::Log => return None,
        };
        let pixel = self.from + share * (self.to - self.from);
        pixel.is_finite().then(|| pixel.clamp(-1e5, 1e5))
    }

    /// Whether a value lies within the range.
    pub(super) fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The base of bars and areas: zero if it is on the axis, else the nearest end.
    pub(super) fn base(&self) -> f64 {
        0.0_f64.clamp(self.low, self.high)
    }

    /// The low end of the range.
    pub(super) fn lowest(&self) -> f64 {
        self.low
    }

    /// The ticks for about `target` labels.
    pub(super) fn ticks(&self, target: usize) -> Ticks {
        match self.kind {
            ScaleKind::Linear if !self.breaks.is_empty() => {
                let skipped: f64 = self.breaks.iter().map(|(a, b)| b - a).sum();
                let step = nice_step(self.high - self.low - skipped, target);
                let share = (self.high - self.low) / step;
                // Too many steps to walk through: only the ends of what is shown.
                if share > 10_000.0 {
                    return linear_ticks(self.low, self.breaks[0].0, target);
                }
                let mut ticks = linear_ticks(self.low, self.high, share.ceil() as usize);
                // The two ends of a gap are too near each other for two labels.
                let at_end = |v: f64| self.breaks.iter().any(|(_, b)| (v - b).abs() < 0.5 * step);
                ticks
                    .major
                    .retain(|(v, _)| !self.left_out(*v) && !at_end(*v));
                ticks
            }
            ScaleKind::Linear => linear_ticks(self.low, self.high, target),
            ScaleKind::Log => log_ticks(self.low, self.high, target),
        }
    }
}

/// Where an axis bears labels and where only grid lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ticks {
    pub(super) major: Vec<(f64, String)>,
    pub(super) minor: Vec<f64>,
}

/// How an automatic range exceeds its data, as shares of the range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Padding {
    pub(super) low: f64,
    pub(super) high: f64,
}

/// The range of an axis: what the caller fixed, else what the values need.
/// Always two different finite numbers in ascending order, positive ones on a
/// logarithmic axis.
pub(super) fn range(
    axis: &Axis,
    values: impl Iterator<Item = f64>,
    padding: Padding,
) -> (f64, f64) {
    let found = values
        .filter(|v| axis.accepts(*v))
        .fold(None, |seen, v| match seen {
            None => Some((v, v)),
            Some((low, high)) => Some((v.min(low), v.max(high))),
        });
    let fixed_low = axis.min.filter(|v| axis.accepts(*v));
    let fixed_high = axis.max.filter(|v| axis.accepts(*v));
    let (fixed_low, fixed_high) = match (fixed_low, fixed_high) {
        (Some(low), Some(high)) if low > high => (Some(high), Some(low)),
        other => other,
    };
    let (low, high) = match axis.kind {
        ScaleKind::Linear => linear_range(axis, found, padding),
        ScaleKind::Log => log_range(found, padding),
    };
    let (low, high) = match (fixed_low, fixed_high) {
        (None, None) => (low, high),
        (Some(fixed), None) => (
            fixed,
            if high > fixed {
                high
            } else {
                above(axis.kind, fixed)
            },
        ),
        (None, Some(fixed)) => (
            if low < fixed {
                low
            } else {
                below(axis.kind, fixed)
            },
            fixed,
        ),
        (Some(low), Some(high)) => (low, high),
    };
    separate(axis.kind, low, high)
}

fn linear_range(axis: &Axis, found: Option<(f64, f64)>, padding: Padding) -> (f64, f64) {
    let (low, high) = found.unwrap_or((0.0, 1.0));
    let (mut low, mut high) = (low.clamp(-HUGEST, HUGEST), high.clamp(-HUGEST, HUGEST));
    let span = high - low;
    let zero = axis.zero.unwrap_or_else(|| {
        // Where zero costs less than half of the axis, leaving it out would
        // mislead more than it shows.
        (low >= 0.0 && low <= span) || (high <= 0.0 && -high <= span)
    });
    if zero {
        (low, high) = (low.min(0.0), high.max(0.0));
    }
    (low, high) = separate(ScaleKind::Linear, low, high);
    let span = high - low;
    // A zero that ends the axis is the base of the data: no gap below.
    let ends_at_zero = |end: f64| end == 0.0;
    let padded_low = if ends_at_zero(low) {
        low
    } else {
        low - padding.low * span
    };
    let padded_high = if ends_at_zero(high) {
        high
    } else {
        high + padding.high * span
    };
    (padded_low, padded_high)
}

fn log_range(found: Option<(f64, f64)>, padding: Padding) -> (f64, f64) {
    let (low, high) = found.unwrap_or((1.0, 10.0));
    let (low, high) = separate(ScaleKind::Log, low, high);
    let decades = libm::log10(high) - libm::log10(low);
    let low = low * libm::pow(10.0, -padding.low * decades);
    let high = high * libm::pow(10.0, padding.high * decades);
    (low.max(f64::MIN_POSITIVE), high.min(HUGEST))
}

/// A range with a visible extent.
fn separate(kind: ScaleKind, low: f64, high: f64) -> (f64, f64) {
    match kind {
        ScaleKind::Linear => {
            let (low, high) = (low.clamp(-HUGEST, HUGEST), high.clamp(-HUGEST, HUGEST));
            let size = low.abs().max(high.abs());
            if size < TINIEST {
                (0.0, 1.0)
            } else if high - low > 1e-10 * size {
                (low, high)
            } else {
                // One value only: in the middle.
                (low - 0.1 * size, high + 0.1 * size)
            }
        }
        ScaleKind::Log => {
            let low = low.clamp(f64::MIN_POSITIVE, HUGEST);
            let high = high.clamp(f64::MIN_POSITIVE, HUGEST);
            if high / low > 1.0 + 1e-9 {
                (low, high)
            } else {
                ((low / 2.0).max(f64::MIN_POSITIVE), (high * 2.0).min(HUGEST))
            }
        }
    }
}

fn above(kind: ScaleKind, low: f64) -> f64 {
    match kind {
        ScaleKind::Linear => low + low.abs().max(1.0),
        ScaleKind::Log => low * 10.0,
    }
}

fn below(kind: ScaleKind, high: f64) -> f64 {
    match kind {
        ScaleKind::Linear => high - high.abs().max(1.0),
        ScaleKind::Log => high / 10.0,
    }
}

/// The smallest of 1, 2, 5 times a power of ten that cuts `span` into at most
/// `target` steps.
pub(super) fn nice_step(span: f64, target: usize) -> f64 {
    let raw = span / target.max(1) as f64;
    let unit = exponent(raw);
    for digit in [1.0, 2.0, 5.0] {
        let step = digit * pow10(unit);
        if step >= raw * (1.0 - 1e-9) {
            return step;
        }
    }
    pow10(unit + 1)
}

fn linear_ticks(low: f64, high: f64, target: usize) -> Ticks {
    let step = nice_step(high - low, target);
    let first = (low / step - 1e-9).ceil();
    let count = ((high - low) / step) as usize + 1;
    let slack = 1e-9 * step;
    let values: Vec<f64> = (0..=count)
        .map(|i| (first + i as f64) * step)
        .filter(|v| *v >= low - slack && *v <= high + slack)
        .map(|v| v.clamp(low, high))
        .collect();
    let labels = linear_labels(&values, step);
    Ticks {
        major: values.into_iter().zip(labels).collect(),
        minor: Vec::new(),
    }
}

fn log_ticks(low: f64, high: f64, target: usize) -> Ticks {
    let target = target.max(1);
    let (bottom, top) = (exponent(low), exponent(high));
    // The text of a power may miss it by a rounding: allow for it.
    let inside = |v: f64| v >= low * (1.0 - 1e-9) && v <= high * (1.0 + 1e-9);
    let mut decades = Vec::new();
    let mut between = Vec::new();
    for power in bottom..=top {
        for digit in 1..10 {
            let value = f64::from(digit) * pow10(power);
            if inside(value) {
                let place = (digit, power, value.clamp(low, high));
                if digit == 1 {
                    decades.push(place)
                } else {
                    between.push(place)
                }
            }
        }
    }
    let halves = || between.iter().filter(|(digit, ..)| matches!(digit, 2 | 5));
    let (labelled, minor): (Vec<_>, Vec<f64>) = if decades.len() > 1 {
        if decades.len() <= 3 && decades.len() + halves().count() <= target {
            let mut labelled: Vec<_> = decades.iter().chain(halves()).copied().collect();
            labelled.sort_by(|a, b| a.2.total_cmp(&b.2));
            let rest = between.iter().filter(|(digit, ..)| !matches!(digit, 2 | 5));
            (labelled, rest.map(|p| p.2).collect())
        } else {
            let stride = decades.len().div_ceil(target) as i32;
            let (labelled, skipped): (Vec<_>, Vec<_>) = decades
                .into_iter()
                .partition(|p| p.1.rem_euclid(stride) == 0);
            // Nine lines a decade are a grid; over many decades, a fog.
            let minor = if stride == 1 && top - bottom <= 12 {
                between
            } else {
                skipped
            };
            (labelled, minor.into_iter().map(|p| p.2).collect())
        }
    } else if decades.len() + halves().count() >= 2 {
        let mut labelled: Vec<_> = decades.iter().chain(halves()).copied().collect();
        labelled.sort_by(|a, b| a.2.total_cmp(&b.2));
        (labelled, between.iter().map(|p| p.2).collect())
    } else {
        // Less than an octave or so: round numbers, unevenly spaced.
        return linear_ticks(low, high, target.min(4));
    };
    let plain = labelled.iter().all(|p| (-3..=5).contains(&p.1));
    let major = labelled
        .into_iter()
        .map(|(d, p, v)| (v, log_label(d, p, plain)))
        .collect();
    Ticks { major, minor }
}

/// The richest ticks, from `target` labels downwards, whose labels stay
/// `gap` pixels apart; `extent` is the size of a label along the axis.
pub(super) fn fit(scale: &Scale, target: usize, gap: f64, extent: impl Fn(&str) -> f64) -> Ticks {
    let apart = |ticks: &Ticks| {
        let mut spans: Vec<(f64, f64)> = ticks
            .major
            .iter()
            .filter_map(|(value, label)| {
                let half = extent(label) / 2.0;
                scale.at(*value).map(|at| (at - half, at + half))
            })
            .collect();
        spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        spans.windows(2).all(|pair| pair[0].1 + gap <= pair[1].0)
    };
    for target in (1..=target.max(1)).rev() {
        let ticks = scale.ticks(target);
        if apart(&ticks) {
            return ticks;
        }
    }
    let mut ticks = scale.ticks(1);
    ticks.major.truncate(1);
    ticks
}

#[cfg(test)]
#[path = "scale_tests.rs"]
mod tests;
