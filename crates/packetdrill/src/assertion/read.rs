//! Reads the code of assertions.

use super::{Kind, Operator, Relation, Statement, Term, Value};
use bentpipe_document::Diagnostic;

/// Parentheses in each other at most.
const DEEPEST: usize = 32;

/// Statements of a piece of code at most.
const MOST: usize = 10_000;

/// Words of Python that begin what has no counterpart here.
const FOREIGN: [&str; 15] = [
    "if", "elif", "else", "for", "while", "def", "import", "from", "try", "except", "with",
    "class", "return", "raise", "global",
];

type Found<T> = Result<T, Box<Diagnostic>>;

/// Something is not understood.
fn fail<T>(error: Diagnostic) -> Found<T> {
    Err(Box::new(error))
}

pub(super) fn statements(text: &str, from: usize) -> Found<Vec<Statement>> {
    let mut reader = Reader { text, at: 0, from };
    let mut statements = Vec::new();
    loop {
        reader.skip_lines();
        if reader.rest().is_empty() {
            return Ok(statements);
        }
        if statements.len() >= MOST {
            return fail(reader.error("more statements than are read"));
        }
        let at = from + reader.at;
        let kind = reader.statement()?;
        statements.push(Statement { kind, at });
        reader.end_of_statement()?;
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The byte of the file at which the text begins.
    from: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn error(&self, message: impl Into<String>) -> Diagnostic {
        let at = self.from + self.at;
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        Diagnostic::at(at..at + length, message)
    }

    /// Passes blanks, comments and continuations within a line.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\r']);
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with('#') {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if let Some(end) = continuation(trimmed) {
                self.at += end;
            } else {
                return;
            }
        }
    }

    /// The same, and ends of lines and statements.
    fn skip_lines(&mut self) {
        loop {
            self.skip();
            match self.rest().strip_prefix(['\n', ';']) {
                Some(_) => self.at += 1,
                None => return,
            }
        }
    }

    fn eat(&mut self, sign: &str) -> bool {
        self.skip();
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
        }
        found
    }

    fn word(&mut self) -> &'a str {
        self.skip();
        let rest = self.rest();
        if !rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return "";
        }
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        let word = &rest[..end.unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let before = self.at;
        if self.word() == word {
            return true;
        }
        self.at = before;
        false
    }

    fn end_of_statement(&mut self) -> Found<()> {
        self.skip();
        if self.rest().is_empty() || self.rest().starts_with(['\n', ';']) {
            return Ok(());
        }
        fail(
            self.error("a statement goes on where it should end")
                .label("expected `;` or the end of the line"),
        )
    }

    fn statement(&mut self) -> Found<Kind> {
        let before = self.at;
        match self.word() {
            "assert" => {
                let condition = self.expression(0)?;
                let message = match self.eat(",") {
                    true => Some(self.expression(0)?),
                    false => None,
                };
                Ok(Kind::Assert(condition, message))
            }
            "print" => {
                self.at = before;
                match self.expression(0) {
                    Ok(Term::Call(_, arguments)) => Ok(Kind::Print(arguments)),
                    // `print x`, as Python 2 had it.
                    _ => {
                        self.at = before + "print".len();
                        Ok(Kind::Print(vec![self.expression(0)?]))
                    }
                }
            }
            "pass" => Ok(Kind::Pass),
            word if FOREIGN.contains(&word) => {
                // The rest is Python's.
                self.at = self.text.len();
                Ok(Kind::Foreign(word.to_owned()))
            }
            "" => fail(
                self.error("a statement is missing")
                    .label("expected `assert`, `print` or an assignment"),
            ),
            name => {
                let operators = [
                    ("+=", Some(Operator::Plus)),
                    ("-=", Some(Operator::Minus)),
                    ("*=", Some(Operator::Times)),
                    ("=", None),
                ];
                for (sign, operator) in operators {
                    if !self.rest().trim_start().starts_with("==") && self.eat(sign) {
                        let value = self.expression(0)?;
                        return Ok(Kind::Set(name.to_owned(), operator, value));
                    }
                }
                let near = "expected `assert`, `print` or an assignment";
                self.at = before;
                self.skip();
                fail(self.error("a statement that does nothing").label(near))
            }
        }
    }

    fn expression(&mut self, depth: usize) -> Found<Term> {
        if depth > DEEPEST {
            return fail(self.error("parentheses are nested too deeply"));
        }
        self.joined(false, depth)
    }

    /// `or` over `and` over the rest.
    fn joined(&mut self, all: bool, depth: usize) -> Found<Term> {
        let word = if all { "and" } else { "or" };
        let part = |reader: &mut Self| match all {
            true => reader.negated(depth),
            false => reader.joined(true, depth),
        };
        let mut parts = vec![part(self)?];
        while self.eat_word(word) {
            parts.push(part(self)?);
        }
        Ok(match parts.len() {
            1 => parts.swap_remove(0),
            _ => Term::Join(all, parts),
        })
    }

    fn negated(&mut self, depth: usize) -> Found<Term> {
        if self.eat_word("not") {
            if depth > DEEPEST {
                return fail(self.error("`not` is nested too deeply"));
            }
            return Ok(Term::Not(Box::new(self.negated(depth + 1)?)));
        }
        let first = self.binary(0, depth)?;
        let mut chain = Vec::new();
        let relations = [
            ("==", Relation::Equal),
            ("!=", Relation::Differs),
            ("<=", Relation::AtMost),
            (">=", Relation::AtLeast),
            ("<", Relation::Less),
            (">", Relation::More),
        ];
        while let Some((_, relation)) = relations.iter().find(|(sign, _)| self.eat(sign)) {
            chain.push((*relation, self.binary(0, depth)?));
        }
        Ok(match chain.is_empty() {
            true => first,
            false => Term::Compare(Box::new(first), chain),
        })
    }

    /// Arithmetic; `level` is how strongly the operators bind.
    fn binary(&mut self, level: usize, depth: usize) -> Found<Term> {
        const LEVELS: [&[(&str, Operator)]; 5] = [
            &[("|", Operator::Or)],
            &[("&", Operator::And)],
            &[("<<", Operator::ShiftLeft), (">>", Operator::ShiftRight)],
            &[("+", Operator::Plus), ("-", Operator::Minus)],
            &[
                ("*", Operator::Times),
                ("//", Operator::WholeOver),
                ("/", Operator::Over),
                ("%", Operator::Modulo),
            ],
        ];
        let Some(operators) = LEVELS.get(level) else {
            return self.simple(depth);
        };
        let mut left = self.binary(level + 1, depth)?;
        let mut length = 0;
        while let Some((_, operator)) = operators.iter().find(|(sign, _)| self.eat(sign)) {
            length += 1;
            if length > 1_000 {
                return fail(self.error("an expression of more than 1,000 parts"));
            }
            let right = self.binary(level + 1, depth)?;
            left = Term::Arithmetic(*operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn simple(&mut self, depth: usize) -> Found<Term> {
        self.skip();
        if depth > DEEPEST {
            return fail(self.error("an expression is nested too deeply"));
        }
        if self.eat("-") {
            return Ok(Term::Minus(Box::new(self.simple(depth + 1)?)));
        }
        if self.eat("(") {
            let mut items = self.list(depth + 1)?;
            return Ok(match items.1 {
                false if items.0.len() == 1 => items.0.swap_remove(0),
                _ => Term::Tuple(items.0),
            });
        }
        if self.rest().starts_with(['\'', '"']) {
            return self.quoted();
        }
        if self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            return self.number();
        }
        let name = self.word();
        match name {
            "" => fail(
                self.error("a value is missing")
                    .label("expected a number, a name, a text or `(`"),
            ),
            "True" => Ok(Term::Value(Value::Integer(1))),
            "False" | "None" => Ok(Term::Value(Value::Integer(0))),
            _ if self.eat("(") => Ok(Term::Call(name.to_owned(), self.list(depth + 1)?.0)),
            _ => Ok(Term::Name(name.to_owned())),
        }
    }

    /// What stands up to `)`, and whether a comma was in it.
    fn list(&mut self, depth: usize) -> Found<(Vec<Term>, bool)> {
        let mut items = Vec::new();
        let mut commas = false;
        loop {
            self.skip_lines();
            if self.eat(")") {
                return Ok((items, commas));
            }
            items.push(self.expression(depth)?);
            self.skip_lines();
            if self.eat(",") {
                commas = true;
            } else if !self.rest().starts_with(')') {
                return fail(self.error("a list goes on").label("expected `,` or `)`"));
            }
        }
    }

    fn quoted(&mut self) -> Found<Term> {
        let rest = self.rest();
        let mark = &rest[..1];
        let Some(end) = rest[1..].find(mark) else {
            return fail(self.error("a text without its end"));
        };
        self.at += end + 2;
        Ok(Term::Value(Value::Text(rest[1..=end].to_owned())))
    }

    fn number(&mut self) -> Found<Term> {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.'));
        let text = &rest[..end.unwrap_or(rest.len())];
        let value = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
            Some(hex) => i64::from_str_radix(hex, 16).ok().map(Value::Integer),
            None => text
                .parse()
                .ok()
                .map(Value::Integer)
                .or_else(|| text.parse().ok().map(Value::Number)),
        };
        match value {
            Some(value) => {
                self.at += text.len();
                Ok(Term::Value(value))
            }
            None => fail(self.error(format!("`{text}` is no number"))),
        }
    }
}

/// Bytes of a backslash and the end of the line behind it.
fn continuation(text: &str) -> Option<usize> {
    let after = text.strip_prefix('\\')?;
    let line = after.trim_start_matches([' ', '\t', '\r']);
    line.starts_with('\n').then(|| text.len() - line.len() + 1)
}
