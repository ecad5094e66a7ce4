//! From a tree to a resolved expression: every name is looked up, every axis
//! is fixed, and units agree.

mod built_in;
mod functions;
mod names;
mod points;

use super::Fault;
use super::ast::{Arithmetic, Binders, Compare, Expr, Filter, Kind, Name, Tolerance};
use super::resolved::{Formula, Number, Operand, Selector};
use crate::paper::Catalogue;
use crate::study::{Axis, Study};
use crate::unit::Unit;
use bentpipe_document::names::list;

pub(super) type Dimension = Option<Unit>;

/// What names mean at a place of an expression.
#[derive(Clone)]
pub(crate) struct Scope<'a> {
    /// The study whose axes and metrics are meant.
    pub(crate) home: &'a Study,
    /// The other studies.
    pub(crate) studies: &'a dyn Catalogue,
    /// Axes that are fixed here.
    pub(crate) bound: Vec<String>,
    /// Derived metrics of the home study that may be used: those before.
    pub(crate) metrics: usize,
    /// Metrics inside each other.
    pub(crate) depth: usize,
    /// The text, for evidence.
    pub(crate) text: &'a str,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(home: &'a Study, studies: &'a dyn Catalogue, text: &'a str) -> Scope<'a> {
        let metrics = home.metrics.len();
        Scope {
            home,
            studies,
            bound: Vec::new(),
            metrics,
            depth: 0,
            text,
        }
    }

    pub(crate) fn with_bound<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Scope<'a> {
        self.bound.extend(names.into_iter().map(str::to_owned));
        self
    }

    fn axis(&self, name: &Name) -> Result<&'a Axis, Fault> {
        self.home.axis(&name.text).ok_or_else(|| {
            let names: Vec<&str> = self.home.axes.iter().map(|a| a.name.as_str()).collect();
            Fault::new(name.span.clone(), format!("unknown axis `{}`", name.text))
                .label(format!("`{}` has {}", self.home.name, axes_text(&names)))
                .suggest(&name.text, names)
        })
    }
}

fn axes_text(names: &[&str]) -> String {
    if names.is_empty() {
        "no axes".to_owned()
    } else {
        format!("the axes {}", list(names.to_vec()))
    }
}

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
                return Err(Fault::new(expr.span.clone(), "`~` cannot compare a count"));
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
    Fault::new(
        expr.span.clone(),
        "this is a number, which neither holds nor fails",
    )
    .label("expected a comparison, such as `time(a) < time(b)`")
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
            return Err(Fault::new(
                right.span.clone(),
                "the tolerance is not a number",
            ));
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

/// Compared numbers measure the same. A percentage written beside a ratio
/// from 0 to 1 is taken as one.
fn agree(left: &mut Operand, l: &Expr, right: &mut Operand, r: &Expr) -> Result<(), Fault> {
    match (left.unit, right.unit) {
        (Some(Unit::Ratio), Some(Unit::Percent)) => scale(right, r),
        (Some(Unit::Percent), Some(Unit::Ratio)) => scale(left, l),
        (Some(a), Some(b)) if a != b => Err(Fault::new(
            r.span.clone(),
            format!("{} is compared with {}", a.article(), b.article()),
        )),
        _ => Ok(()),
    }
}

fn scale(operand: &mut Operand, expr: &Expr) -> Result<(), Fault> {
    if let Number::Constant(x) = operand.number {
        operand.number = Number::Constant(x / 100.0);
        operand.unit = Some(Unit::Ratio);
        return Ok(());
    }
    Err(Fault::new(
        expr.span.clone(),
        "a percentage is compared with a ratio from 0 to 1",
    ))
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
    match &expr.kind {
        Kind::Use {
            study: None,
            name,
            arguments: None,
        } => scope.home.axis(&name.text),
        _ => None,
    }
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
            return Err(Fault::new(
                binder.axis.span.clone(),
                format!("axis `{}` is fixed already", axis.name),
            ));
        }
        let named = |names: &[Name]| -> Result<Vec<usize>, Fault> {
            names
                .iter()
                .map(|name| points::named_point(axis, &name.text, &name.span))
                .collect()
        };
        let all = || axis.points.iter().enumerate();
        let labels: Vec<String> = match &binder.filter {
            Filter::All => all().map(|(_, p)| p.label.clone()).collect(),
            Filter::In(names) => {
                let wanted = named(names)?;
                all()
                    .filter(|(i, _)| wanted.contains(i))
                    .map(|(_, p)| p.label.clone())
                    .collect()
            }
            Filter::Except(names) => {
                let unwanted = named(names)?;
                all()
                    .filter(|(i, _)| !unwanted.contains(i))
                    .map(|(_, p)| p.label.clone())
                    .collect()
            }
            Filter::Compare(compare, right) => points::points_that(axis, *compare, right)?,
        };
        if labels.is_empty() {
            return Err(Fault::new(
                binder.axis.span.clone(),
                format!("no point of axis `{}` is left", axis.name),
            ));
        }
        inner.bound.push(axis.name.clone());
        axes.push((axis.name.clone(), labels));
    }
    let condition = match &binders.condition {
        Some(condition) => Some(Box::new(formula(condition, &inner)?)),
        None => None,
    };
    Ok((Selector { axes, condition }, inner))
}

/// Resolves a number, and says what it measures.
pub(crate) fn number(expr: &Expr, scope: &Scope<'_>) -> Result<(Number, Dimension), Fault> {
    match &expr.kind {
        Kind::Number(x, unit) => Ok((Number::Constant(*x), *unit)),
        Kind::Label(text) => Err(Fault::new(
            expr.span.clone(),
            format!("\"{text}\" is a label, and a number is expected here"),
        )),
        Kind::Negative(inner) => {
            let (inner, unit) = number(inner, scope)?;
            Ok((Number::Negative(Box::new(inner)), unit))
        }
        Kind::Arithmetic(operator, left, right) => {
            let (l, a) = number(left, scope)?;
            let (r, b) = number(right, scope)?;
            let unit = combined(*operator, a, b)
                .map_err(|message| Fault::new(right.span.clone(), message))?;
            Ok((
                Number::Arithmetic(*operator, Box::new(l), Box::new(r)),
                unit,
            ))
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
        _ => Err(Fault::new(
            expr.span.clone(),
            "this holds or fails, and is not a number",
        )),
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
