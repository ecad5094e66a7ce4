//! For programs that carry the command in themselves, as the Python package
//! does: its options as keywords, and its renderings of results, so that both
//! print and draw the same.

use crate::args::{self, Command};
use crate::compare::{self, BUILD};
use crate::exit::{Failure, did_you_mean};
use crate::output::Output;
use crate::run;
use crate::shares::{self, WithShares};
use crate::{cc, charts, items, reproduce, transports};
use bentpipe::Reproduction;
use bentpipe::compare::{Answer, Comparison};
use bentpipe_outcome::Outcome;
use bentpipe_report::plot::Chart;
use bentpipe_scenario::Scenario;
use bentpipe_study::{Paper, Selection};
use bentpipe_units::{Duration, Time};
use std::ffi::OsString;
use std::path::PathBuf;

/// Why something could not be done, in the words of the command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        Error(match failure {
            Failure::Message(text) | Failure::Rendered(text) => text.trim_end().to_owned(),
            Failure::ClosedPipe => "the reader went away".to_owned(),
        })
    }
}

/// The message that the command prints for an error of the library.
#[must_use]
pub fn message(error: bentpipe::Error) -> String {
    Error::from(Failure::from(error)).0
}

/// An option of a subcommand that makes sense in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptionHelp {
    /// The name, as on the command line: `return-rate`.
    pub name: String,
    /// What it is, one paragraph with the default at its end.
    pub help: String,
    /// What a value is called: `RATE`.
    pub value: String,
    /// True if it takes several values.
    pub several: bool,
    /// The value that it has unless it is set; `None` if that depends on others.
    pub default: Option<String>,
    /// The names to choose from; empty if it takes other values.
    pub choices: Vec<String>,
}

/// Options that say where output goes, and what prints it; programs have
/// results instead.
const OF_THE_TERMINAL: [&str; 10] = [
    "help", "wide", "on", "plot", "curves", "report", "details", "json", "version", "list",
];

/// The options of the subcommand of that name, in the order of its help.
#[must_use]
pub fn options(subcommand: &str) -> Vec<OptionHelp> {
    let command = args::command();
    let Some(found) = command.find_subcommand(subcommand) else {
        return Vec::new();
    };
    let of = |arg: &clap::Arg| {
        let name = arg.get_long()?.to_owned();
        if OF_THE_TERMINAL.contains(&name.as_str()) {
            return None;
        }
        let mut help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let default = arg.get_default_values().first();
        let default = default.map(|value| value.to_string_lossy().into_owned());
        if let Some(default) = default.as_ref().filter(|_| !help.contains("[default")) {
            help += &format!(" [default: {default}]");
        }
        let choices = arg.get_possible_values().into_iter();
        let value = arg.get_value_names().and_then(<[_]>::first);
        Some(OptionHelp {
            name,
            help: help.split_whitespace().collect::<Vec<_>>().join(" "),
            value: value.map(ToString::to_string).unwrap_or_default(),
            several: arg.get_value_delimiter().is_some(),
            default,
            choices: choices.map(|value| value.get_name().to_owned()).collect(),
        })
    };
    found.get_arguments().filter_map(of).collect()
}

/// The comparison that `bentpipe compare` with these options asks for; each is a
/// name and a value. An option with several values comes several times.
///
/// # Errors
/// What the command would say, options called as keywords: `return_rate`.
pub fn comparison(given: &[(String, String)]) -> Result<Comparison, Error> {
    asked(given).map_err(|misasked| {
        Error(as_keywords(&match misasked {
            Misasked::Unknown { message, .. } => message,
            Misasked::Options(error) => {
                let text = error.to_string();
                let text = text.split("\n\nUsage").next().unwrap_or_default();
                let text = text.split("\n\nFor more").next().unwrap_or_default();
                text.trim_start_matches("error: ").trim_end().to_owned()
            }
            Misasked::Failure(failure) => Error::from(failure).0,
        }))
    })
}

/// Why options ask for no comparison.
#[derive(Debug)]
pub(crate) enum Misasked {
    /// There is no option of that name.
    Unknown {
        /// The name.
        #[cfg_attr(
            not(feature = "explore"),
            expect(dead_code, reason = "only the page marks the field of an option")
        )]
        name: String,
        /// What there is to say.
        message: String,
    },
    /// A value is wrong, or options do not belong together.
    Options(clap::Error),
    /// They make no question.
    Failure(Failure),
}

/// The same comparison, with an error that can be taken apart.
pub(crate) fn asked(given: &[(String, String)]) -> Result<Comparison, Misasked> {
    let known = options("compare");
    let mut words = vec![OsString::from("bentpipe"), OsString::from("compare")];
    for (name, value) in given {
        if !known.iter().any(|option| option.name == *name) {
            let names = known.iter().map(|option| option.name.as_str());
            let near = did_you_mean(name, names);
            return Err(Misasked::Unknown {
                name: name.clone(),
                message: format!("there is no option `{name}`{near}"),
            });
        }
        words.push(format!("--{name}={value}").into());
    }
    let parsed = args::parse(&words, WIDTH).map_err(Misasked::Options)?;
    match parsed.command {
        Command::Compare(args) => cc::register(&args.own)
            .and_then(|()| compare::comparison(&args))
            .map_err(Misasked::Failure),
        _ => Err(Misasked::Failure(Failure::new("it is no comparison"))),
    }
}

/// A message about options, with their names as keywords of a call:
/// `--return-rate <RATE>` is `return_rate`.
#[must_use]
pub fn as_keywords(text: &str) -> String {
    let mut parts = text.split("--");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        let (name, rest) = part.split_at(end.unwrap_or(part.len()));
        shown += &name.replace('-', "_");
        let value = rest
            .strip_prefix(" <")
            .and_then(|rest| rest.split_once('>'));
        shown += value.map_or(rest, |(_, rest)| rest);
    }
    shown
}

/// Columns of a line that nothing is broken for.
const WIDTH: usize = 100;

/// What `print` prints, in lines of so many characters.
fn printed(
    width: usize,
    print: impl FnOnce(&mut Output) -> Result<(), Failure>,
) -> Result<String, Error> {
    let (mut out, text) = Output::text_of(width);
    print(&mut out)?;
    drop(out);
    Ok(text.take())
}

/// The answer as `bentpipe compare` prints it.
///
/// # Errors
/// If it cannot be printed.
pub fn answer_text(answer: &Answer, width: usize, details: bool) -> Result<String, Error> {
    printed(width, |out| {
        compare::print::all(answer, BUILD, details, out)
    })
}

/// The answer as `bentpipe compare --json` prints it.
#[must_use]
pub fn answer_json(answer: &Answer) -> String {
    compare::json::document(answer, BUILD).to_string()
}

/// The figure of `bentpipe compare --plot`; `None` if nothing can be
/// recommended.
#[must_use]
pub fn answer_chart(answer: &Answer) -> Option<Chart> {
    answer.recommended()?;
    Some(match answer.day() {
        Some(day) => compare::day::chart(answer, &day),
        None => compare::plot::chart(answer),
    })
}

/// The figure of `bentpipe compare --curves`, of all rows or of those that
/// matter most; it runs some of them again.
///
/// # Errors
/// If a run hits a bound.
pub fn answer_curves(answer: &Answer, all: bool) -> Result<Chart, Error> {
    Ok(compare::over_time::chart(answer, all)?)
}

/// The page of `bentpipe compare --report`; `question` repeats it.
#[must_use]
pub fn answer_page(answer: &Answer, question: &str) -> String {
    compare::report::page(answer, BUILD, question).to_html()
}

/// What `bentpipe run` prints, and its JSON.
///
/// # Errors
/// If it cannot be printed.
pub fn outcome_text(outcome: &Outcome, scenario: &Scenario, width: usize) -> Result<String, Error> {
    let whole = with_shares(outcome, scenario)?;
    printed(width, |out| run::print(&whole, None, scenario, out))
}

/// What `bentpipe run --json` prints.
///
/// # Errors
/// If it cannot be printed.
pub fn outcome_json(outcome: &Outcome, scenario: &Scenario) -> Result<String, Error> {
    let whole = with_shares(outcome, scenario)?;
    serde_json::to_string(&whole).map_err(|e| Error(e.to_string()))
}

/// What `bentpipe run` prints: its tables, each of at most `rows` rows with the text before
/// it, and the text behind the last.
///
/// # Errors
/// If it cannot be printed.
#[cfg(feature = "explore")]
pub fn outcome_tables(
    outcome: &Outcome,
    scenario: &Scenario,
    rows: usize,
) -> Result<(Vec<(String, bentpipe_report::table::Table)>, String), Error> {
    let whole = with_shares(outcome, scenario)?;
    let print = |out: &mut Output| run::print(&whole, None, scenario, out);
    Ok(Output::tables_of(rows, print)?)
}

fn with_shares<'o>(outcome: &'o Outcome, scenario: &Scenario) -> Result<WithShares<'o>, Error> {
    let interval = outcome
        .interval(Time::ZERO, Time::MAX)
        .map_err(|e| Error(e.to_string()))?;
    Ok(WithShares {
        outcome,
        bottlenecks: shares::bottlenecks(outcome, scenario, &interval),
    })
}

/// The figure of `bentpipe run --plot`; `None` without series.
#[must_use]
pub fn outcome_chart(outcome: &Outcome, scenario: &Scenario) -> Option<Chart> {
    if outcome.series.is_empty() {
        return None;
    }
    run::chart(scenario, &[("", outcome)])
}

/// The interval of series that suits a scenario.
#[must_use]
pub fn series_interval(scenario: &Scenario) -> Duration {
    run::interval(scenario)
}

/// What `bentpipe study` and `bentpipe reproduce` print of their results.
///
/// # Errors
/// If it cannot be printed.
pub fn reproduction_text(made: &Reproduction, width: usize) -> Result<String, Error> {
    printed(width, |out| items::print(made, out))
}

/// The figures, each with its study and its name.
#[must_use]
pub fn reproduction_charts(made: &Reproduction) -> Vec<(String, String, Chart)> {
    let figures = made.figures.iter();
    figures
        .map(|(study, figure)| (study.clone(), figure.slug.clone(), charts::chart(figure)))
        .collect()
}

/// What `bentpipe transports --json` prints.
#[must_use]
pub fn transports_json() -> String {
    transports::all().to_string()
}

/// Where the papers are that come with a program; those of the current folder
/// or one above it go first. Only the first call counts.
pub fn papers_are_in(folder: PathBuf) {
    reproduce::papers_are_in(folder);
}

/// The papers, as `bentpipe reproduce --list` prints them with `--json`.
///
/// # Errors
/// If they cannot be read.
pub fn papers_json() -> Result<String, Error> {
    Ok(reproduce::listed_json()?.to_string())
}

/// The paper of that name, and what `item` selects of it: a table, a figure, a
/// claim, a study, or everything.
///
/// # Errors
/// If there is none of that name.
pub fn paper(name: &str, item: Option<&str>) -> Result<(Paper, Selection), Error> {
    Ok(reproduce::find(name, item)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(given: &[(&str, &str)]) -> String {
        let given: Vec<(String, String)> = given
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        comparison(&given).unwrap_err().to_string()
    }

    #[test]
    fn messages_call_options_as_keywords() {
        assert_eq!(
            error(&[("user", "3")]),
            "there is no option `user`; did you mean `users`?"
        );
        assert!(error(&[("return-rate", "5")]).contains("'5' for 'return_rate':"));
        assert!(error(&[("orbit", "iridium")]).contains("from"));
        assert_eq!(
            as_keywords("--server-rtt <TIME> is, as --rtt, a time -- mostly"),
            "server_rtt is, as rtt, a time  mostly"
        );
    }

    #[test]
    fn only_options_that_ask_are_offered() {
        let names: Vec<String> = options("compare").into_iter().map(|o| o.name).collect();
        assert!(names.contains(&"rate".to_owned()) && names.contains(&"seed".to_owned()));
        assert!(!names.contains(&"json".to_owned()));
        assert!(options("fish").is_empty());
    }
}
