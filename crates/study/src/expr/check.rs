//! From a tree to a resolved expression: every name is looked up, every axis
//! is fixed, and units agree.

mod built_in;
mod functions;
mod names;
mod points;

use super::Fault;
use super::ast::{Arithmetic, Binders, Compare, Expr, Filter, Kind, Name, Tolerance};
use super::resolved::{Formula, Number, Operand, Selector};
use super::scope::{Dimension, Scope};
use crate::study::Axis;
use crate::unit::Unit;

/// Resolves a formula.
pub(crate) fn formula(expr: &Expr, scope: &Scope<'_>) -> Result<Formula, Fault> {
    match &expr.kind {
        Kind::And(parts) => Ok(Formula::And(all(parts, scope)?)),
        Kind::Or(parts) => Ok(Formula::Or(all(parts, scope)?)),
        Kind::Not(inner) => Ok(Formula::Not(Box::new(formula(inner, scope)?))),
        Kind::ForAll(binders, body) => {
            let (over, inner) = selector(binders, scope)?;
            Ok(Formula::ForAll(over, Box::new(formula(body, &inner)?)))
        }
        Kind::Exists(binders, body) => {
            let (over, inner) = selector(binders, scope)?;
            Ok(Formula::Exists(over, Box::new(formula(body, &inner)?)))
        }
        Kind::Count {
            binders,
            body,
            compare,
            n,
            of,
        } => {
            if matches!(compare, Compare::Near(_)) {
                return Err(expr.fault("`~` cannot compare a count"));
            }
            let (over, inner) = selector(binders, scope)?;
            let body = Box::new(formula(body, &inner)?);
            Ok(Formula::Count {
                over,
                body,
                compare: *compare,
                n: *n,
                of: *of,
            })
        }
        Kind::Trend {
            weak,
            value,
            rises,
            binders,
        } => {
            let (over, inner) = selector(binders, scope)?;
            let value = operand(value, &inner)?;
            Ok(Formula::Trend {
                weak: *weak,
                value,
                rises: *rises,
                over,
            })
        }
        Kind::Chain { weak, first, rest } => chain(*weak, first, rest, scope),
        Kind::Number(..) | Kind::Label(_) | Kind::Negative(_) | Kind::Arithmetic(..) => {
            Err(not_a_formula(expr))
        }
        Kind::Use { .. } => {
            number(expr, scope)?;
            Err(not_a_formula(expr))
        }
    }
}

fn all(parts: &[Expr], scope: &Scope<'_>) -> Result<Vec<Formula>, Fault> {
    parts.iter().map(|part| formula(part, scope)).collect()
}

fn not_a_formula(expr: &Expr) -> Fault {
    let fault = expr.fault("this is a number, which neither holds nor fails");
    fault.label("expected a comparison, such as `time(a) < time(b)`")
}

/// A comparison of points with a fixed axis, or of numbers.
fn chain(
    weak: bool,
    first: &Expr,
    rest: &[(Compare, Expr)],
    scope: &Scope<'_>,
) -> Result<Formula, Fault> {
    if let [(compare, right)] = rest
        && let Some(axis) = fixed_axis(first, scope)
        && points::is_point(right)
    {
        points::fixed(axis, scope, &first.span)?;
        let labels = points::points_that(axis, *compare, right)?;
        return Ok(Formula::Among(axis.name.clone(), labels));
    }
    let mut left = operand(first, scope)?;
    let mut resolved = Vec::with_capacity(rest.len());
    let mut before = first;
    let mut first_operand = None;
    for (compare, right) in rest {
        let mut operand = operand(right, scope)?;
        agree(&mut left, before, &mut operand, right)?;
        if let Compare::Near(Tolerance::Relative(x)) = compare
            && !x.is_finite()
        {
            return Err(right.fault("the tolerance is not a number"));
        }
        if first_operand.is_none() {
            first_operand = Some(left.clone());
        }
        resolved.push((*compare, operand.clone()));
        left = operand;
        before = right;
    }
    Ok(Formula::Chain {
        weak,
        first: first_operand.unwrap_or(left),
        rest: resolved,
    })
}

/// Compared numbers measure the same. A percentage that is compared with a ratio from 0 to 1 is
/// converted to one.
fn agree(left: &mut Operand, l: &Expr, right: &mut Operand, r: &Expr) -> Result<(), Fault> {
    match (left.unit, right.unit) {
        (Some(Unit::Ratio), Some(Unit::Percent)) => scale(right, r),
        (Some(Unit::Percent), Some(Unit::Ratio)) => scale(left, l),
        (Some(a), Some(b)) if a != b => {
            Err(r.fault(format!("{} is compared with {}", a.article(), b.article())))
        }
        _ => Ok(()),
    }
}

fn scale(operand: &mut Operand, expr: &Expr) -> Result<(), Fault> {
    if let Number::Constant(x) = operand.number {
        operand.number = Number::Constant(x / 100.0);
        operand.unit = Some(Unit::Ratio);
        return Ok(());
    }
    Err(expr.fault("a percentage is compared with a ratio from 0 to 1"))
}

pub(super) fn operand(expr: &Expr, scope: &Scope<'_>) -> Result<Operand, Fault> {
    let (number, unit) = number(expr, scope)?;
    let text = match number {
        Number::Constant(_) => String::new(),
        _ => scope.text.get(expr.span.clone()).unwrap_or("").to_owned(),
    };
    Ok(Operand { number, text, unit })
}

/// The axis that an expression names and that is fixed here.
fn fixed_axis<'a>(expr: &Expr, scope: &Scope<'a>) -> Option<&'a Axis> {
    scope.home.axis(&expr.name()?.text)
}

/// The points that binders run over, and the scope inside.
pub(super) fn selector<'a>(
    binders: &Binders,
    scope: &Scope<'a>,
) -> Result<(Selector, Scope<'a>), Fault> {
    let mut inner = scope.clone();
    let mut axes = Vec::with_capacity(binders.axes.len());
    for binder in &binders.axes {
        let axis = scope.axis(&binder.axis)?;
        if inner.bound.contains(&axis.name) {
            let message = format!("axis `{}` is fixed already", axis.name);
            return Err(binder.axis.fault(message));
        }
        let named = |names: &[Name]| -> Result<Vec<usize>, Fault> {
            let point = |name: &Name| points::named_point(axis, &name.text, &name.span);
            names.iter().map(point).collect()
        };
        let kept = |keep: &dyn Fn(usize) -> bool| -> Vec<String> {
            let points = axis.points.iter().enumerate().filter(|(i, _)| keep(*i));
            points.map(|(_, point)| point.label.clone()).collect()
        };
        let labels = match &binder.filter {
            Filter::All => kept(&|_| true),
            Filter::In(names) => {
                let wanted = named(names)?;
                kept(&|i| wanted.contains(&i))
            }
            Filter::Except(names) => {
                let unwanted = named(names)?;
                kept(&|i| !unwanted.contains(&i))
            }
            Filter::Compare(compare, right) => points::points_that(axis, *compare, right)?,
        };
        if labels.is_empty() {
            let message = format!("no point of axis `{}` is left", axis.name);
            return Err(binder.axis.fault(message));
        }
        inner.bound.push(axis.name.clone());
        axes.push((axis.name.clone(), labels));
    }
    let condition = binders.condition.as_ref();
    let condition = condition.map(|condition| formula(condition, &inner).map(Box::new));
    let condition = condition.transpose()?;
    Ok((Selector { axes, condition }, inner))
}

/// Resolves a number, and returns its dimension.
pub(crate) fn number(expr: &Expr, scope: &Scope<'_>) -> Result<(Number, Dimension), Fault> {
    match &expr.kind {
        Kind::Number(x, unit) => Ok((Number::Constant(*x), *unit)),
        Kind::Label(text) => Err(expr.fault(format!(
            "\"{text}\" is a label, and a number is expected here"
        ))),
        Kind::Negative(inner) => {
            let (inner, unit) = number(inner, scope)?;
            Ok((Number::Negative(Box::new(inner)), unit))
        }
        Kind::Arithmetic(operator, left, right) => {
            let (l, a) = number(left, scope)?;
            let (r, b) = number(right, scope)?;
            let unit = combined(*operator, a, b).map_err(|message| right.fault(message))?;
            let number = Number::Arithmetic(*operator, Box::new(l), Box::new(r));
            Ok((number, unit))
        }
        Kind::Use {
            study,
            name,
            arguments,
        } => names::usage(
            study.as_ref(),
            name,
            arguments.as_deref(),
            &expr.span,
            scope,
        ),
        _ => Err(expr.fault("this holds or fails, and is not a number")),
    }
}

fn combined(operator: Arithmetic, a: Dimension, b: Dimension) -> Result<Dimension, String> {
    match operator {
        Arithmetic::Add | Arithmetic::Subtract => match (a, b) {
            (Some(a), Some(b)) if a != b => {
                let (verb, link) = match operator {
                    Arithmetic::Add => ("added", "to"),
                    _ => ("subtracted", "from"),
                };
                Err(format!("{} is {verb} {link} {}", b.article(), a.article()))
            }
            _ => Ok(a.or(b)),
        },
        Arithmetic::Multiply => Ok(if a.is_some() && b.is_some() {
            None
        } else {
            a.or(b)
        }),
        Arithmetic::Divide => Ok(if b.is_some() { None } else { a }),
    }
}
