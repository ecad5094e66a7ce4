//! The unit in which numbers of a column are shown.

use bentpipe_study::Unit;
use serde_json::{Value, json};

/// The unit in which numbers are shown: one for all of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    /// The unit; may be empty.
    pub(super) unit: &'static str,
    /// What a number in the base unit is multiplied by.
    pub(super) factor: f64,
    /// Digits after the point.
    pub(super) decimals: usize,
}

impl Scale {
    /// The scale that suits numbers in the base unit `unit`, as columns name it.
    pub(super) fn of(unit: &'static str, values: impl Iterator<Item = f64>) -> Scale {
        let (mut largest, mut is_whole) = (0.0_f64, true);
        for value in values.filter(|x| x.is_finite()) {
            largest = largest.max(value.abs());
            is_whole &= value.fract() == 0.0;
        }
        let (name, factor) = match measure(unit) {
            Some(measure) => measure.readable(largest),
            None if ["count", "ratio"].contains(&unit) => ("", 1.0),
            None => (unit, 1.0),
        };
        let shown = largest * factor;
        let decimals = match shown {
            _ if is_whole && factor >= 1.0 => 0,
            x if x >= 1000.0 => 0,
            x if x >= 100.0 => 1,
            x if x >= 10.0 => 2,
            x if x >= 0.1 => 3,
            x if x >= 0.001 => 5,
            _ => 7,
        };
        Scale {
            unit: name,
            factor,
            decimals,
        }
    }

    /// As the page gets it.
    pub(super) fn document(self) -> Value {
        json!({ "unit": self.unit, "factor": self.factor, "decimals": self.decimals })
    }
}

/// What a column of that unit measures, where it has units of several sizes.
fn measure(unit: &str) -> Option<Unit> {
    let all = [Unit::Seconds, Unit::BitRate];
    let named = all.into_iter().find(|measure| measure.symbol() == unit);
    named.or((unit == "bytes").then_some(Unit::Bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let scale = |unit, values: &[f64]| {
            let scale = Scale::of(unit, values.iter().copied());
            (scale.unit, scale.factor, scale.decimals)
        };
        assert_eq!(scale("s", &[0.511, 0.02]), ("ms", 1e3, 1));
        assert_eq!(scale("s", &[12.5]), ("s", 1.0, 2));
        assert_eq!(scale("bit/s", &[1.5e6]), ("Mbit/s", 1e-6, 3));
        assert_eq!(scale("count", &[3.0, 200.0]), ("", 1.0, 0));
        assert_eq!(scale("segments", &[3.5]), ("segments", 1.0, 3));
        assert_eq!(scale("s", &[]), ("s", 1.0, 0));
    }
}
