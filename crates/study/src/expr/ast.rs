//! The syntax tree of an expression.

use super::Fault;
use crate::unit::Unit;
use std::ops::Range;

/// A part of an expression and its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    pub(crate) kind: Kind,
    pub(crate) span: Range<usize>,
}

impl Expr {
    /// What is wrong with it.
    pub(crate) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.span.clone(), message)
    }

    /// The name that it is: of an axis, of a point or of a metric without arguments.
    pub(crate) fn name(&self) -> Option<&Name> {
        match &self.kind {
            Kind::Use {
                study: None,
                name,
                arguments: None,
            } => Some(name),
            _ => None,
        }
    }

    /// The text of a name or of a label in quotes.
    pub(crate) fn word(&self) -> Option<&str> {
        match &self.kind {
            Kind::Label(text) => Some(text),
            _ => self.name().map(|name| name.text.as_str()),
        }
    }
}

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

impl Name {
    /// What is wrong with it.
    pub(crate) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.span.clone(), message)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A number in base units; `None` for a bare one.
    Number(f64, Option<Unit>),
    /// A label in quotes.
    Label(String),
    /// A metric, an axis, a point or a function.
    Use {
        study: Option<Name>,
        name: Name,
        arguments: Option<Vec<Argument>>,
    },
    Negative(Box<Expr>),
    Arithmetic(Arithmetic, Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    /// `a < b <= c`.
    Chain {
        weak: bool,
        first: Box<Expr>,
        rest: Vec<(Compare, Expr)>,
    },
    Trend {
        weak: bool,
        value: Box<Expr>,
        rises: bool,
        binders: Binders,
    },
    ForAll(Binders, Box<Expr>),
    Exists(Binders, Box<Expr>),
    Count {
        binders: Binders,
        body: Box<Expr>,
        compare: Compare,
        n: u64,
        of: Option<u64>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Compare {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    /// Within a tolerance.
    Near(Tolerance),
}

/// How far two numbers may be apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tolerance {
    /// A fraction of the right side.
    Relative(f64),
    /// In base units.
    Absolute(f64),
}

impl Arithmetic {
    pub(crate) fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Arithmetic::Add => a + b,
            Arithmetic::Subtract => a - b,
            Arithmetic::Multiply => a * b,
            Arithmetic::Divide => a / b,
        }
    }
}

impl Compare {
    /// Whether it holds exactly; `None` within a tolerance.
    pub(crate) fn holds<T: PartialOrd>(self, a: T, b: T) -> Option<bool> {
        Some(match self {
            Compare::Less => a < b,
            Compare::LessOrEqual => a <= b,
            Compare::Greater => a > b,
            Compare::GreaterOrEqual => a >= b,
            Compare::Equal => a == b,
            Compare::NotEqual => a != b,
            Compare::Near(_) => return None,
        })
    }

    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Compare::Less => "<",
            Compare::LessOrEqual => "<=",
            Compare::Greater => ">",
            Compare::GreaterOrEqual => ">=",
            Compare::Equal => "=",
            Compare::NotEqual => "!=",
            Compare::Near(_) => "~",
        }
    }
}

/// An argument of a use.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Argument {
    pub(crate) name: Option<Name>,
    pub(crate) value: Expr,
    /// `... over AXIS`.
    pub(crate) over: Option<Binders>,
}

/// Axes that a quantifier runs over.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Binders {
    pub(crate) axes: Vec<Binder>,
    pub(crate) condition: Option<Box<Expr>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Binder {
    pub(crate) axis: Name,
    pub(crate) filter: Filter,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Filter {
    All,
    In(Vec<Name>),
    Except(Vec<Name>),
    Compare(Compare, Box<Expr>),
}

/// Parts inside each other, at most: what the tree may need of the stack.
pub(crate) const DEPTH: usize = 32;
