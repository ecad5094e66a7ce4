//! System calls: `setsockopt(4, SOL_SOCKET, SO_SNDBUF, [200000], 4) = 0`.

use super::cursor::Cursor;
use super::{Found, fail};
use crate::script::{Call, Expression};
use bentpipe_document::Diagnostic;

/// Parentheses and brackets in each other at most.
const DEEPEST: usize = 32;

/// A call, whose end may be given.
pub(super) fn call(cursor: &mut Cursor<'_>, until: Option<u64>) -> Found<Call> {
    let name = cursor.word().to_owned();
    if name.is_empty() {
        return fail(cursor.error_here("a system call is missing", "expected its name"));
    }
    cursor.expect("(", "a system call")?;
    let arguments = list(cursor, ")", 0)?;
    cursor.expect("=", "a system call")?;
    let returns = expression(cursor, 0)?;
    let mut error = None;
    // What stands behind on the line is the error's name, and a note in parentheses.
    let word = cursor.word();
    if !word.is_empty() {
        error = Some(word.to_owned());
    }
    if cursor.peek() == Some('(') {
        let start = cursor.start();
        if cursor.until(")").is_none() {
            return fail(
                Diagnostic::at(start..start + 1, "a note without its end").label("no `)` follows"),
            );
        }
    }
    Ok(Call {
        name,
        arguments,
        returns,
        error,
        until,
    })
}

/// Expressions with commas between them, up to `end`.
fn list(cursor: &mut Cursor<'_>, end: &str, depth: usize) -> Found<Vec<Expression>> {
    let mut items = Vec::new();
    if cursor.eat(end) {
        return Ok(items);
    }
    loop {
        items.push(expression(cursor, depth)?);
        if cursor.eat(end) {
            return Ok(items);
        }
        cursor.expect(",", "a list")?;
    }
}

fn expression(cursor: &mut Cursor<'_>, depth: usize) -> Found<Expression> {
    if depth > DEEPEST {
        return fail(cursor.error_here("brackets are nested too deeply", "here"));
    }
    let first = simple(cursor, depth)?;
    if cursor.eat("|") {
        let mut all = vec![first];
        loop {
            all.push(simple(cursor, depth)?);
            if !cursor.eat("|") {
                return Ok(Expression::Or(all));
            }
        }
    }
    // `name=value` stands only in a struct.
    if depth > 0 && cursor.sees("=") {
        cursor.eat("=");
        let value = expression(cursor, depth + 1)?;
        return Ok(Expression::Field(Box::new(first), Box::new(value)));
    }
    Ok(first)
}

fn simple(cursor: &mut Cursor<'_>, depth: usize) -> Found<Expression> {
    let start = cursor.start();
    match cursor.peek() {
        Some('.') if cursor.eat("...") => Ok(Expression::Any),
        Some('[') => {
            cursor.eat("[");
            Ok(Expression::List(list(cursor, "]", depth + 1)?))
        }
        Some('{') => {
            cursor.eat("{");
            Ok(Expression::Struct(list(cursor, "}", depth + 1)?))
        }
        Some('"') => {
            let text = cursor.quoted('"')?;
            cursor.eat("...");
            Ok(Expression::Text(text))
        }
        Some(c) if c == '-' || c.is_ascii_digit() => {
            let negative = cursor.eat("-");
            let hex = cursor.eat_exact("0x") || cursor.eat_exact("0X");
            let digits = cursor.take_while(|c| c.is_ascii_alphanumeric());
            match i64::from_str_radix(digits, if hex { 16 } else { 10 }) {
                Ok(number) if negative => Ok(Expression::Integer(-number)),
                Ok(number) => Ok(Expression::Integer(number)),
                Err(_) => fail(Diagnostic::at(
                    start..cursor.at(),
                    "a number that cannot be read",
                )),
            }
        }
        Some(c) if c.is_alphabetic() || c == '_' => {
            let name = cursor.word().to_owned();
            if cursor.sees("(") {
                cursor.eat("(");
                return Ok(Expression::Apply(name, list(cursor, ")", depth + 1)?));
            }
            Ok(Expression::Name(name))
        }
        _ => fail(cursor.error_here(
            "an argument is missing",
            "expected a number, a name, a text, `[...]`, `{...}` or `...`",
        )),
    }
}
