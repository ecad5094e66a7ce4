//! From plans of constellations to timelines of links.

use bentpipe_link::{InFlightPolicy, Loss, Piece, Timeline, WhenDown};
use bentpipe_orbit::{Edge, Plan};
use bentpipe_units::{Duration, Rate, Time};

/// A link in the form of `rate`, up and with `delay`.
fn piece(from: Time, rate: Rate, delay: Duration) -> Piece {
    Piece {
        from,
        rate,
        one_way_delay: delay,
        sloped: false,
        loss: Loss::Channel,
        up: true,
        route: 0,
        jitter: None,
    }
}

fn timeline(pieces: Vec<Piece>, when_down: WhenDown, in_flight: InFlightPolicy) -> Timeline {
    let line = Timeline::new(pieces).expect("from time zero on, in order");
    line.when_down(when_down).in_flight(in_flight)
}

/// The timeline of one direction of an edge of `plan`: up according to the plan, with the delay of
/// its spans, which stays constant between them.
pub(crate) fn of_edge(
    plan: &Plan,
    edge: &Edge,
    rate: Rate,
    (when_down, in_flight): (WhenDown, InFlightPolicy),
) -> Timeline {
    let ups = plan.ups(edge);
    let knots = edge.spans.iter().flat_map(|span| &span.knots);
    let mut times: Vec<Time> = knots.map(|knot| knot.at).collect();
    times.extend(ups.iter().map(|up| up.0));
    times.push(Time::ZERO);
    times.sort_unstable();
    times.dedup();
    let pieces = times.into_iter().map(|at| {
        let next = edge.spans.partition_point(|span| span.from() <= at);
        let span = &edge.spans[next.saturating_sub(1)];
        let up = ups[ups.partition_point(|up| up.0 <= at).saturating_sub(1)].1;
        Piece {
            sloped: at >= span.from() && at < span.to(),
            up,
            ..piece(at, rate, span.delay_at(at))
        }
    });
    timeline(pieces.collect(), when_down, in_flight)
}

/// The timeline of a link that represents the whole path of pair `pair` of `plan`: its delay, a
/// route number for each path, down without a path. None if there never is one.
#[must_use]
pub fn pair_timeline(
    plan: &Plan,
    pair: usize,
    rate: Rate,
    when_down: WhenDown,
    in_flight: InFlightPolicy,
) -> Option<Timeline> {
    let course = plan.course(pair);
    let mut last = course.iter().find_map(|leg| leg.knots.first())?.delay;
    let mut pieces: Vec<Piece> = Vec::new();
    for (number, leg) in course.iter().enumerate() {
        let knots = &leg.knots;
        let route = number as u32;
        if knots.is_empty() {
            pieces.push(Piece {
                up: false,
                route,
                ..piece(leg.from, rate, last)
            });
        }
        for (i, knot) in knots.iter().enumerate() {
            let ends = i + 1 == knots.len();
            // The next stretch begins where this one ends, with another delay.
            let at = match ends {
                true => Time::from_nanos(knot.at.as_nanos() - 1),
                false => knot.at,
            };
            if pieces.last().is_some_and(|before| before.from >= at) {
                continue;
            }
            pieces.push(Piece {
                sloped: !ends,
                route,
                ..piece(at, rate, knot.delay)
            });
            last = knot.delay;
        }
    }
    Some(timeline(pieces, when_down, in_flight))
}
