//! `bentpipe map`: pages, pictures, series.

use crate::common::{Ended, bentpipe_in};
use std::path::Path;

const SMALL: &str = r#"
duration = "10 s"
[node.server]
[node.gateway]
[node.user]
[link.ground]
between = ["server", "gateway"]
rate = "100 Mbit/s"
one_way_delay = "5 ms"
[link.up]
between = ["gateway", "user"]
rate = "10 Mbit/s"
one_way_delay = "250 ms"
channel = { kind = "uniform", packet_error_rate = "1%" }
reverse = { rate = "2 Mbit/s" }
[middlebox.snoop]
kind = "snoop"
node = "gateway"
toward = "up"
[flow.download]
from = "server"
to = "user"
transport = "cubic"
application = "persistent"
"#;

/// Runs `bentpipe map` on a scenario of the repository, in a folder of its own.
fn map(name: &str, arguments: &[&str]) -> (tempfile::TempDir, Ended) {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    std::fs::copy(root.join(name), folder.path().join(name)).unwrap();
    let arguments: Vec<&str> = ["map", name].iter().chain(arguments).copied().collect();
    let ended = bentpipe_in(folder.path(), &arguments);
    (folder, ended)
}

fn read(folder: &tempfile::TempDir, name: &str) -> String {
    std::fs::read_to_string(folder.path().join(name)).unwrap()
}

fn small(arguments: &[&str]) -> (tempfile::TempDir, Ended) {
    written(SMALL, arguments)
}

/// Runs `bentpipe map` on this text as `small.toml`.
fn written(text: &str, arguments: &[&str]) -> (tempfile::TempDir, Ended) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("small.toml"), text).unwrap();
    let arguments: Vec<&str> = ["map", "small.toml"]
        .iter()
        .chain(arguments)
        .copied()
        .collect();
    let ended = bentpipe_in(folder.path(), &arguments);
    (folder, ended)
}

#[test]
fn a_small_network_is_frozen() {
    let (folder, ended) = small(&["--format", "svg"]);
    assert_eq!(ended.ok(), "wrote small-map.svg\n");
    insta::assert_snapshot!("map_small", read(&folder, "small-map.svg"));
}

#[test]
fn terminals_that_are_drawn_as_one_have_one_line() {
    let text = r#"
duration = "10 s"
[constellation.leo]
kind = "starlink"
[node]
user = { count = 20, terminal_of = "leo", place = "Berlin", up_rate = "7 Mbit/s" }
gateway = { terminal_of = "leo", place = "Paris" }
[flow.download]
from = "gateway"
to = "user[1]"
transport = "cubic"
application = "persistent"
"#;
    let (folder, ended) = written(text, &["--format", "svg"]);
    ended.ok();
    let picture = read(&folder, "small-map.svg");
    // The other 19 have no flow, hence no links.
    assert_eq!(picture.matches("up 7 Mbit/s").count(), 1, "{picture}");
    assert!(!picture.contains("different"));
}

/// Everything that a browser would fetch.
fn fetched(page: &str) -> Vec<&str> {
    let marks = [
        "src=",
        "href=",
        "url(",
        "@import",
        "fetch(",
        "XMLHttpRequest",
    ];
    let found = marks.iter().flat_map(|mark| page.match_indices(mark));
    found
        .map(|(at, _)| page.get(at..at + 40).unwrap_or(""))
        .filter(|text| !text.starts_with("href=\"#"))
        .collect()
}

#[test]
fn pages_are_small_and_need_nothing_from_outside() {
    let day = ["--set", "duration='24 h'"];
    let mesh = ["--set", "constellation.leo.isl=true"];
    let cases: [(&str, &[&str], usize); 4] = [
        ("iridium.toml", &day, 2_000_000),
        ("starlink.toml", &mesh, 6_000_000),
        ("geo-vsat.toml", &[], 250_000),
        ("pep-onboard.toml", &[], 50_000),
    ];
    for (name, arguments, most) in cases {
        let (folder, ended) = map(name, arguments);
        ended.ok();
        let page = read(&folder, &name.replace(".toml", "-map.html"));
        assert!(page.len() < most, "{name}: {}", page.len());
        assert_eq!(fetched(&page), Vec::<&str>::new(), "{name}");
        let names = page.matches("http://www.w3.org/2000/svg").count();
        let addresses = page.matches("http://").count() + page.matches("https://").count();
        assert_eq!(addresses, names, "{name}");
        let (again, ended) = map(name, arguments);
        ended.ok();
        assert!(
            page == read(&again, &name.replace(".toml", "-map.html")),
            "{name}"
        );
    }
}

#[test]
fn the_series_say_who_is_where_when() {
    let (folder, ended) = map("iridium.toml", &["--json", "--plot", "plot.svg"]);
    assert!(ended.stderr.contains("wrote plot.svg"));
    assert!(read(&folder, "plot.svg").contains("handovers so far"));
    // Nothing is drawn unless it is asked for.
    assert!(!folder.path().join("iridium-map.html").exists());
    let json: serde_json::Value = serde_json::from_str(&ended.ok()).unwrap();
    let way = &json["ways"][0];
    assert_eq!(way["flows"][0], "download");
    assert_eq!(way["from"], "berkeley");
    let paths = way["paths"].as_array().unwrap();
    let mut end = 0.0;
    for path in paths {
        // Legs follow each other, and their delays begin and end with them.
        assert_eq!(path["from_s"].as_f64().unwrap(), end);
        end = path["to_s"].as_f64().unwrap();
        let stops = path["path"].as_array().unwrap();
        assert_eq!(stops.len() as u64 - 1, path["hops"].as_u64().unwrap());
        assert_eq!(
            (&stops[0], stops.last().unwrap()),
            (&"berkeley".into(), &"boston".into())
        );
        let delays = path["one_way_delay_s"].as_array().unwrap();
        assert_eq!(delays[0][0], path["from_s"]);
        assert_eq!(delays.last().unwrap()[0], path["to_s"]);
        let sane = |d: &serde_json::Value| (0.015..0.2).contains(&d[1].as_f64().unwrap());
        assert!(delays.iter().all(sane));
    }
    assert_eq!(end, 600.0);
    let handovers = way["handovers"].as_array().unwrap();
    assert!(!handovers.is_empty());
    for handover in handovers {
        let at = handover["at_s"].as_f64().unwrap();
        let satellite = handover["satellite"].as_str().unwrap();
        let path = paths.iter().find(|p| p["from_s"].as_f64().unwrap() == at);
        let path = path.expect("a handover changes the path").to_string();
        assert!(path.contains(satellite), "{satellite} in {path}");
    }
}

#[test]
fn a_picture_shows_the_time_that_was_asked_for() {
    let at = |time: &str| {
        let (folder, ended) = map("iridium.toml", &["--at", time, "--out", "a.svg"]);
        ended.ok();
        read(&folder, "a.svg")
    };
    let (early, late) = (at("0 s"), at("9 min"));
    assert!(early.contains("leo[2-4]") && !late.contains("leo[2-4]"));
    assert!(bentpipe_report::png::render(&late, 0.2).is_ok());
}

#[test]
fn satellites_of_a_file_move_as_positions() {
    let tle = include_str!("../../../../fuzz/seeds/elements/iss.tle");
    let scenario = r#"
duration = "6 h"
[constellation.leo]
kind = "elements"
file = "many.tle"
up_rate = "1 Mbit/s"
down_rate = "1 Mbit/s"
[node.genoa]
terminal_of = "leo"
latitude = 44.41
longitude = 8.93
[node.rome]
terminal_of = "leo"
latitude = 41.9
longitude = 12.5
[flow.x]
from = "genoa"
to = "rome"
transport = "cubic"
application = "persistent"
"#;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("many.tle"), tle).unwrap();
    std::fs::write(folder.path().join("iss.toml"), scenario).unwrap();
    let out = bentpipe_in(folder.path(), &["map", "iss.toml"]).ok();
    assert_eq!(out, "wrote iss-map.html\n");
    let page = read(&folder, "iss-map.html");
    // 720 steps of 30 s, three coordinates of two bytes each.
    let (_, rest) = page.split_once("\"base64\":\"").unwrap();
    assert_eq!(rest.find('"').unwrap(), (721_usize * 6).div_ceil(3) * 4);
    std::fs::write(folder.path().join("many.tle"), tle.repeat(9000)).unwrap();
    let error = bentpipe_in(folder.path(), &["map", "iss.toml"]).refused();
    assert!(error.contains("too many for a page"), "{error}");
}

#[test]
fn what_cannot_be_drawn() {
    let cases: [(&[&str], &str); 5] = [
        (&["--out", "map.pdf"], "must end in .html, .svg or .png"),
        (&["--flow", "dwnload"], "did you mean `download`?"),
        (&["--at", "11 s"], "the scenario lasts 10 s"),
        (&["--plot", "plot"], "must end in .svg, .png or .pdf"),
        (&["--set", "link.up.rate=fast"], "rate"),
    ];
    for (arguments, part) in cases {
        let (folder, ended) = small(arguments);
        let error = ended.refused();
        assert!(error.contains(part), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
