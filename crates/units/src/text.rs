//! The text forms of quantities: the one place where `2 Mbit/s`, `511 ms`,
//! `320 kB` and `1%` are read and written.
//!
//! Prefixes k, M, G are decimal (10^3, 10^6, 10^9); Ki, Mi, Gi are binary and
//! only for sizes. A unit must be written: a bare number is an error that says
//! which units are possible. The rate forms of `tc` and `iperf3` (`20Mbit`)
//! are understood.

use crate::{Bytes, Duration, Rate, Ratio, Time};
use core::fmt;
use core::str::FromStr;

/// Why a quantity could not be read, in words for the person who wrote it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found}: expected {expected}")]
pub struct ParseError {
    /// What was wrong with the text.
    pub found: String,
    /// What would have been right, with an example.
    pub expected: &'static str,
}

fn error(found: String, expected: &'static str) -> ParseError {
    ParseError { found, expected }
}

/// Splits `12.5 Mbit/s` into 12.5 and `Mbit/s`.
fn split<'a>(text: &'a str, expected: &'static str) -> Result<(f64, &'a str), ParseError> {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|&(i, c)| {
            let exponent = (c == 'e' || c == 'E')
                && text[i + 1..]
                    .trim_start_matches(['+', '-'])
                    .starts_with(|d: char| d.is_ascii_digit());
            let sign =
                (c == '-' || c == '+') && (i == 0 || matches!(text.as_bytes()[i - 1], b'e' | b'E'));
            !(c.is_ascii_digit() || c == '.' || c == '_' || exponent || sign)
        })
        .map_or(text.len(), |(i, _)| i);
    let number = text[..end].replace('_', "");
    let value: f64 = number
        .parse()
        .map_err(|_| error(format!("`{text}` does not start with a number"), expected))?;
    if value < 0.0 {
        return Err(error(format!("`{text}` is below zero"), expected));
    }
    if !value.is_finite() {
        return Err(error(format!("`{text}` is not a finite number"), expected));
    }
    Ok((value, text[end..].trim()))
}

fn unit_error(text: &str, unit: &str, expected: &'static str) -> ParseError {
    if unit.is_empty() {
        error(format!("`{}` has no unit", text.trim()), expected)
    } else {
        error(
            format!("unknown unit `{unit}` in `{}`", text.trim()),
            expected,
        )
    }
}

/// `x` scaled and rounded to whole units, or an error when it does not fit.
fn whole(x: f64, text: &str, expected: &'static str) -> Result<u64, ParseError> {
    let rounded = crate::math::floor(x + 0.5);
    if rounded >= 1.8e19 {
        return Err(error(format!("`{}` is too large", text.trim()), expected));
    }
    Ok(rounded as u64)
}

const DURATION: &str = "a time with its unit, such as `255.5 ms`, `0.6 s`, `40 us` or `2 min`";

impl FromStr for Duration {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Duration, ParseError> {
        let (value, unit) = split(text, DURATION)?;
        let ns = match unit {
            "ns" => 1.0,
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" | "sec" => 1e9,
            "min" => 60e9,
            "h" => 3600e9,
            _ => return Err(unit_error(text, unit, DURATION)),
        };
        Ok(Duration::from_nanos(whole(value * ns, text, DURATION)?))
    }
}

const RATE: &str = "a rate with its unit, such as `2 Mbit/s`, `500 kbit/s`, `20Mbit` or `1 Gbps`";

impl FromStr for Rate {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Rate, ParseError> {
        let (value, unit) = split(text, RATE)?;
        let bits = match unit {
            "bit/s" | "bps" | "bit" => 1.0,
            "kbit/s" | "kbps" | "kbit" | "Kbit/s" | "Kbit" | "kb/s" => 1e3,
            "Mbit/s" | "Mbps" | "Mbit" | "mbit" | "mbit/s" | "Mb/s" => 1e6,
            "Gbit/s" | "Gbps" | "Gbit" | "gbit" | "gbit/s" | "Gb/s" => 1e9,
            "B/s" => 8.0,
            "kB/s" => 8e3,
            "MB/s" => 8e6,
            _ => return Err(unit_error(text, unit, RATE)),
        };
        Ok(Rate::from_bps(whole(value * bits, text, RATE)?))
    }
}

const SIZE: &str = "a size with its unit, such as `3 MB`, `320 kB`, `64 KiB` or `1500 B`";

impl FromStr for Bytes {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Bytes, ParseError> {
        let (value, unit) = split(text, SIZE)?;
        let bytes = match unit {
            "B" | "byte" | "bytes" => 1.0,
            "kB" | "KB" | "k" => 1e3,
            "MB" | "M" => 1e6,
            "GB" | "G" => 1e9,
            "TB" => 1e12,
            "KiB" => 1024.0,
            "MiB" => 1_048_576.0,
            "GiB" => 1_073_741_824.0,
            _ => return Err(unit_error(text, unit, SIZE)),
        };
        Ok(Bytes::new(whole(value * bytes, text, SIZE)?))
    }
}

const RATIO: &str = "a ratio from 0 to 1, such as `0.01`, `1%` or `1e-3`";

impl FromStr for Ratio {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Ratio, ParseError> {
        let (value, unit) = split(text, RATIO)?;
        let value = match unit {
            "" => value,
            "%" => value / 100.0,
            _ => return Err(unit_error(text, unit, RATIO)),
        };
        Ratio::new(value)
            .ok_or_else(|| error(format!("`{}` is not from 0 to 1", text.trim()), RATIO))
    }
}

/// Prints `x` with as many decimals as it needs, at most nine.
fn trimmed(f: &mut fmt::Formatter<'_>, x: f64, unit: &str) -> fmt::Result {
    let text = format!("{x:.9}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    write!(f, "{text} {unit}")
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.as_nanos();
        match ns {
            0 => f.write_str("0 s"),
            u64::MAX => f.write_str("unlimited"),
            1..1_000 => write!(f, "{ns} ns"),
            1_000..1_000_000 => trimmed(f, ns as f64 / 1e3, "us"),
            1_000_000..1_000_000_000 => trimmed(f, ns as f64 / 1e6, "ms"),
            _ => trimmed(f, ns as f64 / 1e9, "s"),
        }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bps = self.bps();
        match bps {
            0..1_000 => write!(f, "{bps} bit/s"),
            1_000..1_000_000 => trimmed(f, bps as f64 / 1e3, "kbit/s"),
            1_000_000..1_000_000_000 => trimmed(f, bps as f64 / 1e6, "Mbit/s"),
            _ => trimmed(f, bps as f64 / 1e9, "Gbit/s"),
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.get();
        match n {
            u64::MAX => f.write_str("unlimited"),
            0..10_000 => write!(f, "{n} B"),
            10_000..1_000_000 => trimmed(f, n as f64 / 1e3, "kB"),
            1_000_000..1_000_000_000 => trimmed(f, n as f64 / 1e6, "MB"),
            _ => trimmed(f, n as f64 / 1e9, "GB"),
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.6}", self.get() * 100.0);
        write!(f, "{}%", text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_the_forms_of_the_field() {
        assert_eq!("2 Mbit/s".parse(), Ok(Rate::from_mbps(2)));
        assert_eq!("20Mbit".parse(), Ok(Rate::from_mbps(20)));
        assert_eq!("500 kbit/s".parse(), Ok(Rate::from_bps(500_000)));
        assert_eq!("625 kB/s".parse(), Ok(Rate::from_mbps(5)));
        assert_eq!("255.5 ms".parse(), Ok(Duration::from_nanos(255_500_000)));
        assert_eq!("0.6s".parse(), Ok(Duration::from_millis(600)));
        assert_eq!("64 KiB".parse(), Ok(Bytes::new(65_536)));
        assert_eq!("2_788_848 B".parse(), Ok(Bytes::new(2_788_848)));
        assert_eq!("1%".parse(), Ok(Ratio::new(0.01).unwrap_or_default()));
        assert_eq!("1e-3".parse(), Ok(Ratio::new(0.001).unwrap_or_default()));
    }

    #[test]
    fn a_missing_unit_is_named() {
        let e = "2000000".parse::<Rate>().unwrap_err();
        assert_eq!(e.found, "`2000000` has no unit");
        let e = "5 parsec".parse::<Duration>().unwrap_err();
        assert_eq!(e.found, "unknown unit `parsec` in `5 parsec`");
        assert!("-1 s".parse::<Duration>().is_err());
        assert!("1.5".parse::<Ratio>().is_err());
        assert!("".parse::<Bytes>().is_err());
        assert!("1e400 s".parse::<Duration>().is_err());
    }

    proptest! {
        #[test]
        fn printing_and_reading_give_the_same_duration(ns in 0u64..1_000_000_000_000_000) {
            let d = Duration::from_nanos(ns);
            prop_assert_eq!(d.to_string().parse::<Duration>().unwrap(), d);
        }

        #[test]
        fn printing_and_reading_give_the_same_rate(bps in 0u64..1_000_000_000_000) {
            let r = Rate::from_bps(bps);
            prop_assert_eq!(r.to_string().parse::<Rate>().unwrap(), r);
        }

        #[test]
        fn printing_and_reading_give_the_same_size(n in 0u64..1_000_000_000_000) {
            let b = Bytes::new(n);
            prop_assert_eq!(b.to_string().parse::<Bytes>().unwrap(), b);
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,24}") {
            let _ = text.parse::<Rate>();
            let _ = text.parse::<Duration>();
            let _ = text.parse::<Bytes>();
            let _ = text.parse::<Ratio>();
        }
    }
}
