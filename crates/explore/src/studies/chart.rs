//! A figure of the runs as the command draws its own: for documents and slides.

use super::dataset::Dataset;
use super::filter::Filter;
use super::pivot::{Pivot, Question as Table, Side};
use super::statistic::Statistic;
use crate::Problem;
use bentpipe::report::plot::{Axis, BarSeries, Chart, Panel, Series};
use serde::Deserialize;

/// Panels of a figure, at most.
const MOST_PANELS: usize = 24;

/// Intervals of more points than this are a band.
const BAND_POINTS: usize = 12;

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

/// Draws a figure.
///
/// # Errors
/// If a column is unknown or the figure would be too large.
pub(super) fn chart(dataset: &Dataset, question: &Question) -> Result<Chart, Problem> {
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
    let has_facets = !question.facet.is_empty();
    let mut titles: Vec<u32> = Vec::new();
    for place in &pivot.rows.places {
        let title = place.first().copied().filter(|_| has_facets).unwrap_or(0);
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    if titles.len() > MOST_PANELS {
        let message = format!("a figure has at most {MOST_PANELS} panels: filter, or take fewer");
        return Err(Problem::limit(message));
    }
    let has_intervals = pivot
        .cells
        .iter()
        .any(|cell| cell.estimate.interval.is_some());
    let columns = match titles.len() {
        n @ 0..=3 => n.max(1),
        4 => 2,
        _ => 3,
    };
    let name = question.statistic.of_metric(&question.metric);
    let mut chart = Chart::new(format!("{name} over {}", pivot.columns.name()))
        .note(format!("{} runs", pivot.selected))
        .columns(columns)
        .spread_label(if has_intervals { "95% confidence" } else { "" });
    if columns > 1 {
        chart = chart.width(940.0);
    }
    let figure = Figure {
        pivot: &pivot,
        question,
        name,
    };
    for title in titles {
        let groups = pivot.rows.groups.first().filter(|_| has_facets);
        let label = groups.and_then(|of| of.labels.get(title as usize));
        let panel = figure.panel(|place| !has_facets || place.first() == Some(&title));
        chart = chart.panel(panel.title(label.map_or("", String::as_str)));
    }
    Ok(chart)
}

impl Side {
    /// What is grouped along it.
    fn name(&self) -> String {
        let names: Vec<&str> = self.groups.iter().map(|of| of.name.as_str()).collect();
        names.join(", ")
    }
}

/// The interval of a value, if it has one.
type Limits = Option<(f64, f64)>;

struct Figure<'a> {
    pivot: &'a Pivot,
    question: &'a Question,
    name: String,
}

impl Figure<'_> {
    /// One panel: the curves whose places are `own`.
    fn panel(&self, own: impl Fn(&[u32]) -> bool) -> Panel {
        let scale = self.pivot.scale();
        let y = axis(
            &labelled(&self.name, scale.unit),
            self.question.log.contains('y'),
        );
        let curves = self.pivot.rows.places.iter().enumerate();
        let curves = curves.filter(|(_, place)| own(place));
        let Some(group) = self.pivot.columns.groups.first() else {
            return Panel::xy(axis("", false), y);
        };
        let codes: Vec<usize> = self
            .pivot
            .columns
            .places
            .iter()
            .map(|place| place.first().map_or(0, |code| *code as usize))
            .collect();
        match &group.numbers {
            Some(numbers) => {
                let along = group.scale();
                let log = self.question.log.contains('x');
                let x = axis(&labelled(&group.name, along.unit), log);
                let at = |place: usize| {
                    let number = codes.get(place).and_then(|code| numbers.get(*code));
                    number.map(|number| number * along.factor)
                };
                curves.fold(Panel::xy(x, y), |panel, (row, place)| {
                    panel.series(self.series(row, place, &at))
                })
            }
            None => {
                let labels = codes.iter().filter_map(|code| group.labels.get(*code));
                let labels: Vec<&String> = labels.collect();
                let panel = Panel::bars(&group.name, y, labels);
                curves.fold(panel, |panel, (row, place)| {
                    panel.bar_series(self.bars(row, place))
                })
            }
        }
    }

    /// The name of a curve.
    fn label(&self, place: &[u32]) -> &str {
        let has_series = !self.question.series.is_empty();
        let groups = self.pivot.rows.groups.last().filter(|_| has_series);
        let code = place.last().map_or(0, |code| *code as usize);
        let label = groups.and_then(|of| of.labels.get(code));
        label.map_or("", String::as_str)
    }

    /// The cells of a row with their values, scaled, and limits.
    fn values(&self, row: usize) -> impl Iterator<Item = (usize, f64, Limits)> + '_ {
        let width = self.pivot.columns.places.len();
        let factor = self.pivot.scale().factor;
        let cells = self.pivot.cells.iter().skip(row * width).take(width);
        cells.enumerate().filter_map(move |(place, cell)| {
            let limits = cell.estimate.interval;
            let limits = limits.map(|(low, high)| (low * factor, high * factor));
            Some((place, cell.estimate.value? * factor, limits))
        })
    }

    fn series(&self, row: usize, place: &[u32], at: &dyn Fn(usize) -> Option<f64>) -> Series {
        let points = self.values(row);
        let points = points.filter_map(|(place, y, limits)| Some((at(place)?, y, limits)));
        let mut points: Vec<(f64, f64, Limits)> = points.collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let series = Series::line_points(self.label(place), points.iter().map(|p| (p.0, p.1)));
        if points.iter().all(|(_, _, limits)| limits.is_none()) {
            return series;
        }
        let limits: Vec<(f64, f64)> = points.iter().map(|p| p.2.unwrap_or((p.1, p.1))).collect();
        match points.len() > BAND_POINTS {
            true => series.band(limits),
            false => series.whiskers(limits),
        }
    }

    fn bars(&self, row: usize, place: &[u32]) -> BarSeries {
        let mut values = vec![f64::NAN; self.pivot.columns.places.len()];
        let mut whiskers = vec![(f64::NAN, f64::NAN); values.len()];
        for (place, y, limits) in self.values(row) {
            values[place] = y;
            // One run has no interval, which is not one of no width.
            if let Some(limits) = limits {
                whiskers[place] = limits;
            }
        }
        BarSeries::new(self.label(place), values).whiskers(whiskers)
    }
}

fn axis(label: &str, is_log: bool) -> Axis {
    match is_log {
        true => Axis::log(label),
        false => Axis::linear(label),
    }
}

fn labelled(name: &str, unit: &str) -> String {
    match unit {
        "" => name.to_owned(),
        unit => format!("{name} ({unit})"),
    }
}
