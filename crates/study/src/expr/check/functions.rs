//! Functions: gains, differences, and aggregates of several numbers.

use super::built_in::built_in;
use super::points::{any_point, bind, moves};
use super::{number, selector};
use crate::expr::Fault;
use crate::expr::ast::{Argument, Expr, Name};
use crate::expr::resolved::Number;
use crate::expr::scope::{Dimension, Scope};
use crate::metric::{Aggregation, metric};
use crate::unit::Unit;
use std::ops::Range;

/// A metric at a point: `gain(mtsi, iw2)` is about transfer times.
fn operand(expr: &Expr, scope: &Scope<'_>) -> Result<(Number, Dimension), Fault> {
    let is_axis = |name: &Name| scope.home.axis(&name.text).is_some();
    if !expr.name().is_some_and(is_axis)
        && let Some(name) = expr.word()
        && let Some((axis, point)) = any_point(scope.home, name, &expr.span)?
    {
        let bound = vec![(axis.name.clone(), axis.points[point].label.clone())];
        let inner = scope.clone().with_bound([axis.name.as_str()]);
        let time = metric("transfer_time").ok_or_else(|| unreachable_metric(&expr.span))?;
        let (time, unit) = built_in(time, &[], &expr.span, &inner)?;
        return Ok((Number::Bind(bound, Box::new(time)), unit));
    }
    number(expr, scope)
}

fn unreachable_metric(span: &Range<usize>) -> Fault {
    Fault::new(span.clone(), "there is no metric `transfer_time`")
}

pub(super) fn function(
    name: &Name,
    arguments: &[Argument],
    span: &Range<usize>,
    scope: &Scope<'_>,
) -> Result<(Number, Dimension), Fault> {
    let wrong = |what: &str| Fault::new(span.clone(), format!("`{}` takes {what}", name.text));
    match name.text.as_str() {
        "gain" | "difference" => {
            let (given, named): (Vec<&Argument>, Vec<&Argument>) =
                arguments.iter().partition(|a| a.name.is_none());
            let [a, b] = given.as_slice() else {
                return Err(wrong("two points or numbers"));
            };
            let (moves, inner) = moves(&named, scope)?;
            let ((a, _), (b, _)) = (operand(&a.value, &inner)?, operand(&b.value, &inner)?);
            // The difference is the gain with the roles exchanged.
            let number = if name.text == "gain" {
                Number::Gain(Box::new(a), Box::new(b))
            } else {
                Number::Gain(Box::new(b), Box::new(a))
            };
            Ok((bind(moves, number), Some(Unit::Percent)))
        }
        "abs" => match arguments {
            [
                Argument {
                    name: None,
                    value,
                    over: None,
                },
            ] => {
                let (number, unit) = number(value, scope)?;
                Ok((Number::Absolute(Box::new(number)), unit))
            }
            _ => Err(wrong("one number")),
        },
        other => {
            let of = Aggregation::ALL
                .iter()
                .find(|(n, _)| *n == other)
                .map_or(Aggregation::Mean, |(_, of)| *of);
            match arguments {
                [
                    Argument {
                        name: None,
                        value,
                        over: Some(binders),
                    },
                ] => {
                    let (over, inner) = selector(binders, scope)?;
                    let (number, unit) = number(value, &inner)?;
                    Ok((Number::Over(of, over, Box::new(number)), unit))
                }
                [] => Err(wrong("numbers, or one number `over` an axis")),
                several => {
                    let mut unit = None;
                    let mut numbers = Vec::with_capacity(several.len());
                    for argument in several {
                        if argument.name.is_some() || argument.over.is_some() {
                            return Err(wrong("numbers, or one number `over` an axis"));
                        }
                        let (number, this) = operand(&argument.value, scope)?;
                        unit = unit.or(this);
                        numbers.push(number);
                    }
                    Ok((Number::Choice(of, numbers), unit))
                }
            }
        }
    }
}
