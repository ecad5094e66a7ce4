//! `bentpipe map`: the network as a picture, and satellites as they move.

use crate::args::{self, MapFormat};
use crate::exit::{Failure, Status, did_you_mean, talk};
use crate::output::{self, Output};
use crate::{load, outputs};
use bentpipe::map;
use bentpipe_outcome::write_whole;
use bentpipe_present::map::{MOST_COURSES, chart, html, still};
use bentpipe_scenario::Scenario;
use bentpipe_units::{Duration, Time};
use serde_json::json;
use std::path::{Path, PathBuf};

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
    // The document has all; the page draws some.
    let most = if args.json { usize::MAX } else { MOST_COURSES };
    let (mut courses, all) = map::courses(&scenario, &space, &wanted, most);
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
    if all > MOST_COURSES {
        talk(format_args!(
            "note: {all} different ways; the first {MOST_COURSES} are drawn, --flow chooses one"
        ));
        courses.truncate(MOST_COURSES);
    }
    if let Some(file) = &args.plot {
        output::draw(&chart(&scenario, &courses), file)?;
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
            let page = html(&scenario, &space, &courses, at);
            page.map_err(|e| Failure::new(e.to_string()))?.into_bytes()
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
    Ok(out.line(line)?)
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
