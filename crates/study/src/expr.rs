//! The language of claims and of derived metrics.
//!
//! Its grammar and meaning are in `LANGUAGE.md`, which is part of the crate's
//! documentation. [`parse`] makes a tree, [`formula`] and [`number`] look its
//! names up, [`judge`] and [`evaluate`] apply it to results.

mod ast;
mod check;
mod cursor;
mod estimate;
mod eval;
mod judge;
mod lexer;
mod parser;
mod resolved;
mod scope;
mod single;
mod verdict;

pub(crate) use ast::{Argument, Binders, Expr, Filter, Kind};
pub(crate) use check::{formula, number};
pub(crate) use estimate::show;
pub(crate) use eval::{Context, World, evaluate};
pub(crate) use judge::judge;
pub(crate) use lexer::is_name;
pub(crate) use parser::parse;
pub(crate) use resolved::Number;
pub(crate) use scope::Scope;
pub(crate) use single::{Use, single, single_fault, uses, uses_of};
pub(crate) use verdict::{Finding, Truth};

use std::ops::Range;

/// An error in an expression, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    /// Expected token; may be empty.
    pub(crate) label: String,
    pub(crate) help: Vec<String>,
}

impl Fault {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Fault {
        Fault {
            span,
            message: message.into(),
            label: String::new(),
            help: Vec::new(),
        }
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
    pub(crate) fn suggest<'a>(self, name: &str, known: impl IntoIterator<Item = &'a str>) -> Fault {
        match bentpipe_units::nearest(name, known) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }
}

#[cfg(test)]
mod tests;
