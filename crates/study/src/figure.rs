//! Computes a figure: curves or bars as plain numbers, to be drawn.

use crate::expr::World;
use crate::paper::Catalogue;
use crate::record::StoredSeries;
use crate::reference::Reference;
use crate::study::{Axis, FigureKind, FigureSpec, Labels, SeriesQuantity, Study, ValueSpec};
use crate::table::{ROW_JOIN, fixed, shown};
use bentpipe_outcome::{WindowRate, window_rates};
use bentpipe_units::Duration;
use serde::Serialize;

/// A computed figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureData {
    /// Name of the item.
    pub slug: String,
    /// Title.
    pub title: String,
    /// How it is drawn.
    pub form: FigureForm,
    /// Label of the x axis, with its unit.
    pub x_label: String,
    /// Label of the y axis, with its unit.
    pub y_label: String,
    /// Labels along the x axis, where it has no numbers.
    pub categories: Vec<String>,
    /// The curves, or the bars of one colour.
    pub curves: Vec<Curve>,
    /// What could not be computed.
    pub notes: Vec<String>,
}

/// How a figure is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FigureForm {
    /// A line over time.
    Series,
    /// A line over the points of an axis.
    Line,
    /// Bars in groups.
    Bars,
}

/// One curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// Its name in the legend; may be empty.
    pub label: String,
    /// Its points, by x.
    pub points: Vec<CurvePoint>,
}

/// A point of a curve. For categories, `x` is the index.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Where.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// Half the width of its 95% interval.
    pub ci95: Option<f64>,
    /// The published value.
    pub published: Option<f64>,
}

/// What computing a figure needs.
pub(crate) struct Sources<'a> {
    pub(crate) home: &'a Study,
    pub(crate) reference: Option<&'a Reference>,
    pub(crate) studies: &'a dyn Catalogue,
    pub(crate) world: &'a dyn World,
}

/// The window of rates where a figure names none, at least.
const RATE_WINDOW: Duration = Duration::from_millis(500);

/// The points of an axis that are shown.
fn points<'a>(axis: &'a Axis, spec: &FigureSpec) -> Vec<&'a crate::study::Point> {
    let only = spec.only.iter().find(|(name, _)| *name == axis.name);
    let wanted: Option<Vec<usize>> =
        only.map(|(_, points)| points.iter().filter_map(|p| axis.point(p)).collect());
    let all = axis.points.iter().enumerate();
    all.filter(|(i, _)| wanted.as_ref().is_none_or(|w| w.contains(i)))
        .map(|(_, p)| p)
        .collect()
}

/// Computes a figure over results.
pub(crate) fn compute(spec: &FigureSpec, sources: &Sources<'_>) -> FigureData {
    let home = sources.home;
    let mut figure = FigureData {
        slug: spec.slug.clone(),
        title: spec.title.clone(),
        form: FigureForm::Series,
        x_label: String::new(),
        y_label: String::new(),
        categories: Vec::new(),
        curves: Vec::new(),
        notes: Vec::new(),
    };
    let at = fixed(&spec.at, home);
    let series = spec.series.as_deref().and_then(|name| home.axis(name));
    let labels: Vec<Option<&str>> = match series {
        Some(axis) => points(axis, spec)
            .iter()
            .map(|p| Some(p.label.as_str()))
            .collect(),
        None => vec![None],
    };
    match &spec.kind {
        FigureKind::Series { y, flow, window } => {
            let found = SeriesQuantity::ALL.iter().find(|(_, q, ..)| q == y);
            let (_, _, about, unit) = found.copied().unwrap_or(SeriesQuantity::ALL[0]);
            figure.x_label = "time [s]".to_owned();
            figure.y_label = format!("{about} [{unit}]");
            let asked = window.as_ref().map_or(RATE_WINDOW, |(window, _)| *window);
            let length = home.series.map_or(asked, |interval| asked.max(interval));
            for label in labels {
                let at = moved(&at, series, label);
                match stored(sources, &at, flow.as_deref()) {
                    Ok(stored) => figure.curves.push(Curve {
                        label: label.unwrap_or(&home.title).to_owned(),
                        points: sampled(stored, *y, length.as_nanos()),
                    }),
                    Err(why) => figure.notes.push(why),
                }
            }
        }
        FigureKind::Line { x, y } => {
            figure.form = FigureForm::Line;
            let places = along(x, spec, home, &mut figure);
            curves(&mut figure, sources, y, &at, (series, &labels), &places);
        }
        FigureKind::Bars { groups, y } => {
            figure.form = FigureForm::Bars;
            figure.x_label = groups.join(", ");
            let places = grouped(groups, spec, home, &mut figure);
            curves(&mut figure, sources, y, &at, (series, &labels), &places);
        }
    }
    if let Some(label) = &spec.x_label {
        figure.x_label.clone_from(label);
    }
    if let Some(label) = &spec.y_label {
        figure.y_label.clone_from(label);
    }
    figure
}

/// The places of a line's points along the axis `x`.
fn along(x: &str, spec: &FigureSpec, home: &Study, figure: &mut FigureData) -> Vec<Place> {
    let axis = home.axis(x);
    let along: Vec<_> = axis.map_or_else(Vec::new, |axis| points(axis, spec));
    let numeric = along.iter().all(|p| p.value.is_some());
    let unit = along
        .first()
        .and_then(|p| p.value?.1)
        .map_or("", |u| u.symbol());
    figure.x_label = if unit.is_empty() {
        x.to_owned()
    } else {
        format!("{x} [{unit}]")
    };
    if !numeric {
        figure.categories = along.iter().map(|p| p.label.clone()).collect();
    }
    along
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let place = p.value.filter(|_| numeric).map_or(i as f64, |v| v.0);
            (
                place,
                p.label.clone(),
                vec![(x.to_owned(), p.label.clone())],
            )
        })
        .collect()
}

/// The places of bars in groups.
fn grouped(
    groups: &[String],
    spec: &FigureSpec,
    home: &Study,
    figure: &mut FigureData,
) -> Vec<Place> {
    let mut places: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for axis in groups.iter().filter_map(|name| home.axis(name)) {
        let longer = |place: &Vec<(String, String)>, label: &str| {
            let next = (axis.name.clone(), label.to_owned());
            place.iter().cloned().chain([next]).collect()
        };
        places = places
            .iter()
            .flat_map(|place| {
                points(axis, spec)
                    .into_iter()
                    .map(move |p| longer(place, &p.label))
            })
            .collect();
    }
    let joined = |place: &Vec<(String, String)>| {
        let labels: Vec<&str> = place.iter().map(|(_, label)| label.as_str()).collect();
        labels.join(ROW_JOIN)
    };
    figure.categories = places.iter().map(joined).collect();
    places
        .iter()
        .enumerate()
        .map(|(i, place)| (i as f64, joined(place), place.clone()))
        .collect()
}

fn moved(
    at: &[(String, String)],
    axis: Option<&Axis>,
    label: Option<&str>,
) -> Vec<(String, String)> {
    let mut at = at.to_vec();
    at.extend(
        axis.zip(label)
            .map(|(axis, label)| (axis.name.clone(), label.to_owned())),
    );
    at
}

/// Where a point of a curve stands: its x, its row in a reference, its labels.
type Place = (f64, String, Labels);

/// One curve per label, one point per place.
fn curves(
    figure: &mut FigureData,
    sources: &Sources<'_>,
    y: &ValueSpec,
    at: &[(String, String)],
    (series, labels): (Option<&Axis>, &[Option<&str>]),
    places: &[Place],
) {
    for label in labels {
        let mut curve = Curve {
            label: label.unwrap_or("").to_owned(),
            points: Vec::new(),
        };
        for (x, row, place) in places {
            let mut at = moved(at, series, *label);
            at.extend(place.iter().cloned());
            let shown = shown(y, sources.home, &at, sources.studies, sources.world);
            if figure.y_label.is_empty() {
                let unit = &shown.unit;
                let text = &y.expression.text;
                figure.y_label = if unit.is_empty() {
                    text.clone()
                } else {
                    format!("{text} [{unit}]")
                };
            }
            match shown.value {
                Ok((value, ci95, _)) => {
                    let published = sources
                        .reference
                        .and_then(|r| r.get(row, &curve.label))
                        .map(|p| p.value);
                    curve.points.push(CurvePoint {
                        x: *x,
                        y: value,
                        ci95,
                        published,
                    });
                }
                Err(why) => figure.notes.push(why),
            }
        }
        figure.curves.push(curve);
    }
}

/// The series of the first replication at some labels.
fn stored<'a>(
    sources: &Sources<'a>,
    at: &[(String, String)],
    flow: Option<&str>,
) -> Result<&'a StoredSeries, String> {
    let name = &sources.home.name;
    let results = sources
        .world
        .results(name)
        .ok_or_else(|| format!("study `{name}` was not run"))?;
    let label = |axis: &str| at.iter().find(|(a, _)| a == axis).map(|(_, l)| l.as_str());
    let cell = results.cell(label)?;
    let run = results.runs_of(cell).next().ok_or("there are no runs")?;
    let data = run.data().ok_or_else(|| {
        format!(
            "{}: {}",
            results.place(cell),
            run.failure().unwrap_or("it did not run")
        )
    })?;
    let mut series = data.series.iter();
    series
        .find(|s| flow.is_none_or(|name| s.flow == name))
        .ok_or_else(|| format!("{}: there is no such series", results.place(cell)))
}

fn sampled(series: &StoredSeries, quantity: SeriesQuantity, window: u64) -> Vec<CurvePoint> {
    let point = |at: u64, y: f64| CurvePoint {
        x: at as f64 / 1e9,
        y,
        ci95: None,
        published: None,
    };
    let sender = |get: fn(&crate::record::StoredSample) -> Option<f64>| {
        let samples = series.sender.iter();
        samples
            .filter_map(|s| Some(point(s.at_ns, get(s)?)))
            .collect()
    };
    let kilobytes = |steps: &[(u64, u64)]| {
        steps
            .iter()
            .map(|(at, n)| point(*at, *n as f64 / 1e3))
            .collect()
    };
    // A rate holds over its window, so that a pause has edges.
    let rates = |steps: &[(u64, u64)]| {
        let windows = window_rates(steps, window).into_iter();
        let ends = |r: WindowRate| {
            let rate = r.bytes_per_second / 1e3;
            [point(r.from_ns, rate), point(r.to_ns, rate)]
        };
        windows.flat_map(ends).collect()
    };
    match quantity {
        SeriesQuantity::Cwnd => sender(|s| Some(s.cwnd)),
        SeriesQuantity::Ssthresh => sender(|s| s.ssthresh),
        SeriesQuantity::Flight => sender(|s| Some(s.flight)),
        SeriesQuantity::Rtt => sender(|s| (s.rtt_ns > 0).then(|| s.rtt_ns as f64 / 1e9)),
        SeriesQuantity::Received => kilobytes(&series.delivered),
        SeriesQuantity::Sent => kilobytes(&series.sent),
        SeriesQuantity::Rate => rates(&series.delivered),
        SeriesQuantity::SentRate => rates(&series.sent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a flow of 10 Mbit/s shows when it is sampled every `interval`.
    fn steady(interval: u64) -> StoredSeries {
        let spacing = interval + 1_200_000;
        let steps: Vec<(u64, u64)> = (0..20).map(|i| (i * spacing, i * spacing / 800)).collect();
        StoredSeries {
            delivered: steps.clone(),
            sent: steps,
            ..StoredSeries::default()
        }
    }

    #[test]
    fn a_rate_is_that_of_the_flow_however_rarely_it_is_sampled() {
        const SECOND: u64 = 1_000_000_000;
        for interval in [SECOND / 10, SECOND, 10 * SECOND] {
            for quantity in [SeriesQuantity::Rate, SeriesQuantity::SentRate] {
                let points = sampled(&steady(interval), quantity, SECOND / 2);
                assert!(points.len() > 2);
                for point in points {
                    assert!((point.y - 1250.0).abs() < 1.0, "{interval}: {point:?}");
                }
            }
        }
    }
}
