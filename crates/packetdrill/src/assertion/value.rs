//! Values of Python, as far as assertions need them.

use std::cmp::Ordering;
use std::fmt;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number; true is 1.
    Integer(i64),
    /// Another number.
    Number(f64),
    /// A text.
    Text(String),
    /// Several values.
    Tuple(Vec<Value>),
}

impl Value {
    /// Python's truth.
    #[must_use]
    pub fn is_true(&self) -> bool {
        match self {
            Value::Integer(number) => *number != 0,
            Value::Number(number) => *number != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::Tuple(items) => !items.is_empty(),
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Value::Integer(number) => Some(*number as f64),
            Value::Number(number) => Some(*number),
            Value::Text(_) | Value::Tuple(_) => None,
        }
    }

    /// How the two compare; nothing where they do not.
    pub(super) fn order(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Integer(a), Value::Integer(b)) => Some(a.cmp(b)),
            (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
            (Value::Tuple(a), Value::Tuple(b)) => (a == b).then_some(Ordering::Equal),
            _ => self.number()?.partial_cmp(&other.number()?),
        }
    }

    /// `self % values`: a text with its `%d` and the like filled in.
    pub(super) fn format(text: &str, values: &Value) -> String {
        let one = [values.clone()];
        let values = match values {
            Value::Tuple(items) => items.as_slice(),
            _ => &one,
        };
        let mut values = values.iter();
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('%') {
                out.push('%');
                rest = after;
                continue;
            }
            let kind = rest.find(|c: char| c.is_alphabetic()).unwrap_or(rest.len());
            let skipped = rest[kind..].chars().next().map_or(0, char::len_utf8);
            rest = &rest[kind + skipped..];
            match values.next() {
                Some(value) => out.push_str(&value.to_string()),
                None => out.push('?'),
            }
        }
        out.push_str(rest);
        out
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(number) => number.fmt(f),
            Value::Number(number) => number.fmt(f),
            Value::Text(text) => text.fmt(f),
            Value::Tuple(items) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "({})", items.join(", "))
            }
        }
    }
}
