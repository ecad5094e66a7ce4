//! `bentpipe new`, `check` and `run`, as a user runs them.

use crate::common::{bentpipe, bentpipe_in};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A folder with the scenario of `bentpipe new` in `geo.toml`.
fn fresh() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    bentpipe_in(folder.path(), &["new", "geo.toml"]).ok();
    folder
}

fn text(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn a_new_scenario_is_valid_and_runs() {
    let folder = fresh();
    let check = bentpipe_in(folder.path(), &["check", "geo.toml"]).ok();
    assert!(
        check.starts_with("geo: this scenario is valid\n"),
        "{check}"
    );
    let run = bentpipe_in(folder.path(), &["run", "geo.toml"]).ok();
    assert!(run.contains("download  tuned"), "{run}");
    for line in check.lines().chain(run.lines()) {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn many_flows_are_folded_and_totalled() {
    let folder = fresh();
    let many = "flow.download.count=30";
    let size = "flow.download.application={ kind = 'transfer', size = '100 kB' }";
    let run = ["run", "geo.toml", "--set", many, "--set", size];
    let folded = bentpipe_in(folder.path(), &run).ok();
    let lines = |text: &str, start: &str| text.lines().filter(|l| l.starts_with(start)).count();
    // In the table of flows and in that of what they got of the link.
    assert_eq!(lines(&folded, "download[1-30]"), 2, "{folded}");
    for total in ["sum ", "least ", "median ", "mean ", "most "] {
        assert_eq!(
            lines(&folded, &format!("  {total}")),
            2,
            "{total}: {folded}"
        );
    }
    assert!(
        folded.contains("30 flows are folded into 1 group") && folded.contains("3.00 MB"),
        "{folded}"
    );
    assert!(folded.lines().count() < 50, "{folded}");
    let all = bentpipe_in(folder.path(), &[&run[..], &["--all"]].concat()).ok();
    assert_eq!(lines(&all, "download["), 60, "{all}");
}

#[test]
fn a_dash_is_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let template = bentpipe_in(folder.path(), &["new", "-"]).ok();
    assert!(template.starts_with("# A scenario"), "{template}");
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
    bentpipe_in(folder.path(), &["new", "geo.toml"]).ok();
    assert_eq!(text(folder.path(), "geo.toml"), template);
}

#[test]
fn new_overwrites_nothing() {
    let folder = fresh();
    std::fs::write(folder.path().join("geo.toml"), "mine").unwrap();
    let error = bentpipe_in(folder.path(), &["new", "geo.toml"]).refused();
    insta::assert_snapshot!(error, @"error: `geo.toml` exists; --force replaces it");
    assert_eq!(text(folder.path(), "geo.toml"), "mine");
    bentpipe_in(folder.path(), &["new", "geo.toml", "--force"]).ok();
    assert!(text(folder.path(), "geo.toml").contains("[link.satellite]"));
}

#[test]
fn check_says_what_would_run() {
    let folder = fresh();
    let json: Value =
        serde_json::from_str(&bentpipe_in(folder.path(), &["check", "geo.toml", "--json"]).ok())
            .unwrap();
    assert_eq!(json["kind"], "scenario");
    let flow = &json["flows"][0];
    assert_eq!(flow["bottleneck_bps"], 2_000_000);
    assert_eq!(flow["bdp_bytes"], 128_250.0);
    assert_eq!(flow["forward"].as_array().unwrap().len(), 2);
}

#[test]
fn the_same_seed_gives_the_same_outcome_and_another_another() {
    let folder = fresh();
    let run = |seed: &str| {
        bentpipe_in(
            folder.path(),
            &["run", "geo.toml", "--json", "--seed", seed],
        )
        .ok()
    };
    let once = run("7");
    assert_eq!(once, run("7"));
    assert_ne!(once, run("8"));
    let json: Value = serde_json::from_str(&once).unwrap();
    assert_eq!(json["seed"], 7);
    assert_eq!(json["flows"][0]["delivered_bytes"], 3_000_000);
    assert!(json.get("series").is_none());
}

#[test]
fn values_are_set_from_the_command_line() {
    let folder = fresh();
    let set = [
        "--set",
        "link.satellite.channel=perfect",
        "--set",
        "link.satellite.rate=10 Mbit/s",
    ];
    let json: Value = serde_json::from_str(
        &bentpipe_in(
            folder.path(),
            &[&["run", "geo.toml", "--json"][..], &set].concat(),
        )
        .ok(),
    )
    .unwrap();
    assert_eq!(json["flows"][0]["channel_losses"], 0);
    let wrong = ["run", "geo.toml", "--set", "link.satelite.rate=1 Mbit/s"];
    let error = bentpipe_in(folder.path(), &wrong).refused();
    assert!(error.contains("did you mean `satellite`?"), "{error}");
    // The file is right, and nobody spoke of an axis.
    assert!(error.contains("1 error in what `--set` gives"), "{error}");
    assert!(
        !error.contains("axis") && !error.contains("geo.toml"),
        "{error}"
    );
    let error = bentpipe_in(folder.path(), &["run", "geo.toml", "--set", "rate"]).refused();
    assert!(error.contains("has no `=`"), "{error}");
}

#[test]
fn a_count_that_multiplies_is_said() {
    let folder = fresh();
    let text = text(folder.path(), "geo.toml");
    let counted = text.replace("[flow.download]", "[flow.download]\ncount = 3");
    std::fs::write(folder.path().join("one.toml"), &counted).unwrap();
    // Parallel flows between two nodes are what a count is for.
    let check = bentpipe_in(folder.path(), &["check", "one.toml"]).ok();
    assert!(!check.contains("Note:"), "{check}");
    let many = "duration = '1 s'\n[node.server]\ncount = 4\n[node.user]\ncount = 4\n\
                [link.up]\nbetween = ['server', 'user']\nrate = '1 Mbit/s'\n\
                one_way_delay = '1 ms'\n[flow.download]\nfrom = 'server'\nto = 'user'\n\
                count = 5\ntransport = 'cubic'\napplication = 'persistent'\n";
    std::fs::write(folder.path().join("many.toml"), many).unwrap();
    for command in ["check", "run"] {
        let said = bentpipe_in(folder.path(), &[command, "many.toml"]).ok();
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let note = "Note: flow `download` stands for 20 flows: its `count = 5` holds for each of \
                    4 pairs of nodes. Without `count` in `[flow.download]` there is one flow for \
                    each pair, 4 in all.";
        assert!(said.contains(note), "{said}");
    }
}

#[test]
fn a_description_cannot_steer_the_terminal() {
    let folder = fresh();
    let escape = "description = \"a\\u001b[31mred\\u001b]0;title\\u0007\\u202eb\"\n";
    let lines = text(folder.path(), "geo.toml");
    let others = lines
        .lines()
        .filter(|line| !line.starts_with("description"));
    let others: Vec<&str> = others.collect();
    std::fs::write(
        folder.path().join("geo.toml"),
        format!("{escape}{}", others.join("\n")),
    )
    .unwrap();
    for command in ["check", "run"] {
        let said = bentpipe_in(folder.path(), &[command, "geo.toml"]).ok();
        assert!(said.contains("red"), "{said}");
        let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!said.contains(steers), "{said:?}");
    }
    let wrong = ["check", "geo.toml", "--set", "x\u{1b}[31m=1"];
    let error = bentpipe_in(folder.path(), &wrong).refused();
    assert!(!error.contains('\u{1b}'), "{error:?}");
}

#[test]
fn a_long_run_shows_how_far_it_is() {
    use std::io::{BufRead as _, BufReader};
    let folder = fresh();
    let mut child = Command::new(env!("CARGO_BIN_EXE_bentpipe"))
        .args(["run", "geo.toml", "--set", "duration=9000 h"])
        .args(["--set", "flow.download.application=persistent"])
        .args(["--set", "link.satellite.rate=1 Gbit/s"])
        .current_dir(folder.path())
        .env_remove("COLUMNS")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let stderr = child.stderr.take().expect("a pipe");
    // Where there are several cores it says first how many it takes.
    let mut lines = BufReader::new(stderr).lines().map(Result::unwrap);
    let said = lines.find(|line| !line.starts_with("runs on "));
    child.kill().unwrap();
    child.wait().unwrap();
    let said = said.unwrap();
    assert!(
        said.starts_with("geo: ") && said.contains(" s simulated"),
        "{said}"
    );
}

#[test]
fn many_mistakes_are_counted() {
    let folder = fresh();
    let many: String = (0..40_000)
        .map(|i| format!("[unknown{i}]\nx = 1\n"))
        .collect();
    std::fs::write(folder.path().join("many.toml"), many).unwrap();
    let error = bentpipe_in(folder.path(), &["check", "many.toml"]).refused();
    assert!(
        error.contains("50 shown, and "),
        "{}",
        &error[error.len() - 300..]
    );
}

#[test]
fn mistakes_point_at_their_line() {
    let folder = fresh();
    let wrong = text(folder.path(), "geo.toml").replace("\"2 Mbit/s\"", "\"2 Mbits\"");
    std::fs::write(folder.path().join("geo.toml"), wrong).unwrap();
    for command in ["run", "check"] {
        let error = bentpipe_in(folder.path(), &[command, "geo.toml"]).refused();
        assert!(error.contains("--> geo.toml:"), "{error}");
        assert!(error.contains("did you mean `2 Mbit/s`?"), "{error}");
    }
    insta::assert_snapshot!(bentpipe(&["run", "no-such-file.toml"]).refused(), @"error: cannot read `no-such-file.toml`: No such file or directory (os error 2)");
    std::fs::write(folder.path().join("noise.toml"), [0xff, 0xfe, 0x00]).unwrap();
    bentpipe_in(folder.path(), &["run", "noise.toml"]).refused();
    bentpipe_in(folder.path(), &["run", "."]).refused();
}

#[test]
fn results_are_written_whole() {
    let folder = fresh();
    let arguments = [
        "run", "geo.toml", "--out", "out/a", "--series", "--plot", "geo.svg",
    ];
    bentpipe_in(folder.path(), &arguments).ok();
    let mut names: Vec<String> = std::fs::read_dir(folder.path().join("out/a"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "crossings.csv",
            "crossings.csv.json",
            "crossings.parquet",
            "links.csv",
            "links.csv.json",
            "links.parquet",
            "outcome.json",
            "results.parquet",
            "runs.csv",
            "runs.csv.json",
            "runs.parquet",
            "series.csv",
            "series.csv.json",
            "series.parquet",
        ]
    );
    let outcome: Value = serde_json::from_str(&text(folder.path(), "out/a/outcome.json")).unwrap();
    assert!(
        !outcome["series"][0]["sender"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    assert!(text(folder.path(), "geo.svg").starts_with("<svg"));
}

/// The ready-made scenario of six flows over one bottleneck.
fn heterogeneous(more: &[&str]) -> String {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../scenarios/heterogeneous.toml"
    );
    let run = ["run", file, "--set", "duration=60 s"];
    bentpipe(&[&run[..], more].concat()).ok()
}

#[test]
fn flows_that_share_a_link_are_compared() {
    let text = heterogeneous(&["--from", "20s"]);
    let start = text.find("bottleneck: 10 Mbit/s").expect("a shared link");
    let (before, after) = text.split_at(start);
    assert!(before.contains("satellite[1]"));
    let lines: Vec<&str> = after
        .lines()
        .take_while(|l| !l.starts_with("wire:"))
        .collect();
    assert_eq!(
        lines[0],
        "bottleneck: 10 Mbit/s shared by 6 flows, 20.0 s to 60.0 s"
    );
    // A line for each flow and each transport, then what is left.
    assert_eq!(lines.iter().filter(|l| l.contains("tellite[")).count(), 3);
    assert!(
        lines
            .iter()
            .any(|l| l.starts_with("foreground: ") && l.contains("for 3 flows"))
    );
    assert!(
        lines
            .iter()
            .any(|l| l.starts_with("Unused in this time: ") && l.contains("Jain's index: 0."))
    );
    assert!(text.lines().all(|l| l.chars().count() <= 110), "{text}");
}

#[test]
fn shares_of_a_link_add_up_in_json() {
    let json: Value = serde_json::from_str(&heterogeneous(&["--json"])).unwrap();
    let [shared] = json["bottlenecks"].as_array().unwrap().as_slice() else {
        panic!("{}", json["bottlenecks"]);
    };
    assert_eq!(shared["link"], "bottleneck");
    assert_eq!(
        (&shared["from_ns"], &shared["to_ns"]),
        (&0.into(), &60_000_000_000_u64.into())
    );
    let flows = shared["flows"].as_array().unwrap();
    let wire: f64 = flows
        .iter()
        .map(|f| f["wire_share"].as_f64().unwrap())
        .sum();
    assert!((wire + shared["unused"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    let link = json["links"]
        .as_array()
        .unwrap()
        .iter()
        .find(|l| l["link"] == "bottleneck");
    let used = link.unwrap()["utilisation"].as_f64().unwrap();
    assert!((wire - used).abs() < 1e-4, "{wire} {used}");
    assert_eq!(json["crossings"].as_array().unwrap().len(), 6 * 6);
    // Nobody shares a link in the scenario of `bentpipe new`.
    let folder = fresh();
    let alone = bentpipe_in(folder.path(), &["run", "geo.toml", "--json"]).ok();
    let alone: Value = serde_json::from_str(&alone).unwrap();
    assert!(alone.get("bottlenecks").is_none());
}

#[test]
fn an_interval_lies_in_the_run() {
    let folder = fresh();
    let run = ["run", "geo.toml", "--from", "400 s"];
    insta::assert_snapshot!(bentpipe_in(folder.path(), &run).refused(), @"error: nothing lies between --from 400 s and the end of the run, 300 s");
    let run = ["run", "geo.toml", "--from", "4 s", "--to", "4 s"];
    insta::assert_snapshot!(bentpipe_in(folder.path(), &run).refused(), @"error: nothing lies between --from 4 s and --to 4 s");
}

/// Fields of the packets that tap 0 (the sender) saw; `None` without tshark.
fn dissect(file: &Path, filter: &str, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut tshark = Command::new("tshark");
    tshark.args(["-r", file.to_str()?, "-Tfields", "-E", "separator=;"]);
    tshark.args(["-o", "tcp.relative_sequence_numbers:FALSE", "-Y", filter]);
    for field in fields {
        tshark.args(["-e", field]);
    }
    let output = tshark.output().ok()?;
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let lines = String::from_utf8(output.stdout).unwrap();
    Some(
        lines
            .lines()
            .map(|l| l.split(';').map(str::to_owned).collect())
            .collect(),
    )
}

#[test]
fn a_capture_reads_back_in_tshark() {
    let folder = fresh();
    let json = bentpipe_in(
        folder.path(),
        &["run", "geo.toml", "--pcap", "a.pcapng", "--json"],
    );
    let outcome: Value = serde_json::from_str(&json.ok()).unwrap();
    let file = folder.path().join("a.pcapng");
    let Some(syn) = dissect(
        &file,
        "tcp.flags.syn==1 && frame.interface_id==0",
        &[
            "tcp.seq",
            "tcp.options.mss_val",
            "tcp.options.wscale.shift",
            "tcp.options.sack_perm",
            "tcp.options.timestamp.tsval",
        ],
    ) else {
        bentpipe_testing::skip("a capture of a run", "tshark");
        return;
    };
    assert_eq!(syn.len(), 2, "a SYN and a SYN-ACK");
    let isn: Vec<u32> = syn.iter().map(|p| p[0].parse().unwrap()).collect();
    assert_ne!(isn[0], isn[1]);
    for packet in &syn {
        assert_eq!(packet[1], "1448");
        assert!(packet[2..].iter().all(|f| !f.is_empty()), "{packet:?}");
    }
    let data = dissect(
        &file,
        "tcp.len>0 && frame.interface_id==0",
        &["tcp.seq", "tcp.len", "tcp.checksum.status"],
    )
    .unwrap();
    assert_eq!(outcome["flows"][0]["packets_sent"], data.len());
    assert_eq!(data[0][0].parse::<u32>().unwrap(), isn[0].wrapping_add(1));
    let highest = data
        .iter()
        .map(|p| {
            let sequence: u32 = p[0].parse().unwrap();
            sequence.wrapping_sub(isn[0]).wrapping_sub(1) + p[1].parse::<u32>().unwrap()
        })
        .max();
    assert_eq!(highest, Some(3_000_000));
    // SACK blocks are absolute and lie above the acknowledgement, but for
    // reports of duplicates.
    let sacks = dissect(
        &file,
        "tcp.options.sack_le && frame.interface_id==0",
        &["tcp.ack", "tcp.options.sack_le", "tcp.options.sack_re"],
    )
    .unwrap();
    assert!(!sacks.is_empty(), "the channel loses packets");
    for packet in sacks {
        let ack: u32 = packet[0].parse().unwrap();
        let edges = |text: &str| {
            text.split(',')
                .map(|e| e.parse().unwrap())
                .collect::<Vec<u32>>()
        };
        for (left, right) in edges(&packet[1]).into_iter().zip(edges(&packet[2])) {
            assert!(right.wrapping_sub(left) <= 3_000_000);
            assert!(left.wrapping_sub(ack) < 3_000_000 || ack.wrapping_sub(left) < 3_000_000);
        }
    }
}
