//! The figure of runs: received bytes, rate and window against time.

use bentpipe::recording::rates;
use bentpipe_outcome::FlowSeries;
use bentpipe_report::plot::{Axis, Chart, Legend, Panel, Series};
use bentpipe_units::Duration;

/// Curves that can be told apart in one panel.
pub(crate) const CURVES: usize = 4;

/// More curves than this are drawn as the range of all.
const MANY: usize = 12;

/// How much larger one window must be than another for a logarithmic axis.
const WIDE: f64 = 10.0;

/// Points of a range along time.
const STEPS: usize = 400;

/// One flow in the figure.
pub(crate) struct Curve {
    /// Its name in the legend.
    pub(crate) name: String,
    /// What was recorded.
    pub(crate) series: FlowSeries,
    /// Where it ended, if it did, seconds.
    pub(crate) end: Option<f64>,
    /// Further runs of the same, for the band of received bytes.
    pub(crate) others: Vec<FlowSeries>,
}

/// What surrounds the curves.
pub(crate) struct Words {
    /// The title.
    pub(crate) title: String,
    /// What the figure shows.
    pub(crate) subtitle: String,
    /// What else is to be known; may be empty.
    pub(crate) note: String,
    /// What the legend calls the band of [`Curve::others`].
    pub(crate) band: String,
}

/// A figure of `curves`; rates are means over `window`, and the time axis ends
/// at `end`, or where the curves do.
pub(crate) fn chart(words: Words, curves: &[Curve], window: Duration, end: Option<f64>) -> Chart {
    if curves.len() > MANY {
        spread(words, curves, window, end)
    } else {
        lines(words, curves, window, end)
    }
}

/// The axes of the three rows of panels.
fn panels(end: Option<f64>, wide: bool) -> [Panel; 3] {
    let time = || Axis {
        max: end,
        ..Axis::linear("Time (s)").zero(true)
    };
    let panel = |label: &str| Panel::xy(time(), Axis::linear(label).zero(true));
    let cwnd = if wide {
        Panel::xy(time(), Axis::log("cwnd (segments)"))
    } else {
        panel("cwnd (segments)")
    };
    [panel("Received (MB)"), panel("Rate (Mbit/s)"), cwnd]
}

/// Whether the largest windows differ so much that only a logarithmic axis shows
/// all of them.
fn is_wide(curves: &[Curve]) -> bool {
    let largest = |c: &Curve| c.series.sender.iter().map(|s| s.cwnd).fold(0.0, f64::max);
    let tops: Vec<f64> = curves.iter().map(largest).filter(|x| *x > 0.0).collect();
    let low = tops.iter().copied().fold(f64::INFINITY, f64::min);
    tops.iter().any(|top| *top > WIDE * low)
}

/// A line for each curve, [`CURVES`] of them in a column of panels.
fn lines(words: Words, curves: &[Curve], window: Duration, end: Option<f64>) -> Chart {
    let wide = is_wide(curves);
    let columns: Vec<&[Curve]> = curves.chunks(CURVES).collect();
    let drawn: Vec<[Panel; 3]> = columns
        .iter()
        .map(|curves| column(curves, window, end, wide))
        .collect();
    let ended = curves.iter().any(|c| c.end.is_some());
    let banded = curves.iter().any(|c| !c.others.is_empty());
    let mut chart = Chart::new(words.title)
        .subtitle(words.subtitle)
        .note(words.note)
        .width(if columns.len() > 1 { 1100.0 } else { 900.0 })
        .columns(columns.len().max(1))
        .spread_label(if banded { words.band } else { String::new() })
        .mark_label(if ended { "end of the transfer" } else { "" });
    if curves.len() <= 2 * CURVES {
        chart = chart.legend(Legend::Below);
    }
    for row in 0..3 {
        for panels in &drawn {
            chart = chart.panel(panels[row].clone());
        }
    }
    chart
}

fn column(curves: &[Curve], window: Duration, end: Option<f64>, wide: bool) -> [Panel; 3] {
    let [mut received, mut rate, mut cwnd] = panels(end, wide);
    // All bands under all lines.
    for curve in curves.iter().filter(|c| !c.others.is_empty()) {
        let until = end.unwrap_or_else(|| last(&curve.others));
        let (at, limits) = range(&curve.others, until);
        let band = at.into_iter().map(|at| (at, f64::NAN));
        received = received.series(Series::line(&curve.name, band).band(limits));
    }
    for curve in curves {
        let (name, series) = (&curve.name, &curve.series);
        let shown = |at: &f64| end.is_none_or(|end| *at <= end);
        let bytes: Vec<(f64, f64)> = megabytes(series).collect();
        let total = bytes.last().map_or(0.0, |p| p.1);
        let ends = curve.end.filter(shown).map(|end| (end, total));
        received = received.series(Series::line(name, bytes).marks(ends));
        rate = rate.series(Series::line(name, rates(series, window)));
        let until = curve.end.unwrap_or(f64::INFINITY);
        let windows = series.sender.iter().map(|s| (s.at.as_secs(), s.cwnd));
        let windows = windows.filter(|(at, _)| *at <= until);
        cwnd = cwnd.series(Series::step(name, windows));
    }
    [received, rate, cwnd]
}

/// Of many flows the one in the middle, and the range of all.
fn spread(words: Words, curves: &[Curve], window: Duration, end: Option<f64>) -> Chart {
    let all: Vec<FlowSeries> = curves.iter().map(|c| c.series.clone()).collect();
    let until = end.unwrap_or_else(|| last(&all));
    let grid: Vec<f64> = grid(until);
    // What a flow has received stays; a flow that has ended has no rate and no window.
    let row = |panel: Panel, stays: bool, of: &dyn Fn(&FlowSeries) -> Vec<(f64, f64)>| {
        let curve = |series: &FlowSeries| {
            let end = series.delivered.last().map_or(0.0, |d| d.0.as_secs());
            held(&of(series), &grid, if stays { f64::INFINITY } else { end })
        };
        let curves: Vec<Vec<f64>> = all.iter().map(curve).collect();
        let mut middle = Vec::new();
        let mut limits = Vec::new();
        for (i, at) in grid.iter().enumerate() {
            let mut found: Vec<f64> = curves.iter().map(|c| c[i]).collect();
            found.retain(|x| x.is_finite());
            found.sort_by(f64::total_cmp);
            let Some((low, high)) = found.first().zip(found.last()) else {
                continue;
            };
            limits.push((*low, *high));
            middle.push((*at, found[found.len() / 2]));
        }
        let name = format!("median of {} flows", all.len());
        panel.series(Series::step(name, middle).band(limits))
    };
    let [received, rate, cwnd] = panels(end, is_wide(curves));
    Chart::new(words.title)
        .subtitle(words.subtitle)
        .note(words.note)
        .width(900.0)
        .spread_label("least to most")
        .panel(row(received, true, &|s| megabytes(s).collect()))
        .panel(row(rate, false, &|s| rates(s, window)))
        .panel(row(cwnd, false, &|s| {
            s.sender.iter().map(|x| (x.at.as_secs(), x.cwnd)).collect()
        }))
}

/// The values of a curve at some times, each held until the next and none after
/// `end`.
fn held(points: &[(f64, f64)], times: &[f64], end: f64) -> Vec<f64> {
    let mut next = 0;
    let mut value = f64::NAN;
    let at = |at: &f64| {
        while let Some(point) = points.get(next).filter(|p| p.0 <= *at) {
            value = point.1;
            next += 1;
        }
        if *at <= end { value } else { f64::NAN }
    };
    times.iter().map(at).collect()
}

fn megabytes(series: &FlowSeries) -> impl Iterator<Item = (f64, f64)> + '_ {
    let steps = series.delivered.iter();
    steps.map(|(at, n)| (at.as_secs(), n.as_f64() / 1e6))
}

/// When the last of some flows received its last bytes, seconds.
fn last(all: &[FlowSeries]) -> f64 {
    let ends = all.iter().filter_map(|s| s.delivered.last());
    ends.map(|(at, _)| at.as_secs()).fold(0.0, f64::max)
}

fn grid(until: f64) -> Vec<f64> {
    (0..=STEPS)
        .map(|i| until * i as f64 / STEPS as f64)
        .collect()
}

/// The least and the most that some flows have received, in megabytes, and when.
fn range(all: &[FlowSeries], until: f64) -> (Vec<f64>, Vec<(f64, f64)>) {
    let grid = grid(until);
    let mut limits = vec![(f64::INFINITY, f64::NEG_INFINITY); grid.len()];
    for series in all {
        let points: Vec<(f64, f64)> = megabytes(series).collect();
        let mut next = 0;
        for (at, limit) in grid.iter().zip(&mut limits) {
            while points.get(next).is_some_and(|p| p.0 <= *at) {
                next += 1;
            }
            let before = next.checked_sub(1).and_then(|i| points.get(i));
            let value = match (before, points.get(next)) {
                (Some(a), Some(b)) => a.1 + (b.1 - a.1) * (at - a.0) / (b.0 - a.0),
                (Some(a), None) => a.1,
                (None, _) => 0.0,
            };
            *limit = (limit.0.min(value), limit.1.max(value));
        }
    }
    (grid, limits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bentpipe_units::{Bytes, Time};

    fn flow(rate: u64) -> FlowSeries {
        let step = |i: u64| {
            (
                Time::ZERO + Duration::from_millis(100 * i),
                Bytes::new(rate * i / 10),
            )
        };
        FlowSeries {
            delivered: (0..=100).map(step).collect(),
            ..FlowSeries::default()
        }
    }

    fn curve(name: &str, rate: u64) -> Curve {
        Curve {
            name: name.to_owned(),
            series: flow(rate),
            end: Some(10.0),
            others: vec![flow(rate / 2), flow(rate), flow(rate * 2)],
        }
    }

    fn words() -> Words {
        Words {
            title: "t".into(),
            subtitle: String::new(),
            note: String::new(),
            band: "all runs".into(),
        }
    }

    #[test]
    fn a_band_holds_every_run() {
        let runs = [flow(1_000_000), flow(500_000), flow(2_000_000)];
        let (at, limits) = range(&runs, 10.0);
        assert_eq!(limits[0], (0.0, 0.0));
        assert_eq!(limits[limits.len() - 1], (5.0, 20.0));
        for (at, (low, high)) in at.iter().zip(&limits) {
            assert!((low - 0.5 * at).abs() < 1e-9 && (high - 2.0 * at).abs() < 1e-9);
        }
    }

    #[test]
    fn a_flow_that_has_ended_has_no_rate() {
        let points = [(0.0, 5.0), (2.0, 7.0)];
        let values = held(&points, &[0.0, 1.0, 2.0, 3.0], 2.0);
        assert_eq!(values[..3], [5.0, 5.0, 7.0]);
        assert!(values[3].is_nan());
        assert_eq!(held(&points, &[9.0], f64::INFINITY), [7.0]);
    }

    #[test]
    fn a_panel_holds_four_curves_and_many_are_a_range() {
        let curves: Vec<Curve> = (1..=9)
            .map(|i| curve(&format!("c{i}"), 1_000 * i))
            .collect();
        let window = Duration::from_secs(1);
        let of = |n: usize| lines(words(), &curves[..n], window, None);
        assert_eq!((of(4).columns, of(4).panels.len()), (1, 3));
        assert_eq!((of(5).columns, of(5).panels.len()), (2, 6));
        assert_eq!((of(9).columns, of(9).panels.len()), (3, 9));
        let svg = of(9).to_svg();
        assert_eq!(svg.matches(">all runs</text>").count(), 1);
        assert_eq!(svg.matches(">end of the transfer</text>").count(), 1);
        let many = spread(words(), &curves, window, None).to_svg();
        assert!(many.contains(">median of 9 flows</text>"));
    }
}
