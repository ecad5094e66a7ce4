//! Judges formulas over results.

use super::ast::{Compare, Tolerance};
use super::estimate::{Estimate, show};
use super::eval::{Context, World, evaluate, visit};
use super::resolved::{Formula, Operand, Selector};
use super::verdict::{Finding, Tally, Truth};
use crate::unit::Unit;

/// `bandwidth 2 Mbit/s, file 1 Mbyte`: the point of a selector.
fn place(selector: &Selector, context: &Context) -> String {
    let parts = selector
        .axes
        .iter()
        .map(|(axis, _)| format!("{axis} {}", context.label(axis).unwrap_or("?")));
    parts.collect::<Vec<_>>().join(", ")
}

fn tally(selector: &Selector, body: &Formula, context: &Context, world: &dyn World) -> Tally {
    let mut tally = Tally::default();
    visit(
        selector,
        context,
        world,
        &mut |context, included| match included {
            Truth::Holds => tally.add(judge(body, context, world), place(selector, context)),
            Truth::Open => {
                tally.add(
                    Finding::open("the condition is open"),
                    place(selector, context),
                );
            }
            Truth::Fails => {}
        },
    );
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
            let truth = if labels.iter().any(|l| l == here) {
                Truth::Holds
            } else {
                Truth::Fails
            };
            Finding {
                truth,
                margin: 0.0,
                text: format!("{axis} is {here}"),
            }
        }
        Formula::Chain { weak, first, rest } => chain(*weak, first, rest, context, world),
        Formula::Trend {
            weak,
            value,
            rises,
            over,
        } => trend(*weak, value, *rises, over, context, world),
        Formula::ForAll(over, body) => tally(over, body, context, world).for_all(),
        Formula::Exists(over, body) => tally(over, body, context, world).exists(),
        Formula::Count {
            over,
            body,
            compare,
            n,
            of,
        } => count(tally(over, body, context, world), *compare, *n, *of),
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
    let holds = |x: u64| compare.holds(x, n).unwrap_or(x == n);
    let possible: Vec<bool> = (tally.holds..=tally.holds + tally.open)
        .map(holds)
        .collect();
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
    Finding {
        truth,
        margin,
        text,
    }
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
    if operand.text.is_empty() {
        number
    } else {
        format!("{} {number}", operand.text)
    }
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
        let doubt = if this == Truth::Open {
            " (intervals overlap)"
        } else {
            ""
        };
        text.push_str(&format!(
            " {} {}{doubt}",
            compare.symbol(),
            told(operand, &right)
        ));
        truth = truth.min(this);
        margin = margin.min(slack);
        left = right;
    }
    Finding {
        truth,
        margin,
        text,
    }
}

/// How two estimates compare, and by which share of the larger.
fn compared(weak: bool, compare: Compare, a: &Estimate, b: &Estimate) -> (Truth, f64) {
    let size = a.mean.abs().max(b.mean.abs()).max(f64::MIN_POSITIVE);
    let slack = (b.mean - a.mean) / size;
    let ((a_low, a_high), (b_low, b_high)) = (a.interval(), b.interval());
    let sure = |holds: bool| if holds { Truth::Holds } else { Truth::Fails };
    // Ordered means settle it only if the intervals do not overlap.
    let strictly = |ordered: bool, apart: bool| match (ordered, weak || apart) {
        (false, _) => Truth::Fails,
        (true, true) => Truth::Holds,
        (true, false) => Truth::Open,
    };
    // Means out of order deny it only if the intervals do not overlap.
    let at_most = |ordered: bool, apart: bool| match (ordered, weak || apart) {
        (true, _) => Truth::Holds,
        (false, true) => Truth::Fails,
        (false, false) => Truth::Open,
    };
    match compare {
        Compare::Less => (strictly(a.mean < b.mean, a_high < b_low), slack),
        Compare::Greater => (strictly(a.mean > b.mean, b_high < a_low), -slack),
        Compare::LessOrEqual => (at_most(a.mean <= b.mean, b_high < a_low), slack),
        Compare::GreaterOrEqual => (at_most(a.mean >= b.mean, a_high < b_low), -slack),
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
            values.push((
                place(over, context),
                evaluate(&value.number, context, world),
            ));
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
    let what = if truth == Truth::Holds {
        "smallest step"
    } else {
        "wrong"
    };
    Finding {
        truth,
        margin,
        text: format!("{} {}; {what} {step}", value.text, shown.join(", ")),
    }
}
