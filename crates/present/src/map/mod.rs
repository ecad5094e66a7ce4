//! The network as a picture, and satellites as they move, as `bentpipe map` draws them.

mod earth;
mod network;
mod page;
mod plot;
mod room;
mod sky;

pub use network::arrange::{Drawing, DrawnFlow, DrawnLink, DrawnNode, arrange, words};
pub use page::{TooMany, html};
pub use plot::chart;

use bentpipe::map::{self, Course, Stop};
use bentpipe_report::svg::{INK, INK_SOFT, Svg, TextStyle, colour, num};
use bentpipe_scenario::Scenario;
use bentpipe_scenario::space::ExpandedConstellations;
use bentpipe_units::{Duration, Time};
use earth::View;

/// Ways that can be told apart by their colour; more are not drawn.
pub const MOST_COURSES: usize = 8;
/// Width of a map.
const WIDTH: f64 = 960.0;

/// A picture without its frame.
struct Picture {
    body: String,
    width: f64,
    height: f64,
}

impl Picture {
    fn document(&self, name: &str) -> String {
        Svg::document(self.width, self.height, name, &self.body)
    }
}

/// The views that a map has, the first one to begin with.
fn views(space: &ExpandedConstellations, courses: &[Course]) -> Vec<(&'static str, View)> {
    let near = View::around(&sky::places(space, courses), WIDTH);
    let near = near.map(|view| ("where flows are", view));
    near.into_iter()
        .chain([("the earth", View::world(WIDTH))])
        .collect()
}

/// Where terminals and their names stand on a map.
fn terminal_boxes(
    scenario: &Scenario,
    space: &ExpandedConstellations,
    view: View,
) -> Vec<room::Box4> {
    let room = sky::terminals(&mut Svg::default(), view, scenario, space);
    let boxes = room.boxes().iter();
    boxes
        .map(|b| b.map(|x| (x * 10.0).round() / 10.0))
        .collect()
}

/// A map at one time; what moves is in groups of the class `still`.
fn map_picture(
    scenario: &Scenario,
    space: &ExpandedConstellations,
    courses: &[Course],
    at: Time,
    view: View,
) -> Picture {
    let mut svg = Svg::default();
    earth::draw(&mut svg, view);
    let mut above = Svg::default();
    let room = sky::terminals(&mut above, view, scenario, space);
    svg.raw("<g class=\"still\">");
    sky::moving(&mut svg, view, space, courses, at, room);
    svg.raw("</g>");
    svg.raw(above.into_elements().trim_end());
    Picture {
        body: svg.into_elements(),
        width: view.width,
        height: view.height,
    }
}

fn network_picture(
    scenario: &Scenario,
    space: &ExpandedConstellations,
    courses: &[Course],
) -> Picture {
    page::network(scenario, space, courses)
}

/// What a course does at a time, in words.
fn state(scenario: &Scenario, space: &ExpandedConstellations, course: &Course, at: Time) -> String {
    let title = course.title(scenario);
    let leg = course.leg_at(at);
    let Some((leg, path)) = leg.and_then(|leg| Some((leg, leg.path.as_ref()?))) else {
        return format!("{title}: no way");
    };
    let names: Vec<String> = path
        .iter()
        .map(|stop: &Stop| map::name(scenario, space, *stop))
        .collect();
    let delay = leg.delay_at(at).map_or(0.0, Duration::as_secs) * 1e3;
    let hops = path.len() - 1;
    let hops = if hops == 1 {
        "1 hop".to_owned()
    } else {
        format!("{hops} hops")
    };
    format!(
        "{title}: {delay:.2} ms one way, {hops}, over {}",
        names.join(" – ")
    )
}

/// The picture of all flows of a scenario at a time.
pub fn picture(scenario: &Scenario, space: &ExpandedConstellations, at: Time) -> String {
    let all: Vec<usize> = (0..scenario.flows.len()).collect();
    let (courses, _) = map::courses(scenario, space, &all, MOST_COURSES);
    still(scenario, space, &courses, at)
}

/// Map, legend and network as one picture in SVG.
pub fn still(
    scenario: &Scenario,
    space: &ExpandedConstellations,
    courses: &[Course],
    at: Time,
) -> String {
    let network = network_picture(scenario, space, courses);
    let mut svg = Svg::default();
    let (side, mut y) = (20.0, 34.0);
    let width = if space.skies.is_empty() {
        (network.width + 2.0 * side).max(480.0)
    } else {
        (WIDTH + 2.0 * side).max(network.width + 2.0 * side)
    };
    svg.text(side, y, &scenario.name, TextStyle::new(18.0, INK).bold());
    if !scenario.description.is_empty() {
        y += 20.0;
        let style = TextStyle::new(12.0, INK_SOFT);
        let mut text = scenario.description.clone();
        while style.width(&text) > width - 2.0 * side && text.pop().is_some() {}
        svg.text(side, y, &text, style);
    }
    y += 16.0;
    if let Some((_, view)) = views(space, courses).into_iter().next()
        && !space.skies.is_empty()
    {
        let map = map_picture(scenario, space, courses, at, view);
        let left = (width - map.width) / 2.0;
        svg.raw(format!(
            "<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {2} {3}\">",
            num(left),
            num(y),
            num(map.width),
            num(map.height)
        ));
        svg.raw(map.body.trim_end());
        svg.raw("</svg>");
        svg.raw(format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#8c96a0\"/>",
            num(left),
            num(y),
            num(map.width),
            num(map.height)
        ));
        y += map.height + 20.0;
        let time = format!("at {}", Duration::from_nanos(at.as_nanos()));
        svg.text(left, y, &time, TextStyle::new(12.0, INK).bold());
        y += 8.0;
    }
    for (i, course) in courses.iter().enumerate() {
        y += 18.0;
        svg.raw(format!(
            "<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"4\" fill=\"{}\"/>",
            num(side),
            num(y - 6.0),
            colour(i)
        ));
        let style = TextStyle::new(12.0, INK);
        let mut text = state(scenario, space, course, at);
        while style.width(&text) > width - 2.0 * side - 22.0 && text.pop().is_some() {}
        svg.text(side + 22.0, y, &text, style);
    }
    y += 14.0;
    svg.raw(format!(
        "<g transform=\"translate({} {})\">",
        num((width - network.width) / 2.0),
        num(y)
    ));
    svg.raw(network.body.trim_end());
    svg.raw("</g>");
    let height = y + network.height + 10.0;
    Svg::document(width, height, &scenario.name, &svg.into_elements())
}
