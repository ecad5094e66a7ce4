//! A control in a user's file, as far as its text declares it.
//!
//! Comments declare summary and parameters:
//!
//! ```c
//! /*
//!  * Gentle AIMD: growth of STEP segments a round trip.
//!  *
//!  * @parameter step = 1 in 1..100 segments: growth in a round trip
//!  * @parameter beta = 0.7 in 0.1..0.9: what a loss leaves of the window
//!  * @parameter rtt0 = 25ms in 1ms..1s: the reference round trip
//!  * @parameter counts = acks in acks|segments: what growth counts
//!  * @parameter paces = true: spread packets over the round trip
//!  */
//! ```
//!
//! The C reads them in this order from `OWN_PARAMETERS` on: a whole number as it
//! is, a number with a point in millionths, a time in nanoseconds, a word by its
//! place, true and false as 1 and 0.

use crate::catalogue::{COMMON, MILLIONTH};
use crate::{Brief, Control, Kind, Parameter};
use bentpipe_units::Duration;

/// What marks a line that declares a parameter.
const MARK: &str = "@parameter";

/// A line of a source that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: expected `@parameter name = default in least..most unit: meaning`")]
pub struct SourceError {
    /// Line number, counted from 1.
    pub line: usize,
    /// Description of the error.
    pub what: String,
}

impl Control {
    /// The control of `text`, a user's file, under `name`. The texts live
    /// until the program ends.
    ///
    /// # Errors
    /// If the declaration of a parameter cannot be read.
    pub fn from_source(
        name: &str,
        file: &str,
        text: &str,
    ) -> Result<&'static Control, SourceError> {
        let mut parameters = COMMON.to_vec();
        for (at, line) in text.lines().enumerate() {
            let Some((_, declaration)) = line.split_once(MARK) else {
                continue;
            };
            let wrong = |what: &str| SourceError {
                line: at + 1,
                what: what.to_owned(),
            };
            let parameter = parameter(declaration).map_err(wrong)?;
            if parameters.iter().any(|have| have.name == parameter.name) {
                return Err(wrong("a parameter of that name is there already"));
            }
            parameters.push(parameter);
        }
        let summary = summary(text);
        // It is listed behind the name.
        let plain = summary.strip_prefix(&format!("{name}: "));
        let summary: &'static str = plain.unwrap_or(&summary).to_owned().leak();
        let origin: &'static str = file.to_owned().leak();
        Ok(Box::leak(Box::new(Control {
            name: name.to_owned().leak(),
            source: origin,
            summary,
            origin,
            transport: Brief {
                summary,
                source: origin,
            },
            parameters: parameters.leak(),
        })))
    }
}

/// The first sentence of the first comment.
fn summary(text: &str) -> String {
    let plain = |line: &str| {
        let line = line
            .trim()
            .trim_start_matches(['/', '*'])
            .trim_end_matches("*/");
        line.trim().to_owned()
    };
    let is_text = |line: &String| {
        !line.is_empty() && !line.starts_with("SPDX") && !line.starts_with(['@', '#'])
    };
    let comments = text.lines().take_while(|line| {
        let line = line.trim_start();
        line.is_empty() || line.starts_with(['/', '*'])
    });
    comments
        .map(plain)
        .find(is_text)
        .map_or_else(String::new, |line| line.trim_end_matches('.').to_owned())
}

fn parameter(declaration: &str) -> Result<Parameter, &'static str> {
    let (form, meaning) = declaration.split_once(':').ok_or("there is no meaning")?;
    let meaning = meaning.trim().trim_end_matches("*/").trim();
    let (name, form) = form.split_once('=').ok_or("there is no default")?;
    let name = name.trim();
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !is_name {
        return Err("a name has small letters, digits and `_`");
    }
    let (default, rest) = match form.split_once(" in ") {
        Some((default, rest)) => (default.trim(), rest.trim()),
        None => (form.trim(), ""),
    };
    let (range, unit) = rest.split_once(' ').unwrap_or((rest, ""));
    let (kind, minimum, maximum) = kind(default, range)?;
    let mut parameter = Parameter {
        name: name.to_owned().leak(),
        kind,
        unit: match kind {
            Kind::Time => "time",
            _ => unit.trim().to_owned().leak(),
        },
        default: &[],
        minimum: 0,
        maximum: u64::MAX,
        summary: meaning.to_owned().leak(),
    };
    let word = |text: &str| {
        parameter
            .read(text)
            .and_then(|words| words.first().copied())
    };
    let ends = "an end of the range cannot be read, or not as the default";
    let (low, high) = match kind {
        Kind::Choice(words) => (0, words.len() as u64 - 1),
        Kind::Flag => (0, 1),
        _ => (word(minimum).ok_or(ends)?, word(maximum).ok_or(ends)?),
    };
    if low > high {
        return Err("the range is empty");
    }
    (parameter.minimum, parameter.maximum) = (low, high);
    let default = parameter
        .read(default)
        .ok_or("the default is not in the range")?;
    parameter.default = default.leak();
    Ok(parameter)
}

/// The kind that default and range are written in, and the ends of the range.
fn kind<'a>(default: &str, range: &'a str) -> Result<(Kind, &'a str, &'a str), &'static str> {
    if matches!(default, "true" | "false") {
        return Ok((Kind::Flag, "", ""));
    }
    if range.contains('|') {
        let words: Vec<&'static str> = range
            .split('|')
            .map(|word| &*word.trim().to_owned().leak())
            .collect();
        return Ok((Kind::Choice(words.leak()), "", ""));
    }
    let (minimum, maximum) = range.split_once("..").ok_or("there is no range")?;
    let kind = if default.parse::<u64>().is_ok() && minimum.parse::<u64>().is_ok() {
        Kind::Count
    } else if default.parse::<f64>().is_ok() {
        MILLIONTH
    } else if default.parse::<Duration>().is_ok() {
        Kind::Time
    } else {
        return Err("the default is no number, time or word");
    };
    Ok((kind, minimum, maximum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Values;

    const TEXT: &str = "/* SPDX-License-Identifier: MIT */\n/*\n * Gentle: a little.\n *\n \
        * @parameter step = 1 in 1..100 segments: growth\n \
        * @parameter beta = 0.7 in 0.1..0.9: what a loss leaves\n \
        * @parameter rtt0 = 25ms in 1ms..1s: the reference\n \
        * @parameter counts = segments in acks|segments: what counts\n \
        * @parameter paces = true: spread */\n#include \"bentpipe.h\"\n";

    #[test]
    fn comments_say_what_a_control_takes() {
        let control = Control::from_source("gentle", "g.c", TEXT).unwrap();
        assert_eq!(control.summary, "Gentle: a little");
        let mut values = Values::new(control);
        assert_eq!(values.words(), [0, 0, 1, 700_000, 25_000_000, 1, 1]);
        values.set("beta=0.5").unwrap();
        assert!(values.set("beta=0.95").is_err());
        assert_eq!(control.parameters[2].unit, "segments");
        assert_eq!(control.parameters[6].summary, "spread");
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_line() {
        for (line, what) in [
            ("@parameter k 1 in 1..2: x", "no default"),
            ("@parameter k = 1 in 1..2", "no meaning"),
            ("@parameter k = 3 in 1..2: x", "not in the range"),
            ("@parameter k = 1 in 2..1: x", "empty"),
            ("@parameter K = 1 in 1..2: x", "small letters"),
            ("@parameter k = one in 1..2: x", "no number"),
            ("@parameter k = 1: x", "no range"),
            ("@parameter initial_window = 1 in 0..9: x", "already"),
        ] {
            let error = Control::from_source("k", "k.c", &format!("//\n// {line}\n"));
            let error = error.unwrap_err();
            assert_eq!(error.line, 2);
            assert!(error.what.contains(what), "{line}: {error}");
        }
    }
}
