//! How the delay of a link varies, as a user writes it: `5 ms`, or `pareto 5 ms
//! correlation 25% held 15 ms`.

use bentpipe_link::{DelayDistribution, JitterSettings};
use bentpipe_units::{Duration, Ratio};
use std::fmt;
use std::str::FromStr;

/// The shapes by name; normal unless another is named, as people mean it.
const SHAPES: [&str; 4] = ["normal", "uniform", "pareto", "pareto-normal"];

/// The longest deviation.
const LONGEST: Duration = Duration::from_secs(60);

/// How the one-way delay varies, both ways and independently: packets keep their order.
///
/// ```
/// use bentpipe::compare::Jitter;
/// use bentpipe_units::Duration;
///
/// let jitter: Jitter = "pareto 5 ms held 15 ms".parse()?;
/// assert_eq!(jitter.settings().holds, Duration::from_millis(15));
/// assert_eq!(jitter.to_string(), "pareto 5 ms held 15 ms");
/// assert_eq!("5ms".parse::<Jitter>()?.to_string(), "normal 5 ms");
/// assert!("gauss 5 ms".parse::<Jitter>().is_err());
/// # Ok::<(), bentpipe::compare::JitterError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Jitter {
    shape: usize,
    /// The deviation; of `uniform` the largest difference.
    size: Duration,
    correlation: Ratio,
    holds: Duration,
}

impl Jitter {
    /// The variation of each way of the link.
    #[must_use]
    pub fn settings(&self) -> JitterSettings {
        let deviation = self.size;
        JitterSettings {
            distribution: match self.shape {
                1 => DelayDistribution::Uniform { spread: deviation },
                2 => DelayDistribution::Pareto { deviation },
                3 => DelayDistribution::ParetoNormal { deviation },
                _ => DelayDistribution::Normal { deviation },
            },
            correlation: self.correlation,
            holds: self.holds,
        }
    }
}

impl fmt::Display for Jitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", SHAPES[self.shape], self.size)?;
        if self.correlation > Ratio::ZERO {
            write!(f, " correlation {}", self.correlation)?;
        }
        if !self.holds.is_zero() {
            write!(f, " held {}", self.holds)?;
        }
        Ok(())
    }
}

/// Why a text is no jitter, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JitterError(String);

const EXPECTED: &str = "expected a deviation of the one-way delay, such as `5 ms`, with its shape, \
                        as in `uniform 5 ms`, `pareto 5 ms` or `pareto-normal 5 ms`, and after it \
                        `correlation 25%` or `held 15 ms` where draws depend on each other or last";

impl FromStr for Jitter {
    type Err = JitterError;

    fn from_str(text: &str) -> Result<Jitter, JitterError> {
        let wrong = |why: String| JitterError(format!("{why}; {EXPECTED}"));
        let time = |text: &str| {
            let time = text.trim().parse::<Duration>();
            let time = time.map_err(|why| wrong(why.to_string()))?;
            match time > LONGEST {
                true => Err(wrong(format!("`{}` is longer than {LONGEST}", text.trim()))),
                false => Ok(time),
            }
        };
        let (rest, holds) = match text.split_once("held") {
            Some((rest, holds)) => (rest, time(holds.trim().trim_start_matches("for "))?),
            None => (text, Duration::ZERO),
        };
        let (rest, correlation) = match rest.split_once("correlation") {
            Some((rest, share)) => (rest, read_share(share.trim(), &wrong)?),
            None => (rest, Ratio::ZERO),
        };
        let rest = rest.trim();
        let (shape, size) = match rest.find(|c: char| c.is_ascii_digit()) {
            Some(0) => (0, rest),
            Some(at) if !rest[..at].trim_end().ends_with('-') => {
                let named = rest[..at].trim();
                let shape = SHAPES.iter().position(|known| *known == named);
                let near = bentpipe_units::nearest(named, SHAPES);
                let near = near.map_or_else(String::new, |near| format!(": did you mean `{near}`"));
                let shape = shape.ok_or_else(|| wrong(format!("`{named}` is no shape{near}")))?;
                (shape, &rest[at..])
            }
            _ => (0, rest),
        };
        Ok(Jitter {
            shape,
            size: time(size)?,
            correlation,
            holds,
        })
    }
}

fn read_share(text: &str, wrong: &dyn Fn(String) -> JitterError) -> Result<Ratio, JitterError> {
    text.parse()
        .map_err(|_| wrong(format!("`{text}` is no share from 0% to 100%")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_jitter_is_printed_as_it_is_written() {
        for text in [
            "normal 5 ms",
            "uniform 2.5 ms",
            "pareto 5 ms correlation 25% held 15 ms",
            "pareto-normal 5 ms held 1 s",
        ] {
            let read: Jitter = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
            assert_eq!(read.to_string().parse(), Ok(read));
        }
        let read = |text: &str| text.parse::<Jitter>().unwrap();
        assert_eq!(read(" pareto-normal 5ms "), read("pareto-normal 5 ms"));
        assert_eq!(read("5 ms correlation 0.25"), read("5 ms correlation 25%"));
    }

    #[test]
    fn what_is_no_jitter_is_explained() {
        let error = |text: &str| text.parse::<Jitter>().unwrap_err().to_string();
        assert!(error("paretto 5 ms").starts_with("`paretto` is no shape: did you mean `pareto`;"));
        assert!(error("5 ms correlation 150%").starts_with("`150%` is no share"));
        assert!(error("2 min").starts_with("`2 min` is longer than 60 s"));
        for text in ["", "-5 ms", "5", "5 ms held", "normal", "held 5 ms"] {
            assert!(error(text).contains("such as `5 ms`"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(pareto|normal|held|correlation|[-0-9. %ms]){0,9}") {
            if let Ok(jitter) = text.parse::<Jitter>() {
                prop_assert_eq!(jitter.to_string().parse(), Ok(jitter));
            }
        }
    }
}
