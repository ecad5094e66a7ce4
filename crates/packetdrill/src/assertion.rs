//! Code in `%{ }%`: assertions over the state of a connection.
//!
//! packetdrill hands this code to Python. Of Python there are here: `assert A, B`, `print(...)`,
//! assignments, `and`, `or`, `not`, comparisons in a chain, arithmetic, `%` behind a text, and
//! `abs`, `min`, `max`, `int`, `float`, `str`, `round`. Other statements are reported as not
//! modelled, when their turn comes.

mod evaluate;
mod read;
mod value;

pub use evaluate::{Outcome, Variables};
pub use value::Value;

use bentpipe_document::Diagnostic;

/// The code, read.
#[derive(Clone, Debug)]
pub struct Code {
    statements: Vec<Statement>,
}

impl Code {
    /// Reads `text`, which begins at byte `from` of the file.
    ///
    /// # Errors
    /// With the place of what is not understood.
    pub(crate) fn parse(text: &str, from: usize) -> Result<Code, Box<Diagnostic>> {
        Ok(Code {
            statements: read::statements(text, from)?,
        })
    }
}

/// A statement, and the byte of the file at which it begins.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    kind: Kind,
    at: usize,
}

#[derive(Clone, Debug)]
enum Kind {
    Assert(Term, Option<Term>),
    Print(Vec<Term>),
    /// The operator is that of `+=`.
    Set(String, Option<Operator>, Term),
    Pass,
    /// Python that has no counterpart here: its first word.
    Foreign(String),
}

/// A part of an expression.
#[derive(Clone, Debug)]
enum Term {
    Value(Value),
    Name(String),
    Not(Box<Term>),
    Minus(Box<Term>),
    /// All of them, or any.
    Join(bool, Vec<Term>),
    Compare(Box<Term>, Vec<(Relation, Term)>),
    Arithmetic(Operator, Box<Term>, Box<Term>),
    Tuple(Vec<Term>),
    Call(String, Vec<Term>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Equal,
    Differs,
    Less,
    AtMost,
    More,
    AtLeast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Plus,
    Minus,
    Times,
    Over,
    WholeOver,
    Modulo,
    And,
    Or,
    ShiftLeft,
    ShiftRight,
}

#[cfg(test)]
mod tests;
