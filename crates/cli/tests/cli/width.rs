//! What commands print at 60, 80, 120 and 200 columns: no line is wider, and how it looks is
//! kept in snapshots.

use crate::common::{bentpipe_at, bentpipe_in};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const WIDTHS: [usize; 4] = [60, 80, 120, 200];

const STUDY: &str = r#"
name = "sizes"
title = "Two transports and three sizes over a geostationary satellite"
scenario = "geo.toml"
replications = 2

[[axis]]
name = "transport"
path = "flow.download.transport"
values = ["cubic", "newreno", "hybla"]

[[axis]]
name = "size"
path = "flow.download.application.size"
values = ["100 kB", "200 kB", "300 kB", "400 kB", "500 kB"]

[[table]]
slug = "times"
title = "Transfer times"
rows = ["transport"]
columns = ["size"]
metric = "transfer_time"
unit = "s"
decimals = 2

[[claim]]
id = "larger-takes-longer"
statement = "The larger file takes longer."
check = "for all transport: transfer_time(size = '100 kB') < transfer_time(size = '300 kB')"
recorded = "holds"
"#;

/// Users and servers in pairs, each with several flows: a name of some length.
const MANY: &str = r#"
description = "Twenty pairs of servers and terminals behind one gateway, with three flows each, for as long as it takes to see how output is folded"
duration = "10 s"
seed = 1

[node.server]
count = 20

[node.gateway]

[node.terminal-of-a-user]
count = 20

[link.internet]
between = ["server", "gateway"]
rate = "100 Mbit/s"
one_way_delay = "10 ms"

[link.satellite]
between = ["gateway", "terminal-of-a-user"]
rate = "10 Mbit/s"
one_way_delay = "250 ms"
channel = { kind = "uniform", packet_error_rate = "0.1%" }

[flow.download]
from = "server"
to = "terminal-of-a-user"
count = 3
transport = "cubic"
application = "persistent"
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    bentpipe_in(folder.path(), &["new", "geo.toml"]).ok();
    std::fs::write(folder.path().join("sizes.toml"), STUDY).unwrap();
    std::fs::write(folder.path().join("many.toml"), MANY).unwrap();
    folder
}

fn ready_made(name: &str) -> String {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios"));
    folder.join(name).display().to_string()
}

/// What a command prints, with a check that no line is wider than `columns`.
fn printed(columns: usize, folder: &Path, arguments: &[&str]) -> String {
    let ended = bentpipe_at(columns, folder, arguments);
    assert_eq!(ended.status, 0, "{arguments:?}: {}", ended.stderr);
    for line in ended.stdout.lines().chain(ended.stderr.lines()) {
        let wide = line.chars().count();
        assert!(
            wide <= columns,
            "{arguments:?} at {columns}: {wide}: {line}"
        );
    }
    ended.stdout
}

/// The output of a command at all widths, without those that are as the one before.
fn at_all_widths(folder: &Path, arguments: &[&str]) -> String {
    let mut all = String::new();
    let mut before = String::new();
    for columns in WIDTHS {
        let text = printed(columns, folder, arguments);
        let same = if text == before { "as before\n" } else { &text };
        let _ = writeln!(all, "===== {columns} columns\n{same}");
        before = text;
    }
    all
}

#[test]
fn scenarios_fit_the_terminal() {
    let folder = folder();
    let cases = [
        ("check_geo", vec!["check", "geo.toml"]),
        ("check_many", vec!["check", "many.toml"]),
        ("run_geo", vec!["run", "geo.toml"]),
        ("run_many", vec!["run", "many.toml"]),
    ];
    for (name, arguments) in cases {
        insta::assert_snapshot!(name, at_all_widths(folder.path(), &arguments));
    }
    let cases = [
        ("check_iridium", "check", "iridium.toml"),
        ("check_teledesic", "check", "teledesic.toml"),
        ("check_vsat", "check", "geo-vsat.toml"),
        ("run_pep", "run", "pep-distributed.toml"),
        ("run_shared", "run", "shared-bottleneck.toml"),
        ("run_medium", "run", "vsat-uplink.toml"),
    ];
    for (name, command, file) in cases {
        let text = at_all_widths(folder.path(), &[command, &ready_made(file)]);
        insta::assert_snapshot!(name, text);
    }
}

#[test]
fn every_ready_made_scenario_fits_the_terminal() {
    let folder = folder();
    let files = std::fs::read_dir(ready_made("")).unwrap();
    for file in files.map(|entry| entry.unwrap().path()) {
        if file.extension().is_some_and(|ending| ending == "toml") {
            printed(60, folder.path(), &["check", file.to_str().unwrap()]);
        }
    }
}

#[test]
fn studies_fit_the_terminal() {
    let folder = folder();
    let check = at_all_widths(folder.path(), &["check", "sizes.toml"]);
    insta::assert_snapshot!("check_study", check);
    let study = at_all_widths(folder.path(), &["study", "sizes.toml"]);
    insta::assert_snapshot!("study", study);
    let list = at_all_widths(folder.path(), &["reproduce", "marchese-2001", "--list"]);
    insta::assert_snapshot!("reproduce_list", list);
    let item = ["reproduce", "marchese-2001", "table-1", "--runs", "1"];
    for more in [&[][..], &["--brief"]] {
        for columns in WIDTHS {
            // One run instead of many: a check may well change for the worse.
            let ended = bentpipe_at(columns, folder.path(), &[&item[..], more].concat());
            assert!(ended.status < 2, "{}", ended.stderr);
            for line in ended.stdout.lines().chain(ended.stderr.lines()) {
                assert!(line.chars().count() <= columns, "{columns}: {line}");
            }
        }
    }
}

#[test]
fn catalogues_fit_the_terminal() {
    let folder = folder();
    let cases = [
        ("transports", vec!["transports"]),
        ("transports_mtsi", vec!["transports", "mtsi"]),
        ("help_run_long", vec!["run", "--help"]),
    ];
    for (name, arguments) in cases {
        insta::assert_snapshot!(name, at_all_widths(folder.path(), &arguments));
    }
    // What they print depends on the machine, or is long.
    for arguments in [&["doctor"][..], &["schema"], &["kernel", "list"]] {
        for columns in WIDTHS {
            printed(columns, folder.path(), arguments);
        }
    }
}

/// The names of all commands, as `bentpipe help` lists them.
fn commands(folder: &Path) -> Vec<String> {
    let help = bentpipe_in(folder, &["--help"]).ok();
    let (_, listed) = help.split_once("Commands:\n").unwrap();
    let names = listed.lines().take_while(|line| !line.is_empty());
    let names = names.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names
        .filter_map(|line| Some(line.split_whitespace().next()?.to_owned()))
        .collect()
}

#[test]
fn help_fits_the_terminal() {
    let folder = folder();
    let commands = commands(folder.path());
    assert!(commands.len() > 14, "{commands:?}");
    for columns in WIDTHS {
        printed(columns, folder.path(), &["--help"]);
        for command in &commands {
            printed(columns, folder.path(), &[command, "--help"]);
        }
        for sub in ["list", "load", "unload", "status"] {
            printed(columns, folder.path(), &["kernel", sub, "--help"]);
        }
    }
}

#[test]
fn comparisons_fit_the_terminal() {
    let folder = folder();
    for options in [
        &["--runs", "2"][..],
        &["--runs", "2", "--details"],
        &[
            "--runs",
            "2",
            "--users",
            "3",
            "--traffic",
            "web",
            "--transport",
            "cubic,bbr",
        ],
        &[
            "--runs",
            "2",
            "--pep",
            "none,split,snoop",
            "--transport",
            "cubic,bp_hybla",
        ],
        &[
            "--runs",
            "2",
            "--size",
            "100kB,1MB",
            "--transport",
            "cubic,bbr,hybla",
        ],
    ] {
        for columns in WIDTHS {
            printed(columns, folder.path(), &[&["compare"], options].concat());
        }
    }
}

#[test]
fn the_language_and_its_errors_fit_the_terminal() {
    let folder = folder();
    let topics = bentpipe_in(folder.path(), &["help", "topics"]).ok();
    let listed = topics.lines().filter(|line| line.starts_with("  "));
    let words = listed
        .filter_map(|line| line.get(20..))
        .flat_map(|line| line.split(", "));
    let words: Vec<&str> = words.map(|word| word.trim_matches([',', ' '])).collect();
    assert!(
        words.contains(&"queue") && words.contains(&"claim"),
        "{words:?}"
    );
    for word in words {
        for columns in [60, 80] {
            printed(columns, folder.path(), &["help", word]);
        }
    }
    let wrong = MANY.replace(
        "\"10 Mbit/s\"",
        "\"a rather long text that is certainly no rate\"",
    );
    let wrong = wrong.replace(
        "application =",
        "aplication_of_the_flow_that_is_not_known =",
    );
    std::fs::write(folder.path().join("wrong.toml"), wrong).unwrap();
    for columns in WIDTHS {
        let ended = bentpipe_at(columns, folder.path(), &["check", "wrong.toml"]);
        for line in ended.stderr.lines() {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
        if columns == 60 {
            insta::assert_snapshot!("errors_at_60", ended.refused());
        }
    }
}

#[test]
fn columns_that_are_left_out_are_named_and_can_be_seen() {
    let folder = folder();
    let narrow = bentpipe_at(60, folder.path(), &["run", "geo.toml"]).ok();
    assert!(narrow.contains("Not shown for want of width"), "{narrow}");
    assert!(!narrow.contains("queue mean  max"), "{narrow}");
    let wide = bentpipe_at(60, folder.path(), &["run", "geo.toml", "--wide"]).ok();
    assert!(!wide.contains("Not shown"), "{wide}");
    assert!(wide.contains("queue mean  max"), "{wide}");
    // Without a terminal and `COLUMNS` lines have 100 characters.
    let piped = bentpipe_in(folder.path(), &["run", "geo.toml"]).ok();
    let widest = piped.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{piped}");
    // Data are no text: they are not broken.
    let json = bentpipe_at(60, folder.path(), &["schema", "--json"]).ok();
    assert!(json.lines().any(|line| line.chars().count() > 60));
}
