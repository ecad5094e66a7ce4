//! Numbers that a text quotes from results, so that they stay consistent.
//!
//! `{time(mtsi, file = big)}` is replaced by that number, with its unit; `{time(mtsi, file = big);
//! ms; 0}` by the number in milliseconds without decimals. The unit and the decimals are optional.

use crate::catalogue::Catalogue;
use crate::expr::{Context, Scope, World, evaluate, number, parse, show};
use crate::study::Study;
use crate::unit::Unit;

/// The content of braces in a text.
pub(crate) fn quotes(text: &str) -> impl Iterator<Item = &str> {
    text.split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}').map(|(quoted, _)| quoted))
}

/// Replaces braces in a text, `{...}`, by the value of their content. Those without a value remain,
/// with the reason.
pub fn fill(text: &str, value: &mut dyn FnMut(&str) -> Result<String, String>) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((quoted, behind)) = after.split_once('}') else {
            break;
        };
        filled.push_str(before);
        match value(quoted) {
            Ok(value) => filled.push_str(&value),
            Err(why) => filled.push_str(&format!("({quoted}: {why})")),
        }
        rest = behind;
    }
    filled.push_str(rest);
    filled
}

/// An expression with the unit and the digits in which it is quoted.
struct Quote<'a> {
    expression: &'a str,
    unit: Option<&'a str>,
    decimals: Option<usize>,
}

impl<'a> Quote<'a> {
    fn parse(quoted: &'a str) -> Quote<'a> {
        let mut parts = quoted.split(';').map(str::trim);
        let mut quote = Quote {
            expression: parts.next().unwrap_or(""),
            unit: None,
            decimals: None,
        };
        for part in parts {
            match part.parse() {
                Ok(decimals) => quote.decimals = Some(decimals),
                Err(_) => quote.unit = Some(part),
            }
        }
        quote
    }
}

/// Looks up the names of a quoted expression.
pub(crate) fn check<'n>(
    quoted: &str,
    home: &Study,
    bound: impl IntoIterator<Item = &'n str>,
    studies: &dyn Catalogue,
) -> Result<(), String> {
    let quote = Quote::parse(quoted);
    let expr = parse(quote.expression).map_err(|fault| fault.message)?;
    let scope = Scope::new(home, studies, quote.expression).with_bound(bound);
    let (_, measure) = number(&expr, &scope).map_err(|fault| fault.message)?;
    match quote.unit {
        Some(unit) if measure.and_then(|m| m.factor(unit)).is_none() => {
            Err(format!("it is not measured in {unit}"))
        }
        _ => Ok(()),
    }
}

/// The number that a text quotes, with its unit.
pub(crate) fn value(
    quoted: &str,
    home: &Study,
    at: &[(String, String)],
    studies: &dyn Catalogue,
    world: &dyn World,
) -> Result<String, String> {
    let quote = Quote::parse(quoted);
    let expr = parse(quote.expression).map_err(|fault| fault.message)?;
    let bound = at.iter().map(|(axis, _)| axis.as_str());
    let scope = Scope::new(home, studies, quote.expression).with_bound(bound);
    let (number, measure) = number(&expr, &scope).map_err(|fault| fault.message)?;
    let context = Context::new(&home.name).moved(at);
    let estimate = evaluate(&number, &context, world)?;
    let unit = quote.unit.unwrap_or(measure.map_or("", Unit::symbol));
    let factor = measure.and_then(|m| m.factor(unit)).unwrap_or(1.0);
    let x = estimate.mean * factor;
    let digits = match quote.decimals {
        Some(decimals) => format!("{x:.decimals$}"),
        None => show(x),
    };
    Ok(match unit {
        "" => digits,
        "%" => format!("{digits}%"),
        unit => format!("{digits} {unit}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_found_and_filled() {
        let text = "from {a; s; 1} to {b}, {not closed";
        assert_eq!(quotes(text).collect::<Vec<_>>(), ["a; s; 1", "b"]);
        let filled = fill(text, &mut |quoted| match quoted {
            "b" => Err("no such metric".into()),
            other => Ok(format!("<{other}>")),
        });
        assert_eq!(filled, "from <a; s; 1> to (b: no such metric), {not closed");
        let quote = Quote::parse("time(a); ms; 2");
        assert_eq!(
            (quote.expression, quote.unit, quote.decimals),
            ("time(a)", Some("ms"), Some(2))
        );
    }
}
