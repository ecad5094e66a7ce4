//! Delay, hops and handovers against time.

use bentpipe::map::Course;
use bentpipe_report::plot::{Axis, Chart, Legend, Panel, Series};
use bentpipe_scenario::Scenario;

/// The figure of `courses`.
pub fn chart(scenario: &Scenario, courses: &[Course]) -> Chart {
    let length = scenario.duration.as_secs();
    let (unit, seconds) = match length {
        l if l > 3.0 * 3600.0 => ("h", 3600.0),
        l if l > 600.0 => ("min", 60.0),
        _ => ("s", 1.0),
    };
    let time = || Axis::linear(format!("time [{unit}]")).range(0.0, length / seconds);
    let mut delay = Panel::xy(time(), Axis::linear("one-way delay [ms]"));
    let mut hops = Panel::xy(time(), Axis::linear("hops").zero(true));
    let mut handovers = Panel::xy(time(), Axis::linear("handovers so far").zero(true));
    for course in courses {
        let name = course.title(scenario);
        let mut points = Vec::new();
        let mut steps = Vec::new();
        for leg in &course.legs {
            let knots = leg.delay.iter();
            points.extend(knots.map(|k| (k.at.as_secs() / seconds, k.delay.as_secs() * 1e3)));
            let from = leg.from.as_secs() / seconds;
            if leg.path.is_none() {
                // A gap.
                points.push((from, f64::NAN));
            }
            let count = leg.hops().map_or(f64::NAN, |hops| hops as f64);
            steps.push((from, count));
            steps.push((leg.to.as_secs() / seconds, count));
        }
        let mut so_far = vec![(0.0, 0.0)];
        for (i, change) in course.handovers.iter().enumerate() {
            so_far.push((change.at.as_secs() / seconds, i as f64 + 1.0));
        }
        so_far.push((length / seconds, course.handovers.len() as f64));
        delay = delay.series(Series::line(name.clone(), points));
        hops = hops.series(Series::step(name.clone(), steps));
        handovers = handovers.series(Series::step(name, so_far));
    }
    let legend = if courses.len() > 8 {
        Legend::Right
    } else {
        Legend::Auto
    };
    Chart::new(format!("{}: ways over time", scenario.name))
        .subtitle("propagation only, without queues and transmission")
        .width(960.0)
        .legend(legend)
        .panel(delay)
        .panel(hops)
        .panel(handovers)
}
