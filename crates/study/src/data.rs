//! The tables of a study's runs, for tools that analyse them: their axes as
//! numbers, and `results`, which has a row for each run.

use crate::metric::{METRICS, Metric, Selection};
use crate::record::{RunData, RunResult};
use crate::results::StudyResults;
use crate::study::{Axis, Point};
use crate::unit::Unit;
use bentpipe_outcome::{
    AxisColumn, AxisPoint, AxisUnit, Column, Error, Kind, Outcome, Provenance, RowWriter, RunKey,
    TableKind, TableWriter, Value,
};
use std::path::Path;

/// The table with a row for each run: the name of its files.
pub const RESULTS: &str = "results";

/// What it has a row for.
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
    let ending = match metric.unit {
        Unit::Seconds => "_s",
        Unit::BitRate => "_bps",
        Unit::Bytes => "_bytes",
        Unit::Segments => "_segments",
        Unit::Count | Unit::Ratio | Unit::Percent => "",
    };
    match metric.name.ends_with(ending) {
        true => metric.name.to_owned(),
        false => format!("{}{ending}", metric.name),
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

/// What is known of a run beside its outcome.
struct Head<'a> {
    key: &'a RunKey,
    seed: u64,
    hash: &'a str,
}

fn results_row(head: &Head<'_>, result: &RunResult) -> Vec<Value> {
    let data = result.data();
    let scenario = data.map_or("", |data| data.outcome.scenario.as_str());
    let mut row: Vec<Value> = vec![
        head.key.study.as_str().into(),
        head.key.run.into(),
        scenario.into(),
        head.seed.into(),
        head.hash.into(),
        result.failure().unwrap_or("").into(),
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
    let head = Head {
        key: &RunKey::default(),
        seed: data.outcome.seed,
        hash: scenario_hash,
    };
    let row = results_row(&head, &RunResult::Done(Box::new(data)));
    let mut file = RowWriter::create(path, &[], results_columns(), provenance)?;
    file.row(&row)?;
    file.finish()
}

/// The runs of a study with their axes, to be written as tables.
pub(crate) struct Runs<'a> {
    results: &'a StudyResults,
    axes: Vec<AxisColumn>,
    points: Vec<Vec<AxisPoint>>,
}

impl<'a> Runs<'a> {
    pub(crate) fn new(results: &'a StudyResults) -> Runs<'a> {
        let axes = &results.study().axes;
        let units: Vec<Option<AxisUnit>> = axes.iter().map(axis_unit).collect();
        let columns = axes.iter().zip(&units).map(|(axis, unit)| AxisColumn {
            name: axis.name.clone(),
            unit: *unit,
        });
        let points = axes.iter().zip(&units).map(|(axis, unit)| {
            let points = axis.points.iter().map(|point| AxisPoint {
                label: point.label.clone(),
                number: unit.and_then(|_| number(point)).map(|(x, _)| x),
            });
            points.collect()
        });
        Runs {
            results,
            axes: columns.collect(),
            points: points.collect(),
        }
    }

    /// Every run: its key, its seed, its cell, the points of its axes and what
    /// came out.
    fn each(
        &self,
        mut put: impl FnMut(&Head<'_>, &[AxisPoint], &RunResult) -> Result<(), Error>,
    ) -> Result<(), Error> {
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
            for (replication, result) in self.results.runs_of(cell).enumerate() {
                if matches!(*result, RunResult::Missing) {
                    continue;
                }
                key.run = first + replication as u64;
                let head = Head {
                    key: &key,
                    seed: study.seed.wrapping_add(replication as u64),
                    hash: self.results.scenario_hash(cell),
                };
                put(&head, &points, &result)?;
            }
        }
        Ok(())
    }

    /// True if a run has rows of a table, or if the table is always written.
    pub(crate) fn have(&self, table: TableKind) -> bool {
        if table.is_of(&Outcome::default()) {
            return true;
        }
        let has = |data: &RunData| match table {
            TableKind::Series => !data.series.is_empty(),
            other => other.is_of(&data.outcome),
        };
        (0..self.results.cells()).any(|cell| {
            let mut runs = self.results.runs_of(cell);
            runs.any(|run| run.data().is_some_and(has))
        })
    }

    /// Writes one of the tables of outcomes.
    pub(crate) fn write(
        &self,
        path: &Path,
        table: TableKind,
        provenance: &Provenance,
    ) -> Result<(), Error> {
        let mut file = TableWriter::create(path, table, &self.axes, provenance)?;
        self.each(|head, points, result| match (result.data(), table) {
            (None, _) => Ok(()),
            (Some(data), TableKind::Series) => file.push(head.key, &data.with_series(), points),
            (Some(data), _) => file.push(head.key, &data.outcome, points),
        })?;
        file.finish()
    }

    /// Writes `results`.
    pub(crate) fn write_results(&self, path: &Path, provenance: &Provenance) -> Result<(), Error> {
        let mut file = RowWriter::create(path, &self.axes, results_columns(), provenance)?;
        self.each(|head, points, result| {
            let mut row = file.axes(&self.axes, points)?;
            row.extend(results_row(head, result));
            file.row(&row)
        })?;
        file.finish()
    }
}

/// The number of a point in the unit of results, and what it measures; `None`
/// beside a number without a unit.
fn number(point: &Point) -> Option<(f64, Option<AxisUnit>)> {
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
    for (x, measures) in axis.points.iter().filter_map(number) {
        match measures {
            None => bare |= x != 0.0 || unit.is_none(),
            Some(other) if unit.is_none_or(|known| known == other) => unit = Some(other),
            Some(_) => return None,
        }
    }
    let zeros_only = || {
        let numbers = axis.points.iter().filter_map(number);
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
        let points = axis.points.iter().map(|p| number(p).map(|(x, _)| x));
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
        let runs = Runs::new(&results);
        let provenance = Provenance::new("sweep", "0", &[7, 8, 9]);
        runs.write_results(&path, &provenance).unwrap();
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

        let path = folder.path().join("series.parquet");
        runs.write(&path, TableKind::Series, &provenance).unwrap();
        let table = Table::read(&path).unwrap();
        let cell = |row: usize, name: &str| table.rows[row][table.column(name).unwrap()].clone();
        assert_eq!(table.rows.len(), 11 * 300);
        assert_eq!(cell(3, "time_s"), Value::from(0.1));
        assert_eq!(cell(3, "cwnd_segments"), Value::from(10.0));
        assert!(runs.have(TableKind::Series) && !runs.have(TableKind::Legs));
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
