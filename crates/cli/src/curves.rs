//! The figure of a run: window, rate and received bytes against time.

use crate::exit::Failure;
use crate::output;
use bentpipe_outcome::{FlowSeries, WindowRate, window_rates};
use bentpipe_report::plot::{Axis, Chart, Legend, Panel, Series};
use bentpipe_units::Duration;
use std::path::Path;

/// One flow in the figure.
pub(crate) struct Curve {
    /// Its name in the legend.
    pub(crate) name: String,
    /// What was recorded.
    pub(crate) series: FlowSeries,
}

/// Where the axes end; without, where the data do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ends {
    /// Of time, seconds.
    pub(crate) time: Option<f64>,
    /// Of the rate, Mbit/s.
    pub(crate) rate: Option<f64>,
}

/// Draws `curves` into `file`; rates are means over `window`.
pub(crate) fn draw(
    title: &str,
    note: &str,
    curves: &[Curve],
    window: Duration,
    ends: Ends,
    file: &Path,
) -> Result<(), Failure> {
    let panel = |label: &str, max: Option<f64>| {
        let axis = |label: &str, max| Axis {
            max,
            ..Axis::linear(label).zero(true)
        };
        Panel::xy(axis("time [s]", ends.time), axis(label, max))
    };
    let mut cwnd = panel("cwnd [segments]", None);
    let mut rate = panel("rate [Mbit/s]", ends.rate);
    let mut received = panel("received [MB]", None);
    let shown = |at: &f64| ends.time.is_none_or(|end| *at <= end);
    for curve in curves {
        let name = curve.name.as_str();
        let series = &curve.series;
        let windows = series.sender.iter().map(|s| (s.at.as_secs(), s.cwnd));
        let windows = windows.filter(|(at, _)| shown(at));
        cwnd = cwnd.series(Series::step(name, windows));
        let rates = rates(series, window)
            .into_iter()
            .filter(|(at, _)| shown(at));
        rate = rate.series(Series::line(name, rates));
        let bytes = series
            .delivered
            .iter()
            .map(|(at, n)| (at.as_secs(), n.as_f64() / 1e6));
        let bytes = bytes.filter(|(at, _)| shown(at));
        received = received.series(Series::line(name, bytes));
    }
    let legend = if curves.len() > 8 {
        Legend::Right
    } else {
        Legend::Auto
    };
    let chart = Chart::new(title)
        .subtitle(format!(
            "rate: bytes delivered in order, mean over {window}"
        ))
        .note(note)
        .width(960.0)
        .legend(legend)
        .panel(cwnd)
        .panel(rate)
        .panel(received);
    output::draw(&chart, file)
}

/// Rates of delivery, Mbit/s, over windows: the beginning and the end of each.
fn rates(series: &FlowSeries, window: Duration) -> Vec<(f64, f64)> {
    let steps = series.delivered.iter();
    let steps: Vec<(u64, u64)> = steps.map(|(at, n)| (at.as_nanos(), n.get())).collect();
    let ends = |r: WindowRate| {
        let rate = r.bytes_per_second * 8e-6;
        [r.from_ns, r.to_ns].map(|at| (at as f64 / 1e9, rate))
    };
    let windows = window_rates(&steps, window.as_nanos()).into_iter();
    windows.flat_map(ends).collect()
}
