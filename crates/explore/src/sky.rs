//! The view of satellites: where they are, what they see, the path of a flow.
//!
//! A question ([`question::Question`]) names satellites and two places. It becomes a
//! scenario, so that all that the view shows is what `bentpipe map` and `bentpipe run`
//! make of that scenario.
//!
//! - `POST /api/sky`, a question: lines of `{"sky": ...}` (how satellites move), then
//!   `{"part": ...}` for longer and longer parts of the time asked about, `{"samples": ...}`
//!   where satellites follow no simple law, and `{"done": true}`.
//! - `POST /api/sky/places`, `{"text": ...}` or `{"latitude", "longitude", "within_km"}`:
//!   `{"places": [...]}`.
//! - `POST /api/sky/download`: see [`download`].
//! - `POST /api/sky/picture`, a question with `at_s`: `{"svg": ...}`, as `bentpipe map` draws.

mod download;
mod memory;
mod parts;
mod places;
mod question;

use crate::Problem;
use crate::app::App;
use crate::routes::{once, stream};
use crate::work::Results;
use axum::routing::post;
use axum::{Json, Router};
use bentpipe::map::{self, Sampling};
use bentpipe::orbit::{Constellation, Mode};
use bentpipe::scenario::space::ExpandedConstellation;
use bentpipe::units::{Duration, Time};
use memory::Memory;
use question::{Question, Ready};
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/api/sky", stream(sky))
        .route("/api/sky/places", post(places::places))
        .route("/api/sky/download", post(download::download))
        .route("/api/sky/picture", once(picture))
}

/// Hours that are planned one after the other, so that the first can be seen early.
const LADDER: [u64; 2] = [1, 4];

/// Positions of satellites that follow no simple law, at most in an answer: 5 MB.
const MOST_SAMPLES: u64 = 800_000;

/// Between two of them. A low satellite goes round in 90 minutes: 12 degrees in the
/// longest, over which a straight line is still good.
const STEPS: [Duration; 2] = [Duration::from_secs(30), Duration::from_secs(180)];

/// Steps between positions that are sent at once.
const PIECE: u64 = 40;

/// Streams how satellites move and what becomes of the flow.
fn sky(app: &App, Json(question): Json<Question>, results: &Results) -> Result<(), Problem> {
    let memory: Memory = app.kept();
    let question = question.ready()?;
    let all = question.duration();
    let mut lengths: Vec<Duration> = LADDER
        .iter()
        .map(|hours| Duration::from_secs(hours * 3_600))
        .filter(|length| *length < all && question.moves())
        .collect();
    lengths.push(all);
    let (mut since, mut sampled) = (Time::ZERO, Time::ZERO);
    let mut is_begun = false;
    for length in &lengths {
        if results.is_cancelled() {
            return Ok(());
        }
        let found = memory.find(&question, *length);
        let surveyed = match found.map_or_else(|| question.survey(*length), Ok) {
            Ok(surveyed) => surveyed,
            // They may be joined later.
            Err(_) if *length < all => continue,
            Err(problem) => return unjoined(results, &question, problem),
        };
        if !is_begun {
            results.send(&json!({ "sky": header(&question, surveyed.sky()?, None) }));
            is_begun = true;
        }
        let (part, next) = parts::part(&surveyed, since)?;
        results.send(&json!({ "part": part }));
        let until = Time::ZERO + *length;
        let constellation = &surveyed.sky()?.constellation;
        sampled = send_samples(results, constellation, all, (sampled, until));
        since = next;
        if *length == all {
            memory.keep(&question, surveyed);
        }
    }
    results.send(&json!({ "done": true }));
    Ok(())
}

/// What is known before any planning.
fn header(question: &Ready, sky: &ExpandedConstellation, note: Option<String>) -> Value {
    let mut value = map::motion(sky);
    value["isls"] = map::links(sky);
    value["duration_s"] = json!(question.duration().as_secs());
    value["ends"] = question.places();
    value["what"] = json!(question.what());
    let notes = question.notes().iter().cloned().chain(note);
    value["notes"] = notes.collect();
    value["mask_deg"] = sky.terminals.iter().map(|t| t.mask.degrees()).collect();
    value["is_linked"] = json!(sky.mode == Mode::Isl);
    let rates = question.rates();
    value["rates_bps"] = json!(rates.map(bentpipe::units::Rate::bps));
    value["rates"] = json!(rates.map(|rate| rate.to_string()));
    value["scenario"] = json!(question.scenario(question.duration()));
    value["start_unix_s"] = json!(question.start_unix_s());
    value["day_s"] = json!(bentpipe::orbit::constants::EARTH_DAY_S);
    value["earth_km"] = json!(bentpipe::orbit::constants::EARTH_RADIUS_KM);
    if value["kind"] == "sampled" {
        let all = 0..sky.constellation.len();
        value["names"] = all.map(|i| sky.constellation.name(i)).collect();
    }
    value
}

/// Sends satellites that never join the two places, with that as a note.
fn unjoined(results: &Results, question: &Ready, problem: Problem) -> Result<(), Problem> {
    let Some(sky) = question.unjoined() else {
        return Err(problem);
    };
    let all = question.duration();
    let note = match sky.mode {
        Mode::Isl => "One of the two places never has a satellite above the mask.",
        Mode::BentPipe => "No satellite is ever above the mask of both places at once.",
    };
    results.send(&json!({ "sky": header(question, &sky, Some(note.to_owned())) }));
    results.send(&json!({ "part": parts::unjoined(&sky, all) }));
    let whole = (Time::ZERO, Time::ZERO + all);
    send_samples(results, &sky.constellation, all, whole);
    results.send(&json!({ "done": true }));
    Ok(())
}

/// Sends positions between two times, unless satellites stand or follow a law; returns the
/// time at which the next ones begin.
fn send_samples(
    results: &Results,
    constellation: &Constellation,
    all: Duration,
    (from, until): (Time, Time),
) -> Time {
    if constellation.stands() || constellation.as_shell().is_some() {
        return until;
    }
    let most = (MOST_SAMPLES / constellation.len().max(1) as u64).max(2);
    let step = STEPS[0].max(all / most).min(STEPS[1]);
    let mut at = from;
    while at < until && !results.is_cancelled() {
        // In pieces, so that neither side holds much at a time.
        let left = until.since(at).as_nanos().div_ceil(step.as_nanos());
        let sampling = Sampling {
            from: at,
            step,
            steps: left.min(PIECE) + 1,
        };
        results.send(&json!({ "samples": map::samples(constellation, sampling) }));
        at += step * (sampling.steps - 1);
    }
    at
}

/// A picture of one time.
#[derive(Debug, Deserialize)]
struct Still {
    sky: Question,
    at_s: f64,
}

/// Draws as `bentpipe map --format svg --at` does.
fn picture(app: &App, Json(still): Json<Still>) -> Result<Value, Problem> {
    let question = still.sky.ready()?;
    let surveyed = app.kept::<Memory>().survey(&question)?;
    let most = question.duration().as_secs();
    let at = Time::ZERO + Duration::from_secs_f64(still.at_s.clamp(0.0, most));
    let svg = bentpipe_present::map::picture(&surveyed.scenario, &surveyed.space, at);
    Ok(json!({ "svg": svg }))
}

#[cfg(test)]
mod tests;
