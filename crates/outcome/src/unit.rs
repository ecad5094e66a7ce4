//! The dimension of a number, and the units in which tables print it.

/// The dimension of a metric. Internally, everything is in the base unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A time, in seconds.
    Seconds,
    /// A rate, in bit/s.
    BitRate,
    /// A volume, in bytes.
    Bytes,
    /// A window or volume, in segments.
    Segments,
    /// A number of something.
    Count,
    /// A number from 0 to 1.
    Ratio,
    /// A ratio, printed in percent.
    Percent,
}

/// The units that tables may print, with the factor from the base unit. The
/// first of each is the base unit.
const TABLE: &[(Unit, &[(&str, f64)])] = &[
    (
        Unit::Seconds,
        &[("s", 1.0), ("ms", 1e3), ("us", 1e6), ("min", 1.0 / 60.0)],
    ),
    (
        Unit::BitRate,
        &[
            ("bit/s", 1.0),
            ("kbit/s", 1e-3),
            ("Kbit/s", 1e-3),
            ("Mbit/s", 1e-6),
            ("Gbit/s", 1e-9),
            ("B/s", 1.0 / 8.0),
            ("kB/s", 1.0 / 8e3),
            ("kbytes/s", 1.0 / 8e3),
            ("Kbytes/s", 1.0 / 8e3),
            ("MB/s", 1.0 / 8e6),
        ],
    ),
    (
        Unit::Bytes,
        &[
            ("B", 1.0),
            ("kB", 1e-3),
            ("Kbytes", 1e-3),
            ("MB", 1e-6),
            ("KiB", 1.0 / 1024.0),
        ],
    ),
    (Unit::Segments, &[("segments", 1.0)]),
    (Unit::Count, &[("", 1.0), ("packets", 1.0)]),
    (Unit::Ratio, &[("", 1.0), ("%", 100.0)]),
    (Unit::Percent, &[("%", 1.0)]),
];

impl Unit {
    fn forms(self) -> &'static [(&'static str, f64)] {
        TABLE
            .iter()
            .find(|(unit, _)| *unit == self)
            .map_or(&[], |(_, forms)| forms)
    }

    /// The name of the base unit; empty where there is none.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        self.forms().first().map_or("", |(name, _)| name)
    }

    /// What a number in the base unit is multiplied by to be in `unit`; `None`
    /// if that is not a unit of this.
    #[must_use]
    pub fn factor(self, unit: &str) -> Option<f64> {
        self.forms()
            .iter()
            .find(|(name, _)| *name == unit)
            .map(|(_, factor)| *factor)
    }

    /// The units that [`factor`](Unit::factor) knows.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.forms().iter().map(|(name, _)| *name)
    }

    /// The unit in which numbers up to `largest` are short, and the factor to it from
    /// the base unit.
    #[must_use]
    pub fn readable(self, largest: f64) -> (&'static str, f64) {
        let steps: &[(&str, f64)] = match self {
            Unit::Seconds => &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6)],
            Unit::Bytes => &[("MB", 1e6), ("kB", 1e3), ("B", 1.0)],
            Unit::BitRate => &[
                ("Gbit/s", 1e9),
                ("Mbit/s", 1e6),
                ("kbit/s", 1e3),
                ("bit/s", 1.0),
            ],
            Unit::Segments | Unit::Count | Unit::Ratio | Unit::Percent => {
                return (self.symbol(), 1.0);
            }
        };
        let step = steps.iter().find(|(_, size)| largest >= *size);
        step.and_then(|(name, _)| Some((*name, self.factor(name)?)))
            .unwrap_or((self.symbol(), 1.0))
    }

    /// In words: `a time`.
    #[must_use]
    pub fn article(self) -> &'static str {
        match self {
            Unit::Seconds => "a time",
            Unit::BitRate => "a rate",
            Unit::Bytes => "a size",
            Unit::Segments => "a number of segments",
            Unit::Count => "a count",
            Unit::Ratio => "a ratio from 0 to 1",
            Unit::Percent => "a percentage",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_short() {
        assert_eq!(Unit::Bytes.readable(3e6), ("MB", 1e-6));
        assert_eq!(Unit::Bytes.readable(3e5), ("kB", 1e-3));
        assert_eq!(Unit::Seconds.readable(0.6), ("ms", 1e3));
        assert_eq!(Unit::BitRate.readable(2e6), ("Mbit/s", 1e-6));
        assert_eq!(Unit::Ratio.readable(0.1), ("", 1.0));
    }

    #[test]
    fn every_unit_has_a_base_form() {
        assert_eq!(Unit::BitRate.factor("Kbytes/s"), Some(1.0 / 8000.0));
        assert_eq!(Unit::Seconds.factor("kB"), None);
        assert!(
            TABLE
                .iter()
                .all(|(unit, _)| unit.factor(unit.symbol()) == Some(1.0))
        );
    }
}
