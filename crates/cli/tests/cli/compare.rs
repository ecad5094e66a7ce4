//! `bentpipe compare`, as a user runs it.

use crate::common::{bentpipe, bentpipe_in};
use serde_json::Value;
use std::process::{Command, Stdio};

/// A comparison that takes no time.
const QUICK: [&str; 7] = [
    "compare",
    "--size",
    "300 kB",
    "--runs",
    "3",
    "--transport",
    "cubic,hybla,as-of-2000",
];

fn json(arguments: &[&str]) -> Value {
    let text = bentpipe(&[arguments, &["--json"]].concat()).ok();
    serde_json::from_str(&text).expect("one JSON document")
}

#[test]
fn the_recommendation_comes_first_and_every_line_fits() {
    let text = bentpipe(&QUICK).ok();
    let mut lines = text.lines();
    assert!(
        lines
            .next()
            .is_some_and(|l| l.starts_with("300 kB over 10 Mbit/s, RTT 600 ms"))
    );
    assert_eq!(lines.next(), Some(""));
    assert!(lines.next().is_some_and(|l| l.starts_with("Recommended: ")));
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    assert!(!text.contains('\u{1b}'));
}

/// The whole text for a link without losses, where little can change.
#[test]
fn the_text_reads_well() {
    let text = bentpipe(&[
        "compare",
        "--size",
        "100 kB",
        "--loss",
        "0",
        "--transport",
        "cubic,mtsi",
    ]);
    insta::assert_snapshot!("compare", text.ok());
}

#[test]
fn a_transfer_limited_by_its_window_takes_the_time_that_theory_says() {
    let document = json(&[
        "compare",
        "--loss",
        "0",
        "--size",
        "10 MB",
        "--transport",
        "as-of-2000",
    ]);
    let results = document["results"].as_array().unwrap();
    let old = results
        .iter()
        .find(|r| r["transport"] == "as-of-2000")
        .unwrap();
    // 44 segments of 1460 B per round trip of 0.6 s and one transmission.
    let rounds = 10e6 / (44.0 * 1460.0);
    let time = old["transfer_time_s"]["mean"].as_f64().unwrap();
    assert!((time - rounds * 0.6012).abs() < 5.0, "{time}");
    assert_eq!(old["transfer_time_s"]["ci95"], Value::Null);
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let once = bentpipe(&[&QUICK[..], &["--threads", "1"]].concat()).ok();
    let again = bentpipe(&[&QUICK[..], &["--threads", "7"]].concat()).ok();
    assert_eq!(once, again);
    let other = bentpipe(&[&QUICK[..], &["--seed", "99"]].concat()).ok();
    assert_ne!(once, other);
}

#[test]
fn json_has_units_in_its_names_and_agrees_with_itself() {
    let document = json(&QUICK);
    assert_eq!(document["link"]["rate_bps"], 10_000_000);
    assert_eq!(document["link"]["bdp_bytes"], 750_000);
    assert_eq!(document["runs"], 3);
    let results = document["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    let times: Vec<f64> = results
        .iter()
        .map(|r| r["transfer_time_s"]["mean"].as_f64().unwrap())
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    let ideal = document["ideal_transfer_time_s"].as_f64().unwrap();
    for (result, time) in results.iter().zip(&times) {
        let share = result["share_of_ideal"].as_f64().unwrap();
        assert!((share - ideal / time).abs() < 1e-12);
        assert!(share < 1.0);
    }
    let pick = document["recommendation"]["transport"].as_str().unwrap();
    assert!(results.iter().any(|r| r["transport"] == pick));
}

#[test]
fn the_default_is_always_there_to_compare_with() {
    let document = json(&[
        "compare",
        "--size",
        "100 kB",
        "--loss",
        "0",
        "--transport",
        "mtsi",
    ]);
    assert_eq!(document["recommendation"]["default"], "cubic");
}

#[test]
fn nothing_arrives_over_a_link_that_loses_everything() {
    let ended = bentpipe(&[
        "compare",
        "--loss",
        "100%",
        "--runs",
        "1",
        "--transport",
        "cubic",
    ]);
    assert_eq!(ended.status, 1);
    assert!(
        ended.stderr.contains("ended a download"),
        "{}",
        ended.stderr
    );
    let text = ended.stdout;
    assert!(
        text.contains("Recommended: no transport ended a download"),
        "{text}"
    );
}

#[test]
fn pictures_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    for (name, begins) in [("a.svg", &b"<svg"[..]), ("a.png", &b"\x89PNG"[..])] {
        bentpipe_in(folder.path(), &[&QUICK[..], &["--plot", name]].concat()).ok();
        assert!(
            std::fs::read(folder.path().join(name))
                .unwrap()
                .starts_with(begins)
        );
    }
    let error = bentpipe(&[&QUICK[..], &["--plot", "a.gif"]].concat()).refused();
    insta::assert_snapshot!(error, @"error: cannot tell what kind of picture `a.gif` is: the name must end in .svg, .png or .pdf");
}

#[test]
fn mistakes_are_explained() {
    insta::assert_snapshot!(bentpipe(&["compare", "--rate", "10"]).refused(), @"
    error: invalid value '10' for '--rate <RATE>': `10` has no unit: expected a rate with its unit, such as `2 Mbit/s`, `500 kbit/s`, `20Mbit` or `1 Gbps`

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(bentpipe(&["compare", "--queue", "10 fish"]).refused(), @"
    error: invalid value '10 fish' for '--queue <LENGTH>': unknown unit `fish` in `10 fish`: expected a length with its unit, such as `1 BDP`, `100 packets` or `64 kB`

    For more information, try '--help'.
    ");
    let error = bentpipe(&["compare", "--transport", "hyblla"]).refused();
    assert!(error.starts_with(
        "error: there is no transport `hyblla` to compare; did you mean `hybla`?\n  known: "
    ));
    let error = bentpipe(&["compare", "--lost", "1%"]).refused();
    assert!(error.contains("'--loss'"), "{error}");
    insta::assert_snapshot!(bentpipe(&["compare", "--size", "0 B"]).refused(), @"error: --size must be above zero");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_bentpipe"))
        .args(["transports", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_download_goes_over_satellites_between_two_places() {
    let over = |orbit: &[&str]| {
        let mut words = vec![
            "compare",
            "--loss",
            "0",
            "--size",
            "300 kB",
            "--transport",
            "cubic",
        ];
        words.extend([
            "--rate",
            "1.5 Mbit/s",
            "--from",
            "37.9,-122.3",
            "--to",
            "42.3,-71.1",
        ]);
        words.extend(orbit);
        json(&words)
    };
    let rtt =
        |document: &Value, which: &str| document["link"]["orbit"][which].as_f64().unwrap() * 1e-6;
    let iridium = over(&["--orbit", "iridium"]);
    // Over a day ns-2 has 20.4 to 133 ms one way, without transmissions.
    assert!(rtt(&iridium, "min_rtt_ns") > 40.0);
    assert!((60.0..140.0).contains(&rtt(&iridium, "mean_rtt_ns")));
    assert!(iridium["link"]["orbit"]["path_changes_per_hour"].as_u64() > Some(5));
    let geo = over(&["--orbit", "geo", "--slot", "-95"]);
    assert_eq!(rtt(&geo, "min_rtt_ns"), rtt(&geo, "max_rtt_ns"));
    assert!((500.0..520.0).contains(&rtt(&geo, "mean_rtt_ns")));
    let time = |document: &Value| {
        let results = document["results"].as_array().unwrap();
        results[0]["transfer_time_s"]["mean"].as_f64().unwrap()
    };
    // It is the delay that makes the difference.
    assert!(time(&geo) > 1.5 * time(&iridium));
    let text = bentpipe(&[
        "compare",
        "--orbit",
        "geo",
        "--from",
        "37.9,-122.3",
        "--to",
        "42.3,-71.1",
        "--loss",
        "0",
        "--size",
        "100 kB",
        "--transport",
        "cubic",
    ]);
    let text = text.ok();
    assert!(
        text.contains(
            "over a geostationary satellite at 96.7 W from 37.9,-122.3 to 42.3,-71.1\nRTT "
        ),
        "{text}"
    );
}

#[test]
fn mistakes_about_orbits_are_explained() {
    let error = bentpipe(&["compare", "--orbit", "geo"]).refused();
    assert!(error.contains("--from <LAT,LON>"), "{error}");
    let at = ["compare", "--from", "0,0", "--to", "0,170"];
    let error = bentpipe(&[&at[..], &["--orbit", "leo"]].concat()).refused();
    insta::assert_snapshot!(error, @"error: --orbit leo does not exist: expected geo, iridium, teledesic, starlink or a file of TLE or OMM");
    let error = bentpipe(&[&at[..], &["--orbit", "geo"]].concat()).refused();
    insta::assert_snapshot!(error, @"error: --orbit geo: no satellite joins 0,0 and 0,170 at any time in the 1 h that were looked at: one of them sees none of those that the other sees");
    let error = bentpipe(&["compare", "--orbit", "geo", "--from", "95,0", "--to", "0,0"]).refused();
    assert!(
        error.contains("latitude 95 is not between -90 and 90 degrees"),
        "{error}"
    );
}
