//! The tables of a study file and of `paper.toml`, declared once.
//!
//! From each declaration come the struct that the reader works with, the reader of single values,
//! messages, the reference of the language and its JSON Schema.

mod claim;
mod figure;
mod paper;
mod table;
mod value;

pub(crate) use claim::{ClaimKeys, PartKeys};
pub(crate) use figure::{BreakKeys, FigureKeys, FigureKinds, GroupKeys, PublishedKeys, ShownKeys};
pub(crate) use paper::{HighlightKeys, PaperKeys};
pub(crate) use table::{BarKeys, KnownKeys, LimitKeys, RecordedKeys, TableKeys, ValueKeys};
pub(crate) use value::{Percent, Quantity, Replications, Slug, Word};

use crate::study::Expression;
use bentpipe_document::reading::Declared;
use bentpipe_document::schema::{Kind, Section, integer};
use bentpipe_document::{Each, Item, Many, Map, Named, OptionalField, Reported, reference, table};
use bentpipe_units::{Duration, Ratio};

/// Replications of a study, at most.
const MOST: u64 = 100_000;

/// Values of the scenario by their paths.
const SETTINGS: Kind = Kind::Map(&Kind::Any);

table! {
    /// a scenario, what is varied in it, and what is made of the results
    pub(crate) StudyKeys at "", called "the study",
        example "name = \"sizes\"\ntitle = \"Two transports\"\nscenario = \"geo.toml\"\n\
                 replications = 20";
    /// its name: that of the folder of its results, and what other studies call it
    name: Slug, required;
    /// its title
    title: String, or "none";
    /// what it is about
    description: String, or "nothing";
    /// the scenario, relative to the study
    scenario: String [Kind::File], or "it looks at the results of other studies";
    /// congestion controls of one's own (`bentpipe help cc`)
    control: Named<ControlKeys>, or "none";
    /// runs of each cell, with other losses; or until when a cell goes on:
    /// `{ until = "2%", of = "transfer_time", at_least = 5, at_most = 1000 }` ends it when the 95%
    /// interval of that metric's mean is within 2% of the mean
    replications: Replications, default 1;
    /// seed of the first replication, which the others follow
    seed: u64 [integer(0, u64::MAX / 2)], default 1;
    /// by how much flows start later at random, such as `"40 ms"`
    start_jitter: Duration, default "0 s";
    /// whether runs are simulated until their packets repeat exactly, and the rest of them counted in
    /// such periods where nothing else is to happen: the figures are within 0.1%. Runs in which that
    /// is not sure, such as all with random losses or with a `series`, are simulated to their end
    skip_steady: bool, default false;
    /// values of the scenario that hold in every run, by their paths:
    /// `{ "link.satellite.rate" = "5 Mbit/s" }`
    set: Map<Item> [SETTINGS], or "none";
    /// interval of time series, such as `"100 ms"`; `"100 us"` at least
    series: Duration, or "no time series are kept";
    /// times at which metrics can be taken, such as `["10 s", "60 s"]`
    marks: Many<Duration>, or "none";
    /// the paper that it reproduces
    paper: String, or "none";
    /// what is varied
    axis: Vec<AxisKeys>, or "there is one cell";
    /// metrics by an expression
    metric: Vec<MetricKeys>, or "those that every run has";
    /// tables
    table: Vec<TableKeys>, or "none";
    /// figures
    figure: Each<FigureKinds>, or "none";
    /// statements that the results are held to
    claim: Vec<ClaimKeys>, or "none";
}

table! {
    /// a congestion control of one's own, by the name that scenarios use
    pub(crate) ControlKeys at "control.NAME", named "congestion control",
        example "[control.mine]\nfile = \"mine.rhai\"";
    /// its file, relative to the study
    file: String [Kind::File], required;
}

table! {
    /// when a cell has enough runs
    pub(crate) StopKeys at "replications", called "the rule that stops",
        example "[replications]\nuntil = \"2%\"\nof = \"events\"";
    /// half the width of the mean's 95% interval, as a share of the mean
    until: Ratio, required;
    /// the metric whose mean it is
    of: Expression, required;
    /// runs of a cell before its interval counts: the spread of fewer is too uncertain
    at_least: u32 [integer(2, MOST)], default 5;
    /// runs of a cell at most
    at_most: u32 [integer(2, MOST)], default 1000;
}

table! {
    /// something that is varied: values at a path of the scenario, or points that set several
    pub(crate) AxisKeys at "axis", each "an axis of",
        example "[[axis]]\nname = \"queue\"\npath = \"link.satellite.queue\"\n\
                 values = [\"0.5 BDP\", \"1 BDP\"]";
    /// its name, which tables, figures and claims use
    name: String, required;
    /// where in the scenario the values go, such as `link.satellite.queue`; one path or several
    path: Many<String>, or "as `points` say";
    /// the values, as the scenario writes them
    values: Each<Item> [Kind::List(&Kind::Any)], or "those of `points`";
    /// what tables call the values
    labels: Many<String>, or "the values themselves";
    /// short names of the values for expressions
    aliases: Many<String>, or "none";
    /// in place of `path` and `values`
    points: Vec<PointKeys>, or "`path` and `values`";
}

table! {
    /// a point of an axis
    pub(crate) PointKeys at "axis.points", each "a point of",
        example "[[axis]]\nname = \"transport\"\npoints = [\n  { label = \"CUBIC\", alias = \"c\", \
                 set = { \"flow.download.transport\" = \"cubic\" } },\n]";
    /// what tables call it
    label: String, required;
    /// its short name for expressions
    alias: String, or "none";
    /// its number, for axes of numbers and for expressions
    value: Quantity, or "that of the label, if it is one";
    /// values of the scenario, by their paths
    set: Map<Item> [SETTINGS], or "none";
}

table! {
    /// a metric by an expression of others
    pub(crate) MetricKeys at "metric", each "a metric of",
        example "[[metric]]\nname = \"kilobytes_lost\"\nexpression = \"queue_drops * 1.5\"";
    /// its name
    name: String, required;
    /// the expression, such as `time(hybla) / time(cubic)`
    expression: Expression, required;
    /// its unit
    unit: String, or "that of the expression";
}

/// The value of a key that may be left out.
pub(crate) fn given<T>(field: OptionalField<T>) -> Result<Option<T>, Reported> {
    field.map(|given| given.map(|given| given.value))
}

/// The table of a whole study. All others are found from its keys.
#[must_use]
pub fn schema() -> &'static Section {
    StudyKeys::section()
}

/// The reference of the language of studies, as Markdown: `docs/study-reference.md`.
#[must_use]
pub fn study_reference() -> String {
    let paper = reference::markdown(PaperKeys::section());
    format!(
        "{}\n{}\n{}",
        include_str!("schema/introduction.md"),
        reference::markdown(schema()),
        paper.replacen("The top of the file", "`paper.toml`", 1)
    )
}

#[cfg(test)]
mod tests;
