//! Differences of scenarios, outcomes and answers.

use super::*;
use crate::Comparison;
use bentpipe_units::{Bytes, Ratio};
use serde_json::json;

fn scenario(text: &str) -> Subject {
    Subject::scenario(crate::parse(text).unwrap())
}

fn template() -> String {
    crate::template().to_owned()
}

fn settings(a: &str, b: &str) -> Vec<SettingChange> {
    let found = diff(&scenario(a), &scenario(b)).unwrap();
    assert!(found.results.is_empty());
    found.settings
}

#[test]
fn a_scenario_is_compared_by_what_it_means() {
    let text = template();
    assert_eq!(settings(&text, &text), []);
    // The same rate in other words, a comment, and a default that is said.
    let rate = text.replace("\"2 Mbit/s\"", "\"2000 kbit/s\"");
    assert_ne!(rate, text, "the template has a rate of 2 Mbit/s");
    assert_eq!(settings(&text, &format!("# other words\n{rate}")), []);
    let faster = text.replace("\"2 Mbit/s\"", "\"50 Mbit/s\"");
    let found = settings(&text, &faster);
    assert!(!found.is_empty());
    assert!(
        found.iter().any(|change| change.path.ends_with(".rate")
            && change.before.as_deref() == Some("2 Mbit/s")
            && change.after.as_deref() == Some("50 Mbit/s")),
        "{found:?}"
    );
}

#[test]
fn tables_of_one_side_are_one_difference() {
    let text = template();
    let more = format!(
        "{text}\n[flow.another]\nfrom = \"server\"\nto = \"client\"\ntransport = \"cubic\"\n\
         application = {{ kind = \"transfer\", size = \"10 kB\" }}\n"
    );
    let found = settings(&text, &more);
    let flow = found.iter().find(|change| change.path == "flow.another");
    let flow = flow.unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!(flow.before, None);
    assert!(
        found
            .iter()
            .all(|change| !change.path.starts_with("flow.another."))
    );
    let back = settings(&more, &text);
    assert_eq!(back.len(), found.len());
}

/// A counted node cannot be written as what it amounts to; the rest of the file can be compared.
#[test]
fn forms_of_writing_are_no_difference_beside_counted_nodes() {
    let text = template();
    let counted = text.replace("[node.client]", "[node.client]\ncount = 2");
    assert_ne!(counted, text, "the template has a client");
    let count = |before: Option<&str>, after: Option<&str>| SettingChange {
        path: "node.client.count".to_owned(),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
    };
    assert_eq!(settings(&text, &counted), [count(None, Some("2"))]);
    assert_eq!(settings(&counted, &text), [count(Some("2"), None)]);
    let faster = counted.replace("\"2 Mbit/s\"", "\"50 Mbit/s\"");
    let found = settings(&text, &faster);
    assert!(
        found
            .iter()
            .any(|change| change.path.ends_with(".rate") && change.after.is_some()),
        "{found:?}"
    );
}

fn outcome(seed: u64) -> String {
    let scenario = crate::parse(crate::template()).unwrap();
    let outcome = crate::Run::new(&scenario).seed(seed).execute().unwrap();
    serde_json::to_string(&outcome).unwrap()
}

#[test]
fn outcomes_of_one_seed_are_the_same_and_of_two_are_not() {
    let (one, two) = (outcome(1), outcome(2));
    let of =
        |a: &str, b: &str| diff(&Subject::json(a).unwrap(), &Subject::json(b).unwrap()).unwrap();
    assert!(of(&one, &one).is_same());
    let found = of(&one, &two);
    assert_eq!(found.settings.len(), 1);
    assert_eq!(found.settings[0].path, "seed");
    let sizes: Vec<f64> = found.results.iter().map(ResultChange::size).collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
    for change in &found.results {
        assert_ne!(change.before, change.after);
    }
}

#[test]
fn numbers_are_compared_with_their_intervals() {
    let answer = |mean: f64, ci95: f64| {
        json!({
            "rows": [{
                "pep": "none", "transport": "cubic", "mss_bytes": 1448,
                "cells": [{ "size_bytes": 1_000_000, "time_s": { "mean": mean, "ci95": ci95 } }],
            }],
            "verdict": { "text": ["Keep cubic."], "certainty": "clear" },
            "sizes_bytes": [1_000_000],
            "link": { "rate_bps": 1000 },
        })
        .to_string()
    };
    let of = |a: String, b: String| {
        diff(&Subject::json(&a).unwrap(), &Subject::json(&b).unwrap()).unwrap()
    };
    let found = of(answer(10.0, 1.0), answer(11.0, 1.0));
    assert!(found.settings.is_empty());
    let [time] = found.results.as_slice() else {
        panic!("{found:?}")
    };
    // The interval of the difference is 1.41 on each side.
    assert_eq!(
        (time.subject.as_str(), time.metric.as_str()),
        ("cubic", "time_s")
    );
    assert_eq!(time.beyond_chance, Some(false));
    let found = of(answer(10.0, 1.0), answer(12.0, 1.0));
    assert_eq!(found.results[0].beyond_chance, Some(true));
    assert!((found.results[0].change_share.unwrap() - 0.2).abs() < 1e-12);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let why = |text: &str| Subject::json(text).unwrap_err().to_string();
    assert!(why("{").contains("no JSON document"));
    assert!(why("[1, 2]").contains("neither what"));
    assert!(why(r#"{"simulated": {}, "measured": {}}"#).contains("jq .measured"));
    let outcome = Subject::json(r#"{"flows": [], "links": []}"#).unwrap();
    let error = diff(&scenario(&template()), &outcome).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a scenario cannot be compared with an outcome"
    );
    // Odd documents have no differences, or some, but always an end.
    for odd in [
        r#"{"flows": [1, null, {"flow": 3}], "links": [[]]}"#,
        r#"{"flows": [{"flow": "a", "timeouts": "x"}, {"flow": "a"}], "links": []}"#,
    ] {
        let odd = Subject::json(odd).unwrap();
        assert!(diff(&odd, &odd).unwrap().is_same());
        let _ = diff(&odd, &outcome).unwrap();
    }
}

#[test]
fn answers_to_two_questions_differ_in_the_question_first() {
    // The document is that of the command; here its records are enough.
    let document = |loss: f64| {
        let answer = Comparison::new()
            .loss(Ratio::new(loss).unwrap())
            .size(Bytes::new(100_000))
            .runs(2)
            .transports(["cubic", "bbr"])
            .run()
            .unwrap();
        let rows = crate::compare::record::rows(
            &answer,
            crate::compare::Build::default(),
            crate::compare::record::Runs::Listed,
        );
        json!({
            "link": crate::compare::record::LinkRecord::of(&answer.path),
            "sizes_bytes": [100_000],
            "seed": answer.seed,
            "rows": rows,
            "verdict": { "text": answer.sentences(), "certainty": answer.verdict.certainty.name() },
        })
        .to_string()
    };
    let (a, b) = (document(0.0), document(0.05));
    let of =
        |a: &str, b: &str| diff(&Subject::json(a).unwrap(), &Subject::json(b).unwrap()).unwrap();
    assert!(of(&a, &a).is_same());
    let found = of(&a, &b);
    assert_eq!(found.settings[0].path, "link.packet_error_rate");
    assert!(
        found
            .results
            .iter()
            .any(|c| c.subject == "cubic" && c.metric == "time_s")
    );
}
