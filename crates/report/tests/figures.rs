//! Whole figures: one frozen as text, and properties of others.

use bentpipe_report::plot::{
    Annotation, Axis, BarSeries, BoxMarks, BoxSeries, Chart, Heat, Panel, Series,
};
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

/// One small chart of each kind, by name.
fn kinds() -> Vec<(&'static str, Chart)> {
    let small = |title: &str| Chart::new(title).width(380.0);
    let xy = || Panel::xy(Axis::linear("Time (s)"), Axis::linear("Rate (Mbit/s)"));
    let samples = |shift: f64| (0..9_i32).map(move |i| shift + f64::from((i * 7) % 9));
    let rows = Panel::rows(Axis::linear("Time (s)"), ["bbr", "cubic", "newreno"])
        .bar_series(
            BarSeries::new("without a PEP", [9.1, 12.6, 15.0])
                .whiskers([(9.0, 9.3), (11.0, 14.0), (13.0, 17.5)])
                .labels(["9.1 s", "12.6 s", "15.0 s"]),
        )
        .bar_series(BarSeries::new("split", [8.0, 8.2, 8.3]).labels(["8.0 s", "8.2 s", "8.3 s"]));
    let boxes = Panel::boxes("Size", Axis::linear("Time (s)"), ["1 MB", "10 MB"])
        .box_series(
            BoxSeries::new(
                "cubic",
                [2.0, 9.0].map(|s| BoxMarks::of(&samples(s).collect::<Vec<_>>())),
            )
            .reference([5.0, f64::NAN]),
        )
        .box_series(BoxSeries::new(
            "bbr",
            [None, BoxMarks::of(&[1.0, 2.0, 2.5, 3.0, 20.0])],
        ));
    let heat = Heat {
        label: "Loss".into(),
        columns: ["0%", "0.1%", "1%"].map(String::from).to_vec(),
        rows: ["50 ms", "600 ms"].map(String::from).to_vec(),
        values: vec![vec![9.6, 9.1, 4.0], vec![8.2, f64::NAN, 0.5]],
        scale: Axis::linear("Mbit/s"),
        decimals: 1,
    };
    let facet = |title: &str, top: f64| {
        xy().title(title)
            .series(Series::step("cubic", [(0.0, 1.0), (1.0, top), (2.0, 2.0)]))
            .series(Series::line("bbr", [(0.0, 2.0), (2.0, 2.5)]).marks([(2.0, 2.5)]))
    };
    vec![
        (
            "cdf",
            small("Distribution").panel(
                Panel::xy(
                    Axis::log("Time (s)"),
                    Axis::linear("Share of runs").range(0.0, 1.0),
                )
                .series(Series::cdf("cubic", samples(4.0)))
                .series(Series::cdf("bbr", samples(2.0))),
            ),
        ),
        (
            "rows",
            small("Bars that lie")
                .spread_label("95% interval")
                .panel(rows),
        ),
        ("boxes", small("Boxes").panel(boxes)),
        ("heat", small("A map").panel(Panel::heat("RTT", heat))),
        (
            "facets",
            small("Small multiples")
                .columns(2)
                .mark_label("end of the transfer")
                .panel(facet("0%", 9.0))
                .panel(facet("0.1%", 6.0))
                .panel(facet("1%", 3.0)),
        ),
        (
            "broken",
            small("A broken axis").panel(
                Panel::bars(
                    "",
                    Axis::linear("Time (s)").broken(20.0, 180.0),
                    ["a", "b", "c"],
                )
                .bar_series(BarSeries::new("", [12.0, 15.0, 195.0])),
            ),
        ),
        (
            "band",
            small("A band on logarithmic axes")
                .spread_label("all runs")
                .panel(
                    Panel::xy(Axis::log("Loss"), Axis::log("Rate (Mbit/s)")).series(
                        Series::line_points("reno", [(1e-5, 8.0), (1e-4, 4.0), (1e-3, 1.2)])
                            .band([(7.0, 9.0), (3.0, 5.0), (0.9, 1.5)])
                            .reference([(1e-4, 4.4)]),
                    ),
                ),
        ),
    ]
}

#[test]
fn every_kind_of_chart_is_frozen() {
    for (name, chart) in kinds() {
        insta::assert_snapshot!(format!("kind_{name}"), chart.to_svg());
    }
}

#[test]
fn the_same_chart_is_the_same_bytes_in_each_format() {
    for (name, chart) in kinds() {
        let svg = chart.to_svg();
        assert_eq!(svg, chart.to_svg(), "{name}");
        let pdf = bentpipe_report::pdf::render(&svg).expect("a PDF");
        assert_eq!(pdf, bentpipe_report::pdf::render(&svg).expect("a PDF"));
        assert_eq!(
            png::render(&svg, 1.0).expect("a PNG"),
            png::render(&svg, 1.0).expect("a PNG")
        );
    }
}

#[test]
fn a_million_points_keep_their_peaks() {
    let points = (0..1_000_000_u32).map(|i| {
        let noise = f64::from(i.wrapping_mul(7919) % 1009);
        (f64::from(i), if i == 314_159 { 5000.0 } else { noise })
    });
    let panel = Panel::xy(Axis::linear("Time (s)"), Axis::linear("Queue (packets)"));
    let svg = Chart::new("")
        .panel(panel.series(Series::line("q", points)))
        .to_svg();
    assert!(svg.len() < 100_000, "{} bytes", svg.len());
    assert_eq!(count(&svg, ">least to greatest</text>"), 1);
    assert_eq!(count(&svg, ">5000</text>"), 1, "the axis reaches the peak");
}
