//! Computes a table: our numbers and the published ones.

use crate::bar::{self, CellVerdict, ErrorSummary, Pair, relative_error};
use crate::catalogue::Catalogue;
use crate::expr::{Context, Scope, World, evaluate, number};
use crate::reference::{COLUMN_JOIN, ROW_JOIN, Reference};
use crate::study::{Limits, Study, TableSpec, ValueSpec};
use crate::unit::Unit;
use serde::Serialize;

/// A computed table, to be drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableData {
    /// Name of the item.
    pub slug: String,
    /// Title.
    pub title: String,
    /// Names of the axes down the side.
    pub row_axes: Vec<String>,
    /// Labels of each row, one per axis.
    pub rows: Vec<Vec<String>>,
    /// Labels of each column: of its axes and, if there are several, of its
    /// value.
    pub columns: Vec<Vec<String>>,
    /// True if it is printed with rows as columns.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub transposed: bool,
    /// Cells, row by row.
    pub cells: Vec<Vec<TableCell>>,
    /// Errors of the table as a whole, then of columns with a bar of their
    /// own. Empty without published numbers.
    pub errors: Vec<ErrorSummary>,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableCell {
    /// The row's labels, joined.
    pub row: String,
    /// The column's labels, joined.
    pub column: String,
    /// Our number, in `unit`.
    pub ours: Option<f64>,
    /// Half the width of its 95% interval.
    pub ci95: Option<f64>,
    /// Number of replications behind the cell.
    pub n: usize,
    /// The published number, if the paper prints one.
    pub published: Option<f64>,
    /// The unit of both.
    pub unit: String,
    /// Digits after the point.
    pub decimals: u32,
    /// (ours - published) / published, as a fraction.
    pub relative_error: Option<f64>,
    /// Comparison with the published number.
    pub verdict: CellVerdict,
    /// True if it misses its bar, as is known of it.
    pub known: bool,
    /// True if the verdict is not the recorded one: outside the bar and not known to be, within it
    /// and known to miss it, or missing although there is a published number.
    pub changed: bool,
    /// Remarks; why there is no number.
    pub note: String,
}

/// Labels along one side of a table, with what they fix.
pub(crate) struct Side {
    pub(crate) labels: Vec<String>,
    pub(crate) at: Vec<(String, String)>,
}

/// Every combination of the points of some axes.
pub(crate) fn sides(axes: &[String], only: &[(String, Vec<String>)], home: &Study) -> Vec<Side> {
    let mut sides = vec![Side {
        labels: Vec::new(),
        at: Vec::new(),
    }];
    for axis in axes.iter().filter_map(|name| home.axis(name)) {
        let points = axis.shown(only);
        let longer = |side: &Side, label: &String| Side {
            labels: side.labels.iter().chain([label]).cloned().collect(),
            at: side
                .at
                .iter()
                .cloned()
                .chain([(axis.name.clone(), label.clone())])
                .collect(),
        };
        sides = sides
            .iter()
            .flat_map(|side| points.iter().map(move |point| longer(side, &point.label)))
            .collect();
    }
    sides
}

/// The labels of all rows and columns, joined as references write them.
pub(crate) fn labels(spec: &TableSpec, home: &Study) -> (Vec<String>, Vec<String>) {
    let rows = sides(&spec.rows, &spec.only, home);
    let columns = sides(&spec.columns, &spec.only, home);
    let columns = columns.iter().flat_map(|side| {
        spec.values
            .iter()
            .map(|value| column_labels(side, value).join(COLUMN_JOIN))
    });
    (
        rows.iter().map(|side| side.labels.join(ROW_JOIN)).collect(),
        columns.collect(),
    )
}

fn column_labels(side: &Side, value: &ValueSpec) -> Vec<String> {
    side.labels.iter().chain(&value.label).cloned().collect()
}

/// The point that `at` fixes, by its label.
pub(crate) fn fixed(at: &[(String, String)], home: &Study) -> Vec<(String, String)> {
    let label = |axis: &str, name: &str| {
        let axis = home.axis(axis)?;
        Some(axis.points[axis.point(name)?].label.clone())
    };
    at.iter()
        .map(|(axis, name)| {
            (
                axis.clone(),
                label(axis, name).unwrap_or_else(|| name.clone()),
            )
        })
        .collect()
}

/// A value at some labels, scaled to its unit.
pub(crate) struct Shown {
    pub(crate) value: Result<(f64, Option<f64>, usize), String>,
    /// One per replication.
    pub(crate) samples: Vec<f64>,
    pub(crate) unit: String,
}

pub(crate) fn shown(
    spec: &ValueSpec,
    home: &Study,
    at: &[(String, String)],
    studies: &dyn Catalogue,
    world: &dyn World,
) -> Shown {
    let scope = Scope::new(home, studies, &spec.expression.text)
        .with_bound(at.iter().map(|(axis, _)| axis.as_str()));
    let (number, measure) = match number(&spec.expression.expr, &scope) {
        Ok(resolved) => resolved,
        Err(fault) => {
            let unit = spec.unit.clone().unwrap_or_default();
            return Shown {
                value: Err(fault.message),
                samples: Vec::new(),
                unit,
            };
        }
    };
    let unit = spec
        .unit
        .clone()
        .unwrap_or_else(|| measure.map_or("", Unit::symbol).to_owned());
    let factor = measure.and_then(|m| m.factor(&unit)).unwrap_or(1.0);
    let context = Context::new(&home.name).moved(at);
    let mut samples = Vec::new();
    let value = evaluate(&number, &context, world).map(|estimate| {
        samples.extend(estimate.samples.iter().map(|x| x * factor));
        let ci95 = estimate.ci95().map(|half| half * factor);
        (estimate.mean * factor, ci95, estimate.samples.len())
    });
    Shown {
        value,
        samples,
        unit,
    }
}

/// Computes a table over results.
pub(crate) fn compute(
    spec: &TableSpec,
    home: &Study,
    reference: Option<&Reference>,
    studies: &dyn Catalogue,
    world: &dyn World,
) -> TableData {
    let fixed = fixed(&spec.at, home);
    let results = world.results(&home.name);
    let fewer = results.is_some_and(crate::StudyResults::are_fewer);
    judged(spec, home, reference, fewer, &|place| {
        let sides = place.row_at.iter().chain(place.column_at);
        let at: Vec<_> = fixed.iter().chain(sides).cloned().collect();
        shown(place.value, home, &at, studies, world)
    })
}

/// A cell's place in its table.
pub(crate) struct Place<'a> {
    /// The row's labels, joined.
    pub(crate) row: String,
    /// The column's labels, joined.
    pub(crate) column: String,
    spec: &'a TableSpec,
    /// With fewer runs than the study asks for.
    fewer: bool,
    value: &'a ValueSpec,
    row_at: &'a [(String, String)],
    column_at: &'a [(String, String)],
}

/// Holds numbers to the published ones of a table.
pub(crate) fn judged(
    spec: &TableSpec,
    home: &Study,
    reference: Option<&Reference>,
    fewer: bool,
    number: &dyn Fn(&Place<'_>) -> Shown,
) -> TableData {
    let rows = sides(&spec.rows, &spec.only, home);
    let columns = sides(&spec.columns, &spec.only, home);
    let mut cells = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut line = Vec::with_capacity(columns.len() * spec.values.len());
        for column in &columns {
            for value in &spec.values {
                let place = Place {
                    row: row.labels.join(ROW_JOIN),
                    column: column_labels(column, value).join(COLUMN_JOIN),
                    spec,
                    fewer,
                    value,
                    row_at: &row.at,
                    column_at: &column.at,
                };
                let shown = number(&place);
                line.push(cell(place, shown, reference));
            }
        }
        cells.push(line);
    }
    let errors = if reference.is_some() {
        errors(spec, fewer, &cells)
    } else {
        Vec::new()
    };
    TableData {
        slug: spec.slug.clone(),
        title: spec.title.clone(),
        row_axes: spec.rows.clone(),
        rows: rows.into_iter().map(|side| side.labels).collect(),
        columns: columns
            .iter()
            .flat_map(|side| spec.values.iter().map(|value| column_labels(side, value)))
            .collect(),
        transposed: spec.transposed,
        cells,
        errors,
    }
}

fn cell(place: Place<'_>, shown: Shown, reference: Option<&Reference>) -> TableCell {
    let Place {
        row,
        column,
        spec,
        fewer,
        ..
    } = place;
    let decimals = place.value.decimals;
    let published = reference.and_then(|r| r.get(&row, &column));
    let mut notes: Vec<&str> = Vec::new();
    notes.extend(published.map(|p| p.note.as_str()).filter(|n| !n.is_empty()));
    let whole = format!("{row}{COLUMN_JOIN}{column}");
    let parts = row.split(ROW_JOIN).chain(column.split(COLUMN_JOIN));
    for name in [whole.as_str(), row.as_str(), column.as_str()]
        .into_iter()
        .chain(parts)
    {
        if let Some(note) = spec.notes.get(name)
            && !notes.contains(&note.as_str())
        {
            notes.push(note);
        }
    }
    let (ours, ci95, n) = match &shown.value {
        Ok((value, ci95, n)) => (Some(*value), *ci95, *n),
        Err(why) => {
            notes.push(why);
            (None, None, 0)
        }
    };
    let limits = spec
        .bar
        .as_ref()
        .map_or_else(Limits::default, |bar| bar.limits_of(&column));
    let verdict = match (ours, published) {
        (None, _) => CellVerdict::Missing,
        (Some(_), None) => CellVerdict::Reported,
        (Some(ours), Some(published)) => {
            let half = ci95.filter(|_| fewer).unwrap_or(0.0);
            let nearest = published.value.clamp(ours - half, ours + half);
            match bar::cell(&limits, nearest, published, decimals) {
                CellVerdict::Worse if fewer && ci95.is_none() => CellVerdict::Reported,
                verdict => verdict,
            }
        }
    };
    let published = published.map(|p| p.value);
    let error = ours.zip(published).and_then(|(a, b)| relative_error(a, b));
    let listed = spec
        .known
        .iter()
        .find(|known| known.row == row && known.column == column);
    let known = listed.filter(|known| {
        verdict == CellVerdict::Worse && error.is_some_and(|error| known.covers(error))
    });
    let changed = match verdict {
        CellVerdict::Worse => known.is_none(),
        CellVerdict::Ok => listed.is_some() && !fewer,
        CellVerdict::Missing => published.is_some(),
        CellVerdict::Reported => false,
    };
    let beyond = published.map_or_else(String::new, |p| share_beyond(&shown.samples, p));
    if let Some(known) = known {
        notes.extend(
            [known.reason.as_str(), beyond.as_str()]
                .iter()
                .filter(|n| !n.is_empty()),
        );
    }
    TableCell {
        ours,
        ci95,
        n,
        published,
        decimals,
        relative_error: error,
        verdict,
        known: known.is_some(),
        changed,
        note: notes.join("; "),
        unit: shown.unit,
        row,
        column,
    }
}

/// The share of runs beyond a published number.
fn share_beyond(samples: &[f64], published: f64) -> String {
    if samples.len() < 20 {
        return String::new();
    }
    let below = samples.iter().filter(|x| **x <= published).count();
    let (few, side) = if 2 * below <= samples.len() {
        (below, "at or below")
    } else {
        (samples.len() - below, "above")
    };
    format!(
        "{few} of our {} runs are {side} the published number",
        samples.len()
    )
}

fn errors(spec: &TableSpec, fewer: bool, cells: &[Vec<TableCell>]) -> Vec<ErrorSummary> {
    let none = crate::study::Bar::default();
    let bar = spec.bar.as_ref().unwrap_or(&none);
    let summary = |column: Option<&String>, limits: &Limits| {
        let chosen = cells.iter().flatten().filter(|c| match column {
            None => bar.counts(&c.column),
            Some(name) => c.column == *name || c.column.split(COLUMN_JOIN).any(|part| part == name),
        });
        let pairs = chosen.filter_map(|c| {
            Some(Pair {
                row: &c.row,
                column: &c.column,
                ours: c.ours?,
                published: c.published?,
            })
        });
        let pairs: Vec<Pair<'_>> = pairs.collect();
        let mut summary = bar::summary(column.cloned(), limits, &pairs);
        if fewer {
            summary.changed = false;
            if summary.verdict == CellVerdict::Worse {
                summary.verdict = CellVerdict::Reported;
            }
        }
        summary
    };
    // If every column has its own bar, nothing is left for the table.
    let whole = summary(None, &bar.limits);
    std::iter::once(whole)
        .filter(|s| s.cells > 0 || bar.per_column.is_empty())
        .chain(
            bar.per_column
                .iter()
                .map(|(name, limits)| summary(Some(name), limits)),
        )
        .collect()
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
