//! What users must be given: `p95 page < 5 s`.
//!
//! ```text
//! target     = statistic measure relation limit
//! statistic  = "mean" | "median" | "p" NUMBER          above 0, below 100
//! measure    = "download" | "page" | "object" | "video" | "startup" | "stall" | "wait" | "rate"
//! relation   = "<" | ">" | "below" | "above"
//! limit      = a time; of `rate` a rate
//! ```
//!
//! Times must be below their limit, rates above it.

use super::super::traffic::{Activity, Traffic};
use bentpipe_units::{Duration, Rate, nearest};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// What is measured of users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Measure {
    /// The time of a download.
    Download,
    /// The time of a page, from the request to the last byte.
    Page,
    /// The time of a small object that is fetched beside pages.
    Object,
    /// What a viewer waits for a video: its start and all stalls together.
    Video,
    /// The time before a video begins.
    Startup,
    /// How long a video stands still.
    Stall,
    /// What packets wait in the queue before the link, at any moment.
    Wait,
    /// The rate of a user: payload over the time that the user waited for it.
    Rate,
}

impl Measure {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Measure); 8] = [
        ("download", Measure::Download),
        ("page", Measure::Page),
        ("object", Measure::Object),
        ("video", Measure::Video),
        ("startup", Measure::Startup),
        ("stall", Measure::Stall),
        ("wait", Measure::Wait),
        ("rate", Measure::Rate),
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = Measure::ALL.iter().find(|(_, measure)| *measure == self);
        found.map_or("", |(name, _)| name)
    }

    /// The activity that it is of; `None` for what all users have.
    #[must_use]
    pub const fn activity(self) -> Option<Activity> {
        match self {
            Measure::Download => Some(Activity::Download),
            Measure::Page | Measure::Object => Some(Activity::Web),
            Measure::Video | Measure::Startup | Measure::Stall => Some(Activity::Video),
            Measure::Wait | Measure::Rate => None,
        }
    }

    /// The traffic that it is asked of where the question has the default: downloads.
    #[must_use]
    pub(super) const fn usual_traffic(self) -> Traffic {
        match self.activity() {
            Some(Activity::Web) => Traffic::Web,
            Some(Activity::Video) => Traffic::Video,
            Some(Activity::Download | Activity::Upload | Activity::Call) | None => {
                Traffic::Download
            }
        }
    }
}

/// Which number of all that are measured.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Statistic {
    /// Their mean.
    Mean,
    /// This many per cent of them are no larger.
    Percentile(f64),
}

/// What users must be given.
///
/// ```
/// use bentpipe::compare::{Measure, Statistic, Target};
///
/// let target: Target = "p95 page < 5 s".parse()?;
/// assert_eq!(target.measure, Measure::Page);
/// assert_eq!(target.statistic, Statistic::Percentile(95.0));
/// assert_eq!(target.to_string(), "p95 page < 5 s");
/// let error = "p95 pge < 5 s".parse::<Target>().unwrap_err();
/// assert_eq!(&error.text[error.at.clone()], "pge");
/// # Ok::<(), bentpipe::compare::TargetError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Target {
    /// Which number of all that are measured.
    pub statistic: Statistic,
    /// What is measured.
    pub measure: Measure,
    /// The limit: seconds, which must not be reached, or bit/s, which must be exceeded.
    pub limit: f64,
}

impl Target {
    /// By how much a run misses it: zero or less if it does not, and larger the more it does.
    /// The mean over runs tells whether they meet it together.
    ///
    /// Of a percentile it is the share of the values beyond the limit, less the share that may
    /// be; of a mean, how far it is beyond the limit, over that. A wait is a percentile of its run
    /// already, and counts as a mean does. A value that did not end is infinite, or zero for a
    /// rate. Of no values at all it is met.
    pub(super) fn missed_by(&self, values: &[f64]) -> f64 {
        let count = values.len() as f64;
        if values.is_empty() {
            return 0.0;
        }
        let is_rate = self.measure == Measure::Rate;
        let of_runs = match self.measure {
            Measure::Wait => Statistic::Mean,
            _ => self.statistic,
        };
        match of_runs {
            Statistic::Mean => {
                let mean = values.iter().sum::<f64>() / count;
                let beyond = mean / self.limit - 1.0;
                if is_rate { -beyond } else { beyond }
            }
            Statistic::Percentile(p) => {
                let (is_beyond, allowed): (fn(f64, f64) -> bool, f64) = match is_rate {
                    true => (|x, limit| x <= limit, p / 100.0),
                    false => (|x, limit| x >= limit, 1.0 - p / 100.0),
                };
                let beyond = values.iter().filter(|x| is_beyond(**x, self.limit));
                beyond.count() as f64 / count - allowed
            }
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.statistic {
            Statistic::Mean => f.write_str("mean")?,
            Statistic::Percentile(50.0) => f.write_str("median")?,
            Statistic::Percentile(p) => write!(f, "p{p}")?,
        }
        let name = self.measure.name();
        match self.measure {
            Measure::Rate => write!(f, " {name} > {}", Rate::from_bps_f64(self.limit)),
            _ => write!(f, " {name} < {}", Duration::from_secs_f64(self.limit)),
        }
    }
}

/// Why a text is no target, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}\n  {text}\n  {}{}", " ".repeat(.text[..at.start].chars().count()),
    "^".repeat(.text[at.clone()].chars().count().max(1)))]
pub struct TargetError {
    /// The text.
    pub text: String,
    /// The part of it that is wrong, bytes; empty at the end if something is missing.
    pub at: Range<usize>,
    /// What is wrong with it.
    pub what: String,
}

const EXAMPLES: &str = "such as `p95 page < 5 s`, `mean download < 20 s` or `p5 rate > 1 Mbit/s`";

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Target, TargetError> {
        // Relations may touch their neighbours.
        let mut words: Vec<Range<usize>> = Vec::new();
        let mut begin = None;
        for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
            let is_sign = c == '<' || c == '>';
            if c.is_whitespace() || c.is_control() || is_sign {
                words.extend(begin.take().map(|begin| begin..at));
            } else if begin.is_none() {
                begin = Some(at);
            }
            if is_sign {
                words.push(at..at + 1);
            }
        }
        let shown: String = text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let wrong = |at: Range<usize>, what: String| TargetError {
            // Controls of one byte become blanks; of others the place is lost.
            at: if shown.len() == text.len() { at } else { 0..0 },
            text: shown.clone(),
            what,
        };
        let end = text.trim_end().len();
        let word = |i: usize, expected: &str| {
            words.get(i).cloned().ok_or_else(|| {
                wrong(
                    end..end,
                    format!("expected {expected} at the end, {EXAMPLES}"),
                )
            })
        };
        let at = word(0, "a statistic")?;
        let statistic = statistic(&text[at.clone()]).map_err(|what| wrong(at, what))?;
        let at = word(1, "what is measured")?;
        let measure = measure(&text[at.clone()]).map_err(|what| wrong(at.clone(), what))?;
        if measure == Measure::Wait && statistic != Statistic::Percentile(95.0) {
            let what = "the wait at the link is measured as its 95th percentile: `p95 wait`";
            return Err(wrong(words[0].clone(), what.to_owned()));
        }
        let at = word(2, "`<` or `>`")?;
        let is_rate = measure == Measure::Rate;
        let (right, meant) = if is_rate {
            (">", "above")
        } else {
            ("<", "below")
        };
        match &text[at.clone()] {
            sign if sign == right || sign == meant => {}
            "<" | ">" | "below" | "above" => {
                let kind = if is_rate { "rate" } else { "time" };
                let what = format!("a {kind} must be {meant} its limit: `{right}`");
                return Err(wrong(at, what));
            }
            other => return Err(wrong(at, format!("expected `{right}`, found `{other}`"))),
        }
        let at = word(3, if is_rate { "a rate" } else { "a time" })?;
        let at = at.start..end;
        let limit = limit(&text[at.clone()], is_rate).map_err(|what| wrong(at, what))?;
        Ok(Target {
            statistic,
            measure,
            limit,
        })
    }
}

fn statistic(word: &str) -> Result<Statistic, String> {
    let expected = "expected mean, median or a percentile such as p95";
    match word {
        "mean" => return Ok(Statistic::Mean),
        "median" => return Ok(Statistic::Percentile(50.0)),
        _ => {}
    }
    let digits = word.strip_prefix('p').filter(|digits| {
        digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') && digits.len() <= 8
    });
    let Some(p) = digits.and_then(|digits| digits.parse::<f64>().ok()) else {
        let near = nearest(word, ["mean", "median"]);
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(format!("`{word}` is no statistic: {expected}{near}"));
    };
    match p > 0.0 && p < 100.0 {
        true => Ok(Statistic::Percentile(p)),
        false => Err(format!(
            "`{word}` is no percentile: expected one above p0 and below p100"
        )),
    }
}

fn measure(word: &str) -> Result<Measure, String> {
    if let Some((_, measure)) = Measure::ALL.iter().find(|(name, _)| *name == word) {
        return Ok(*measure);
    }
    if word == "call" || word == "calls" {
        return Err(
            "a call has no time: `p95 wait` is what its packets wait at the link".to_owned(),
        );
    }
    let names = Measure::ALL.map(|(name, _)| name);
    let near = nearest(word, names);
    let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Err(format!(
        "`{word}` is not measured: expected {}{near}",
        names.join(", ")
    ))
}

fn limit(text: &str, is_rate: bool) -> Result<f64, String> {
    let limit = match is_rate {
        true => text.parse::<Rate>().map_err(|e| e.to_string())?.bps_f64(),
        false => text
            .parse::<Duration>()
            .map_err(|e| e.to_string())?
            .as_secs(),
    };
    match limit > 0.0 {
        true => Ok(limit),
        false => Err("the limit must be above zero".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_printed_as_it_is_typed() {
        for (typed, shown) in [
            ("p95 page < 5 s", "p95 page < 5 s"),
            ("mean download<20s", "mean download < 20 s"),
            ("p5 rate above 1Mbit/s", "p5 rate > 1 Mbit/s"),
            (" p50   object below 300 ms ", "median object < 300 ms"),
            ("p99.9 startup < 2 s", "p99.9 startup < 2 s"),
            ("p95 wait < 150 ms", "p95 wait < 150 ms"),
        ] {
            let target: Target = typed.parse().unwrap();
            assert_eq!(target.to_string(), shown);
            assert_eq!(target.to_string().parse::<Target>().unwrap(), target);
        }
    }

    #[test]
    fn errors_point_at_the_place() {
        for (text, place, says) in [
            (
                "",
                "",
                "expected a statistic at the end, such as `p95 page < 5 s`",
            ),
            ("p95", "", "expected what is measured at the end"),
            ("p95 page", "", "expected `<` or `>` at the end"),
            ("p95 page <", "", "expected a time at the end"),
            ("p95 page < 5", "5", "`5` has no unit"),
            ("p95 page < 0 s", "0 s", "the limit must be above zero"),
            ("p95 page > 5 s", ">", "a time must be below its limit: `<`"),
            (
                "p5 rate < 1 Mbit/s",
                "<",
                "a rate must be above its limit: `>`",
            ),
            ("p5 rate = 1 Mbit/s", "=", "expected `>`, found `=`"),
            (
                "meen page < 5 s",
                "meen",
                "`meen` is no statistic: expected mean, median or a \
              percentile such as p95; did you mean `mean`?",
            ),
            (
                "p100 page < 5 s",
                "p100",
                "`p100` is no percentile: expected one above p0 and",
            ),
            (
                "p95 pgae < 5 s",
                "pgae",
                "`pgae` is not measured: expected download, page, object, \
              video, startup, stall, wait, rate; did you mean `page`?",
            ),
            (
                "p95 call < 150 ms",
                "call",
                "a call has no time: `p95 wait`",
            ),
            (
                "mean wait < 150 ms",
                "mean",
                "the wait at the link is measured as its 95th",
            ),
        ] {
            let error = text.parse::<Target>().unwrap_err();
            assert_eq!(&error.text[error.at.clone()], place, "{error}");
            assert!(error.to_string().starts_with(says), "{error}");
        }
        let error = "p95 pgae < 5 s".parse::<Target>().unwrap_err().to_string();
        assert!(error.ends_with("\n  p95 pgae < 5 s\n      ^^^^"), "{error}");
    }

    #[test]
    fn a_target_is_missed_by_what_is_beyond_it() {
        let missed = |target: &str, values: &[f64]| {
            let missed = target.parse::<Target>().unwrap().missed_by(values);
            (1e6 * missed).round() / 1e6
        };
        let times: Vec<f64> = (1..=20).map(f64::from).collect();
        // 19 of 20 are below 20 s: just met.
        assert_eq!(missed("p95 page < 20 s", &times), 0.0);
        assert_eq!(missed("p95 page < 19 s", &times), 0.05);
        assert_eq!(missed("median page < 20 s", &times), -0.45);
        assert_eq!(missed("mean page < 10 s", &times), 0.05);
        assert_eq!(missed("mean page < 5 s", &[f64::INFINITY]), f64::INFINITY);
        let rates = [1e6, 2e6, 3e6, 4e6];
        assert_eq!(missed("mean rate > 5 Mbit/s", &rates), 0.5);
        assert_eq!(missed("p30 rate > 1 Mbit/s", &rates), -0.05);
        assert_eq!(missed("p30 rate > 2 Mbit/s", &rates), 0.2);
        assert_eq!(missed("mean page < 5 s", &[]), 0.0);
    }
}
