//! A figure of the runs as the command draws those of studies: for documents and slides.

use super::dataset::Dataset;
use super::filter::Filter;
use super::pivot::{Pivot, Question as Table, Side};
use super::statistic::Statistic;
use crate::Problem;
use bentpipe_present::study::chart;
use bentpipe_study::{AxisSpec, Curve, CurvePoint, FigureData, FigureForm};
use serde::Deserialize;
use serde_json::{Value, json};

/// Panels of a figure, at most.
const MOST_PANELS: usize = 24;

/// What a figure is to show.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    /// The column along the x axis.
    x: String,
    /// The column with a curve for each point; may be empty.
    #[serde(default)]
    series: String,
    /// The column with a panel for each point; may be empty.
    #[serde(default)]
    facet: String,
    metric: String,
    #[serde(default)]
    statistic: Statistic,
    #[serde(default)]
    filters: Vec<Filter>,
    /// Which axes are logarithmic: `x`, `y`, `xy` or none.
    #[serde(default)]
    log: String,
}

/// Draws a figure: `{svg}`.
///
/// # Errors
/// If a column is unknown or the figure would be too large.
pub(super) fn document(dataset: &Dataset, question: &Question) -> Result<Value, Problem> {
    Ok(json!({ "svg": chart(&figure(dataset, question)?).to_svg() }))
}

fn figure(dataset: &Dataset, question: &Question) -> Result<FigureData, Problem> {
    let sides = [&question.facet, &question.series].into_iter();
    let rows = sides.filter(|name| !name.is_empty()).cloned().collect();
    let pivot = Pivot::new(
        dataset,
        &Table {
            rows,
            columns: vec![question.x.clone()],
            metric: question.metric.clone(),
            statistic: question.statistic,
            filters: question.filters.clone(),
        },
    )?;
    let label = |side: &Side, level: Option<usize>, place: &[u32]| {
        let code = level.and_then(|level| place.get(level).copied());
        let labels = level.and_then(|level| Some(&side.groups.get(level)?.labels));
        let label = labels.and_then(|labels| labels.get(code? as usize));
        label.cloned().unwrap_or_default()
    };
    let facet = (!question.facet.is_empty()).then_some(0);
    let series = (!question.series.is_empty()).then(|| pivot.rows.groups.len() - 1);
    let mut panels: Vec<String> = Vec::new();
    let curves = pivot.rows.places.iter().enumerate();
    let curves = curves.map(|(row, place)| {
        let panel = label(&pivot.rows, facet, place);
        if !panels.contains(&panel) {
            panels.push(panel.clone());
        }
        Curve {
            panel,
            label: label(&pivot.rows, series, place),
            points: points(&pivot, row),
        }
    });
    let curves = curves.collect();
    if panels.len() > MOST_PANELS {
        let message = format!("a figure has at most {MOST_PANELS} panels: filter, or take fewer");
        return Err(Problem::limit(message));
    }
    let name = question.statistic.of_metric(&question.metric);
    let along: Vec<&str> = pivot.columns.groups.iter().map(|of| &*of.name).collect();
    let along = along.join(", ");
    let group = pivot.columns.groups.first();
    let has_numbers = group.is_some_and(|group| group.numbers.is_some());
    let axis = |name| AxisSpec {
        log: question.log.contains(name),
        ..AxisSpec::default()
    };
    let places = pivot.columns.places.iter();
    let labels = places.map(|place| label(&pivot.columns, Some(0), place));
    Ok(FigureData {
        slug: String::new(),
        title: format!("{name} over {along}"),
        form: FigureForm::Line,
        x_label: labelled(
            &along,
            group.map_or("", |of| if has_numbers { of.scale().unit } else { "" }),
        ),
        y_label: labelled(&name, pivot.scale().unit),
        row_label: String::new(),
        x_axis: axis('x'),
        y_axis: axis('y'),
        categories: if has_numbers {
            Vec::new()
        } else {
            labels.collect()
        },
        panels,
        curves,
        published: Vec::new(),
        decimals: 0,
        notes: vec![format!("{} runs", pivot.selected)],
    })
}

/// The points of a curve, in the order of x: places among categories, or their numbers.
fn points(pivot: &Pivot, row: usize) -> Vec<CurvePoint> {
    let width = pivot.columns.places.len();
    let factor = pivot.scale().factor;
    let group = pivot.columns.groups.first();
    let numbers = group.and_then(|of| Some((of.numbers.as_ref()?, of.scale().factor)));
    let intervals = pivot.cells.iter().map(|cell| cell.estimate.interval);
    let has_intervals = intervals.flatten().next().is_some();
    let cells = pivot.cells.iter().skip(row * width).take(width);
    let points = cells.zip(&pivot.columns.places).enumerate();
    let points = points.filter_map(|(index, (cell, place))| {
        let limits = cell.estimate.interval;
        let limits = limits.map(|(low, high)| (low * factor, high * factor));
        // One run has no interval, which as a bar is not one of no width.
        let none = (has_intervals && numbers.is_none()).then_some((f64::NAN, f64::NAN));
        Some(CurvePoint {
            x: match numbers {
                Some((numbers, factor)) => numbers.get(*place.first()? as usize)? * factor,
                None => index as f64,
            },
            y: cell.estimate.value? * factor,
            interval: limits.or(none),
            ..CurvePoint::default()
        })
    });
    let mut points: Vec<CurvePoint> = points.collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}

fn labelled(name: &str, unit: &str) -> String {
    match unit {
        "" => name.to_owned(),
        unit => format!("{name} ({unit})"),
    }
}
