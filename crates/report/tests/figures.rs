//! Whole figures: one frozen as text, and properties of others.

use bentpipe_report::plot::{Annotation, Axis, BarSeries, Chart, Panel, Series};
use bentpipe_report::png;

fn count(svg: &str, what: &str) -> usize {
    svg.matches(what).count()
}

#[test]
fn a_small_figure_is_frozen() {
    let panel = Panel::xy(Axis::linear("time [s]"), Axis::linear("cwnd [segments]"))
        .series(Series::line(
            "newreno",
            [(0.0, 2.0), (1.0, 4.0), (2.0, 8.0)],
        ))
        .series(Series::line_points("mtsi", [(0.0, 4.0), (2.0, 16.0)]).reference([(2.0, 14.0)]))
        .annotate(Annotation::vertical(1.0, "handover"));
    let svg = Chart::new("Slow start & more")
        .width(400.0)
        .height(260.0)
        .panel(panel)
        .to_svg();
    insta::assert_snapshot!(svg);
}

#[test]
fn a_small_bar_chart_is_frozen() {
    let panel = Panel::bars("", Axis::linear("gain [%]"), ["GEO", "LEO"])
        .bar_series(BarSeries::new("hybla", [60.0, -5.0]).reference([55.0, f64::NAN]))
        .bar_series(BarSeries::new("bbr", [f64::NAN, 4.0]).whiskers([(0.0, 0.0), (3.0, 6.0)]));
    let svg = Chart::new("")
        .width(300.0)
        .height(220.0)
        .panel(panel)
        .to_svg();
    insta::assert_snapshot!(svg);
}

#[test]
fn a_hundred_thousand_points_stay_small() {
    let points = (0..100_000).map(|i| (f64::from(i), f64::from((i * 7919) % 1009)));
    let panel = Panel::xy(Axis::linear("t"), Axis::linear("y"))
        .series(Series::line("line", points.clone()))
        .series(Series::step("step", points.clone()))
        .series(Series::points("cloud", points.clone()))
        .series(Series::line_points("both", points.clone()).whiskers(points.map(|(_, y)| (y, y))));
    let svg = Chart::new("").panel(panel).to_svg();
    assert!(svg.len() < 4_000_000, "{} bytes", svg.len());
    let line = svg
        .lines()
        .find(|l| l.starts_with("<path"))
        .map_or(0, str::len);
    assert!(line < 60_000, "{line} bytes for one line");
}

#[test]
fn panels_share_one_time_axis_and_one_legend() {
    let panel = |label: &str, end: f64| {
        Panel::xy(Axis::linear("time [s]"), Axis::linear(label))
            .series(Series::line("newreno", [(0.0, 1.0), (end, 2.0)]))
    };
    let chart = Chart::new("t")
        .panel(panel("a", 5.0))
        .panel(panel("b", 10.0));
    let svg = chart.panel(panel("c", 2.0)).to_svg();
    assert_eq!(count(&svg, ">time [s]</text>"), 1);
    assert_eq!(count(&svg, ">newreno</text>"), 1);
    assert_eq!(
        count(&svg, ">10</text>"),
        1,
        "the range of the longest panel"
    );
}

#[test]
fn panels_with_other_axes_keep_their_labels() {
    let panel = |label: &str| {
        Panel::xy(Axis::linear(label), Axis::linear("y"))
            .series(Series::line("s", [(0.0, 1.0), (5.0, 2.0)]))
    };
    let svg = Chart::new("t")
        .panel(panel("time [s]"))
        .panel(panel("size [kB]"))
        .to_svg();
    assert_eq!(
        count(&svg, ">time [s]</text>") + count(&svg, ">size [kB]</text>"),
        2
    );
}

#[test]
fn nothing_to_draw_says_so() {
    let axes = || (Axis::linear("x"), Axis::log("y"));
    let empty = || Panel::xy(axes().0, axes().1);
    assert_eq!(count(&Chart::new("t").to_svg(), ">no data</text>"), 1);
    let negative = empty().series(Series::line("s", [(1.0, -1.0), (2.0, 0.0)]));
    let svg = Chart::new("t").panel(empty()).panel(negative).to_svg();
    assert_eq!(count(&svg, ">no data</text>"), 2);
    let bars = Panel::bars("", Axis::linear("y"), ["a"]).bar_series(BarSeries::new("s", []));
    assert_eq!(
        count(&Chart::new("t").panel(bars).to_svg(), ">no data</text>"),
        1
    );
}

#[test]
fn a_gap_is_a_gap() {
    let points = [
        (0.0, 1.0),
        (1.0, 2.0),
        (2.0, f64::NAN),
        (3.0, 1.0),
        (4.0, 3.0),
    ];
    let panel = Panel::xy(Axis::linear("x"), Axis::linear("y")).series(Series::line("s", points));
    let svg = Chart::new("").panel(panel).to_svg();
    let path = svg
        .lines()
        .find(|l| l.starts_with("<path"))
        .unwrap_or_default();
    assert_eq!(count(path, "M"), 2, "{path}");
}

#[test]
fn a_figure_becomes_a_png_of_its_size() {
    let panel = Panel::xy(Axis::linear("x"), Axis::linear("y"))
        .series(Series::line("s", [(0.0, 1.0), (1.0, 2.0)]));
    let svg = Chart::new("t")
        .width(300.0)
        .height(200.0)
        .panel(panel)
        .to_svg();
    let png = png::render(&svg, 2.0).expect("a PNG");
    assert_eq!(png[16..24], [0, 0, 2, 88, 0, 0, 1, 144]);
}
