//! `compare --why`, `--scenario-of` and the recordings of a run, as a user sees them.

use crate::common::{bentpipe, bentpipe_in, skip};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A lossy link, so that there is something to explain.
const LOSSY: [&str; 11] = [
    "compare",
    "--size",
    "1 MB",
    "--loss",
    "1%",
    "--runs",
    "3",
    "--transport",
    "cubic,bbr",
    "--seed",
    "5",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    LOSSY.iter().copied().chain(more.iter().copied()).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("one JSON document")
}

#[test]
fn why_tells_where_the_time_of_two_rows_went() {
    let text = bentpipe(&with(&["--why", "bbr"])).ok();
    let at = text.find("Why: cubic beside bbr").expect("the explanation");
    let why = &text[at..];
    for told in [
        ": the run of cubic of median time, and the same run of the other.",
        "Handshake [s]",
        "Slow start [s]",
        "Time [s]",
        "segments lost",
        "The connection is being opened",
        "In these runs bbr takes ",
    ] {
        assert!(why.contains(told), "{told}: {why}");
    }
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    // The same in JSON, with parts that add up.
    let document = json(&bentpipe(&with(&["--why", "bbr", "--json"])).ok());
    let runs = document["why"]["runs"].as_array().unwrap();
    let names: Vec<&str> = runs
        .iter()
        .map(|run| run["transport"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["cubic", "bbr"]);
    for run in runs {
        let parts = run["spent"].as_array().unwrap();
        let sum: f64 = parts
            .iter()
            .map(|part| part["time_s"].as_f64().unwrap())
            .sum();
        let time = run["time_s"].as_f64().unwrap();
        assert!((sum - time).abs() < 1e-6, "{sum} {time}");
        // It is a run of the table.
        let row = document["rows"].as_array().unwrap().iter();
        let row = row
            .clone()
            .find(|row| row["transport"] == run["transport"])
            .unwrap();
        let listed = row["cells"][0]["runs"].as_array().unwrap().iter();
        let same = listed
            .clone()
            .find(|listed| listed["seed"] == run["seed"])
            .unwrap();
        assert_eq!(same["times_s"]["download"].as_f64(), Some(time));
        assert!(run["acts"].as_array().is_some_and(|acts| !acts.is_empty()));
    }
    assert!(
        document["why"]["difference"][0]
            .as_str()
            .unwrap()
            .starts_with("In these runs bbr")
    );
}

#[test]
fn rows_are_looked_up_before_anything_runs() {
    let wrong = |more: &[&str]| {
        let ended = bentpipe(&with(more));
        assert_eq!(ended.status, 2, "{more:?}");
        assert!(ended.stdout.is_empty(), "{more:?}");
        ended.stderr
    };
    let hint =
        "error: there is no row `bbbr` in the answer; did you mean `bbr`?\n  rows: cubic, bbr";
    for option in ["--why", "--scenario-of"] {
        assert!(wrong(&[option, "bbbr"]).contains(hint));
    }
    assert!(wrong(&["--row", "bbbr", "--packets", "a.csv"]).contains(hint));
    assert!(wrong(&["--row", "bbr"]).contains("--row says what"));
    assert!(wrong(&["--why", "a,b,c"]).contains("one row or two"));
    assert!(wrong(&["--why", "--on", "linux"]).contains("--on both"));
    assert!(wrong(&["--packets", "a.txt"]).contains("a.txt"));
}

#[test]
fn the_scenario_of_a_row_has_the_result_of_the_row() {
    let folder = tempfile::tempdir().unwrap();
    let ended = bentpipe_in(
        folder.path(),
        &with(&["--scenario-of", "bbr", "row.toml", "--json"]),
    );
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("wrote row.toml"));
    let document = json(&ended.stdout);
    let rows = document["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["transport"] == "bbr").unwrap();
    let ran = json(&bentpipe_in(folder.path(), &["run", "row.toml", "--json"]).ok());
    let runs = row["cells"][0]["runs"].as_array().unwrap();
    let run = runs.iter().find(|run| run["seed"] == ran["seed"]).unwrap();
    assert_eq!(
        run["times_s"]["download"],
        ran["flows"][0]["transfer_time_s"]
    );
    // On standard output there is the scenario alone.
    let printed = bentpipe_in(folder.path(), &with(&["--scenario-of", "bbr", "-"])).ok();
    assert_eq!(
        printed,
        std::fs::read_to_string(folder.path().join("row.toml")).unwrap()
    );
    assert_eq!(
        bentpipe_in(folder.path(), &with(&["--scenario-of", "bbr"])).ok(),
        printed
    );
}

/// A scenario with losses, in a folder.
fn lossy(folder: &Path) {
    let text = bentpipe(&with(&["--scenario-of", "cubic", "-"])).ok();
    std::fs::write(folder.join("lossy.toml"), text).unwrap();
}

/// The rows of a CSV file by their columns.
fn rows(file: &Path) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines = text
        .lines()
        .map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let head = lines.next().unwrap();
    lines
        .map(|line| {
            assert_eq!(line.len(), head.len());
            head.iter().cloned().zip(line).collect()
        })
        .collect()
}

#[test]
fn packets_in_a_file_are_those_that_were_counted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    lossy(folder);
    let arguments = [
        "run",
        "lossy.toml",
        "--json",
        "--packets",
        "p.csv",
        "--qlog",
        "p.sqlog",
        "--sequence",
        "p.svg",
    ];
    let ended = bentpipe_in(folder, &arguments);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let outcome = json(&ended.stdout);
    let flow = &outcome["flows"][0];
    let count = |name: &str| flow[name].as_u64().unwrap() as usize;
    let rows = rows(&folder.join("p.csv"));
    let of = |events: &[&str]| {
        let is_one = |row: &&BTreeMap<String, String>| events.contains(&row["event"].as_str());
        rows.iter().filter(is_one).count()
    };
    assert!(count("retransmissions") > 0, "nothing is lost in 1 MB");
    assert_eq!(of(&["sent", "resent"]), count("packets_sent"));
    assert_eq!(of(&["resent"]), count("retransmissions"));
    assert_eq!(of(&["timeout"]), count("timeouts"));
    assert_eq!(of(&["acknowledged", "repeated"]), count("acks_received"));
    assert_eq!(
        of(&["lost", "lost_ack"]),
        count("channel_losses") + count("queue_drops")
    );
    let times: Vec<u64> = rows
        .iter()
        .map(|row| row["at_ns"].parse().unwrap())
        .collect();
    assert!(times.is_sorted());
    let lost = rows.iter().find(|row| row["event"] == "lost").unwrap();
    assert_eq!(
        (lost["place"].as_str(), lost["link"].as_str()),
        ("path", "satellite")
    );
    // Beside the table there is where it comes from.
    let origin = json(&std::fs::read_to_string(folder.join("p.csv.json")).unwrap());
    assert_eq!(origin["seeds"][0], outcome["seed"]);
    let svg = std::fs::read_to_string(folder.join("p.svg")).unwrap();
    for drawn in [
        "sent again",
        "acknowledged",
        "lost",
        "RTT (ms)",
        "Queue (packets)",
    ] {
        assert!(svg.contains(drawn), "{drawn}");
    }
    // The same to the byte, whatever else is asked for.
    let again = [
        "run",
        "lossy.toml",
        "--packets",
        "again.csv",
        "--series",
        "--out",
        "out",
    ];
    bentpipe_in(folder, &again).ok();
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    assert_eq!(read("p.csv"), read("again.csv"));
    qlog(&folder.join("p.sqlog"), flow);
}

/// Checks the structure of a file against draft-ietf-quic-qlog-main-schema-02 and
/// -quic-events-01, and its numbers with those of the flow.
fn qlog(file: &Path, flow: &Value) {
    let text = std::fs::read_to_string(file).unwrap();
    let records: Vec<Value> = text
        .split('\u{1e}')
        .skip(1)
        .map(|record| {
            assert!(record.ends_with('\n'));
            json(record)
        })
        .collect();
    let head = &records[0];
    assert_eq!(
        (head["qlog_version"].as_str(), head["qlog_format"].as_str()),
        (Some("0.3"), Some("JSON-SEQ"))
    );
    let trace = &head["trace"];
    assert!(
        ["client", "server", "network", "unknown"]
            .contains(&trace["vantage_point"]["type"].as_str().unwrap())
    );
    assert_eq!(trace["common_fields"]["time_format"], "relative");
    let mut last = 0.0;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let (mut sent, mut acknowledged, mut lost) = (Vec::new(), Vec::new(), Vec::new());
    for event in &records[1..] {
        let time = event["time"].as_f64().expect("a time");
        assert!(time >= last, "{event}");
        last = time;
        let name = event["name"].as_str().expect("a name");
        *counts.entry(name.to_owned()).or_default() += 1;
        let data = &event["data"];
        let number = |data: &Value| data["header"]["packet_number"].as_u64().expect("a number");
        match name {
            "transport:packet_sent" | "transport:packet_received" => {
                assert!(
                    ["initial", "1RTT"].contains(&data["header"]["packet_type"].as_str().unwrap())
                );
                assert!(
                    data["raw"]["length"].as_u64().unwrap()
                        >= data["raw"]["payload_length"].as_u64().unwrap()
                );
                if name == "transport:packet_sent" {
                    sent.push(number(data));
                }
                for frame in data["frames"].as_array().expect("frames") {
                    match frame["frame_type"].as_str().unwrap() {
                        "stream" => assert!(frame["offset"].is_u64() && frame["length"].is_u64()),
                        "ack" => {
                            for range in frame["acked_ranges"].as_array().unwrap() {
                                let [from, to] = [0, 1].map(|i| range[i].as_u64().unwrap());
                                assert!(from <= to && to < sent.len() as u64);
                                acknowledged.extend(from..=to);
                            }
                        }
                        other => assert_eq!(other, "ping"),
                    }
                }
            }
            "recovery:packet_lost" => lost.push(number(data)),
            "recovery:loss_timer_updated" => assert_eq!(data["event_type"], "expired"),
            "recovery:metrics_updated" | "recovery:congestion_state_updated" => {}
            other => panic!("{other} is no event of the mapping"),
        }
    }
    // Numbers count up; what was lost is not acknowledged; all others are in the end, but
    // those that the last acknowledgement leaves open.
    assert!(
        sent.iter()
            .enumerate()
            .all(|(i, number)| *number == i as u64)
    );
    assert_eq!(lost.len() as u64, flow["retransmissions"].as_u64().unwrap());
    assert!(lost.iter().all(|number| !acknowledged.contains(number)));
    for kind in [
        "recovery:metrics_updated",
        "recovery:congestion_state_updated",
        "transport:packet_received",
    ] {
        assert!(counts[kind] > 0, "{kind}");
    }
}

#[test]
fn a_flow_and_a_time_can_be_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    lossy(folder);
    let run = |more: &[&str]| bentpipe_in(folder, &[&["run", "lossy.toml"], more].concat());
    run(&[
        "--packets",
        "part.csv",
        "--flow",
        "user-1",
        "--from",
        "1 s",
        "--to",
        "2 s",
    ])
    .ok();
    let part = rows(&folder.join("part.csv"));
    assert!(part.len() > 10);
    for row in part {
        let at: f64 = row["time_s"].parse().unwrap();
        assert!((1.0..=2.0).contains(&at), "{at}");
    }
    let ended = run(&["--packets", "a.csv", "--flow", "user-2"]);
    assert_eq!(ended.status, 2);
    assert!(
        ended
            .stderr
            .contains("there is no flow `user-2`; did you mean `user-1`?"),
        "{}",
        ended.stderr
    );
    assert!(!folder.join("a.csv").exists());
    let ended = run(&["--flow", "user-1"]);
    assert!(
        ended.stderr.contains("--flow says what"),
        "{}",
        ended.stderr
    );
    // As Parquet, and of a row of an answer.
    let more = [
        "--row",
        "bbr",
        "--packets",
        "row.parquet",
        "--sequence",
        "row.svg",
    ];
    let ended = bentpipe_in(folder, &with(&more));
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(
        &std::fs::read(folder.join("row.parquet")).unwrap()[..4],
        b"PAR1"
    );
}

#[test]
fn captured_packets_echo_the_timestamps_of_the_other_side() {
    if Command::new("tshark").arg("--version").output().is_err() {
        return skip(
            "captured_packets_echo_the_timestamps_of_the_other_side",
            "tshark",
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    lossy(folder);
    for at in ["from", "to"] {
        bentpipe_in(
            folder,
            &["run", "lossy.toml", "--pcap", "a.pcapng", "--pcap-at", at],
        )
        .ok();
        let output = Command::new("tshark")
            .args(["-r", "a.pcapng", "-T", "fields", "-E", "separator=,"])
            .args([
                "-e",
                "tcp.srcport",
                "-e",
                "tcp.flags.syn",
                "-e",
                "tcp.flags.ack",
            ])
            .args([
                "-e",
                "tcp.options.timestamp.tsval",
                "-e",
                "tcp.options.timestamp.tsecr",
            ])
            .current_dir(folder)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        // The timestamps that each side has sent before.
        let mut seen: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        let mut packets = 0;
        for line in text.lines() {
            let fields: Vec<&str> = line.split(',').collect();
            let [port, syn, ack, value, echo] = fields.as_slice() else {
                panic!("{line}");
            };
            let is = |flag: &str| flag == "1" || flag.eq_ignore_ascii_case("true");
            let [port, value, echo] = [port, value, echo].map(|x| x.parse::<u64>().unwrap());
            match (is(syn), is(ack)) {
                (true, false) => assert_eq!(echo, 0, "a SYN echoes nothing: {line}"),
                _ => {
                    let others = seen.iter().filter(|(other, _)| **other != port);
                    let known = others.flat_map(|(_, values)| values).any(|v| *v == echo);
                    assert!(known, "{at}: {line} echoes what was never sent");
                    packets += 1;
                }
            }
            seen.entry(port).or_default().push(value);
        }
        assert!(packets > 1000, "{packets}");
    }
}

#[test]
fn what_differs_is_told_and_the_status_says_whether() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = |arguments: &[&str]| bentpipe_in(folder, arguments);
    lossy(folder);
    let text = std::fs::read_to_string(folder.join("lossy.toml")).unwrap();
    let seed = text.lines().find(|line| line.starts_with("seed = "));
    let other = text.replace(seed.expect("a seed"), "seed = 99");
    std::fs::write(folder.join("other.toml"), other).unwrap();
    let same = run(&["diff", "lossy.toml", "lossy.toml"]);
    assert_eq!(
        (same.status, same.stdout.as_str()),
        (0, "The two scenarios are the same.\n")
    );
    let other = run(&["diff", "lossy.toml", "other.toml"]);
    assert_eq!(other.status, 1, "{}", other.stderr);
    assert!(other.stdout.contains("Set otherwise"), "{}", other.stdout);
    // Folders of runs, and their JSON.
    run(&["run", "lossy.toml", "--out", "one"]).ok();
    run(&["run", "other.toml", "--out", "two"]).ok();
    let found = run(&["diff", "one", "two", "--json"]);
    assert_eq!(found.status, 1);
    let document = json(&found.stdout);
    assert_eq!(document["kind"], "outcome");
    assert_eq!(document["settings"][0]["path"], "seed");
    let time = document["results"].as_array().unwrap().iter();
    let time = time
        .clone()
        .find(|c| c["metric"] == "transfer_time_s")
        .unwrap();
    assert!(time["before"].is_f64() && time["after"].is_f64());
    assert_eq!(run(&["diff", "one", "one"]).status, 0);
    // Answers.
    for (name, loss) in [("a.json", "1%"), ("b.json", "3%")] {
        let quick = [
            "compare",
            "--size",
            "300 kB",
            "--runs",
            "3",
            "--transport",
            "cubic,bbr",
        ];
        let answer = bentpipe(&[&quick[..], &["--loss", loss, "--json"]].concat()).ok();
        std::fs::write(folder.join(name), answer).unwrap();
    }
    let found = run(&["diff", "a.json", "b.json"]);
    assert_eq!(found.status, 1);
    for told in [
        "Asked otherwise",
        "link.packet_error_rate",
        "largest difference first",
        "time_s",
        "±",
    ] {
        assert!(found.stdout.contains(told), "{told}: {}", found.stdout);
    }
    // What cannot be compared.
    for (arguments, told) in [
        (
            ["diff", "one", "lossy.toml"],
            "an outcome cannot be compared with a scenario",
        ),
        (["diff", "one", "none.json"], "none.json"),
        (["diff", "one", "."], "has no outcome.json"),
    ] {
        let ended = run(&arguments);
        assert_eq!(ended.status, 2, "{arguments:?}");
        assert!(ended.stderr.contains(told), "{}", ended.stderr);
    }
}
