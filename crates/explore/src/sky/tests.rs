//! Questions become scenarios that the project reads, or errors that name the field.

use super::memory::Memory;
use super::parts::part;
use super::question::{GivenFile, Question};
use bentpipe::units::{Duration, Time};
use serde_json::{Value, json};

fn question(value: Value) -> Question {
    let mut all = json!({ "from": "Berlin", "to": "New York", "hours": 1 });
    for (key, value) in value.as_object().unwrap() {
        all[key] = value.clone();
    }
    serde_json::from_value(all).unwrap()
}

fn field(value: Value) -> (String, String) {
    let problem = question(value).ready().unwrap_err();
    let error = problem.document()["error"].clone();
    let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
    (text("field"), text("message"))
}

const ISS: &str = "ISS (ZARYA)\n\
    1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927\n\
    2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537\n";

#[test]
fn every_kind_of_satellites_makes_a_scenario() {
    let questions = [
        question(json!({ "orbit": "iridium", "handover": "highest", "mask": 12 })),
        question(json!({ "orbit": "teledesic" })),
        question(json!({ "orbit": "starlink", "isl": false, "to": "Vienna" })),
        question(json!({ "orbit": "geo", "from": "1.5,-20", "to": "Madrid" })),
        question(json!({ "orbit": "walker", "pattern": "53: 240/12/1", "altitude_km": 1200 })),
    ];
    for question in questions {
        let ready = question.ready().unwrap();
        let surveyed = ready.survey(ready.duration()).unwrap();
        assert_eq!(surveyed.scenario.duration, Duration::from_secs(3_600));
        assert_eq!(surveyed.scenario.flows.len(), 1, "{question:?}");
        let (found, _) = part(&surveyed, Time::ZERO).unwrap();
        assert_eq!(found["legs"][0]["from_s"], 0.0, "{question:?}");
    }
}

/// One satellite that no two places far apart see at once.
#[test]
fn satellites_that_join_nobody_are_shown() {
    let mut lone = question(json!({ "orbit": "file", "to": "Sydney" }));
    lone.file = Some(GivenFile {
        name: "station \"1\".tle".to_owned(),
        text: ISS.to_owned(),
    });
    let ready = lone.ready().unwrap();
    let problem = ready.survey(ready.duration()).unwrap_err();
    assert!(problem.to_string().contains("never joins"), "{problem}");
    let sky = ready.unjoined().unwrap();
    let found = super::parts::unjoined(&sky, ready.duration());
    assert_eq!(found["statistics"]["availability"], 0.0);
    assert_eq!(found["legs"][0]["to_s"], 3600.0);
    let joined = question(json!({ "orbit": "iridium" })).ready().unwrap();
    assert!(joined.unjoined().is_none());
}

#[test]
fn a_wrong_question_names_its_field() {
    let cases = [
        (json!({ "orbit": "irridium" }), "orbit"),
        (json!({ "orbit": "geo", "slot": 200 }), "slot"),
        (json!({ "orbit": "iridium", "to": "Berlin" }), "to"),
        (json!({ "orbit": "iridium", "from": "Atlantiss" }), "from"),
        (json!({ "orbit": "iridium", "from": "91,0" }), "from"),
        (json!({ "orbit": "iridium", "hours": 1e9 }), "hours"),
        (json!({ "orbit": "iridium", "mask": -1 }), "mask"),
        (
            json!({ "orbit": "iridium", "handover": "best" }),
            "handover",
        ),
        (
            json!({ "orbit": "walker", "pattern": "53: 7/2/1" }),
            "pattern",
        ),
        (json!({ "orbit": "walker", "altitude_km": 1 }), "pattern"),
        (
            json!({ "orbit": "walker", "pattern": "53: 90000/100/1" }),
            "pattern",
        ),
        (json!({ "orbit": "file" }), "file"),
    ];
    for (value, name) in cases {
        let (found, message) = field(value.clone());
        assert_eq!(found, name, "{value}: {message}");
    }
}

#[test]
fn a_bad_file_says_where() {
    let text = ISS.replace("15.72125391563537", "15.72125391563538");
    let file = json!({ "name": "a.tle", "text": text });
    let problem = question(json!({ "orbit": "file", "file": file }))
        .ready()
        .unwrap_err();
    let error = &problem.document()["error"];
    assert_eq!(error["line"], 3);
    let message = error["message"].as_str().unwrap();
    assert!(
        message.starts_with("a.tle, line 3: the checksum"),
        "{message}"
    );
}

/// What is sent in parts is what is sent at once.
#[test]
fn parts_join() {
    let ready = question(json!({ "orbit": "teledesic", "hours": 2 }))
        .ready()
        .unwrap();
    let hour = ready.survey(Duration::from_secs(3_600)).unwrap();
    let all = ready.survey(ready.duration()).unwrap();
    let (first, since) = part(&hour, Time::ZERO).unwrap();
    let (second, _) = part(&all, since).unwrap();
    let (whole, _) = part(&all, Time::ZERO).unwrap();
    for list in ["legs", "handovers", "changes"] {
        let time = |item: &Value| match list {
            "legs" => item["from_s"].as_f64(),
            "handovers" => item["at_s"].as_f64(),
            _ => item[0].as_f64().map(|ms| ms / 1e3),
        };
        let before = |item: &&Value| time(item).unwrap() < since.as_secs();
        let earlier = first[list].as_array().unwrap().iter().filter(before);
        let joined: Vec<&Value> = earlier.chain(second[list].as_array().unwrap()).collect();
        let whole: Vec<&Value> = whole[list].as_array().unwrap().iter().collect();
        assert_eq!(joined.len(), whole.len(), "{list}");
        for (a, b) in joined.iter().zip(&whole) {
            assert_eq!((time(a), &a["path"]), (time(b), &b["path"]), "{list}");
        }
    }
}

#[test]
fn the_memory_keeps_the_last_plans() {
    let memory = Memory::default();
    let ready = |mask: u32| {
        let question = question(json!({ "orbit": "iridium", "hours": 0.1, "mask": mask }));
        question.ready().unwrap()
    };
    for mask in 8..12 {
        memory.survey(&ready(mask)).unwrap();
    }
    let is_kept = |mask| memory.find(&ready(mask), ready(mask).duration()).is_some();
    assert_eq!([8, 9, 10, 11].map(is_kept), [false, true, true, true]);
}
