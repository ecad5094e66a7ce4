//! From text to tokens.

use super::Fault;
use crate::unit::{Unit, quantity};
use std::ops::Range;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    Label(String),
    /// A number in base units.
    Number(f64, Option<Unit>),
    /// Punctuation and operators.
    Symbol(&'static str),
    End,
}

impl Token {
    /// The token in words, for messages.
    pub(super) fn words(&self) -> String {
        match self {
            Token::Name(name) => format!("`{name}`"),
            Token::Label(label) => format!("\"{label}\""),
            Token::Number(x, _) => format!("the number {x}"),
            Token::Symbol(s) => format!("`{s}`"),
            Token::End => "the end".to_owned(),
        }
    }
}

/// Longer ones first.
const SYMBOLS: [&str; 18] = [
    "<=", ">=", "!=", "==", "<", ">", "=", "~", "(", ")", "{", "}", ",", ":", ".", "+", "*", "/",
];

/// Symbols that people write and what is meant.
const OTHERS: [(char, &str); 7] = [
    ('≤', "<="),
    ('≥', ">="),
    ('≈', "~"),
    ('≠', "!="),
    ('−', "-"),
    ('×', "*"),
    ('·', "*"),
];

/// True for what expressions can call by its bare name.
pub(crate) fn is_name(text: &str) -> bool {
    let good = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && !text.ends_with('-')
        && text.chars().all(good)
}

/// The tokens of a text, with an [`End`](Token::End).
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, Fault> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (token, length) = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if c == '"' || c == '\'' {
            label(rest, at, c)?
        } else if c.is_ascii_digit() || (c == '.' && starts_with_digit(&rest[1..])) {
            number(rest, at)?
        } else if c.is_alphabetic() || c == '_' {
            let length = name_length(rest);
            (Token::Name(rest[..length].to_owned()), length)
        } else if c == '-' {
            (Token::Symbol("-"), 1)
        } else if let Some(symbol) = SYMBOLS.iter().find(|s| rest.starts_with(**s)) {
            (
                Token::Symbol(if *symbol == "==" { "=" } else { symbol }),
                symbol.len(),
            )
        } else if let Some((_, meant)) = OTHERS.iter().find(|(other, _)| *other == c) {
            (Token::Symbol(meant), c.len_utf8())
        } else {
            return Err(Fault::new(
                at..at + c.len_utf8(),
                format!("unexpected `{c}`"),
            ));
        };
        tokens.push((token, at..at + length));
        at += length;
    }
    tokens.push((Token::End, text.len()..text.len()));
    Ok(tokens)
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

fn label(rest: &str, at: usize, quote: char) -> Result<(Token, usize), Fault> {
    match rest[1..].find(quote) {
        Some(end) => Ok((Token::Label(rest[1..=end].to_owned()), end + 2)),
        None => Err(Fault::new(at..at + 1, format!("{quote} is not closed"))),
    }
}

/// Letters, digits and `_`, and hyphens between them.
fn name_length(rest: &str) -> usize {
    let inner = |c: char| c.is_alphanumeric() || c == '_';
    let mut chars = rest.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        let hyphen = c == '-' && chars.peek().is_some_and(|(_, next)| inner(*next));
        if !inner(c) && !hyphen {
            return i;
        }
    }
    rest.len()
}

/// A number, with a unit if one follows it, after a space or not.
fn number(rest: &str, at: usize) -> Result<(Token, usize), Fault> {
    let digits = number_length(rest);
    let text = rest[..digits].replace('_', "");
    let value: f64 = text
        .parse()
        .ok()
        .filter(|x: &f64| x.is_finite())
        .ok_or_else(|| Fault::new(at..at + digits, format!("`{text}` is not a number")))?;
    let after = &rest[digits..];
    let spaces = after.len() - after.trim_start_matches(' ').len();
    let unit = unit_length(&after[spaces..]);
    let word = &after[spaces..spaces + unit];
    let call = after[spaces + unit..].trim_start().starts_with('(');
    if unit > 0
        && !call
        && let Some((value, Some(unit_of))) = quantity(&format!("{text} {word}"))
    {
        return Ok((Token::Number(value, Some(unit_of)), digits + spaces + unit));
    }
    if unit > 0 && spaces == 0 {
        let span = at + digits..at + digits + unit;
        return Err(Fault::new(span, format!("unknown unit `{word}`"))
            .help("units are those of scenarios, such as `s`, `kB`, `Mbit/s` and `%`"));
    }
    Ok((Token::Number(value, None), digits))
}

fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let exponent = matches!(bytes[i], b'e' | b'E')
            && starts_with_digit(rest[i + 1..].trim_start_matches(['+', '-']))
            && bytes
                .get(i + 1)
                .is_some_and(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-'));
        if exponent {
            i += 2;
        } else if bytes[i].is_ascii_digit() || matches!(bytes[i], b'.' | b'_') {
            i += 1;
        } else {
            break;
        }
    }
    i
}

/// `%`, `ms`, `Mbit/s`.
fn unit_length(text: &str) -> usize {
    if text.starts_with('%') {
        return 1;
    }
    let letters = |t: &str| {
        t.char_indices()
            .find(|(_, c)| !c.is_alphabetic())
            .map_or(t.len(), |(i, _)| i)
    };
    let first = letters(text);
    let per_second = text[first..]
        .strip_prefix("/s")
        .is_some_and(|t| letters(t) == 0);
    if first > 0 && per_second {
        first + 2
    } else {
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Token> {
        tokens(text)
            .unwrap()
            .into_iter()
            .map(|(token, _)| token)
            .collect()
    }

    #[test]
    fn names_keep_their_hyphens() {
        assert_eq!(
            kinds("table-3.time - x"),
            [
                Token::Name("table-3".into()),
                Token::Symbol("."),
                Token::Name("time".into()),
                Token::Symbol("-"),
                Token::Name("x".into()),
                Token::End
            ]
        );
    }

    #[test]
    fn numbers_take_their_units() {
        assert_eq!(
            kinds("600 kB/s")[0],
            Token::Number(4.8e6, Some(Unit::BitRate))
        );
        assert_eq!(kinds("5%")[0], Token::Number(5.0, Some(Unit::Percent)));
        assert_eq!(kinds("4s")[0], Token::Number(4.0, Some(Unit::Seconds)));
        assert_eq!(kinds("1e-3")[0], Token::Number(1e-3, None));
        assert_eq!(
            kinds("2 min(x)")[..2],
            [Token::Number(2.0, None), Token::Name("min".into())]
        );
        assert_eq!(
            kinds("5 of 6")[..2],
            [Token::Number(5.0, None), Token::Name("of".into())]
        );
        assert_eq!(
            tokens("5parsec").unwrap_err().message,
            "unknown unit `parsec`"
        );
        assert!(tokens("1.2.3").is_err());
    }

    #[test]
    fn quotes_must_close() {
        assert_eq!(kinds("'1 Mbyte'")[0], Token::Label("1 Mbyte".into()));
        assert_eq!(tokens("x \"1").unwrap_err().span, 2..3);
        assert_eq!(tokens("a # b").unwrap_err().message, "unexpected `#`");
    }
}
