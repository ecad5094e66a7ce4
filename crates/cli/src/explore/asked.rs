//! Questions of the page about a link: the options that it offers, what is wrong with
//! some, and the same question as a command and in Python.

use crate::api::{self, Error, Misasked};
use bentpipe::compare::{Hosts, Pep};
use bentpipe::orbit::PRESETS;
use bentpipe_explore::{Choice, OptionHelp, OptionKind, Refused};
use bentpipe_report::text::shell_word;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error as _;

/// The options of `bentpipe compare`, with what may be chosen.
pub(super) fn options() -> Vec<OptionHelp> {
    let options = api::options("compare").into_iter();
    options
        .map(|option| OptionHelp {
            kind: kind(&option.value),
            choices: choices(&option),
            name: option.name,
            help: option.help,
            value: option.value,
            several: option.several,
            default: option.default,
        })
        .collect()
}

/// The kind of a value, by what the help of the command calls it.
fn kind(value: &str) -> OptionKind {
    match value {
        "RATE" => OptionKind::Rate,
        "TIME" => OptionKind::Time,
        "SIZES" => OptionKind::Size,
        "N" => OptionKind::Count,
        "LON" => OptionKind::Number,
        "LOSS" => OptionKind::Loss,
        "LENGTH" => OptionKind::Length,
        "LOAD" => OptionKind::Load,
        "PLACE" => OptionKind::Place,
        "NAME" | "NAMES" => OptionKind::Transport,
        "FILES" => OptionKind::File,
        "KIND" | "KINDS" => OptionKind::Choice,
        _ => OptionKind::Text,
    }
}

/// What may be chosen, each with a few words where there are some.
fn choices(option: &api::OptionHelp) -> Vec<Choice> {
    let choice = |value: &str, about: &str| Choice {
        value: value.to_owned(),
        about: about.to_owned(),
    };
    match option.value.as_str() {
        "NAME" | "NAMES" => Hosts::Linux
            .candidates()
            .iter()
            .map(|candidate| choice(&candidate.name, &candidate.about))
            .collect(),
        "ORBIT" => ["geo"]
            .into_iter()
            .chain(PRESETS)
            .map(|name| choice(name, ""))
            .collect(),
        _ => option
            .choices
            .iter()
            .map(|name| choice(name, about(&option.name, name)))
            .collect(),
    }
}

/// A choice in a few words.
fn about(option: &str, name: &str) -> &'static str {
    let pep = Pep::ALL.iter().find(|(known, _)| *known == name);
    match (option, pep) {
        ("pep", Some((_, pep))) => pep.describe(),
        _ => "",
    }
}

/// What is wrong with options, and with which.
pub(super) fn refused(misasked: Misasked) -> Refused {
    match misasked {
        Misasked::Unknown { name, message } => Refused {
            message,
            option: Some(name),
        },
        Misasked::Options(error) => of_options(&error),
        Misasked::Failure(failure) => {
            let text = Error::from(failure).to_string();
            Refused {
                option: named(&text).map(str::to_owned),
                message: api::as_keywords(&text),
            }
        }
    }
}

/// The first option that a message names, as the command writes it.
fn named(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("--")?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    Some(&rest[..end.unwrap_or(rest.len())]).filter(|name| !name.is_empty())
}

/// What the reader of the command line says, as words beside a field.
fn of_options(error: &clap::Error) -> Refused {
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    };
    let names = |kind| -> Vec<String> {
        let texts = of(kind);
        let names = texts.iter().filter_map(|text| named(text));
        names.map(str::to_owned).collect()
    };
    let option = names(ContextKind::InvalidArg).into_iter().next();
    let listed = |names: &[String]| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        names.join(" and ")
    };
    let message = match error.kind() {
        ErrorKind::ValueValidation => error.source().map(ToString::to_string),
        ErrorKind::MissingRequiredArgument => {
            let missing = listed(&names(ContextKind::InvalidArg));
            Some(format!("{missing} must be set as well"))
        }
        ErrorKind::ArgumentConflict => {
            let other = listed(&names(ContextKind::PriorArg));
            Some(format!("it cannot be set together with {other}"))
        }
        _ => None,
    };
    let message = message.unwrap_or_else(|| {
        let text = error.to_string();
        let text = text.split("\n\n").next().unwrap_or_default();
        api::as_keywords(text.trim_start_matches("error: "))
    });
    Refused { message, option }
}

/// The command line that asks the question, as a shell takes it.
pub(super) fn command(options: &[(String, String)]) -> String {
    let mut words = vec!["bentpipe".to_owned(), "compare".to_owned()];
    for (name, value) in options {
        words.push(format!("--{name}"));
        // What begins like an option is none.
        match value.starts_with('-') {
            true => {
                words.pop();
                words.push(shell_word(&format!("--{name}={value}")));
            }
            false => words.push(shell_word(value)),
        }
    }
    words.join(" ")
}

/// Words of Python that cannot be names of arguments.
const KEYWORDS: [&str; 1] = ["from"];

/// The program in Python that asks the question and prints the answer.
pub(super) fn python(options: &[(String, String)]) -> String {
    let known = api::options("compare");
    let mut arguments: Vec<(String, Vec<String>)> = Vec::new();
    for (name, value) in options {
        let option = known.iter().find(|option| option.name == *name);
        let is_number =
            option.is_some_and(|option| option.value == "N") && value.trim().parse::<u64>().is_ok();
        let several = option.is_some_and(|option| option.several);
        let mut values: Vec<String> = match (is_number, several) {
            (true, _) => vec![value.trim().to_owned()],
            (false, true) => value
                .split(',')
                .map(|value| literal(value.trim()))
                .collect(),
            (false, false) => vec![literal(value)],
        };
        let mut keyword = name.replace('-', "_");
        if KEYWORDS.contains(&keyword.as_str()) {
            keyword.push('_');
        }
        match arguments.iter_mut().find(|(known, _)| *known == keyword) {
            Some((_, known)) => known.append(&mut values),
            None => arguments.push((keyword, values)),
        }
    }
    let arguments = arguments
        .iter()
        .map(|(name, values)| match values.as_slice() {
            [value] => format!("    {name}={value},\n"),
            values => format!("    {name}=[{}],\n", values.join(", ")),
        });
    let arguments: String = arguments.collect();
    let call = match arguments.is_empty() {
        true => "bentpipe.compare()".to_owned(),
        false => format!("bentpipe.compare(\n{arguments})"),
    };
    format!("import bentpipe\n\nanswer = {call}\nprint(answer)\n")
}

/// A text as Python writes it.
fn literal(text: &str) -> String {
    // JSON's escapes are among Python's.
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(options: &[(&str, &str)]) -> Vec<(String, String)> {
        let options = options.iter();
        options
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn error(options: &[(&str, &str)]) -> (Option<String>, String) {
        let refused = refused(api::asked(&given(options)).unwrap_err());
        (refused.option, refused.message)
    }

    #[test]
    fn an_error_points_at_its_option() {
        for (options, option, words) in [
            (&[("rate", "2 Mbits")][..], "rate", "unknown unit `Mbits`"),
            (&[("traffic", "vidoe")], "traffic", "did you mean `video`"),
            (&[("pep", "none,slit")], "pep", "did you mean `split`"),
            (&[("users", "5000")], "users", "5000 is not in 1..=1000"),
            (
                &[("orbit", "geo")],
                "from",
                "`from` and `to` must be set as well",
            ),
            (&[("rat", "5")], "rat", "did you mean `rate`"),
        ] {
            let (found, message) = error(options);
            assert_eq!(found.as_deref(), Some(option), "{message}");
            assert!(
                message.contains(words) && !message.contains("--"),
                "{message}"
            );
        }
        let (option, message) = error(&[
            ("rtt", "1 s"),
            ("orbit", "geo"),
            ("from", "Oslo"),
            ("to", "Rome"),
        ]);
        assert_eq!(option.as_deref(), Some("rtt"));
        assert_eq!(message, "it cannot be set together with `orbit`");
    }

    #[test]
    fn options_have_what_a_form_needs() {
        let options = options();
        let of = |name: &str| options.iter().find(|option| option.name == name).unwrap();
        assert_eq!(of("rate").kind, OptionKind::Rate);
        assert_eq!(
            (of("queue").default.as_deref(), of("rtt").default.as_deref()),
            (Some("1 BDP"), None)
        );
        let values = |name: &str| -> Vec<&str> {
            of(name)
                .choices
                .iter()
                .map(|choice| choice.value.as_str())
                .collect()
        };
        assert_eq!(values("traffic"), ["download", "web", "video", "mixed"]);
        assert_eq!(values("orbit")[0], "geo");
        assert!(values("transport").contains(&"bbr"));
        assert!(
            of("pep")
                .choices
                .iter()
                .all(|choice| !choice.about.is_empty())
        );
        assert!(options.iter().all(|option| !option.help.is_empty()));
    }

    #[test]
    fn a_question_can_be_typed_and_called() {
        let options = given(&[
            ("rate", "50Mbit/s"),
            ("users", "20"),
            ("loss", "5% in bursts of 8 packets"),
            ("pep", "none,split"),
            ("from", "-33.9,18.4"),
        ]);
        assert_eq!(
            command(&options),
            "bentpipe compare --rate 50Mbit/s --users 20 --loss '5% in bursts of 8 packets' \
             --pep none,split --from=-33.9,18.4"
        );
        let program = python(&options);
        for line in [
            "    rate=\"50Mbit/s\",",
            "    users=20,",
            "    pep=[\"none\", \"split\"],",
            "    from_=\"-33.9,18.4\",",
        ] {
            assert!(program.lines().any(|found| found == line), "{program}");
        }
        assert!(python(&[]).contains("bentpipe.compare()"));
    }
}
