//! Figures of studies as charts.

use bentpipe_report::plot::{Axis, BarSeries, Chart, Panel, Series};
use bentpipe_study::{Curve, FigureData, FigureForm};

/// A figure as a chart.
pub(crate) fn chart(figure: &FigureData) -> Chart {
    let y = Axis::linear(&figure.y_label);
    let panel = if figure.form == FigureForm::Bars || !figure.categories.is_empty() {
        let panel = Panel::bars(&figure.x_label, y, &figure.categories);
        figure.curves.iter().fold(panel, |panel, curve| {
            panel.bar_series(bars(curve, figure.categories.len()))
        })
    } else {
        let panel = Panel::xy(Axis::linear(&figure.x_label), y);
        figure.curves.iter().fold(panel, |panel, curve| {
            panel.series(series(curve, figure.form))
        })
    };
    let whiskers = figure
        .curves
        .iter()
        .flat_map(|c| &c.points)
        .any(|p| p.ci95.is_some());
    let chart = Chart::new(&figure.title)
        .note(figure.notes.join("; "))
        .panel(panel);
    if whiskers {
        chart.spread_label("95% confidence")
    } else {
        chart
    }
}

fn series(curve: &Curve, form: FigureForm) -> Series {
    let points = curve.points.iter().map(|p| (p.x, p.y));
    if form == FigureForm::Series {
        return Series::line(&curve.label, points);
    }
    let series = Series::line_points(&curve.label, points);
    let published = curve
        .points
        .iter()
        .filter_map(|p| Some((p.x, p.published?)));
    let series = series.reference(published);
    if curve.points.iter().all(|p| p.ci95.is_none()) {
        return series;
    }
    series.whiskers(curve.points.iter().map(|p| {
        let half = p.ci95.unwrap_or(0.0);
        (p.y - half, p.y + half)
    }))
}

fn bars(curve: &Curve, categories: usize) -> BarSeries {
    let at = |i: usize| curve.points.iter().find(|p| p.x as usize == i);
    let values = (0..categories).map(|i| at(i).map_or(f64::NAN, |p| p.y));
    let limits = (0..categories).map(|i| {
        at(i).map_or((f64::NAN, f64::NAN), |p| {
            let half = p.ci95.unwrap_or(0.0);
            (p.y - half, p.y + half)
        })
    });
    let published = (0..categories).map(|i| at(i).and_then(|p| p.published).unwrap_or(f64::NAN));
    let bars = BarSeries::new(&curve.label, values);
    let bars = if curve.points.iter().any(|p| p.ci95.is_some()) {
        bars.whiskers(limits)
    } else {
        bars
    };
    if curve.points.iter().any(|p| p.published.is_some()) {
        bars.reference(published)
    } else {
        bars
    }
}
