use super::*;

const NONE: Padding = Padding {
    low: 0.0,
    high: 0.0,
};

fn labels(ticks: &Ticks) -> Vec<&str> {
    ticks
        .major
        .iter()
        .map(|(_, label)| label.as_str())
        .collect()
}

#[test]
fn steps_are_one_two_five() {
    assert_eq!(nice_step(10.0, 10), 1.0);
    assert_eq!(nice_step(10.0, 6), 2.0);
    assert_eq!(nice_step(10.0, 3), 5.0);
    assert_eq!(nice_step(10.0, 1), 10.0);
    assert_eq!(nice_step(0.7, 5), 0.2);
}

#[test]
fn linear_ticks_cover_the_range() {
    assert_eq!(
        labels(&linear_ticks(0.0, 60.0, 6)),
        ["0", "10", "20", "30", "40", "50", "60"]
    );
    assert_eq!(
        labels(&linear_ticks(-1.0, 1.0, 4)),
        ["−1.0", "−0.5", "0.0", "0.5", "1.0"]
    );
    assert_eq!(labels(&linear_ticks(0.31, 0.62, 4)), ["0.4", "0.5", "0.6"]);
}

#[test]
fn log_ticks_are_decades_with_nine_lines() {
    let ticks = log_ticks(1e-7, 1e-4, 4);
    assert_eq!(labels(&ticks), ["10⁻⁷", "10⁻⁶", "10⁻⁵", "10⁻⁴"]);
    assert_eq!(ticks.minor.len(), 24);
}

#[test]
fn log_ticks_thin_over_many_decades() {
    let ticks = log_ticks(1e-12, 1e12, 5);
    assert_eq!(labels(&ticks), ["10⁻¹⁰", "10⁻⁵", "10⁰", "10⁵", "10¹⁰"]);
}

#[test]
fn log_ticks_within_a_decade() {
    assert_eq!(labels(&log_ticks(1.5, 8.0, 5)), ["2", "5"]);
    assert_eq!(
        labels(&log_ticks(10.0, 1000.0, 8)),
        ["10", "20", "50", "100", "200", "500", "1000"]
    );
    assert!(log_ticks(2.1, 3.9, 5).major.len() > 1);
}

#[test]
fn ranges_are_never_empty() {
    let axis = Axis::linear("");
    assert_eq!(range(&axis, [].into_iter(), NONE), (0.0, 1.0));
    assert_eq!(range(&axis, [0.0, 0.0].into_iter(), NONE), (0.0, 1.0));
    for values in [
        [5.0, 5.0],
        [-5.0, -5.0],
        [1e308, -1e308],
        [5e-324, 0.0],
        [f64::NAN, 1.0],
    ] {
        for axis in [
            Axis::linear(""),
            Axis::log(""),
            Axis::linear("").min(9.0),
            Axis::log("").max(-1.0),
        ] {
            let (low, high) = range(&axis, values.into_iter(), NONE);
            assert!(
                low.is_finite() && high.is_finite() && low < high,
                "{values:?} {axis:?}"
            );
            assert!(axis.kind == ScaleKind::Linear || low > 0.0);
        }
    }
}

#[test]
fn a_broken_axis_leaves_a_range_out() {
    let scale = Scale::new(ScaleKind::Linear, (0.0, 110.0), 200.0, 0.0).broken(&[(10.0, 90.0)]);
    assert_eq!(scale.at(0.0), Some(200.0));
    assert_eq!(scale.at(110.0), Some(0.0));
    let (low, high) = scale.gaps().next().expect("a gap");
    assert!((low - high - BREAK).abs() < 1e-9, "{low} {high}");
    assert!(
        scale
            .ticks(6)
            .major
            .iter()
            .all(|(v, _)| *v <= 10.0 || *v >= 90.0)
    );
    let mut last = f64::INFINITY;
    for i in 0..=110 {
        let at = scale.at(f64::from(i)).expect("a pixel");
        assert!(at < last, "{i}");
        last = at;
    }
    let log = Scale::new(ScaleKind::Log, (1.0, 100.0), 0.0, 9.0).broken(&[(2.0, 3.0)]);
    assert_eq!(log.gaps().count(), 0);
}

#[test]
fn zero_is_shown_where_it_is_cheap() {
    assert_eq!(
        range(&Axis::linear(""), [2.0, 10.0].into_iter(), NONE).0,
        0.0
    );
    assert_eq!(
        range(&Axis::linear(""), [9.0, 10.0].into_iter(), NONE).0,
        9.0
    );
    assert_eq!(
        range(&Axis::linear("").zero(true), [9.0, 10.0].into_iter(), NONE).0,
        0.0
    );
    assert_eq!(
        range(&Axis::linear(""), [-10.0, -1.0].into_iter(), NONE).1,
        0.0
    );
}

#[test]
fn labels_never_touch() {
    let scale = Scale::new(ScaleKind::Linear, (0.0, 1e6), 0.0, 100.0);
    let wide = |label: &str| 9.0 * label.chars().count() as f64;
    let ticks = fit(&scale, 10, 8.0, wide);
    assert_eq!(labels(&ticks), ["0", "10⁶"]);
    assert_eq!(fit(&scale, 10, 200.0, wide).major.len(), 1);
}
