//! Expressions of a single run, which decide how many runs a cell gets.

use super::resolved::{Formula, Number, Operand, Selector};
use crate::metric::{Metric, Selection, together};
use crate::record::RunData;

/// The value of a number in one run.
pub(crate) fn single(number: &Number, run: &RunData) -> Result<f64, String> {
    Ok(match number {
        Number::Constant(x) => *x,
        Number::Cell(metric, selection) => metric.value(run, selection)?,
        Number::Negative(inner) => -single(inner, run)?,
        Number::Absolute(inner) => single(inner, run)?.abs(),
        Number::Arithmetic(operator, left, right) => {
            operator.of(single(left, run)?, single(right, run)?)
        }
        Number::Choice(of, numbers) => {
            let values = numbers.iter().map(|n| single(n, run));
            let values = values.collect::<Result<Vec<f64>, String>>()?;
            together(*of, &values).ok_or("there is nothing to choose")?
        }
        other => return Err(single_fault(other).unwrap_or("be computed").to_owned()),
    })
}

/// What a number does that needs more than one run; `None` if it does not.
pub(crate) fn single_fault(number: &Number) -> Option<&'static str> {
    match number {
        Number::Constant(_) | Number::Cell(..) => None,
        Number::Axis(_) => Some("name an axis: cells that set the same share their runs"),
        Number::Bind(..) | Number::Over(..) | Number::Gain(..) => Some("look at other cells"),
        Number::Enter(..) => Some("look at another study"),
        Number::Negative(inner) | Number::Absolute(inner) => single_fault(inner),
        Number::Arithmetic(_, left, right) => single_fault(left).or_else(|| single_fault(right)),
        Number::Choice(_, numbers) => numbers.iter().find_map(single_fault),
    }
}

/// A metric with what is fixed of it.
pub(crate) type Use = (&'static Metric, Selection);

/// The metrics that a number asks for, with the study of each.
pub(crate) fn uses(number: &Number, study: &str, found: &mut Vec<(String, Use)>) {
    match number {
        Number::Constant(_) | Number::Axis(_) => {}
        Number::Cell(metric, selection) => {
            found.push((study.to_owned(), (*metric, selection.clone())));
        }
        Number::Bind(_, inner) | Number::Negative(inner) | Number::Absolute(inner) => {
            uses(inner, study, found);
        }
        Number::Enter(other, inner) => uses(inner, other, found),
        Number::Arithmetic(_, left, right) | Number::Gain(left, right) => {
            uses(left, study, found);
            uses(right, study, found);
        }
        Number::Choice(_, numbers) => numbers.iter().for_each(|n| uses(n, study, found)),
        Number::Over(_, selector, inner) => {
            in_selector(selector, study, found);
            uses(inner, study, found);
        }
    }
}

/// As above, for a formula.
pub(crate) fn uses_of(formula: &Formula, study: &str, found: &mut Vec<(String, Use)>) {
    let operand = |o: &Operand, found: &mut Vec<_>| uses(&o.number, study, found);
    match formula {
        Formula::And(parts) | Formula::Or(parts) => {
            parts.iter().for_each(|p| uses_of(p, study, found));
        }
        Formula::Not(inner) => uses_of(inner, study, found),
        Formula::Chain { first, rest, .. } => {
            operand(first, found);
            rest.iter().for_each(|(_, o)| operand(o, found));
        }
        Formula::Among(..) => {}
        Formula::Trend { value, over, .. } => {
            in_selector(over, study, found);
            operand(value, found);
        }
        Formula::ForAll(over, body) | Formula::Exists(over, body) => {
            in_selector(over, study, found);
            uses_of(body, study, found);
        }
        Formula::Count { over, body, .. } => {
            in_selector(over, study, found);
            uses_of(body, study, found);
        }
    }
}

fn in_selector(selector: &Selector, study: &str, found: &mut Vec<(String, Use)>) {
    if let Some(condition) = &selector.condition {
        uses_of(condition, study, found);
    }
}
