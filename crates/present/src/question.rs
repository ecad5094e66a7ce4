//! How a question looks: as a command line, as a call in Python and as fields of a page,
//! and what each of them says of options that ask nothing.
//!
//! [`keywords`] and [`typescript`] are files of this repository that the declaration of
//! [`Question`] generates; a test compares them.

use bentpipe::compare::{Kind, OptionSpec, Problem, Question, QuestionError};
use bentpipe_report::table::wrap;
use bentpipe_report::text::shell_word;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Words of Python that cannot be names of arguments.
const RESERVED: [&str; 1] = ["from"];

/// Characters of a line of help in Python.
const DOC_WIDTH: usize = 76;

/// Characters of a line of names in Python.
const NAMES_WIDTH: usize = 84;

/// What is wrong, for the command line.
#[must_use]
pub fn for_command(error: &QuestionError) -> String {
    said(error, |name| format!("--{name}"))
}

/// What is wrong, for a caller in Python: options are keywords.
#[must_use]
pub fn for_python(error: &QuestionError) -> String {
    said(error, keyword)
}

/// What is wrong, for a page that shows it at the field of the option.
#[must_use]
pub fn for_page(error: &QuestionError) -> String {
    match &error.problem {
        Problem::Value { why, .. } => why.clone(),
        Problem::Setting(why) => spelled(why, str::to_owned),
        _ => error.to_string(),
    }
}

fn said(error: &QuestionError, spell: impl Fn(&str) -> String) -> String {
    let option = spell(error.option.unwrap_or_default());
    match &error.problem {
        Problem::Value { text, why } => format!("invalid value '{text}' for '{option}': {why}"),
        Problem::Setting(why) => format!("{option} {}", spelled(why, spell)),
        _ => error.to_string(),
    }
}

/// A text that names options as `--rtt`, with their names as `spell` writes them.
fn spelled(text: &str, spell: impl Fn(&str) -> String) -> String {
    let mut parts = text.split("--");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        let (name, rest) = part.split_at(end.unwrap_or(part.len()));
        shown += &spell(name);
        shown += rest;
    }
    shown
}

/// An option as a keyword of Python: `return_rate`, `from_`.
fn keyword(name: &str) -> String {
    let end = if RESERVED.contains(&name) { "_" } else { "" };
    name.replace('-', "_") + end
}

/// The command line that asks the question, as a shell takes it. Each option is a name
/// and a text.
#[must_use]
pub fn command(options: &[(String, String)]) -> String {
    let mut line = "bentpipe compare".to_owned();
    for (name, value) in options {
        // What begins like an option is none, and a flag takes no further word.
        let _ = match value.starts_with('-') || is_flag(name) {
            true => write!(line, " {}", shell_word(&format!("--{name}={value}"))),
            false => write!(line, " --{name} {}", shell_word(value)),
        };
    }
    line
}

/// True for an option that is yes or no.
fn is_flag(name: &str) -> bool {
    let mut flags = Question::OPTIONS
        .iter()
        .filter(|option| option.kind == Kind::Flag);
    flags.any(|option| option.name == name)
}

/// The program in Python that asks the question and prints the answer.
#[must_use]
pub fn python(options: &[(String, String)]) -> String {
    let mut arguments: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, value) in options {
        let option = Question::OPTIONS.iter().find(|option| option.name == name);
        let is_number = option.is_some_and(|option| option.kind == Kind::Count)
            && value.trim().parse::<u64>().is_ok();
        let mut values: Vec<String> = match option.is_some_and(|option| option.several) {
            _ if is_number => vec![value.trim().to_owned()],
            _ if is_flag(name) => vec![(if value == "yes" { "True" } else { "False" }).to_owned()],
            true => value
                .split(',')
                .map(|value| literal(value.trim()))
                .collect(),
            false => vec![literal(value)],
        };
        match arguments.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => known.append(&mut values),
            None => arguments.push((name, values)),
        }
    }
    let mut call = String::new();
    for (name, values) in &arguments {
        let name = keyword(name);
        let _ = match values.as_slice() {
            [value] => writeln!(call, "    {name}={value},"),
            values => writeln!(call, "    {name}=[{}],", values.join(", ")),
        };
    }
    let start = if call.is_empty() { "" } else { "\n" };
    format!("import bentpipe\n\nanswer = bentpipe.compare({start}{call})\nprint(answer)\n")
}

/// A text as Python writes it.
fn literal(text: &str) -> String {
    // JSON's escapes are among Python's.
    Value::from(text).to_string()
}

/// The options as a form takes them, in the order of the declaration.
#[must_use]
pub fn fields() -> Value {
    Question::OPTIONS.iter().map(field).collect()
}

fn field(option: &OptionSpec<Question>) -> Value {
    let choices = (option.choices)().into_iter();
    let choices = choices.map(|choice| json!({ "value": choice.value, "about": choice.about }));
    json!({
        "name": option.name,
        "help": option.full_help(),
        "value": option.metavar,
        "several": option.several,
        "kind": option.kind.name(),
        "group": option.group.name(),
        "slider": option.slider.map(|(from, to)| [from, to]),
        "default": option.default,
        "choices": choices.collect::<Vec<_>>(),
    })
}

/// `python/bentpipe/_keywords.py`: the options as keywords of `bentpipe.compare`.
#[must_use]
pub fn keywords() -> String {
    let names = |is_named: fn(&OptionSpec<Question>) -> bool| {
        let options = Question::OPTIONS.iter().filter(|option| is_named(option));
        let names: Vec<String> = options
            .map(|option| literal(&keyword(option.name)))
            .collect();
        let lines = wrap(&(names.join(", ") + ","), NAMES_WIDTH);
        format!("    {}", lines.join("\n    "))
    };
    let (mut help, mut types) = (String::new(), String::new());
    for option in Question::OPTIONS {
        let (name, kind) = (keyword(option.name), python_type(option));
        let _ = writeln!(help, "    {name} : {kind}");
        let text = spelled(&option.full_help(), keyword).replace('`', "``");
        for line in wrap(&text, DOC_WIDTH) {
            let _ = writeln!(help, "        {line}");
        }
        let _ = writeln!(types, "    {name}: {kind} | None");
    }
    format!(
        r#""""The options of the command as keyword arguments.

Generated from their declaration by a test of crates/present, with BENTPIPE_GENERATE=write.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypedDict

QUESTION = (
{}
)

#: Those that take several values.
SEVERAL = (
{}
)

#: Those that are true or false.
FLAGS = (
{}
)


class CompareOptions(TypedDict, total=False):
    """The keyword arguments of :func:`bentpipe.compare` that make its question.

    Parameters
    ----------
{help}    """

{types}"#,
        names(|_| true),
        names(|option| option.several),
        names(|option| option.kind == Kind::Flag),
    )
}

/// The type of an argument.
fn python_type(option: &OptionSpec<Question>) -> String {
    let one = option.kind.python();
    match option.several {
        true => format!("{one} | Sequence[{one}]"),
        false => one.to_owned(),
    }
}

/// `crates/explore/web/src/lib/options.ts`: the names of the options, and what [`fields`]
/// says of each.
#[must_use]
pub fn typescript() -> String {
    let union = |names: &mut dyn Iterator<Item = &'static str>| {
        let mut seen: Vec<&str> = Vec::new();
        names.for_each(|name| {
            if !seen.contains(&name) {
                seen.push(name);
            }
        });
        seen.iter()
            .map(|name| format!("\n  | \"{name}\""))
            .collect::<String>()
    };
    let options = Question::OPTIONS;
    format!(
        r"// The options of `bentpipe compare`. Generated from their declaration by a test of
// crates/present, with BENTPIPE_GENERATE=write.

export type OptionName ={};

export type OptionKind ={};

export type OptionGroup ={};

/** What the server says of an option (`bentpipe_present::question::fields`). */
export interface OptionHelp {{
  readonly name: OptionName;
  /** What it is, with the default at its end. */ readonly help: string;
  /** What a value is called. */ readonly value: string;
  /** It takes several values, with commas between them. */ readonly several: boolean;
  readonly kind: OptionKind;
  readonly group: OptionGroup;
  /** Where a slider begins and ends, in bit/s, seconds, bytes, shares or numbers. */ readonly slider: readonly [from: number, to: number] | null;
  /** The value without the option, where it is fixed. */ readonly default: string | null;
  /** The values to choose from. */ readonly choices: readonly {{ readonly value: string; readonly about: string }}[];
}}
",
        union(&mut options.iter().map(|option| option.name)),
        union(&mut options.iter().map(|option| option.kind.name())),
        union(&mut options.iter().map(|option| option.group.name())),
    )
}

#[cfg(test)]
#[path = "question_tests.rs"]
mod tests;
