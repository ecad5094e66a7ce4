//! Evaluates resolved expressions over results.

use super::estimate::Estimate;
use super::judge::judge;
use super::resolved::{Number, Selector};
use super::verdict::Truth;
use crate::metric::{Aggregation, Metric, Selection};
use crate::results::StudyResults;

/// The results that an expression may ask for.
pub(crate) trait World {
    /// The results of a study, if it was run.
    fn results(&self, study: &str) -> Option<&StudyResults>;
}

/// The context of an expression: a study, and the labels at which its axes are fixed.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) study: String,
    pub(crate) at: Vec<(String, String)>,
}

impl Context {
    pub(crate) fn new(study: &str) -> Context {
        Context {
            study: study.to_owned(),
            at: Vec::new(),
        }
    }

    pub(crate) fn moved(&self, to: &[(String, String)]) -> Context {
        let mut context = self.clone();
        for (axis, label) in to {
            match context.at.iter_mut().find(|(a, _)| a == axis) {
                Some((_, old)) => old.clone_from(label),
                None => context.at.push((axis.clone(), label.clone())),
            }
        }
        context
    }

    pub(super) fn label(&self, axis: &str) -> Option<&str> {
        self.at
            .iter()
            .find(|(a, _)| a == axis)
            .map(|(_, label)| label.as_str())
    }
}

/// The value of a number; why there is none, otherwise.
pub(crate) fn evaluate(
    number: &Number,
    context: &Context,
    world: &dyn World,
) -> Result<Estimate, String> {
    let value = match number {
        Number::Constant(x) => Estimate::constant(*x),
        Number::Cell(metric, selection) => cell(metric, selection, context, world)?,
        Number::Axis(name) => {
            Estimate::constant(results(context, world)?.axis_value(name, context.label(name))?)
        }
        Number::Bind(moves, inner) => evaluate(inner, &context.moved(moves), world)?,
        Number::Enter(study, inner) => {
            let context = Context {
                study: study.clone(),
                at: context.at.clone(),
            };
            evaluate(inner, &context, world)?
        }
        Number::Negative(inner) => evaluate(inner, context, world)?.map(|x| -x),
        Number::Absolute(inner) => evaluate(inner, context, world)?.map(f64::abs),
        Number::Arithmetic(operator, left, right) => {
            let (left, right) = (
                evaluate(left, context, world)?,
                evaluate(right, context, world)?,
            );
            left.with(&right, |a, b| operator.of(a, b))
        }
        Number::Gain(of, on) => {
            let (of, on) = (evaluate(of, context, world)?, evaluate(on, context, world)?);
            of.with(&on, |a, b| 100.0 * (b - a) / b)
        }
        Number::Choice(of, numbers) => {
            let values = numbers.iter().map(|n| evaluate(n, context, world));
            together(*of, values.collect::<Result<_, _>>()?)?
        }
        Number::Over(of, selector, inner) => {
            let mut values = Vec::new();
            let mut problem = None;
            visit(selector, context, world, &mut |context, included| match (
                included,
                evaluate(inner, context, world),
            ) {
                (Truth::Holds, Ok(value)) => values.push(value),
                (Truth::Fails, _) => {}
                (Truth::Open, _) => problem = Some("a condition is open".to_owned()),
                (_, Err(why)) => problem = Some(why),
            });
            if let Some(problem) = problem {
                return Err(problem);
            }
            together(*of, values)?
        }
    };
    if value.mean.is_nan() || value.samples.iter().any(|x| x.is_nan()) {
        return Err("division of zero by zero".to_owned());
    }
    Ok(value)
}

/// A metric in the cell at which `context` is.
fn cell(
    metric: &'static Metric,
    selection: &Selection,
    context: &Context,
    world: &dyn World,
) -> Result<Estimate, String> {
    let results = results(context, world)?;
    let cell = results.cell(|axis| context.label(axis))?;
    match results.samples(cell, metric, selection) {
        Ok(values) => Ok(Estimate::of(values, results.study().central)),
        Err(problems) => {
            let share = match problems.of {
                1 => String::new(),
                total => format!(" in {} of {total} runs", problems.runs),
            };
            Err(format!(
                "{}: {}{share}",
                results.place(cell),
                problems.first
            ))
        }
    }
}

fn together(of: Aggregation, values: Vec<Estimate>) -> Result<Estimate, String> {
    let n = values.len() as f64;
    let join = |a: Estimate, b: Estimate| {
        a.with(&b, |x, y| match of {
            Aggregation::Mean | Aggregation::Sum => x + y,
            Aggregation::Max => x.max(y),
            Aggregation::Min => x.min(y),
        })
    };
    let all = values
        .into_iter()
        .reduce(join)
        .ok_or("there is no such cell")?;
    Ok(if of == Aggregation::Mean {
        all.map(|x| x / n)
    } else {
        all
    })
}

fn results<'w>(context: &Context, world: &'w dyn World) -> Result<&'w StudyResults, String> {
    world
        .results(&context.study)
        .ok_or_else(|| format!("study `{}` was not run", context.study))
}

/// Calls `f` at every point of a selector, with whether its condition holds.
pub(super) fn visit(
    selector: &Selector,
    context: &Context,
    world: &dyn World,
    f: &mut dyn FnMut(&Context, Truth),
) {
    let sizes: Vec<usize> = selector
        .axes
        .iter()
        .map(|(_, labels)| labels.len())
        .collect();
    for index in 0..sizes.iter().product::<usize>() {
        let mut rest = index;
        let mut moves = Vec::with_capacity(sizes.len());
        for ((axis, labels), size) in selector.axes.iter().zip(&sizes).rev() {
            moves.push((axis.clone(), labels[rest % size].clone()));
            rest /= size;
        }
        moves.reverse();
        let moved = context.moved(&moves);
        let included = match &selector.condition {
            Some(condition) => judge(condition, &moved, world).truth,
            None => Truth::Holds,
        };
        f(&moved, included);
    }
}
