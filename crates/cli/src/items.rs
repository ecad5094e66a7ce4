//! Tables, figures and claims of studies, as text and as pictures.

use crate::charts;
use crate::exit::Failure;
use crate::output::{self, Output};
use crate::pages::{self, Results};
use bentpipe_report::table::{Cell, Column, Table, Tone};
use bentpipe_study::{
    CellVerdict, ClaimResult, ErrorSummary, PartResult, Reproduction, TableCell, TableData, Verdict,
};
use std::path::{Path, PathBuf};

/// Prints what came out: tables, claims, and what could not be computed.
pub(crate) fn print(made: &Reproduction, out: &mut Output) -> Result<(), Failure> {
    for (_, table) in &made.tables {
        out.strong(format_args!("{}: {}", table.slug, table.title))?;
        out.line("")?;
        let published = table
            .cells
            .iter()
            .flatten()
            .any(|cell| cell.published.is_some());
        out.table(&if published {
            side_by_side(table)
        } else {
            grid(table)
        })?;
        for summary in &table.errors {
            out.paragraph(0, &errors(summary))?;
        }
        notes(table, out)?;
        out.line("")?;
    }
    for (_, figure) in &made.figures {
        for note in &figure.notes {
            out.line(format_args!("{}: {note}", figure.slug))?;
        }
    }
    if !made.claims.is_empty() {
        claims(&made.claims, out)?;
    }
    let failures: usize = made
        .results
        .values()
        .map(bentpipe_study::StudyResults::failures)
        .sum();
    if failures > 0 {
        out.line(format_args!(
            "{failures} runs failed; failures.csv beside the results says why"
        ))?;
    }
    Ok(())
}

/// A line per cell: published, ours, error, verdict. Columns that would be
/// empty are left out.
fn side_by_side(table: &TableData) -> Table {
    let cells = || table.cells.iter().flatten();
    let has_columns = cells().any(|cell| !cell.column.is_empty());
    let has_interval = cells().any(|cell| cell.ci95.is_some());
    let mut columns = vec![Column::text(table.row_axes.join(" / "))];
    if has_columns {
        columns.push(Column::text(""));
    }
    columns.extend([Column::number("published"), Column::number("ours")]);
    if has_interval {
        columns.push(Column::number("±95%").optional(2));
    }
    columns.extend([
        Column::text("unit").optional(3),
        Column::number("error").optional(1),
        Column::text("verdict"),
    ]);
    let mut text = Table::new(columns);
    for (i, row) in table.cells.iter().enumerate() {
        if i > 0 && row.len() > 1 {
            text.rule();
        }
        for (j, cell) in row.iter().enumerate() {
            let number = |x: Option<f64>| Cell::new(decimal(x, cell.decimals));
            // A row's name stands at its first line.
            let name = if j == 0 { cell.row.as_str() } else { "" };
            let mut line = vec![Cell::new(name)];
            if has_columns {
                line.push(Cell::new(cell.column.clone()));
            }
            line.extend([number(cell.published), number(cell.ours)]);
            if has_interval {
                line.push(number(cell.ci95));
            }
            line.extend([
                Cell::new(cell.unit.clone()),
                Cell::new(cell.relative_error.map_or_else(String::new, percent)),
                Cell::new(cell.verdict.name()).tone(tone(cell.verdict)),
            ]);
            text.row(line);
        }
    }
    text
}

/// The remarks on cells, each once with the cells that it is about.
fn notes(table: &TableData, out: &mut Output) -> Result<(), Failure> {
    let mut seen: Vec<(&str, Vec<String>)> = Vec::new();
    for cell in table
        .cells
        .iter()
        .flatten()
        .filter(|cell| !cell.note.is_empty())
    {
        let place = match cell.column.as_str() {
            "" => cell.row.clone(),
            column => format!("{}, {column}", cell.row),
        };
        match seen.iter_mut().find(|(note, _)| *note == cell.note) {
            Some((_, places)) => places.push(place),
            None => seen.push((&cell.note, vec![place])),
        }
    }
    for (note, places) in seen {
        let whose = match places.as_slice() {
            [one] => one.clone(),
            [first, ..] => format!("{first} and {} more", places.len() - 1),
            [] => continue,
        };
        out.paragraph(0, &format!("Note on {whose}: {note}"))?;
    }
    Ok(())
}

/// Rows and columns as the study has them, our numbers in the cells.
fn grid(table: &TableData) -> Table {
    let heading = |labels: &Vec<String>| labels.join(" | ");
    let units: Vec<&str> = table
        .cells
        .iter()
        .flatten()
        .map(|cell| cell.unit.as_str())
        .collect();
    let one_unit = units.windows(2).all(|pair| pair[0] == pair[1]);
    let unit = units.first().copied().unwrap_or("");
    let mut columns = vec![Column::text(table.row_axes.join(" / "))];
    columns.extend(table.columns.iter().map(|c| Column::number(heading(c))));
    let mut text = Table::new(columns);
    for (labels, row) in table.rows.iter().zip(&table.cells) {
        let name = labels.join(" / ");
        let cells = row.iter().map(|cell| ours(cell, !one_unit));
        text.row(std::iter::once(name).chain(cells));
    }
    if one_unit && !unit.is_empty() {
        text.note(format!("In {unit}; ± 95%."))
    } else {
        text
    }
}

fn ours(cell: &TableCell, with_unit: bool) -> String {
    let Some(value) = cell.ours else {
        return "-".to_owned();
    };
    let mut text = decimal(Some(value), cell.decimals);
    if let Some(ci95) = cell.ci95.filter(|ci| *ci > 0.0) {
        text.push_str(&format!(" ± {}", decimal(Some(ci95), cell.decimals)));
    }
    if with_unit && !cell.unit.is_empty() {
        text.push(' ');
        text.push_str(&cell.unit);
    }
    text
}

fn errors(summary: &ErrorSummary) -> String {
    let what = summary.column.as_deref().unwrap_or("all columns");
    let error = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{:.2}%", 100.0 * x));
    let bar = |x: Option<f64>| x.map_or_else(String::new, |x| format!(" (bar {:.2}%)", 100.0 * x));
    let missed = match summary.missed.as_str() {
        "" => String::new(),
        why => format!(", as is known: {why}"),
    };
    format!(
        "{what}: {} cells, relative error mean {}{}, median {}{}, worst {}{}, of the spread {}{}: {}{missed}",
        summary.cells,
        error(summary.mean),
        bar(summary.mean_bar),
        error(summary.median),
        bar(summary.median_bar),
        error(summary.worst),
        bar(summary.worst_bar),
        error(summary.spread),
        bar(summary.spread_bar),
        summary.verdict.name(),
    )
}

/// Verdicts on claims, with what shows them.
fn claims(claims: &[ClaimResult], out: &mut Output) -> Result<(), Failure> {
    out.strong("Claims")?;
    out.line("")?;
    let width = claims
        .iter()
        .map(|c| c.id.chars().count())
        .max()
        .unwrap_or(0);
    for claim in claims {
        let changed = match claim.regression {
            true => changed(claim.recorded, claim.verdict),
            false => String::new(),
        };
        let verdict = claim.verdict.name();
        out.line(format_args!("{:width$}  {verdict:7}{changed}", claim.id))?;
        out.paragraph(width + 2, &claim.claim)?;
        for part in &claim.parts {
            parts(part, width + 2, out)?;
        }
        if !claim.evidence.is_empty() && claim.parts.is_empty() {
            out.paragraph(width + 2, &format!("Shown by: {}", claim.evidence))?;
        }
        if !claim.reason.is_empty() {
            out.paragraph(width + 2, &format!("Reason: {}", claim.reason))?;
        }
    }
    let count = |verdict| claims.iter().filter(|c| c.verdict == verdict).count();
    let changed = claims.iter().filter(|c| c.regression).count();
    out.line("")?;
    out.line(format_args!(
        "{} claims: {} hold, {} hold in part, {} fail, {} open; {changed} not as recorded",
        claims.len(),
        count(Verdict::Holds),
        count(Verdict::InPart),
        count(Verdict::Fails),
        count(Verdict::Open),
    ))?;
    out.line("")
}

/// Prints what is not as recorded, a line each.
pub(crate) fn changes(paper: &str, made: &Reproduction, out: &mut Output) -> Result<(), Failure> {
    for (_, table) in &made.tables {
        let at = format!("{paper} {}", table.slug);
        for cell in table.cells.iter().flatten().filter(|cell| cell.changed) {
            let number = |x: Option<f64>| decimal(x, cell.decimals);
            out.line(format_args!(
                "{at}: {}, {}: {} beside {}: {}",
                cell.row,
                cell.column,
                number(cell.ours),
                number(cell.published),
                cell.verdict.name()
            ))?;
        }
        for summary in table.errors.iter().filter(|summary| summary.changed) {
            out.line(format_args!("{at}: {}", errors(summary)))?;
        }
    }
    for claim in made.claims.iter().filter(|claim| claim.regression) {
        let text = changed(claim.recorded, claim.verdict);
        let verdict = claim.verdict.name();
        out.line(format_args!("{paper} {}: {verdict}{text}", claim.id))?;
        out.paragraph(2, &format!("Shown by: {}", claim.evidence))?;
        for part in &claim.parts {
            parts(part, 2, out)?;
        }
    }
    Ok(())
}

/// Prints what was judged in a line.
pub(crate) fn sum(results: &[Results], out: &mut Output) -> Result<(), Failure> {
    let claims = results.iter().flat_map(|r| &r.made.claims);
    let claims: Vec<&ClaimResult> = claims.collect();
    let own = claims.iter().filter(|c| pages::of_the_paper(&c.id));
    let own: Vec<&ClaimResult> = own.copied().collect();
    let tables = results.iter().flat_map(|r| &r.made.tables);
    let tables: Vec<&TableData> = tables.map(|(_, table)| table).collect();
    let cells: Vec<&TableCell> = tables
        .iter()
        .flat_map(|t| t.cells.iter().flatten())
        .collect();
    let judged = cells.iter().filter(|c| c.published.is_some()).count();
    let different = cells.iter().filter(|c| c.changed).count()
        + tables
            .iter()
            .flat_map(|t| &t.errors)
            .filter(|e| e.changed)
            .count()
        + claims.iter().filter(|c| c.regression).count();
    let runs = results.iter().flat_map(|r| r.made.results.values());
    let runs: usize = runs.map(|r| r.cells() * r.replications()).sum();
    out.line(format_args!(
        "{} papers, {runs} runs: {} claims of theirs ({}), {} of ours, {judged} published numbers; {different} not as recorded",
        results.len(),
        own.len(),
        pages::tally(&own),
        claims.len() - own.len(),
    ))
}

/// A statement of a claim, with what the results say of it.
fn parts(part: &PartResult, indent: usize, out: &mut Output) -> Result<(), Failure> {
    let changed = changed(part.recorded, part.verdict);
    let head = format!("- {}: {}{changed}", part.verdict.name(), part.claim);
    out.paragraph(indent, &head)?;
    out.paragraph(indent + 2, &format!("Shown by: {}", part.evidence))
}

/// What to say of a verdict that is not the recorded one.
fn changed(recorded: Option<Verdict>, verdict: Verdict) -> String {
    match recorded {
        Some(recorded) if recorded != verdict => {
            format!("  CHANGED: recorded as {}", recorded.name())
        }
        _ => String::new(),
    }
}

/// Draws the figures under `results` as SVG and PNG; returns the files.
pub(crate) fn draw(made: &Reproduction, results: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    let made = made.kept.as_deref().unwrap_or(made);
    for (study, figure) in &made.figures {
        let folder = results.join(study).join("figures");
        std::fs::create_dir_all(&folder).map_err(|e| Failure::file("create", &folder, e))?;
        let chart = charts::chart(figure);
        for ending in ["svg", "png"] {
            let file = folder.join(format!("{}.{ending}", figure.slug));
            output::draw(&chart, &file)?;
            files.push(file);
        }
    }
    Ok(files)
}

fn tone(verdict: CellVerdict) -> Tone {
    match verdict {
        CellVerdict::Ok => Tone::Good,
        CellVerdict::Worse => Tone::Bad,
        CellVerdict::Reported => Tone::Plain,
        CellVerdict::Missing => Tone::Warn,
    }
}

fn decimal(x: Option<f64>, decimals: u32) -> String {
    x.map_or_else(String::new, |x| format!("{x:.*}", decimals as usize))
}

/// `+1.2%`.
fn percent(error: f64) -> String {
    format!("{:+.1}%", 100.0 * error)
}
