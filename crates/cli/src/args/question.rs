//! The options of a question on the command line, as `bentpipe` declares them.

use bentpipe::compare::{Kind, OptionSpec, Question, QuestionError};
use clap::builder::{PathBufValueParser, PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueHint};
use std::ffi::{OsStr, OsString};

/// What the command line asks.
///
/// An error is kept: it is printed as one of the command, not as one of its usage.
#[derive(Clone, Debug)]
pub(crate) struct Asked(pub(crate) Result<Question, QuestionError>);

/// Where an option of the question stands in the help: `--on` is before `--runs`.
pub(crate) fn place(name: &str) -> usize {
    let all = Question::OPTIONS;
    let at = |name: &str| all.iter().position(|option| option.name == name);
    let (at, runs) = (at(name).unwrap_or(all.len()), at("runs"));
    at + usize::from(runs.is_some_and(|runs| at >= runs))
}

impl Args for Asked {
    fn augment_args(command: Command) -> Command {
        command.args(Question::OPTIONS.iter().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Asked::augment_args(command)
    }
}

impl FromArgMatches for Asked {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Asked, clap::Error> {
        let mut given: Vec<(&str, &OsString)> = Vec::new();
        for name in Question::OPTIONS.iter().map(|option| option.name) {
            if matches.value_source(name) == Some(ValueSource::CommandLine) {
                let texts = matches.get_many::<OsString>(name).into_iter().flatten();
                given.extend(texts.map(|text| (name, text)));
            }
        }
        Ok(Asked(Question::read(&given)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Asked::from_arg_matches(matches)?;
        Ok(())
    }
}

fn argument(option: &'static OptionSpec<Question>) -> Arg {
    let help = match option.otherwise {
        Some(_) => option.full_help(),
        // clap adds a default that is a value.
        None => option.help.to_owned(),
    };
    let argument = Arg::new(option.name)
        .long(option.name)
        .value_name(option.metavar)
        .help(help)
        .display_order(place(option.name))
        .value_parser(Reader(option))
        .hide_possible_values(true)
        // `-5ms` is a wrong value of the option, and no option of its own.
        .allow_hyphen_values(!matches!(option.kind, Kind::File | Kind::Orbit))
        .conflicts_with_all(option.excludes)
        .requires_all(option.needs);
    let argument = match option.several {
        true => argument.action(ArgAction::Append).value_delimiter(','),
        false => argument.action(ArgAction::Set),
    };
    match (option.kind, option.default) {
        (Kind::File, _) => argument.value_hint(ValueHint::AnyPath),
        // Named alone it is set, as any other flag of a command.
        (Kind::Flag, _) => argument
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("yes")
            .hide_default_value(true),
        (_, Some(default)) => argument.default_value(default),
        (_, None) => argument,
    }
}

/// True for an option of the command, such as `--loss` or `--loss=1%`: the value before it
/// was forgotten.
fn is_option(command: &Command, word: &str) -> bool {
    let Some(long) = word.strip_prefix("--") else {
        return false;
    };
    let name = long.split_once('=').map_or(long, |(name, _)| name);
    let mut arguments = command.get_arguments();
    name == "help" || arguments.any(|argument| argument.get_long() == Some(name))
}

/// Refuses texts that the option does not take.
#[derive(Clone)]
struct Reader(&'static OptionSpec<Question>);

impl TypedValueParser for Reader {
    type Value = OsString;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<OsString, clap::Error> {
        if self.0.kind == Kind::File {
            let file = PathBufValueParser::new().parse_ref(command, argument, value)?;
            return Ok(file.into());
        }
        if let (Some(argument), Some(word)) = (argument, value.to_str())
            && is_option(command, word)
        {
            let mut error = clap::Error::new(ErrorKind::InvalidValue).with_cmd(command);
            let name = ContextValue::String(argument.to_string());
            error.insert(ContextKind::InvalidArg, name);
            error.insert(
                ContextKind::InvalidValue,
                ContextValue::String(String::new()),
            );
            return Err(error);
        }
        let option = self.0;
        let read = move |text: &str| option.check(OsStr::new(text));
        read.parse_ref(command, argument, value)?;
        Ok(value.to_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let choices = (self.0.kind == Kind::Choice).then(self.0.choices)?;
        let values = choices
            .into_iter()
            .map(|choice| PossibleValue::new(choice.value));
        Some(Box::new(values))
    }
}
