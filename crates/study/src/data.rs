//! The tables of a study's runs, for tools that analyse them: their axes as
//! numbers, and `results`, which has a row for each run.

use crate::catalogue::Unknown;
use crate::error::StoreError;
use crate::expr::{Number, Scope, number, single, single_fault};
use crate::metric::{METRICS, Metric, Selection};
use crate::record::{RunData, RunResult};
use crate::results::StudyResults;
use crate::study::{Axis, Point, Study};
use crate::unit::Unit;
use bentpipe_outcome::{
    AxisColumn, AxisPoint, AxisUnit, Column, Error, Kind, Provenance, RowWriter, RunKey, Value,
};
use std::path::Path;

/// The table with a row for each run: the name of its files.
pub const RESULTS: &str = "results";

/// Meaning of a row.
pub const ABOUT_RESULTS: &str = "a row per run, those that failed included: what the run was and \
     every metric that studies can name without further arguments, over all of its flows or links";

/// The metrics that are columns of `results`: those of a whole run, without a
/// choice of link and without time series. The share of all flows in what all
/// flows got says nothing.
fn metrics() -> impl Iterator<Item = &'static Metric> {
    METRICS
        .iter()
        .filter(|m| !m.needs_link() && !m.needs_series() && m.name != "share")
}

/// The name of a metric's column, which ends with its unit.
fn column_name(metric: &Metric) -> String {
    with_ending(metric.name, metric.unit)
}

fn with_ending(name: &str, unit: Unit) -> String {
    let ending = match unit {
        Unit::Seconds => "_s",
        Unit::BitRate => "_bps",
        Unit::Bytes => "_bytes",
        Unit::Segments => "_segments",
        Unit::Count | Unit::Ratio | Unit::Percent => "",
    };
    match name.ends_with(ending) {
        true => name.to_owned(),
        false => format!("{name}{ending}"),
    }
}

fn kind(metric: &Metric) -> Kind {
    match metric.unit {
        Unit::Count | Unit::Bytes => Kind::Integer,
        _ => Kind::Number,
    }
}

/// The columns of `results`, without a study's axes.
#[must_use]
pub fn results_columns() -> Vec<Column> {
    let named = bentpipe_outcome::run_columns();
    let mut columns = named[..4].to_vec();
    columns.extend([
        Column::new(
            "scenario_hash",
            Kind::Text,
            "hash of the scenario that ran, with everything that the study sets in it: two runs \
             with the same hash and the same seed are the same run",
        ),
        Column::new("failure", Kind::Text, "why the run failed; empty if it ran"),
        Column::new("flows", Kind::Integer, "flows of the run"),
    ]);
    columns.extend(metrics().map(|metric| {
        let together = metric.together().unwrap_or_default();
        let about = format!("{}{together}", metric.about);
        Column::new(column_name(metric), kind(metric), about)
    }));
    columns
}

fn results_row(run: &TableRow<'_>) -> Vec<Value> {
    let data = run.result.data();
    let scenario = data.map_or("", |data| data.outcome.scenario.as_str());
    let mut row: Vec<Value> = vec![
        run.key.study.as_str().into(),
        run.key.run.into(),
        scenario.into(),
        run.seed.into(),
        run.hash.into(),
        run.result.failure().unwrap_or("").into(),
        data.map(|data| data.outcome.flows.len() as u64).into(),
    ];
    let all = Selection::default();
    row.extend(metrics().map(|metric| {
        let value = data.and_then(|data| metric.value(data, &all).ok());
        match kind(metric) {
            Kind::Integer => value.map(|x| x.round() as u64).into(),
            _ => value.into(),
        }
    }));
    row
}

/// Writes `results` of one run that is of no study.
///
/// # Errors
/// If the file cannot be written.
pub fn write_result(
    path: &Path,
    data: RunData,
    scenario_hash: &str,
    provenance: &Provenance,
) -> Result<(), Error> {
    let row = results_row(&TableRow {
        key: &RunKey::default(),
        seed: data.outcome.seed,
        hash: scenario_hash,
        points: &[],
        result: &RunResult::Done(Box::new(data)),
    });
    let mut file = RowWriter::create(path, &[], results_columns(), provenance)?;
    file.row(&row)?;
    file.finish()
}

/// A metric of the study's own as a column of `results`.
struct OwnMetric {
    column: Column,
    number: Number,
}

/// The metrics of a study's own that one run has: those of several cells are in its
/// tables only. One that has the name of another column is `metric_NAME`.
fn own_metrics(study: &Study, axes: &[AxisColumn]) -> Vec<OwnMetric> {
    let mut taken: Vec<String> = results_columns().into_iter().map(|c| c.name).collect();
    taken.extend(axes.iter().map(|axis| axis.name.clone()));
    let mut own = Vec::new();
    for (i, metric) in study.metrics.iter().enumerate() {
        let mut scope = Scope::new(study, &Unknown, &metric.expression.text)
            .with_bound(study.axes.iter().map(|a| a.name.as_str()));
        scope.metrics = i;
        let Ok((number, unit)) = number(&metric.expression.expr, &scope) else {
            continue;
        };
        if single_fault(&number).is_some() {
            continue;
        }
        let mut name = with_ending(&metric.name, unit.unwrap_or(Unit::Count));
        if taken.contains(&name) {
            name = format!("metric_{name}");
        }
        taken.push(name.clone());
        let about = format!("metric of the study: {}", metric.expression.text);
        let column = Column::new(name, Kind::Number, about);
        own.push(OwnMetric { column, number });
    }
    own
}

/// The runs of a study with their axes, to be written as tables.
pub(crate) struct StudyTables<'a> {
    results: &'a StudyResults,
    axes: Vec<AxisColumn>,
    points: Vec<Vec<AxisPoint>>,
    own: Vec<OwnMetric>,
}

impl<'a> StudyTables<'a> {
    pub(crate) fn new(results: &'a StudyResults) -> StudyTables<'a> {
        let axes = &results.study().axes;
        let units: Vec<Option<AxisUnit>> = axes.iter().map(axis_unit).collect();
        let columns = axes.iter().zip(&units).map(|(axis, unit)| AxisColumn {
            unit: *unit,
            ..AxisColumn::text(&axis.name)
        });
        let columns: Vec<AxisColumn> = columns.collect();
        let points = axes.iter().zip(&units).map(|(axis, unit)| {
            let points = axis.points.iter().map(|point| AxisPoint {
                label: point.label.clone(),
                number: unit.and_then(|_| number_of(point)).map(|(x, _)| x),
            });
            points.collect()
        });
        StudyTables {
            results,
            points: points.collect(),
            own: own_metrics(results.study(), &columns),
            axes: columns,
        }
    }

    /// The axes, of which the folder says the first so many.
    pub(crate) fn axes(&self, in_path: usize) -> Vec<AxisColumn> {
        let axes = self.axes.iter().enumerate();
        let axes = axes.map(|(i, axis)| AxisColumn {
            in_path: i < in_path,
            ..axis.clone()
        });
        axes.collect()
    }

    /// The columns of `results`, except those of axes.
    pub(crate) fn results_columns(&self) -> Vec<Column> {
        let own = self.own.iter().map(|metric| metric.column.clone());
        results_columns().into_iter().chain(own).collect()
    }

    /// A row of `results`, except the cells of axes.
    pub(crate) fn results_row(&self, row: &TableRow<'_>) -> Vec<Value> {
        let mut cells = results_row(row);
        cells.extend(self.own.iter().map(|metric| {
            let value = row.result.data().map(|data| single(&metric.number, data));
            Value::from(value.and_then(Result::ok))
        }));
        cells
    }

    /// Every run, in the order of their numbers.
    pub(crate) fn each(
        &self,
        put: &mut dyn FnMut(&TableRow<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let study = self.results.study();
        let mut key = RunKey {
            study: study.name.clone(),
            run: 0,
        };
        for cell in 0..self.results.cells() {
            let at = crate::plan::points(&study.axes, cell);
            let points = at.into_iter().zip(&self.points);
            let points: Vec<AxisPoint> = points.map(|(i, axis)| axis[i].clone()).collect();
            let first = cell as u64 * u64::from(study.replications);
            self.results.each_of(cell, &mut |replication, result| {
                if matches!(result, RunResult::Missing) {
                    return Ok(());
                }
                key.run = first + replication as u64;
                put(&TableRow {
                    key: &key,
                    seed: study.seed.wrapping_add(replication as u64),
                    hash: self.results.scenario_hash(cell),
                    points: &points,
                    result,
                })
            })?;
        }
        Ok(())
    }
}

/// A run with what tables say of it.
pub(crate) struct TableRow<'a> {
    pub(crate) key: &'a RunKey,
    pub(crate) seed: u64,
    hash: &'a str,
    pub(crate) points: &'a [AxisPoint],
    pub(crate) result: &'a RunResult,
}

/// The number of a point in the unit of results, and what it measures; `None` for a number without
/// a unit.
fn number_of(point: &Point) -> Option<(f64, Option<AxisUnit>)> {
    if let Some((x, unit)) = point.value {
        return Some(match unit {
            None => (x, None),
            Some(Unit::Seconds) => (x, Some(AxisUnit::Seconds)),
            Some(Unit::BitRate) => (x, Some(AxisUnit::BitRate)),
            Some(Unit::Bytes) => (x, Some(AxisUnit::Bytes)),
            Some(Unit::Segments) => (x, Some(AxisUnit::Segments)),
            Some(Unit::Ratio) => (x, Some(AxisUnit::Ratio)),
            Some(Unit::Percent) => (x / 100.0, Some(AxisUnit::Ratio)),
            Some(Unit::Count) => (x, Some(AxisUnit::Value)),
        });
    }
    let (digits, unit) = point.label.trim().split_once(' ')?;
    let unit = match unit.trim() {
        "packet" | "packets" => AxisUnit::Packets,
        "segment" | "segments" => AxisUnit::Segments,
        "BDP" => AxisUnit::Bdp,
        _ => return None,
    };
    let x: f64 = digits.parse().ok()?;
    x.is_finite().then_some((x, Some(unit)))
}

/// What the numbers of an axis measure; `None` where it has none or where they
/// measure different things. Nothing, `0`, needs no unit, and a ratio may be
/// written as `1%` or as `0.01`.
fn axis_unit(axis: &Axis) -> Option<AxisUnit> {
    let (mut unit, mut bare) = (None, false);
    for (x, measures) in axis.points.iter().filter_map(number_of) {
        match measures {
            None => bare |= x != 0.0 || unit.is_none(),
            Some(other) if unit.is_none_or(|known| known == other) => unit = Some(other),
            Some(_) => return None,
        }
    }
    let zeros_only = || {
        let numbers = axis.points.iter().filter_map(number_of);
        let mut without = numbers.filter(|(_, measures)| measures.is_none());
        without.all(|(x, _)| x == 0.0)
    };
    match (unit, bare) {
        (None, true) => Some(AxisUnit::Value),
        (Some(unit), true) if unit != AxisUnit::Ratio && !zeros_only() => None,
        (unit, _) => unit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Study;
    use crate::testing::{fake_results, outcome, with_series};
    use bentpipe_outcome::Table;
    use std::sync::Arc;

    fn axis(values: &str) -> Axis {
        let text = format!(
            "name = \"s\"\nscenario = \"a.toml\"\n[[axis]]\nname = \"x\"\npath = \"p\"\nvalues = [{values}]\n"
        );
        let study = Study::parse("s.toml", &text).unwrap();
        study.axes[0].clone()
    }

    fn numbers(values: &str) -> (Option<AxisUnit>, Vec<Option<f64>>) {
        let axis = axis(values);
        let points = axis.points.iter().map(|p| number_of(p).map(|(x, _)| x));
        (axis_unit(&axis), points.collect())
    }

    #[test]
    fn axes_have_one_unit_per_quantity() {
        let of = |unit, numbers: &[f64]| (Some(unit), numbers.iter().copied().map(Some).collect());
        let rtts = numbers(r#""50 ms", "300 ms", "1 s""#);
        assert_eq!(rtts, of(AxisUnit::Seconds, &[0.05, 0.3, 1.0]));
        let rates = numbers(r#""500 kbit/s", "2 Mbit/s""#);
        assert_eq!(rates, of(AxisUnit::BitRate, &[5e5, 2e6]));
        let losses = numbers(r#""0", "0.5%", 0.01"#);
        assert_eq!(losses, of(AxisUnit::Ratio, &[0.0, 0.005, 0.01]));
        let counts = numbers("0, 1, 20");
        assert_eq!(counts, of(AxisUnit::Value, &[0.0, 1.0, 20.0]));
        let delays = numbers(r#"0, "20 ms""#);
        assert_eq!(delays, of(AxisUnit::Seconds, &[0.0, 0.02]));
        let queues = numbers(r#""40 packets", "100 packets""#);
        assert_eq!(queues, of(AxisUnit::Packets, &[40.0, 100.0]));
        assert_eq!(axis_unit(&axis(r#""1 BDP", "64 kB""#)), None);
        assert_eq!(axis_unit(&axis(r#"5, "20 ms""#)), None);
        assert_eq!(axis_unit(&axis(r#""newreno", "hybla""#)), None);
    }

    const STUDY: &str = r#"
name = "sweep"
scenario = "a.toml"
replications = 3
seed = 7
series = "100 ms"
[[axis]]
name = "rtt"
path = "p"
values = ["300 ms", "50 ms"]
[[axis]]
name = "transport"
path = "q"
values = ["a", "b"]
[[metric]]
name = "twice"
expression = "2 * transfer_time"
[[metric]]
name = "rtt"
expression = "transfer_time / transfer_time"
[[metric]]
name = "gained"
expression = "gain(a, b)"
"#;

    #[test]
    fn results_have_a_row_per_run_and_join_with_every_other_table() {
        let study = Arc::new(Study::parse("sweep.toml", STUDY).unwrap());
        let results = fake_results(&study, |cell, replication| match (cell, replication) {
            (1, 2) => Err("more than 5 packets".into()),
            _ => Ok(with_series(outcome((cell + 1) as f64))),
        });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.parquet");
        crate::store::write_runs(folder.path(), &results, "").unwrap();
        let table = Table::read(&path).unwrap();
        assert_eq!(
            table.columns[..7],
            [
                "rtt",
                "rtt_s",
                "axis_transport",
                "study",
                "run",
                "scenario",
                "seed"
            ]
        );
        assert_eq!(table.rows.len(), 12);
        let cell = |row: usize, name: &str| table.rows[row][table.column(name).unwrap()].clone();
        assert_eq!(cell(0, "rtt_s"), Value::from(0.3));
        assert_eq!(cell(11, "run"), Value::from(11_u64));
        assert_eq!(cell(5, "failure"), Value::from("more than 5 packets"));
        assert_eq!(cell(5, "goodput_bps"), Value::Missing);
        assert_eq!(cell(5, "seed"), Value::from(9_u64));
        assert_eq!(cell(3, "transfer_time_s"), Value::from(2.0));
        assert_eq!(cell(3, "retransmissions"), Value::from(10_u64));
        // The study's own metrics, except those of two cells, which no single run has.
        assert_eq!(cell(3, "twice_s"), Value::from(4.0));
        assert_eq!(cell(5, "twice_s"), Value::Missing);
        assert_eq!(cell(3, "metric_rtt"), Value::from(1.0));
        assert_eq!(table.column("gained"), None);

        let path = folder.path().join("series.parquet");
        let table = Table::read(&path).unwrap();
        let cell = |row: usize, name: &str| table.rows[row][table.column(name).unwrap()].clone();
        assert_eq!(table.rows.len(), 11 * 300);
        assert_eq!(cell(3, "time_s"), Value::from(0.1));
        assert_eq!(cell(3, "cwnd_segments"), Value::from(10.0));
        assert_eq!(cell(3, "phase"), Value::from("slow_start"));
        assert!(!folder.path().join("legs.parquet").exists());
    }

    #[test]
    fn every_column_is_there_once_and_ends_with_its_unit() {
        let columns = results_columns();
        for (i, column) in columns.iter().enumerate() {
            assert!(
                columns[..i].iter().all(|c| c.name != column.name),
                "{}",
                column.name
            );
            assert!(!column.about.is_empty());
        }
        let unit = |name: &str| columns.iter().find(|c| c.name == name).unwrap().unit;
        assert_eq!(unit("goodput_bps"), "bit/s");
        assert_eq!(unit("transfer_time_s"), "s");
        assert_eq!(unit("jain"), "ratio");
        assert_eq!(unit("drops"), "count");
    }
}
