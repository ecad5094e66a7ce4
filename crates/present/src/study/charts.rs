//! Figures of studies as charts.

use bentpipe_report::plot::{
    Annotation, Axis, BarSeries, BoxMarks, BoxSeries, Chart, Heat, Panel, Series,
};
use bentpipe_study::{AxisSpec, Curve, CurvePoint, FigureData, FigureForm, PublishedMark};

/// Intervals of more points than this are a band.
const BAND_POINTS: usize = 12;

/// A figure as a chart.
pub fn chart(figure: &FigureData) -> Chart {
    let titles: Vec<&str> = if figure.panels.is_empty() {
        vec![""]
    } else {
        figure.panels.iter().map(String::as_str).collect()
    };
    let intervals = figure.form != FigureForm::Box
        && figure
            .curves
            .iter()
            .flat_map(|c| &c.points)
            .any(|p| p.limits().is_some());
    let columns = match titles.len() {
        n @ 0..=3 => n.max(1),
        4 => 2,
        _ => 3,
    };
    let mut chart = Chart::new(&figure.title)
        .note(note(figure))
        .columns(columns)
        .spread_label(if intervals { "95% confidence" } else { "" });
    if columns > 1 {
        chart = chart.width(940.0);
    }
    for title in titles {
        let curves = figure.curves.iter().filter(|c| c.panel == title);
        let marks = figure.published.iter();
        let marks = marks.filter(|m| m.panel.as_ref().is_none_or(|panel| panel == title));
        let panel = panel(
            figure,
            &curves.collect::<Vec<_>>(),
            &marks.collect::<Vec<_>>(),
        );
        chart = chart.panel(panel.title(title));
    }
    chart
}

/// What stands under a figure: what a paper says of it, and what is missing.
fn note(figure: &FigureData) -> String {
    let mut notes = Vec::new();
    if figure.form == FigureForm::Box {
        notes.push(
            "boxes: quartiles and median of the runs; whiskers: to 1.5 times the box".to_owned(),
        );
    }
    if !figure.published.is_empty() {
        let mut texts: Vec<&str> = Vec::new();
        for mark in &figure.published {
            if !texts.contains(&mark.text.as_str()) {
                texts.push(&mark.text);
            }
        }
        notes.push(format!("published: {}", texts.join("; ")));
    }
    notes.extend(figure.notes.iter().cloned());
    notes.join(". ")
}

fn axis(label: &str, spec: AxisSpec) -> Axis {
    let axis = if spec.log {
        Axis::log(label)
    } else {
        Axis::linear(label)
    };
    match spec.gap {
        Some((from, to)) => axis.broken(from, to),
        None => axis,
    }
}

fn panel(figure: &FigureData, curves: &[&Curve], marks: &[&PublishedMark]) -> Panel {
    let x = || axis(&figure.x_label, figure.x_axis);
    let y = || axis(&figure.y_label, figure.y_axis);
    let of = |curve: &Curve| -> Vec<&PublishedMark> {
        let alone = curves.len() == 1;
        let named = |m: &&PublishedMark| match &m.series {
            Some(name) => *name == curve.label,
            None => alone,
        };
        marks.iter().copied().filter(named).collect()
    };
    let panel = match figure.form {
        FigureForm::Heat => return Panel::heat(&figure.row_label, heat(figure, curves, y())),
        FigureForm::Box => {
            let panel = Panel::boxes(&figure.x_label, y(), &figure.categories);
            curves.iter().fold(panel, |panel, curve| {
                panel.box_series(boxes(curve, figure.categories.len(), &of(curve)))
            })
        }
        FigureForm::Bars | FigureForm::Line if !figure.categories.is_empty() => {
            let panel = Panel::bars(&figure.x_label, y(), &figure.categories);
            curves.iter().fold(panel, |panel, curve| {
                panel.bar_series(bars(curve, figure.categories.len(), &of(curve)))
            })
        }
        FigureForm::Cdf => {
            let share = y().range(0.0, 1.0);
            let steps = |c: &&Curve| Series::step(&c.label, c.points.iter().map(|p| (p.x, p.y)));
            let panel = Panel::xy(x(), share);
            curves.iter().map(steps).fold(panel, Panel::series)
        }
        FigureForm::Series | FigureForm::Line | FigureForm::Bars => {
            let panel = Panel::xy(x(), y());
            let panel = curves.iter().fold(panel, |panel, curve| {
                panel.series(series(curve, figure.form, &of(curve)))
            });
            let unnamed = marks.iter().filter(|m| m.series.is_none());
            let unnamed: Vec<(f64, f64)> = unnamed.filter_map(|m| Some((m.x?, m.y))).collect();
            if unnamed.is_empty() || curves.len() == 1 {
                panel
            } else {
                // In ink: what the paper says of no curve in particular.
                panel.series(Series::points("", []).slot(6).reference(unnamed))
            }
        }
    };
    let across = marks.iter().filter(|m| m.x.is_none());
    across.fold(panel, |panel, mark| {
        panel.annotate(Annotation::horizontal(mark.y, "published"))
    })
}

fn series(curve: &Curve, form: FigureForm, marks: &[&PublishedMark]) -> Series {
    let points = curve.points.iter().map(|p| (p.x, p.y));
    let printed = marks.iter().filter_map(|m| Some((m.x?, m.y)));
    if form == FigureForm::Series {
        return Series::line(&curve.label, points).reference(printed);
    }
    let published = curve
        .points
        .iter()
        .filter_map(|p| Some((p.x, p.published?)));
    let series = Series::line_points(&curve.label, points).reference(published.chain(printed));
    if curve.points.iter().all(|p| p.limits().is_none()) {
        return series;
    }
    let limits = curve.points.iter().map(limits);
    if curve.points.len() > BAND_POINTS {
        series.band(limits)
    } else {
        series.whiskers(limits)
    }
}

/// The ends of a point's whiskers, which are at the point where it has no interval.
fn limits(point: &CurvePoint) -> (f64, f64) {
    point.limits().unwrap_or((point.y, point.y))
}

/// The published number of each category.
fn published(curve: &Curve, categories: usize, marks: &[&PublishedMark]) -> Vec<f64> {
    let at = |i: usize| {
        let printed = marks.iter().find(|m| m.x == Some(i as f64)).map(|m| m.y);
        let point = curve.points.iter().find(|p| p.x as usize == i);
        printed.or_else(|| point?.published).unwrap_or(f64::NAN)
    };
    let all: Vec<f64> = (0..categories).map(at).collect();
    if all.iter().any(|y| y.is_finite()) {
        all
    } else {
        Vec::new()
    }
}

fn bars(curve: &Curve, categories: usize, marks: &[&PublishedMark]) -> BarSeries {
    let at = |i: usize| curve.points.iter().find(|p| p.x as usize == i);
    let values = (0..categories).map(|i| at(i).map_or(f64::NAN, |p| p.y));
    let limits = (0..categories).map(|i| at(i).map_or((f64::NAN, f64::NAN), limits));
    let bars = BarSeries::new(&curve.label, values);
    let bars = if curve.points.iter().any(|p| p.limits().is_some()) {
        bars.whiskers(limits)
    } else {
        bars
    };
    bars.reference(published(curve, categories, marks))
}

fn boxes(curve: &Curve, categories: usize, marks: &[&PublishedMark]) -> BoxSeries {
    let at = |i: usize| curve.points.iter().find(|p| p.x as usize == i);
    let boxes = (0..categories).map(|i| BoxMarks::of(&at(i)?.samples));
    BoxSeries::new(&curve.label, boxes).reference(published(curve, categories, marks))
}

fn heat(figure: &FigureData, curves: &[&Curve], scale: Axis) -> Heat {
    let row = |curve: &&Curve| {
        let at = |i: usize| curve.points.iter().find(|p| p.x as usize == i);
        let columns = 0..figure.categories.len();
        columns.map(|i| at(i).map_or(f64::NAN, |p| p.y)).collect()
    };
    Heat {
        label: figure.x_label.clone(),
        columns: figure.categories.clone(),
        rows: curves.iter().map(|c| c.label.clone()).collect(),
        values: curves.iter().map(row).collect(),
        scale,
        decimals: figure.decimals as usize,
    }
}
