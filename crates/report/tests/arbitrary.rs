//! Whatever the data, a chart is drawn, is well-formed XML, and comes out the
//! same twice.

use bentpipe_report::plot::{Annotation, Axis, BarSeries, Chart, Legend, Panel, Series};
use proptest::prelude::*;

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1e3..1e3_f64,
        2 => Just(7.0),
        1 => prop::sample::select(vec![
            0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN,
            f64::MIN_POSITIVE, 5e-324, 1e-300, 1e300, -1e300, 1.0 + f64::EPSILON, 1.0,
        ]),
        1 => any::<f64>(),
    ]
}

fn pairs() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((number(), number()), 0..40)
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z]{0,12}( [a-z]{1,9}){0,6}",
        1 => any::<String>(),
        1 => Just("<&\"'>\u{0}\u{FFFF}]]>".to_owned()),
        1 => Just("w".repeat(300)),
    ]
}

fn axis() -> impl Strategy<Value = Axis> {
    let end = || prop::option::weighted(0.3, number());
    (
        text(),
        any::<bool>(),
        end(),
        end(),
        prop::option::of(any::<bool>()),
    )
        .prop_map(|(label, log, min, max, zero)| {
            let axis = if log {
                Axis::log(label)
            } else {
                Axis::linear(label)
            };
            Axis {
                min,
                max,
                zero,
                ..axis
            }
        })
}

fn series() -> impl Strategy<Value = Series> {
    (
        text(),
        0..4,
        pairs(),
        0..3,
        pairs(),
        pairs(),
        prop::option::of(any::<usize>()),
    )
        .prop_map(|(name, kind, points, spread, limits, reference, slot)| {
            let series = match kind {
                0 => Series::line(name, points),
                1 => Series::step(name, points),
                2 => Series::points(name, points),
                _ => Series::line_points(name, points),
            };
            let series = match spread {
                0 => series,
                1 => series.whiskers(limits),
                _ => series.band(limits),
            };
            let series = series.reference(reference);
            slot.map_or(series.clone(), |slot| series.slot(slot))
        })
}

fn bar_series() -> impl Strategy<Value = BarSeries> {
    let values = || prop::collection::vec(number(), 0..8);
    (text(), values(), pairs(), values()).prop_map(|(name, values, limits, reference)| {
        BarSeries::new(name, values)
            .whiskers(limits)
            .reference(reference)
    })
}

fn annotations() -> impl Strategy<Value = Vec<Annotation>> {
    let one = (any::<bool>(), number(), text()).prop_map(|(vertical, at, label)| {
        if vertical {
            Annotation::vertical(at, label)
        } else {
            Annotation::horizontal(at, label)
        }
    });
    prop::collection::vec(one, 0..5)
}

fn panel() -> impl Strategy<Value = Panel> {
    let xy = (axis(), axis(), prop::collection::vec(series(), 0..4))
        .prop_map(|(x, y, all)| all.into_iter().fold(Panel::xy(x, y), Panel::series));
    let bars = (
        text(),
        axis(),
        prop::collection::vec(text(), 0..8),
        prop::collection::vec(bar_series(), 0..4),
    )
        .prop_map(|(label, y, categories, all)| {
            all.into_iter()
                .fold(Panel::bars(label, y, categories), Panel::bar_series)
        });
    (prop_oneof![xy, bars], text(), annotations()).prop_map(|(panel, title, annotations)| Panel {
        title,
        annotations,
        ..panel
    })
}

fn chart() -> impl Strategy<Value = Chart> {
    let legend = prop::sample::select(vec![
        Legend::Auto,
        Legend::Right,
        Legend::Below,
        Legend::Hidden,
    ]);
    (
        (text(), text(), text(), text()),
        prop::collection::vec(panel(), 0..4),
        prop_oneof![Just(760.0), number()],
        prop::option::weighted(0.3, number()),
        legend,
    )
        .prop_map(
            |((title, subtitle, note, spread), panels, width, height, legend)| Chart {
                panels,
                width,
                height,
                legend,
                ..Chart::new(title)
                    .subtitle(subtitle)
                    .note(note)
                    .spread_label(spread)
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn any_chart_is_well_formed(chart in chart()) {
        let svg = chart.to_svg();
        let tree = roxmltree::Document::parse(&svg);
        prop_assert!(tree.is_ok(), "{:?}\n{svg}", tree.err());
        prop_assert!(!svg.contains("NaN") || format!("{chart:?}").contains("\"NaN"), "{svg}");
        prop_assert_eq!(svg, chart.to_svg());
    }

    /// Texts are placed by measure: all of them start and end on the page.
    #[test]
    fn upright_text_stays_on_the_page(chart in chart()) {
        let svg = chart.to_svg();
        let tree = roxmltree::Document::parse(&svg).expect("well-formed");
        let of = |node: &roxmltree::Node<'_, '_>, key: &str| {
            node.attribute(key).and_then(|v| v.parse::<f64>().ok()).unwrap_or(0.0)
        };
        let width = of(&tree.root_element(), "width");
        let height = of(&tree.root_element(), "height");
        for text in tree.descendants().filter(|n| n.has_tag_name("text")) {
            let (x, y) = (of(&text, "x"), of(&text, "y"));
            prop_assert!(x >= 0.0 && x <= width && y >= 0.0 && y <= height, "{text:?} {svg}");
        }
    }
}
