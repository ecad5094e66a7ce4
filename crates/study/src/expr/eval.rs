//! Evaluates resolved expressions over results.

use super::ast::{Arithmetic, Compare, Tolerance};
use super::estimate::{Estimate, show};
use super::resolved::{Formula, Number, Operand, Selector};
use super::verdict::{Finding, Tally, Truth};
use crate::metric::Of;
use crate::results::StudyResults;
use crate::unit::Unit;

/// The results that an expression may ask for.
pub(crate) trait World {
    /// The results of a study, if it was run.
    fn results(&self, study: &str) -> Option<&StudyResults>;
}

/// Where an expression stands: a study, and the labels at which its axes are
/// fixed.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) study: String,
    pub(crate) at: Vec<(String, String)>,
}

impl Context {
    pub(crate) fn new(study: &str) -> Context {
        Context { study: study.to_owned(), at: Vec::new() }
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

    fn label(&self, axis: &str) -> Option<&str> {
        self.at.iter().find(|(a, _)| a == axis).map(|(_, label)| label.as_str())
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
        Number::Cell(metric, selection) => {
            let results = results(context, world)?;
            let cell = results.cell(|axis| context.label(axis))?;
            let values = results.runs_of(cell).map(|run| match run.data() {
                Some(data) => metric.value(data, selection),
                None => Err(run.failure().unwrap_or("it did not run").to_owned()),
            });
            let total = results.replications();
            let (values, problems): (Vec<_>, Vec<_>) = values.partition(Result::is_ok);
            if let Some(Err(first)) = problems.first() {
                let place = results.place(cell);
                let share = match total {
                    1 => String::new(),
                    _ => format!(" in {} of {total} runs", problems.len()),
                };
                return Err(format!("{place}: {first}{share}"));
            }
            Estimate::of(values.into_iter().flatten().collect())
        }
        Number::Axis(name) => Estimate::constant(results(context, world)?.axis_value(
            name,
            context.label(name),
        )?),
        Number::Bind(moves, inner) => evaluate(inner, &context.moved(moves), world)?,
        Number::Enter(study, inner) => {
            let context = Context { study: study.clone(), at: context.at.clone() };
            evaluate(inner, &context, world)?
        }
        Number::Negative(inner) => evaluate(inner, context, world)?.map(|x| -x),
        Number::Absolute(inner) => evaluate(inner, context, world)?.map(f64::abs),
        Number::Arithmetic(operator, left, right) => {
            let (left, right) = (evaluate(left, context, world)?, evaluate(right, context, world)?);
            left.with(&right, |a, b| match operator {
                Arithmetic::Add => a + b,
                Arithmetic::Subtract => a - b,
                Arithmetic::Multiply => a * b,
                Arithmetic::Divide => a / b,
            })
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
            visit(selector, context, world, &mut |context, included| {
                match (included, evaluate(inner, context, world)) {
                    (Truth::Holds, Ok(value)) => values.push(value),
                    (Truth::Fails, _) => {}
                    (Truth::Open, _) => problem = Some("a condition is open".to_owned()),
                    (_, Err(why)) => problem = Some(why),
                }
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

fn together(of: Of, values: Vec<Estimate>) -> Result<Estimate, String> {
    let n = values.len() as f64;
    let join = |a: Estimate, b: Estimate| {
        a.with(&b, |x, y| match of {
            Of::Mean | Of::Sum => x + y,
            Of::Max => x.max(y),
            Of::Min => x.min(y),
        })
    };
    let all = values.into_iter().reduce(join).ok_or("there is no such cell")?;
    Ok(if of == Of::Mean { all.map(|x| x / n) } else { all })
}

fn results<'w>(context: &Context, world: &'w dyn World) -> Result<&'w StudyResults, String> {
    world.results(&context.study).ok_or_else(|| format!("study `{}` was not run", context.study))
}

/// Calls `f` at every point of a selector, with whether its condition holds.
fn visit(
    selector: &Selector,
    context: &Context,
    world: &dyn World,
    f: &mut dyn FnMut(&Context, Truth),
) {
    let sizes: Vec<usize> = selector.axes.iter().map(|(_, labels)| labels.len()).collect();
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

/// `bandwidth 2 Mbit/s, file 1 Mbyte`: where a selector stands.
fn place(selector: &Selector, context: &Context) -> String {
    let parts = selector.axes.iter().map(|(axis, _)| {
        format!("{axis} {}", context.label(axis).unwrap_or("?"))
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn tally(
    selector: &Selector,
    body: &Formula,
    context: &Context,
    world: &dyn World,
) -> Tally {
    let mut tally = Tally::default();
    visit(selector, context, world, &mut |context, included| match included {
        Truth::Holds => tally.add(judge(body, context, world), place(selector, context)),
        Truth::Open => {
            tally.add(Finding::open("the condition is open"), place(selector, context));
        }
        Truth::Fails => {}
    });
    tally
}

/// Whether a formula holds, and the numbers that show it.
pub(crate) fn judge(formula: &Formula, context: &Context, world: &dyn World) -> Finding {
    let all = |parts: &[Formula]| parts.iter().map(|p| judge(p, context, world)).collect();
    match formula {
        Formula::And(parts) => Finding::and(all(parts)),
        Formula::Or(parts) => Finding::or(all(parts)),
        Formula::Not(inner) => judge(inner, context, world).not(),
        Formula::Among(axis, labels) => {
            let here = context.label(axis).unwrap_or("");
            let truth =
                if labels.iter().any(|l| l == here) { Truth::Holds } else { Truth::Fails };
            Finding { truth, margin: 0.0, text: format!("{axis} is {here}") }
        }
        Formula::Chain { weak, first, rest } => chain(*weak, first, rest, context, world),
        Formula::Trend { weak, value, rises, over } => {
            trend(*weak, value, *rises, over, context, world)
        }
        Formula::ForAll(over, body) => tally(over, body, context, world).for_all(),
        Formula::Exists(over, body) => tally(over, body, context, world).exists(),
        Formula::Count { over, body, compare, n, of } => {
            count(tally(over, body, context, world), *compare, *n, *of)
        }
    }
}

/// A count holds if it does however the open cases turn out.
fn count(tally: Tally, compare: Compare, n: u64, of: Option<u64>) -> Finding {
    let total = tally.total();
    if let Some(of) = of
        && of != total
    {
        return Finding::open(format!("there are {total} cells, not {of}"));
    }
    let holds = |x: u64| match compare {
        Compare::Less => x < n,
        Compare::LessOrEqual => x <= n,
        Compare::Greater => x > n,
        Compare::GreaterOrEqual => x >= n,
        Compare::NotEqual => x != n,
        Compare::Equal | Compare::Near(_) => x == n,
    };
    let possible: Vec<bool> = (tally.holds..=tally.holds + tally.open).map(holds).collect();
    let truth = match (possible.iter().all(|x| *x), possible.iter().any(|x| *x)) {
        (true, _) => Truth::Holds,
        (false, true) => Truth::Open,
        (false, false) => Truth::Fails,
    };
    let margin = tally.holds as f64 - n as f64;
    let head = format!("holds in {} of {total}", tally.holds);
    let text = match tally.example() {
        Some(example) => format!("{head}; {example}"),
        None => head,
    };
    Finding { truth, margin, text }
}

fn told(operand: &Operand, value: &Estimate) -> String {
    let unit = match operand.unit {
        Some(Unit::Percent) => "%".to_owned(),
        Some(unit) if !unit.symbol().is_empty() => format!(" {}", unit.symbol()),
        _ => String::new(),
    };
    let interval = value.ci95().filter(|half| *half > 0.0);
    let interval = interval.map_or(String::new(), |half| format!(" ±{}", show(half)));
    let number = format!("{}{interval}{unit}", show(value.mean));
    if operand.text.is_empty() { number } else { format!("{} {number}", operand.text) }
}

fn chain(
    weak: bool,
    first: &Operand,
    rest: &[(Compare, Operand)],
    context: &Context,
    world: &dyn World,
) -> Finding {
    let mut left = match evaluate(&first.number, context, world) {
        Ok(value) => value,
        Err(why) => return Finding::open(why),
    };
    let mut text = told(first, &left);
    let mut truth = Truth::Holds;
    let mut margin = f64::INFINITY;
    for (compare, operand) in rest {
        let right = match evaluate(&operand.number, context, world) {
            Ok(value) => value,
            Err(why) => return Finding::open(why),
        };
        let (this, slack) = compared(weak, *compare, &left, &right);
        let doubt = if this == Truth::Open { " (intervals overlap)" } else { "" };
        text.push_str(&format!(" {} {}{doubt}", compare.symbol(), told(operand, &right)));
        truth = truth.min(this);
        margin = margin.min(slack);
        left = right;
    }
    Finding { truth, margin, text }
}

/// How two estimates compare, and by which share of the larger.
pub(super) fn compared(
    weak: bool,
    compare: Compare,
    a: &Estimate,
    b: &Estimate,
) -> (Truth, f64) {
    let size = a.mean.abs().max(b.mean.abs()).max(f64::MIN_POSITIVE);
    let slack = (b.mean - a.mean) / size;
    let ((a_low, a_high), (b_low, b_high)) = (a.interval(), b.interval());
    let sure = |holds: bool| if holds { Truth::Holds } else { Truth::Fails };
    // Ordered means settle it only if the intervals stand apart.
    let strictly = |ordered: bool, apart: bool| match (ordered, weak || apart) {
        (false, _) => Truth::Fails,
        (true, true) => Truth::Holds,
        (true, false) => Truth::Open,
    };
    match compare {
        Compare::Less => (strictly(a.mean < b.mean, a_high < b_low), slack),
        Compare::Greater => (strictly(a.mean > b.mean, b_high < a_low), -slack),
        // At most: not shown to be more.
        Compare::LessOrEqual => {
            (sure(a.mean <= b.mean || (!weak && a_low <= b_high)), slack)
        }
        Compare::GreaterOrEqual => {
            (sure(a.mean >= b.mean || (!weak && b_low <= a_high)), -slack)
        }
        Compare::Equal => (sure(slack.abs() < 1e-9), -slack.abs()),
        Compare::NotEqual => (sure(slack.abs() >= 1e-9), slack.abs()),
        Compare::Near(tolerance) => {
            let allowed = match tolerance {
                Tolerance::Relative(x) => x * b.mean.abs(),
                Tolerance::Absolute(x) => x,
            };
            let distance = (a.mean - b.mean).abs();
            (sure(distance <= allowed), (allowed - distance) / size)
        }
    }
}

/// Each value against the next.
fn trend(
    weak: bool,
    value: &Operand,
    rises: bool,
    over: &Selector,
    context: &Context,
    world: &dyn World,
) -> Finding {
    let mut values: Vec<(String, Result<Estimate, String>)> = Vec::new();
    visit(over, context, world, &mut |context, included| {
        if included != Truth::Fails {
            values.push((place(over, context), evaluate(&value.number, context, world)));
        }
    });
    let mut known = Vec::with_capacity(values.len());
    for (place, value) in values {
        match value {
            Ok(value) => known.push((place, value)),
            Err(why) => return Finding::open(why),
        }
    }
    if known.len() < 2 {
        return Finding::open("a trend needs two points");
    }
    let compare = match (rises, weak) {
        (true, false) => Compare::Less,
        (true, true) => Compare::LessOrEqual,
        (false, false) => Compare::Greater,
        (false, true) => Compare::GreaterOrEqual,
    };
    let mut truth = Truth::Holds;
    let mut margin = f64::INFINITY;
    let mut step = String::new();
    for pair in known.windows(2) {
        let (this, slack) = compared(weak, compare, &pair[0].1, &pair[1].1);
        if (this, slack) < (truth, margin) {
            margin = slack;
            step = format!("{} to {}", pair[0].0, pair[1].0);
        }
        truth = truth.min(this);
    }
    let shown: Vec<String> = known.iter().map(|(_, v)| show(v.mean)).collect();
    let what = if truth == Truth::Holds { "smallest step" } else { "wrong" };
    Finding { truth, margin, text: format!("{} {}; {what} {step}", value.text, shown.join(", ")) }
}
