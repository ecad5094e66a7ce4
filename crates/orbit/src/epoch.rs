//! Calendar instants and the angle of the earth.
//!
//! Greenwich mean sidereal time: IAU 1982 (Vallado, "Fundamentals of Astrodynamics", equation
//! 3-45), with UT1 taken as UTC and without leap seconds: an error of less than a second, 0.004
//! degrees of rotation, 0.5 km on the ground.

use core::fmt;
use core::str::FromStr;

use bentpipe_units::Time;

use crate::quantity::Angle;

/// An instant in UTC, to the nanosecond: what time 0 of a run means where a
/// calendar is needed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Utc {
    /// Nanoseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
    nanos: i64,
}

/// Why a text is no [`Utc`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no instant: expected a UTC date and time such as 2026-03-20T12:00:00Z")]
pub struct UtcError(String);

/// Nanoseconds from 1970-01-01T00:00 to 2000-01-01T12:00.
const J2000: i64 = 946_728_000 * 1_000_000_000;

impl Utc {
    /// `nanos` nanoseconds after 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn from_unix_nanos(nanos: i64) -> Utc {
        Utc { nanos }
    }

    /// Nanoseconds after 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn unix_nanos(self) -> i64 {
        self.nanos
    }

    /// The instant at `time` of a run whose time 0 is this one.
    #[must_use]
    pub fn at(self, time: Time) -> Utc {
        let nanos = i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        Utc {
            nanos: self.nanos.saturating_add(nanos),
        }
    }

    /// Minutes from `earlier` to this instant; negative if it is later.
    #[must_use]
    pub fn minutes_since(self, earlier: Utc) -> f64 {
        (i128::from(self.nanos) - i128::from(earlier.nanos)) as f64 / 60e9
    }

    /// Greenwich mean sidereal time: how far 0 E has turned from the vernal
    /// equinox, between 0 and 360 degrees.
    #[must_use]
    pub fn sidereal_angle(self) -> Angle {
        let days = (i128::from(self.nanos) - i128::from(J2000)) as f64 / 86_400e9;
        let t = days / 36_525.0;
        // Whole turns a day are taken out before they cost digits.
        let day_fraction = days.rem_euclid(1.0);
        let seconds = 67_310.548_41
            + 86_400.0 * day_fraction
            + (8_640_184.812_866 + (0.093_104 - 6.2e-6 * t) * t) * t;
        Angle::from_degrees((seconds / 240.0).rem_euclid(360.0))
    }
}

impl FromStr for Utc {
    type Err = UtcError;

    /// `2026-03-20T12:00:00.5Z`; a blank may replace `T`; seconds, their fraction and `Z` may be
    /// missing.
    fn from_str(text: &str) -> Result<Utc, UtcError> {
        parse(text).ok_or_else(|| UtcError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Utc> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (date, clock) = text.split_once(['T', ' '])?;
    let mut parts = date.split('-').map(digits);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let mut clock = clock.split(':');
    let hour = digits(clock.next()?)?;
    let minute = digits(clock.next()?)?;
    let (second, fraction) = match clock.next() {
        None => (0, 0),
        Some(seconds) => {
            let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
            (digits(whole)?, nanos(fraction)?)
        }
    };
    if parts.next().is_some() || clock.next().is_some() {
        return None;
    }
    let days_of_month = match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => return None,
    };
    let sound = (1900..=2200).contains(&year)
        && (1..=days_of_month).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !sound {
        return None;
    }
    let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    Some(Utc {
        nanos: seconds * 1_000_000_000 + fraction,
    })
}

/// Days from 1970-01-01 (H. Hinnant, "chrono-compatible low-level date
/// algorithms").
fn days(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let of_era = y.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn digits(text: &str) -> Option<i64> {
    let sound = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    sound.then(|| text.parse().ok()).flatten()
}

fn nanos(fraction: &str) -> Option<i64> {
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut digits = fraction.bytes().chain(core::iter::repeat(b'0'));
    Some((0..9).fold(0, |n, _| {
        n * 10 + i64::from(digits.next().unwrap_or(b'0') - b'0')
    }))
}

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.nanos.div_euclid(1_000_000_000);
        let (z, clock) = (
            seconds.div_euclid(86_400) + 719_468,
            seconds.rem_euclid(86_400),
        );
        let era = z.div_euclid(146_097);
        let doe = z.rem_euclid(146_097);
        let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let day = doy - (153 * mp + 2) / 5 + 1;
        let month = if mp < 10 { mp + 3 } else { mp - 9 };
        let year = yoe + era * 400 + i64::from(month <= 2);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}",
            clock / 3600,
            clock / 60 % 60,
            clock % 60
        )?;
        let fraction = self.nanos.rem_euclid(1_000_000_000);
        if fraction != 0 {
            write!(f, ".{}", format!("{fraction:09}").trim_end_matches('0'))?;
        }
        f.write_str("Z")
    }
}

impl fmt::Debug for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sidereal_time_of_vallado() {
        // Vallado, example 3-5: 1992-08-20 12:14 UT1, 152.578 787 810 degrees.
        let instant: Utc = "1992-08-20T12:14:00Z".parse().unwrap();
        let angle = instant.sidereal_angle().degrees();
        assert!((angle - 152.578_787_81).abs() < 1e-6, "{angle}");
    }

    #[test]
    fn instants_are_read_and_printed() {
        for text in [
            "1970-01-01T00:00:00Z",
            "2000-02-29T23:59:59.5Z",
            "2026-11-21T22:55:00.000000001Z",
        ] {
            let instant: Utc = text.parse().unwrap();
            assert_eq!(instant.to_string(), text);
        }
        let j2000: Utc = "2000-01-01 12:00".parse().unwrap();
        assert_eq!(j2000.unix_nanos(), J2000);
    }

    #[test]
    fn what_is_no_instant() {
        for text in [
            "",
            "2026",
            "2026-02-29T00:00Z",
            "2026-01-01T24:00Z",
            "x-y-zT0:0",
        ] {
            assert!(text.parse::<Utc>().is_err(), "{text}");
        }
    }
}
