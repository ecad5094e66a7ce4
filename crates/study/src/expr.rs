//! The language of claims and of derived metrics.
//!
//! ```text
//! claim       = formula
//! formula     = and { "or" and }
//! and         = not { "and" not }
//! not         = "not" not | quantified | relation
//! quantified  = ( "for all" | "exists" ) binders ":" formula
//!             | "count" "(" binders ":" formula ")" compare number [ "of" number ]
//! relation    = [ "weak" ] sum { compare sum }
//!             | [ "weak" ] sum ( "rises" | "falls" ) "with" binders
//! compare     = "<" | "<=" | ">" | ">=" | "=" | "!=" | "~" sum "within" quantity
//! binders     = binder { "," binder } [ "where" formula ]
//! binder      = AXIS [ "in" points | "except" points | compare point ]
//! points      = "{" point { "," point } "}"
//! sum         = product { ( "+" | "-" ) product }
//! product     = factor { ( "*" | "/" ) factor }
//! factor      = "-" factor | quantity | point | "(" formula ")" | use
//! use         = [ STUDY "." ] NAME [ "(" [ argument { "," argument } ] ")" ]
//! argument    = [ NAME "=" ] sum | sum "over" binders
//! point       = ALIAS | "label in quotes"
//! ```
//!
//! A `use` names a metric of the cell that the surrounding quantifiers, rows
//! and columns fix; its arguments move to other points of axes: `time(mtsi)`,
//! `time(transport = mtsi, file = "1 Mbyte")`. `table-3.time` looks the cell up
//! by the same labels in another study. An axis name is the number of its
//! point, for comparison and arithmetic. Names may hold hyphens, so a minus
//! between names needs spaces.
//!
//! Relations are strict: `a < b` needs 95% intervals that do not overlap. A
//! single replication has an interval of no width. `weak` compares the means.

mod ast;
mod check;
mod estimate;
mod eval;
mod lexer;
mod parser;
mod resolved;
mod verdict;

pub(crate) use ast::{Argument, Binders, Expr, Filter, Kind};
pub(crate) use check::{Scope, formula, number};
pub(crate) use eval::{Context, World, evaluate, judge};
pub(crate) use parser::parse;
pub(crate) use verdict::{Finding, Truth};

use std::ops::Range;

/// What is wrong with an expression, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    /// What was expected there; may be empty.
    pub(crate) label: String,
    pub(crate) help: Vec<String>,
}

impl Fault {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Fault {
        Fault { span, message: message.into(), label: String::new(), help: Vec::new() }
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Fault {
        self.label = label.into();
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Fault {
        self.help.push(help.into());
        self
    }

    /// Adds `did you mean ...?`, where there is a name near enough.
    pub(crate) fn suggest<'a>(
        self,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Fault {
        match crate::nearest::nearest(name, known) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }
}

#[cfg(test)]
mod tests;
