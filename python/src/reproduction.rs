//! Results of studies and of papers.

use crate::answer::picture;
use crate::arrow::{self, Batch};
use crate::errors::{self, Kind};
use crate::study::{How, carry_out};
use bentpipe::Reproduction as Made;
use bentpipe::outcome::record;
use bentpipe::papers as all_papers;
use bentpipe_present::study as shown;
use bentpipe_study::{ClaimResult, Curve, CurvePoint, FigureData, TableCell, TableData, Verdict};
use pyo3::prelude::*;
use std::path::PathBuf;

/// The papers, as JSON.
#[pyfunction]
pub(crate) fn papers(py: Python<'_>) -> PyResult<String> {
    let all = all_papers::folder().and_then(|folder| all_papers::all(&folder));
    let all = all.map_err(|e| errors::of(py, e))?;
    Ok(shown::papers(&all).to_string())
}

/// Runs a paper's studies, or what `item` names of them.
#[pyfunction]
#[pyo3(signature = (paper, item, threads, runs, out, fresh, progress))]
#[expect(
    clippy::too_many_arguments,
    reason = "the Python function that calls it has them by name"
)]
pub(crate) fn reproduce(
    py: Python<'_>,
    paper: &str,
    item: Option<&str>,
    threads: usize,
    runs: Option<u32>,
    out: Option<PathBuf>,
    fresh: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Reproduction> {
    let found = all_papers::find(paper, item);
    let (paper, selection) = found.map_err(|e| errors::of(py, e))?;
    let how = How {
        threads,
        runs,
        results: out.map(|out| out.join(&paper.slug)),
        fresh,
    };
    carry_out(py, &how, progress.as_ref(), |runner, options| {
        bentpipe::study::reproduce_on(&paper, &selection, runner, options)
    })
}

/// Tables, figures and claims of studies.
#[pyclass(frozen, module = "bentpipe._bentpipe")]
pub(crate) struct Reproduction(pub(crate) Box<Made>);

#[pymethods]
impl Reproduction {
    /// As the command prints it.
    fn text(&self, py: Python<'_>, width: usize) -> PyResult<String> {
        let text = shown::text(&self.0, width);
        text.map_err(|e| errors::exception(py, Kind::Study, &e.to_string()))
    }

    /// True if something is not as recorded.
    fn regression(&self) -> bool {
        self.0.report.regression
    }

    /// Study, name and title of each figure.
    fn figures(&self) -> Vec<(String, String, String)> {
        let figures = self.0.figures.iter();
        figures
            .map(|(study, figure)| (study.clone(), figure.slug.clone(), figure.title.clone()))
            .collect()
    }

    /// The figure of that number as a picture.
    fn plot(&self, py: Python<'_>, number: usize, kind: &str) -> PyResult<Vec<u8>> {
        match shown::figures(&self.0).get(number) {
            Some((_, _, chart)) => picture(py, chart, kind),
            None => Err(errors::exception(
                py,
                Kind::Option,
                "there is no such figure",
            )),
        }
    }

    /// A row for each cell of each table.
    fn cells(&self) -> PyResult<Batch> {
        cells(&self.0.tables)
    }

    /// A row for each claim.
    fn claims(&self) -> PyResult<Batch> {
        arrow::table(self.0.claims.iter().map(ClaimRow::of))
    }

    /// A row for each point of each curve.
    fn points(&self) -> PyResult<Batch> {
        points(&self.0)
    }
}

/// Study, table and cell.
type TableCellAt<'a> = (&'a str, &'a str, &'a TableCell);

record! {
    /// A cell of a table.
    struct CellRow of TableCellAt<'_> {
        /// Name of the study.
        label study: String = |at| at.0.to_owned();
        /// Name of the table.
        label table: String = |at| at.1.to_owned();
        /// Labels of the row.
        label row: String = |at| at.2.row.clone();
        /// Labels of the column.
        label column: String = |at| at.2.column.clone();
        /// Our number, in `unit`.
        gauge ours: Option<f64> = |at| at.2.ours;
        /// Half of its 95% interval.
        gauge ci95: Option<f64> = |at| at.2.ci95;
        /// The published number, in `unit`.
        gauge published: Option<f64> = |at| at.2.published;
        /// The unit of the numbers.
        label unit: String = |at| at.2.unit.clone();
        /// (ours - published) / published.
        gauge relative_error: Option<f64> = |at| at.2.relative_error;
        /// How it stands beside the published number.
        label verdict: &'static str = |at| at.2.verdict.name();
        /// True if that is not as recorded.
        label changed: bool = |at| at.2.changed;
        /// Replications behind it.
        counter runs: usize = |at| at.2.n;
        /// Remarks; why there is no number.
        label note: String = |at| at.2.note.clone();
    }
}

fn cells(tables: &[(String, TableData)]) -> PyResult<Batch> {
    let cells = tables.iter().flat_map(|(study, table)| {
        let cells = table.cells.iter().flatten();
        cells.map(|cell| CellRow::of(&(study.as_str(), table.slug.as_str(), cell)))
    });
    arrow::table(cells)
}

record! {
    /// A claim.
    struct ClaimRow of ClaimResult {
        /// The study that makes it.
        label study: String = |claim| claim.study.clone();
        /// Its identifier.
        label id: String = |claim| claim.id.clone();
        /// What is claimed.
        label claim: String = |claim| claim.claim.clone();
        /// What the results say.
        label verdict: &'static str = |claim| claim.verdict.name();
        /// What they are to say.
        label recorded: Option<&'static str> = |claim| claim.recorded.map(Verdict::name);
        /// True if that is not the same.
        label changed: bool = |claim| claim.regression;
        /// What the verdict rests on besides the source's words; may be empty.
        label basis: String = |claim| claim.basis.clone();
        /// Numbers of the case that decides.
        label evidence: String = |claim| claim.evidence.clone();
        /// Why the recorded verdict is what it is.
        label reason: String = |claim| claim.reason.clone();
    }
}

/// Study, figure, curve and point.
type PointAt<'a> = (&'a str, &'a FigureData, &'a Curve, &'a CurvePoint);

record! {
    /// A point of a curve.
    struct PointRow of PointAt<'_> {
        /// Name of the study.
        label study: String = |at| at.0.to_owned();
        /// Name of the figure.
        label figure: String = |at| at.1.slug.clone();
        /// Title of the panel.
        label panel: String = |at| at.2.panel.clone();
        /// Label of the curve.
        label curve: String = |at| at.2.label.clone();
        /// Label of the x axis, with its unit.
        label x_label: String = |at| at.1.x_label.clone();
        /// Place along it, or the number of the category.
        gauge x: f64 = |at| at.3.x;
        /// The category, where the axis has no numbers.
        label category: Option<String> = |at| at.1.categories.get(at.3.x as usize).cloned();
        /// Label of the y axis, with its unit.
        label y_label: String = |at| at.1.y_label.clone();
        /// Our number.
        gauge y: f64 = |at| at.3.y;
        /// Half of its 95% interval.
        gauge ci95: Option<f64> = |at| at.3.ci95;
        /// The published number.
        gauge published: Option<f64> = |at| at.3.published;
    }
}

fn points(made: &Made) -> PyResult<Batch> {
    let curves = made.figures.iter().flat_map(|(study, figure)| {
        let curves = figure.curves.iter();
        curves.map(move |curve| (study.as_str(), figure, curve))
    });
    arrow::table(curves.flat_map(|(study, figure, curve)| {
        let points = curve.points.iter();
        points.map(move |point| PointRow::of(&(study, figure, curve, point)))
    }))
}
