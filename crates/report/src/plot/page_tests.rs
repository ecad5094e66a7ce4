//! Reads finished figures back, measures every text, and checks that none
//! leaves the page and no two touch.

use proptest::prelude::*;

use super::{Annotation, Axis, BarSeries, Chart, Legend, Panel, Series};
use crate::font::{self, Weight};

#[derive(Clone, Debug)]
struct Extent {
    #[expect(dead_code, reason = "shown when a check fails")]
    text: String,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    slanted: bool,
}

fn boxes(svg: &str) -> ((f64, f64), Vec<Extent>) {
    let tree = roxmltree::Document::parse(svg).expect("well-formed");
    let of = |node: &roxmltree::Node<'_, '_>, key: &str| {
        node.attribute(key)
            .and_then(|v| v.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    let page = (
        of(&tree.root_element(), "width"),
        of(&tree.root_element(), "height"),
    );
    let texts = tree
        .descendants()
        .filter(|n| n.has_tag_name("text"))
        .map(|node| {
            let (x, y, size) = (of(&node, "x"), of(&node, "y"), of(&node, "font-size"));
            let text = node.text().unwrap_or("").to_owned();
            let bold = node.attribute("font-weight").is_some();
            let weight = if bold { Weight::Bold } else { Weight::Regular };
            let width = font::width(&text, size, weight);
            let before = match node.attribute("text-anchor") {
                Some("middle") => width / 2.0,
                Some("end") => width,
                _ => 0.0,
            };
            // Above the baseline and below it, without the rare accents.
            let (up, down) = (0.76 * size, 0.22 * size);
            match node.attribute("transform") {
                None => {
                    let (left, right) = (x - before, x - before + width);
                    Extent {
                        text,
                        left,
                        right,
                        top: y - up,
                        bottom: y + down,
                        slanted: false,
                    }
                }
                Some(turn) if turn.starts_with("rotate(-90") => {
                    let (top, bottom) = (y + before - width, y + before);
                    Extent {
                        text,
                        left: x - up,
                        right: x + down,
                        top,
                        bottom,
                        slanted: false,
                    }
                }
                Some(_) => {
                    let (dx, dy) = (0.766 * width, 0.643 * width);
                    Extent {
                        text,
                        left: x - dx,
                        right: x + up,
                        top: y - up,
                        bottom: y + dy,
                        slanted: true,
                    }
                }
            }
        });
    (page, texts.collect())
}

fn check(chart: &Chart) -> Result<(), String> {
    let svg = chart.to_svg();
    let ((width, height), texts) = boxes(&svg);
    for (i, a) in texts.iter().enumerate() {
        if a.left < 0.0 || a.right > width || a.top < 0.0 || a.bottom > height {
            return Err(format!("leaves the page of {width} x {height}: {a:?}"));
        }
        for b in &texts[i + 1..] {
            let apart =
                a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
            // Slanted labels run side by side; their boxes may cross.
            let crossing = a.slanted && b.slanted;
            if !(apart || crossing) {
                return Err(format!("{a:?} touches {b:?}"));
            }
        }
    }
    Ok(())
}

fn words(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec("[a-m]{1,12}", 0..=most).prop_map(|w| w.join(" "))
}

fn value() -> impl Strategy<Value = f64> {
    // Ten to some power, of either sign, in ranges that figures have.
    (-1.0..1.0_f64, -9..12_i32).prop_map(|(m, e)| m * super::number::pow10(e))
}

fn axis() -> impl Strategy<Value = Axis> {
    (words(5), any::<bool>()).prop_map(|(label, log)| {
        if log {
            Axis::log(label)
        } else {
            Axis::linear(label)
        }
    })
}

fn xy() -> impl Strategy<Value = Panel> {
    let series = (words(4), prop::collection::vec((value(), value()), 0..12))
        .prop_map(|(name, points)| Series::line_points(name, points));
    let notes = prop::collection::vec((any::<bool>(), value(), words(3)), 0..6);
    (axis(), axis(), prop::collection::vec(series, 0..12), notes).prop_map(
        |(x, y, series, notes)| {
            let panel = series.into_iter().fold(Panel::xy(x, y), Panel::series);
            notes
                .into_iter()
                .fold(panel, |panel, (vertical, at, label)| {
                    panel.annotate(if vertical {
                        Annotation::vertical(at, label)
                    } else {
                        Annotation::horizontal(at, label)
                    })
                })
        },
    )
}

fn bars() -> impl Strategy<Value = Panel> {
    let series = (words(2), prop::collection::vec(value(), 0..9))
        .prop_map(|(name, values)| BarSeries::new(name, values.clone()).reference(values));
    let categories = prop::collection::vec(words(5), 0..24);
    (
        words(5),
        axis(),
        categories,
        prop::collection::vec(series, 1..5),
    )
        .prop_map(|(label, y, categories, series)| {
            series
                .into_iter()
                .fold(Panel::bars(label, y, categories), Panel::bar_series)
        })
}

fn chart() -> impl Strategy<Value = Chart> {
    let panel = (prop_oneof![2 => xy(), 1 => bars()], words(4))
        .prop_map(|(panel, title)| panel.title(title));
    let legend = prop::sample::select(vec![Legend::Auto, Legend::Right, Legend::Below]);
    (
        (words(20), words(40), words(40)),
        prop::collection::vec(panel, 1..4),
        320.0..1200.0_f64,
        prop::option::of(100.0..900.0_f64),
        legend,
    )
        .prop_map(
            |((title, subtitle, note), panels, width, height, legend)| Chart {
                panels,
                height,
                legend,
                ..Chart::new(title).subtitle(subtitle).note(note).width(width)
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn no_text_is_clipped_or_touches_another(chart in chart()) {
        if let Err(problem) = check(&chart) {
            prop_assert!(false, "{problem}");
        }
    }
}
