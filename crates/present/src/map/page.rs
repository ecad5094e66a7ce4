//! The page: the map with its animation, the network, the plot, in one file.

use super::earth::View;
use super::{Picture, network, plot, sky};
use bentpipe::map::{self, Course, Sampling, Stop, name};
use bentpipe_orbit::constants::{EARTH_DAY_S, EARTH_RADIUS_KM};
use bentpipe_report::escape;
use bentpipe_report::html::Page;
use bentpipe_report::svg::colour;
use bentpipe_report::table::{Column, Table};
use bentpipe_scenario::Scenario;
use bentpipe_scenario::space::{ExpandedConstellation, ExpandedConstellations};
use bentpipe_units::{Duration, Time};
use serde_json::{Value, json};

const SCRIPT: &str = include_str!("map.js");
const STYLE: &str = include_str!("map.css");

/// Positions of satellites that follow no simple law, at most in a page: about
/// 6 MB.
const MOST_SAMPLES: u64 = 800_000;
const SHORTEST_STEP: Duration = Duration::from_secs(30);
/// A low satellite goes round in 90 minutes: 12 degrees in this time, over which
/// a straight line is still good.
const LONGEST_STEP: Duration = Duration::from_secs(180);

/// The time between two positions of satellites that follow no simple law; none
/// where they are too many for a page.
fn step(sky: &ExpandedConstellation, length: Duration) -> Option<Duration> {
    let most = (MOST_SAMPLES / sky.constellation.len().max(1) as u64).max(2);
    let step = SHORTEST_STEP.max(length / most).min(length);
    (step <= LONGEST_STEP).then_some(step)
}

/// A page cannot hold the satellites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{satellites} satellites over {duration} are too many for a page; shorten it with \
     --set duration='1 h', or write a picture with --format svg"
)]
pub struct TooMany {
    /// How many a constellation has.
    pub satellites: usize,
    /// The time that the page would show.
    pub duration: Duration,
}

/// Whether a page can hold the satellites.
fn check(scenario: &Scenario, space: &ExpandedConstellations) -> Result<(), TooMany> {
    for sky in &space.skies {
        let simple = sky.constellation.stands() || sky.constellation.as_shell().is_some();
        if !simple && step(sky, scenario.duration).is_none() {
            return Err(TooMany {
                satellites: sky.constellation.len(),
                duration: scenario.duration,
            });
        }
    }
    Ok(())
}

/// The page as one file: the map with its animation, the network and the plot, from `at` on.
///
/// # Errors
/// If it cannot hold the satellites.
pub fn html(
    scenario: &Scenario,
    space: &ExpandedConstellations,
    courses: &[Course],
    at: Time,
) -> Result<String, TooMany> {
    check(scenario, space)?;
    let mut page = Page::new(format!("{}: the network", scenario.name))
        .markup(&format!("<style>\n{STYLE}</style>"));
    if !scenario.description.trim().is_empty() {
        page = page.paragraph(&scenario.description);
    }
    if !space.skies.is_empty() {
        page = page.markup(&moving_map(scenario, space, courses, at));
    }
    page = page.heading("Nodes, links and flows").figure(
        &super::network_picture(scenario, space, courses).document(&scenario.name),
        "Each link with its rate, one-way delay and loss, and what differs on the way back. \
         Coloured lines are the ways of flows.",
    );
    page = page.table(&table(scenario, courses));
    if !courses.iter().all(Course::is_constant) {
        page = page.heading("Delay, hops and handovers").figure(
            &plot::chart(scenario, courses).to_svg(),
            "Propagation delay one way, links on the path, and changes of satellite.",
        );
    }
    Ok(page.to_html())
}

/// What flows met over the run.
fn table(scenario: &Scenario, courses: &[Course]) -> Table {
    let mut table = Table::new([
        Column::text("flow"),
        Column::text("transport"),
        Column::text("carries"),
        Column::number("one way, least"),
        Column::number("mean"),
        Column::number("most"),
        Column::number("hops"),
        Column::number("paths"),
        Column::number("handovers"),
        Column::number("joined"),
    ]);
    for course in courses {
        let flow = &scenario.flows[course.flows[0]];
        let delays = course.delays();
        let ms = |i: usize| delays.map_or("-".to_owned(), |d| format!("{:.2} ms", d[i] * 1e3));
        let hops = match course.hops() {
            None => "-".to_owned(),
            Some((low, high)) if low == high => low.to_string(),
            Some((low, high)) => format!("{low} to {high}"),
        };
        let mut paths: Vec<&Vec<Stop>> = Vec::new();
        for path in course.legs.iter().filter_map(|leg| leg.path.as_ref()) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        table.row([
            course.title(scenario),
            flow.transport
                .as_ref()
                .map_or("udp", |t| t.name.as_str())
                .to_owned(),
            flow.application.to_string(),
            ms(0),
            ms(1),
            ms(2),
            hops,
            paths.len().to_string(),
            course.handovers.len().to_string(),
            format!("{:.1}%", course.availability() * 100.0),
        ]);
    }
    table.note("Propagation only. paths: different ones; joined: share of the time with a path.")
}

/// The maps, their controls, the data and the script.
fn moving_map(
    scenario: &Scenario,
    space: &ExpandedConstellations,
    courses: &[Course],
    at: Time,
) -> String {
    let views = super::views(space, courses);
    let mut out = String::new();
    for (i, (_, view)) in views.iter().enumerate() {
        let picture = super::map_picture(scenario, space, courses, at, *view);
        out.push_str(&format!(
            "<div class=\"view\"{}>\n<div class=\"map\">\n{}<canvas aria-hidden=\"true\"></canvas>\n</div>\n</div>\n",
            if i == 0 { "" } else { " hidden=\"hidden\"" },
            picture.document(&format!("Map of {}", scenario.name))
        ));
    }
    let length = scenario.duration.as_secs();
    out.push_str(&format!(
        "<div class=\"controls\">\n<button id=\"play\" type=\"button\">Play</button>\n\
         <span class=\"clock\" id=\"clock\"></span>\n\
         <input id=\"time\" type=\"range\" min=\"0\" max=\"{length}\" step=\"any\" aria-label=\"Time\"/>\n\
         <label>Speed <select id=\"speed\">\n"
    ));
    // The run in about a minute, at first.
    let speeds = [1.0, 5.0, 20.0, 60.0, 300.0, 1200.0];
    let wanted = speeds.iter().position(|s| s * 60.0 >= length).unwrap_or(5);
    for (i, speed) in speeds.iter().enumerate() {
        let selected = if i == wanted {
            " selected=\"selected\""
        } else {
            ""
        };
        out.push_str(&format!(
            "<option value=\"{speed}\"{selected}>{speed}×</option>\n"
        ));
    }
    out.push_str("</select></label>\n");
    if views.len() > 1 {
        out.push_str("<label>View <select id=\"view\">\n");
        for (i, (title, _)) in views.iter().enumerate() {
            out.push_str(&format!("<option value=\"{i}\">{title}</option>\n"));
        }
        out.push_str("</select></label>\n");
    }
    out.push_str(
        "<label>Coverage <select id=\"coverage\"><option value=\"used\">in use</option>\
         <option value=\"all\">of all</option><option value=\"none\">none</option></select></label>\n\
         <label><input id=\"links\" type=\"checkbox\" checked=\"checked\"/> links between satellites</label>\n</div>\n",
    );
    out.push_str(
        "<div class=\"map\" style=\"height: 4rem; background: #fff\"><canvas id=\"strip\" \
         role=\"img\" aria-label=\"One-way delay against time\"></canvas></div>\n<ul class=\"now\">\n",
    );
    for (i, course) in courses.iter().enumerate() {
        out.push_str(&format!(
            "<li><i style=\"background: {}\"></i><span id=\"now{i}\">{}</span></li>\n",
            colour(i),
            escape(&super::state(scenario, space, course, at))
        ));
    }
    out.push_str("</ul>\n<script type=\"application/json\" id=\"map-data\">");
    let data = data(scenario, space, courses, at, &views);
    out.push_str(&data.to_string().replace('<', "\\u003c"));
    out.push_str(&format!("</script>\n<script>\n{SCRIPT}</script>\n"));
    out
}

fn millis(at: Time) -> u64 {
    at.as_nanos() / 1_000_000
}

fn data(
    scenario: &Scenario,
    space: &ExpandedConstellations,
    courses: &[Course],
    at: Time,
    views: &[(&str, View)],
) -> Value {
    let mut stops: Vec<Stop> = Vec::new();
    let mut paths: Vec<Vec<usize>> = Vec::new();
    let mut stop_numbers = std::collections::HashMap::new();
    let mut path_numbers = std::collections::HashMap::new();
    let mut of_courses = Vec::new();
    for (i, course) in courses.iter().enumerate() {
        let (mut legs, mut times, mut delays) = (Vec::new(), Vec::new(), Vec::new());
        for leg in &course.legs {
            let number = leg.path.as_ref().map_or(-1, |path| {
                let path: Vec<usize> = path
                    .iter()
                    .map(|stop| {
                        *stop_numbers.entry(key(*stop)).or_insert_with(|| {
                            stops.push(*stop);
                            stops.len() - 1
                        })
                    })
                    .collect();
                *path_numbers.entry(path.clone()).or_insert_with(|| {
                    paths.push(path);
                    paths.len() as i64 - 1
                })
            });
            legs.push(json!([millis(leg.from), number]));
            if leg.path.is_none() {
                times.push(millis(leg.from));
                delays.push(-1);
            }
            for knot in &leg.delay {
                times.push(millis(knot.at));
                delays.push((knot.delay.as_nanos() / 1000) as i64);
            }
        }
        let handovers: Vec<u64> = course.handovers.iter().map(|c| millis(c.at)).collect();
        of_courses.push(json!({
            "title": course.title(scenario),
            "colour": colour(i),
            "legs": legs,
            "times": times,
            "delays": delays,
            "handovers": handovers,
        }));
    }
    let stops = stops.iter().map(|stop| stop_data(scenario, space, *stop));
    let stops: Vec<Value> = stops.collect();
    let skies: Vec<Value> = space.skies.iter().map(|s| sky_data(s, scenario)).collect();
    let views = views.iter().map(|(_, view)| {
        json!({
            "left": view.left,
            "top": view.top,
            "scale": view.scale,
            "width": view.width,
            "height": view.height,
            "taken": super::terminal_boxes(scenario, space, *view),
        })
    });
    json!({
        "duration": scenario.duration.as_secs(),
        "at": at.as_secs(),
        "day_s": EARTH_DAY_S,
        "earth_km": EARTH_RADIUS_KM,
        "views": views.collect::<Vec<_>>(),
        "skies": skies,
        "stops": stops,
        "paths": paths,
        "courses": of_courses,
    })
}

/// A stop, with the satellite or the place that it is at.
fn stop_data(scenario: &Scenario, space: &ExpandedConstellations, stop: Stop) -> Value {
    match stop {
        Stop::Satellite(sky, satellite) => json!({
            "name": name(scenario, space, stop),
            "label": sky::satellite_name(&space.skies[sky], satellite as usize),
            "satellite": [sky, satellite],
        }),
        Stop::Ground(node) => {
            let place = space.skies.iter().find_map(|sky| {
                let number = sky.nodes.iter().position(|n| *n == node)?;
                let place = sky.terminals.get(number)?.place;
                Some(json!([place.longitude(), place.latitude()]))
            });
            json!({ "name": name(scenario, space, stop), "place": place })
        }
    }
}

/// A stop as something to look up.
fn key(stop: Stop) -> (usize, u32) {
    match stop {
        Stop::Ground(node) => (usize::MAX, node.0),
        Stop::Satellite(sky, satellite) => (sky, satellite),
    }
}

fn sky_data(sky: &ExpandedConstellation, scenario: &Scenario) -> Value {
    let mut value = map::motion(sky);
    value["isls"] = map::links(sky);
    value["changes"] = map::link_changes(sky, Time::ZERO);
    if value["kind"] == "sampled" {
        let length = scenario.duration;
        let step = step(sky, length).unwrap_or(LONGEST_STEP);
        let sampling = Sampling {
            from: Time::ZERO,
            step,
            steps: length.as_nanos().div_ceil(step.as_nanos().max(1)) + 1,
        };
        value["samples"] = map::samples(&sky.constellation, sampling);
    }
    value
}

/// A picture of the network for the page and for files.
pub(super) fn network(
    scenario: &Scenario,
    space: &ExpandedConstellations,
    courses: &[Course],
) -> Picture {
    let (body, width, height) = network::draw(scenario, space, courses);
    Picture {
        body,
        width,
        height,
    }
}
