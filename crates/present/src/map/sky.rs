//! Satellites, links, coverage and paths over the earth at one time.

use super::earth::{View, below, cap, track};
use super::room::{Box4, Room};
use bentpipe::map::{Course, Stop, half_angle, is_there, name};
use bentpipe_orbit::{Constellation, Position};
use bentpipe_report::svg::{Anchor, INK, INK_SOFT, Svg, TextStyle, colour, num};
use bentpipe_scenario::Scenario;
use bentpipe_scenario::space::{ExpandedConstellation, ExpandedConstellations};
use bentpipe_units::Time;
use std::collections::BTreeSet;

/// Where a stop is, if it has a place in the world.
fn position(
    space: &ExpandedConstellations,
    positions: &[Vec<Position>],
    stop: Stop,
) -> Option<Position> {
    match stop {
        Stop::Satellite(sky, satellite) => positions.get(sky)?.get(satellite as usize).copied(),
        Stop::Ground(node) => {
            let mut found = space.skies.iter().filter_map(|sky| {
                let number = sky.nodes.iter().position(|n| *n == node)?;
                sky.plan.ground().get(number).copied()
            });
            found.next()
        }
    }
}

/// What flows need to see: their terminals and the satellites that they use,
/// longitude and latitude.
pub(super) fn places(space: &ExpandedConstellations, courses: &[Course]) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    for sky in &space.skies {
        points.extend(sky.plan.ground().iter().map(|at| below(*at)));
    }
    for leg in courses.iter().flat_map(|course| &course.legs) {
        for stop in leg.path.iter().flatten() {
            if let Stop::Satellite(sky, satellite) = *stop {
                let here: &Constellation = &space.skies[sky].constellation;
                points.push(below(here.position(satellite as usize, leg.from)));
            }
        }
    }
    points
}

/// The terminals with their names, and the room that they take.
pub(super) fn terminals(
    svg: &mut Svg,
    view: View,
    scenario: &Scenario,
    space: &ExpandedConstellations,
) -> Room {
    let mut room = Room::default();
    let mut spots = Vec::new();
    let mut seen = BTreeSet::new();
    for sky in &space.skies {
        for (node, at) in sky.nodes.iter().zip(sky.plan.ground()) {
            let (lon, lat) = below(*at);
            let (x, y) = view.at(view.inside(lon), lat);
            if seen.insert(*node) && x <= view.width {
                room.take([x - 5.0, y - 5.0, x + 5.0, y + 5.0]);
                spots.push((x, y, name(scenario, space, Stop::Ground(*node))));
            }
        }
    }
    let style = TextStyle::new(12.0, INK).bold().outlined();
    // Names only while they can be told apart.
    let named = spots.len() <= 40;
    for (x, y, text) in spots {
        svg.raw(format!(
            "<rect x=\"{}\" y=\"{}\" width=\"9\" height=\"9\" fill=\"{INK}\" stroke=\"#fff\" stroke-width=\"1.5\"/>",
            num(x - 4.5),
            num(y - 4.5)
        ));
        if named {
            label(svg, &mut room, view, (x, y), &text, style);
        }
    }
    room
}

/// A text beside a point, where there is room.
fn label(
    svg: &mut Svg,
    room: &mut Room,
    view: View,
    (x, y): (f64, f64),
    text: &str,
    style: TextStyle,
) {
    let (w, h) = (style.width(text), style.size);
    let boxes: [Box4; 6] = [
        [x + 8.0, y - h / 2.0, x + 8.0 + w, y + h / 2.0],
        [x - 8.0 - w, y - h / 2.0, x - 8.0, y + h / 2.0],
        [x - w / 2.0, y - 8.0 - h, x + w / 2.0, y - 8.0],
        [x - w / 2.0, y + 8.0, x + w / 2.0, y + 8.0 + h],
        [x + 7.0, y - 8.0 - h, x + 7.0 + w, y - 8.0],
        [x + 7.0, y + 8.0, x + 7.0 + w, y + 8.0 + h],
    ];
    let inside =
        |b: &Box4| b[0] >= 2.0 && b[1] >= 2.0 && b[2] <= view.width - 2.0 && b[3] <= view.height;
    let fitting: Vec<Box4> = boxes.into_iter().filter(inside).collect();
    let Some(place) = fitting.get(room.choose(&fitting)) else {
        return;
    };
    svg.text(
        place[0],
        place[3] - 0.18 * h,
        text,
        style.anchor(Anchor::Start),
    );
}

/// Everything that moves, as it is at `time`. `room` is what labels of
/// terminals take.
pub(super) fn moving(
    svg: &mut Svg,
    view: View,
    space: &ExpandedConstellations,
    courses: &[Course],
    time: Time,
    mut room: Room,
) {
    let mut positions: Vec<Vec<Position>> = Vec::new();
    for sky in &space.skies {
        let mut here = Vec::new();
        sky.constellation.positions(time, &mut here);
        positions.push(here);
    }
    let paths: Vec<Option<&Vec<Stop>>> = courses
        .iter()
        .map(|course| course.leg_at(time).and_then(|leg| leg.path.as_ref()))
        .collect();
    let used: BTreeSet<(usize, u32)> = paths
        .iter()
        .flatten()
        .flat_map(|path| path.iter())
        .filter_map(|stop| match stop {
            Stop::Satellite(sky, satellite) => Some((*sky, *satellite)),
            Stop::Ground(_) => None,
        })
        .collect();
    // Coverage of the satellites in use.
    let caps = used.iter().map(|(sky, satellite)| {
        let half = half_angle(&space.skies[*sky], *satellite as usize, time);
        cap(below(positions[*sky][*satellite as usize]), half)
    });
    for cap in caps {
        svg.raw(format!(
            "<path d=\"{}\" fill=\"#56b4e9\" fill-opacity=\"0.13\" stroke=\"#0072b2\" stroke-opacity=\"0.45\" stroke-width=\"1\"/>",
            view.outlines(&[cap], true)
        ));
    }
    for (sky, here) in space.skies.iter().zip(&positions) {
        satellites(svg, view, sky, here, time);
    }
    for (i, path) in paths.iter().enumerate() {
        let stops = path.iter().flat_map(|path| path.iter());
        let points = stops.filter_map(|stop| position(space, &positions, *stop));
        course(svg, view, &points.collect::<Vec<_>>(), i, &mut room);
    }
    let style = TextStyle::new(11.0, INK_SOFT).outlined();
    let mut spots = Vec::new();
    for (sky, satellite) in &used {
        let (lon, lat) = below(positions[*sky][*satellite as usize]);
        let (x, y) = view.at(view.inside(lon), lat);
        if x > view.width {
            continue;
        }
        room.take([x - 5.0, y - 5.0, x + 5.0, y + 5.0]);
        spots.push((
            x,
            y,
            satellite_name(&space.skies[*sky], *satellite as usize),
        ));
        svg.raw(format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"4.5\" fill=\"#fff\" stroke=\"{INK}\" stroke-width=\"1.8\"/>",
            num(x),
            num(y)
        ));
    }
    for (x, y, text) in spots {
        label(svg, &mut room, view, (x, y), &text, style);
    }
}

/// The satellites of a constellation and the links between them.
fn satellites(
    svg: &mut Svg,
    view: View,
    sky: &ExpandedConstellation,
    here: &[Position],
    time: Time,
) {
    let isls = sky.plan.isls_at(time);
    let up = isls.iter().filter(|isl| isl.up);
    let lines: Vec<Vec<(f64, f64)>> = up
        .map(|isl| (here[isl.a as usize], here[isl.b as usize]))
        .filter(|(a, b)| is_there(*a) && is_there(*b))
        .flat_map(|(a, b)| track(a, b))
        .collect();
    svg.raw(format!(
        "<path d=\"{}\" fill=\"none\" stroke=\"#8c96a0\" stroke-opacity=\"0.55\" stroke-width=\"0.7\"/>",
        view.outlines(&lines, false)
    ));
    let radius = if here.len() > 400 { 1.6 } else { 2.6 };
    let mut dots = String::new();
    for at in here.iter().filter(|at| is_there(**at)) {
        let (lon, lat) = below(*at);
        let (x, y) = view.at(view.inside(lon), lat);
        if x <= view.width && (0.0..=view.height).contains(&y) {
            let (r, d) = (num(radius), num(2.0 * radius));
            dots.push_str(&format!(
                "M{} {}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0",
                num(x - radius),
                num(y)
            ));
        }
    }
    svg.raw(format!("<path d=\"{dots}\" fill=\"#6e7781\"/>"));
}

/// The path of course number `i`.
fn course(svg: &mut Svg, view: View, points: &[Position], i: usize, room: &mut Room) {
    let lines: Vec<Vec<(f64, f64)>> = points
        .windows(2)
        .flat_map(|ends| track(ends[0], ends[1]))
        .collect();
    let data = view.outlines(&lines, false);
    avoid(room, view, &lines);
    // Flows on the same path stay visible, the later ones thinner inside.
    let width = (4.0 - 1.2 * i as f64).max(1.4);
    if i == 0 {
        svg.raw(format!(
            "<path d=\"{data}\" fill=\"none\" stroke=\"#fff\" stroke-width=\"6\" stroke-linecap=\"round\" stroke-linejoin=\"round\"/>"
        ));
    }
    svg.raw(format!(
        "<path d=\"{data}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linecap=\"round\" stroke-linejoin=\"round\"/>",
        colour(i),
        num(width)
    ));
}

/// Keeps labels off lines.
fn avoid(room: &mut Room, view: View, lines: &[Vec<(f64, f64)>]) {
    for ends in lines.iter().flat_map(|line| line.windows(2)) {
        let (from, to) = (ends[0], ends[1]);
        let apart = (to.0 - from.0).abs().max((to.1 - from.1).abs()) * view.scale;
        let steps = (apart / 8.0).ceil().clamp(1.0, 200.0) as u32;
        for i in 0..steps {
            let share = f64::from(i) / f64::from(steps);
            let lon = from.0 + (to.0 - from.0) * share;
            let lat = from.1 + (to.1 - from.1) * share;
            let (x, y) = view.at(view.inside(lon), lat);
            room.take([x - 2.0, y - 2.0, x + 2.0, y + 2.0]);
        }
    }
}

/// What a satellite is called on the map; a lone one after its constellation.
pub(super) fn satellite_name(sky: &ExpandedConstellation, satellite: usize) -> String {
    if sky.constellation.len() == 1 {
        return sky.name.clone();
    }
    sky.constellation.name(satellite)
}
