//! Quantities as studies write them.

pub use bentpipe_outcome::Unit;
use bentpipe_units::{Bytes, Duration, Rate};

/// Reads `2 Mbit/s`, `511 ms`, `320 kB`, `1%` or a bare number: the number in
/// the base unit, and the unit if there is one. `None` for anything else.
#[must_use]
pub fn quantity(text: &str) -> Option<(f64, Option<Unit>)> {
    let text = text.trim();
    if let Ok(x) = text.parse::<f64>() {
        return x.is_finite().then_some((x, None));
    }
    if let Some(number) = text.strip_suffix('%') {
        let x: f64 = number.trim().parse().ok()?;
        return x.is_finite().then_some((x, Some(Unit::Percent)));
    }
    if let Ok(rate) = text.parse::<Rate>() {
        return Some((rate.bps_f64(), Some(Unit::BitRate)));
    }
    if let Ok(time) = text.parse::<Duration>() {
        return Some((seconds(time), Some(Unit::Seconds)));
    }
    if let Ok(size) = text.parse::<Bytes>() {
        return Some((size.as_f64(), Some(Unit::Bytes)));
    }
    None
}

/// A span in seconds, rounded correctly.
#[must_use]
pub(crate) fn seconds(d: Duration) -> f64 {
    d.as_nanos() as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_come_in_base_units() {
        assert_eq!(quantity("2 Mbit/s"), Some((2e6, Some(Unit::BitRate))));
        assert_eq!(quantity("511 ms"), Some((0.511, Some(Unit::Seconds))));
        assert_eq!(
            quantity("1048352 B"),
            Some((1_048_352.0, Some(Unit::Bytes)))
        );
        assert_eq!(quantity("1%"), Some((1.0, Some(Unit::Percent))));
        assert_eq!(quantity(" 7 "), Some((7.0, None)));
        assert_eq!(quantity("iw2"), None);
        assert_eq!(quantity("inf"), None);
    }
}
