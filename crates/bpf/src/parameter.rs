//! A parameter of a control: its name, its text form, and its encoding in 64-bit words.

use bentpipe_units::Duration;
use core::fmt::Write as _;

/// How the text of a value becomes words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number: `2`.
    Count,
    /// A number with a point: `0.85`; the word counts so many parts of one.
    Decimal(u64),
    /// A time with its unit: `25ms`; the word counts nanoseconds.
    Time,
    /// One of these words; the word is its place.
    Choice(&'static [&'static str]),
    /// `true` or `false`: 1 or 0.
    Flag,
    /// Whole numbers, `20-30-40`; so many words at most, 0 after the last.
    List(usize),
}

/// A parameter of a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// As the congestion control of the same algorithm in `bentpipe-cc` calls it.
    pub name: &'static str,
    /// How it is written.
    pub kind: Kind,
    /// The unit; empty where there is none.
    pub unit: &'static str,
    /// Default: one word, or those of a list.
    pub default: &'static [u64],
    /// Smallest permitted value of a word.
    pub minimum: u64,
    /// Largest permitted value of a word.
    pub maximum: u64,
    /// One-line description for the reference.
    pub summary: &'static str,
}

impl Parameter {
    /// How many words it takes.
    #[must_use]
    pub const fn width(&self) -> usize {
        match self.kind {
            Kind::List(most) => most,
            _ => 1,
        }
    }

    /// The words of `text`, as many as [`Parameter::width`]; `None` where it
    /// does not fit.
    pub(crate) fn read(&self, text: &str) -> Option<Vec<u64>> {
        let text = text.trim();
        let within = |word: u64| (self.minimum..=self.maximum).contains(&word);
        let word = match self.kind {
            Kind::List(most) => return self.read_list(text, most),
            Kind::Count => text.parse().ok()?,
            Kind::Decimal(parts) => read_decimal(text, parts)?,
            Kind::Time => text.parse::<Duration>().ok()?.as_nanos(),
            Kind::Choice(words) => {
                let at = words.iter().position(|word| *word == text)?;
                return Some(vec![at as u64]);
            }
            Kind::Flag => {
                return match text {
                    "true" | "yes" | "on" | "1" => Some(vec![1]),
                    "false" | "no" | "off" | "0" => Some(vec![0]),
                    _ => None,
                };
            }
        };
        within(word).then(|| vec![word])
    }

    fn read_list(&self, text: &str, most: usize) -> Option<Vec<u64>> {
        let text = text.trim_start_matches('[').trim_end_matches(']');
        let mut words = Vec::new();
        for part in text.split(['-', ',']) {
            let word = part.trim().parse().ok()?;
            if !(self.minimum..=self.maximum).contains(&word) {
                return None;
            }
            words.push(word);
        }
        if words.len() > most {
            return None;
        }
        words.resize(most, 0);
        Some(words)
    }

    /// The text of `words`, in the form that is read.
    #[must_use]
    pub fn write(&self, words: &[u64]) -> String {
        let first = words.first().copied().unwrap_or(0);
        match self.kind {
            Kind::Count => first.to_string(),
            Kind::Decimal(parts) => write_decimal(first, parts),
            Kind::Time => Duration::from_nanos(first).to_string(),
            Kind::Choice(names) => names
                .get(first as usize)
                .map_or_else(|| first.to_string(), |name| (*name).to_owned()),
            Kind::Flag => (first != 0).to_string(),
            Kind::List(_) => {
                let given: Vec<String> = words
                    .iter()
                    .take_while(|word| **word != 0)
                    .map(u64::to_string)
                    .collect();
                given.join("-")
            }
        }
    }

    /// The text of the default.
    #[must_use]
    pub fn default_text(&self) -> String {
        self.write(self.default)
    }

    /// What a value may be, in words for people.
    #[must_use]
    pub fn expected(&self) -> String {
        let (least, most) = (self.write(&[self.minimum]), self.write(&[self.maximum]));
        match self.kind {
            Kind::Count => format!("a whole number from {least} to {most}"),
            Kind::Decimal(_) => format!("a number from {least} to {most}"),
            Kind::Time => format!("a time with its unit, such as 25ms, from {least} to {most}"),
            Kind::Choice(words) => {
                let mut text = "one of ".to_owned();
                for (i, word) in words.iter().enumerate() {
                    let _ = write!(text, "{}`{word}`", if i == 0 { "" } else { ", " });
                }
                text
            }
            Kind::Flag => "true or false".to_owned(),
            Kind::List(count) => format!(
                "up to {count} whole numbers from {} to {} such as {}",
                self.minimum,
                self.maximum,
                self.default_text()
            ),
        }
    }
}

/// A number without exponent, `0.85`, in `parts` of one. Digits beyond those are
/// refused, not rounded.
fn read_decimal(text: &str, parts: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let mut word = whole.checked_mul(parts)?;
    let mut place = parts;
    for digit in fraction.trim_end_matches('0').bytes() {
        if !place.is_multiple_of(10) {
            return None;
        }
        place /= 10;
        word = word.checked_add(u64::from(digit - b'0') * place)?;
    }
    Some(word)
}

fn write_decimal(word: u64, parts: u64) -> String {
    let parts = parts.max(1);
    let mut text = (word / parts).to_string();
    let (mut rest, mut place) = (word % parts, parts);
    if rest > 0 {
        text.push('.');
    }
    while rest > 0 && place >= 10 {
        place /= 10;
        let digit = (rest / place) as u8;
        text.push(char::from(b'0' + digit));
        rest %= place;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn of(kind: Kind, default: &'static [u64], (minimum, maximum): (u64, u64)) -> Parameter {
        Parameter {
            name: "x",
            kind,
            unit: "",
            default,
            minimum,
            maximum,
            summary: "",
        }
    }

    #[test]
    fn texts_become_words_and_texts_again() {
        let million = Kind::Decimal(1_000_000);
        for (parameter, text, words) in [
            (of(Kind::Count, &[1], (1, 10)), "2", vec![2]),
            (of(million, &[0], (0, 1_000_000)), "0.85", vec![850_000]),
            (of(million, &[0], (0, 1_000_000)), "1", vec![1_000_000]),
            (
                of(Kind::Time, &[0], (0, u64::MAX)),
                "25 ms",
                vec![25_000_000],
            ),
            (of(Kind::Choice(&["A", "B"]), &[0], (0, 1)), "B", vec![1]),
            (of(Kind::Flag, &[0], (0, 1)), "true", vec![1]),
            (
                of(Kind::List(4), &[1], (1, 100)),
                "20-30-40",
                vec![20, 30, 40, 0],
            ),
        ] {
            assert_eq!(parameter.read(text), Some(words.clone()), "{text}");
            assert_eq!(parameter.write(&words), text, "{words:?}");
        }
        let list = of(Kind::List(4), &[1], (1, 100));
        assert_eq!(list.read("[20, 30]"), Some(vec![20, 30, 0, 0]));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let million = Kind::Decimal(1_000_000);
        for (parameter, text) in [
            (of(Kind::Count, &[1], (1, 10)), "11"),
            (of(Kind::Count, &[1], (1, 10)), "2.5"),
            (of(Kind::Count, &[1], (1, 10)), "-2"),
            (of(million, &[0], (0, u64::MAX)), "0.0000001"),
            (of(million, &[0], (0, u64::MAX)), "."),
            (of(million, &[0], (0, u64::MAX)), "99999999999999999999"),
            (of(Kind::Time, &[0], (0, u64::MAX)), "25"),
            (of(Kind::Choice(&["A", "B"]), &[0], (0, 1)), "C"),
            (of(Kind::Flag, &[0], (0, 1)), "maybe"),
            (of(Kind::List(2), &[1], (1, 100)), "1-2-3"),
            (of(Kind::List(2), &[1], (1, 100)), "0"),
        ] {
            assert_eq!(parameter.read(text), None, "{text}");
            assert!(!parameter.expected().is_empty());
        }
    }
}
