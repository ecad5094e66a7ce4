//! Values that only studies have.

use super::StopKeys;
use crate::expr::parse;
use crate::study::{Expression, ExpressionPlace};
use crate::unit::{Unit, quantity};
use bentpipe_document::reading::{Declared, Given, Read};
use bentpipe_document::schema::{Kind, integer};
use bentpipe_document::{Problem, Reported, Value};

/// A name that can be a file's.
#[derive(Clone, Debug)]
pub(crate) struct Slug(pub(crate) String);

/// A relative error. It can be above 100%, unlike a ratio.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Percent(pub(crate) f64);

/// A number in base units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quantity(pub(crate) (f64, Option<Unit>));

/// A string, or a number as text.
#[derive(Clone, Debug)]
pub(crate) struct Word(pub(crate) String);

/// Runs of a cell.
#[derive(Clone, Debug)]
pub(crate) enum Replications {
    /// This many.
    Runs(u32),
    /// Until a mean is known well enough.
    Until(Box<StopKeys>),
}

/// Reports what was found in place of a value of that kind.
fn wrong(given: Given<'_>, found: impl Into<String>, kind: &Kind) -> Reported {
    let entry = given.entry;
    given.report(Problem::new(found, kind).at(entry.item.place, &entry.key))
}

impl Read for Slug {
    const KIND: Kind = Kind::Form("letters, digits, `-`, `_` and `.`, and no `.` first");

    fn read(given: Given<'_>, kind: &Kind) -> Result<Slug, Reported> {
        let text: String = given.scalar(kind)?;
        let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        match text.is_empty() || text.starts_with('.') || !text.chars().all(good) {
            true => Err(wrong(given, "this cannot be the name of a file", kind)),
            false => Ok(Slug(text)),
        }
    }
}

impl Read for Percent {
    const KIND: Kind = Kind::Form("a percentage, which may be above 100%, such as `50%`");

    fn read(given: Given<'_>, kind: &Kind) -> Result<Percent, Reported> {
        let text: String = given.scalar(kind)?;
        let number = text.trim_end().strip_suffix('%');
        let number = number.and_then(|number| number.trim().parse::<f64>().ok());
        match number.filter(|percent| percent.is_finite() && *percent >= 0.0) {
            Some(percent) => Ok(Percent(percent / 100.0)),
            None => Err(wrong(given, format!("`{text}` is no percentage"), kind)),
        }
    }
}

impl Read for Quantity {
    const KIND: Kind = Kind::Form("a number with its unit, such as `1 MB`");

    fn read(given: Given<'_>, kind: &Kind) -> Result<Quantity, Reported> {
        let text: String = given.scalar(kind)?;
        let read = quantity(&text).map(Quantity);
        read.ok_or_else(|| wrong(given, format!("`{text}` is no quantity"), kind))
    }
}

impl Read for Word {
    const KIND: Kind = Kind::AnyOf(&[Kind::Text, <f64 as Read>::KIND]);

    fn read(given: Given<'_>, kind: &Kind) -> Result<Word, Reported> {
        match &given.entry.item.value {
            Value::Integer(Some(n)) => Ok(Word(n.to_string())),
            Value::Float(x) => Ok(Word(x.to_string())),
            _ => given.scalar(kind).map(Word),
        }
    }
}

impl Read for Replications {
    const KIND: Kind = Kind::AnyOf(&[integer(1, super::MOST), Kind::Table(StopKeys::section)]);

    fn read(given: Given<'_>, _: &Kind) -> Result<Replications, Reported> {
        match &given.entry.item.value {
            Value::Table(_) => Ok(Replications::Until(Box::new(given.declared()?))),
            _ => given
                .scalar(&integer(1, super::MOST))
                .map(Replications::Runs),
        }
    }
}

impl Read for Expression {
    const KIND: Kind = Kind::Form("an expression, such as `time(hybla) / time(cubic)`");

    fn read(given: Given<'_>, kind: &Kind) -> Result<Expression, Reported> {
        let text: String = given.scalar(kind)?;
        let place = ExpressionPlace::new(given.entry.item.place, &text, given.of.errors.origin());
        match parse(&text) {
            Ok(expr) => Ok(Expression { text, expr, place }),
            Err(fault) => Err(given.report(place.fault(fault))),
        }
    }
}
