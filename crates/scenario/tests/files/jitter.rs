//! What a scenario says about delays that vary from packet to packet.

use bentpipe_link::{DelayDistribution, JitterSettings};
use bentpipe_scenario::{Document, Scenario};
use bentpipe_units::{Duration, Ratio, Time};

const MS: Duration = Duration::from_millis(1);

fn document(link: &str) -> Document {
    let text = format!(
        "duration = \"100 s\"\n[node.a]\n[node.b]\n[link.l]\nbetween = [\"a\", \"b\"]\n\
         rate = \"8 Mbit/s\"\none_way_delay = \"10 ms\"\n{link}\n[flow.f]\nfrom = \"a\"\n\
         to = \"b\"\ntransport = \"sack\"\napplication = \"persistent\"\n"
    );
    Document::parse("test.toml", &text).unwrap()
}

fn parse(link: &str) -> Scenario {
    let read = document(link).validate();
    read.unwrap_or_else(|e| panic!("{}", e.render(false)))
}

fn error(link: &str) -> String {
    let error = document(link).validate().unwrap_err();
    format!(
        "{}: {}",
        error.errors[0].message(),
        error.errors[0].expected()
    )
}

#[test]
fn both_ways_vary_unless_one_says_otherwise() {
    let deviation = MS * 5;
    let normal = JitterSettings {
        distribution: DelayDistribution::Normal { deviation },
        correlation: Ratio::new(0.25).unwrap(),
        holds: MS * 15,
    };
    let text = "jitter = { kind = \"normal\", deviation = \"5 ms\", correlation = \"25%\", \
                holds = \"15 ms\" }";
    let of = |scenario: &Scenario| [0, 1].map(|l| scenario.links[l].jitter.as_deref().cloned());
    assert_eq!(
        of(&parse(text)),
        [Some(normal.clone()), Some(normal.clone())]
    );
    let steady = parse(&format!("{text}\nreverse = {{ jitter = \"none\" }}"));
    assert_eq!(of(&steady), [Some(normal), None]);
    // What is written is read again.
    for scenario in [parse(text), steady] {
        let written = scenario.to_resolved_toml().unwrap();
        let again = Document::parse("again.toml", &written).unwrap();
        assert_eq!(of(&again.validate().unwrap()), of(&scenario));
    }
}

#[test]
fn a_scenario_without_jitter_is_hashed_as_before() {
    let plain = parse("");
    assert!(!plain.canonical_text().contains("jitter"));
    assert_eq!(parse("jitter = \"none\"").hash(), plain.hash());
    let varying = parse("jitter = { kind = \"uniform\", spread = \"1 ms\" }");
    assert_ne!(varying.hash(), plain.hash());
}

#[test]
fn distributions_come_from_files_or_from_the_scenario() {
    let with = |link: &str, file: &str| {
        let mut document = document(link);
        assert_eq!(document.wanted_files(), ["a.dist"]);
        document.give_file("a.dist", file);
        let read = document.validate();
        read.map(|scenario| scenario.links[0].jitter.clone().unwrap().distribution)
            .map_err(|e| e.errors[0].expected().to_owned())
    };
    let table = "jitter = { kind = \"table\", deviation = \"2 ms\", file = \"a.dist\" }";
    let values = [-1.0, 0.5, 2.0].into();
    let expected = DelayDistribution::Table {
        values,
        deviation: MS * 2,
    };
    assert_eq!(with(table, "# netem\n-8192 4096 16384\n"), Ok(expected));
    let sampled = "jitter = { kind = \"quantiles\", file = \"a.dist\" }";
    let written = "jitter = { kind = \"quantiles\", delays = [\"1.5 ms\", \"20 ms\"] }";
    let expected = parse(written).links[0].jitter.clone().unwrap();
    assert_eq!(with(sampled, "20\n1.5\n"), Ok(expected.distribution));
    assert_eq!(
        with(sampled, "20\nfast\n").unwrap_err(),
        "a.dist:2: expected a delay in milliseconds, from 0 to 60000, found `fast`"
    );
}

#[test]
fn a_timeline_says_how_it_varies_from_some_time_on() {
    let scenario = parse(
        "timeline = [{ at = \"1 s\", jitter = \"3 ms\" }, { at = \"2 s\", up = false }, \
         { at = \"3 s\", jitter = \"0 ms\" }]",
    );
    let line = scenario.links[0].timeline.as_ref().unwrap();
    let at = |s| line.jitter(Time::ZERO + Duration::from_secs(s));
    assert_eq!(
        [0, 1, 2, 3].map(at),
        [None, Some(MS * 3), Some(MS * 3), Some(Duration::ZERO)]
    );
}

#[test]
fn mistakes_are_named() {
    let wrong = [
        "kind = \"gauss\", deviation = \"1 ms\"",
        "kind = \"normal\"",
        "kind = \"quantiles\"",
        "kind = \"quantiles\", delays = [\"3 ms\", \"2 ms\"]",
        "kind = \"quantiles\", delays = [\"3 ms\"]",
        "kind = \"table\", deviation = \"1 ms\", values = [1, 2], file = \"a\"",
        "kind = \"uniform\", spread = \"1 ms\", correlation = 2",
    ];
    let errors = wrong.map(|keys| error(&format!("jitter = {{ {keys} }}")));
    insta::assert_snapshot!("jitter", errors.join("\n"));
}

#[test]
fn slots_are_read_and_written() {
    let preset = parse("slots = { preset = \"starlink-2023\", wander = \"7 ms\" }");
    let slots = preset.links[0].slots.clone().unwrap();
    assert_eq!(preset.links[1].slots.as_ref(), Some(&slots));
    assert_eq!(
        (slots.every, slots.offset, slots.wander),
        (MS * 15_000, MS * 12_000, MS * 7)
    );
    // What varies within them is on the way forth, unless a direction says otherwise.
    let jitter = |scenario: &Scenario| [0, 1].map(|link| scenario.links[link].jitter.is_some());
    assert_eq!(jitter(&preset), [true, false]);
    let own = parse("slots = { preset = \"starlink-2023\" }\njitter = \"none\"");
    assert_eq!(jitter(&own), [false, false]);
    let written = preset.to_resolved_toml().unwrap();
    let again = Document::parse("again.toml", &written).unwrap().validate();
    assert_eq!(again.unwrap(), preset);
    // Runs of other seeds see other slots.
    let course = |seed| preset.links[0].course(seed, MS * 60_000);
    assert_eq!(course(1), course(1));
    assert_ne!(course(1), course(2));
    assert!(!parse("").canonical_text().contains("slots"));
    assert_eq!(
        error("slots = { preset = \"starlink\" }").split(':').next(),
        Some("unknown preset `starlink`")
    );
    assert_eq!(
        error("slots = { rate = [1, 0.5] }"),
        "`rate` does not ascend: less than the one before"
    );
}
