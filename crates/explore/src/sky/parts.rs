//! What becomes of the flow, in parts as they are planned.

use super::memory::Surveyed;
use crate::Problem;
use bentpipe::map::{self, Course, Leg, Stop};
use bentpipe::scenario::NodeId;
use bentpipe::scenario::space::ExpandedConstellation;
use bentpipe::units::{Duration, Time};
use serde_json::{Value, json};

/// What is known from `since` on, and from when on the next part is to tell: the last
/// path may go on after the end of this plan.
///
/// `legs`: `from_s`, `to_s`, `path` (satellites by number; -1 is where the flow begins, -2
/// where it ends; null while there is none), `delay` (times in seconds and one-way delays
/// in milliseconds in turn, with straight lines between them). `handovers`: `at_s`, `ends`
/// (0: where the flow begins, 1: where it ends) and `satellite`, null while none is above
/// the mask. `changes` of links between satellites as [`map::link_changes`] has them.
/// `statistics` are over all that is planned, from the beginning on.
pub(super) fn part(surveyed: &Surveyed, since: Time) -> Result<(Value, Time), Problem> {
    let course = surveyed.course()?;
    let sky = surveyed.sky()?;
    let flow = surveyed.scenario.flows.first();
    let ends = flow.map(|flow| [flow.from, flow.to]);
    let ends = ends.ok_or_else(|| Problem::wrong("there is no flow"))?;
    let legs = course.legs.iter().filter(|leg| leg.from >= since);
    let handovers = course.handovers.iter().filter(|c| c.at >= since);
    let handovers = handovers.map(|change| {
        let number = |node: &NodeId| ends.iter().position(|end| end == node);
        json!({
            "at_s": seconds(change.at),
            "ends": change.terminals.iter().filter_map(number).collect::<Vec<_>>(),
            "satellite": change.satellite.map(|stop| number_of(stop, ends)),
        })
    });
    let value = json!({
        "since_s": seconds(since),
        "until_s": surveyed.scenario.duration.as_secs(),
        "legs": legs.map(|leg| leg_document(leg, ends)).collect::<Vec<_>>(),
        "handovers": handovers.collect::<Vec<_>>(),
        "changes": map::link_changes(sky, since),
        "statistics": statistics(&course),
    });
    Ok((value, course.legs.last().map_or(since, |leg| leg.from)))
}

/// The one part of satellites that never join the two places.
pub(super) fn unjoined(sky: &ExpandedConstellation, length: Duration) -> Value {
    let never = Course {
        flows: Vec::new(),
        legs: vec![Leg {
            from: Time::ZERO,
            to: Time::ZERO + length,
            path: None,
            delay: Vec::new(),
        }],
        handovers: Vec::new(),
    };
    let nobody = [NodeId(0), NodeId(1)];
    let legs = never.legs.iter().map(|leg| leg_document(leg, nobody));
    json!({
        "since_s": 0.0,
        "until_s": length.as_secs(),
        "legs": legs.collect::<Vec<_>>(),
        "handovers": [],
        "changes": map::link_changes(sky, Time::ZERO),
        "statistics": statistics(&never),
    })
}

fn seconds(at: Time) -> f64 {
    (at.as_secs() * 1e3).round() / 1e3
}

fn number_of(stop: Stop, ends: [NodeId; 2]) -> i64 {
    match stop {
        Stop::Satellite(_, satellite) => i64::from(satellite),
        Stop::Ground(node) if node == ends[0] => -1,
        Stop::Ground(_) => -2,
    }
}

fn leg_document(leg: &Leg, ends: [NodeId; 2]) -> Value {
    let path = leg.path.as_ref().map(|path| {
        let numbers = path.iter().map(|stop| number_of(*stop, ends));
        numbers.collect::<Vec<_>>()
    });
    let delay = leg.delay.iter().flat_map(|knot| {
        let millis = knot.delay.as_nanos() as f64 / 1e6;
        [seconds(knot.at), (millis * 1e4).round() / 1e4]
    });
    json!({
        "from_s": seconds(leg.from),
        "to_s": seconds(leg.to),
        "path": path,
        "delay": delay.collect::<Vec<_>>(),
    })
}

/// What the way comes to: the numbers of the table of `bentpipe map`, and outages.
fn statistics(course: &Course) -> Value {
    let length = |leg: &&Leg| leg.to.since(leg.from).as_secs();
    let hours: f64 = course.legs.iter().map(|leg| length(&leg)).sum::<f64>() / 3600.0;
    let outages: Vec<f64> = course
        .legs
        .iter()
        .filter(|leg| leg.path.is_none())
        .map(|leg| length(&leg))
        .collect();
    let count = course.handovers.len();
    let [low, mean, high] = course.delays().map_or([None; 3], |d| d.map(Some));
    json!({
        "delay_min_s": low,
        "delay_mean_s": mean,
        "delay_max_s": high,
        "hops": course.hops().map(|(low, high)| [low, high]),
        "availability": course.availability(),
        "handovers": count,
        "handovers_per_hour": if hours > 0.0 { count as f64 / hours } else { 0.0 },
        "path_changes": course.legs.len().saturating_sub(1),
        "outages": outages.len(),
        "longest_outage_s": outages.iter().copied().fold(0.0, f64::max),
    })
}
