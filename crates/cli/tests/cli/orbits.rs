//! `bentpipe compare` over links that change with time: satellites and traces.

use crate::common::{bentpipe, bentpipe_in};
use serde_json::Value;

fn json(arguments: &[&str]) -> Value {
    let text = bentpipe(&[arguments, &["--json"]].concat()).ok();
    serde_json::from_str(&text).expect("one JSON document")
}

/// One small download.
const SMALL: [&str; 7] = [
    "compare",
    "--loss",
    "0",
    "--size",
    "300 kB",
    "--transport",
    "cubic",
];

fn time(document: &Value) -> f64 {
    document["rows"][0]["cells"][0]["time_s"]["mean"]
        .as_f64()
        .unwrap()
}

#[test]
fn a_download_goes_over_satellites_between_two_cities() {
    let over = |orbit: &[&str]| {
        let way = [
            "--rate",
            "1.5 Mbit/s",
            "--from",
            "Berkeley",
            "--to",
            "Boston",
        ];
        json(&[&SMALL[..], &way, orbit].concat())
    };
    let rtt =
        |document: &Value, which: &str| document["link"]["course"][which].as_f64().unwrap() * 1e-6;
    let iridium = over(&["--orbit", "iridium"]);
    // Over a day ns-2 has 20.4 to 133 ms one way, without transmissions.
    assert!(rtt(&iridium, "min_rtt_ns") > 40.0);
    assert!((60.0..140.0).contains(&rtt(&iridium, "mean_rtt_ns")));
    let changes = iridium["link"]["course"]["path_changes_per_hour"].as_f64();
    assert!(changes > Some(5.0), "{changes:?}");
    let geo = over(&["--orbit", "geo", "--slot", "-95"]);
    assert_eq!(rtt(&geo, "min_rtt_ns"), rtt(&geo, "max_rtt_ns"));
    assert!((500.0..520.0).contains(&rtt(&geo, "mean_rtt_ns")));
    // It is the delay that makes the difference.
    assert!(time(&geo) > 1.5 * time(&iridium));
    let cities = ["--orbit", "geo", "--from", "37.9,-122.3", "--to", "Boston"];
    let text = bentpipe(&[&SMALL[..], &cities].concat()).ok();
    let expected = "Over a geostationary satellite at 96.7 W from 37.9,-122.3 to Boston, \
                    Massachusetts.";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_day_is_one_table_and_one_picture() {
    let folder = tempfile::tempdir().unwrap();
    let day = [
        "--orbit",
        "iridium",
        "--from",
        "Anchorage",
        "--to",
        "Oslo",
        "--over",
        "24h",
    ];
    let words = [&SMALL[..], &day, &["--plot", "day.svg"]].concat();
    let text = bentpipe_in(folder.path(), &words).ok();
    assert!(
        text.contains("By the time of its start, one download every 30 min:"),
        "{text}"
    );
    assert!(
        text.contains("link RTT [ms]") && text.contains("path changes"),
        "{text}"
    );
    assert!(text.contains("The path changes every"), "{text}");
    let picture = std::fs::read_to_string(folder.path().join("day.svg")).unwrap();
    for label in [
        "Rate (Mbit/s)",
        "link RTT [ms]",
        "path changes an hour",
        "Time of a download (s)",
    ] {
        assert!(picture.contains(label), "{label}");
    }
    let document = json(&[&SMALL[..], &day].concat());
    let link = document["by_time"]["link"].as_array().unwrap();
    assert_eq!((link.len(), &link[47]["begins_s"]), (48, &84_600.0.into()));
    let row = &document["by_time"]["rows"][0];
    let times = row["times_s"].as_array().unwrap();
    assert!(times.iter().all(|t| t.as_f64() > Some(1.6)), "{times:?}");
    assert!(row["worst_tenth_s"].as_f64() > row["median_s"].as_f64());
    // Each of the 48 runs began at another time.
    assert_eq!(document["runs"].as_u64(), Some(48));
    assert_eq!(document["changes_cost"][0]["transport"], "cubic");
}

/// Rates that halve after a second, and delays that step: 2 s in all.
fn trace(folder: &std::path::Path) {
    let fast = (1..=500).map(|i| 2 * i);
    let slow = (1..=250).map(|i| 1000 + 4 * i);
    let rates: String = fast.chain(slow).map(|ms| format!("{ms}\n")).collect();
    std::fs::write(folder.join("down.trace"), rates).unwrap();
    let delays: String = (0..200)
        .map(|i| if i < 100 { "20\n" } else { "45.5\n" })
        .collect();
    std::fs::write(folder.join("delay.txt"), delays).unwrap();
    std::fs::write(
        folder.join("queue.csv"),
        "# KEEP,LATENCY,RATE,LOSS,LIMIT\n1000000,20000000,6000000,42949673,10\n\
         1000000,45000000,3000000,0,10\n",
    )
    .unwrap();
}

#[test]
fn a_trace_stands_for_the_link() {
    let folder = tempfile::tempdir().unwrap();
    trace(folder.path());
    let run = |more: &[&str]| {
        let words = [
            &["compare", "--size", "300 kB", "--transport", "cubic"],
            more,
        ]
        .concat();
        bentpipe_in(folder.path(), &words)
    };
    // Lines are broken where they end.
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = flat(run(&["--trace", "down.trace,delay.txt"]).ok());
    assert!(
        text.contains("over 4.5 Mbit/s on average, RTT 65.5 ms on average, loss 0%"),
        "{text}"
    );
    assert!(
        text.contains("Over a trace of LeoReplayer of 2.0 s, RTT 40.0 to 91.0 ms; runs begin at"),
        "{text}"
    );
    let text = flat(run(&["--trace", "queue.csv"]).ok());
    assert!(text.contains("loss as in the trace"), "{text}");
    let text = run(&["--trace", "down.trace", "--rtt", "60 ms", "--over", "2s"]).ok();
    assert!(text.contains("link rate [Mbit/s]"), "{text}");
    let error = |more: &[&str]| run(more).refused();
    let none = error(&["--trace", "down.trace"]);
    assert!(
        none.contains("down.trace has no delays: give the round-trip time"),
        "{none}"
    );
    let twice = error(&["--trace", "queue.csv", "--rtt", "60 ms"]);
    assert!(twice.contains("has delays of its own"), "{twice}");
    let loss = error(&["--trace", "queue.csv", "--loss", "1%"]);
    assert!(loss.contains("says what is lost"), "{loss}");
    let rate = error(&["--trace", "queue.csv", "--rate", "1 Mbit/s"]);
    assert!(rate.contains("cannot be used with"), "{rate}");
    let delays = error(&["--trace", "delay.txt"]);
    assert!(delays.contains("has delays alone"), "{delays}");
    // A picture never takes the place of what is read.
    let over = error(&[
        "--trace",
        "down.trace",
        "--rtt",
        "60 ms",
        "--plot",
        "down.trace",
    ]);
    assert!(!over.is_empty());
}

#[test]
fn mistakes_about_orbits_are_explained() {
    let error = |more: &[&str]| bentpipe(&[&["compare"], more].concat()).refused();
    let error_of =
        |from: &str, to: &str, orbit: &str| error(&["--from", from, "--to", to, "--orbit", orbit]);
    assert!(error(&["--orbit", "geo"]).contains("--from <PLACE>"));
    insta::assert_snapshot!(error_of("0,0", "0,170", "leo"), @"error: --orbit leo does not exist: expected geo, iridium, teledesic, starlink, starlink-2023, starlink-geometry or a file of TLE or OMM; did you mean geo?");
    insta::assert_snapshot!(error_of("0,0", "0,170", "geo"), @"error: --orbit geo: the satellite at 85.0 E stands 3.7 deg below the horizon of 0,0, and a terminal needs 5: no slot serves both places");
    assert!(
        error_of("95,0", "0,0", "geo").contains("latitude 95 is not between -90 and 90 degrees")
    );
    let several = error_of("Birmingham", "Oslo", "iridium");
    assert!(
        several.contains("`Birmingham` is ambiguous: write `Birmingham, United Kingdom` or"),
        "{several}"
    );
    let near = error_of("Oslo", "Nairobbi", "iridium");
    assert!(near.contains("did you mean `Nairobi, Kenya`?"), "{near}");
    let still = error(&["--over", "24h"]);
    assert!(still.contains("needs an orbit or a trace"), "{still}");
}
