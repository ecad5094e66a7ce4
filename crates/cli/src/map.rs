//! `bentpipe map`: the network as a picture, and satellites as they move.

mod earth;
pub(crate) mod network;
mod page;
mod plot;
mod room;
mod sky;

use crate::args::{self, MapFormat};
use crate::exit::{Failure, Status, did_you_mean, talk};
use crate::output::{self, Output};
use crate::{load, outputs};
use bentpipe::map::{self, Course, Stop};
use bentpipe_outcome::write_whole;
use bentpipe_report::svg::{INK, INK_SOFT, Svg, TextStyle, colour, num};
use bentpipe_scenario::Scenario;
use bentpipe_scenario::space::ExpandedConstellations;
use bentpipe_units::{Duration, Time};
use earth::View;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Ways that can be told apart by their colour; more are not drawn.
const MOST_COURSES: usize = 8;
/// Width of a map.
const WIDTH: f64 = 960.0;

/// Draws.
pub(crate) fn main(args: &args::Map, out: &mut Output) -> Result<Status, Failure> {
    let format = format(args)?;
    if let Some(plot) = &args.plot {
        output::picture_kind(plot)?;
    }
    let source = load::file(&args.scenario, &args.set)?;
    let named = [&args.out, &args.plot].into_iter().flatten();
    outputs::check(&source.inputs(), named.map(PathBuf::as_path))?;
    let (scenario, space) = load::survey(&source)?;
    let at = Time::ZERO + args.at.unwrap_or(Duration::ZERO);
    if at > Time::ZERO + scenario.duration {
        return Err(Failure::new(format!(
            "--at {}: the scenario lasts {}",
            args.at.unwrap_or(Duration::ZERO),
            scenario.duration
        )));
    }
    let wanted = wanted(&scenario, args.flow.as_deref())?;
    let mut courses = map::courses(&scenario, &space, &wanted);
    if args.json {
        let documents = courses
            .iter()
            .map(|course| map::document(&scenario, &space, course));
        out.json(&json!({
            "kind": "map",
            "name": scenario.name,
            "hash": scenario.hash().to_string(),
            "duration_s": scenario.duration.as_secs(),
            "ways": documents.collect::<Vec<_>>(),
        }))?;
    }
    if courses.len() > MOST_COURSES {
        talk(format_args!(
            "note: {} different ways; the first {MOST_COURSES} are drawn, --flow chooses one",
            courses.len()
        ));
        courses.truncate(MOST_COURSES);
    }
    if let Some(file) = &args.plot {
        output::draw(&plot::chart(&scenario, &courses), file)?;
        say(args.json, file, out)?;
    }
    if args.json && args.out.is_none() {
        return Ok(Status::Done);
    }
    let ending = match format {
        MapFormat::Html => "html",
        MapFormat::Svg => "svg",
        MapFormat::Png => "png",
    };
    let default = || PathBuf::from(format!("{}-map.{ending}", scenario.name));
    let file = args.out.clone().unwrap_or_else(default);
    outputs::check(&source.inputs(), [file.as_path()])?;
    let content = match format {
        MapFormat::Html => {
            page::check(&scenario, &space)?;
            page::html(&scenario, &space, &courses, at).into_bytes()
        }
        MapFormat::Svg => still(&scenario, &space, &courses, at).into_bytes(),
        MapFormat::Png => {
            let svg = still(&scenario, &space, &courses, at);
            bentpipe_report::png::render(&svg, 2.0).map_err(|e| Failure::file("draw", &file, e))?
        }
    };
    write_whole(&file, &content).map_err(|e| Failure::new(e.to_string()))?;
    say(args.json, &file, out)?;
    Ok(Status::Done)
}

/// Says what was written: on stdout, unless that carries JSON.
fn say(json: bool, file: &Path, out: &mut Output) -> Result<(), Failure> {
    let line = format!("wrote {}", file.display());
    if json {
        talk(line);
        return Ok(());
    }
    out.line(line)
}

/// The format that was asked for, or that the name of the file says.
fn format(args: &args::Map) -> Result<MapFormat, Failure> {
    let Some(file) = &args.out else {
        return Ok(args.format.unwrap_or(MapFormat::Html));
    };
    let ending = file.extension().map(|e| e.to_string_lossy().to_lowercase());
    let named = match ending.as_deref() {
        Some("html" | "htm") => Some(MapFormat::Html),
        Some("svg") => Some(MapFormat::Svg),
        Some("png") => Some(MapFormat::Png),
        _ => None,
    };
    args.format.or(named).ok_or_else(|| {
        Failure::new(format!(
            "cannot tell what to write into `{}`: the name must end in .html, .svg or .png, \
             or --format must say it",
            file.display()
        ))
    })
}

/// The flows to draw: those of that name, or with it before their number.
fn wanted(scenario: &Scenario, name: Option<&str>) -> Result<Vec<usize>, Failure> {
    let all = 0..scenario.flows.len();
    let Some(name) = name else {
        return Ok(all.collect());
    };
    let known = |i: &usize| scenario.flows[*i].name.as_str();
    let base = |i: &usize| known(i).split('[').next().unwrap_or("");
    let found: Vec<usize> = all
        .clone()
        .filter(|i| known(i) == name || base(i) == name)
        .collect();
    if found.is_empty() {
        let names: Vec<&str> = scenario.flows.iter().map(|f| f.name.as_str()).collect();
        return Err(Failure::new(format!(
            "there is no flow `{name}` in `{}`{}",
            scenario.name,
            did_you_mean(name, names)
        )));
    }
    Ok(found)
}

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
#[cfg(feature = "explore")]
pub(crate) fn picture(scenario: &Scenario, space: &ExpandedConstellations, at: Time) -> String {
    let all: Vec<usize> = (0..scenario.flows.len()).collect();
    let mut courses = map::courses(scenario, space, &all);
    courses.truncate(MOST_COURSES);
    still(scenario, space, &courses, at)
}

/// Map, legend and network as one picture.
fn still(
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
