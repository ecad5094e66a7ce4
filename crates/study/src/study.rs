//! A study: a scenario, the axes to sweep, and the tables, figures and claims to derive.

mod figure;

pub use figure::*;

use crate::expr::{Expr, Fault};
use crate::stats::Central;
use crate::unit::Unit;
use bentpipe_document::{Diagnostic, Origin, Place};
use bentpipe_units::{Duration, Time};
use serde::Serialize;
use std::collections::BTreeMap;

/// A study as its file describes it.
#[derive(Clone, Debug)]
pub struct Study {
    /// Its name: file names, and what other studies call it.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What it is about; may be empty.
    pub description: String,
    /// The slug of the paper that it reproduces.
    pub paper: Option<String>,
    /// The scenario file, relative to the study; `None` for a study that only
    /// looks at others.
    pub scenario: Option<String>,
    /// Users' congestion controls: the name of each, and its file, relative to the study.
    pub controls: Vec<(String, String)>,
    /// Values set in every run.
    pub settings: Vec<Setting>,
    /// Seed of the first replication; the others follow it.
    pub seed: u64,
    /// Runs per cell; the most of one where [`precision`](Study::precision) decides.
    pub replications: u32,
    /// Runs of a cell go on until a mean is known well enough; a fixed number of
    /// runs, where `None`.
    pub precision: Option<Precision>,
    /// The statistic that represents the runs of a cell.
    pub central: Central,
    /// Shift of the start times between replications.
    pub start_jitter: Duration,
    /// What repeats exactly is counted in periods instead of simulated, where that is sure to give
    /// the same within 0.1%.
    pub skip_steady: bool,
    /// Interval of the time series; `None` records none.
    pub series: Option<Duration>,
    /// Times at which every run notes what has been counted, in their order.
    pub marks: Vec<Time>,
    /// The axes, slowest first.
    pub axes: Vec<Axis>,
    /// Metrics by expression.
    pub metrics: Vec<DerivedMetric>,
    /// Tables.
    pub tables: Vec<TableSpec>,
    /// Figures.
    pub figures: Vec<FigureSpec>,
    /// Claims.
    pub claims: Vec<ClaimSpec>,
    pub(crate) origin: Origin,
}

/// When a cell has enough runs.
#[derive(Clone, Debug)]
pub struct Precision {
    /// Half the width of the mean's 95% interval, as a share of the mean.
    pub until: f64,
    /// The number whose mean it is, in one run.
    pub of: Expression,
    /// Runs of a cell at least.
    pub at_least: u32,
}

/// Axes and the label at which each is fixed.
pub type Labels = Vec<(String, String)>;

/// Axes and the points of each that are shown.
pub type Shown = Vec<(String, Vec<String>)>;

/// A value set in the scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Dotted path.
    pub path: String,
    /// The value as TOML.
    pub value: String,
}

/// Something that is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// Its points, in order.
    pub points: Vec<Point>,
}

/// One point of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The label in tables and figures.
    pub label: String,
    /// A short name for expressions.
    pub alias: Option<String>,
    /// Its number in base units, if it has one.
    pub value: Option<(f64, Option<Unit>)>,
    /// Its settings.
    pub settings: Vec<Setting>,
}

/// An expression of a study, with its place in the file.
#[derive(Clone, Debug)]
pub struct Expression {
    /// As it is written.
    pub text: String,
    pub(crate) expr: Expr,
    pub(crate) place: ExpressionPlace,
}

/// The position of an expression in the file.
#[derive(Clone, Debug)]
pub(crate) struct ExpressionPlace {
    /// The TOML string, quotes included.
    pub(crate) string: Place,
    /// Where the text itself begins, if it is there without escapes.
    pub(crate) start: Option<usize>,
}

impl ExpressionPlace {
    /// The place of the TOML string that holds `text`.
    pub(crate) fn new(string: Place, text: &str, origin: &Origin) -> ExpressionPlace {
        let start = string.span().and_then(|span| {
            let raw = origin.source.text.get(span.clone())?;
            let offset = raw.find(text)?;
            (raw.len() - offset - text.len() <= 3 && offset <= 4).then_some(span.start + offset)
        });
        ExpressionPlace { string, start }
    }

    /// An error of the expression at its place in the file.
    pub(crate) fn fault(&self, fault: Fault) -> Diagnostic {
        let place = match self.start {
            Some(start) => Place::file(start + fault.span.start..start + fault.span.end),
            None => self.string,
        };
        let error = Diagnostic::new(place, fault.message).label(fault.label);
        fault.help.into_iter().fold(error, Diagnostic::help)
    }
}

impl Expression {
    /// An error of the expression at its place in the file.
    pub(crate) fn fault(&self, fault: Fault) -> Diagnostic {
        self.place.fault(fault)
    }
}

/// A metric by expression.
#[derive(Clone, Debug)]
pub struct DerivedMetric {
    /// Its name.
    pub name: String,
    /// How it is computed.
    pub expression: Expression,
    /// The unit to print; may be empty.
    pub unit: String,
}

/// A table to draw.
#[derive(Clone, Debug)]
pub struct TableSpec {
    /// Name of the item: `table-3`.
    pub slug: String,
    /// Title.
    pub title: String,
    /// The study whose axes and results it shows; its own where `None`.
    pub from: Option<String>,
    /// Axes down the side.
    pub rows: Vec<String>,
    /// Axes across.
    pub columns: Vec<String>,
    /// True if it is printed with rows as columns, as its paper does.
    pub transposed: bool,
    /// Axes that are fixed.
    pub at: Labels,
    /// Axes of which only some points are shown.
    pub only: Shown,
    /// Content of each cell; several values make further columns.
    pub values: Vec<ValueSpec>,
    /// Published numbers: a CSV file, relative to the study.
    pub reference: Option<String>,
    /// How near to them the results must be.
    pub bar: Option<Bar>,
    /// Cells that are known to miss their bar.
    pub known: Vec<KnownMiss>,
    /// Remarks on rows or columns, by label.
    pub notes: BTreeMap<String, String>,
    pub(crate) place: Place,
}

/// A cell that is known to miss its bar: shown as worse, but no regression while it stays within
/// its own limit.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownMiss {
    /// Label of the row.
    pub row: String,
    /// Label of the column.
    pub column: String,
    /// Largest relative error, as a fraction.
    pub worst: f64,
    /// Smallest relative error, as a fraction; zero where only the bar counts.
    pub best: f64,
    /// Why it misses.
    pub reason: String,
}

/// Content of a cell of a table or a figure.
#[derive(Clone, Debug)]
pub struct ValueSpec {
    /// Its label where a cell shows several values.
    pub label: Option<String>,
    /// How it is computed.
    pub expression: Expression,
    /// The unit; the base unit of the expression where `None`.
    pub unit: Option<String>,
    /// Digits after the point.
    pub decimals: u32,
}

/// How near to the published numbers the results must be.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Bar {
    /// For everything that is not named below.
    pub limits: Limits,
    /// By the label of a column or of a part of it.
    pub per_column: BTreeMap<String, Limits>,
}

/// Limits on differences from published numbers.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Limits {
    /// Largest mean of the relative errors, as a fraction.
    pub mean: Option<f64>,
    /// Largest median of the relative errors, as a fraction.
    pub median: Option<f64>,
    /// Largest relative error of a cell, as a fraction.
    pub worst: Option<f64>,
    /// Largest mean of the differences, in the table's unit.
    pub mean_difference: Option<f64>,
    /// Largest difference of a cell, in the table's unit.
    pub worst_difference: Option<f64>,
    /// Largest mean of the differences, as a fraction of that of the best
    /// constant: see [`crate::ErrorSummary::spread`].
    pub spread: Option<f64>,
    /// The result must print as the published number does.
    pub exact_digits: bool,
    /// What is on record in place of a bar, or beside one that is missed.
    pub recorded: Option<Recorded>,
    /// Why the table or column is known to miss its mean, median or spread;
    /// empty where it is to meet them.
    pub missed: String,
}

/// Errors that are on record, not aimed at: a change for better or worse is judged again.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize)]
pub struct Recorded {
    /// Mean of the relative errors, as a fraction.
    pub mean: Option<Banded>,
    /// Largest relative error, as a fraction.
    pub worst: Option<Banded>,
    /// Mean of the differences as a fraction of that of the best constant.
    pub spread: Option<Banded>,
}

/// A number that is on record.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Banded {
    /// The number, as a fraction.
    pub value: f64,
    /// How far it may move, up or down, as a fraction of one, not of the number.
    pub band: f64,
}

/// A claim to check.
#[derive(Clone, Debug)]
pub struct ClaimSpec {
    /// Identifier, such as `000-1`.
    pub id: String,
    /// Statement of the claim, in words.
    pub statement: String,
    /// The study whose axes it names; its own where `None`.
    pub from: Option<String>,
    /// An axis whose points are readings of what the paper leaves open: the
    /// claim is judged at each, and the first is the main one.
    pub readings: Option<String>,
    /// What is checked: the claim as a whole, or the statements that it is made
    /// of, which are judged one by one.
    pub parts: Vec<ClaimPart>,
    /// Why it is so; may be empty.
    pub reason: String,
    /// What its verdict rests on besides the source's own words; may be empty.
    pub basis: String,
}

/// A statement of a claim.
#[derive(Clone, Debug)]
pub struct ClaimPart {
    /// The statement, in words; empty for the claim as a whole.
    pub statement: String,
    /// The formula.
    pub check: Expression,
    /// The verdict to hold it to.
    pub recorded: Option<crate::Verdict>,
}

/// The study that a table, figure or claim is about, where that is another, and its
/// expressions.
pub(crate) type Mentions<'a> = (Option<&'a str>, Vec<&'a Expression>);

impl TableSpec {
    pub(crate) fn mentions(&self) -> Mentions<'_> {
        let values = self.values.iter().map(|value| &value.expression);
        (self.from.as_deref(), values.collect())
    }
}

impl FigureSpec {
    pub(crate) fn mentions(&self) -> Mentions<'_> {
        let value = self.kind.value().map(|value| &value.expression);
        (self.from.as_deref(), value.into_iter().collect())
    }
}

impl ClaimSpec {
    pub(crate) fn mentions(&self) -> Mentions<'_> {
        let checks = self.parts.iter().map(|part| &part.check);
        (self.from.as_deref(), checks.collect())
    }

    /// The labels of its readings, the main one first.
    pub(crate) fn labels<'s>(&self, home: &'s Study) -> Vec<&'s str> {
        let axis = self.readings.as_ref().and_then(|axis| home.axis(axis));
        let points = axis.map_or(&[][..], |axis| &axis.points);
        points.iter().map(|point| point.label.as_str()).collect()
    }

    /// The axis that is fixed in its formulas.
    pub(crate) fn bound(&self) -> impl Iterator<Item = &str> {
        self.readings.iter().map(String::as_str)
    }

    /// The verdict that those recorded for its parts make.
    #[must_use]
    pub fn recorded(&self) -> Option<crate::Verdict> {
        let parts: Option<Vec<_>> = self.parts.iter().map(|part| part.recorded).collect();
        parts.map(|parts| crate::Verdict::of_parts(&parts))
    }
}

impl Study {
    /// The axis of that name.
    #[must_use]
    pub fn axis(&self, name: &str) -> Option<&Axis> {
        self.axes.iter().find(|a| a.name == name)
    }

    /// Number of cells; zero for a study without a scenario.
    #[must_use]
    pub fn cells(&self) -> usize {
        if self.scenario.is_none() {
            return 0;
        }
        self.axes.iter().map(|a| a.points.len()).product()
    }

    /// Keeps only these points of an axis, by label or alias, in their order.
    /// What names another one then has no results.
    ///
    /// # Errors
    /// If there is no such axis, or no such point; lists the existing ones.
    pub fn keep(&mut self, axis: &str, names: &[&str]) -> Result<(), String> {
        let known: Vec<&str> = self.axes.iter().map(|a| a.name.as_str()).collect();
        let Some(found) = self.axes.iter().position(|a| a.name == axis) else {
            return Err(format!(
                "`{}` has no axis `{axis}`; it has {}",
                self.name,
                known.join(", ")
            ));
        };
        let mut kept = Vec::with_capacity(names.len());
        for name in names {
            let Some(point) = self.axes[found].point(name) else {
                let labels: Vec<&str> = self.axes[found]
                    .points
                    .iter()
                    .map(|p| p.label.as_str())
                    .collect();
                return Err(format!(
                    "axis `{axis}` of `{}` has no point `{name}`; it has {}",
                    self.name,
                    labels.join(", ")
                ));
            };
            kept.push(point);
        }
        let mut at = 0..;
        self.axes[found]
            .points
            .retain(|_| at.next().is_some_and(|at| kept.contains(&at)));
        // Tables and figures show no more than there is.
        let labels: Vec<String> = self.axes[found]
            .points
            .iter()
            .map(|p| p.label.clone())
            .collect();
        let shown = self.tables.iter_mut().map(|t| &mut t.only);
        for only in shown.chain(self.figures.iter_mut().map(|f| &mut f.only)) {
            for (_, points) in only.iter_mut().filter(|(name, _)| name == axis) {
                points.retain(|label| labels.contains(label));
            }
        }
        Ok(())
    }

    /// The metric by expression of that name, and its index.
    pub(crate) fn derived(&self, name: &str) -> Option<(usize, &DerivedMetric)> {
        self.metrics
            .iter()
            .enumerate()
            .find(|(_, m)| m.name == name)
    }
}

impl Axis {
    /// The index of the point with that alias or label.
    #[must_use]
    pub fn point(&self, name: &str) -> Option<usize> {
        let alias = |p: &Point| p.alias.as_deref() == Some(name);
        let label = |p: &Point| p.label == name;
        self.points
            .iter()
            .position(alias)
            .or_else(|| self.points.iter().position(label))
    }

    /// The points that are left of it where items show some only.
    pub(crate) fn shown(&self, only: &[(String, Vec<String>)]) -> Vec<&Point> {
        let only = only.iter().find(|(name, _)| *name == self.name);
        let wanted: Option<Vec<usize>> =
            only.map(|(_, points)| points.iter().filter_map(|p| self.point(p)).collect());
        let all = self.points.iter().enumerate();
        all.filter(|(i, _)| wanted.as_ref().is_none_or(|w| w.contains(i)))
            .map(|(_, p)| p)
            .collect()
    }

    /// Labels and aliases, for messages.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.points
            .iter()
            .flat_map(|p| [Some(p.label.as_str()), p.alias.as_deref()])
            .flatten()
    }
}
