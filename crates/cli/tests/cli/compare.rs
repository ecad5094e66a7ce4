//! `bentpipe compare`, as a user runs it.

use crate::common::{bentpipe, bentpipe_in};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// A comparison that takes no time.
const QUICK: [&str; 7] = [
    "compare",
    "--size",
    "300 kB",
    "--runs",
    "3",
    "--transport",
    "cubic,hybla,bbr",
];

fn json(arguments: &[&str]) -> Value {
    let text = bentpipe(&[arguments, &["--json"]].concat()).ok();
    serde_json::from_str(&text).expect("one JSON document")
}

#[test]
fn the_verdict_comes_first_and_every_line_fits() {
    let text = bentpipe(&QUICK).ok();
    let mut lines = text.lines();
    assert!(
        lines
            .next()
            .is_some_and(|l| l.starts_with("One user downloading 300 kB over 10 Mbit/s"))
    );
    assert_eq!(lines.next(), Some(""));
    let verdict = lines.next().unwrap();
    assert!(
        ["Use ", "Keep ", "Open ", "Borderline "]
            .iter()
            .any(|w| verdict.starts_with(w)),
        "{verdict}"
    );
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
        "cubic,cubic + IW 32,reno",
    ]);
    insta::assert_snapshot!("compare", text.ok());
}

fn row<'a>(document: &'a Value, name: &str) -> &'a Value {
    let rows = document["rows"].as_array().unwrap();
    let found = rows.iter().find(|row| row["transport"] == name);
    found.unwrap_or_else(|| panic!("no {name}"))
}

fn time(document: &Value, name: &str) -> f64 {
    row(document, name)["cells"][0]["time_s"]["mean"]
        .as_f64()
        .unwrap()
}

#[test]
fn a_transfer_limited_by_its_window_takes_the_time_that_theory_says() {
    let document = json(&[
        "compare",
        "--hosts",
        "rfc",
        "--loss",
        "0",
        "--size",
        "10 MB",
        "--transport",
        "as-of-2000",
    ]);
    // 44 segments of 1460 B per round trip of 0.6 s and one transmission.
    let rounds = 10e6 / (44.0 * 1460.0);
    let found = time(&document, "as-of-2000");
    assert!((found - rounds * 0.6012).abs() < 5.0, "{found}");
    let cell = &row(&document, "as-of-2000")["cells"][0];
    assert_eq!(cell["time_s"]["ci95"], Value::Null);
    assert_eq!(row(&document, "as-of-2000")["deployable"], false);
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
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    let times: Vec<f64> = rows
        .iter()
        .map(|r| r["cells"][0]["time_s"]["mean"].as_f64().unwrap())
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    let ideal = document["ideal_times_s"][0].as_f64().unwrap();
    for (row, time) in rows.iter().zip(&times) {
        assert!(ideal < *time);
        let runs = row["cells"][0]["runs"].as_array().unwrap();
        let all = runs
            .iter()
            .map(|r| r["times_s"]["download"].as_f64().unwrap());
        assert!((all.sum::<f64>() / 3.0 - time).abs() < 1e-9);
        let gain = row["gain"]["share"].as_f64().unwrap();
        let usual = self::time(&document, "cubic");
        assert!((gain - (1.0 - time / usual)).abs() < 1e-9, "{gain}");
    }
    let pick = &document["verdict"]["pick"]["transport"];
    assert!(rows.iter().any(|r| r["transport"] == *pick));
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
        "bbr",
    ]);
    assert_eq!(document["verdict"]["baseline"]["transport"], "cubic");
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
    assert!(ended.stderr.contains("ended"), "{}", ended.stderr);
    let text = ended.stdout;
    assert!(text.contains("No download finished"), "{text}");
    let json = [
        "compare",
        "--loss",
        "100%",
        "--runs",
        "1",
        "--transport",
        "cubic",
        "--json",
    ];
    let document: serde_json::Value = serde_json::from_str(&bentpipe(&json).stdout).unwrap();
    assert_eq!(document["ideal_times_s"], serde_json::json!([null]));
}

/// What is asked of many users, and what is measured of each kind of traffic.
#[test]
fn users_browse_download_and_watch() {
    let ask = |traffic: &str, column: &str| {
        let words = [
            "compare",
            "--users",
            "3",
            "--traffic",
            traffic,
            "--runs",
            "2",
        ];
        let words = [&words[..], &["--rate", "20 Mbit/s", "--transport", "bbr"]].concat();
        let document = json(&words);
        assert_eq!(document["users"], 3);
        let cell = &row(&document, "bbr")["cells"][0];
        assert!(cell[column].as_f64().is_some(), "{traffic}: {column}");
        assert!(cell["jain_index"].as_f64() <= Some(1.0));
        assert!(cell["worst_tenth_bps"].as_f64() <= cell["median_user_bps"].as_f64());
        // Beside users of the default it was run as well.
        assert_eq!(cell["shared_runs"].as_array().map(Vec::len), Some(2));
        assert!(row(&document, "bbr")["others"]["time_lost_share"].is_f64());
    };
    ask("download", "median_user_bps");
    ask("web", "object_s");
    ask("video", "video_startup_s");
    ask("mixed", "object_s");
}

#[test]
fn proxies_are_compared_in_one_table() {
    let words = ["compare", "--runs", "2", "--size", "300kB", "--transport"];
    let words = [&words[..], &["cubic", "--pep", "none,split,snoop,gateway"]].concat();
    let document = json(&words);
    let rows = document["rows"].as_array().unwrap();
    let named = |row: &Value| format!("{} {}", row["pep"], row["transport"]).replace('"', "");
    let mut names: Vec<String> = rows.iter().map(named).collect();
    names.sort();
    assert_eq!(
        names,
        [
            "gateway its own",
            "none cubic",
            "snoop cubic",
            "split cubic"
        ]
    );
    for row in rows {
        let there = ["none", "split", "gateway"].contains(&row["pep"].as_str().unwrap());
        assert_eq!(row["deployable"], there, "{row}");
    }
    assert_eq!(document["verdict"]["baseline"]["pep"], "none");
}

#[test]
fn sizes_are_columns_and_the_advice_may_change_with_them() {
    let words = ["compare", "--loss", "0", "--size", "30kB,300kB"];
    let words = [&words[..], &["--transport", "cubic + IW 32"]].concat();
    let document = json(&words);
    assert_eq!(document["sizes_bytes"].as_array().map(Vec::len), Some(2));
    let cells = row(&document, "cubic")["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    assert_eq!(document["verdict"]["pick"]["transport"], "cubic + IW 32");
    let text = bentpipe(&words).ok();
    assert!(text.contains("30 kB [s]"), "{text}");
    assert!(text.contains("initcwnd 32"), "{text}");
}

#[test]
fn what_others_run_and_what_crosses_the_link_beside_them_is_said() {
    let words = ["compare", "--users", "4", "--beside", "bbr", "--runs", "2"];
    let words = [&words[..], &["--size", "1MB", "--background", "20%"]].concat();
    let words = [&words[..], &["--transport", "hybla", "--stagger", "3s"]].concat();
    let document = json(&words);
    assert_eq!(document["beside"], "bbr");
    assert_eq!(document["background"], "20%");
    assert_eq!(document["stagger_s"], 3.0);
    let run = &row(&document, "hybla")["cells"][0]["runs"][0];
    assert!(run["others_times_s"]["download"].is_f64(), "{run}");
    assert!(run["background_lost_share"].is_f64(), "{run}");
    let text = bentpipe(&words).ok();
    assert!(text.contains("half of them run bbr"), "{text}");
}

#[test]
fn bursts_are_part_of_the_loss() {
    let words = [
        "compare",
        "--loss",
        "5% in bursts of 8 packets",
        "--runs",
        "2",
    ];
    let words = [&words[..], &["--size", "100kB", "--transport", "cubic"]].concat();
    assert_eq!(json(&words)["link"]["mean_burst_packets"], 8.0);
}

#[test]
fn details_explain_what_was_compared() {
    let text = bentpipe(&[&QUICK[..], &["--details"]].concat()).ok();
    assert!(text.contains("What was compared:"), "{text}");
    assert!(text.contains("in Linux: "), "{text}");
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains("host profile `linux`"), "{text}");
    let text = bentpipe(&QUICK).ok();
    assert!(!text.contains("What was compared:"), "{text}");
}

#[test]
fn pictures_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let endings = [
        ("a.svg", &b"<svg"[..]),
        ("a.png", &b"\x89PNG"[..]),
        ("a.pdf", &b"%PDF-"[..]),
    ];
    for (name, begins) in endings {
        let curves = format!("curves-{name}");
        let pictures = ["--plot", name, "--curves", &curves];
        bentpipe_in(folder.path(), &[&QUICK[..], &pictures].concat()).ok();
        assert!(folder.path().join(curves).exists());
        assert!(
            std::fs::read(folder.path().join(name))
                .unwrap()
                .starts_with(begins)
        );
    }
    let svg = std::fs::read_to_string(folder.path().join("a.svg")).unwrap();
    for text in ["Time of a download (s)", "default of Linux"] {
        assert!(svg.contains(&format!(">{text}</text>")), "{text}");
    }
    let curves = std::fs::read_to_string(folder.path().join("curves-a.svg")).unwrap();
    for text in ["Received (MB)", "Rate (Mbit/s)", "end of the transfer"] {
        assert!(curves.contains(&format!(">{text}</text>")), "{text}");
    }
    let twice = ["--plot", "a.svg", "--curves", "a.svg"];
    let error = bentpipe_in(folder.path(), &[&QUICK[..], &twice].concat()).refused();
    assert!(error.contains("is to be written twice"), "{error}");
    let nowhere = ["--curves", "no/such/folder/a.svg", "--size", "1 TB"];
    bentpipe_in(folder.path(), &[&["compare"][..], &nowhere].concat()).refused();
    let error = bentpipe(&[&QUICK[..], &["--plot", "a.gif"]].concat()).refused();
    insta::assert_snapshot!(error, @"error: cannot tell what kind of picture `a.gif` is: the name must end in .svg, .png or .pdf");
}

#[test]
fn mistakes_are_explained() {
    insta::assert_snapshot!(bentpipe(&["compare", "--rate", "10"]).refused(), @"
    error: invalid value '10' for '--rate <RATE>': `10` has no unit: expected a rate with its unit, such as `2 Mbit/s`, `500 kbit/s`, `20Mbit` or `1 Gbps`

    For more information, try '--help'.
    ");
    for (words, says) in [
        (["--rtt", "-5ms"], "invalid value '-5ms' for '--rtt <TIME>'"),
        (
            ["--seed", "-1"],
            "invalid value '-1' for '--seed <N>': expected a whole number",
        ),
        (
            ["--users", "2.5"],
            "'--users <N>': expected a whole number from 1 to 1000",
        ),
        (
            ["--seed", "99999999999999999999"],
            "expected a whole number from 0 to 18446744073709551615",
        ),
        (["--loss", "-1%"], "invalid value '-1%' for '--loss <LOSS>'"),
        (
            ["--rtt", "--loss"],
            "a value is required for '--rtt <TIME>'",
        ),
        (
            ["--transport", ""],
            "invalid value '' for '--transport': it is empty",
        ),
        (["--traffic", "web 50%,video 30%"], "the shares come to 80%"),
        (["--traffic", "wbe"], "download 10%`; did you mean `web`?"),
        (["--queue", "codle"], "did you mean `codel`?"),
    ] {
        let error = bentpipe(&[&["compare"], &words[..]].concat()).refused();
        assert!(error.contains(says), "{error}");
    }
    insta::assert_snapshot!(bentpipe(&["compare", "--queue", "10 fish"]).refused(), @"
    error: invalid value '10 fish' for '--queue <QUEUES>': unknown unit `fish` in `10 fish`: expected a length with its unit, such as `1 BDP`, `100 packets`, `64 kB` or `100 ms`, or codel, fq-codel, pie or red, with a length and `target 30 ms` behind it where they are not to be set for the link

    For more information, try '--help'.
    ");
    let refused = |words: &[&str]| bentpipe(&[&["compare"], words].concat()).refused();
    let error = refused(&["--transport", "hyblla"]);
    assert!(error.starts_with(
        "error: there is no transport `hyblla` to compare; did you mean `hybla`?\n  known: "
    ));
    let error = refused(&["--lost", "1%"]);
    assert!(error.contains("'--loss'"), "{error}");
    for (words, says) in [
        (&["--size", "0 B"][..], "--size must be above zero"),
        (
            &["--loss", "0.1"],
            "`0.1` has no unit: write `0.1%`, or `10%`",
        ),
        (&["--loss", "1"], "`1` has no unit: write `1%`, or `100%`"),
        (
            &["--transport", "mtsi"],
            "on idealised hosts only, with `--hosts rfc`",
        ),
        (&["--transport", "cubic + IV 32"], "did you mean `IW`?"),
        (&["--beside", "fish"], "there is no transport `fish`"),
        (&["--pep", "splt"], "did you mean `split`?"),
        (&["--hosts", "lnux"], "did you mean `linux`?"),
        (
            &["--traffic", "mixed", "--users", "2"],
            "--users must be from 3",
        ),
        (
            &["--traffic", "video", "--size", "1MB"],
            "--size is for downloads",
        ),
        (&["--background", "20"], "such as `20%` or `2 Mbit/s`"),
        (&["--background", "20 Mbit/s"], "below the rate of the link"),
        (&["--stagger", "3"], "`3` has no unit"),
        (&["--queue", "0 packets"], "a queue of no packets"),
        (&["--queue", "1e30 packets"], "`1e30 packets` is too large"),
        (&["--plot", "no/such/folder/a.svg"], "no/such/folder"),
    ] {
        let error = refused(words);
        assert!(error.contains(says), "{error}");
    }
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
fn queues_are_compared_and_switched_on_at_the_router() {
    let text = bentpipe(&[
        "compare",
        "--rate=2Mbit/s",
        "--loss=0",
        "--size=300kB",
        "--queue=0.1 BDP,fq-codel",
        "--transport=cubic",
        "--runs=1",
    ])
    .ok();
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    assert!(
        words.contains("queue 0.1 BDP, compared with fq-codel"),
        "{text}"
    );
    assert!(
        text.contains("tc qdisc replace dev IFACE parent 1:1 fq_codel limit 1000 "),
        "{text}"
    );
    assert!(text.contains("fq-codel  cubic"), "{text}");
}

#[test]
fn numbers_of_users_have_a_verdict_each() {
    let words = [
        "compare",
        "--rate=2Mbit/s",
        "--size=60kB",
        "--users=1,3",
        "--transport=cubic,cubic + IW 32",
        "--runs=2",
    ];
    let text = bentpipe(&words).ok();
    assert!(text.starts_with("The advice "), "{text}");
    assert!(text.contains("One user downloading") && text.contains("3 users downloading"));
    let refused = bentpipe(&[&words[..], &["--plot", "a.svg"]].concat()).refused();
    assert!(
        refused.contains("--plot is for one number of users"),
        "{refused}"
    );
    let csv = bentpipe(&[&words[..], &["--csv", "-"]].concat()).ok();
    assert!(csv.starts_with("users,pep,transport,queue,"), "{csv}");
    assert_eq!(csv.lines().count(), 5, "{csv}");
}

#[test]
fn a_mix_shows_what_each_activity_gets() {
    let text = bentpipe(&[
        "compare",
        "--rate=5Mbit/s",
        "--loss=0",
        "--traffic=web 50%,upload 25%,call 25%",
        "--transport=cubic",
        "--runs=1",
    ])
    .ok();
    assert!(
        text.contains("50% browsing, 25% uploading 2 MB, 25% in a call"),
        "{text}"
    );
    assert!(
        text.contains("missed") && text.contains("page [s]") && text.contains(" upload "),
        "{text}"
    );
}

#[test]
fn the_advice_is_asked_beside_the_question() {
    let words = [
        "compare",
        "--rate",
        "2Mbit/s",
        "--loss",
        "0",
        "--size",
        "100kB",
        "--transport",
        "cubic,cubic + IW 32",
        "--time",
        "1s",
    ];
    let robust = |more: &str| bentpipe(&[&words[..], &[more]].concat()).ok();
    let text = robust("--robust");
    assert!(
        text.contains("This advice holds for half and twice of each of these:"),
        "{text}"
    );
    assert!(text.contains("queue  0.5 BDP: holds  1 BDP"), "{text}");
    // As with other flags, and as a page or Python would say it.
    assert_eq!(robust("--robust=yes"), text);
    let without = bentpipe(&words).ok();
    assert_eq!(robust("--robust=no"), without);
    assert!(!without.contains("half"), "{without}");
    let json = bentpipe(&[&words[..], &["--robust", "--json"]].concat()).ok();
    let answer: Value = serde_json::from_str(&json).unwrap();
    let queue = &answer["robustness"]["dimensions"][1];
    assert_eq!(
        (&queue["dimension"], &queue["asked"]),
        (&json!("queue"), &json!("1 BDP"))
    );
    assert_eq!(
        (&queue["half"]["holds"], &queue["half"]["factor"]),
        (&json!(true), &json!(0.5))
    );
}

#[test]
fn a_link_carries_so_many_users() {
    let words = [
        "compare",
        "capacity",
        "--until",
        "mean download < 6 s",
        "--rate",
        "5Mbit/s",
        "--size",
        "500kB",
        "--loss",
        "0",
        "--transport",
        "cubic,cubic + IW 32",
        "--time",
        "2s",
    ];
    let text = bentpipe(&words).ok();
    assert!(
        text.starts_with("How many users with `mean download < 6 s`: each downloading"),
        "{text}"
    );
    assert!(text.contains("transport"), "{text}");
    let json = bentpipe(&[&words[..], &["--json"]].concat()).ok();
    let found: Value = serde_json::from_str(&json).unwrap();
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let of = |key: &str| row[key].as_u64().unwrap();
        assert_eq!(row["known"], "users");
        assert!(of("least_users") <= of("users") && of("users") <= of("most_users"));
    }
    let refused = |more: &[&str]| {
        let found = bentpipe(&[&words[..2], more].concat());
        found.refused()
    };
    let wrong = refused(&["--until", "p95 pgae < 5 s"]);
    assert!(wrong.contains("\n  p95 pgae < 5 s\n      ^^^^"), "{wrong}");
    let users = refused(&["--until", "p95 page < 5 s", "--users", "3"]);
    assert!(users.contains("--users is what is sought"), "{users}");
}

#[test]
fn terminals_have_return_links_of_their_own() {
    let words = [
        "compare",
        "--users",
        "5",
        "--return-rate",
        "200kbit/s",
        "--size",
        "100kB",
        "--transport",
        "cubic",
        "--runs",
        "1",
    ];
    let with = |more: &[&str]| bentpipe(&[&words[..], more].concat());
    let text = with(&["--terminals", "2"]).ok();
    assert!(
        text.starts_with("5 users behind 2 terminals downloading 100 kB over 10 Mbit/s"),
        "{text}"
    );
    assert!(
        text.contains("200 kbit/s back from each terminal"),
        "{text}"
    );
    let document = json(&[&words[..], &["--terminals", "2"]].concat());
    assert_eq!(document["terminals"], 2);
    let scenario = with(&["--terminals", "2", "--scenario-of", "cubic", "-"]).ok();
    for line in [
        "[link.return-2]",
        "between = [\"user-2\", \"satellite\"]",
        "rate = \"200 kbit/s\"",
    ] {
        assert!(scenario.lines().any(|found| found == line), "{scenario}");
    }
    assert!(!scenario.contains("return-3"), "{scenario}");
    // One is what there is without the option.
    assert_eq!(
        with(&["--terminals", "1", "--json"]).ok(),
        with(&["--json"]).ok()
    );
    let refused = with(&["--terminals", "8"]).refused();
    assert!(
        refused.contains("--users must be at least 8, one at each of the 8 terminals"),
        "{refused}"
    );
    let capacity = bentpipe(&[
        "compare",
        "capacity",
        "--until",
        "mean download < 6 s",
        "--terminals",
        "3",
        "--size",
        "500kB",
        "--transport",
        "cubic",
        "--time",
        "1s",
    ])
    .ok();
    assert!(
        capacity.starts_with("How many users behind 3 terminals with `mean download < 6 s`"),
        "{capacity}"
    );
}

#[test]
fn a_fade_is_part_of_the_link() {
    let words = [
        "compare",
        "--transport",
        "cubic",
        "--runs",
        "2",
        "--size",
        "3MB",
        "--fade",
    ];
    let text = |more: &[&str]| bentpipe(&[&words[..], more].concat()).ok();
    let acm = text(&["10 dB for 30 s at 1 s"]);
    assert!(
        acm.contains("Over a fade of 10 dB from 1.0 s to 31 s"),
        "{acm}"
    );
    assert!(
        acm.replace('\n', " ")
            .contains("QPSK 1/2 does, with 3.333 Mbit/s."),
        "{acm}"
    );
    let ccm = text(&["10 dB for 30 s at 1 s", "--coding", "ccm"]);
    assert!(
        ccm.replace('\n', " ")
            .contains("it does not close, and the link is down."),
        "{ccm}"
    );
    let wrong = bentpipe(&["compare", "--modcod", "QPSK 1/2"]).refused();
    assert!(wrong.contains("--fade"), "{wrong}");
    let wrong = bentpipe(&["compare", "--fade", "10 for 30 s"]).refused();
    assert!(wrong.contains("`10` has no unit: write `10 dB`"), "{wrong}");
}
