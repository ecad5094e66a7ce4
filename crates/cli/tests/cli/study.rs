//! `bentpipe study`, `check` of studies, and `reproduce`.

use crate::common::{bentpipe, bentpipe_in};
use serde_json::Value;
use std::path::Path;

const STUDY: &str = r#"
name = "sizes"
title = "Two transports and two sizes"
scenario = "geo.toml"
replications = 3

[[axis]]
name = "transport"
path = "flow.download.transport"
values = ["cubic", "newreno"]

[[axis]]
name = "size"
path = "flow.download.application.size"
values = ["100 kB", "300 kB"]

[[table]]
slug = "times"
title = "Transfer times"
rows = ["transport"]
columns = ["size"]
metric = "transfer_time"
unit = "s"
decimals = 2

[[figure]]
slug = "curve"
title = "Transfer times"
kind = "line"
x = "size"
y = "transfer_time"
series = "transport"

[[claim]]
id = "larger-takes-longer"
statement = "The larger file takes longer."
check = "for all transport: transfer_time(size = '100 kB') < transfer_time(size = '300 kB')"
recorded = "VERDICT"
"#;

/// A folder with a scenario and a study of it.
fn fresh(recorded: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    bentpipe_in(folder.path(), &["new", "geo.toml"]).ok();
    let study = STUDY.replace("VERDICT", recorded);
    std::fs::write(folder.path().join("sizes.toml"), study).unwrap();
    folder
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().is_some_and(|n| n != "journal") {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_study_is_checked_before_it_runs() {
    let folder = fresh("holds");
    let json: Value =
        serde_json::from_str(&bentpipe_in(folder.path(), &["check", "sizes.toml", "--json"]).ok())
            .unwrap();
    assert_eq!(
        (&json["kind"], &json["cells"], &json["runs"]),
        (&Value::from("study"), &Value::from(4), &Value::from(12))
    );
    let text = bentpipe_in(folder.path(), &["check", "sizes.toml"]).ok();
    assert!(text.contains("12: 4 cells x 3 replications"), "{text}");
}

#[test]
fn a_study_draws_judges_and_can_be_repeated() {
    let folder = fresh("holds");
    let text = bentpipe_in(folder.path(), &["study", "sizes.toml", "--out", "a"]).ok();
    assert!(text.contains("larger-takes-longer  holds"), "{text}");
    for file in [
        "figures/curve.svg",
        "figures/curve.png",
        "tables/times.csv",
        "runs.parquet",
    ] {
        assert!(folder.path().join("a/sizes").join(file).is_file(), "{file}");
    }
    // Again, from the journal, and once more on one thread from nothing.
    let again = bentpipe_in(folder.path(), &["study", "sizes.toml", "--out", "a"]).ok();
    assert_eq!(text, again);
    let alone = ["study", "sizes.toml", "--out", "b", "--threads", "1"];
    bentpipe_in(folder.path(), &alone).ok();
    assert_eq!(
        files(&folder.path().join("a")),
        files(&folder.path().join("b"))
    );
}

#[test]
fn a_changed_verdict_is_status_1() {
    let folder = fresh("fails");
    let ended = bentpipe_in(folder.path(), &["study", "sizes.toml", "--json"]);
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    let json: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(json["regression"], true);
    assert_eq!(json["claims"][0]["verdict"], "holds");
}

#[test]
fn scenarios_and_studies_are_told_apart() {
    let folder = fresh("holds");
    let error = bentpipe_in(folder.path(), &["study", "geo.toml"]).refused();
    assert!(error.contains("`bentpipe run geo.toml` runs it"), "{error}");
    let wrong = STUDY.replace("replications", "replicatoins");
    std::fs::write(folder.path().join("sizes.toml"), wrong).unwrap();
    let error = bentpipe_in(folder.path(), &["study", "sizes.toml"]).refused();
    assert!(error.contains("did you mean `replications`?"), "{error}");
}

#[test]
fn papers_are_looked_up_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let list = bentpipe_in(folder.path(), &["reproduce", "--list"]);
    // The papers belong to the checkout; they may be being written.
    if list.status != 0 {
        bentpipe_testing::skip("papers_are_looked_up_by_name", "papers that are whole");
        return;
    }
    assert!(list.stdout.contains("table-"), "{}", list.stdout);
    let error = bentpipe(&["reproduce", "marchese-206"]).refused();
    assert!(error.contains("did you mean `marchese-2006`?"), "{error}");
}

#[test]
fn a_report_is_an_index_and_a_page_per_paper_that_work_offline() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["reproduce", "marchese-2006", "table-3", "--report", "pages"];
    let printed = bentpipe_in(folder.path(), &arguments).ok();
    // In the terminal the table has the paper's rows and columns, the print beside ours.
    assert!(
        printed.contains("The printed number over ours, in s"),
        "{printed}"
    );
    assert_eq!(printed.matches("174.32").count(), 2, "{printed}");
    let text =
        |name: &str| std::fs::read_to_string(folder.path().join("pages").join(name)).unwrap();
    for name in ["index.html", "marchese-2006.html"] {
        let html = text(name);
        let (_, body) = html.split_once('\n').unwrap();
        roxmltree::Document::parse(body).unwrap_or_else(|e| panic!("{name}: {e}"));
        let outside = html.replace("http://www.w3.org/2000/svg", "");
        assert!(
            !outside.contains("http") && !outside.contains("<script"),
            "{name}"
        );
        assert!(html.contains("prefers-color-scheme: dark") && html.contains("@media print"));
    }
    let page = text("marchese-2006.html");
    assert!(page.contains("<section class=\"item\" id=\"table-3\">"));
    // Three bandwidths, five files each, down the side.
    assert_eq!(page.matches("<th scope=\"row\" rowspan=\"5\">").count(), 3);
    assert!(page.contains("<span class=\"printed\">174.32</span>"));
    let index = text("index.html");
    assert!(index.contains("href=\"marchese-2006.html\"") && index.contains("75 printed numbers"));
}

#[test]
fn a_figure_is_printed_as_numbers_and_says_before_the_runs_how_it_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let ended = bentpipe_in(folder.path(), &["reproduce", "marchese-2006", "figure-7"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let first = ended.stderr.lines().find(|line| !line.is_empty());
    assert!(
        first.is_some_and(|l| l.contains("--out DIR or --report DIR draws it")),
        "{first:?}"
    );
    let printed = &ended.stdout;
    assert!(printed.contains("throughput [kB/s]"), "{printed}");
    assert!(
        printed.contains("The paper: ends of the transfers (Table 1)."),
        "{printed}"
    );
    assert!(!ended.stdout.contains("--out"), "{}", ended.stdout);
    let ended = bentpipe_in(
        folder.path(),
        &[
            "reproduce",
            "marchese-2006",
            "figure-7",
            "--report",
            "pages",
        ],
    );
    assert!(!ended.stderr.contains("--out"), "{}", ended.stderr);
    let page = folder.path().join("pages/marchese-2006.html");
    assert!(std::fs::read_to_string(page).unwrap().contains("<svg"));
}

#[test]
fn a_killed_study_ends_with_the_bytes_of_an_undisturbed_one() {
    let folder = fresh("holds");
    // Large enough to be killed halfway: some hundred runs of some milliseconds.
    let (study, _claim) = STUDY.split_once("[[claim]]").unwrap();
    let study = study
        .replace("replications = 3", "replications = 60")
        .replace("\"100 kB\", \"300 kB\"", "\"3 MB\", \"30 MB\"");
    std::fs::write(folder.path().join("sizes.toml"), study).unwrap();
    let run = |out: &str, threads: &str| {
        let arguments = ["study", "sizes.toml", "--threads", threads, "--out", out];
        bentpipe_in(folder.path(), &arguments).ok();
        files(&folder.path().join(out))
    };
    let journal = folder.path().join("killed/sizes/journal");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_bentpipe"))
        .current_dir(folder.path())
        .args(["study", "sizes.toml", "--threads", "1", "--out", "killed"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut written = 0;
    for _ in 0..2_000 {
        written = std::fs::metadata(&journal).map_or(0, |m| m.len());
        if written > 20_000 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // SIGKILL on Unix: nothing gets a chance to tidy up.
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(written > 0, "it was killed after it had begun");
    let finished = folder.path().join("killed/sizes/runs.csv").exists();
    assert!(!finished, "it was killed before it ended");

    let undisturbed = run("undisturbed", "2");
    let again = run("killed", "2");
    assert!(undisturbed.len() > 5);
    assert_eq!(again, undisturbed);
}

/// The files of a study that was run in one go, but for journals and what shards leave.
fn finals(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = files(folder);
    all.retain(|(name, _)| !name.contains("shards/") && !name.contains("slurm/"));
    all
}

const SHORT: &str = r#"
name = "short"
scenario = "geo.toml"
replications = 50
set = { "link.satellite.channel.packet_error_rate" = "1%" }

[[axis]]
name = "transport"
path = "flow.download.transport"
values = ["cubic", "newreno", "hybla", "bbr"]

[[axis]]
name = "size"
path = "flow.download.application.size"
values = ["100 kB", "2 MB"]

[[table]]
slug = "times"
title = "Transfer times"
rows = ["transport"]
columns = ["size"]
metric = "transfer_time"
"#;

fn short() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    bentpipe_in(folder.path(), &["new", "geo.toml"]).ok();
    std::fs::write(folder.path().join("short.toml"), SHORT).unwrap();
    folder
}

#[test]
fn shards_that_are_killed_at_any_point_merge_to_the_bytes_of_one_run() {
    let folder = short();
    let root = folder.path();
    bentpipe_in(
        root,
        &["study", "short.toml", "--out", "whole", "--threads", "1"],
    )
    .ok();
    let expected = finals(&root.join("whole"));
    let shard = |k: usize, wait: Option<u64>| {
        let number = format!("{k}/3");
        let arguments = ["study", "short.toml", "--out", "parts", "--shard", &number];
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_bentpipe"))
            .args(arguments)
            .current_dir(root)
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        if let Some(wait) = wait {
            std::thread::sleep(std::time::Duration::from_millis(wait));
            // SIGKILL.
            let _ = child.kill();
        }
        child.wait().unwrap()
    };
    // Five kills, at times without a pattern, of shards out of order.
    for (k, wait) in [(3, 5), (1, 40), (3, 70), (1, 23), (2, 110)] {
        shard(k, Some(wait));
    }
    let early = bentpipe_in(root, &["study", "merge", "parts"]);
    if early.status != 0 {
        assert_eq!(early.status, 2);
        assert!(
            early.stderr.contains("missing or not complete"),
            "{}",
            early.stderr
        );
        assert!(early.stderr.contains("--shard"), "{}", early.stderr);
    }
    for k in [2, 3, 1] {
        assert!(shard(k, None).success());
    }
    assert_eq!(
        bentpipe_in(root, &["study", "merge", "parts", "--missing"]).ok(),
        "\n"
    );
    bentpipe_in(root, &["study", "merge", "parts/short"]).ok();
    assert_eq!(finals(&root.join("parts")), expected);

    // Another version of the study is not mixed in.
    std::fs::write(root.join("short.toml"), SHORT.replace("50", "60")).unwrap();
    let refused = bentpipe_in(root, &["study", "merge", "parts"]);
    assert_eq!(refused.status, 2);
    assert!(
        refused.stderr.contains("another version"),
        "{}",
        refused.stderr
    );
    let refused = bentpipe_in(
        root,
        &["study", "short.toml", "--out", "parts", "--shard", "1/3"],
    );
    assert_eq!(refused.status, 2);
    assert!(
        refused.stderr.contains("the study file, or which points"),
        "{}",
        refused.stderr
    );
}

#[test]
fn scripts_for_slurm_are_written_and_shown() {
    let folder = short();
    let root = folder.path();
    let arguments = [
        "study",
        "short.toml",
        "--slurm",
        "--tasks",
        "8",
        "--partition",
        "long",
        "--dry-run",
        "--sbatch=--account=leo",
        "--only",
        "transport=cubic,bbr",
    ];
    let shown = bentpipe_in(root, &arguments).ok();
    let script = std::fs::read_to_string(root.join("results/short/slurm/shards.sh")).unwrap();
    assert!(shown.contains(&script), "{shown}");
    for line in [
        "#SBATCH --array=1-8",
        "#SBATCH --partition=long",
        "#SBATCH --account=leo",
        "#SBATCH --requeue",
        "--shard \"$SLURM_ARRAY_TASK_ID/8\" --only transport=cubic,bbr --threads 1",
    ] {
        assert!(script.contains(line), "{line}\n{script}");
    }
    // Nothing ran: every shard is missing.
    let missing = bentpipe_in(root, &["study", "merge", "results", "--missing"]).ok();
    assert_eq!(missing, "1-8\n");
}
