//! Results of studies and of papers.

use crate::answer::picture;
use crate::arrow::{Batch, Columns};
use crate::errors::{self, Kind};
use crate::study::{How, carry_out};
use bentpipe::Reproduction as Made;
use bentpipe_cli::api;
use bentpipe_study::{ClaimResult, TableCell, TableData, Verdict};
use pyo3::prelude::*;
use std::path::PathBuf;

/// The papers, as JSON.
#[pyfunction]
pub(crate) fn papers(py: Python<'_>) -> PyResult<String> {
    api::papers_json().map_err(|e| errors::exception(py, Kind::Study, &e.to_string()))
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
    let found = api::paper(paper, item);
    let (paper, selection) =
        found.map_err(|e| errors::exception(py, Kind::Study, &e.to_string()))?;
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
        let text = api::reproduction_text(&self.0, width);
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
        match api::reproduction_charts(&self.0).get(number) {
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
        claims(&self.0.claims)
    }

    /// A row for each point of each curve.
    fn points(&self) -> PyResult<Batch> {
        points(&self.0)
    }
}

fn cells(tables: &[(String, TableData)]) -> PyResult<Batch> {
    let all: Vec<(&str, &str, &TableCell)> = tables
        .iter()
        .flat_map(|(study, table)| {
            let cells = table.cells.iter().flatten();
            cells.map(move |cell| (study.as_str(), table.slug.as_str(), cell))
        })
        .collect();
    let number = |f: fn(&TableCell) -> Option<f64>| all.iter().map(move |a| f(a.2));
    Columns::default()
        .text("study", "Name of the study", all.iter().map(|a| a.0))
        .text("table", "Name of the table", all.iter().map(|a| a.1))
        .text(
            "row",
            "Labels of the row",
            all.iter().map(|a| a.2.row.as_str()),
        )
        .text(
            "column",
            "Labels of the column",
            all.iter().map(|a| a.2.column.as_str()),
        )
        .number("ours", "Our number, in `unit`", number(|c| c.ours))
        .number("ci95", "Half of its 95% interval", number(|c| c.ci95))
        .number(
            "published",
            "The published number, in `unit`",
            number(|c| c.published),
        )
        .text(
            "unit",
            "The unit of the numbers",
            all.iter().map(|a| a.2.unit.as_str()),
        )
        .number(
            "relative_error",
            "(ours - published) / published",
            number(|c| c.relative_error),
        )
        .text(
            "verdict",
            "How it stands beside the published number",
            all.iter().map(|a| a.2.verdict.name()),
        )
        .flag(
            "changed",
            "True if that is not as recorded",
            all.iter().map(|a| a.2.changed),
        )
        .integer(
            "runs",
            "Replications behind it",
            all.iter().map(|a| a.2.n as u64),
        )
        .text(
            "note",
            "Remarks; why there is no number",
            all.iter().map(|a| a.2.note.as_str()),
        )
        .batch()
}

fn claims(claims: &[ClaimResult]) -> PyResult<Batch> {
    let text = |f: fn(&ClaimResult) -> &str| claims.iter().map(f);
    Columns::default()
        .text("study", "The study that makes it", text(|c| &c.study))
        .text("id", "Its identifier", text(|c| &c.id))
        .text("claim", "What is claimed", text(|c| &c.claim))
        .text(
            "verdict",
            "What the results say",
            text(|c| c.verdict.name()),
        )
        .text(
            "recorded",
            "What they are to say",
            claims.iter().map(|c| c.recorded.map(Verdict::name)),
        )
        .flag(
            "changed",
            "True if that is not the same",
            claims.iter().map(|c| c.regression),
        )
        .text(
            "evidence",
            "Numbers of the case that decides",
            text(|c| &c.evidence),
        )
        .text(
            "reason",
            "Why the recorded verdict is what it is",
            text(|c| &c.reason),
        )
        .batch()
}

fn points(made: &Made) -> PyResult<Batch> {
    let all: Vec<_> = made
        .figures
        .iter()
        .flat_map(|(study, figure)| {
            figure
                .curves
                .iter()
                .map(move |curve| (study, figure, curve))
        })
        .flat_map(|(study, figure, curve)| {
            curve
                .points
                .iter()
                .map(move |point| (study, figure, curve, point))
        })
        .collect();
    Columns::default()
        .text(
            "study",
            "Name of the study",
            all.iter().map(|a| a.0.as_str()),
        )
        .text(
            "figure",
            "Name of the figure",
            all.iter().map(|a| a.1.slug.as_str()),
        )
        .text(
            "panel",
            "Title of the panel",
            all.iter().map(|a| a.2.panel.as_str()),
        )
        .text(
            "curve",
            "Label of the curve",
            all.iter().map(|a| a.2.label.as_str()),
        )
        .text(
            "x_label",
            "Label of the x axis, with its unit",
            all.iter().map(|a| a.1.x_label.as_str()),
        )
        .number(
            "x",
            "Place along it, or the number of the category",
            all.iter().map(|a| a.3.x),
        )
        .text(
            "category",
            "The category, where the axis has no numbers",
            all.iter()
                .map(|a| a.1.categories.get(a.3.x as usize).map(String::as_str)),
        )
        .text(
            "y_label",
            "Label of the y axis, with its unit",
            all.iter().map(|a| a.1.y_label.as_str()),
        )
        .number("y", "Our number", all.iter().map(|a| a.3.y))
        .number(
            "ci95",
            "Half of its 95% interval",
            all.iter().map(|a| a.3.ci95),
        )
        .number(
            "published",
            "The published number",
            all.iter().map(|a| a.3.published),
        )
        .batch()
}
