//! Constellations become nodes, links with timelines and routes that change.

use bentpipe_link::InFlightPolicy;
use bentpipe_orbit::GeoSlot;
use bentpipe_scenario::{Document, Link, Scenario};
use bentpipe_units::{Duration, Rate, Time};

fn example(name: &str) -> Scenario {
    let path = format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let document = Document::parse(name, &std::fs::read_to_string(path).unwrap()).unwrap();
    let good = document.validate();
    good.unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn link<'a>(scenario: &'a Scenario, name: &str) -> &'a Link {
    let names = || {
        scenario
            .links
            .iter()
            .map(|l| l.name.as_str())
            .collect::<Vec<_>>()
    };
    let found = scenario.links.iter().find(|l| l.name == name);
    found.unwrap_or_else(|| panic!("no {name} among {:?}", names()))
}

/// Every route leads from link to link, over links that are up when it begins.
fn check_routes(scenario: &Scenario) {
    for flow in &scenario.flows {
        let first = (Time::ZERO, &flow.forward, &flow.reverse);
        let later = flow.changes.iter().map(|c| (c.at, &c.forward, &c.reverse));
        let mut before = None;
        for (at, forward, reverse) in std::iter::once(first).chain(later) {
            assert!(before.is_none_or(|before| before < at));
            before = Some(at);
            for (path, from, to) in [(forward, flow.from, flow.to), (reverse, flow.to, flow.from)] {
                let mut node = from;
                for id in path {
                    let link = &scenario.links[id.0 as usize];
                    assert_eq!(link.from, node, "{} at {at:?}", flow.name);
                    node = link.to;
                    let state = link.timeline.as_ref().map(|line| line.at(at));
                    assert!(
                        state.is_none_or(|s| s.up),
                        "{} is down at {at:?}",
                        link.name
                    );
                }
                assert!(path.is_empty() || node == to);
            }
        }
    }
}

#[test]
fn a_satellite_that_stands_is_a_link_for_each_pair() {
    let scenario = example("geo-vsat");
    check_routes(&scenario);
    assert_eq!(scenario.nodes.len(), 4);
    let place = |text: &str| text.parse().unwrap();
    let hop = GeoSlot::new(13.0)
        .unwrap()
        .hop_delay(place("40.4,-3.7"), place("44.41,8.93"));
    let down = link(&scenario, "geo[hub-genoa]");
    let back = link(&scenario, "geo[hub-genoa].reverse");
    for link in [down, back] {
        assert_eq!(link.timeline, None);
        let off = link
            .settings
            .one_way_delay
            .as_nanos()
            .abs_diff(hop.as_nanos());
        assert!(off <= 1, "{:?} is not {hop:?}", link.settings.one_way_delay);
    }
    assert_eq!(down.settings.rate, Rate::from_mbps(6));
    assert_eq!(back.settings.rate, Rate::from_mbps(2));
    assert_eq!(scenario.flows[0].forward.len(), 2);
    assert!(scenario.flows[0].changes.is_empty());
    // No flow goes from terminal to terminal: there is no link for them.
    assert_eq!(scenario.links.len(), 6);
}

#[test]
fn iridium_hands_packets_on() {
    let scenario = example("iridium");
    check_routes(&scenario);
    let flow = &scenario.flows[0];
    assert!(!flow.changes.is_empty());
    // The first path of ns-2's example: n26, n37, n48 in the order of its
    // nodes (plane 2, 3 and 4, satellite 4).
    let names: Vec<&str> = flow
        .forward
        .iter()
        .map(|l| scenario.links[l.0 as usize].name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "leo.up.berkeley[2-4]",
            "leo.isl[2-4,3-4]",
            "leo.isl[3-4,4-4]",
            "leo.down.boston[4-4]"
        ]
    );
    assert_eq!(
        scenario.links[flow.reverse[1].0 as usize].name,
        "leo.isl[3-4,4-4].reverse"
    );
    let delay = flow.forward.iter().fold(Duration::ZERO, |sum, id| {
        let line = scenario.links[id.0 as usize].timeline.as_ref().unwrap();
        sum + line.at(Time::from_nanos(1_000_000_000)).one_way_delay
    });
    // ns-2 measures 36.4 ms, of which 2.6 ms are transmissions.
    assert!((delay.as_secs() - 0.0338).abs() < 1e-4, "{delay}");
    assert_eq!(
        link(&scenario, "leo.isl[2-4,3-4]").settings.rate,
        Rate::from_mbps(25)
    );
    assert!(scenario.nodes.iter().any(|n| n.name == "leo[2-4]"));
}

#[test]
fn flows_share_the_links_of_a_constellation() {
    let scenario = example("teledesic");
    check_routes(&scenario);
    let [far, near] = &scenario.flows[..] else {
        panic!("two flows");
    };
    assert_eq!(
        far.forward.last(),
        near.forward.last(),
        "the way down to Boston"
    );
    let mut names: Vec<&str> = scenario.links.iter().map(|l| l.name.as_str()).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all, "a link has one name");
}

#[test]
fn a_low_bent_pipe_follows_its_satellite() {
    let scenario = example("starlink");
    check_routes(&scenario);
    let flow = &scenario.flows[0];
    assert_eq!((flow.forward.len(), flow.changes.len()), (2, 0));
    let link = link(&scenario, "leo[gateway-user]");
    let line = link.timeline.as_ref().unwrap();
    assert_eq!(line.rules().1, InFlightPolicy::Lost);
    assert!(line.changes_route(), "there are handovers");
    for second in 0..180 {
        let state = line.at(Time::ZERO + Duration::from_secs(second));
        let ms = state.one_way_delay.as_secs() * 1e3;
        assert!(!state.up || (3.6..8.0).contains(&ms), "{second} s: {ms} ms");
    }
}

#[test]
fn a_middlebox_stands_at_the_links_of_a_constellation() {
    let text = std::fs::read_to_string(format!(
        "{}/../../scenarios/geo-vsat.toml",
        env!("CARGO_MANIFEST_DIR")
    ));
    let snoop = "[middlebox.snoop]\nkind = \"snoop\"\nnode = \"hub\"\ntoward = \"geo\"\n";
    let text = format!("{}{snoop}", text.unwrap());
    let scenario = Document::parse("t.toml", &text).unwrap().validate();
    let scenario = scenario.unwrap_or_else(|errors| panic!("{}", errors.render(false)));
    let names = |links: &[bentpipe_scenario::LinkId]| -> Vec<&str> {
        let name = |id: &bentpipe_scenario::LinkId| scenario.links[id.0 as usize].name.as_str();
        links.iter().map(name).collect()
    };
    let snoop = &scenario.middleboxes[0];
    assert_eq!(names(&snoop.toward), ["geo[hub-genoa]", "geo[hub-tunis]"]);
    assert_eq!(
        names(&snoop.back),
        ["geo[hub-genoa].reverse", "geo[hub-tunis].reverse"]
    );
}

const TERMINALS: &str = "duration = \"60 s\"
[node.a]
terminal_of = \"sky\"
latitude = 37.9
longitude = -122.3
[node.b]
terminal_of = \"sky\"
latitude = 42.3
longitude = -71.1
[flow.f]
from = \"a\"
to = \"b\"
transport = \"sack\"
application = \"persistent\"
[constellation.sky]
";

fn document(sky: &str) -> Document {
    Document::parse("test.toml", &format!("{TERMINALS}{sky}")).unwrap()
}

fn errors(sky: &str) -> String {
    document(sky).validate().unwrap_err().render(false)
}

const ISS: &str = include_str!("../../../../fuzz/seeds/elements/iss.tle");

#[test]
fn elements_come_from_a_file_that_the_caller_reads() {
    let sky = "kind = \"elements\"\nfile = \"iss.tle\"\nup_rate = \"1 Mbit/s\"\ndown_rate = \"1 Mbit/s\"\n";
    let mut document = document(sky);
    assert_eq!(document.wanted_files(), ["iss.tle"]);
    let message = document.validate().unwrap_err().render(false);
    assert!(
        message.contains("there is no text of the file `iss.tle`"),
        "{message}"
    );
    document.give_file("iss.tle", ISS);
    assert!(document.wanted_files().is_empty());
    // One satellite does not stand over America all the time.
    let message = document.validate().unwrap_err().render(false);
    assert!(
        message.contains("never joins `a` and `b` within the run"),
        "{message}"
    );
    document.give_file("iss.tle", ISS.replace("51.6416", "51.6417"));
    let message = document.validate().unwrap_err().render(false);
    assert!(
        message.contains("`file`: line 3: the checksum"),
        "{message}"
    );
    assert!(message.contains("test.toml:"), "{message}");
}

#[test]
fn a_walker_shell_is_given_by_its_numbers() {
    let sky = "kind = \"walker\"\npattern = \"53: 1584/72/65\"\naltitude_km = 550\n\
               up_rate = \"1 Mbit/s\"\ndown_rate = \"2 Mbit/s\"\nmask = 25\n";
    let own = document(sky).validate().unwrap();
    check_routes(&own);
    // The same sky as the preset's.
    let preset = document(
        "kind = \"starlink\"\nup_rate = \"1 Mbit/s\"\ndown_rate = \"2 Mbit/s\"\nisl_rate = \"1 Mbit/s\"\n",
    );
    assert_eq!(own.hash(), preset.validate().unwrap().hash());
}

#[test]
fn what_can_be_wrong_with_a_constellation() {
    for (sky, expected) in [
        ("kind = \"iridum\"", "did you mean `iridium`?"),
        ("kind = \"iridium\"\nmaks = 8", "did you mean `mask`?"),
        (
            "kind = \"geo\"\nup_rate = \"1 Mbit/s\"\ndown_rate = \"1 Mbit/s\"",
            "has no `longitude`",
        ),
        (
            "kind = \"geo\"\nlongitude = 90\nup_rate = \"1 Mbit/s\"\ndown_rate = \"1 Mbit/s\"",
            "never joins `a` and `b`",
        ),
        (
            "kind = \"walker\"\npattern = \"53 1584\"\naltitude_km = 550\nup_rate = \"1 Mbit/s\"\ndown_rate = \"1 Mbit/s\"",
            "expected `INCLINATION: SATELLITES/PLANES/PHASING`",
        ),
        ("kind = \"iridium\"\nsearch = \"1 us\"", "at least 1 ms"),
    ] {
        let message = errors(sky);
        assert!(message.contains(expected), "{sky}\n{message}");
    }
    let lonely = document("kind = \"iridium\"").validate().is_ok();
    assert!(lonely);
    let text = TERMINALS.replace(
        "[node.b]\nterminal_of = \"sky\"\nlatitude = 42.3\nlongitude = -71.1",
        "[node.b]",
    );
    let one = Document::parse("test.toml", &format!("{text}kind = \"iridium\"")).unwrap();
    let message = one.validate().unwrap_err().render(false);
    assert!(
        message.contains("constellation `sky` has 1 terminals"),
        "{message}"
    );
    let text = TERMINALS.replacen("terminal_of = \"sky\"\n", "", 1);
    let none = Document::parse("test.toml", &format!("{text}kind = \"iridium\"")).unwrap();
    let message = none.validate().unwrap_err().render(false);
    assert!(
        message.contains("node `a` is no terminal of a constellation"),
        "{message}"
    );
    let text = TERMINALS.replacen("terminal_of = \"sky\"", "terminal_of = \"sly\"", 1);
    let other = Document::parse("test.toml", &format!("{text}kind = \"iridium\"")).unwrap();
    let message = other.validate().unwrap_err().render(false);
    assert!(message.contains("unknown constellation `sly`"), "{message}");
}

#[test]
fn the_hash_covers_the_sky() {
    // It is that of what the sky does: a mask that changes nothing within the
    // run changes no hash.
    let hash = |sky: &str| {
        let longer = document(sky).with("duration", &"20 min".into()).unwrap();
        longer.validate().unwrap().hash()
    };
    let base = hash("kind = \"iridium\"");
    assert_eq!(base, hash("kind = \"iridium\"\nhandover = \"keep\""));
    for other in [
        "mask = 5",
        "search = \"5 s\"",
        "queue = \"20 packets\"",
        "in_flight = \"lost\"",
    ] {
        assert_ne!(
            base,
            hash(&format!("kind = \"iridium\"\n{other}")),
            "{other}"
        );
    }
}

#[test]
fn a_terminal_stands_at_a_place_with_a_name() {
    let text = |place: &str| {
        let degrees = "latitude = 37.9\nlongitude = -122.3";
        let text = TERMINALS.replacen(degrees, place, 1);
        let document = Document::parse("test.toml", &format!("{text}kind = \"iridium\"\n"));
        document.unwrap().validate().map_err(|e| e.render(false))
    };
    let named = text("place = \"Anchorage\"").unwrap();
    let degrees = text("latitude = 61.22\nlongitude = -149.90").unwrap();
    assert_eq!(named.hash(), degrees.hash());
    let wrong = |place: &str| text(place).unwrap_err();
    let twice = wrong("place = \"Oslo\"\nlatitude = 60");
    assert!(twice.contains("the place is given twice"), "{twice}");
    let neither = wrong("");
    assert!(neither.contains("write `place = \"Berlin\"`"), "{neither}");
    let unknown = wrong("place = \"Ancorage\"");
    assert!(
        unknown.contains("did you mean `Anchorage, Alaska`?"),
        "{unknown}"
    );
    let several = wrong("place = \"Springfield\"");
    assert!(several.contains("is ambiguous"), "{several}");
    assert!(wrong("latitude = 60").contains("has no `longitude`"));
}

/// 72 satellites of 6 planes as OMM, `missing` left out.
fn shell(missing: impl Fn(u32) -> bool) -> String {
    let mut text = "OBJECT_NAME,EPOCH,MEAN_MOTION,ECCENTRICITY,INCLINATION,RA_OF_ASC_NODE,\
                    ARG_OF_PERICENTER,MEAN_ANOMALY,BSTAR\n"
        .to_owned();
    for i in (0..72).filter(|i| !missing(*i)) {
        let (plane, slot) = (i / 12, i % 12);
        let line = format!(
            "S{i},2026-01-01T00:00:00,12.6,0.0001,75,{},0,{},0\n",
            plane * 60,
            slot * 30 + plane * 5
        );
        text.push_str(&line);
    }
    text
}

#[test]
fn satellites_of_a_file_that_form_a_grid_are_linked() {
    let sky = "kind = \"elements\"\nfile = \"shell.csv\"\ngrid = true\nmask = 5\n\
               up_rate = \"1 Mbit/s\"\ndown_rate = \"1 Mbit/s\"\n";
    let given = |sky: &str, text: &str| {
        let mut document = document(sky);
        document.give_file("shell.csv", text);
        document.validate().map_err(|e| e.render(false))
    };
    let all = shell(|_| false);
    let scenario = given(sky, &all).unwrap();
    check_routes(&scenario);
    assert!(scenario.flows[0].forward.len() >= 2);
    // A second shell is in the way until it is excluded.
    let other = all.replace("12.6,", "15.1,").replace(",75,", ",50,");
    let mixed = format!("{all}{}", other.split_once('\n').unwrap().1);
    let why = given(sky, &mixed).unwrap_err();
    assert!(
        why.contains("form no grid") && why.contains("72 at 50.0 deg"),
        "{why}"
    );
    assert!(given(&format!("{sky}inclination = 75\n"), &mixed).is_ok());
    assert!(
        given(
            &format!("{sky}altitude_km = 1420\nisl_latitude = 60\n"),
            &mixed
        )
        .is_ok()
    );
    let why = given(&format!("{sky}inclination = 10\n"), &mixed).unwrap_err();
    assert!(
        why.contains("no satellite of `shell.csv` is in this shell"),
        "{why}"
    );
    let why = given(sky, &shell(|i| i / 12 == 2)).unwrap_err();
    assert!(why.contains("not evenly spaced"), "{why}");
    let loose = sky.replace("grid = true\n", "isl_latitude = 60\n");
    let why = given(&loose, &all).unwrap_err();
    assert!(why.contains("`isl_latitude` without a `grid`"), "{why}");
}
