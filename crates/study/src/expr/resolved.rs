//! An expression whose names are known to exist.

use super::ast::{Arithmetic, Compare};
use crate::metric::{Aggregation, Metric, Selection};
use crate::unit::Unit;

/// Something that evaluates to a number.
#[derive(Clone)]
pub(crate) enum Number {
    Constant(f64),
    /// A metric of the cell that the context fixes.
    Cell(&'static Metric, Selection),
    /// The number of the point at which an axis is fixed.
    Axis(String),
    /// As above, with axes moved to other points, by label.
    Bind(Vec<(String, String)>, Box<Number>),
    /// As above in another study, at the same labels.
    Enter(String, Box<Number>),
    Negative(Box<Number>),
    Absolute(Box<Number>),
    Arithmetic(Arithmetic, Box<Number>, Box<Number>),
    /// 100 (second - first) / second: what the first gains on the second.
    Gain(Box<Number>, Box<Number>),
    Choice(Aggregation, Vec<Number>),
    Over(Aggregation, Selector, Box<Number>),
}

/// Something that holds or not.
#[derive(Clone)]
pub(crate) enum Formula {
    And(Vec<Formula>),
    Or(Vec<Formula>),
    Not(Box<Formula>),
    Chain {
        weak: bool,
        first: Operand,
        rest: Vec<(Compare, Operand)>,
    },
    /// True where the axis is fixed at one of these labels.
    Among(String, Vec<String>),
    Trend {
        weak: bool,
        value: Operand,
        rises: bool,
        over: Selector,
    },
    ForAll(Selector, Box<Formula>),
    Exists(Selector, Box<Formula>),
    Count {
        over: Selector,
        body: Box<Formula>,
        compare: Compare,
        n: u64,
        of: Option<u64>,
    },
}

/// One side of a comparison, with what evidence needs.
#[derive(Clone)]
pub(crate) struct Operand {
    pub(crate) number: Number,
    /// Source text; empty for constants.
    pub(crate) text: String,
    pub(crate) unit: Option<Unit>,
}

/// Points of axes to run over.
#[derive(Clone)]
pub(crate) struct Selector {
    /// Name of each axis and the labels to visit.
    pub(crate) axes: Vec<(String, Vec<String>)>,
    pub(crate) condition: Option<Box<Formula>>,
}
