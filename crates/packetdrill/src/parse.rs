//! Reads scripts.
//!
//! Source: packetdrill's documentation (`syntax.md` of its repository) and its scripts. What the
//! language has and this crate does not run (UDP, ICMP, tunnels) is read as far as its end and
//! reported when its turn comes; everything else that is not understood is an error with its place.

mod calls;
mod cursor;
mod packets;

use crate::assertion::Code;
use crate::script::{Action, Event, Script, ScriptOption, When};
use bentpipe_document::{Diagnostic, Diagnostics, Origin};
use cursor::Cursor;

/// Events of a script at most.
const MOST_EVENTS: usize = 100_000;

/// What a part of the reader finds.
type Found<T> = Result<T, Box<Diagnostic>>;

/// Something is not understood.
fn fail<T>(error: Diagnostic) -> Found<T> {
    Err(Box::new(error))
}

impl Script {
    /// Reads the script `text` of the file `name`.
    ///
    /// # Errors
    /// With the place of the first thing that is not understood.
    pub fn parse(name: &str, text: &str) -> Result<Script, Diagnostics> {
        let mut cursor = Cursor::new(text);
        let read = options(&mut cursor).and_then(|options| Ok((options, events(&mut cursor)?)));
        match read {
            Ok((options, events)) => Ok(Script::new(name, text, options, events)),
            Err(error) => Err(Diagnostics::single(&Origin::file(name, text), *error)),
        }
    }
}

/// The lines `--name=value`.
fn options(cursor: &mut Cursor<'_>) -> Found<Vec<ScriptOption>> {
    let mut options = Vec::new();
    while cursor.eat("--") {
        let start = cursor.at() - 2;
        let name = cursor.take_while(|c| c.is_alphanumeric() || c == '_');
        if name.is_empty() {
            return fail(
                cursor.error_here("an option needs a name", "such as `--tolerance_usecs`"),
            );
        }
        let name = name.to_owned();
        let value = if cursor.eat_exact("=") {
            match cursor.peek() {
                Some('"') => cursor.quoted('"')?,
                _ => cursor.take_while(|c| !c.is_whitespace()).to_owned(),
            }
        } else {
            String::new()
        };
        options.push(ScriptOption {
            name,
            value,
            span: start..cursor.at(),
        });
    }
    Ok(options)
}

fn events(cursor: &mut Cursor<'_>) -> Found<Vec<Event>> {
    let mut events = Vec::new();
    while !cursor.is_done() {
        if events.len() >= MOST_EVENTS {
            return fail(cursor.error_here(
                format!("a script has at most {MOST_EVENTS} events"),
                "one too many",
            ));
        }
        events.push(event(cursor)?);
    }
    Ok(events)
}

fn event(cursor: &mut Cursor<'_>) -> Found<Event> {
    let start = cursor.start();
    // Commands before and after everything else need no time.
    let has_time = cursor.peek() != Some('`');
    let when = if has_time { when(cursor)? } else { When::Any };
    let action = action(cursor, when)?;
    Ok(Event {
        when,
        action,
        span: start..cursor.at(),
    })
}

fn when(cursor: &mut Cursor<'_>) -> Found<When> {
    if cursor.eat("*") {
        return Ok(When::Any);
    }
    let start = cursor.start();
    let relative = cursor.eat("+");
    let from = time(cursor)?;
    if !cursor.eat("~") {
        return Ok(match relative {
            true => When::After(from),
            false => When::At(from),
        });
    }
    let also_relative = cursor.eat("+");
    let to = time(cursor)?;
    if relative != also_relative {
        return fail(
            Diagnostic::at(
                start..cursor.at(),
                "both ends of a range of times are relative, or none is",
            )
            .label(if relative {
                "expected `+` behind `~`"
            } else {
                "expected no `+` behind `~`"
            }),
        );
    }
    if to < from {
        return fail(Diagnostic::at(
            start..cursor.at(),
            "a range of times ends before it begins",
        ));
    }
    Ok(match relative {
        true => When::AfterBetween(from, to),
        false => When::Between(from, to),
    })
}

/// Seconds, as microseconds.
fn time(cursor: &mut Cursor<'_>) -> Found<u64> {
    let start = cursor.start();
    let text = cursor.number();
    let seconds: Option<f64> = text.parse().ok();
    match seconds {
        // A script of more than 11 days is none.
        Some(seconds) if seconds <= 1e6 => Ok((seconds * 1e6).round() as u64),
        Some(_) => fail(Diagnostic::at(
            start..cursor.at(),
            "a time of more than 1,000,000 s",
        )),
        None => fail(cursor
            .error_here(
                "an event begins with its time",
                "expected a time in seconds, such as `0`, `+.1`, `+.1~+.2` or `*`",
            )
            .help(
                "a packet is `+0 < S 0:0(0) win 32792`, a system call `+0 read(3, ..., 100) = 100`",
            )),
    }
}

fn action(cursor: &mut Cursor<'_>, when: When) -> Found<Action> {
    match cursor.peek() {
        Some('<') => {
            cursor.eat("<");
            packets::packet(cursor, Action::Arrives)
        }
        Some('>') => {
            cursor.eat(">");
            packets::packet(cursor, Action::Leaves)
        }
        Some('`') => Ok(Action::Command(cursor.quoted('`')?)),
        Some('%') => {
            let start = cursor.start();
            if !cursor.eat("%{") {
                return fail(cursor.error_here("code begins with `%{`", "expected `%{`"));
            }
            let from = cursor.at();
            let Some(text) = cursor.until("}%") else {
                return fail(
                    Diagnostic::at(start..start + 2, "code without its end")
                        .label("no `}%` follows this"),
                );
            };
            Ok(Action::Code(Code::parse(text, from)?))
        }
        Some('.') => {
            if !cursor.eat("...") {
                return fail(expected_action(cursor));
            }
            let until = time(cursor)?;
            let relative = matches!(when, When::After(_));
            if !relative && !matches!(when, When::At(_)) {
                return fail(cursor.error_here(
                    "a call that blocks begins at one time",
                    "expected such as `+.1...0.2 read(3, ..., 100) = 100`",
                ));
            }
            calls::call(cursor, Some(until)).map(Action::Call)
        }
        Some(c) if c.is_alphabetic() || c == '_' => calls::call(cursor, None).map(Action::Call),
        _ => fail(expected_action(cursor)),
    }
}

fn expected_action(cursor: &Cursor<'_>) -> Diagnostic {
    cursor.error_here(
        "a time without an event",
        "expected `<` or `>` and a packet, a system call, a command in backticks, or `%{`",
    )
}

#[cfg(test)]
mod tests;
