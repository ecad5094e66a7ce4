//! Reads finished figures back, measures every text, and checks that none
//! leaves the page and no two touch.

use proptest::prelude::*;

use super::layout;
use super::legend::LegendBox;
use super::style::Styles;
use super::{Annotation, Axis, BarSeries, BoxMarks, BoxSeries, Chart, Heat, Legend, Panel, Series};
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

fn texts_of(svg: &str) -> ((f64, f64), Vec<Extent>) {
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
    let ((width, height), texts) = texts_of(&svg);
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

fn rows() -> impl Strategy<Value = Panel> {
    let series = (words(2), prop::collection::vec(value(), 0..9), words(2)).prop_map(
        |(name, values, label)| {
            let labels = vec![label; values.len()];
            BarSeries::new(name, values).labels(labels)
        },
    );
    let categories = prop::collection::vec(words(5), 0..20);
    let series = prop::collection::vec(series, 1..4);
    (axis(), categories, series, any::<bool>()).prop_map(|(x, categories, series, overlaid)| {
        // Texts next to bars in one place would cover each other.
        let overlaid = overlaid && series.len() == 1;
        let panel = series
            .into_iter()
            .fold(Panel::rows(x, categories), Panel::bar_series);
        if overlaid { panel.overlaid() } else { panel }
    })
}

fn boxes() -> impl Strategy<Value = Panel> {
    let samples = prop::collection::vec(value(), 0..12).prop_map(|s| BoxMarks::of(&s));
    let series = (words(2), prop::collection::vec(samples, 0..6))
        .prop_map(|(name, boxes)| BoxSeries::new(name, boxes));
    let categories = prop::collection::vec(words(4), 0..12);
    let series = prop::collection::vec(series, 1..4);
    (words(4), axis(), categories, series).prop_map(|(label, y, categories, series)| {
        series
            .into_iter()
            .fold(Panel::boxes(label, y, categories), Panel::box_series)
    })
}

fn heat() -> impl Strategy<Value = Panel> {
    let names = || prop::collection::vec(words(3), 0..8);
    let values = prop::collection::vec(prop::collection::vec(value(), 0..8), 0..8);
    (words(3), words(3), names(), names(), axis(), values).prop_map(
        |(x, y, columns, rows, scale, values)| {
            let heat = Heat {
                label: x,
                columns,
                rows,
                values,
                scale,
                decimals: 1,
            };
            Panel::heat(y, heat)
        },
    )
}

fn chart() -> impl Strategy<Value = Chart> {
    let kind = prop_oneof![4 => xy(), 2 => bars(), 2 => rows(), 1 => boxes(), 1 => heat()];
    let panel = (kind, words(4))
        .prop_map(|(panel, title)| panel.title(title))
        .boxed();
    // Panels of small multiples are alike.
    let alike = (panel.clone(), 1..7_usize).prop_map(|(panel, n)| vec![panel; n]);
    let panels = prop_oneof![prop::collection::vec(panel, 1..6), alike];
    let legend = prop::sample::select(vec![Legend::Auto, Legend::Right, Legend::Below]);
    (
        (words(20), words(40), words(40)),
        panels,
        320.0..1200.0_f64,
        prop::option::of(100.0..900.0_f64),
        (legend, 1..5_usize),
    )
        .prop_map(
            |((title, subtitle, note), panels, width, height, (legend, columns))| Chart {
                panels,
                height,
                legend,
                columns,
                ..Chart::new(title).subtitle(subtitle).note(note).width(width)
            },
        )
}

/// Every mark of a chart without a legend, as points of the page: corners of bars,
/// boxes and cells, centres of markers, corners of lines.
fn marks(svg: &str) -> Vec<(f64, f64)> {
    let tree = roxmltree::Document::parse(svg).expect("well-formed");
    let mut points = Vec::new();
    // The first rectangle is the page.
    let mut rects = 0;
    for node in tree.descendants() {
        let of = |key: &str| {
            let value = node.attribute(key).and_then(|v| v.parse::<f64>().ok());
            value.unwrap_or(0.0)
        };
        match node.tag_name().name() {
            "circle" => points.push((of("cx"), of("cy"))),
            "rect" => {
                rects += 1;
                if rects > 1 {
                    let (x, y) = (of("x"), of("y"));
                    points.push((x, y));
                    points.push((x + of("width"), y + of("height")));
                }
            }
            "path" => points.extend(corners_of(node.attribute("d").unwrap_or(""))),
            _ => {}
        }
    }
    points
}

/// The corners of the data of a path with absolute moves and lines.
fn corners_of(data: &str) -> Vec<(f64, f64)> {
    let mut corners = Vec::new();
    let (mut x, mut y) = (0.0, 0.0);
    let mut rest = data;
    while let Some(at) = rest.find(|c: char| "MLHV".contains(c)) {
        let command = rest.as_bytes()[at];
        let body = &rest[at + 1..];
        let end = body
            .find(|c: char| "MLHVZ".contains(c))
            .unwrap_or(body.len());
        let numbers: Vec<f64> = body[..end]
            .split_whitespace()
            .filter_map(|n| n.parse().ok())
            .collect();
        match (command, &numbers[..]) {
            (b'H', [to]) => x = *to,
            (b'V', [to]) => y = *to,
            (_, [to_x, to_y]) => (x, y) = (*to_x, *to_y),
            _ => {}
        }
        corners.push((x, y));
        rest = &body[end..];
    }
    corners
}

fn check_marks(chart: &Chart) -> Result<(), String> {
    let chart = Chart {
        legend: Legend::Hidden,
        ..chart.clone()
    };
    let styles = Styles::assign(&chart);
    let page = layout::plan(&chart, || LegendBox::of(&chart, &styles));
    // A marker on the edge of a panel shows in full; the colour scale of a map is next to it.
    let inside = |(x, y): &(f64, f64)| {
        page.panels.iter().any(|panel| {
            let plot = panel.plot;
            *x >= plot.left - 6.5
                && *x <= plot.right + 27.0
                && *y >= plot.top - 6.5
                && *y <= plot.bottom + 6.5
        })
    };
    match marks(&chart.to_svg()).iter().find(|mark| !inside(mark)) {
        None => Ok(()),
        Some(mark) => Err(format!("{mark:?} is in none of {:?}", page.panels)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn no_text_is_clipped_or_touches_another(chart in chart()) {
        if let Err(problem) = check(&chart) {
            prop_assert!(false, "{problem}");
        }
    }

    #[test]
    fn all_marks_lie_in_a_panel(chart in chart()) {
        if let Err(problem) = check_marks(&chart) {
            prop_assert!(false, "{problem}");
        }
    }
}
