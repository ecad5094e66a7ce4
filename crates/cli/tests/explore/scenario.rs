//! What the Scenario view asks: checks with places, drawings, edits, runs, the language.

use crate::served::Served;
use serde_json::{Value, json};
use std::fs;

const GEO: &str = include_str!("../../../../scenarios/geo.toml");

fn checked(served: &Served, text: &str) -> Value {
    let body = json!({ "text": text, "path": null, "name": "geo" });
    let answer = served.post("/api/scenario/check", &body.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

/// The lines of a stream.
fn lines(served: &Served, body: &Value) -> Vec<Value> {
    let answer = served.post("/api/scenario/run", &body.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
    let lines = answer.body.lines().filter(|line| line.starts_with('{'));
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_valid_text_is_drawn_with_the_places_of_its_tables() {
    let served = Served::new(None);
    let found = checked(&served, GEO);
    assert_eq!(found["valid"], true);
    assert_eq!(found["diagnostics"], json!([]));
    let drawing = &found["drawing"];
    let names: Vec<_> = drawing["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| &n["name"])
        .collect();
    assert_eq!(names, ["server", "gateway", "client"]);
    assert_eq!(drawing["flows"][0]["way"], json!([0, 1, 2]));
    let link = &drawing["links"][1];
    assert_eq!(link["names"], json!(["satellite"]));
    assert_eq!(link["lines"], json!(["satellite", "2 Mbit/s, 255.5 ms"]));
    // The flow runs from left to right.
    let x = |i: usize| drawing["nodes"][i]["x"].as_f64().unwrap();
    assert!(x(0) < x(1) && x(1) < x(2));
    let places = found["places"].as_array().unwrap();
    let slice = |range: &Value| {
        let at = |i: usize| range[i].as_u64().unwrap() as usize;
        &GEO[at(0)..at(1)]
    };
    let place = |path: &Value| places.iter().find(|place| place["path"] == *path).unwrap();
    let rate = place(&json!(["link", "satellite", "rate"]));
    assert_eq!(
        (slice(&rate["key"]), slice(&rate["value"])),
        ("rate", "\"2 Mbit/s\"")
    );
    assert_eq!(rate["text"], "2 Mbit/s");
    let table = place(&json!(["link", "satellite"]));
    assert!(slice(&table["body"]).starts_with("[link.satellite]\nbetween"));
    assert!(slice(&table["body"]).ends_with("queue = \"100 packets\""));
    assert_eq!(
        found["facts"]["flows"][0]["forward"],
        json!(["lan", "satellite"])
    );
}

#[test]
fn every_mistake_has_its_place_and_what_was_meant() {
    let served = Served::new(None);
    let text = GEO
        .replace("2 Mbit/s\"", "2 Mbits\"")
        .replace("\"mtsi\"", "\"mtsy\"");
    let found = checked(&served, &text);
    assert_eq!(found["valid"], false);
    let all = found["diagnostics"].as_array().unwrap();
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!(
        all[0]["message"],
        "`rate`: unknown unit `Mbits` in `2 Mbits`"
    );
    assert_eq!(
        (&all[0]["line"], &all[0]["column"]),
        (&json!(23), &json!(8))
    );
    assert_eq!(all[0]["fix"], "\"2 Mbit/s\"");
    assert_eq!(all[1]["fix"], "\"mtsi\"");
    // What can be read of it is drawn all the same.
    assert_eq!(found["drawing"]["links"].as_array().unwrap().len(), 2);
    assert_eq!(found["drawing"]["flows"][0]["way"], json!([0, 1, 2]));
    let twice = GEO.replace("[\"server\", \"gateway\"]", "[\"server\", \"server\"]");
    let found = checked(&served, &twice);
    assert_eq!(found["diagnostics"][0]["related"]["label"], "starts here");
    let broken = checked(&served, "duration = ");
    assert_eq!(
        (&broken["places"], &broken["drawing"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(broken["diagnostics"][0]["line"], 1);
}

#[test]
fn constellations_and_middleboxes_are_drawn() {
    let served = Served::new(None);
    let found = checked(&served, include_str!("../../../../scenarios/iridium.toml"));
    let nodes = found["drawing"]["nodes"].as_array().unwrap();
    let sky = nodes.iter().find(|node| node["is_sky"] == true).unwrap();
    assert_eq!(sky["lines"][0], "66 satellites");
    assert_eq!(found["drawing"]["flows"][0]["way"], json!([0, 2, 1]));
    let found = checked(
        &served,
        include_str!("../../../../scenarios/pep-distributed.toml"),
    );
    assert_eq!(
        found["drawing"]["nodes"][1]["lines"],
        json!(["split PEP operator"])
    );
}

#[test]
fn every_example_of_the_page_is_valid_and_named() {
    let served = Served::new(None);
    let examples = served.get("/api/scenario/examples").json();
    let examples = examples["examples"].as_array().unwrap();
    assert!(examples.len() > 20, "{}", examples.len());
    for example in examples {
        let text = example["text"].as_str().unwrap();
        let body = json!({ "text": text, "path": null, "name": example["name"] });
        let mut found = Value::Null;
        for _ in 0..20 {
            found = served.post("/api/scenario/check", &body.to_string()).json();
            if found["pending"] != true {
                break;
            }
        }
        assert_eq!(
            found["valid"], true,
            "{}: {}",
            example["name"], found["diagnostics"]
        );
        assert_ne!(example["about"], "", "{}", example["name"]);
    }
}

#[test]
fn an_edit_answers_with_splices_and_refuses_what_is_wrong() {
    let served = Served::new(None);
    let edit = |edits: Value| {
        let body = json!({ "text": GEO, "edits": edits });
        served.post("/api/scenario/edit", &body.to_string())
    };
    let set = json!({ "edit": "set", "path": ["link", "lan", "rate"], "value": "\"1 Gbit/s\"" });
    let answer = edit(json!([set])).json();
    let splice = &answer["splices"][0][0];
    let at = |key: &str| splice[key].as_u64().unwrap() as usize;
    assert_eq!(&GEO[at("from")..at("to")], "\"10 Mbit/s\"");
    assert_eq!(splice["insert"], "\"1 Gbit/s\"");
    let taken = json!({ "edit": "add", "group": "node", "name": "server", "keys": [] });
    let refused = edit(json!([taken]));
    assert_eq!(refused.status, 400);
    assert_eq!(
        refused.json()["error"]["message"],
        "there is a node `server` already"
    );
}

#[test]
fn a_run_answers_as_the_command_prints() {
    let served = Served::new(None);
    let asked = json!({ "text": GEO, "path": null, "name": "geo", "seed": 3, "runs": 2 });
    let lines = lines(&served, &asked);
    let result = lines.iter().find_map(|line| line.get("result")).unwrap();
    assert_eq!(result["seed"], 3);
    let blocks = result["blocks"].as_array().unwrap();
    assert!(
        blocks[0]["text"]
            .as_str()
            .unwrap()
            .starts_with("geo, seed 3: ")
    );
    assert_eq!(blocks[0]["table"]["columns"][0]["heading"], "flow");
    assert_eq!(blocks[0]["table"]["rows"][0][0]["text"], "download");
    let curve = &result["curves"][0];
    let points = |what: &str| curve[what]["at_s"].as_array().unwrap().len();
    assert!(points("rate") > 10 && points("cwnd") > 10 && points("rtt") > 10);
    let last = lines.last().unwrap();
    assert_eq!(
        (&last["done"], &last["spread"]["columns"][3]["heading"]),
        (&json!(true), &json!("mean"))
    );
}

#[test]
fn what_cannot_run_is_said_before_it_begins() {
    let served = Served::new(None);
    let wrong = json!({ "text": GEO.replace("mtsi", "mtsy") });
    let answer = served.post("/api/scenario/run", &wrong.to_string());
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json()["error"]["diagnostics"][0]["fix"], "\"mtsi\"");
    for runs in [0, 101, 1_000_000] {
        let asked = json!({ "text": GEO, "runs": runs });
        assert_eq!(
            served.post("/api/scenario/run", &asked.to_string()).status,
            400
        );
    }
    let machine = served.get("/api/scenario/machine").json();
    if let Some(why) = machine["lacking"].as_str() {
        let lines = lines(&served, &json!({ "text": GEO, "both": true }));
        assert_eq!(lines.last().unwrap()["error"]["message"], why);
    }
}

#[test]
fn files_that_a_text_names_come_from_the_opened_folder_only() {
    let text = "duration = \"10 s\"\n[constellation.c]\nkind = \"elements\"\nfile = \"FILE\"\n";
    let served = Served::new(Some("open"));
    fs::write(served.path("open/elements.txt"), "nothing of use").unwrap();
    for file in ["../secret.toml", "/etc/passwd", "missing.txt"] {
        let found = checked(&served, &text.replace("FILE", file));
        let message = found["diagnostics"].to_string();
        assert_eq!(found["valid"], false);
        assert!(!message.contains("root:"), "{message}");
    }
    let inside = checked(&served, &text.replace("FILE", "elements.txt"));
    assert_eq!(inside["valid"], false);
}

#[test]
fn the_language_is_that_of_the_schema() {
    let served = Served::new(None);
    let language = served.get("/api/scenario/language").json();
    let sections = language["sections"].as_array().unwrap();
    let link = sections
        .iter()
        .find(|one| one["path"] == "link.NAME")
        .unwrap();
    let between = link["keys"]
        .as_array()
        .unwrap()
        .iter()
        .find(|key| key["name"] == "between");
    assert_eq!(between.unwrap()["required"], true);
    assert_eq!(between.unwrap()["value"]["is"], "nodes");
    assert_eq!(link["values"][0][0], "between");
    let transports = language["names"]["transport"].as_array().unwrap();
    assert!(transports.iter().any(|one| one["name"] == "hybla"));
    assert!(language["parameters"]["mtsi"].is_array());
}
