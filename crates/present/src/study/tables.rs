//! Tables of studies in a terminal.

use super::{decimal, percent};
use crate::output::Output;
use bentpipe_report::table::{Cell, Column, Table, Tone};
use bentpipe_study::{CellVerdict, ErrorSummary, Recorded, TableCell, TableData};
use std::io;

/// Prints a table, how near it is to the published one, and the notes on it.
pub(super) fn print(table: &TableData, out: &mut Output) -> io::Result<()> {
    let text = match table.has_published() {
        false => without_print(table),
        true if out.is_wide() => side_by_side(table),
        true => in_layout(table, out)
            .or_else(|| in_two_lines(table, out))
            .unwrap_or_else(|| side_by_side(table)),
    };
    out.table(&text)?;
    for summary in &table.errors {
        out.paragraph(0, &errors(summary))?;
    }
    notes(table, out)
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
fn notes(table: &TableData, out: &mut Output) -> io::Result<()> {
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

/// The headings of a table as the paper prints it.
fn heads(table: &TableData) -> Table {
    let layout = table.layout();
    // Where columns have units of their own, these are in the headings.
    let units = layout.units().filter(|_| table.unit().is_none());
    let heading = |(i, labels): (usize, &&[String])| {
        let unit = units.as_ref().map_or("", |units| units[i]);
        let unit = if unit.is_empty() {
            String::new()
        } else {
            format!(" [{unit}]")
        };
        Column::number(labels.join(" | ") + &unit)
    };
    let mut columns = vec![Column::text(layout.corner.join(" / "))];
    columns.extend(layout.columns.iter().enumerate().map(heading));
    Table::new(columns)
}

/// Rows and columns as the paper prints them, or as the study has them, and in each
/// cell what `show` makes of it.
fn grid(table: &TableData, show: &dyn Fn(&TableCell) -> String) -> Table {
    let layout = table.layout();
    let mut text = heads(table);
    for (labels, row) in layout.rows.iter().zip(&layout.cells) {
        let cells = row
            .iter()
            .map(|cell| Cell::new(show(cell)).tone(tone(cell.verdict)));
        text.row(std::iter::once(Cell::new(labels.join(" / "))).chain(cells));
    }
    text
}

/// Our numbers alone.
fn without_print(table: &TableData) -> Table {
    let unit = table.unit();
    let mixed = table.layout().units().is_none();
    let text = grid(table, &|cell| ours(cell, mixed));
    match unit.filter(|unit| !unit.is_empty()) {
        Some(unit) => text.note(format!("In {unit}; ± 95%.")),
        None => text,
    }
}

/// The table as the paper prints it, with the printed number in brackets behind ours,
/// as far as there is room: with intervals and differences, or without. `None` where
/// even that is too wide or a column has several units.
fn in_layout(table: &TableData, out: &Output) -> Option<Table> {
    table.layout().units()?;
    let unit = table.unit().unwrap_or("");
    let digits = |cell: &TableCell, x| decimal(Some(x), cell.decimals);
    let show = |cell: &TableCell, interval: bool, difference: bool| {
        let mut text = match interval {
            true => ours(cell, false),
            false => cell
                .ours
                .map_or_else(|| "-".to_owned(), |x| digits(cell, x)),
        };
        if let Some(published) = cell.published {
            text.push_str(&format!(" ({})", digits(cell, published)));
        }
        if let Some(error) = cell.relative_error.filter(|_| difference) {
            text.push_str(&format!(" {}", percent(error)));
        }
        if cell.verdict == CellVerdict::Worse {
            text.push('!');
        }
        text
    };
    let cells = || table.cells.iter().flatten();
    let intervals = cells().any(|cell| cell.ci95.is_some_and(|half| half > 0.0));
    let forms = [(true, true), (false, true), (true, false), (false, false)];
    let mut forms = forms
        .into_iter()
        .filter(|(interval, _)| intervals || !interval);
    let fitting = |(interval, difference)| {
        let text = grid(table, &|cell| show(cell, interval, difference));
        out.holds(&text).then_some((text, interval, difference))
    };
    let (text, interval, difference) = forms.find_map(fitting)?;
    let mut note = String::from("Ours");
    if interval {
        note.push_str(" ± 95%");
    }
    note.push_str(" (printed)");
    if difference {
        note.push_str(", difference");
    }
    if !unit.is_empty() {
        note.push_str(&format!(", in {unit}"));
    }
    if cells().any(|cell| cell.verdict == CellVerdict::Worse) {
        note.push_str("; ! is outside its bar");
    }
    Some(text.note(format!("{note}. --wide has a line per cell.")))
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

/// The table as the paper prints it, a line with the printed numbers over one with
/// ours; `None` where that is too wide or a column has several units.
fn in_two_lines(table: &TableData, out: &Output) -> Option<Table> {
    let layout = table.layout();
    layout.units()?;
    let mut text = heads(table);
    for (i, (labels, row)) in layout.rows.iter().zip(&layout.cells).enumerate() {
        if i > 0 {
            text.rule();
        }
        let printed = row.iter().map(|cell| match cell.published {
            Some(x) => decimal(Some(x), cell.decimals),
            None => "-".to_owned(),
        });
        text.row(std::iter::once(labels.join(" / ")).chain(printed));
        let ours = row.iter().map(|cell| {
            let mark = if cell.verdict == CellVerdict::Worse {
                "!"
            } else {
                ""
            };
            let number = cell
                .ours
                .map_or_else(|| "-".to_owned(), |x| decimal(Some(x), cell.decimals));
            Cell::new(number + mark).tone(tone(cell.verdict))
        });
        text.row(std::iter::once(Cell::new("  ours")).chain(ours));
    }
    let unit = match table.unit().unwrap_or("") {
        "" => String::new(),
        unit => format!(", in {unit}"),
    };
    let mut cells = table.cells.iter().flatten();
    let worse = match cells.any(|cell| cell.verdict == CellVerdict::Worse) {
        true => "; ! is outside its bar",
        false => "",
    };
    let note = format!("The printed number over ours{unit}{worse}. --wide has a line per cell.");
    let text = text.note(note);
    out.holds(&text).then_some(text)
}

/// How near a table or a column is, in a line.
pub(super) fn errors(summary: &ErrorSummary) -> String {
    let what = summary.column.as_deref().unwrap_or("all columns");
    let error = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{:.2}%", 100.0 * x));
    let bar = |x: Option<f64>| x.map_or_else(String::new, |x| format!(" (bar {:.2}%)", 100.0 * x));
    let recorded = match &summary.recorded {
        None => String::new(),
        Some(recorded) => format!("; {}", on_record(recorded)),
    };
    let missed = match summary.missed.as_str() {
        "" => String::new(),
        why => format!(", as is known: {why}"),
    };
    format!(
        "{what}: {} cells, relative error mean {}{}, median {}{}, worst {}{}, of the spread {}{}: {}{recorded}{missed}",
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

/// `recorded mean 47.2% ±2.0, worst 75.6% ±5.0`: bands in percentage points.
pub(super) fn on_record(recorded: &Recorded) -> String {
    let errors = [
        ("mean", recorded.mean),
        ("worst", recorded.worst),
        ("of the spread", recorded.spread),
    ];
    let errors = errors.into_iter().filter_map(|(name, x)| Some((name, x?)));
    let errors: Vec<String> = errors
        .map(|(name, x)| format!("{name} {:.1}% ±{:.1}", 100.0 * x.value, 100.0 * x.band))
        .collect();
    format!("recorded {}", errors.join(", "))
}

fn tone(verdict: CellVerdict) -> Tone {
    match verdict {
        CellVerdict::Ok => Tone::Good,
        CellVerdict::Worse => Tone::Bad,
        CellVerdict::Reported => Tone::Plain,
        CellVerdict::Missing => Tone::Warn,
    }
}
