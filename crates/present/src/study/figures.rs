//! Figures of studies as numbers in a terminal.

use crate::output::Output;
use bentpipe::Reproduction;
use bentpipe_report::table::{Column, Table};
use bentpipe_report::text::digits3;
use bentpipe_study::{Curve, FigureData, FigureForm};
use std::io;

/// Steps in which a curve of many points is shown.
const TIMES: usize = 12;

/// Prints the numbers of the figures: along the x axis down, a column per curve.
pub fn print(made: &Reproduction, out: &mut Output) -> io::Result<()> {
    for (_, figure) in &made.figures {
        out.strong(format_args!("{}: {}", figure.slug, figure.title))?;
        out.line("")?;
        out.table(&numbers(figure))?;
        out.line("")?;
    }
    Ok(())
}

/// True for curves of many points, each of which holds until the next.
fn is_stepped(figure: &FigureData) -> bool {
    matches!(figure.form, FigureForm::Series | FigureForm::Cdf)
}

/// Where along the x axis, and what that is called.
fn places(figure: &FigureData) -> Vec<(f64, String)> {
    if !figure.categories.is_empty() {
        let labels = figure.categories.iter().enumerate();
        return labels.map(|(i, label)| (i as f64, label.clone())).collect();
    }
    let points = figure.curves.iter().flat_map(|curve| &curve.points);
    let mut all: Vec<f64> = points.map(|point| point.x).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    if is_stepped(figure) {
        let first = all.first().copied().unwrap_or(0.0);
        let last = all.last().copied().unwrap_or(0.0);
        let at = |i: usize| first + (last - first) * i as f64 / TIMES as f64;
        all = (0..=TIMES).map(at).collect();
    }
    all.into_iter().map(|x| (x, digits3(x))).collect()
}

/// The value of a curve, and the published one in brackets.
fn value(figure: &FigureData, curve: &Curve, x: f64) -> String {
    let found = if is_stepped(figure) {
        curve.points.iter().rfind(|point| point.x <= x)
    } else {
        curve.points.iter().find(|point| point.x == x)
    };
    let Some(point) = found else {
        return String::new();
    };
    match point.published {
        Some(published) => format!("{} ({})", digits3(point.y), digits3(published)),
        None => digits3(point.y),
    }
}

fn numbers(figure: &FigureData) -> Table {
    let mut columns = vec![Column::text(&figure.x_label)];
    let label = |curve: &Curve| {
        let names = [curve.panel.as_str(), curve.label.as_str()];
        let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
        match names.as_slice() {
            [] => figure.y_label.clone(),
            names => names.join(" | "),
        }
    };
    columns.extend(
        figure
            .curves
            .iter()
            .map(|curve| Column::number(label(curve))),
    );
    let mut table = Table::new(columns);
    for (x, name) in places(figure) {
        let cells = figure.curves.iter().map(|curve| value(figure, curve, x));
        table.row(std::iter::once(name).chain(cells));
    }
    let points = figure.curves.iter().flat_map(|curve| &curve.points);
    let printed = match points.into_iter().any(|point| point.published.is_some()) {
        true => "; printed numbers in brackets",
        false => "",
    };
    let mut note = format!("{}{printed}.", figure.y_label);
    let mut said: Vec<&str> = Vec::new();
    for mark in &figure.published {
        if !said.contains(&mark.text.as_str()) {
            said.push(&mark.text);
        }
    }
    if !said.is_empty() {
        note.push_str(&format!(" The paper: {}.", said.join("; ")));
    }
    table.note(note)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_study::{AxisSpec, CurvePoint};

    #[test]
    fn a_curve_over_time_is_shown_at_a_few_times() {
        let point = |x: f64| CurvePoint {
            x,
            y: 2.0 * x,
            ..CurvePoint::default()
        };
        let figure = FigureData {
            curves: vec![Curve {
                label: "a".into(),
                panel: String::new(),
                points: (0..1000).map(|i| point(f64::from(i) / 10.0)).collect(),
            }],
            slug: "f".into(),
            title: "t".into(),
            form: FigureForm::Series,
            x_label: "time [s]".into(),
            y_label: "window [segments]".into(),
            row_label: String::new(),
            x_axis: AxisSpec::default(),
            y_axis: AxisSpec::default(),
            categories: Vec::new(),
            panels: Vec::new(),
            published: Vec::new(),
            decimals: 2,
            notes: Vec::new(),
        };
        let text = numbers(&figure).to_text(false);
        assert_eq!(
            text.lines().filter(|l| l.contains("  ")).count(),
            TIMES + 3,
            "{text}"
        );
        assert!(text.contains("window [segments]."), "{text}");
    }
}
