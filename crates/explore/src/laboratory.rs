//! What the page takes from the command, so that both print, draw and read the same.

use crate::Drawing;
use bentpipe::compare::{Answer, Comparison};
use bentpipe::outcome::Outcome;
use bentpipe::report::plot::Chart;
use bentpipe::report::table::Table;
use bentpipe::scenario::space::ExpandedConstellations;
use bentpipe::scenario::{Link, Scenario};
use bentpipe::sim::Stop;
use bentpipe::units::{Duration, Time};
use bentpipe::{Paper, Reproduction, Selection};
use serde::Serialize;
use serde_json::Value;

/// An option of `bentpipe compare`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OptionHelp {
    /// The name, as on the command line: `return-rate`.
    pub name: String,
    /// What it is, with the default at its end.
    pub help: String,
    /// What a value is called: `RATE`.
    pub value: String,
    /// True if it takes several values.
    pub several: bool,
    /// What kind of value it takes.
    pub kind: OptionKind,
    /// The value that it has unless it is set; `None` if that depends on others.
    pub default: Option<String>,
    /// The values to choose from. Others may be typed unless the kind is
    /// [`OptionKind::Choice`].
    pub choices: Vec<Choice>,
}

/// What kind of value an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum OptionKind {
    /// Bits per second, as `10 Mbit/s`.
    Rate,
    /// A time, as `600 ms`.
    Time,
    /// Bytes, as `10 MB`.
    Size,
    /// A whole number.
    Count,
    /// A number, such as degrees.
    Number,
    /// What a channel loses, as `0.1%` or `5% in bursts of 8 packets`.
    Loss,
    /// The length of a queue, as `1 BDP`.
    Length,
    /// Other traffic, as `20%` or `2 Mbit/s in bursts`.
    Load,
    /// A city, or degrees north and east.
    Place,
    /// A transport, and what is changed around it.
    Transport,
    /// A file.
    File,
    /// One of its choices.
    Choice,
    /// A text of another kind.
    Text,
}

/// A value to choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// As it is typed.
    pub value: String,
    /// What it is; may be empty.
    pub about: String,
}

/// Why options make no question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// In words.
    pub message: String,
    /// The option that is to blame, if it is one.
    pub option: Option<String>,
}

/// The headings of a table, its rows, and what the headings mean.
pub type Shown = (Vec<String>, Vec<Vec<String>>, String);

/// What a command prints: its tables, each with the text before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Printed {
    /// The tables.
    pub tables: Vec<(String, Table)>,
    /// The text behind the last of them.
    pub rest: String,
}

/// The renderings and readings of the command. Errors are in its words.
pub trait Laboratory: Send + Sync + 'static {
    /// The options of `bentpipe compare` that make a question.
    fn options(&self) -> Vec<OptionHelp>;

    /// The comparison that options ask for, each a name and a value.
    ///
    /// # Errors
    /// What the command would print.
    fn comparison(&self, options: &[(String, String)]) -> Result<Comparison, Refused>;

    /// The command line that asks for it, as a shell takes it.
    fn command(&self, options: &[(String, String)]) -> String;

    /// The program in Python that asks for it.
    fn python(&self, options: &[(String, String)]) -> String;

    /// What was asked, in sentences.
    fn question(&self, answer: &Answer) -> Vec<String>;

    /// The verdict as `bentpipe compare --json` prints it.
    fn verdict(&self, answer: &Answer) -> Value;

    /// The table of `bentpipe compare`: its rows are in [`Answer::order`].
    fn table(&self, answer: &Answer) -> Shown;

    /// Seconds as the table shows them.
    fn time(&self, seconds: f64) -> String;

    /// A change as a share, with its sign, as the table shows it.
    fn change(&self, share: f64) -> String;

    /// The answer as `bentpipe compare --json` prints it.
    fn answer(&self, answer: &Answer) -> Value;

    /// The figure of `bentpipe compare --plot`; `None` if nothing ended.
    fn answer_chart(&self, answer: &Answer) -> Option<Chart>;

    /// The page of `bentpipe compare --report`.
    fn answer_page(&self, answer: &Answer, question: &str) -> String;

    /// What `bentpipe run` prints.
    ///
    /// # Errors
    /// If it cannot be printed.
    fn outcome_tables(&self, outcome: &Outcome, scenario: &Scenario) -> Result<Printed, String>;

    /// What runs on this machine's own TCP lack here; `None` if nothing.
    fn lacking(&self) -> Option<String>;

    /// What `bentpipe run --on both` prints: the scenario in the simulator and, in real
    /// time, on this machine's own TCP. `progress` is called with the seconds that have
    /// gone by.
    ///
    /// # Errors
    /// What the command would print.
    fn on_both(
        &self,
        scenario: &Scenario,
        seed: u64,
        stop: &Stop,
        progress: &dyn Fn(f64),
    ) -> Result<Printed, String>;

    /// What each flow did in several runs of one scenario: means with intervals.
    fn outcome_spread(&self, outcomes: &[Outcome]) -> Table;

    /// The interval at which `bentpipe run --series` samples.
    fn series_interval(&self, scenario: &Scenario) -> Duration;

    /// What `bentpipe check --json` prints.
    fn checked(&self, scenario: &Scenario) -> Value;

    /// Gives the boxes and lines of a network their places, as `bentpipe map` does.
    fn arrange(&self, drawing: &mut Drawing);

    /// What `bentpipe map` writes at a link: its name, rate and delay, and the rest.
    fn link_words(&self, scenario: &Scenario, link: &Link) -> Vec<String>;

    /// How quantities are written: what, and how, as `bentpipe help units` says.
    fn quantities(&self) -> Vec<(&'static str, &'static str)>;

    /// The figures of a study, each with its study and its name.
    fn figures(&self, made: &Reproduction) -> Vec<(String, String, Chart)>;

    /// The picture of `bentpipe map --format svg --at` of all flows.
    fn map_picture(&self, scenario: &Scenario, space: &ExpandedConstellations, at: Time) -> String;

    /// The papers as `bentpipe reproduce --list --json` prints them.
    ///
    /// # Errors
    /// If they cannot be read.
    fn papers(&self) -> Result<Value, String>;

    /// The paper of that name, and what `item` selects of it.
    ///
    /// # Errors
    /// If there is none.
    fn paper(&self, name: &str, item: Option<&str>) -> Result<(Paper, Selection), String>;
}
